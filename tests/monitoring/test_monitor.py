"""T², SPE, limits, flags and the columns to blame, against definitions and brute force."""

import gc
import pickle
import weakref

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ritz
from helpers.counts import usually
from helpers.monitoring import by_definition, people
from ritz import PCA, DataError, ParameterError

RNG = np.random.default_rng(0)
N, D, K = 80, 6, 3
DATA = RNG.standard_normal((N, K)) @ RNG.standard_normal((K, D)) * 3 + RNG.standard_normal((N, D)) + 2
NEW = DATA[:30] + RNG.standard_normal((30, D))
WAYS = [{}, {"ddof": 0}, {"center": False}, {"scale": True}, {"scale": True, "ddof": 0}, {"whiten": True}]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("k", [1, 3, 5])
def test_statistics_are_those_of_their_definitions(how, k):
    pca = PCA(5, **how).fit(DATA)
    plain = {name: value for name, value in how.items() if name != "whiten"}
    for rows in (DATA, NEW):
        t2, spe = by_definition(DATA, k, rows=rows, **plain)
        found = pca.monitor(rows, k=k)
        assert np.allclose(found.t2, t2, rtol=1e-9)
        assert np.allclose(found.spe, spe, rtol=1e-9)
        assert found.of_fit == (rows is DATA)
        n = N - how.get("ddof", 1)
        assert np.allclose(found.leverage, t2 / n + (how.get("center", True) / N))


def test_leverages_are_the_diagonal_of_the_hat_matrix():
    found = PCA(K).fit(DATA).monitor(DATA)
    T = np.column_stack([np.ones(N), PCA(K).fit_transform(DATA)])
    assert np.allclose(found.leverage, np.diagonal(T @ np.linalg.pinv(T)))


@pytest.mark.parametrize("how", WAYS)
def test_sums_over_the_rows_of_the_fit(how):
    """A known mistake pools one variance for all components, or divides by n what is compared with n − 1."""
    pca = PCA(K, **how).fit(DATA)
    found = pca.monitor(DATA)
    degrees = N - how.get("ddof", 1)
    assert found.t2.sum() == pytest.approx(degrees * K, rel=1e-9)
    assert found.spe.sum() == pytest.approx(pca.subspace_.total_error, rel=1e-9)
    assert found.k == K


def test_limits_follow_the_divisor_of_variances():
    """T² of a model with ddof=0 is larger by n/(n − 1), and so is its limit: flags are the same."""
    one, zero = (PCA(K, ddof=ddof).fit(DATA) for ddof in (1, 0))
    for rows in (DATA, NEW):
        for method in ("auto", "jm", "box"):
            a, b = one.monitor(rows, limits=method), zero.monitor(rows, limits=method)
            assert np.array_equal(a.flags, b.flags)
            ratio = np.array(b.limits["limit"]) / np.array(a.limits["limit"])
            assert np.allclose(ratio, [N / (N - 1)] * 2 + [1.0] * 2, rtol=1e-9)


@settings(max_examples=usually(25, thorough=300))
@given(st.integers(0, 10**6), st.integers(1, 4), st.booleans())
def test_contributions_add_up_to_the_statistics(seed, k, scale):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 5)) * rng.uniform(0.1, 10, 5) + rng.uniform(-100, 100, 5)
    found = PCA(k, scale=scale).fit(X).monitor(X)
    parts = found.contributions(range(20))
    assert np.allclose(parts.t2_values.sum(axis=1), found.t2, rtol=1e-9)
    assert np.allclose(parts.spe_values.sum(axis=1), found.spe, rtol=1e-8)
    assert np.array_equal(parts.spe_values, parts.residual_values**2)


def test_contributions_are_those_of_their_definition():
    pca = PCA(K, scale=True).fit(DATA)
    parts = pca.monitor(NEW).contributions([4, 17])
    Z = (NEW[[4, 17]] - pca.mean_) / pca.scale_
    T, P = Z @ pca.components_.T, pca.components_
    assert np.allclose(parts.t2_values, Z * ((T / pca.explained_variance_) @ P))
    assert np.allclose(parts.residual_values, Z - T @ P)
    assert list(parts.t2.columns) == ["row 4", "row 17"]
    assert parts.t2.index == [f"x{j}" for j in range(D)]


def test_a_typing_error_is_found_with_its_column():
    X, names = people()
    wrong = X.copy()
    wrong[11, names.index("Shoesize")] = 12.0  # for 42
    table = pd.DataFrame(wrong, columns=names)
    found = PCA(4, scale=True).fit(table).monitor(table)
    assert found.odd.index[0] == 11
    assert found.odd["columns to blame"][0].startswith("Shoesize low")
    assert "Shoesize low" in str(found)


def test_the_odd_rows_are_those_beyond_limits_the_farthest_first():
    X = DATA.copy()
    X[[3, 40, 71]] += np.outer([30.0, 60.0, 90.0], RNG.standard_normal(D))
    found = PCA(K).fit(DATA).monitor(X)
    limits = np.array(found.limits["limit"]).reshape(2, 2)
    assert np.array_equal(found.t2_flags, (found.t2[:, None] > limits[0]).sum(axis=1))
    assert np.array_equal(found.spe_flags, (found.spe[:, None] > limits[1]).sum(axis=1))
    farness = np.maximum(found.t2 / limits[0, 1], found.spe / limits[1, 1])
    beyond = np.flatnonzero(found.flags)
    assert list(found.odd.index) == list(beyond[np.argsort(-farness[beyond])][:30])
    assert set(found.odd.index[:3]) == {3, 40, 71}
    assert list(found.alarms) == list(np.flatnonzero(found.flags == 2))


def test_only_the_farthest_of_many_odd_rows_are_listed():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60_000, D)) * rng.uniform(0.5, 2, (60_000, 1))  # several blocks, heavy tails
    pca = PCA(2).fit(rng.standard_normal((300, D)) * [3, 2, 1, 1, 1, 1])
    found = pca.monitor(X)
    limits = np.array(found.limits["limit"]).reshape(2, 2)[:, 1]
    farness = np.maximum(found.t2 / limits[0], found.spe / limits[1])
    assert list(found.odd.index) == list(np.argsort(-farness)[:30])
    assert "the farthest 30 of them" in str(found)


def test_rows_of_the_fit_are_recognised_in_any_order_and_others_are_not():
    pca = PCA(K).fit(DATA)
    assert pca.monitor(DATA[::-1]).of_fit
    assert not pca.monitor(DATA[:-1]).of_fit
    assert not pca.monitor(DATA + 1e-3 * RNG.standard_normal(DATA.shape)).of_fit
    assert not pca.monitor(DATA + 0.01).of_fit
    assert pca.monitor(NEW, rows="fit").of_fit
    assert not pca.monitor(DATA, rows="new").of_fit


def test_limits_of_new_rows_are_frozen():
    """Other rows beside it never change what is said of a row; a known mistake flags rows by those beside them."""
    pca = PCA(K).fit(DATA)
    together, alone = pca.monitor(NEW), pca.monitor(NEW[7:8])
    assert together.limits["limit"] == alone.limits["limit"]
    assert together.flags[7] == alone.flags[0]
    strange = pca.monitor(np.vstack([NEW, 1e6 + NEW]))
    assert strange.limits["limit"] == together.limits["limit"]
    assert np.array_equal(strange.flags[:30], together.flags)


@pytest.mark.parametrize("method", ["auto", "jm", "box", "pls_toolbox"])
def test_a_model_from_a_file_has_the_same_limits(method, tmp_path):
    pca = PCA(K, scale=True).fit(DATA)
    pca.save(tmp_path / "m.safetensors")
    loaded = ritz.load(tmp_path / "m.safetensors")
    for rows in (DATA, NEW):
        a, b = pca.monitor(rows, limits=method), loaded.monitor(rows, limits=method)
        assert a.limits["limit"] == b.limits["limit"]
        assert np.array_equal(a.flags, b.flags)


def test_results_can_be_pickled_and_serve_as_reference():
    wide = RNG.standard_normal((40, 300)) * np.linspace(3, 0.1, 300)
    pca = PCA(4).fit(wide)  # such a model keeps no more than the sum of the variances outside
    fit = pca.monitor(wide)
    again = pickle.loads(pickle.dumps(fit))
    new = RNG.standard_normal((25, 300)) * np.linspace(3, 0.1, 300)
    with_reference = pca.monitor(new, reference=again)
    assert with_reference.limits["limit"] == pca.monitor(new, reference=fit).limits["limit"]
    assert with_reference.notes == ()
    bound = pca.monitor(new)
    assert bound.limits["method"][2:] == ["upper bound"] * 2
    assert "reference" in bound.notes[0]
    assert (np.array(bound.limits["limit"][2:]) >= with_reference.limits["limit"][2:]).all()
    listed = again.odd.index
    assert again.contributions().rows == tuple(listed)
    unlisted = next(row for row in range(40) if row not in listed)
    fit.contributions(unlisted)
    kept = set(again._explain.kept.tolist())
    absent = next((row for row in range(40) if row not in kept), None)
    if absent is not None:
        with pytest.raises(DataError, match=f"row {absent} is not among those kept"):
            again.contributions(absent)


def test_empirical_limits_are_quantiles_of_the_fit():
    pca = PCA(K).fit(DATA)
    fit = pca.monitor(DATA, limits="empirical", alpha=(0.2, 0.1))
    assert fit.limits["limit"][:2] == [np.quantile(fit.t2, 0.8), np.quantile(fit.t2, 0.9)]
    assert (fit.spe_flags > 1).sum() == 8
    new = pca.monitor(NEW, limits="empirical", alpha=(0.2, 0.1), reference=fit)
    assert new.limits["limit"] == fit.limits["limit"]
    without = pca.monitor(NEW, limits="empirical")
    assert np.isnan(without.limits["limit"]).all()
    assert not without.flags.any()
    assert "reference" in without.notes[0]


def test_a_row_that_decides_a_component_is_named():
    X = np.random.default_rng(0).standard_normal((50, 4)) * 0.1
    X[12, 2] = 30.0
    found = PCA(3).fit(X).monitor(X)
    assert found.deciding.index == ["PC1"]
    assert list(found.deciding["row"]) == [12]
    scores = PCA(3).fit_transform(X)[:, 0] ** 2
    assert found.deciding["share of its variance"][0] == pytest.approx(scores[12] / scores.sum())
    assert "PC1" in str(found)
    assert len(PCA(3).fit(DATA).monitor(DATA).deciding) == 0


def test_every_row_is_a_line_of_the_frame_and_of_files(tmp_path):
    pca = PCA(K).fit(DATA)
    found = pca.monitor(NEW, out=tmp_path / "odd.csv")
    frame, file = found.to_frame(), pd.read_csv(tmp_path / "odd.csv")
    assert list(frame.columns) == ["T²", "SPE", "leverage", "T² flag", "SPE flag"]
    assert list(file.columns) == ["T2", "SPE", "leverage", "T2_flag", "SPE_flag"]
    assert np.allclose(frame.to_numpy(float), file.to_numpy(float))
    blocks = []
    pca.monitor(NEW, out=blocks.append)
    assert np.allclose(np.vstack(blocks)[:, 0], found.t2)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"k": 4}, "k=4 must be an integer from 1 to 3"),
        ({"k": 0}, "k=0"),
        ({"alpha": 0.7}, "alpha=0.7 must be"),
        ({"alpha": ()}, "alpha"),
        ({"alpha": (0.05, 0.05)}, "alpha"),
        ({"rows": "old"}, "rows='old' must be one of"),
        ({"limits": "none"}, "limits='none' must be one of"),
        ({"reference": 3}, "reference"),
    ],
)
def test_parameters_by_their_rules(given, words):
    with pytest.raises(ParameterError, match=words):
        PCA(K).fit(DATA).monitor(NEW, **given)


def test_references_must_be_of_the_fit_and_of_the_model():
    pca, other = PCA(K).fit(DATA), PCA(K).fit(DATA + NEW.mean())
    with pytest.raises(DataError, match="holds new rows"):
        pca.monitor(NEW, reference=pca.monitor(NEW))
    with pytest.raises(DataError, match="another model, or another k"):
        pca.monitor(NEW, reference=PCA(K).fit(DATA * 2).monitor(DATA * 2))
    with pytest.raises(DataError, match="another k"):
        pca.monitor(NEW, k=2, reference=pca.monitor(DATA))
    assert other.monitor(NEW, reference=other.monitor(DATA + NEW.mean())).limits is not None


@pytest.mark.parametrize("asked", [[-1], [30], [0.5], [[1, 2]]])
def test_rows_of_contributions_must_be_there(asked):
    with pytest.raises(DataError, match="rows must be numbers from 0 to 29"):
        PCA(K).fit(DATA).monitor(NEW).contributions(asked)


def test_one_level_three_levels():
    pca = PCA(K).fit(DATA)
    one = pca.monitor(NEW * 2, alpha=0.01)
    assert set(one.odd["level"]) <= {"alarm"}
    three = pca.monitor(NEW * 2, alpha=(0.01, 0.1, 0.001))
    assert three.alpha == (0.1, 0.01, 0.001)
    assert pca.monitor(NEW, alpha=np.array([0.01, 0.05])).alpha == (0.05, 0.01)
    assert set(three.odd["level"]) <= {"1 of 3", "2 of 3", "3 of 3"}
    assert three.flags.max() == 3


def test_models_that_were_monitored_are_let_go():
    pca = PCA(K).fit(DATA)
    pca.monitor(DATA, k=2)
    pca.monitor(NEW)
    gone = weakref.ref(pca.subspace_)
    del pca
    gc.collect()
    assert gone() is None


def test_reasons_and_columns_to_blame_are_printed_whole():
    names = [f"a long name of a column, number {j}" for j in range(D)]
    X = DATA.copy()
    X[3] = [0.0] * (D - 2) + [30.0, -30.0]
    fit, rows = (pd.DataFrame(values, columns=names) for values in (DATA, X))
    found = PCA(1).fit(fit).monitor(rows, limits="box")
    for cells in (found.odd["columns to blame"], found.limits["why"]):
        assert all(cell in str(found) for cell in cells)
    assert max(map(len, found.odd["columns to blame"])) > 60


def test_where_no_row_is_odd_one_line_says_so():
    assert str(PCA(K).fit(DATA).monitor(DATA.mean(axis=0)[None])).endswith("\n\nno row is beyond a limit")


def test_rows_are_called_by_their_names():
    X = DATA.copy()
    X[[3, 40], 2] = 500.0, -400.0
    names = [f"wine {i}" for i in range(len(X))]
    table = pd.DataFrame(X, index=names, columns=list("abcdef")[:D])
    pca = PCA(2).fit(table)
    found, plain = pca.monitor(table), pca.monitor(table.to_numpy())
    assert found.odd.index == [names[row] for row in plain.odd.index]
    assert found.deciding["row"] == [names[row] for row in plain.deciding["row"]] != []
    assert found.to_frame().index.tolist() == names
    assert found.contributions().rows == tuple(plain.odd.index)
    assert found.contributions("wine 40").rows == found.contributions(40).rows == (40,)
    assert found.contributions(["wine 3", 7]).rows == (3, 7)
    assert pickle.loads(pickle.dumps(found)).contributions().rows == tuple(plain.odd.index)
    with pytest.raises(DataError, match="0 rows are called 'wine'; say which one by its number"):
        found.contributions("wine")
    with pytest.raises(DataError, match=f"{N} rows are called 'same'"):
        pca.monitor(table.set_axis(["same"] * len(X))).contributions("same")


@pytest.mark.parametrize("index", [range(5, 5 + N), list(range(N))[::-1]])
def test_numbers_are_no_names(index):
    """They would be taken for places."""
    table = pd.DataFrame(DATA, index=index)
    pca = PCA(K).fit(DATA)
    assert list(pca.monitor(table * 3.0).odd.index) == list(pca.monitor(DATA * 3.0).odd.index)

"""Batches, and models of parts: any split gives the result of one fit."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import ritz
from helpers.counts import usually
from helpers.matrices import sine
from ritz import PCA, AccuracyWarning, DataError, compare, merge, solvers

RNG = np.random.default_rng(0)
X = RNG.standard_normal((600, 8)) * [9, 7, 5, 3, 2, 1, 0.5, 0.1] + 50.0
OPTIONS = {
    "plain": {},
    "scaled": {"scale": True},
    "not centred": {"center": False},
    "scaled only": {"center": False, "scale": True},
    "whitened": {"whiten": True},
    "ddof 0": {"ddof": 0},
    "a share": {"n_components": 0.9},
    "krylov": {"svd_solver": "krylov"},
    "svd": {"svd_solver": "svd"},
    "svd, scaled": {"svd_solver": "full", "scale": True},
    "svd, not centred": {"svd_solver": "svd", "center": False},
}


def agree(found, expected, tol=2e-12):
    """The same model, to what both certificates allow."""
    largest = expected.explained_variance_[0]
    np.testing.assert_allclose(found.explained_variance_, expected.explained_variance_, atol=tol * largest, rtol=0)
    np.testing.assert_allclose(found.mean_, expected.mean_, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(found.total_variance_, expected.total_variance_, rtol=1e-11)
    np.testing.assert_allclose(found.noise_variance_, expected.noise_variance_, atol=tol * largest)
    bound = float(found.certificate_.angle_bounds.max() + expected.certificate_.angle_bounds.max())
    assert sine(found.components_.T, expected.components_.T) <= bound
    assert found.certificate_.satisfied


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("cuts", [[300], [1], [1, 2, 3], [2, 599], list(range(1, usually(200, thorough=600)))], ids=len)
def test_any_split_gives_the_result_of_one_fit(options, cuts):
    parameters = {"n_components": 3} | OPTIONS[options]
    expected = PCA(**parameters).fit(X)
    batched = PCA(**parameters)
    for batch in np.split(X, cuts):
        assert batched.partial_fit(batch) is batched
    tol = 2e-6 if options == "krylov" else 2e-12
    agree(batched, expected, tol)
    assert batched.n_samples_seen_ == 600
    np.testing.assert_allclose(
        np.abs(batched.transform(X)),
        np.abs(expected.transform(X)),
        atol=tol * 1e3 * np.abs(expected.transform(X)).max(),
    )
    parts = [part for part in np.split(X, cuts) if len(part) > 1]
    if sum(map(len, parts)) == len(X):
        agree(
            merge([PCA(**parameters | {"n_components": 2}).fit(part) for part in parts]).set_params(**parameters),
            expected,
            tol,
        )


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(3, 60),
    d=st.integers(1, 12),
    cuts=st.lists(st.integers(0, 60), max_size=5),
    offset=st.sampled_from([0.0, 1e3, 1e8]),
    size=st.sampled_from([1.0, 2.0**-500, 2.0**500]),
    solver=st.sampled_from(["auto", "svd"]),
    seed=st.integers(0, 99),
)
def test_bounds_hold_for_any_batches(n, d, cuts, offset, size, solver, seed):
    rng = np.random.default_rng(seed)
    data = (rng.standard_normal((n, d)) * np.linspace(3, 1, d) + offset) * size
    k = min(n, d)
    batched = PCA(k, svd_solver=solver)
    for batch in np.split(data, sorted(min(cut, n) for cut in cuts)):
        if len(batch) or hasattr(batched, "n_features_in_"):
            batched.partial_fit(batch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        low, high = batched.certificate_.value_bounds.T
    wide = (data / size).astype(np.longdouble)
    wide -= wide.mean(axis=0)
    truth = np.linalg.svd(wide.astype(np.float64), compute_uv=False)[:k] ** 2 / (n - 1)
    slack = 1e-13 * truth[0]
    assert (low / size / size <= truth + slack).all()
    assert (truth - slack <= high / size / size).all()


def test_batches_may_be_smaller_than_the_number_of_components():
    pca = PCA(5).partial_fit(X[:1])
    with pytest.raises(DataError, match="at least 2 rows"):
        _ = pca.components_
    pca.partial_fit(X[1:3])
    with pytest.raises(ValueError, match="must be between 1 and"):
        pca.transform(X)
    agree(pca.partial_fit(X[3:]), PCA(5).fit(X))


def test_more_rows_after_the_axes_were_seen():
    pca = PCA(3).partial_fit(X[:200])
    first = pca.components_
    pca.partial_fit(X[200:])
    assert pca.components_ is not first
    agree(pca, PCA(3).fit(X))
    agree(PCA(3).fit(X[:200]).partial_fit(X[200:]), PCA(3).fit(X))  # fit, then more
    agree(PCA(3).partial_fit(X[:77] * 100).fit(X), PCA(3).fit(X))  # fit forgets


def test_frames_sparse_and_narrow_batches():
    table = pd.DataFrame(X, columns=list("abcdefgh"))
    pca = PCA(3).partial_fit(table[:100]).partial_fit(table[100:])
    agree(pca, PCA(3).fit(X))
    assert list(pca.feature_names_in_) == list("abcdefgh")
    assert list(pca.get_feature_names_out()) == ["pca0", "pca1", "pca2"]
    agree(PCA(3).partial_fit(sp.csr_array(X[:100])).partial_fit(X[100:]), PCA(3).fit(X))
    narrow = X.astype(np.float32)
    single = PCA(3).partial_fit(narrow[:300]).partial_fit(narrow[300:])
    assert single.components_.dtype == np.float32
    np.testing.assert_allclose(single.explained_variance_, PCA(3).fit(narrow).explained_variance_, rtol=1e-6)
    assert single.partial_fit(X[:10]).components_.dtype == np.float64


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_bad_batches_change_nothing():
    table = pd.DataFrame(X, columns=list("abcdefgh"))
    pca = PCA(3).partial_fit(table[:300])
    before = pickle.dumps(pca)
    bad = X[:10].copy()
    bad[4, 2] = np.nan
    with pytest.raises(DataError, match="1 NaN, first at row 4, column 2"):
        pca.partial_fit(bad)
    with pytest.raises(ValueError, match="features"):
        pca.partial_fit(X[:, :5])
    with pytest.raises(ValueError, match="feature names"):
        pca.partial_fit(table.rename(columns={"a": "z"}))
    assert pca.partial_fit(table[:0]) is pca
    assert pca.partial_fit(np.empty((0, 8))) is pca
    with pytest.raises(ValueError, match="features"):
        pca.partial_fit(np.empty((0, 7)))
    with pytest.raises(ValueError, match="feature names"):
        pca.partial_fit(table[:0].rename(columns={"a": "z"}))
    assert not hasattr(PCA(3).partial_fit(np.empty((0, 8))), "n_features_in_")
    assert pickle.dumps(pca) == before
    fresh = PCA(3)
    with pytest.raises(DataError):
        fresh.partial_fit(bad)
    assert not hasattr(fresh, "n_features_in_")
    assert not hasattr(fresh, "components_")


def test_too_many_columns_for_the_memory_allowed():
    with pytest.raises(ValueError, match=r"moments of 900 columns take .* and a sketch of 12 directions"):
        PCA(2, memory_limit="200kB").partial_fit(np.ones((3, 900)))
    pca = PCA(2).partial_fit(RNG.standard_normal((3, 900)))  # begun with moments, so not to be sketched any more
    with pytest.raises(ValueError, match=r"moments of 900 columns take .* start a new model"):
        pca.set_params(memory_limit="5MB").partial_fit(np.ones((3, 900)))


def test_a_pickled_stream_goes_on():
    pca = pickle.loads(pickle.dumps(PCA(3).partial_fit(X[:200]))).partial_fit(X[200:])
    agree(pca, PCA(3).fit(X))


def test_merge_in_any_order():
    parts = [PCA(3).fit(part) for part in np.split(X, [150, 400])]
    expected = PCA(3).fit(X)
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        agree(merge(parts[i] for i in order), expected)
    agree(merge([merge(parts[:2]), parts[2]]), expected)
    assert parts[0].n_samples_seen_ == 150  # untouched
    assert ritz.merge is merge


@pytest.mark.parametrize(
    ("other", "error", "message"),
    [
        (PCA(2).fit(X[:, :5]), DataError, "model 1 has 5 columns, model 0 has 8"),
        (PCA(2, scale=True).fit(X), DataError, "model 1 has scale=True, model 0 has scale=False"),
        (PCA(2, center=False).fit(X), DataError, "center=False"),
        (PCA(2, ddof=0).fit(X), DataError, "ddof=0"),
        (PCA(2).fit(pd.DataFrame(X, columns=list("abcdefgh"))), DataError, "only one of model 0 and model 1 knows"),
        (PCA(2), Exception, "not fitted"),
        (PCA(2).fit(RNG.standard_normal((40, 2000))), DataError, "carries no moments"),
        ("PCA", TypeError, "model 1 has the type str"),
    ],
)
def test_models_that_do_not_merge(other, error, message):
    with pytest.raises(error, match=message):
        merge([PCA(2).fit(X), other])


def test_nothing_to_merge():
    with pytest.raises(ValueError, match="empty"):
        merge([])


def test_a_model_without_moments_says_so():
    with pytest.raises(ValueError, match="kept no moments"):
        PCA(2).fit(RNG.standard_normal((40, 2000))).partial_fit(RNG.standard_normal((40, 2000)))


@pytest.mark.parametrize("size", [2.0**-560, 2.0**560])
@pytest.mark.parametrize("cuts", [[49], [1], range(1, 50), [20]], ids=str)
@pytest.mark.parametrize("scale", [False, True])
def test_batches_without_spread_do_not_decide_the_unit(size, cuts, scale):
    data = np.random.default_rng(1).standard_normal((50, 4)) * [4, 3, 2, 1]
    pca = PCA(2, scale=scale)
    for batch in np.split(data * size, list(cuts)):
        pca.partial_fit(batch)
    expected = PCA(2, scale=scale).fit(data)
    np.testing.assert_allclose(pca.components_, expected.components_, atol=1e-12)
    np.testing.assert_allclose(pca.explained_variance_ratio_, expected.explained_variance_ratio_, rtol=1e-12)
    assert pca.certificate_.satisfied


def test_all_components_of_few_rows():
    data = RNG.standard_normal((10, 30))
    assert PCA().partial_fit(data[:4]).partial_fit(data[4:]).n_components_ == 10


def test_center_cannot_change_between_batches():
    pca = PCA(2).partial_fit(X[:100]).set_params(center=False)
    with pytest.raises(DataError, match="center=True"):
        _ = pca.components_
    with pytest.raises(DataError, match="center was changed"):
        pca.partial_fit(X[100:])


def test_asking_whether_an_attribute_is_there_is_safe():
    pca = PCA(2).partial_fit(X[:1])
    assert not hasattr(pca, "components_")
    assert "PCA" in pca._repr_html_()
    with pytest.raises(DataError, match="at least 2 rows"):
        pca.transform(X)


def test_a_solver_that_needs_the_rows_gives_way_and_the_plan_says_so():
    wide = np.random.default_rng(2).standard_normal((6, 8))  # of so few rows svd keeps no triangle
    for solver, data, pca in (
        ("gram", X, PCA(2, svd_solver="gram").partial_fit(X)),
        ("gram", X, merge([PCA(2, svd_solver="gram").fit(X)])),
        ("svd", wide, merge([PCA(2, svd_solver="svd").fit(wide)])),
    ):
        assert pca.plan_.solver == "covariance"
        assert f"{solver} needs the rows" in pca.plan_.why
        agree(pca, PCA(2).fit(data))


def test_constant_columns_of_sparse_batches_are_named():
    data = RNG.standard_normal((60, 3))
    data[:, 0] = 813.123
    pca = PCA(1, scale=True)
    for part in np.split(data, 2):
        pca.partial_fit(sp.csr_array(part))
    with pytest.raises(DataError, match=r"constant \(to rounding\): 0"):
        pca.transform(data)


@pytest.mark.parametrize("parameters", [{}, {"svd_solver": "svd"}, {"scale": True}, {"memory_limit": "3MB"}])
def test_models_of_the_same_columns_in_another_order_merge(parameters):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((90, 600)) * 0.99 ** np.arange(600), columns=[f"c{j}" for j in range(600)])
    shuffled = X[list(rng.permutation(X.columns))]
    merged = merge([PCA(3, **parameters).partial_fit(X[:40]), PCA(3, **parameters).partial_fit(shuffled[40:])])
    straight = merge([PCA(3, **parameters).partial_fit(X[:40]), PCA(3, **parameters).partial_fit(X[40:])])
    assert list(merged.feature_names_in_) == list(X.columns)
    assert np.abs(compare(merged, straight)).max() < 1e-6
    assert np.allclose(merged.explained_variance_, straight.explained_variance_, rtol=1e-10)


def test_columns_of_models_are_compared_by_name():
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((50, 4)) * [4, 3, 2, 1], columns=list("abcd"))
    model = PCA(2).fit(X)
    assert compare(model, PCA(2).fit(X[list("dcba")])).max() < 1e-7
    with pytest.raises(DataError, match="the second model lacks 1 of 4 columns: 'd'"):
        compare(model, PCA(2).fit(X.rename(columns={"d": "e"})))


HOPELESS = {
    "more than columns": {"n_components": 4},
    "more, as a number of NumPy": {"n_components": np.int64(9)},
    "none": {"n_components": 0},
    "a truth": {"n_components": True},
    "more than the whole": {"n_components": 2.5},
    "all, as a share": {"n_components": 1.0},
    "no such rule": {"n_components": "most"},
    "rows kept": {"n_components": "auto"},
    "start of another length": {"n_components": 1, "svd_solver": solvers.Power(start=np.ones(4))},
    "start of zeros": {"n_components": 1, "svd_solver": solvers.Krylov(start=np.zeros(3))},
}


@pytest.mark.parametrize("limit", [None, "4MB"])
@pytest.mark.parametrize("name", HOPELESS)
def test_what_no_number_of_rows_could_give_is_refused_at_the_first_batch(name, limit):
    X = np.random.default_rng(0).standard_normal((5, 3))
    pca = PCA(**HOPELESS[name], memory_limit=limit)
    with pytest.raises(ValueError, match=r"n_components=|start h"):
        pca.partial_fit(X)
    assert vars(pca) == PCA(**HOPELESS[name], memory_limit=limit).get_params()
    pca.set_params(n_components=2, svd_solver="auto").partial_fit(X)  # nothing stands in the way of another try
    assert pca.components_.shape == (2, 3)


def test_a_number_beyond_the_columns_is_refused_at_a_later_batch_and_by_merge():
    X = np.random.default_rng(0).standard_normal((8, 3))
    pca = PCA(3).partial_fit(X[:4])
    before = dict(vars(pca.set_params(n_components=4)))
    with pytest.raises(ValueError, match=r"n_components=4 must be between 1 and .*=3"):
        pca.partial_fit(X[4:])
    assert vars(pca) == before
    with pytest.raises(ValueError, match="n_components=4"):
        merge([pca, PCA(2).partial_fit(X[4:])])
    sketched = PCA(3, memory_limit="4MB")
    with pytest.raises(ValueError, match=r"n_components=3000 must"):
        sketched.set_params(n_components=3000).partial_fit(np.ones((5, 2000)))


@pytest.mark.parametrize("power", [0, 300])
def test_covariances_of_sparse_columns_whose_variance_rounding_hides(power):
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 40)
    hidden = np.column_stack(
        [1e8 + z / 3, z * 1e8]
    )  # about 0, a variance of 1/36 beside squares of 1e16 is rounded off
    X = np.ldexp(np.concatenate([hidden, rng.integers(0, 2, (40, 2)) * 1e8]), power)
    Z = np.ldexp(X, -power).astype(np.longdouble)
    Z -= Z.mean(axis=0)
    parts = [sp.csr_array(X[:40]), sp.csr_array(X[40:])]
    for pca in (
        PCA(2).partial_fit(parts[0]).partial_fit(parts[1]),
        merge([PCA(2).partial_fit(part) for part in parts]),
    ):
        U, values = pca.subspace_.axes, np.ldexp(pca.certificate_.values, -2 * power)
        residuals = np.linalg.norm((Z.T @ (Z @ U) / 79 - U * values).astype(np.float64), axis=0)
        assert residuals.max() <= pca.certificate_.reached * values[0]

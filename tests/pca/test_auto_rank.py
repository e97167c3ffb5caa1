"""n_components="auto": planted components are found, noise is not, whatever the rows come from."""

import pickle
import warnings
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from helpers import flips
from helpers.counts import usually
from helpers.files import write_h5ad
from helpers.memory import traced
from ritz import PCA, AccuracyWarning, KernelPCA, merge, plan
from ritz.errors import DataError
from ritz.fitting import signflip_plans
from ritz.fitting.edges import edge, none_above, spectrum
from ritz.fitting.request import Request
from ritz.fitting.signflips import STRIP, Flipped, sign_bits
from ritz.pca import auto_rank, from_rows
from ritz.rows import as_rows
from ritz.runtime import checkpoint
from ritz.runtime.threads import team

pytestmark = pytest.mark.usefixtures("one_thread")


def planted(n, d, r, size, rng, columns=1.0, rows=1.0):
    """r components of that deviation in noise whose deviation differs by column or by row."""
    noise = rng.standard_normal((n, d)) * columns * np.reshape(rows, (-1, 1))
    return 5 + size * rng.standard_normal((n, r)) @ np.linalg.qr(rng.standard_normal((d, r)))[0].T + noise


def naive(X, seed, flips, center=True, scale=False):
    """Singular values, squared, of the rows and of their copies: dense, from one table of signs for all rows."""
    Z = X - X.mean(axis=0) if center else X
    Z = Z / np.sqrt((Z**2).sum(axis=0) / (len(X) - 1)) if scale else Z
    signs = [1 - 2.0 * sign_bits(seed, flip, range(len(X)), X.shape[1]) for flip in range(flips)]
    return np.array([np.linalg.svd(R * Z, compute_uv=False) ** 2 for R in [1.0, *signs]])


def flips_of(X, seed=0, **parameters):
    made, unit = auto_rank.prepared(as_rows(X), Request(seed=seed, **parameters))
    return made, unit**2


def spectra(made, side, at_once):
    return np.array([spectrum(K) for K in made.matrices(side, [None, *range(4)], at_once)])


SHAPES = {
    "tall": (500, 20, 1, 2.0),
    "several": (500, 20, 3, 3.0),
    "large": (1000, 100, 5, 3.0),
    "square": (100, 100, 3, 6.0),
    "wide": (60, 300, 3, 12.0),
}


@pytest.mark.parametrize("noise", ["alike", "by column", "by row"])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_was_planted_is_found(shape, noise):
    n, d, r, size = SHAPES[shape]
    more = {"by column": {"columns": np.geomspace(0.5, 2, d)}, "by row": {"rows": np.geomspace(0.5, 2, n)}}
    found = []
    for seed in range(20):
        X = planted(n, d, r, size, np.random.default_rng(seed), **more.get(noise, {}))
        found.append(PCA("auto", random_state=seed).fit(X).n_components_)
    assert found.count(r) >= 19


@pytest.mark.parametrize("case", [{"dtype": np.float32}, {"scale": True}, {"center": False}])
def test_other_models_of_the_rows(case):
    dtype, found = case.pop("dtype", float), []
    for seed in range(20):
        X = planted(400, 30, 3, 4.0, np.random.default_rng(seed)) - 5 * (not case.get("center", True))
        X = X * np.geomspace(1, 1e6, 30) if case.get("scale") else X
        found.append(PCA("auto", random_state=seed, **case).fit(X.astype(dtype)).n_components_)
    assert found.count(3) >= 19


@pytest.mark.parametrize("shape", [(200, 30), (40, 150), (30, 4)])
def test_noise_has_no_component_but_once_in_twenty_times(shape):
    above, (trials, most) = [], usually((60, 9), thorough=(150, 17))
    for seed in range(trials):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            pca = PCA("auto", random_state=seed).fit(np.random.default_rng(seed + 1000).standard_normal(shape))
        above.append(pca.rank_choice_.above)
        said = any("no component stands above noise" in str(one.message) for one in caught)
        assert said == (above[-1] == 0)
        assert pca.n_components_ == max(1, above[-1])
    # 60 trials at 5 %: more than 9 happen once in a thousand times, as more than 17 of 150 do.
    assert np.count_nonzero(above) <= most


@pytest.mark.parametrize("parameters", [{}, {"scale": True}, {"center": False}])
@pytest.mark.parametrize("shape", [(150, 12), (150, 1), (2, 2), (90, 90)])
def test_spectra_of_copies_are_those_of_dense_matrices(shape, parameters):
    X = np.random.default_rng(0).standard_normal(shape) + 3
    made, unit = flips_of(X, seed=7, **parameters)
    truth = naive(X, 7, 4, **parameters)
    scatters = spectra(made, "scatter", 3) * unit
    assert np.allclose(scatters[:, : min(shape)], truth, rtol=1e-9, atol=1e-9 * truth.max())


@pytest.mark.parametrize("shape", [(12, 150), (3, 2 * STRIP + 77), (2, 5)])
def test_inner_products_have_the_same_spectra(shape):
    X = np.random.default_rng(0).standard_normal(shape) + 3
    made, unit = flips_of(X)
    truth = naive(X, 0, 4)
    assert np.allclose(spectra(made, "gram", 2) * unit, truth, rtol=1e-9, atol=1e-9 * truth.max())


@pytest.mark.parametrize("shape", [(600, 40), (40, 600)])
def test_iterations_come_close_to_them_from_above(shape):
    X = planted(*shape, 3, 5.0, np.random.default_rng(0))
    made, unit = flips_of(X)
    truth = naive(X, 0, 3)
    assert np.allclose(made.leading(None, 5)[0] * unit, truth[0, :5], rtol=1e-4)
    for flip in range(3):
        edge = made.leading(flip, 1)[0][0] * unit
        assert truth[flip + 1, 0] * (1 - 1e-6) <= edge <= truth[flip + 1, 0] * (1 + 2e-3)


def test_the_edge_of_a_large_matrix_is_bounded_closely(monkeypatch):
    Z = np.random.default_rng(0).standard_normal((300, 200))
    truth = np.linalg.norm(Z, 2) ** 2
    assert edge(Z.T @ Z) == pytest.approx(truth, rel=1e-12)
    monkeypatch.setattr("ritz.fitting.edges.ITERATED", 100)
    assert truth * (1 - 1e-6) <= edge(Z.T @ Z) <= truth * (1 + 2e-3)


def test_float32_products_tell_the_same(monkeypatch):
    X = planted(3000, 80, 3, 4.0, np.random.default_rng(0))
    exact = PCA("auto").fit(X).rank_choice_
    monkeypatch.setattr("ritz.fitting.signflips.float32_pays", lambda entries, columns: True)
    rough = PCA("auto").fit(X * 1e25).rank_choice_  # squares beyond float32
    assert rough.k == exact.k == 3
    assert np.allclose(rough.values, exact.values * 1e50, rtol=1e-4)
    assert np.allclose(rough.null, exact.null * 1e50, rtol=1e-4)


@settings(deadline=None, max_examples=30)
@given(
    st.integers(0, 2**31),
    st.integers(0, 18),
    st.integers(0, 40),
    st.integers(1, 9),
    st.sampled_from([1, 63, 64, 65, 200, STRIP, STRIP + 70]),
)
def test_signs_of_a_row_do_not_depend_on_the_rows_around_it(seed, flip, start, count, d):
    whole = sign_bits(seed, flip, range(60), d)
    assert np.array_equal(sign_bits(seed, flip, range(start, start + count), d), whole[start : start + count])


def test_signs_are_fair_and_those_of_flips_differ():
    signs = np.stack([sign_bits(0, flip, range(4000), 70) for flip in range(3)])
    assert np.abs(signs.mean(axis=(1, 2)) - 0.5).max() < 0.005
    apart = (1 - 2.0 * signs).reshape(3, -1)
    assert np.abs(np.corrcoef(apart)[np.triu_indices(3, 1)]).max() < 0.01
    assert not np.array_equal(sign_bits(1, 0, range(9), 70), sign_bits(0, 0, range(9), 70))


def test_flipped_rows_are_walked_in_any_blocks():
    X = np.random.default_rng(0).standard_normal((500, 9))
    made, _ = flips_of(X)
    flipped = Flipped(as_rows(X), made.prepare, 3, 5)
    Z = (1 - 2.0 * sign_bits(3, 5, range(500), 9)) * made.prepare(X)
    assert np.array_equal(flipped.limited(8 * 9 * 7).map(np.copy), Z)
    assert np.array_equal(flipped.block(17, 40), Z[17:40])
    assert np.allclose((Z**2).sum(axis=0), made.diagonal)


@pytest.mark.parametrize(("shape", "least"), [((30000, 12), 300_000), ((60, 5000), 6_000_000)])
def test_the_choice_depends_neither_on_chunks_nor_on_threads(shape, least, blas_as_it_is):
    X = planted(*shape, 2, 20.0, np.random.default_rng(0))
    rows = as_rows(X)
    one = auto_rank.chosen(rows, Request(n_components="auto"), signflip_plans.route(rows, 1 << 40))
    with threadpool_limits(2, user_api="blas"):
        two = auto_rank.chosen(rows, Request(n_components="auto"), signflip_plans.route(rows, 1 << 40))
    small = auto_rank.chosen(rows, Request(n_components="auto"), signflip_plans.route(rows, least))
    for other in (two, small):
        assert other.k == one.k == 2
        assert np.allclose(other.values[:3], one.values[:3], rtol=1e-4)
        assert np.allclose(other.null[0], one.null[0], rtol=2e-3)
    assert np.array_equal(two.null, one.null)


@pytest.mark.parametrize("shape", [(300, 20), (20, 90)])
def test_files_tables_and_sparse_rows_give_the_answer_of_the_array(tmp_path, shape):
    X = (planted(*shape, 2, 9.0, np.random.default_rng(1)) - 5) * (np.random.default_rng(2).random(shape) < 0.9)
    truth = PCA("auto").fit(X)
    names = [f"c{j}" for j in range(shape[1])]
    table = pa.table({name: X[:, j] for j, name in enumerate(names)})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=70)
    np.save(tmp_path / "x.npy", X)
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header=",".join(names), comments="", fmt="%.17g")
    write_h5ad(tmp_path / "x.h5ad", scipy.sparse.csr_matrix(X))
    sources = [str(tmp_path / f"x.{kind}") for kind in ("parquet", "npy", "csv", "h5ad")]
    for source in [*sources, table, table.to_pandas(), scipy.sparse.csr_array(X), scipy.sparse.csc_array(X)]:
        pca = PCA("auto").fit(source)
        assert pca.n_components_ == truth.n_components_ == 2
        assert np.allclose(pca.rank_choice_.null, truth.rank_choice_.null, rtol=1e-9)
        assert np.allclose(pca.rank_choice_.values, truth.rank_choice_.values, atol=1e-9 * truth.rank_choice_.values[0])


def test_files_that_are_not_held_are_walked(tmp_path, monkeypatch):
    X = planted(900, 6, 2, 4.0, np.random.default_rng(1))
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", fmt="%.17g")
    monkeypatch.setattr("ritz.fitting.costs.HELD", 0)
    pca, truth = PCA("auto").fit(str(tmp_path / "x.csv")), PCA("auto").fit(X)
    assert np.allclose(pca.rank_choice_.null, truth.rank_choice_.null, rtol=1e-9)


@pytest.mark.parametrize("kind", ["scatter", "gram", "krylov"])
def test_more_components_than_the_first_guess(kind, monkeypatch):
    shape = (300, 1000) if kind == "gram" else (1000, 200)
    X = planted(*shape, 40, 30.0, np.random.default_rng(0))
    rows = as_rows(X)
    route = signflip_plans._krylov if kind == "krylov" else partial(signflip_plans.by_matrices, kind)
    monkeypatch.setattr(signflip_plans, "route", route)
    pca = PCA("auto").fit(X)
    assert pca.n_components_ == 40
    assert signflip_plans.route(rows, 1 << 40).kind == kind
    assert np.allclose(pca.rank_choice_.values[:40], pca.explained_variance_, rtol=1e-4)


def test_the_observed_values_are_the_variances():
    X = planted(400, 20, 3, 4.0, np.random.default_rng(0))
    pca = PCA("auto", ddof=0).fit(X)
    choice = pca.rank_choice_
    assert np.allclose(choice.values[:3], pca.explained_variance_)
    assert choice.values.shape == choice.null.shape == (20,)
    # Copies have the size of the rows, and of what is left of them: their largest variance, here by its definition.
    truth = flips.stages(X)
    assert (choice.k, choice.flips, choice.quantile, choice.seed) == (3, 19 * len(truth), 0.95, 0)
    assert choice.stages == tuple((removed, 19) for removed, *_ in truth)
    ends = [removed for removed, *_ in truth[1:]] + [20]
    for (removed, _, copies), end in zip(truth, ends, strict=True):
        assert np.allclose(choice.null[removed:end], copies.max() * 399 / 400, rtol=1e-8)
    clause = pca.plan_.why.split("; ")[-1]
    said = f"{choice.flips} copies with random signs, of the rows and of what PC1–PC3 left"
    assert clause == f"3 components stood above the noise of {said}"


@pytest.mark.parametrize("X", [np.zeros((5, 3)), np.full((4, 2), 7.5), np.full((3, 1), 1e300)])
def test_constant_rows(X):
    with pytest.warns(AccuracyWarning, match="no component stands above noise"):
        pca = PCA("auto").fit(X)
    assert pca.n_components_ == 1
    assert pca.explained_variance_[0] == 0
    with pytest.raises(DataError, match="constant"):
        PCA("auto", scale=True).fit(X)


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 2**20), st.sampled_from([1.0, 1e-200, 1e200]))
def test_tiny_data(n, d, seed, size):
    X = np.random.default_rng(seed).integers(-3, 4, (n, d)) * size
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        pca = PCA("auto").fit(X)
    assert pca.rank_choice_.above == flips.count(X / size)
    # Flips keep the sum of the squares, of which the largest value has at least its share; of a single component that
    # is left, every copy is as large.
    assert pca.rank_choice_.above < min(n, d)


def test_the_seed_decides_and_none_is_a_fixed_one():
    X = planted(200, 20, 2, 3.0, np.random.default_rng(0))
    null = [PCA("auto", random_state=state).fit(X).rank_choice_.null[0] for state in (None, None, 3, 3)]
    assert null[0] == null[1] != null[2] == null[3]


@pytest.mark.parametrize("solver", ["covariance", "gram", "svd", "krylov", "orthogonal", "full", "arpack"])
def test_named_solvers(solver):
    X = planted(120, 15, 3, 5.0, np.random.default_rng(0))
    pca = PCA("auto", svd_solver=solver).fit(X)
    assert pca.n_components_ == 3
    assert np.allclose(pca.explained_variance_, PCA(3).fit(X).explained_variance_, rtol=1e-5)


def test_the_choice_goes_with_the_fit():
    X = planted(200, 20, 2, 3.0, np.random.default_rng(0))
    pca = PCA("auto").fit(X)
    assert pickle.loads(pickle.dumps(pca)).rank_choice_.k == 2
    assert not hasattr(clone(pca), "rank_choice_")
    pca.fit(X[:150])
    assert pca.rank_choice_.k == 2
    pca.set_params(n_components=3).fit(X)
    with pytest.raises(AttributeError, match="rank_choice_ comes with n_components='auto'"):
        _ = pca.rank_choice_
    pca.set_params(n_components="auto").fit(X).set_params(n_components=2).partial_fit(X)
    assert not hasattr(pca, "rank_choice_")


def test_warnings_that_are_errors_leave_the_old_fit():
    pca = PCA("auto").fit(planted(200, 20, 2, 3.0, np.random.default_rng(0)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(AccuracyWarning, match="no component"):
            pca.fit(np.random.default_rng(8).standard_normal((100, 20)))
    assert pca.n_components_ == pca.rank_choice_.k == 2


def test_where_no_rows_are_at_hand():
    X = planted(100, 5, 1, 5.0, np.random.default_rng(0))
    with pytest.raises(ValueError, match="partial_fit keeps no rows"):
        PCA("auto").partial_fit(X)
    with pytest.raises(ValueError, match="to merge hold no rows"):
        merge([PCA("auto").fit(X), PCA("auto").fit(X)])
    with pytest.raises(ValueError, match="only moments or a covariance are known; ask for a number of components"):
        PCA.from_covariance(np.cov(X.T), n_components="auto", n_rows=100)
    with pytest.raises(ValueError, match="KernelPCA knows inner products"):
        KernelPCA("auto").fit(X)
    later = PCA(2).partial_fit(X).set_params(n_components="auto")
    with pytest.raises(AttributeError, match="only moments or a covariance"):
        _ = later.components_


def test_one_model_of_number_may_be_merged_with_one_found():
    X = planted(200, 5, 1, 5.0, np.random.default_rng(0))
    whole = merge([PCA(1).fit(X[:100]), PCA("auto").fit(X[100:])])
    assert np.allclose(whole.explained_variance_, PCA(1).fit(X).explained_variance_)


def test_other_words_are_errors_that_name_this_one():
    with pytest.raises(ValueError, match="'mle', 'auto' or None"):
        PCA("automatic").fit(np.eye(3))


def test_bad_data_is_named():
    X = planted(50, 4, 1, 5.0, np.random.default_rng(0))
    X[12, 3] = np.nan
    with pytest.raises(DataError, match="row 12, column 3"):
        PCA("auto").fit(X)
    with pytest.raises(DataError, match="at least 2 rows"):
        PCA("auto").fit(X[:1])


def test_plans():
    X = np.zeros((1000, 20))
    found = plan(X, "auto")
    assert found.passes == plan(X, 16).passes + 2
    assert found.operations > 20 * plan(X, 16).operations
    clause = "how many components, here taken to be 16, will be decided by 19 copies of the rows with random signs"
    assert found.why == f"{plan(X, 16).why}; {clause}"


@pytest.mark.parametrize(
    ("X", "kind", "at_once"),
    [
        (np.zeros((1000, 20)), "scatter", 20),
        (np.zeros((20, 1000)), "gram", 20),
        (np.zeros((6000, 6000), np.uint8), "krylov", 1),
    ],
    ids=["tall", "wide", "large"],
)
def test_the_quickest_route_is_taken(X, kind, at_once):
    route = signflip_plans.route(as_rows(X), 1 << 32)
    assert (route.kind, route.at_once) == (kind, at_once)


@pytest.mark.parametrize("shape", [(3000, 120), (60, 9000)])
def test_memory_limits_decide_how(shape):
    X = planted(*shape, 2, 25.0, np.random.default_rng(0))
    rows, seen = as_rows(X), set()
    for limit in (1 << 30, 1 << 25, 1 << 24, 8_000_000):
        route = signflip_plans.route(rows, limit)
        assert route.cost.memory <= limit
        seen.add((route.kind, route.at_once))
        assert PCA("auto", memory_limit=limit).fit(X).n_components_ == 2
    assert len(seen) > 1
    with pytest.raises(ValueError, match="copies of the rows with flipped signs need"):
        PCA("auto", memory_limit=10_000).fit(X)


@pytest.mark.parametrize("shape", [(20000, 100), (6000, 300), (200, 9000)])
def test_memory_that_is_promised_is_kept(shape):
    rows = as_rows(planted(*shape, 2, 25.0, np.random.default_rng(0)))
    for limit in (1 << 29, 1 << 25):
        route = signflip_plans.route(rows, limit)
        with traced() as taken, team():
            auto_rank.chosen(rows, Request(n_components="auto"), route)
        assert taken.peak <= 1.05 * route.cost.memory


def test_progress_is_shown(capsys):
    PCA("auto", verbose=True).fit(planted(200, 20, 2, 3.0, np.random.default_rng(0)))
    assert "2 components kept, 2 above noise" in capsys.readouterr().err


class Stop(BaseException):
    """An interruption."""


@pytest.mark.parametrize("shape", [(9000, 20), (50, 3000)])
def test_interrupted_fits_resume(tmp_path, monkeypatch, shape):
    monkeypatch.setattr(checkpoint, "INTERVAL", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 0.0)
    X = planted(*shape, 2, 12.0, np.random.default_rng(0))
    truth, finish, seen = PCA("auto").fit(X), checkpoint.Checkpoint.finish, [0]

    def stopped(self, result):
        finish(self, result)
        seen[0] += 1
        if seen[0] <= 2:
            raise Stop

    monkeypatch.setattr(checkpoint.Checkpoint, "finish", stopped)
    for _ in range(2):
        with pytest.raises(Stop):
            PCA("auto").fit(X, checkpoint=tmp_path / "fit.checkpoint")
    resumed = PCA("auto").fit(X, checkpoint=tmp_path / "fit.checkpoint")
    assert np.array_equal(resumed.components_, truth.components_)
    assert np.array_equal(resumed.rank_choice_.null, truth.rank_choice_.null)


def test_digits():
    from sklearn.datasets import load_digits

    # Independent of this package but for the signs: a dense svd of every copy.
    X = load_digits().data
    assert PCA("auto").fit(X).n_components_ == flips.count(X) == 30


@pytest.mark.parametrize("rank", [0, 1, 3, 300])
def test_edges_of_large_matrices_of_any_rank(rank):
    F = np.random.default_rng(0).standard_normal((rank, 300)) if rank else np.zeros((1, 300))
    K = F.T @ F
    truth = np.linalg.eigvalsh(K)[: -5 - 1 : -1]
    found = edge(np.triu(K), 5)  # the lower triangle is nobody's
    assert np.allclose(found[0], truth[0], rtol=1e-3, atol=1e-12)
    assert np.allclose(found, truth, rtol=0, atol=3e-3 * truth[0] + 1e-12)
    assert (found >= truth - 1e-3 * truth[0]).all()


@pytest.mark.parametrize("order", [1, 7, 300])
def test_a_factorisation_tells_what_lies_within_the_bar(order):
    F = np.random.default_rng(0).standard_normal((2 * order, order))
    K = F.T @ F
    largest = np.linalg.norm(F, 2) ** 2
    for dtype in (float, np.float32):
        for share in (0.5, 0.999, 1.001, 2.0):
            assert none_above(np.triu(K).astype(dtype), share * largest) == (share > 1)


@pytest.mark.parametrize("shape", [(100, 20), (5000, 60), (3000, 900), (60, 5000)])
@pytest.mark.parametrize("limit", [1 << 40, 1 << 27])
def test_every_copy_is_in_one_pass(shape, limit):
    route = signflip_plans.by_matrices("gram" if shape[0] < shape[1] else "scatter", as_rows(np.zeros(shape)), limit)
    assert [flip for group in route.groups for flip in group] == [None, *range(19)]
    assert max(map(len, route.groups)) <= route.at_once
    whole, first = route.followed([19]).cost, route.followed([route.first]).cost
    assert whole.operations == route.cost.operations >= first.operations * 20 / (route.first + 1) * (1 - 1e-9)
    assert (whole.passes, first.passes) == (1 + len(route.groups), 2)


def test_the_count_and_the_fit_share_their_moments(monkeypatch):
    X, made = planted(3000, 40, 3, 4.0, np.random.default_rng(0)), []
    for module in (auto_rank, from_rows):
        found = module.moments
        monkeypatch.setattr(
            module, "moments", lambda *rows, found=found, **how: made.append(how) or found(*rows, **how)
        )
    pca = PCA("auto").fit(X)
    assert len(made) == 1
    assert np.array_equal(pca.components_, PCA(3).fit(X).components_)
    assert len(made) == 2


def test_comparisons_end_where_they_would_take_long(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 60)) * np.geomspace(1e3, 1, 60) @ np.linalg.qr(rng.standard_normal((60, 60)))[0]
    whole = PCA("auto").fit(X).rank_choice_
    assert len(whole.stages) > 4
    assert not whole.unfinished
    monkeypatch.setattr(auto_rank, "BUDGET", 0.0)
    short = PCA("auto").fit(X).rank_choice_
    assert 3 <= len(short.stages) < len(whole.stages)
    assert sum(copies for _, copies in short.stages[:-1]) < 10 or len(short.stages) == 3
    assert short.unfinished
    assert 1 < short.k == short.above < whole.k  # those that were found are above noise; more may be
    assert str(short).splitlines()[2].endswith(f"; more may stand above what PC1–PC{short.k} left")

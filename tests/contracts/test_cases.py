"""Inputs that break PCA software, and what Ritz does instead."""

import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from helpers.matrices import blas_limits, preprocess, sine, with_spectrum
from ritz import PCA, AccuracyWarning

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 5)) * [5, 3, 2, 1, 0.5] + 7
SOLVERS = ["auto", "covariance", "gram", "svd", "power", "orthogonal", "krylov"]
LARGE = (3000, 50)  # several blocks of rows, above the threshold for threads


def fitted_state(pca):
    return {key: repr(value) for key, value in vars(pca).items()}


def must_fail(bad, match, exception=ValueError, **parameters):
    """The error names the place, and the old fitted state is kept."""
    pca = PCA(n_components=2).fit(X)
    pca.set_params(**parameters)
    before = fitted_state(pca)
    with pytest.raises(exception, match=match):
        pca.fit(bad)
    assert fitted_state(pca) == before


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(40, 5), (5, 40), LARGE])
def test_nan_is_counted_and_located(shape, solver):
    bad = RNG.standard_normal(shape)
    bad[3, 2] = bad[3, 4] = bad[4, 1] = np.nan
    must_fail(bad, "3 NaN, first at row 3, column 2", svd_solver=solver)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinity_is_located(value, dtype):
    bad = X.astype(dtype)
    bad[2, 1] = value
    must_fail(bad, "1 infinity .* first at row 2, column 1")


def test_nan_names_the_column_of_a_table():
    pd = pytest.importorskip("pandas")
    must_fail(pd.DataFrame({"age": [1, 2, np.nan], "size": [1.0, 2, 3]}), "1 NaN, first at row 2, column 'age'")


@pytest.mark.parametrize(
    ("bad", "match"),
    [
        (np.empty((0, 3)), r"shape=\(0, 3\)"),
        (np.empty((3, 0)), r"shape=\(3, 0\)"),
        (np.float64(3.0), "0D array"),
        (np.arange(3.0), r"1D array of shape \(3,\)"),
        (np.zeros((2, 2, 2)), r"\(2, 2, 2\)"),
        (np.ones((1, 3)), "at least 2 rows"),
        (X + 1j, "[Cc]omplex"),
        (X.astype(str), "expected numbers"),
        (X.astype("datetime64[s]"), "expected numbers"),
        (np.ma.masked_less(X, 4), "masked"),
    ],
)
def test_shapes_and_types_that_are_errors(bad, match):
    must_fail(bad, match, n_components=None)


def test_one_object_that_is_no_number_is_located():
    bad = X.astype(object)
    bad[1, 3] = "seven"
    must_fail(bad, "column 3")


@pytest.mark.parametrize("value", [0, -1, 2.5, True, False, 1.0, 6, "many", "2", [2], np.nan])
def test_n_components_out_of_range_states_the_range(value):
    must_fail(X, r"must be between 1 and min\(n_samples, n_features\)=5", n_components=value)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"svd_solver": "qr"}, "'covariance', 'gram', 'svd'"),
        ({"svd_solver": 3}, "neither a name nor a solver"),
        ({"tol": -1}, "0 <= tol < 1"),
        ({"tol": "small"}, "0 <= tol < 1"),
        ({"ddof": -1}, "ddof"),
        ({"ddof": 40}, "at least 41 rows"),
        ({"memory_limit": "lots"}, "512MB"),
        ({"whiten": "yes"}, "whiten='yes'"),
        ({"iterated_power": -2}, "iterated_power"),
        ({"n_oversamples": -1}, "n_oversamples"),
        ({"tol": None}, "0 <= tol < 1"),
    ],
)
def test_parameters_are_checked(parameters, match):
    must_fail(X, match, **parameters)


@pytest.mark.parametrize("alias", ["arpack", "randomized"])
@pytest.mark.parametrize("shape", [(3000, 60), (60, 3000), (25, 25)])
def test_the_iterative_solvers_of_scikit_learn_are_names_of_krylov(alias, shape):
    data = np.random.default_rng(1).standard_normal(shape) * np.linspace(3, 1, shape[1]) + 4
    expected = PCA(4, svd_solver="krylov", random_state=5).fit(data)
    pca = PCA(4, svd_solver=alias, random_state=5).fit(data)
    assert pca.plan_ == expected.plan_
    assert pca.plan_.solver == "krylov"
    np.testing.assert_array_equal(pca.components_, expected.components_)
    np.testing.assert_array_equal(pca.explained_variance_, expected.explained_variance_)
    truth = np.linalg.svd(data - data.mean(axis=0), compute_uv=False)[:4] ** 2 / (shape[0] - 1)
    np.testing.assert_allclose(pca.explained_variance_, truth, rtol=0, atol=1e-6 * truth[0])


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_column_gives_the_standard_deviation(solver):
    x = RNG.standard_normal((50, 1)) + 1e7
    pca = PCA(svd_solver=solver).fit(x)
    np.testing.assert_allclose(np.sqrt(pca.explained_variance_), x.std(ddof=1), rtol=1e-7)
    np.testing.assert_allclose(pca.components_, [[1.0]], rtol=0, atol=1e-15)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(20, 4), (4, 20)])
@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
def test_all_zeros(shape, solver):
    pca = PCA(3, svd_solver=solver, whiten=True).fit(np.zeros(shape))
    np.testing.assert_array_equal(pca.explained_variance_, 0)
    np.testing.assert_array_equal(pca.explained_variance_ratio_, 0)
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(3), atol=1e-14)
    np.testing.assert_array_equal(pca.transform(np.zeros(shape)), 0)
    assert pca.certificate_.rank == 0


def test_constant_columns_are_named_when_scaling():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X, columns=list("abcde")).assign(same=0.1, also=3)
    must_fail(table, "2 column.* constant .*: 'same', 'also'", scale=True)
    nearly = np.column_stack([X, np.full(40, 0.3)])
    nearly[::2, -1] = 0.1 + 0.2  # equal but for rounding
    must_fail(nearly, "constant .*: 5", scale=True)
    assert PCA(scale=False).fit(table.to_numpy()[:, :5]).n_components_ == 5


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_offset_of_1e8_does_not_matter(solver):
    noise = with_spectrum(500, 4, np.sqrt(500) * np.array([2.56, 0.77, 0.266, 0.083]), np.random.default_rng(1))
    data = 1e8 + noise
    Z = preprocess(data).astype(np.float64)
    truth = np.linalg.svd(Z)[1] ** 2 / 499
    pca = PCA(svd_solver=solver).fit(data)
    iterative = solver in ("power", "orthogonal", "krylov")
    tolerance = (1e-6 if iterative else 50 * 500 * 2.2e-16) * truth.sum()
    np.testing.assert_allclose(pca.explained_variance_, truth, atol=tolerance)


@pytest.mark.parametrize("offset", [3.0, 1e4])
@pytest.mark.parametrize("n", [2_000, 100_000])
def test_float32_with_an_offset_is_accumulated_wide(n, offset):
    data = (RNG.standard_normal((n, 50)) / np.sqrt(np.arange(1, 51)) + offset).astype(np.float32)
    Z = preprocess(data).astype(np.float64)
    truth = np.linalg.eigvalsh(Z.T @ Z / (n - 1))[::-1]
    pca = PCA(10).fit(data)
    np.testing.assert_allclose(pca.explained_variance_, truth[:10], rtol=1e-5)
    assert pca.certificate_.satisfied
    assert pca.mean_.dtype == np.float64
    np.testing.assert_allclose(pca.mean_, data.astype(np.longdouble).mean(axis=0).astype(float), rtol=1e-9)


@pytest.mark.parametrize("size", [1e155, 1e300, 1e-200, 1e-300])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("center", [True, False])
def test_extreme_sizes_are_scaled_first(size, solver, center):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pca = PCA(3, svd_solver=solver, center=center).fit(X * size)
    plain = PCA(3, svd_solver=solver, center=center).fit(X)
    np.testing.assert_allclose(pca.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-6)
    np.testing.assert_allclose(pca.singular_values_, plain.singular_values_ * size, rtol=1e-6)
    np.testing.assert_allclose(np.abs(pca.components_), np.abs(plain.components_), atol=1e-4)
    np.testing.assert_allclose(pca.transform(X * size) / size, plain.transform(X), atol=1e-3)
    assert np.isinf(pca.explained_variance_).all() if size > 1 else (pca.explained_variance_ < 1e-300).all()


@pytest.mark.parametrize("solver", ["auto", "covariance", "svd"])
def test_columns_of_very_different_size_scale_to_one(solver):
    data = X * [1e200, 1.0, 1e-200, 1e-300, 1e150]
    pca = PCA(scale=True, svd_solver=solver).fit(data)
    np.testing.assert_allclose(pca.explained_variance_, PCA(scale=True).fit(X).explained_variance_, rtol=1e-9)


def test_symmetric_tiny_columns_are_not_mistaken_for_constant():
    tiny = np.array([[1e-200], [-1e-200], [1e-200], [-1e-200]])
    np.testing.assert_allclose(PCA(svd_solver="covariance").fit(tiny).singular_values_, [2e-200])


@pytest.mark.parametrize("dtype", ["u1", "i1", "?", "f2", "i4", "i8", "u8", ">f8", ">f4", ">i2"])
def test_every_numeric_dtype(dtype):
    data = RNG.integers(0, 2 if dtype == "?" else 100, (60, 4)).astype(dtype)
    reference = PCA(3).fit(data.astype(np.float64))
    pca = PCA(3).fit(data)
    np.testing.assert_allclose(pca.explained_variance_, reference.explained_variance_, rtol=1e-6)
    expected = np.float32 if dtype in ("f2", ">f4") else np.float64
    assert pca.components_.dtype == expected
    assert pca.transform(data).dtype == expected


def test_longdouble_is_computed_in_float64_with_a_warning():
    with pytest.warns(UserWarning, match="computed in float64"):
        pca = PCA(2).fit(X.astype(np.longdouble))
    np.testing.assert_array_equal(pca.components_, PCA(2).fit(X).components_)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(30, 6), (6, 30)])
def test_rank_below_k(solver, shape):
    data = with_spectrum(*shape, [3.0, 2.0, 1.0, 0, 0, 0], np.random.default_rng(2), offset=5.0)
    with pytest.warns(AccuracyWarning, match="rank 3"):
        pca = PCA(5, svd_solver=solver, whiten=True).fit(data)
    np.testing.assert_array_equal(pca.explained_variance_[3:], 0)
    np.testing.assert_array_equal(pca.singular_values_[3:], 0)
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(5), atol=1e-12)
    assert pca.certificate_.rank == 3
    whitened = pca.transform(data)
    np.testing.assert_array_equal(whitened[:, 3:], 0)
    np.testing.assert_allclose(whitened[:, :3].std(axis=0, ddof=1), 1, rtol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["identical columns", "one-hot", "two rows", "one column"])
@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
def test_wide_data_of_low_rank_has_orthonormal_axes(kind, solver):
    rng = np.random.default_rng(4)
    data = {
        "identical columns": np.repeat(rng.standard_normal((12, 1)), 600, axis=1),
        "one-hot": np.repeat(np.eye(4)[rng.integers(0, 4, 20)], 150, axis=1),
        "two rows": np.tile(rng.standard_normal((2, 600)), (10, 1)),
        "one column": np.outer(np.arange(12.0), np.eye(600)[0]),
    }[kind]
    pca = PCA(5, svd_solver=solver).fit(data)
    assert np.linalg.norm(pca.components_ @ pca.components_.T - np.eye(5)) < 50 * 600 * np.finfo(float).eps
    truth = np.linalg.svd(data - data.mean(axis=0))[1][:5]
    np.testing.assert_allclose(pca.singular_values_, truth, atol=1e-6 * truth[0])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("size", [1e-200, 1e-100, 1e-80, 1e100])
def test_a_constant_column_does_not_decide_the_unit(solver, size):
    data = np.random.default_rng(0).standard_normal((300, 4)) * [3, 2, 1, 0]
    pca = PCA(2, svd_solver=solver).fit(data * size)
    np.testing.assert_allclose(pca.singular_values_ / size, PCA(2).fit(data).singular_values_, rtol=1e-6)
    assert pca.certificate_.satisfied


def test_integers_over_their_whole_range():
    for dtype in (np.int64, np.uint64):
        limits = np.iinfo(dtype)
        drawn = np.random.default_rng(1).integers(limits.min, limits.max, (200, 2), dtype=dtype)
        data = drawn // 2**11 * dtype(2**11)  # which leaves as many bits as float64 has
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            pca = PCA().fit(data)
        must_fail(drawn, "which float64 cannot hold: beyond 2")
        must_fail((limits.max - np.arange(50, dtype=dtype)).reshape(-1, 2), f"column 0 holds {limits.max}")
        Z = preprocess(data.astype(np.longdouble)).astype(np.float64)
        np.testing.assert_allclose(pca.singular_values_, np.linalg.svd(Z)[1], rtol=1e-9)


def test_heavy_tails_in_float32_are_multiplied_again_in_float64():
    data = np.random.default_rng(0).pareto(0.7, (60_000, 80)).astype(np.float32)
    for solver in ("auto", "covariance"):
        pca = PCA(3, svd_solver=solver, scale=True).fit(data)
        np.testing.assert_allclose(pca.explained_variance_, [1.2196, 1.0563, 1.0171], atol=1e-4)
        assert pca.certificate_.satisfied


def test_a_column_too_small_to_be_scaled_is_named():
    must_fail(X * [1, 1, 1, 1, 1e-310], "standard deviation of column 4 is", scale=True)


def test_all_components_of_wide_data_end_in_one_without_variance():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing the user could act on
        pca = PCA().fit(RNG.standard_normal((8, 30)))
    assert pca.n_components_ == 8
    assert pca.explained_variance_[-1] == 0
    assert pca.certificate_.rank == 7


@pytest.mark.parametrize("solver", ["covariance", "svd", "gram"])
def test_duplicates_and_permutations_are_equivariant(solver):
    pca = PCA(3, svd_solver=solver).fit(X)
    shuffled = np.random.default_rng(3).permutation(len(X))
    np.testing.assert_allclose(PCA(3, svd_solver=solver).fit(X[shuffled]).components_, pca.components_, atol=1e-12)
    doubled = PCA(3, svd_solver=solver, ddof=0).fit(np.r_[X, X])
    np.testing.assert_allclose(doubled.explained_variance_, PCA(3, ddof=0).fit(X).explained_variance_, rtol=1e-12)
    columns = np.array([4, 2, 0, 1, 3])
    moved = PCA(3, svd_solver=solver).fit(X[:, columns])
    assert sine(moved.subspace_.axes, pca.subspace_.axes[columns]) < 1e-12
    twice = PCA(3, svd_solver=solver).fit(np.column_stack([X, X]))
    np.testing.assert_allclose(twice.explained_variance_, 2 * pca.explained_variance_, rtol=1e-12)


@pytest.mark.parametrize("shape", [(40, 5), LARGE, (50, 3000)])
@pytest.mark.parametrize("solver", ["auto", "svd"])
def test_layouts_give_the_identical_result_and_leave_the_input_alone(shape, solver, tmp_path):
    data = RNG.standard_normal(shape)
    expected = PCA(3, svd_solver=solver).fit(data)
    np.save(tmp_path / "data.npy", data)
    padded = np.zeros((2 * shape[0], 2 * shape[1]))
    padded[::2, ::2] = data
    readonly = data.copy()
    readonly.setflags(write=False)
    variants = [
        np.asfortranarray(data),
        data[::-1, ::-1].copy()[::-1, ::-1],
        padded[::2, ::2],
        readonly,
        np.load(tmp_path / "data.npy", mmap_mode="r"),
        data.astype(">f8"),
    ]
    for variant in variants:
        before = variant.tobytes()
        pca = PCA(3, svd_solver=solver).fit(variant)
        pca.transform(variant)
        assert variant.tobytes() == before
        np.testing.assert_array_equal(pca.components_, expected.components_)
        np.testing.assert_array_equal(pca.explained_variance_, expected.explained_variance_)


@pytest.mark.parametrize("solver", ["auto", "svd", "orthogonal", "krylov"])
def test_threads_and_chunks_do_not_change_the_answer(solver, monkeypatch, blas_as_it_is):
    from threadpoolctl import threadpool_limits

    from ritz.rows import passes

    data = RNG.standard_normal((9000, 20)) * np.linspace(3, 1, 20)
    expected = PCA(5, svd_solver=solver).fit(data)
    with threadpool_limits(1):
        single = PCA(5, svd_solver=solver).fit(data)
    np.testing.assert_allclose(single.components_, expected.components_, atol=1e-10)
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * 20 * 100)
    monkeypatch.setattr(passes, "BLOCK_ROWS", 1)
    monkeypatch.setattr(passes, "RUN_ROWS", 300)
    chunked = PCA(5, svd_solver=solver).fit(data)
    np.testing.assert_allclose(chunked.components_, expected.components_, atol=1e-10)
    np.testing.assert_allclose(chunked.explained_variance_, expected.explained_variance_, rtol=1e-12)


def test_blas_limits_are_restored():
    before = blas_limits()
    data = RNG.standard_normal((50_000, 40))
    for _ in range(3):  # more fits than threads, so that the last to leave is rarely the first that came
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda _: PCA(3).fit(data).n_components_, range(12)))
        assert blas_limits() == before


def test_a_model_shared_by_threads_is_pure():
    data = RNG.standard_normal((20_000, 30))
    pca = PCA(5).fit(data)
    before, expected, results = fitted_state(pca), pca.transform(data), []
    workers = [threading.Thread(target=lambda: results.append(pca.transform(data))) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert fitted_state(pca) == before
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_fork_while_another_thread_holds_the_pin_does_not_hang():
    """The child has none of the parent's threads: it must neither wait for them nor keep BLAS pinned for them."""
    program = (
        "import numpy as np, os, threading, ritz\n"
        "from ritz.runtime import threads\n"
        "from ritz.runtime.threads import pinned\n"
        "threads.PATIENCE = 0.5\n"
        "from threadpoolctl import threadpool_info\n"
        "limits = lambda: [l['num_threads'] for l in threadpool_info() if l['user_api'] == 'blas']\n"
        "X = np.random.default_rng(0).standard_normal((20000, 50))\n"
        "ritz.PCA(3).fit(X)\n"
        "before, held, stop = limits(), threading.Event(), threading.Event()\n"
        "def hold():\n"
        "    with pinned(), pinned._lock:\n"
        "        held.set(); stop.wait()\n"
        "holder = threading.Thread(target=hold); holder.start(); held.wait()\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    ritz.PCA(3).fit(X); os._exit(int(limits() != before))\n"
        "code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])\n"
        "stop.set(); holder.join()\n"
        "raise SystemExit(code or int(limits() != before))\n"
    )
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", program], timeout=60, check=False).returncode == 0


def test_fork_after_blas_does_not_hang():
    program = (
        "import numpy as np, os, ritz\n"
        "X = np.random.default_rng(0).standard_normal((20000, 50))\n"
        "ritz.PCA(3).fit(X)\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    ritz.PCA(3).fit(X); os._exit(0)\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", program], timeout=60, check=False).returncode == 0


@pytest.mark.parametrize("problem", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_fit_keeps_the_old_state(problem, monkeypatch):
    pca = PCA(2).fit(X)
    before = fitted_state(pca)
    import ritz.operators

    def interrupted(*args):
        raise problem

    monkeypatch.setattr(ritz.operators.Covariance, "factor", interrupted)
    with pytest.raises(problem):
        pca.fit(X[:, :3])
    assert fitted_state(pca) == before


def test_slow_decay_reports_the_true_residual():
    data = with_spectrum(300, 100, 1 / np.arange(1, 101), np.random.default_rng(5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        pca = PCA(10, svd_solver="orthogonal", iterated_power=3).fit(data)
    C = np.cov(data.T)
    residual = np.linalg.norm(C @ pca.components_.T - pca.components_.T * pca.explained_variance_, axis=0)
    assert not pca.certificate_.satisfied
    np.testing.assert_allclose(pca.certificate_.residuals, residual, rtol=1e-6)


@pytest.mark.parametrize("name", ["hilbert", "kahan", "wilkinson"])
@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
def test_famous_matrices(name):
    i, j = np.indices((12, 12))
    matrices = {
        "hilbert": 1.0 / (i + j + 1),
        "kahan": np.where(i == j, 1.0, np.where(i < j, -np.cos(1.2), 0.0)) * np.sin(1.2) ** i,
        "wilkinson": np.where(i == j, np.abs(i - 5.5), np.where(abs(i - j) == 1, 1.0, 0.0)),
    }
    data = matrices[name]
    pca = PCA(center=False, ddof=0).fit(data)
    sigma = np.linalg.svd(data)[1]
    bound = 50 * 12 * np.finfo(float).eps
    np.testing.assert_allclose(pca.singular_values_, sigma, atol=bound * sigma[0])
    assert np.linalg.norm(pca.components_ @ pca.components_.T - np.eye(12)) < bound
    scores = pca.transform(data)
    assert np.linalg.norm(data - scores @ pca.components_) / np.linalg.norm(data) < bound

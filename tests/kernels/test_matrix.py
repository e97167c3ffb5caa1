"""The centred kernel matrix as an operator: kept, computed anew, in float32 or whole, it is H K H."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse
from threadpoolctl import threadpool_limits

from helpers.kernels import WIDE, centred, eigen_descending, kernel_value
from helpers.matrices import broken_claims, random_orthonormal, sine
from ritz import solvers
from ritz.errors import DataError
from ritz.kernels import kernel_named
from ritz.kernels.matrix import KernelMatrix
from ritz.operators import LowRank
from ritz.operators.pivoted_cholesky import randomly_pivoted
from ritz.spectrum.certify import certify

CASES = {
    "linear": {},
    "cosine": {},
    "rbf": {"gamma": 0.3},
    "laplacian": {"gamma": 0.3},
    "poly": {"gamma": 0.3, "degree": 3.0, "coef0": 1.0},
}
SIZES = [(5, 0.0), (512, 0.0), (600, 1e4), (1030, 0.0)]  # less than a strip, one, and strips that do not come out even


def rows(n, offset=0.0) -> np.ndarray:
    X = np.random.default_rng(n).standard_normal((n, 3)) * [3.0, 1.0, 0.5] + offset
    X[1] = X[0]
    return X


@cache
def matrix(name, n, offset=0.0) -> np.ndarray:
    """K in extended precision; the linear kernel's rows are moved to their mean, which centring does not see."""
    X = rows(n, offset)
    origin = {"origin": X.mean(axis=0)} if name == "linear" else {}
    parts = [kernel_value(name, X[i : i + 100], X, **CASES[name], **origin) for i in range(0, n, 100)]
    return np.concatenate(parts)


def operator(name, X, **how) -> KernelMatrix:
    kernel = kernel_named(name, **CASES[name])
    frame = kernel.frame(X)
    return KernelMatrix(kernel, frame, kernel.points(X, frame), **how)


def in_units(A, K) -> np.ndarray:
    """H K H in extended precision, divided by unit²."""
    return centred(K) / WIDE(A.frame.unit) ** 2


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("n", "offset"), SIZES)
@pytest.mark.parametrize("form", ["stored", "anew", "dense"])
def test_every_form_is_the_centred_matrix(name, n, form, offset):
    """‖fl(A v) − A v‖ ≤ rounding for orthonormal v; trace and means likewise."""
    A = operator(name, rows(n, offset), stored=form == "stored")
    truth = in_units(A, matrix(name, n, offset))
    V = random_orthonormal(n, 4, np.random.default_rng(1))
    if form == "dense":
        assert A.dense().shape == (n, n)
        np.testing.assert_allclose(A.dense(), A.dense().T, atol=A.rounding)
        assert np.linalg.norm((A.dense() - truth).astype(float)) <= A.dense_rounding
    product = truth @ V.astype(WIDE)
    for _ in range(2):  # what is kept after the first product is what the second one uses
        errors = np.linalg.norm((A.apply(V) - product).astype(float), axis=0)
        assert errors.max() <= A.rounding < 1e-9 * A.size
    assert A.trace == pytest.approx(float(np.trace(truth)), abs=A.rounding)
    if name != "linear":  # whose K depends on where the rows were moved to
        means = (matrix(name, n, offset) / WIDE(A.frame.unit) ** 2).mean(axis=1)
        assert np.abs(A.means - means).max() <= A.rounding


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("stored", [True, False])
def test_it_is_symmetric_and_knows_no_constant(name, stored):
    A = operator(name, rows(700), stored=stored)
    rng = np.random.default_rng(2)
    V, W = random_orthonormal(700, 3, rng), random_orthonormal(700, 3, rng)
    np.testing.assert_allclose(V.T @ A.apply(W), (W.T @ A.apply(V)).T, atol=2 * A.rounding)
    assert np.linalg.norm(A.apply(np.ones((700, 1)))) <= np.sqrt(700) * A.rounding


@pytest.mark.parametrize("name", ["linear", "cosine", "rbf", "poly"])
@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("n", [40, 700])
def test_float32_is_off_by_no_more_than_its_audit_says(name, stored, n):
    A = operator(name, rows(n), stored=stored, narrow=True)
    truth = in_units(A, matrix(name, n)).astype(float)
    assert A.trace is None
    Q = random_orthonormal(n, 3, np.random.default_rng(3))
    pairs = A.ritz(Q)  # in float64, whatever the products before
    assert A.audited
    assert np.linalg.norm(pairs.vectors.T @ truth @ pairs.vectors - np.diag(pairs.values), 2) <= 4 * A.rounding
    residuals = np.linalg.norm(truth @ pairs.vectors - pairs.vectors * pairs.values, axis=0)
    np.testing.assert_allclose(pairs.residuals, residuals, atol=4 * A.rounding)
    V = random_orthonormal(n, n if n < 100 else 60, np.random.default_rng(4))
    assert np.linalg.norm(A.apply(V) - truth @ V, 2) <= A.dense_rounding < 1e-3 * A.size
    assert A.trace == pytest.approx(float(np.trace(truth)), abs=A.rounding)


@pytest.mark.parametrize(
    "how", [{"stored": True}, {"stored": False}, {"narrow": True}], ids=["stored", "anew", "narrow"]
)
@pytest.mark.parametrize("name", ["rbf", "laplacian", "linear"])
def test_the_number_of_threads_changes_no_bit(name, how, blas_as_it_is):
    V = random_orthonormal(1300, 5, np.random.default_rng(5))
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            A = operator(name, rows(1300), **how)
            found.append((A.apply(V), A.means, A.dense()))
    for one, two in zip(*found, strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize("name", ["rbf", "cosine", "linear"])
def test_sparse_rows_are_the_same_rows(name):
    X = np.where(np.abs(rows(600)) > 1, rows(600), 0.0)
    dense, sparse = operator(name, X), operator(name, scipy.sparse.csr_array(X))
    V = random_orthonormal(600, 3, np.random.default_rng(6))
    units = (sparse.frame.unit / dense.frame.unit) ** 2
    slack = dense.rounding + sparse.rounding * units
    np.testing.assert_allclose(sparse.apply(V) * units, dense.apply(V), atol=slack)
    assert sparse.trace * units == pytest.approx(dense.trace, abs=slack)


@pytest.mark.parametrize("name", CASES)
def test_entries_are_those_of_the_matrix_itself(name):
    A, some = operator(name, rows(700)), np.array([3, 650, 1, 0])
    K = matrix(name, 700) / WIDE(A.frame.unit) ** 2
    np.testing.assert_allclose(A.entries(slice(10, 20), some), K[10:20, some].astype(float), atol=A.rounding)
    np.testing.assert_allclose(A.entries(some, some), K[np.ix_(some, some)].astype(float), atol=A.rounding)
    np.testing.assert_allclose(A.diagonal, np.diag(K).astype(float), atol=A.rounding)


SOLVERS = {
    "gram": solvers.Gram(),
    "covariance": solvers.Covariance(),
    "krylov": solvers.Krylov(),
    "power": solvers.Power(),
    "orthogonal": solvers.Orthogonal(),
    "power object": solvers.Power(max_iter=5000, change=1e-12),
    "krylov object": solvers.Krylov(max_iter=40),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", ["rbf", "cosine", "poly"])
@pytest.mark.parametrize("stored", [True, False])
def test_every_solver_works_on_it_unchanged(solver, name, stored):
    n, k = 120, 3
    A = operator(name, rows(n), stored=stored)
    truth = in_units(A, matrix(name, n)).astype(float)
    basis = SOLVERS[solver].basis(A, k, tol=1e-6, rng=np.random.default_rng(0))
    found = certify(A, A.ritz(basis.Q, basis.AQ, basis.P, 1e-6), basis, k, tol=1e-6)
    assert found.certificate.satisfied
    assert broken_claims(found.certificate, found.vectors, truth, 1e-14 * A.size) == []
    values, vectors = eigen_descending(truth)
    np.testing.assert_allclose(found.values, values[:k], atol=2e-6 * values[0])
    assert sine(found.vectors, vectors[:, :k]) < 1e-3


@pytest.mark.parametrize("name", ["rbf", "cosine", "poly", "linear"])
@pytest.mark.parametrize("columns", [5, 40, 120])
def test_few_columns_fall_short_by_what_they_say(name, columns):
    n, k = 120, 3
    A = operator(name, rows(n), stored=False)
    truth = in_units(A, matrix(name, n)).astype(float)
    few = LowRank(randomly_pivoted(A.diagonal, A.entries, columns, np.random.default_rng(1)))
    V = random_orthonormal(n, 4, np.random.default_rng(2))
    lacking = truth - few.apply(np.eye(n))
    values = np.linalg.eigvalsh((lacking + lacking.T) / 2)
    assert values[0] >= -few.rounding
    assert values[-1] <= few.missing + few.rounding
    assert np.trace(truth) <= few.trace + few.rounding
    np.testing.assert_allclose(few.apply(V), few.F @ (few.F.T @ V), atol=few.rounding)
    basis = solvers.LowRank().basis(few, k, tol=1e-6, rng=np.random.default_rng(0))
    found = certify(few, few.ritz(basis.Q), basis, k, tol=1e-6)
    low, high = found.certificate.value_bounds.T
    exact = eigen_descending(truth)[0][:k]
    assert (low <= exact + 1e-14 * A.size).all()
    assert (exact <= high + 1e-14 * A.size).all()


def test_few_columns_need_a_factor():
    with pytest.raises(DataError, match="krylov"):
        solvers.LowRank().basis(operator("rbf", rows(20)), 2, tol=1e-6, rng=np.random.default_rng(0))


def test_values_that_are_not_finite_are_refused():
    kernel = kernel_named("poly", gamma=1.0, degree=2.5, coef0=0.0)
    X = rows(600)
    frame = kernel.frame(X)
    with pytest.raises(DataError, match=r"not finite.*degree"):
        KernelMatrix(kernel, frame, kernel.points(X, frame)).apply(np.ones((600, 1)))


@pytest.mark.parametrize("n", [511, 512, 513, 2048, 2049])
def test_strips_cover_every_row_once(n):
    """All of few rows, a quarter of more of them, and no more than what fits the cache."""
    X = np.random.default_rng(n).standard_normal((n, 3))
    A = operator("rbf", X)
    assert A.strip == min(512, n if n <= 512 else -(-n // 4))
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    H = np.eye(n) - 1 / n
    V = np.random.default_rng(0).standard_normal((n, 2))
    np.testing.assert_allclose(A.apply(V), H @ (K @ (H @ V)), atol=1e-10 * n)
    assert A.trace == pytest.approx(np.trace(H @ K), rel=1e-10)
    np.testing.assert_allclose(A.dense(), H @ K @ H, atol=1e-12)

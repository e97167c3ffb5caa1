"""Every operator: equal to its dense matrix in all its forms, with a rounding bound that rounding obeys."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse

from helpers.arrays import on_device
from helpers.matrices import covariance_of, jacobi, preprocess, random_orthonormal
from ritz.errors import DataError
from ritz.linalg.ceiling import proved_ceiling
from ritz.linalg.dense import UNIT
from ritz.operators import Dense, Function, Gram
from ritz.operators.base import Factored
from ritz.rows import passes

SHAPES = [(300, 12), (12, 300), (1200, 60)]
PREPARATIONS = [(False, False), (True, False), (True, True), (False, True)]


def data(shape, offset=40.0):
    rng = np.random.default_rng(0)
    return rng.standard_normal(shape) * rng.uniform(0.5, 5, shape[1]) + offset


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("center", "scale"), PREPARATIONS)
@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("size", [1.0, 1e160, 1e-90])
def test_covariance_and_gram_in_all_their_forms(shape, center, scale, ddof, size):
    rng = np.random.default_rng(1)
    X = data(shape) * size
    walking, unit = covariance_of(X, center, scale, ddof, full=False)
    formed, _ = covariance_of(X, center, scale, ddof, full=True)
    Z = preprocess(data(shape), center, scale, ddof).astype(np.float64) * (1 if scale else size / unit)
    C, K = Z.T @ Z / (shape[0] - ddof), Z @ Z.T / (shape[0] - ddof)
    tight = 1e-12 * np.trace(C)
    V, W = rng.standard_normal((shape[1], 3)), rng.standard_normal((shape[0], 3))
    np.testing.assert_allclose(formed.dense(), C, atol=tight)
    assert walking.dense() is None
    assert formed.trace == pytest.approx(np.trace(C), rel=1e-12)
    for operator in (walking, formed):
        np.testing.assert_allclose(operator.apply(V), C @ V, atol=10 * tight)
    gram = Gram(walking.Z)
    np.testing.assert_allclose(gram.apply(W), K @ W, atol=100 * tight)
    np.testing.assert_allclose(gram.Z.combine(W), Z.T @ W, atol=1e-10 * np.abs(Z.T @ W).max())
    np.testing.assert_allclose(gram.dense(), K, atol=tight)
    np.testing.assert_allclose(gram.factor().T @ gram.factor(), K, atol=tight)
    F = walking.factor()
    assert len(F) == min(shape)
    np.testing.assert_allclose(F.T @ F, C, atol=tight)
    np.testing.assert_allclose(walking.apply(V), C @ V, atol=10 * tight)  # through the factor now


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("center", "scale"), PREPARATIONS)
@pytest.mark.parametrize("form", ["walking", "formed", "factor", "gram"])
def test_rayleigh_ritz_inside_any_basis(shape, center, scale, form):
    """Values, residuals and defect are those of the compression UᵀCU, whichever way they were computed."""
    operator, _ = covariance_of(data(shape), center, scale, 1, full=form == "formed")
    Z = preprocess(data(shape), center, scale).astype(np.float64)
    C = Z.T @ Z / (shape[0] - 1)
    if form == "formed":
        operator.dense()
    if form == "factor":
        operator.factor()
    if form == "gram":
        operator = Gram(operator.Z)
    pairs = operator.ritz(random_orthonormal(operator.dim, 3, np.random.default_rng(2)))
    U, tight = pairs.vectors, 1e-12 * np.trace(C)
    np.testing.assert_allclose(U.T @ U, np.eye(3), atol=1e-13)
    np.testing.assert_allclose(U.T @ C @ U, np.diag(pairs.values), atol=tight)
    np.testing.assert_allclose(np.linalg.norm(C @ U - U * pairs.values, axis=0), pairs.residuals, atol=tight)
    if form == "gram":
        K = Z @ Z.T / (shape[0] - 1)
        outside = (np.eye(shape[1]) - U @ U.T) @ C @ (np.eye(shape[1]) - U @ U.T)
        left = np.linalg.eigvalsh(K - pairs.image @ pairs.image.T)[::-1]
        np.testing.assert_allclose(left[:3], np.linalg.eigvalsh(outside)[::-1][:3], atol=tight)


@pytest.mark.parametrize("decay", [1.0, 0.9, 0.5])
@pytest.mark.parametrize("shape", [(400, 30), (30, 400), (60, 60)])
def test_residuals_of_all_singular_triplets_are_no_smaller_than_the_true_ones(shape, decay):
    """Of vectors that are off by little or much; they need no product with FᵀF."""
    rng = np.random.default_rng([len(shape), int(10 * decay)])
    m = min(shape)
    P, Q = random_orthonormal(shape[0], m, rng), random_orthonormal(shape[1], m, rng)
    F = (P * decay ** np.arange(m)) @ Q.T
    A, FF = Factored(F, 0.0), (F.T.astype(np.longdouble) @ F.astype(np.longdouble))
    for error in (0.0, 1e-12, 1e-6):
        U = np.linalg.qr(Q + error * rng.standard_normal(Q.shape))[0]
        V = np.linalg.qr(P + error * rng.standard_normal(P.shape))[0]
        pairs = A.ritz(U, P=V * np.sign(np.einsum("ij,ij->j", V, F @ U)))
        true = np.linalg.norm((FF @ pairs.vectors - pairs.vectors * pairs.values).astype(float), axis=0)
        assert (true <= pairs.residuals + A.rounding + 40 * m * UNIT).all()
        assert (pairs.residuals <= 20 * (true.max() + error * max(shape) ** 0.5 + 1e-13)).all()


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
@pytest.mark.parametrize(("center", "scale"), PREPARATIONS)
@pytest.mark.parametrize("form", ["walking", "formed", "factor", "gram", "gram walking"])
def test_rounding_obeys_its_bound(offset, center, scale, form):
    """‖fl(A v) − A v‖ ≤ A.rounding, with the truth in extended precision; and the bound is no idle one."""
    for shape in ((3000, 6), (40, 700)):
        X = data(shape, offset)
        operator, _ = covariance_of(X, center, scale, 1, full=form == "formed")
        Z = preprocess(X, center, scale)
        if form == "formed":
            operator.dense()
        if form == "factor":
            operator.factor()
        if form.startswith("gram"):
            operator, Z = Gram(operator.Z), Z.T
            if form == "gram":
                operator.dense()
        V = random_orthonormal(operator.dim, 4, np.random.default_rng(3))
        truth = Z.T @ (Z @ V.astype(np.longdouble)) / (shape[0] - 1)
        errors = np.linalg.norm((operator.apply(V) - truth).astype(np.float64), axis=0)
        assert 0 < errors.max() <= operator.rounding < 1e-8 * float(np.sum(Z * Z)) / (shape[0] - 1)


CUTS = {
    "a chunk for every row": lambda X: da.from_array(X, chunks=(1, 1)),
    "a sparse matrix, all at once": scipy.sparse.csr_array,
    "blocks on a device": lambda X: on_device(X).limited(8),
}


@pytest.mark.parametrize("cut", CUTS)
def test_rounding_counts_the_additions_however_rows_come(cut, monkeypatch, by_threads):
    """To 1 every row adds a little less than would round up, so that all of it is lost, once for every addition."""
    monkeypatch.setattr(passes, "BLOCK_BYTES", 16)
    monkeypatch.setattr(passes, "BLOCK_ROWS", 1)
    X = np.full((1000, 1), np.sqrt(0.9 * UNIT))
    X[0] = 1.0
    operator, _ = covariance_of(CUTS[cut](X), center=False, ddof=0)
    truth = float(np.sum(X.astype(np.longdouble) ** 2) / len(X) - operator.apply(np.ones((1, 1)))[0, 0])
    assert 100 * UNIT < truth * len(X) <= operator.rounding * len(X) < 1e-12


@pytest.mark.parametrize("n", [3, 8])
@pytest.mark.parametrize("top", [1.0, 1 + 1e-15, 1e-9])
def test_a_proved_ceiling_is_one(n, top):
    rng = np.random.default_rng(n)
    for _ in range(50):
        Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        A = (Q * np.r_[top, rng.uniform(0, top, n - 1)]) @ Q.T
        A = (A + A.T) / 2
        largest = float(jacobi(A)[0][0])
        for guess in (largest * (1 - 1e-16), largest * (1 - 1e-3), 0.0):
            tau = proved_ceiling(A.copy, guess, rounding=0.0, converged=True)
            assert largest <= tau <= 2.1 * largest


def test_dense_multiplies_again_rather_than_believe_a_solver():
    A = np.diag([3.0, 2.0, 1.0])
    Q = np.eye(3)[:, :2]
    np.testing.assert_allclose(Dense(A).ritz(Q, AQ=1000 * Q).values, [3.0, 2.0])


def test_a_function_must_keep_its_shape_and_stay_finite_and_real():
    with pytest.raises(DataError, match="shape"):
        Function(lambda V: V[:2], 3).apply(np.eye(3))
    for bad in (np.nan, np.inf, 1j):
        with pytest.raises(DataError, match="finite real"):
            Function(lambda V, bad=bad: np.full(V.shape, bad), 3).apply(np.eye(3))


def test_a_function_is_believed_to_the_precision_it_returns():
    narrow, wide = Function(lambda V: V.astype(np.float32), 3), Function(lambda V: V, 3)
    narrow.apply(np.eye(3))
    wide.apply(np.eye(3))
    assert narrow.rounding > 1e8 * wide.rounding

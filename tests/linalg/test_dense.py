"""Small dense pieces, on the inputs that break them."""

import numpy as np
import pytest

from helpers.counts import usually
from ritz.linalg import dense
from ritz.linalg.dense import (
    PIECE,
    WHOLE,
    add_squares,
    cross,
    eigh_descending,
    few_of_tridiagonal,
    mirrored,
    orthogonality_defect,
    r_factor,
    residual_norms,
    subtract_outer,
    times,
)


def test_eigh_descending_on_a_tight_cluster():
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    A = (Q * np.r_[np.full(20, 1.0), np.full(40, 0.5)]) @ Q.T
    values, vectors = eigh_descending((A + A.T) / 2, 10)
    np.testing.assert_allclose(values, 1, rtol=1e-13)
    assert orthogonality_defect(vectors) < 1e-12


SPECTRA = {
    "geometric": lambda d: 0.8 ** np.arange(d),
    "flat": np.ones,
    "tied in two": lambda d: np.r_[np.ones(20), np.full(d - 20, 0.5)],
    "clustered": lambda d: 1 + 1e-12 * np.random.default_rng(3).standard_normal(d),
    "low rank": lambda d: np.r_[np.arange(5.0, 0, -1), np.zeros(d - 5)],
    "zero": np.zeros,
    "both signs": lambda d: np.random.default_rng(4).standard_normal(d),
    "tiny": lambda d: 1e-50 * np.random.default_rng(5).random(d),
    "huge": lambda d: 1e50 * np.random.default_rng(6).random(d),
}


@pytest.mark.parametrize("turned", [True, False], ids=["turned", "diagonal"])
@pytest.mark.parametrize("name", SPECTRA)
def test_some_eigenpairs_of_moderate_order_are_those_of_all(name, turned):
    """Few of them come from the tridiagonal matrix one by one, more of them by divide and conquer."""
    for d in (90, usually(130, thorough=400)):
        spectrum = SPECTRA[name](d)
        Q = np.linalg.qr(np.random.default_rng(d).standard_normal((d, d)))[0] if turned else np.eye(d)
        A = (Q * spectrum) @ Q.T
        A = (A + A.T) / 2
        known, size = np.linalg.eigvalsh(A)[::-1], max(np.abs(spectrum).max(), 1e-300)
        for k in (1, 2, d // 7, d // 3, d - 1):
            for overwrite in (False, True):
                values, V = eigh_descending(A.copy(), k, overwrite=overwrite)
                assert V.shape == (d, k)
                assert orthogonality_defect(V) <= 1e-12
                np.testing.assert_allclose(values, known[:k], atol=1e-14 * d * size)
                assert np.abs(A @ V - V * values).max() <= 1e-14 * d * size


@pytest.mark.parametrize("m", [30, 400, 4000])
def test_r_factors_of_small_and_large_blocks(m):
    """Small ones go another way to LAPACK."""
    X = np.random.default_rng(2).standard_normal((m, 8)) * 10.0 ** -np.arange(8)
    R = r_factor(X)
    assert R.shape == (8, 8)
    assert not np.tril(R, -1).any()
    Q = np.linalg.solve(R.T, X.T).T
    assert np.abs(Q.T @ Q - np.eye(8)).max() < 1e-7
    np.testing.assert_allclose(np.linalg.svd(R)[1], np.linalg.svd(X)[1], rtol=1e-8)


def test_r_factors_merge():
    X = np.random.default_rng(2).standard_normal((90, 4))
    R = r_factor(r_factor(X[:40]), r_factor(X[40:]))
    np.testing.assert_allclose(R.T @ R, X.T @ X, atol=1e-12)


def test_a_matrix_of_order_1():
    for k in (1, None):
        values, vectors = eigh_descending(np.array([[3.0]]), k)
        assert (values.tolist(), vectors.tolist()) == ([3.0], [[1.0]])


def test_a_product_without_columns():
    assert times(np.ones((3, 2)), np.ones((2, 0))).shape == (3, 0)


@pytest.mark.parametrize("piece", [5000, PIECE, WHOLE])
@pytest.mark.parametrize(("m", "d", "b"), [(1, 1, 1), (257, 100, 6), (333, 784, 57), (40, 3000, 16), (500, 161, 161)])
def test_products_with_few_columns_are_right_in_pieces_and_in_one(monkeypatch, piece, m, d, b):
    """Whatever the BLAS is fastest with."""
    monkeypatch.setattr(dense, "piece", lambda: piece)
    rng = np.random.default_rng(0)
    Z, Q, Y = rng.standard_normal((m, d)), rng.standard_normal((d, b)), rng.standard_normal((m, b))
    np.testing.assert_allclose(times(Z, Q), np.einsum("ij,jk->ik", Z, Q), atol=1e-11)
    np.testing.assert_allclose(cross(Z, Y), np.einsum("ji,jk->ik", Z, Y), atol=1e-11)
    total = add_squares(Z, np.ones((d, d)))
    np.testing.assert_allclose(mirrored(total), 1 + np.einsum("ji,jk->ik", Z, Z, optimize=True), atol=1e-11)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(1, 3), (50, 4), (5000, 40), (7, 1), (5, 0)])
def test_what_is_subtracted_column_by_column(shape, order):
    rng = np.random.default_rng(0)
    V, U = np.asarray(rng.standard_normal(shape), order=order), rng.standard_normal(shape)
    u, w = rng.standard_normal(shape[0]), rng.standard_normal(shape[1])
    norms = np.linalg.norm(V - U * w, axis=0)
    np.testing.assert_allclose(residual_norms(V, U, w), norms, rtol=1e-13)
    expected = V - np.outer(u, w)
    subtract_outer(V, u, w)
    np.testing.assert_allclose(V, expected, atol=1e-14)


@pytest.mark.parametrize("cut", [1, 7, 29])
@pytest.mark.parametrize("beside", [0.0, 1e-300, 1e-17])
def test_a_tridiagonal_matrix_that_falls_into_parts_is_left_to_others(cut, beside):
    """LAPACK may take values from the wrong part."""
    rng = np.random.default_rng(cut)
    diagonal, off_diagonal = rng.standard_normal(30), rng.standard_normal(29)
    off_diagonal[cut - 1] = beside
    assert few_of_tridiagonal(diagonal, off_diagonal, 3) is None
    off_diagonal[cut - 1] = 1e-3
    values, vectors = few_of_tridiagonal(diagonal, off_diagonal, 3)
    T = np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(T)[-3:], atol=1e-13)
    np.testing.assert_allclose(T @ vectors, vectors * values, atol=1e-12)


def test_a_tridiagonal_matrix_of_order_one():
    values, vectors = few_of_tridiagonal(np.array([2.0]), np.array([]), 1)
    assert (values.item(), abs(vectors.item())) == (2.0, 1.0)


@pytest.mark.parametrize("piece", [5000, WHOLE])
def test_squares_of_no_rows_are_zeros(monkeypatch, piece):
    monkeypatch.setattr(dense, "piece", lambda: piece)
    assert not mirrored(add_squares(np.ones((0, 5)), np.zeros((5, 5)))).any()

"""Left singular vectors: against LAPACK's, orthonormal however small σ is, and those of the Gram route."""

import numpy as np
import pytest
import scipy.sparse

import ritz
from helpers.matrices import preprocess, random_orthonormal
from ritz import PCA, AccuracyWarning, DataError

K = 4


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((40, 9)) * 2.0 ** -np.arange(9) + 3.0


@pytest.mark.parametrize("solver", ["auto", "svd", "covariance", "gram", "krylov", "power", "orthogonal"])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(("scale", "whiten"), [(False, False), (True, True)])
def test_they_are_those_of_lapack(X, solver, wide, scale, whiten):
    X = X if not wide else np.column_stack([X[:7] * 2.0**j for j in range(3)])
    left, sigma, _ = np.linalg.svd(preprocess(X, True, scale).astype(np.float64), full_matrices=False)
    pca = PCA(K, svd_solver=solver, scale=scale, whiten=whiten, tol=1e-10).fit(X)
    U = pca.left_singular_vectors(X)
    assert np.linalg.norm(U.T @ U - np.eye(K)) < 1e-13
    np.testing.assert_allclose(np.abs((U * left[:, :K]).sum(axis=0)), 1, atol=1e-9)
    scores = pca.transform(X) * (np.sqrt(pca.explained_variance_) if whiten else 1.0)
    np.testing.assert_allclose(U * pca.singular_values_, scores, atol=1e-9 * sigma[0])


@pytest.mark.parametrize("ddof", [0, 1])
def test_dual_components_are_they_over_the_root_of_kappa(X, ddof):
    wide = np.column_stack([X[:7], X[7:14]])
    pca = PCA(K, svd_solver="gram", ddof=ddof).fit(wide)
    kappa = pca.explained_variance_ * (7 - ddof)
    np.testing.assert_allclose(pca.left_singular_vectors(wide) / np.sqrt(kappa), pca.dual_components_, atol=1e-12)


def test_small_singular_values_cost_no_orthogonality_and_all_components_give_the_rows_back():
    rng, sigma = np.random.default_rng(1), 10.0 ** -np.arange(0, 12, 2.0)
    X = (random_orthonormal(60, 6, rng, centred=True) * sigma) @ random_orthonormal(6, 6, rng).T + 5.0
    pca = PCA(svd_solver="svd").fit(X)
    U = pca.left_singular_vectors(X)
    assert np.linalg.norm(U.T @ U - np.eye(6)) < 1e-14
    assert np.abs(U * pca.singular_values_ @ pca.components_ + pca.mean_ - X).max() < 1e-14
    plainly = (X - pca.mean_) @ pca.components_.T / pca.singular_values_
    assert np.linalg.norm(plainly.T @ plainly - np.eye(6)) > 1e-9  # what it is good for


def test_columns_without_variance_are_zero():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 6))
    with pytest.warns(AccuracyWarning, match="rank 3"):
        pca = PCA(5).fit(X)
    with pytest.warns(AccuracyWarning, match=r"columns 4 to 5 of U are 0: the data has rank 3, .*; use U\[:, :3\]"):
        U = pca.left_singular_vectors(X)
    np.testing.assert_allclose(U.T @ U, np.diag([1.0, 1, 1, 0, 0]), atol=1e-14)


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e200, 1e300])
def test_rows_of_any_size(X, size):
    U = PCA(3).fit(X * size).left_singular_vectors(X * size)
    assert np.linalg.norm(U.T @ U - np.eye(3)) < 1e-13


def test_whatever_rows_come_in(X, tmp_path):
    truth = PCA(K).fit(X).left_singular_vectors(X)
    sparse = scipy.sparse.csc_array(X)
    np.testing.assert_allclose(PCA(K).fit(sparse).left_singular_vectors(sparse), truth, atol=1e-12)
    narrow = X.astype(np.float32)
    U = PCA(K).fit(narrow).left_singular_vectors(narrow)
    assert U.dtype == np.float32
    np.testing.assert_allclose(U, truth, atol=1e-5)
    np.save(tmp_path / "X.npy", X)
    model = PCA(K).fit(tmp_path / "X.npy")
    model.left_singular_vectors(tmp_path / "X.npy", out=tmp_path / "U.csv")
    written = ritz.read(tmp_path / "U.csv")
    assert written.names == ("u1", "u2", "u3", "u4")
    np.testing.assert_allclose(written.map(np.asarray), truth, atol=1e-12)


def test_other_rows_are_errors(X):
    pca = PCA(K).fit(X)
    with pytest.raises(DataError, match=r"X has 39 rows, but .* the 40 rows of the fit; pass those, or use transform"):
        pca.left_singular_vectors(X[1:])
    for other in (X * 2, X[np.arange(40) // 2], np.random.default_rng(3).standard_normal(X.shape)):
        with pytest.raises(DataError, match="the rows of X are not those of the fit"):
            pca.left_singular_vectors(other)
    with pytest.raises(DataError, match="need the number of rows of the fit; pass n_rows"):
        PCA.from_covariance(np.cov(X.T)).left_singular_vectors(X)
    known = PCA.from_covariance(np.cov(X.T), X.mean(axis=0), n_rows=40, n_components=K).left_singular_vectors(X)
    np.testing.assert_allclose(known, pca.left_singular_vectors(X), atol=1e-9)

"""A few eigenpairs by single vectors: those of LAPACK, proved complete, or somebody else finds them."""

import numpy as np
import pytest

from helpers.matrices import random_orthonormal
from ritz import KernelPCA, eigen
from ritz.operators.given import Dense
from ritz.solvers import Krylov
from ritz.solvers.single import SingleVectors, by_single_vectors, worth_single_vectors

ORDER, K = 200, 4
DECAYING = 0.7 ** np.arange(ORDER)


def matrix(spectrum):
    Q = random_orthonormal(len(spectrum), len(spectrum), np.random.default_rng(1))
    A = (Q * spectrum) @ Q.T
    return (A + A.T) / 2


def found_by_single_vectors(A, tol=1e-6):
    return by_single_vectors(Dense(A), K, tol, np.random.default_rng(0))


def test_they_are_worth_it_where_few_are_asked_of_a_matrix_that_stays_in_cache():
    assert worth_single_vectors(ORDER, K, 1e-6)
    assert not worth_single_vectors(99, 1, 1e-6)
    assert not worth_single_vectors(2000, 1, 1e-6)
    assert not worth_single_vectors(ORDER, 20, 1e-6)
    assert not worth_single_vectors(ORDER, K, 0.0)  # to the last digit


def test_the_leading_eigenpairs_are_found_and_nothing_outside_is_larger():
    A = matrix(DECAYING)
    basis = found_by_single_vectors(A)
    U, values = basis.Q, np.einsum("ij,ij->j", basis.Q, A @ basis.Q)
    np.testing.assert_allclose(values[:K], DECAYING[:K], rtol=1e-12)
    assert np.linalg.norm(A @ U[:, :K] - U[:, :K] * values[:K], 2) <= 1e-8
    outside = np.linalg.eigvalsh(A - (U * values) @ U.T)[-1]
    assert outside <= basis.outside.level <= 1.05 * values[-1]
    assert basis.outside.failure == 0.0
    assert basis.history[-1].residual <= 1e-9
    assert [step.iteration for step in basis.history] == sorted(step.iteration for step in basis.history)


@pytest.mark.parametrize(
    "spectrum",
    [np.r_[1.0, 1.0, DECAYING[2:] / 2], np.r_[np.ones(7), DECAYING[7:] / 2], np.ones(ORDER), np.zeros(ORDER)],
    ids=["twice", "seven times", "all", "zero"],
)
def test_an_eigenvalue_that_occurs_more_than_once_is_found_as_often(spectrum):
    """Whether rounding shows its copies to a single vector, or the proof fails and others look."""
    A, rng = matrix(spectrum), np.random.default_rng(0)
    for solver in (SingleVectors(), Krylov()):
        Q = solver.basis(Dense(A), K, tol=1e-6, rng=rng).Q
        values = np.linalg.eigvalsh(Q.T @ A @ Q)[::-1]
        np.testing.assert_allclose(values[:K], np.sort(spectrum)[::-1][:K], atol=1e-9)


@pytest.mark.parametrize("spectrum", [np.ones(ORDER), np.zeros(ORDER)], ids=["ones", "zeros"])
def test_a_space_that_ends_early_is_left_to_others(spectrum):
    assert found_by_single_vectors(matrix(spectrum)) is None


def test_blocks_that_do_not_touch_are_all_seen():
    A = np.zeros((ORDER, ORDER))
    half = ORDER // 2
    A[:half, :half], A[half:, half:] = matrix(DECAYING[:half]), matrix(0.9 * DECAYING[:half])
    found = eigen(A, K, "krylov")
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(A)[::-1][:K], rtol=1e-10)
    assert found.certificate.completeness == "proved"


def test_a_slow_spectrum_is_left_to_others():
    assert found_by_single_vectors(matrix(1 + 1e-3 * np.linspace(1, 0, ORDER))) is None


def test_kernel_pca_of_few_rows_takes_them_and_is_that_of_lapack():
    X = np.random.default_rng(0).standard_normal((300, 6))
    quick, whole = (KernelPCA(5, kernel="rbf", eigen_solver=solver).fit(X) for solver in ("auto", "dense"))
    assert quick.history_
    assert not whole.history_  # LAPACK was asked for
    for one in (quick, whole):
        assert one.certificate_.satisfied
        assert one.certificate_.completeness == "proved"
    np.testing.assert_allclose(quick.eigenvalues_, whole.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(quick.eigenvectors_, whole.eigenvectors_, atol=1e-8)


def test_rows_that_repeat_make_tied_components_that_are_all_found():
    X = np.repeat(5.0 * np.eye(3), 60, axis=0)  # three points: two equal components, the others 0
    with pytest.warns(UserWarning, match="cannot be told apart|variance above rounding"):
        model = KernelPCA(4, kernel="rbf", gamma=1.0).fit(X)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(K)[::-1][:4], atol=1e-9)
    assert model.certificate_.completeness == "proved"

"""Orthogonal iteration with exactly k columns, and what it says where it stops short."""

import re

import numpy as np
import pytest

from helpers.matrices import sine, with_eigenvalues, with_spectrum
from ritz import PCA, AccuracyWarning, eigen, solvers
from ritz.linalg.bases import orthonormalise
from ritz.operators import Dense

SPECTRUM = np.array([5.0, 4.0, 3.0, 1.8, 1.0, 0.5, 0.2])


@pytest.mark.parametrize("k", [1, 3, 5])
def test_exactly_k_columns_converge_like_the_ratio_at_k(k):
    A, Q = with_eigenvalues(SPECTRUM, np.random.default_rng(0))
    widths = []

    def product(V):
        widths.append(V.shape[1])
        return A @ V

    found = eigen(product, k, solvers.Orthogonal(oversample=0), dim=7, tol=1e-10)
    assert set(widths[1:]) == {k}  # after the trial
    assert found.certificate.satisfied
    assert sine(found.vectors, Q[:, :k]) < 1e-9
    residuals = np.array([step.residual for step in found.history])
    m = int(np.argmax(residuals < 1e-6))
    assert (residuals[m] / residuals[m - 6]) ** (1 / 6) == pytest.approx(SPECTRUM[k] / SPECTRUM[k - 1], rel=2e-2)


def test_it_is_literally_the_basis_of_the_product():
    A, _ = with_eigenvalues(SPECTRUM, np.random.default_rng(1))
    U = start = np.linalg.qr(np.random.default_rng(2).standard_normal((7, 2)))[0]
    for _ in range(5):
        U = orthonormalise(A @ U)
    solver = solvers.Orthogonal(oversample=0, max_iter=6, change=0, start=start)
    found = solver.basis(Dense(A), 2, tol=1e-15, rng=np.random.default_rng(0))
    assert found.Q.shape == (7, 2)
    assert sine(found.Q, U) < 1e-14


@pytest.mark.parametrize("shape", [(60, 12), (12, 60)])
def test_pca_takes_it_too(shape):
    X = with_spectrum(*shape, 0.5 ** np.arange(12), np.random.default_rng(3), offset=2.0)
    truth = PCA(3, svd_solver="svd").fit(X)
    for pca in (PCA(3, svd_solver="orthogonal", n_oversamples=0), PCA(3, svd_solver=solvers.Orthogonal(oversample=0))):
        pca.fit(X)
        assert pca.certificate_.satisfied
        np.testing.assert_allclose(pca.explained_variance_, truth.explained_variance_, rtol=1e-9)
        assert sine(pca.components_.T, truth.components_.T) < 1e-5
    PCA(3, svd_solver="krylov", n_oversamples=0).fit(X)


SAID = r"Ritz values (\d+) and (\d+) put the eigengap between them at about (\S+) of the former"


@pytest.mark.parametrize(
    "solver", [solvers.Orthogonal(max_iter=40, oversample=3), solvers.Krylov(max_iter=16, oversample=3)]
)
def test_the_eigengap_is_told_from_ritz_values_on_both_sides_of_it(solver):
    """A block's rate hides it: with three columns more, the sixth value after the gap decides."""
    values = np.r_[1.0, 0.95, 0.9, 0.8, 0.79 * 0.98 ** np.arange(56)]
    A, _ = with_eigenvalues(values, np.random.default_rng(4))
    with pytest.warns(AccuracyWarning, match="stopped at max_iter") as told:
        found = eigen(A, 3, solver, tol=1e-13)
    before, after, gap = re.search(SAID, str(told[0].message)).groups()
    assert (before, after) == ("3", "4")
    assert float(gap) == pytest.approx(1 - values[3] / values[2], abs=0.06)
    low, high = found.certificate.gap_bounds
    assert low <= values[2] - values[3] <= high <= 1.5 * (values[2] - values[3])  # by the spare Ritz value


def test_an_eigengap_that_was_not_measured_is_not_told():
    A, _ = with_eigenvalues(0.98 ** np.arange(40), np.random.default_rng(5))
    with pytest.warns(
        AccuracyWarning, match="eigenvalue 4 was not measured, and so the eigengap after PC3 is not known"
    ):
        eigen(A, 3, solvers.Orthogonal(max_iter=8, oversample=0))

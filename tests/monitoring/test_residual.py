"""Residual eigenvalues, against LAPACK and against draws with known ones."""

import numpy as np
import pytest

from ritz import PCA
from ritz.monitoring.monitor import whole_moments
from ritz.monitoring.residual import Residual, from_errors, from_moments, grouped, truncated
from ritz.monitoring.textbook import Freedom, PowerSums

RNG = np.random.default_rng(0)
DATA = RNG.standard_normal((60, 7)) @ RNG.standard_normal((7, 7)) + 1e4


@pytest.mark.parametrize("solver", ["covariance", "svd"])  # whose moments are a scatter and an R factor
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("center", [True, False])
def test_moments_have_the_eigenvalues_beside_the_axes(solver, scale, ddof, center):
    X = DATA - 1e4
    pca = PCA(3, svd_solver=solver, scale=scale, ddof=ddof, center=center).fit(X)
    found = from_moments(pca.subspace_, whole_moments(pca), Freedom(60, 3, center, ddof))
    Z = (X - pca.mean_) / (pca.scale_ if scale else 1.0)
    expected = np.linalg.svd(Z, compute_uv=False)[3:] ** 2 / (60 - ddof)
    assert np.allclose(found.values, expected, rtol=1e-8)
    assert (found.counts == 1).all()


@pytest.mark.parametrize("size", [1e-180, 1e180])
def test_they_are_in_the_unit_of_the_subspace(size):
    pca = PCA(3).fit((DATA - 1e4) * size)
    unit = pca.subspace_.unit
    found = from_moments(pca.subspace_, whole_moments(pca), Freedom(60, 3))
    expected = np.linalg.svd(DATA - DATA.mean(axis=0), compute_uv=False)[3:] ** 2 / 59 * (size / unit) ** 2
    assert np.allclose(found.values, expected, rtol=1e-8)


def test_groups_keep_sums_and_hardly_change_powers():
    values = np.geomspace(1, 1e-3, 700)
    found = grouped(values, "known")
    theta = PowerSums.of(values, np.ones(700))
    assert len(found.values) < 70
    assert found.theta.first == pytest.approx(theta.first, rel=1e-12)
    assert found.theta.second == pytest.approx(theta.second, rel=3e-3)
    assert found.theta.third == pytest.approx(theta.third, rel=6e-3)


@pytest.mark.parametrize("spectrum", [np.ones(30), np.r_[np.full(3, 5.0), np.ones(60)], 0.8 ** np.arange(40)])
def test_the_errors_of_the_fit_tell_power_sums(spectrum):
    """Rows of a fit are uniform directions with these eigenvalues, whatever they are the rows of."""
    n, k, d = 4000, 2, len(spectrum) + 2
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d)) * np.sqrt(np.r_[90.0, 60.0, spectrum])
    pca = PCA(k).fit(X)
    known = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[k:] ** 2 / (n - 1)
    found = from_errors(pca.subspace_, pca.reconstruction_error(X), Freedom(n, k), d)
    theta = PowerSums.of(known, np.ones(len(known)))
    assert found.theta.first == pytest.approx(theta.first, rel=1e-9)
    assert found.theta.second == pytest.approx(theta.second, rel=0.1)
    assert found.theta.third == pytest.approx(theta.third, rel=0.35)
    assert found.counts.sum() <= d - k + 1e-9


def test_fewer_components_of_a_subspace():
    s = PCA(5).fit(DATA).subspace_
    few = truncated(s, 2)
    assert few.axes.shape == (7, 2)
    assert few.left_out == pytest.approx(PCA(2).fit(DATA).subspace_.left_out, rel=1e-9)
    assert truncated(s, 5) is s
    tiny = truncated(PCA(5).fit(DATA * 1e-190).subspace_, 2)
    assert tiny.outside == pytest.approx(PCA(2).fit(DATA * 1e-190).subspace_.outside, rel=1e-9)


def test_times_a_number():
    assert Residual(np.array([2.0]), np.array([3.0]), "").times(2.0).theta.first == 12.0

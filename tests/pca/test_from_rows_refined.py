"""A covariance in float32 that finds the subspace, and a pass in float64 that finishes and judges it."""

from dataclasses import replace

import dask.array as da
import numpy as np
import pytest

from helpers.matrices import SPECTRA, preprocess, sine, with_spectrum
from ritz import PCA
from ritz.fitting import costs, planning
from ritz.operators import covariance

K = 4


@pytest.fixture
def always(monkeypatch):
    """The planning believes that nothing is faster."""
    refined = costs.refined
    monkeypatch.setattr(costs, "refined", lambda rows, k: replace(refined(rows, k), seconds=0.0, memory=0))
    monkeypatch.setattr(planning, "float32_pays", lambda entries, columns: True)
    monkeypatch.setattr(planning, "SMALL", 0)


@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("prep", ["none", "centre", "scale"])
def test_bounds_hold_and_the_accuracy_asked_for_is_reached(always, prep, dtype, spectrum):
    rng = np.random.default_rng(len(spectrum))
    offset = {"none": 0.0, "centre": 1e3, "scale": 5.0}[prep]
    X = with_spectrum(300, 40, SPECTRA[spectrum](40), rng, offset=offset)
    if prep == "scale":
        X += 0.01 * rng.standard_normal(X.shape)  # no column may be constant
    X = X.astype(dtype)
    pca = PCA(K, center=prep != "none", scale=prep == "scale").fit(X)
    Z = preprocess(X, prep != "none", prep == "scale").astype(np.float64)
    sigma, axes = np.linalg.svd(Z, full_matrices=False)[1:]
    truth, certificate = sigma**2 / 299, pca.certificate_
    slack = 20 * 300 * np.finfo(np.float64).eps * truth.sum()
    low, high = certificate.value_bounds.T
    assert certificate.satisfied
    assert (low - slack <= truth[:K]).all()
    assert (truth[:K] <= high + slack).all()
    for s, e in certificate.groups:
        gap = min(truth[s - 1] - truth[s] if s else np.inf, truth[e - 1] - truth[e])
        limit = certificate.angle_bounds[s] + slack / max(gap, 1e-300)
        assert sine(pca.subspace_.axes[:, s:e], axes[s:e].T) <= limit


def test_an_easy_problem_is_finished_in_two_passes_and_says_what_it_rests_on(always):
    X = with_spectrum(2000, 60, 0.7 ** np.arange(60), np.random.default_rng(1), offset=3.0)
    pca = PCA(K).fit(X)
    certificate = pca.certificate_
    assert pca.plan_.refined
    assert certificate.passes == 2
    assert certificate.audited
    assert certificate.complete_to == K
    assert certificate.completeness in ("proved", "probability")
    reference = PCA(K, svd_solver="svd").fit(X)
    np.testing.assert_allclose(pca.mean_, reference.mean_, rtol=1e-15)
    np.testing.assert_allclose(pca.total_variance_, reference.total_variance_, rtol=1e-13)
    np.testing.assert_allclose(pca.explained_variance_, reference.explained_variance_, rtol=1e-10)  # quadratic in tol
    np.testing.assert_allclose(pca.components_, reference.components_, atol=1e-5)


def test_a_tight_tolerance_is_not_left_to_float32():
    assert not planning.choose(planning.as_rows(np.empty((100_000, 784))), 50, 1 << 40, tol=1e-9).refined
    assert planning.choose(planning.as_rows(np.empty((100_000, 784))), 50, 1 << 40).refined


@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("prep", ["none", "centre", "scale"])
def test_the_same_holds_where_half_a_product_finishes(always, monkeypatch, prep, dtype, spectrum):
    monkeypatch.setattr(covariance, "HALF", 0)
    test_bounds_hold_and_the_accuracy_asked_for_is_reached(None, prep, dtype, spectrum)


@pytest.mark.parametrize("share", [0.0, 1e9])
def test_residuals_from_half_a_product_are_no_smaller_than_the_true_ones(always, monkeypatch, share):
    """Where float32 is too far off for tol, which a share of 0 stands for, the other half follows."""
    monkeypatch.setattr(covariance, "SMALL", share)
    X = with_spectrum(9000, 80, 0.9 ** np.arange(80), np.random.default_rng(2), offset=3.0)
    pca = PCA(K, tol=1e-5).fit(X)
    assert pca.plan_.refined
    assert pca.certificate_.passes == (2 if share else 3)
    C, U = np.cov(X.T), pca.subspace_.axes
    true = np.linalg.norm(C @ U - U * pca.explained_variance_, axis=0)
    assert (true <= pca.certificate_.residuals + pca.certificate_.rounding).all()
    np.testing.assert_allclose(pca.explained_variance_, np.linalg.eigvalsh(C)[: -K - 1 : -1], rtol=1e-9)


def test_a_background_that_is_the_same_everywhere_does_not_add_up_in_float32(always):
    """Whole numbers stay whole when they are shifted, as long as they vary."""
    rng = np.random.default_rng(3)
    X = np.where(rng.random((9000, 80)) < 0.1, rng.integers(1, 256, (9000, 80)), 0).astype(np.float64)
    pca = PCA(K).fit(X)
    assert pca.plan_.refined
    assert pca.certificate_.passes == 2


@pytest.mark.usefixtures("by_threads")
def test_rows_of_dask_are_finished_by_half_a_product_too(always):
    X = with_spectrum(9000, 80, 0.9 ** np.arange(80), np.random.default_rng(2), offset=3.0)
    pca, reference = PCA(K, tol=1e-5).fit(da.from_array(X, chunks=(1000, 80))), PCA(K, svd_solver="svd").fit(X)
    assert pca.plan_.refined
    assert pca.certificate_.passes == 2
    np.testing.assert_allclose(pca.explained_variance_, reference.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(pca.components_, reference.components_, atol=1e-4)

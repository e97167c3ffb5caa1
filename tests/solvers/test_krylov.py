"""Block Krylov against LAPACK, on operators that only know products."""

import warnings
from functools import cache

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from helpers.matrices import (
    SPECTRA,
    broken_claims,
    covariance_of,
    preprocess,
    random_orthonormal,
    sine,
    with_eigenvalues,
    with_spectrum,
)
from ritz import PCA, AccuracyWarning, eigen
from ritz.solvers import Krylov, base, krylov, probes
from ritz.solvers.base import BLOCK, block_width, capacity
from ritz.spectrum.certify import certify

EPS = np.finfo(float).eps
pytestmark = pytest.mark.usefixtures("one_thread")


class Product:
    """V ↦ A V, and how often and with how many columns it was asked for."""

    def __init__(self, A):
        self.A, self.widths = A, []

    def __call__(self, V):
        self.widths.append(V.shape[1])
        return self.A @ V

    def __len__(self):
        return len(self.widths)


def quiet(solve, *arguments, **options):
    """The result without warnings of ties, which many of these spectra have."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        return solve(*arguments, **options)


def from_rows(X, k, tol=1e-6, seed=0, solver=None):
    """The spectrum of the covariance of X, known only by walking the rows."""
    A, _ = covariance_of(X)
    basis = (solver or Krylov()).basis(A, k, tol=tol, rng=np.random.default_rng(seed))
    assert not A.is_dense
    return certify(A, A.ritz(basis.Q, basis.AQ, tol=tol), basis, k, tol=tol)


def check(found, A, tol=1e-6):
    """The k largest eigenpairs to tol, orthonormal, and no claim of the certificate broken."""
    truth, k, dim = np.linalg.eigvalsh(A)[::-1], len(found.values), len(A)
    slack = 20 * dim * EPS * truth[0]
    assert np.linalg.norm(found.vectors.T @ found.vectors - np.eye(k)) <= 50 * dim * EPS
    assert np.abs(found.values - truth[:k]).max() <= max(tol * truth[0], 1e3 * dim * EPS * truth[0])
    assert (np.diff(found.values) <= 0).all()
    assert broken_claims(found.certificate, found.vectors, A, slack) == []
    assert found.certificate.satisfied
    assert not found.note


@pytest.mark.parametrize("tol", [1e-6, 1e-12, 0])
@pytest.mark.parametrize("k", [1, 4, 59, 60])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_products_alone_give_the_eigenpairs_of_lapack(spectrum, k, tol):
    A, _ = with_eigenvalues(np.sort(SPECTRA[spectrum](60))[::-1], np.random.default_rng(k))
    check(eigen(lambda V: A @ V, k, dim=60, solver="krylov", tol=tol), A, tol)


@pytest.mark.parametrize("k", [1, 4, 59, 60])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_walks_over_rows_give_the_eigenpairs_of_lapack(spectrum, k):
    X = with_spectrum(300, 60, SPECTRA[spectrum](60), np.random.default_rng(k), offset=3.0)
    Z = preprocess(X)
    found = from_rows(X, k)
    rounding = found.certificate.rounding
    truth = np.linalg.svd(Z.astype(float))[1] ** 2 / 299
    assert np.linalg.norm(found.vectors.T @ found.vectors - np.eye(k)) <= 50 * 60 * EPS
    assert np.abs(found.values - truth[:k]).max() <= max(1e-6 * truth[0], 2 * rounding)
    C = (Z.T @ Z / 299).astype(np.float64)
    assert broken_claims(found.certificate, found.vectors, C, 20 * 300 * EPS * truth.sum()) == []


@pytest.mark.parametrize("dim", range(1, BLOCK))
def test_an_operator_smaller_than_a_block(dim):
    A, _ = with_eigenvalues(1.0 / np.arange(1, dim + 1), np.random.default_rng(dim))
    for k in range(1, dim + 1):
        found = eigen(lambda V: A @ V, k, dim=dim, solver="krylov")
        check(found, A)
        assert found.certificate.completeness == "proved"  # the space is all there is
        assert found.certificate.complete_to == k


@pytest.mark.parametrize("fold", [BLOCK + 1, 40])
@pytest.mark.parametrize("k", [1, 10, 40, 45])
def test_an_eigenvalue_of_multiplicity_beyond_the_block(fold, k):
    A, Q = with_eigenvalues(np.r_[np.full(fold, 2.0), np.linspace(1.5, 0.1, 200 - fold)], np.random.default_rng(k))
    found = quiet(eigen, lambda V: A @ V, k, dim=200, solver="krylov")
    check(found, A)
    inside = found.vectors[:, : min(k, fold)]
    assert sine(inside, Q[:, :fold]) < 1e-5
    if k < fold:
        assert found.certificate.tie_at_k
        assert found.certificate.complete_to == 0  # each of them may be exchanged for others
    if k > fold:
        assert found.certificate.groups[0] == (0, fold)
        assert found.certificate.angle_bounds[0] < 1e-4


@pytest.mark.parametrize("gap", [0.0, 1e-14, 1e-10, 1e-3])
def test_a_tie_and_a_near_tie_at_k(gap):
    A, _ = with_eigenvalues(np.r_[4.0, 3.0, 2.0 * (1 + gap), 2.0, np.linspace(1, 0, 96)], np.random.default_rng(0))
    found = quiet(eigen, lambda V: A @ V, 3, dim=100, solver="krylov", tol=1e-9)
    check(found, A, 1e-9)
    assert found.certificate.tie_at_k == (gap < 1e-9)
    assert (found.certificate.angle_bounds[2] < 1) == (gap == 1e-3)
    assert found.certificate.angle_bounds[:2].max() < 1e-6


@pytest.mark.parametrize("rank", [1, 3, 8, 20])
@pytest.mark.parametrize("k", [5, 25])
def test_k_beyond_the_rank(rank, k):
    values = np.r_[np.linspace(3, 1, rank), np.zeros(120 - rank)]
    A, _ = with_eigenvalues(values, np.random.default_rng(rank))
    for found in (
        eigen(lambda V: A @ V, k, dim=120, solver="krylov"),
        from_rows(with_spectrum(400, 120, np.sqrt(399 * values), np.random.default_rng(rank)), k),
    ):
        assert found.certificate.satisfied
        assert found.certificate.rank == min(rank, k)
        np.testing.assert_allclose(found.values, values[:k], rtol=0, atol=1e-6)
        np.testing.assert_array_equal(found.values[rank:], 0)
        assert np.linalg.norm(found.vectors.T @ found.vectors - np.eye(k)) < 1e-13 * k
    check(eigen(lambda V: A @ V, k, dim=120, solver="krylov"), A)


def test_slow_decay_with_many_components():
    A, _ = with_eigenvalues(1.0 / np.arange(1, 501), np.random.default_rng(0))
    for k in (20, 40):
        found = eigen(lambda V: A @ V, k, dim=500, solver="krylov")
        check(found, A)
        assert found.history[-1].iteration < 3 * base.expected_steps(k)


@pytest.mark.parametrize("spectrum", ["slow", "tied", "clustered", "mode 3", "mode 4", "mode 5"])
@pytest.mark.parametrize("steps", [2, 3])
@pytest.mark.parametrize("k", [1, 6])
def test_restarts_lose_nothing(spectrum, steps, k, monkeypatch):
    A, _ = with_eigenvalues(np.sort(SPECTRA[spectrum](150))[::-1], np.random.default_rng(3))
    plain = quiet(eigen, lambda V: A @ V, k, dim=150, solver="krylov", tol=1e-9)
    monkeypatch.setattr(base, "STEPS", steps)
    small = quiet(eigen, lambda V: A @ V, k, dim=150, solver="krylov", tol=1e-9)
    check(small, A, 1e-9)
    np.testing.assert_allclose(small.values, plain.values, rtol=0, atol=1e-9)
    assert small.history[-1].iteration >= plain.history[-1].iteration


def test_a_basis_that_is_restarted_often_stays_small(monkeypatch):
    monkeypatch.setattr(base, "STEPS", 2)
    A, _ = with_eigenvalues(1 + np.linspace(1, 0, 300) ** 2, np.random.default_rng(3))
    found = eigen(lambda V: A @ V, 2, dim=300, solver="krylov")
    check(found, A)
    assert BLOCK * found.history[-1].iteration > 3 * capacity(300, 2, BLOCK)  # three times full, or more


@cache
def nearly_flat() -> np.ndarray:
    return with_eigenvalues(1 + 1e-3 * np.arange(600)[::-1] / 600, np.random.default_rng(4))[0]


@pytest.mark.parametrize("max_iter", range(1, 16))
@pytest.mark.parametrize("k", [1, 8, 20, 40])
def test_max_iter_bounds_the_products_and_is_named(k, max_iter):
    A = nearly_flat()
    product = Product(A)
    with pytest.warns(AccuracyWarning, match=r"did not converge to tol=.*: .* stopped at max_iter, after"):
        found = eigen(product, k, dim=600, solver="krylov", max_iter=max_iter, tol=1e-9)
    least = -(-(k + 1) // block_width(k))  # so many are needed for k Ritz vectors and the next
    assert not found.certificate.satisfied
    assert f"max_iter, after {max(max_iter, least)} iteration" in found.note
    assert found.history[-1].iteration == max(max_iter, least)
    assert len(product) <= 1 + max(max_iter, least) + krylov.PROBED  # one to learn the size, and the probes
    assert broken_claims(found.certificate, found.vectors, A, 20 * 600 * EPS) == []


@pytest.mark.parametrize("cap", [3, 7])
def test_iterated_power_caps_the_passes_of_a_fit(cap):
    X = with_spectrum(900, 700, 1 / np.sqrt(np.arange(1, 701)), np.random.default_rng(5))
    with pytest.warns(AccuracyWarning, match="max_iter"):
        pca = PCA(5, svd_solver="krylov", iterated_power=cap, memory_limit="12MB", tol=1e-10).fit(X)
    assert not pca.plan_.dense
    assert pca.history_[-1].iteration == cap
    assert 1 + cap <= pca.certificate_.passes <= 1 + cap + krylov.PROBED


def test_the_history_tells_the_way_there():
    A, _ = with_eigenvalues(1.0 / np.arange(1, 401), np.random.default_rng(6))
    found = eigen(Product(A), 5, dim=400, solver="krylov", tol=1e-8)
    iterations = [step.iteration for step in found.history]
    assert iterations == sorted(set(iterations))
    assert len(iterations) >= 3
    residuals = [step.residual for step in found.history]
    assert residuals[0] > 1e-4
    assert residuals[-1] <= 1e-8
    last = found.history[-1]
    assert 0 <= last.component < 5
    assert last.value == pytest.approx(found.values[last.component], rel=1e-12)
    u = found.vectors[:, last.component]
    assert last.residual == pytest.approx(np.linalg.norm(A @ u - last.value * u), rel=1e-2, abs=1e-14)
    pca = PCA(5, svd_solver="krylov").fit(with_spectrum(700, 600, 1 / np.arange(1, 601), np.random.default_rng(6)))
    assert len(pca.history_) >= 2
    assert pca.history_[-1].residual <= 1e-6 * pca.explained_variance_[0]


@pytest.mark.parametrize(("oversample", "width"), [(0, 1), (3, 1), (4, 2), (10, 8), (13, 11), (40, 38)])
def test_oversample_is_the_width_of_the_block(oversample, width):
    A, _ = with_eigenvalues(0.9 ** np.arange(200), np.random.default_rng(7))
    product = Product(A)
    found = eigen(product, 3, dim=200, solver=Krylov(oversample=oversample))
    check(found, A)
    assert product.widths[1] == width  # after the one column that tells the size
    assert max(product.widths) <= width + probes.COUNT


def test_a_wider_block_needs_fewer_passes():
    A, _ = with_eigenvalues(1 / np.sqrt(np.arange(1, 301)), np.random.default_rng(7))
    steps = [
        eigen(Product(A), 3, dim=300, solver=Krylov(oversample=extra)).history[-1].iteration for extra in (5, 10, 40)
    ]
    assert steps[0] > steps[1] > steps[2]


def test_a_good_start_saves_passes_and_a_bad_one_is_refused():
    A, Q = with_eigenvalues(1.0 / np.arange(1, 301), np.random.default_rng(8))
    cold, warm = Product(A), Product(A)
    eigen(cold, 3, dim=300, solver="krylov", tol=1e-9)
    found = eigen(warm, 3, dim=300, solver="krylov", tol=1e-9, start=Q[:, :BLOCK])
    check(found, A, 1e-9)
    assert found.history[-1].iteration < 4
    assert len(warm) < len(cold)
    check(eigen(lambda V: A @ V, 3, dim=300, solver="krylov", start=Q[:, 5]), A)
    check(eigen(lambda V: A @ V, 3, dim=300, solver="krylov", start=Q[:, :40]), A)
    for start, match in (
        (Q[:5], "start has 5 rows"),
        (np.zeros(300), "all-zero"),
        (np.full(300, np.nan), "NaN"),
    ):
        with pytest.raises(ValueError, match=match):
            eigen(lambda V: A @ V, 3, dim=300, solver="krylov", start=start)


def test_a_start_inside_an_invariant_subspace_goes_on_at_random():
    values = np.r_[0.5, 0.4, 5.0, 3.0, np.linspace(2, 0.6, 56)]
    found = eigen(lambda V: values[:, None] * V, 4, dim=60, solver="krylov", start=np.eye(60)[:, :2])
    check(found, np.diag(values))


@pytest.mark.parametrize(
    ("shape", "limit", "dense"),
    [
        ((3000, 600), "12MB", False),
        ((900, 700), "12MB", False),
        ((20_000, 60), "1GB", True),
        ((50, 20_000), "1GB", True),
    ],
)
def test_the_same_seed_gives_the_same_bits_whatever_the_threads(shape, limit, dense, blas_as_it_is):
    sigma = 1 / np.sqrt(np.arange(1, min(shape) + 1))
    X = with_spectrum(*shape, sigma, np.random.default_rng(9), offset=2.0)
    parameters = {"svd_solver": "krylov", "memory_limit": limit}
    fits = []
    for threads in (1, 2, 2):
        with threadpool_limits(threads, user_api="blas"):
            fits.append(PCA(6, random_state=3, **parameters).fit(X))
    assert [pca.plan_.dense for pca in fits] == 3 * [dense]
    for pca in fits[1:]:
        np.testing.assert_array_equal(pca.components_, fits[0].components_)
        np.testing.assert_array_equal(pca.explained_variance_, fits[0].explained_variance_)
        np.testing.assert_array_equal(pca.certificate_.value_bounds, fits[0].certificate_.value_bounds)
        assert pca.history_ == fits[0].history_
    other = PCA(6, random_state=4, **parameters).fit(X)
    assert other.history_ != fits[0].history_
    np.testing.assert_allclose(other.explained_variance_, fits[0].explained_variance_, rtol=1e-6)


def test_eigen_gives_the_same_bits_for_the_same_seed(blas_as_it_is):
    scale = 1 / np.arange(1.0, 2001)
    found = []
    for threads in (1, 2, 2):
        with threadpool_limits(threads, user_api="blas"):
            found.append(eigen(lambda V: scale[:, None] * V, 5, dim=2000, solver="krylov", random_state=1))
    for other in found[1:]:
        np.testing.assert_array_equal(other.values, found[0].values)
        np.testing.assert_array_equal(other.vectors, found[0].vectors)
        assert other.history == found[0].history


@pytest.mark.parametrize("share", [0.3, 0.8, 0.95])
def test_a_share_of_the_variance_without_the_matrix(share):
    X = with_spectrum(900, 700, 1 / np.arange(1, 701) ** 0.9, np.random.default_rng(10))
    ratios = np.linalg.svd(X - X.mean(axis=0))[1] ** 2
    expected = int(np.searchsorted(np.cumsum(ratios / ratios.sum()), share, side="right") + 1)
    pca = quiet(PCA(share, svd_solver=Krylov()).fit, X)
    assert pca.n_components_ == expected
    assert pca.explained_variance_ratio_.sum() > share
    assert from_rows(X, expected).values.sum() > share * ratios.sum() / 899


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [False, True])
def test_a_fit_in_little_memory_equals_the_direct_one(dtype, scale):
    X = with_spectrum(900, 700, 0.97 ** np.arange(700), np.random.default_rng(11), offset=5.0)
    X = (X + 1e-3 * np.random.default_rng(12).standard_normal(X.shape)).astype(dtype)
    pca = PCA(5, scale=scale, memory_limit="12MB").fit(X)
    assert (pca.plan_.solver, pca.plan_.dense) == ("krylov", False)
    Z = preprocess(X, True, scale).astype(np.float64)
    values, vectors = (part[..., ::-1] for part in np.linalg.eigh(Z.T @ Z / 899))
    np.testing.assert_allclose(pca.subspace_.variances, values[:5], rtol=0, atol=1e-6 * values[0])
    assert pca.certificate_.satisfied
    assert pca.certificate_.complete_to == 5
    assert sine(pca.subspace_.axes, vectors[:, :5]) <= np.linalg.norm(pca.certificate_.angle_bounds)


def test_mle_needs_the_whole_spectrum():
    with pytest.raises(ValueError, match=r"n_components='mle' .* whole spectrum"):
        PCA("mle", svd_solver="krylov").fit(np.random.default_rng(0).standard_normal((50, 5)))


def test_a_basis_is_orthonormal_and_holds_its_own_products():
    A, _ = with_eigenvalues(1.0 / np.arange(1, 201), np.random.default_rng(13))
    from ritz.operators import Function

    for solver in (Krylov(), Krylov(oversample=0), Krylov(start=random_orthonormal(200, 3, np.random.default_rng(1)))):
        basis = solver.basis(Function(lambda V: A @ V, 200), 4, tol=1e-8, rng=np.random.default_rng(0))
        m = basis.Q.shape[1]
        assert m >= 4
        assert np.linalg.norm(basis.Q.T @ basis.Q - np.eye(m)) < 1e-13 * m
        np.testing.assert_allclose(basis.AQ, A @ basis.Q, rtol=0, atol=1e-13)
        outside = A - basis.Q @ (basis.Q.T @ A)
        assert basis.outside.level >= np.linalg.norm(outside - (outside @ basis.Q) @ basis.Q.T, 2)


def test_a_space_that_is_everything_has_nothing_outside():
    """Free of charge, and sharper than a proof by Cholesky."""
    rng = np.random.default_rng(16)
    n, d = 60, 900
    left, right = np.linalg.qr(rng.standard_normal((n, n)))[0], np.linalg.qr(rng.standard_normal((d, n)))[0]
    X = (left / np.sqrt(np.arange(1, n + 1))) @ right.T
    with pytest.warns(AccuracyWarning, match="rank 59"):
        certificate = PCA(n, svd_solver="krylov", tol=1e-9).fit(X).certificate_
    assert certificate.completeness == "proved"
    assert certificate.value_bounds[-1, 1] < 2e-11 * certificate.values[0]

"""Whether something was missed: bounds of what lies outside a basis, without the matrix."""

import warnings

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from helpers.counts import usually
from helpers.matrices import (
    SPECTRA,
    broken_claims,
    covariance_of,
    random_orthonormal,
    with_eigenvalues,
    with_spectrum,
)
from ritz import PCA, AccuracyWarning, eigen
from ritz.solvers import Krylov
from ritz.solvers.probes import COUNT, FAILURE, Probes
from ritz.spectrum.bounds import Evidence, bounds, next_upper
from ritz.spectrum.certify import certify

EPS = np.finfo(float).eps
pytestmark = pytest.mark.usefixtures("one_thread")
FEW_VALUES = {
    "two values": lambda m: np.r_[1.0, np.full(m - 1, 0.5)],
    "three values": lambda m: np.r_[1.0, np.full(m // 2, 0.5), np.full(m - 1 - m // 2, 0.01)],
    "an outlier": lambda m: np.r_[1.0, 1e-3 * np.arange(m - 1)[::-1] / m],
    "an outlier and a cluster": lambda m: np.r_[1.0, 0.5 + 1e-4 * np.linspace(1, -1, m - 1)],
    "two clusters": lambda m: np.r_[1 + 1e-3 * np.arange(3)[::-1], 0.3 + 1e-4 * np.arange(m - 3)[::-1]],
}
ALL_SPECTRA = {**SPECTRA, **FEW_VALUES}


def norm_outside(A, V):
    """‖(I − VVᵀ) A (I − VVᵀ)‖ by LAPACK."""
    P = np.eye(len(A)) - V @ V.T
    return float(np.linalg.eigvalsh(P @ A @ P)[-1])


def probed(A, V, seed, steps, ceiling=np.inf):
    """The levels after each of so many products."""
    probes = Probes(V, np.random.default_rng(seed))
    for _ in range(steps):
        probes.absorb(A @ probes.columns)
        yield probes.outside(ceiling)


@pytest.mark.parametrize("kind", ["random", "leading", "one missing"])
@pytest.mark.parametrize("spectrum", ALL_SPECTRA)
def test_the_level_is_an_upper_bound_in_all_trials(spectrum, kind):
    """51 cases of 4 trials, or 12, each after 1 to 10 products: with a failure probability of 1e-6 none may fail."""
    rng = np.random.default_rng([len(spectrum), len(kind)])
    for trial in range(usually(4, thorough=12)):
        d = int(rng.integers(12, 80))
        A, Q = with_eigenvalues(np.sort(ALL_SPECTRA[spectrum](d))[::-1], rng)
        r = int(rng.integers(1, d - 4))
        V = {
            "random": random_orthonormal(d, r, rng),
            "leading": Q[:, :r],
            "one missing": np.delete(Q[:, : r + 1], rng.integers(0, r), axis=1),
        }[kind]
        truth, slack = norm_outside(A, V), 4 * d * EPS * np.linalg.norm(A, 2)
        ceiling = np.inf if trial % 2 else np.trace(A) - np.trace(V.T @ A @ V) + slack  # the trace, where it is known
        for steps, outside in enumerate(probed(A, V, trial, 10, ceiling), start=1):
            assert outside.level >= truth - slack, (trial, d, r, steps)
            assert outside.level <= ceiling
            assert outside.failure in (0.0, FAILURE)


@pytest.mark.parametrize("spectrum", ALL_SPECTRA)
def test_a_leading_eigenvector_missing_from_the_basis_is_seen(spectrum):
    rng = np.random.default_rng(len(spectrum))
    for trial in range(8):
        d, missing = int(rng.integers(20, 200)), int(rng.integers(0, 4))
        values = np.sort(ALL_SPECTRA[spectrum](d))[::-1]
        A, Q = with_eigenvalues(values, rng)
        V = np.delete(Q[:, :8], missing, axis=1)
        for outside in probed(A, V, trial, 6):
            assert outside.level >= values[missing] * (1 - 4 * d * EPS)


@pytest.mark.parametrize("d", [2, 3, 4, COUNT])
def test_few_dimensions_leave_the_probability_as_it_is(d):
    """Where there are fewer dimensions than probes, as many probes are needed as ever."""
    A = np.diag(np.r_[1.0, np.full(d - 1, 1e-3)])
    V = np.eye(d)[:, -1:]  # the top eigenvector is outside
    for seed in range(usually(100, thorough=300)):
        for outside in probed(A, V, seed, 2):
            assert outside.level >= 1 - 1e-12, (d, seed)


@pytest.mark.parametrize("spectrum", [name for name in ALL_SPECTRA if name not in ("zero", "rank deficient")])
def test_the_level_is_no_idle_one(spectrum):
    """Ten products bound the norm to within the tenth root of √d/η."""
    A, Q = with_eigenvalues(np.sort(ALL_SPECTRA[spectrum](120))[::-1], np.random.default_rng(0))
    levels = [outside.level for outside in probed(A, Q[:, :5], 1, 10)]
    assert levels[-1] <= 2 * norm_outside(A, Q[:, :5])
    assert levels[-1] <= levels[0]


def test_nothing_outside_is_found_to_be_nothing():
    A, Q = with_eigenvalues(np.r_[3.0, 2.0, 1.0, np.zeros(57)], np.random.default_rng(0))
    assert [outside.level < 1e-12 for outside in probed(A, Q[:, :3], 0, 3)] == [True] * 3
    assert [outside.level for outside in probed(np.zeros((20, 20)), np.eye(20)[:, :2], 0, 2)] == [0.0, 0.0]


def test_before_any_product_nothing_is_known_but_the_ceiling():
    probes = Probes(np.eye(30)[:, :2], np.random.default_rng(0))
    assert probes.outside(7.0) == (7.0, 0.0)
    assert probes.outside(np.inf) == (np.inf, 0.0)
    assert probes.steps == 0


def test_probes_stay_outside_the_basis():
    rng = np.random.default_rng(0)
    V = random_orthonormal(50, 6, rng)
    A, _ = with_eigenvalues(1 / np.arange(1, 51), rng)
    probes = Probes(V, rng)
    for _ in range(4):
        assert np.abs(V.T @ probes.columns).max() < 1e-13
        np.testing.assert_allclose(np.linalg.norm(probes.columns, axis=0), 1, rtol=1e-12)
        probes.absorb(A @ probes.columns)


def from_rows(X, k, solver=None, tol=1e-6, seed=0):
    A, _ = covariance_of(X)
    basis = (solver or Krylov()).basis(A, k, tol=tol, rng=np.random.default_rng(seed))
    return certify(A, A.ritz(basis.Q, basis.AQ, tol=tol), basis, k, tol=tol)


def test_slow_decay_is_complete_but_for_a_probability():
    A, _ = with_eigenvalues(1 / np.sqrt(np.arange(1, 401)), np.random.default_rng(1))
    X = with_spectrum(900, 400, np.sqrt(899 / np.sqrt(np.arange(1, 401))), np.random.default_rng(1), offset=2.0)
    for found in (eigen(lambda V: A @ V, 4, dim=400, solver="krylov"), from_rows(X, 4)):
        certificate = found.certificate
        assert certificate.completeness == "probability"
        assert certificate.failure_probability == 1e-6
        assert certificate.complete_to == 4
        assert certificate.angle_bounds.max() < 1e-2
        assert np.isfinite(certificate.value_bounds).all()
        assert "(probability at least 1 − 1e-06)" in str(certificate)


def test_a_trace_that_leaves_nothing_is_a_proof():
    X = with_spectrum(900, 400, 0.3 ** np.arange(400), np.random.default_rng(1), offset=2.0)
    certificate = from_rows(X, 3).certificate
    assert certificate.completeness == "proved"
    assert certificate.failure_probability == 0
    assert certificate.complete_to == 3


def test_a_fit_in_little_memory_says_how_sure_it_is():
    X = with_spectrum(900, 700, 1 / np.sqrt(np.arange(1, 701)), np.random.default_rng(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing the user could act on
        pca = PCA(5, memory_limit="12MB").fit(X)
    assert (pca.plan_.solver, pca.plan_.dense) == ("krylov", False)
    assert pca.certificate_.completeness == "probability"
    assert pca.certificate_.failure_probability == 1e-6
    assert pca.certificate_.complete_to == 5
    C = np.cov(X.T)
    assert broken_claims(pca.certificate_, pca.subspace_.axes, C, 20 * 900 * EPS * np.trace(C)) == []


DECAYING = {
    "slowly": 1 / np.arange(1.0, 401),
    "very slowly": 1 / np.sqrt(np.arange(1.0, 401)),
    "fast": 0.8 ** np.arange(400),
    "after an outlier": np.r_[10.0, 1 / np.arange(1.0, 400)],
}


@pytest.mark.parametrize("size", [1e-119, 1e-25, 1e-15, 1e15, 1e25, 1e119])
def test_sizes_whose_powers_leave_the_range(size):
    X = with_spectrum(900, 700, 1 / np.sqrt(np.arange(1, 701)), np.random.default_rng(2))
    plain, pca = (PCA(3, memory_limit="12MB").fit(data) for data in (X, X * size))
    assert not pca.plan_.dense
    np.testing.assert_allclose(pca.singular_values_ / size, plain.singular_values_, rtol=1e-6)
    assert pca.certificate_.completeness == plain.certificate_.completeness == "probability"
    assert pca.certificate_.complete_to == 3
    np.testing.assert_allclose(pca.certificate_.angle_bounds, plain.certificate_.angle_bounds, rtol=0.5)


def check_a_blind_fit(certificate, U, A, missing):
    """Found after all, or not claimed: the bounds hold with the component that the start had no part in."""
    values, k = np.diagonal(A), U.shape[1]
    slack = 20 * len(A) * EPS * values[0]
    assert broken_claims(certificate, U, A, slack) == []
    if np.linalg.norm(U[missing]) > 0.5:
        error = np.abs(certificate.values - values[:k]).max()
        assert error <= max(certificate.reached, 1e-6) * values[0]
        return
    assert certificate.completeness == "not excluded"
    assert certificate.failure_probability is None
    assert certificate.complete_to <= missing
    assert certificate.value_bounds[missing, 1] >= values[missing] - slack
    assert certificate.angle_bounds[missing] == 1
    assert "may have been missed" in str(certificate)


@pytest.mark.parametrize("max_iter", [1, 2, 4, 6, 8, 10, 12, 16, 500])
@pytest.mark.parametrize("missing", [0, 1, 2])
@pytest.mark.parametrize("decay", DECAYING)
def test_a_blind_start_never_claims_what_it_did_not_see(decay, missing, max_iter):
    """The start has no part in one eigenvector, and a diagonal matrix never gives it any."""
    A = np.diag(DECAYING[decay])
    start = np.random.default_rng(3).standard_normal((400, 8))
    start[missing] = 0
    for operator in (A, lambda V: A @ V):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            found = eigen(operator, 3, dim=400, solver="krylov", start=start, max_iter=max_iter)
        check_a_blind_fit(found.certificate, found.vectors, A, missing)


def test_a_start_of_eigenvectors_other_than_the_leading_ones():
    A = np.diag(1 / np.arange(1.0, 401))
    for start in (np.eye(400)[:, 3:11], np.eye(400)[:, [0, *range(2, 9)]], np.eye(400)[:, [1]]):
        found = eigen(lambda V: A @ V, 3, dim=400, solver="krylov", start=start)
        missed = np.flatnonzero(np.linalg.norm(found.vectors[:3], axis=1) < 0.5)
        check_a_blind_fit(found.certificate, found.vectors, A, int(missed[0]) if len(missed) else 0)


@pytest.mark.parametrize("memory_limit", ["1GB", "12MB"])
@pytest.mark.parametrize("max_iter", [5, 11, 500])
def test_a_fit_with_a_blind_start_is_right_or_warns(memory_limit, max_iter):
    d = 700
    columns = 1 / np.sqrt(np.arange(1, d + 1)) + 1e-3
    X = np.r_[np.diag(columns), -np.diag(columns)]
    start = np.random.default_rng(4).standard_normal((d, 8))
    start[0] = 0
    solver = Krylov(start=start, max_iter=max_iter)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pca = PCA(2, svd_solver=solver, center=False, memory_limit=memory_limit).fit(X)
    C = np.diag(2 * columns**2 / (2 * d - 1))
    check_a_blind_fit(pca.certificate_, pca.subspace_.axes, C, 0)
    if np.abs(pca.explained_variance_ - np.diagonal(C)[:2]).max() > 1e-6 * C[0, 0]:
        assert any(issubclass(warning.category, AccuracyWarning) for warning in caught)


@settings(max_examples=usually(150, thorough=600), deadline=None, phases=[Phase.generate])
@given(
    spectrum=st.sampled_from(sorted(ALL_SPECTRA)),
    dim=st.integers(4, 60),
    diagonal=st.booleans(),
    share=st.floats(0, 1),
    seed=st.integers(0, 2**32),
    tol=st.sampled_from([1e-3, 1e-6, 1e-10, 0]),
    max_iter=st.sampled_from([1, 2, 3, 5, 8, 500]),
    oversample=st.sampled_from([0, 5, 10, 20]),
    blind=st.booleans(),
)
def test_no_claim_without_the_matrix_is_ever_broken(
    spectrum, dim, diagonal, share, seed, tol, max_iter, oversample, blind
):
    values = np.sort(ALL_SPECTRA[spectrum](dim))[::-1]
    rng = np.random.default_rng(seed)
    A = np.diag(values) if diagonal else with_eigenvalues(values, rng)[0]
    k, start = 1 + round(share * (dim - 1)), None
    if blind:
        start = rng.standard_normal((dim, 8))
        start[seed % 3] = 0
    solver = Krylov(max_iter=max_iter, oversample=oversample, start=start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        found = eigen(lambda V: A @ V, k, dim=dim, solver=solver, tol=tol, random_state=seed)
    assert np.linalg.norm(found.vectors.T @ found.vectors - np.eye(k)) <= 50 * dim * EPS
    assert broken_claims(found.certificate, found.vectors, A, 20 * dim * EPS * np.linalg.norm(A, 2)) == []


@settings(max_examples=usually(75, thorough=150), deadline=None, phases=[Phase.generate])
@given(
    spectrum=st.sampled_from(sorted(ALL_SPECTRA)),
    n=st.integers(10, 200),
    d=st.integers(8, 60),
    share=st.floats(0, 1),
    seed=st.integers(0, 2**32),
    max_iter=st.sampled_from([2, 4, 500]),
)
def test_no_claim_from_walks_over_rows_is_ever_broken(spectrum, n, d, share, seed, max_iter):
    X = with_spectrum(n, d, np.sort(ALL_SPECTRA[spectrum](min(n, d)))[::-1], np.random.default_rng(seed), offset=2.0)
    k = 1 + round(share * (min(n, d) - 1))
    found = from_rows(X, k, Krylov(max_iter=max_iter), seed=seed)
    Z = X - X.mean(axis=0)
    C = Z.T @ Z / (n - 1)
    assert broken_claims(found.certificate, found.vectors, C, 20 * max(n, d) * EPS * np.sum(X**2) / (n - 1)) == []


def test_a_start_that_spans_all_but_one_direction_does_not_make_a_proof():
    """The last direction must be looked for at random: products never lead there."""
    for dim in (20, 35, 50):
        A = np.diag(1 / np.arange(1.0, dim + 1))
        for seed in range(6):
            start = np.random.default_rng(seed).standard_normal((dim, 3))
            start[2] = 0
            found = eigen(lambda V, A=A: A @ V, dim // 2, dim=dim, solver=Krylov(oversample=5, start=start), tol=1e-3)
            assert np.linalg.norm(found.vectors.T @ found.vectors - np.eye(dim // 2)) <= 50 * dim * EPS
            assert broken_claims(found.certificate, found.vectors, A, 20 * dim * EPS) == [], (dim, seed)


@settings(max_examples=usually(100, thorough=1000), deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_bound_of_the_next_value_alone_is_that_of_all(seed):
    """What a fit decides by at once is never below what the certificate says when it is asked."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 9))
    seen = Evidence(
        values=np.sort(rng.random(m) ** 3)[::-1],
        residuals=rng.random(m) ** 6 * 10.0 ** -rng.integers(0, 12),
        rounding=float(10.0 ** -rng.integers(6, 16)),
        defect=float(10.0 ** -rng.integers(6, 16)),
        exhausted=bool(rng.random() < 0.2),
        missing=float(rng.random() * (rng.random() < 0.2)),
    )
    k, ceiling = int(rng.integers(1, m + 1)), float(rng.random() ** 4)
    least, found = bounds(seen, k, ceiling).following, next_upper(seen, k, ceiling)
    assert found == -np.inf if seen.exhausted and k == m else found >= least - 4 * EPS


def test_it_is_no_looser_where_values_are_apart():
    seen = Evidence(np.array([4.0, 2.0, 1.0]), np.array([1e-6, 1e-3, 1e-2]), 1e-14, 1e-15, exhausted=False)
    for k in (1, 2, 3):
        assert next_upper(seen, k, 0.5) == pytest.approx(bounds(seen, k, 0.5).following, rel=1e-15)

"""What is claimed of a recovery, tried against linear programmes, brute force and simulation: no claim may be false."""

import re
import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import hadamard
from scipy.stats import norm as normal
from sklearn.linear_model import Lasso

from helpers.counts import usually
from helpers.matrices import random_orthonormal
from helpers.signals import gaussian, goal, lasso_objective, least_l1, recovered_by, seen_by, sparse_codes
from ritz import AccuracyWarning, CompressedSensing
from ritz.sensing import SOLVERS, dictionary, omp
from ritz.sensing.bases import chosen_basis
from ritz.sensing.certificate import of_nothing
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.lasso import lasso
from ritz.sensing.maps import as_map
from ritz.sensing.measurements import chosen_measurement
from ritz.sensing.phase_transition import determined, needed

pytestmark = pytest.mark.usefixtures("one_thread")

ROUNDING = 1e-9  # of the linear programme that judges


def matrix_of(kind, m, p, rng):
    A = gaussian(m, p, rng)
    if kind == "duplicates":
        A[:, p // 2 :] = A[:, : p - p // 2] * rng.choice([-1.0, 1.0, 2.0], p - p // 2)
    elif kind == "zero column":
        A[:, 0] = 0.0
    elif kind == "graded":
        A *= 10.0 ** -rng.uniform(0, 3, p)
    elif kind == "signs":
        A = rng.choice([-1.0, 1.0], (m, p))
    elif kind == "oblique":
        A = A[:, :1] + 0.1 * A
    return A


KINDS = ["gaussian", "duplicates", "zero column", "graded", "signs", "oblique"]


def exact_recovery(A, S):
    """max ‖A_S⁺ a_j‖₁ over the other columns, all of length 1."""
    lengths = np.linalg.norm(A, axis=0)
    units = A / np.where(lengths > 0, lengths, 1.0)
    others = np.setdiff1d(np.arange(A.shape[1]), S)
    return np.abs(np.linalg.pinv(units[:, S]) @ units[:, others]).sum(axis=0).max(initial=0.0)


@settings(max_examples=usually(50, thorough=100), deadline=None)
@given(
    st.sampled_from(KINDS),
    st.sampled_from(list(SOLVERS)),
    st.integers(1, 12),
    st.integers(1, 20),
    st.integers(1, 6),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([None, 20, 300]),
    st.booleans(),
    st.integers(0, 10_000),
)
def test_no_claim_is_false(kind, solver, m, p, s, limit, max_iter, sparse, seed):
    rng = np.random.default_rng(seed)
    A = matrix_of(kind, m, p, rng)
    C = sparse_codes(3, p, min(s, p), rng, spread=1.0)
    Y = C @ A.T if sparse or p < m or solver == "basis-pursuit" else rng.standard_normal((3, m))
    if solver == "basis-pursuit":
        max_iter = None
    elif solver == "fista":
        max_iter = max_iter or 1000
    found, residuals = recovered_by(seen_by(A), Y, SOLVERS[solver], goal(3, sparsity=limit, max_iter=max_iter))
    for y, c, residual, gap, penalty, converged, condition in zip(
        Y, found.codes, residuals, found.gaps, found.penalties, found.converged, found.exact_recovery, strict=True
    ):
        size, l1 = np.linalg.norm(y), np.abs(c).sum()
        S = np.flatnonzero(c)
        assert residual == pytest.approx(np.linalg.norm(y - A @ c) / size if size else 0.0, abs=1e-9)
        assert limit is None or len(S) <= limit
        if penalty == 0 and l1:
            assert least_l1(A, A @ c / l1) >= 1 - gap - ROUNDING
        if converged and penalty == 0 and limit is None:
            assert residual <= 1e-6 + 1e-9
        if condition < 1 - ROUNDING:
            assert exact_recovery(A, S) == pytest.approx(condition, abs=1e-6)
        elif condition > 1 + ROUNDING:
            assert exact_recovery(A, S) >= condition - 1e-6 * condition


@pytest.mark.parametrize("solver", ["fista", "basis-pursuit"])
def test_the_gap_of_an_answer_that_was_cut_to_size_is_its_own(solver):
    """Refitted coefficients may change their signs, and then the dual vector of all of them proves nothing."""
    rng = np.random.default_rng(4)
    for _ in range(60):
        A = gaussian(8, 14, rng)
        Y = rng.standard_normal((2, 8))
        found, _ = recovered_by(
            seen_by(A), Y, SOLVERS[solver], goal(2, sparsity=5, max_iter=None if solver[0] == "b" else 300)
        )
        for c, gap, penalty in zip(found.codes, found.gaps, found.penalties, strict=True):
            assert penalty > 0 or least_l1(A, A @ c) >= (1 - gap - ROUNDING) * np.abs(c).sum()


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from(KINDS),
    st.integers(2, 15),
    st.integers(1, 25),
    st.sampled_from([1e-6, 1e-4, 1e-2, 0.1, 0.5, 3.0]),
    st.sampled_from([1, 5, 30, 400]),
    st.integers(0, 10_000),
)
def test_no_answer_of_the_lasso_is_further_from_optimal_than_its_gap(kind, m, p, penalty, most, seed):
    rng = np.random.default_rng(seed)
    A, Y = matrix_of(kind, m, p, rng), rng.standard_normal((2, m))
    Y /= np.linalg.norm(Y, axis=1)[:, None]
    codes, gaps, _ = lasso(seen_by(A), Y, np.full(2, penalty), np.zeros((2, p)), 1e-8, np.full(2, most))
    better, _, _ = lasso(seen_by(A), Y, np.full(2, penalty), codes, 1e-12, np.full(2, 3000))
    for y, c, further, gap in zip(Y, codes, better, gaps, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # any answer of the judge is an upper bound of the least value
            judge = Lasso(penalty / m, fit_intercept=False, tol=1e-12, max_iter=5000).fit(A, y).coef_
        objective = lasso_objective(A, y, c, penalty)
        least = min(lasso_objective(A, y, other, penalty) for other in (further, judge, 0 * c))
        assert objective - least <= gap * objective + 1e-14


def test_the_gap_of_a_small_penalty_keeps_its_digits():
    """λ = 1e-6: the bound is a millionth of ‖y‖², and its digits must not be those of ‖y‖² − ‖y − θ‖²."""
    rng = np.random.default_rng(0)
    A = gaussian(20, 40, rng)
    Y = sparse_codes(8, 40, 3, rng, spread=1.0) @ A.T
    Y /= np.linalg.norm(Y, axis=1)[:, None]
    codes, gaps, _ = lasso(seen_by(A), Y, np.full(8, 1e-6), np.zeros((8, 40)), 1e-6, np.full(8, 5000))
    for y, c, gap in zip(Y.astype(np.longdouble), codes, gaps, strict=True):
        residual = y - A.astype(np.longdouble) @ c
        theta = residual * min(1.0, 1e-6 / np.abs(A.T @ residual).max())
        primal = residual @ residual / 2 + 1e-6 * np.abs(c).sum()
        assert gap == pytest.approx(float((primal - (y @ theta - theta @ theta / 2)) / primal), rel=1e-3, abs=1e-13)


def factors(A, supports):
    """Rows Q and triangles L with A_Sᵀ = L Q."""
    Q, R = np.linalg.qr(A[:, supports].transpose(1, 0, 2))
    return Q.transpose(0, 2, 1), R.transpose(0, 2, 1)


@pytest.mark.parametrize("s", [1, 2, 3])
@pytest.mark.parametrize(("m", "p"), [(8, 12), (30, 14), (12, 75)])
def test_the_exact_recovery_condition_of_all_supports(m, p, s):
    rng = np.random.default_rng(p)
    A = gaussian(m, p, rng) * rng.uniform(0.1, 10.0, p)
    supports = np.array(list(combinations(range(p), s)))
    if len(supports) > 400:
        supports = supports[rng.choice(len(supports), 400, replace=False)]
    found = omp._exact_recovery(seen_by(A), *factors(A, supports), supports)
    truth = np.array([exact_recovery(A, S) for S in supports])
    holds = truth < 1
    assert holds.any() or s > 1
    np.testing.assert_allclose(found[holds], truth[holds], rtol=1e-9)
    assert (found[~holds] >= 1 - 1e-12).all()
    assert (found <= truth + 1e-9 * truth).all()


def test_where_the_condition_holds_matching_pursuit_recovers_every_signal():
    rng = np.random.default_rng(1)
    A = gaussian(40, 60, rng) * rng.uniform(0.1, 10.0, 60)
    holding = [S for S in (rng.choice(60, 3, replace=False) for _ in range(200)) if exact_recovery(A, S) < 1][:40]
    assert len(holding) == 40
    for S in holding:
        C = np.zeros((30, 60))
        C[:, S] = rng.choice([-1.0, 1.0], (30, 3)) * 10.0 ** rng.uniform(-3, 3, (30, 3))
        found, residuals = recovered_by(seen_by(A), C @ A.T, SOLVERS["omp"], goal(30, tol=1e-10))
        np.testing.assert_allclose(found.codes, C, atol=1e-9 * np.abs(C).max())
        full = np.count_nonzero(found.codes, axis=1) == 3
        np.testing.assert_allclose(found.exact_recovery[full], exact_recovery(A, S), rtol=1e-9)
        assert residuals.max() <= 1e-10


@pytest.mark.parametrize("basis", ["dct", "db4", "bior2.2", "wide"])
@pytest.mark.parametrize("measurement", ["gaussian", "subsampled-dct", "matrix"])
def test_coherence_by_brute_force(measurement, basis, monkeypatch):
    rng = np.random.default_rng(2)
    Psi = chosen_basis(rng.standard_normal((100, 130)) if basis == "wide" else basis, (100,))
    Phi = chosen_measurement(
        rng.standard_normal((20, 100)) if measurement == "matrix" else measurement, 20, (100,), rng
    )
    rows, columns = Phi.apply(np.eye(100)).T, Psi.apply(np.eye(Psi.shape[1])).T
    products = (rows / np.linalg.norm(rows, axis=1)[:, None]) @ (columns / np.linalg.norm(columns, axis=0))
    A = rows @ columns
    A /= np.linalg.norm(A, axis=0)
    measured, mutual = 10 * np.abs(products).max(), np.abs(A.T @ A - np.diag(np.ones(A.shape[1]))).max()
    found = Dictionary(Phi, Psi).coherence
    assert found.coherence_exact
    assert found.coherence == pytest.approx(measured, rel=1e-9)
    assert found.mutual_coherence == pytest.approx(mutual, rel=1e-9)
    monkeypatch.setattr(dictionary, "ENOUGH", 0.0)
    sampled = Dictionary(Phi, Psi).coherence
    assert not sampled.coherence_exact
    assert 0.3 * mutual < sampled.mutual_coherence <= mutual * (1 + 1e-9)
    assert 0.3 * measured < sampled.coherence <= measured * (1 + 1e-9)
    assert of_nothing("omp", 1e-6, 0.0, A.shape, sampled).guaranteed == 0


def test_coherence_between_its_least_and_its_largest():
    """Spikes and cosines are as different as can be; cosines seen by cosines as alike (Candès and Wakin 2008)."""
    spikes, waves = as_map(np.eye(64), "basis"), hadamard(64) / 8
    assert Dictionary(as_map(waves, "measurement"), spikes).coherence.coherence == pytest.approx(1.0)
    assert Dictionary(spikes, spikes).coherence.coherence == pytest.approx(8.0)


def test_as_many_coefficients_as_coherence_guarantees_are_always_recovered():
    """Spikes beside Hadamard's waves, ⟨a, b⟩ = 1/4: any two are told apart, by every solver."""
    A = np.hstack([np.eye(16), hadamard(16) / 4])
    assert seen_by(A).coherence.mutual_coherence == pytest.approx(0.25)
    assert dictionary.guaranteed(seen_by(A).coherence.mutual_coherence) == 2
    rng, supports = np.random.default_rng(3), list(combinations(range(32), 2))
    C = np.zeros((len(supports), 32))
    for row, S in zip(C, supports, strict=True):
        row[list(S)] = rng.choice([-1.0, 1.0], 2) * 10.0 ** rng.uniform(-1, 1, 2)
    for solver, some in (
        ("omp", slice(None)),
        ("fista", slice(None, None, 5)),
        ("basis-pursuit", slice(None, None, 9)),
    ):
        found, _ = recovered_by(seen_by(A), C[some] @ A.T, SOLVERS[solver], goal(len(C[some])))
        np.testing.assert_allclose(found.codes, C[some], atol=1e-8)


@pytest.mark.parametrize("d", [3, 5, 7, 11])
def test_no_more_is_guaranteed_than_a_simplex_allows(d):
    """d + 1 unit vectors that sum to 0: two halves of them have the same sum, so half of d + 1 is too many."""
    rng = np.random.default_rng(d)
    corners = np.linalg.svd(np.eye(d + 1) - 1 / (d + 1))[0][:, :d].T
    for _ in range(10):
        A = random_orthonormal(d, d, rng) @ corners
        assert dictionary.guaranteed(seen_by(A).coherence.mutual_coherence) == (d - 1) // 2


def test_nothing_is_guaranteed_of_a_basis_vector_that_no_measurement_sees():
    A = np.eye(3)[:2]
    assert dictionary.guaranteed(seen_by(A).coherence.mutual_coherence) == 0
    assert dictionary.guaranteed(seen_by(A[:, :2]).coherence.mutual_coherence) >= 2


@pytest.mark.parametrize("z", [0.3, 0.6, 0.9, 1.3, 1.8, 2.3])
def test_the_threshold_is_the_curve_of_donoho_and_tanner(z):
    """In the closed form of Donoho, Maleki and Montanari (2009, PNAS 106, equation 5): points (δ, ρ) by a parameter."""
    beyond = normal.pdf(z) - z * normal.cdf(-z)
    delta, rho = 2 * normal.pdf(z) / (z + 2 * beyond), 1 - z * normal.cdf(-z) / normal.pdf(z)
    p = 10_000_000
    m = round(delta * p)
    assert determined(m, p) / m == pytest.approx(rho, abs=1e-5)
    assert needed(round(rho * m), p) / p == pytest.approx(delta, abs=1e-5)


def test_the_threshold_at_its_ends():
    assert needed(0, 10) == 0.0
    assert needed(10, 10) == 10.0
    assert determined(10, 10) == 10
    assert determined(12, 10) == 10
    assert determined(1, 1000) == 0
    counts = [determined(m, 200) for m in range(1, 200)]
    assert counts == sorted(counts)
    assert all(needed(s, 200) <= m + 1 for m, s in enumerate(counts, 1) if s)


@pytest.mark.parametrize("m", [30, 50, 80])
def test_the_threshold_is_where_recovery_begins(m):
    """Of 30 signals with a quarter fewer coefficients nearly all have the least l1 norm; with a third more, few."""
    rng, p = np.random.default_rng(m), 100
    edge = determined(m, p)

    def share(s):
        hits = 0
        for _ in range(30):
            A, c = gaussian(m, p, rng), sparse_codes(1, p, s, rng)[0]
            hits += least_l1(A, A @ c) >= s * (1 - 1e-7)
        return hits / 30

    assert share(edge - max(3, round(edge / 4))) >= 0.8
    assert share(edge + max(4, round(edge / 3))) <= 0.2


def recovery_of(m, s, solver, p=200, b=10, **asked):
    """The certificate of b signals with s of p coefficients, and the warnings."""
    rng = np.random.default_rng(s + m)
    X = chosen_basis("dct", (p,)).apply(sparse_codes(b, p, s, rng, spread=1.0))
    model = CompressedSensing(m, solver=solver, **asked).fit(X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = model.recover(model.transform(X))
    return found, [str(w.message) for w in caught if issubclass(w.category, AccuracyWarning)], X


@pytest.mark.parametrize("solver", SOLVERS)
def test_hopeless_recoveries_are_announced(solver):
    """Sixty of 200 coefficients need 149 measurements."""
    found, messages, X = recovery_of(60, 60, solver, b=4)
    assert found.certificate.hopeless.all()
    assert not found.certificate.satisfied
    assert (np.linalg.norm(found.signals - X, axis=1) > 0.1 * np.linalg.norm(X, axis=1)).all()
    assert any("60 measurements are too few for the sparsity found: 4 of 4" in text for text in messages)
    assert "NOT recovered, too few measurements for 4 of 4" in str(found.certificate)
    assert "would need about" in str(found.certificate)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("m", "s"), [(60, 5), (100, 15), (150, 30), (200, 150)])
def test_comfortable_recoveries_are_not(solver, m, s):
    found, messages, X = recovery_of(m, s, solver, b=4, measurement="subsampled-dct" if m == 200 else "gaussian")
    assert messages == []
    assert found.certificate.satisfied
    assert not found.certificate.hopeless.any()
    np.testing.assert_allclose(
        found.signals, X, atol=(2e-2 if solver == "fista" and m == 200 else 1e-6) * np.abs(X).max()
    )
    assert "recovered as asked: 4 signals of 200 coefficients" in str(found.certificate)


def test_measurements_that_are_explained_are_not_hopeless():
    """Where the basis is no random one, more coefficients may be found than random measurements would determine."""
    X = sparse_codes(4, 60, 28, np.random.default_rng(5))
    model = CompressedSensing(60, basis=np.hstack([np.eye(60), np.eye(60)]), measurement=np.eye(60)).fit(X)
    found = model.recover(X)
    np.testing.assert_allclose(found.signals, X, atol=1e-12)
    assert (found.certificate.sparsity > found.certificate.determined).all()
    assert found.certificate.converged.all()
    assert not found.certificate.hopeless.any()
    assert found.certificate.alike  # every basis vector stands there twice


def test_the_certificate_counts_what_is_there():
    found, _, _ = recovery_of(80, 7, "omp")
    certificate = found.certificate
    assert np.array_equal(certificate.support_size, np.count_nonzero(found.coefficients, axis=1))
    for c, sparsity in zip(found.coefficients, certificate.sparsity, strict=True):
        energy = np.cumsum(np.sort(c**2)[::-1])
        assert energy[sparsity - 1] >= 0.999 * energy[-1]
        assert sparsity == 1 or energy[sparsity - 2] < 0.999 * energy[-1]
    assert certificate.determined == determined(80, 200)
    assert certificate.needed == int(np.ceil(needed(int(certificate.sparsity.max()), 200)))
    assert np.array_equal(certificate.exact_recovery_holds, certificate.exact_recovery < 1)


def test_a_solver_that_is_cut_short_is_announced():
    found, messages, _ = recovery_of(100, 10, "fista", max_iter=10)
    short = np.count_nonzero(~found.certificate.converged)
    assert short
    assert not found.certificate.satisfied
    assert len(messages) == 1
    assert f"did not converge to tol=1e-06 for {short} of 10 signals" in messages[0]
    assert re.search(
        r"residual at most \S+ of the measurements, duality gap at most \S+ of the objective;", messages[0]
    )
    assert "raise max_iter=" in messages[0]
    assert f"NOT as accurate as asked for {short} of 10" in str(found.certificate)


def test_the_table_shows_the_first_signals():
    found, _, _ = recovery_of(100, 3, "omp", b=15)
    text = str(found.certificate)
    assert text.count("least l1 norm") == 12
    assert "… and 3 more" in text
    assert "holds: " in text or "not guaranteed" in text
    rich, _, _ = recovery_of(100, 90, "fista", b=1)
    assert "lasso" in str(rich.certificate)
    assert "exact recovery" not in str(rich.certificate)

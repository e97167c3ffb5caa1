"""What is said of a recovery where the answer is wrong, or only seems to be."""

import warnings

import numpy as np
import pytest
from scipy.fft import dct, idct
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from helpers.counts import usually
from helpers.matrices import random_array
from helpers.signals import gaussian, goal, seen_by, sparse_codes
from ritz import CompressedSensing, compare
from ritz.datasets import rotating_object
from ritz.errors import AccuracyWarning, DataError
from ritz.sensing import SOLVERS
from ritz.sensing.base import Goal, _rounding, lasso_gap, pursuit_gap
from ritz.sensing.lasso import lasso
from ritz.sensing.maps import Map
from ritz.sensing.phase_transition import telling
from ritz.sensing.recovery import recovered

pytestmark = pytest.mark.usefixtures("one_thread")

N = 256
EYE = np.eye(N)
SPIKES = sparse_codes(4, N, 8, np.random.default_rng(0), spread=1.0)
TONES = idct(SPIKES, norm="ortho")


def asked(X, Y=None, **options):
    """Relative errors, the certificate, and what was said."""
    model = CompressedSensing(**options).fit(X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        back = model.inverse_transform(model.transform(X) if Y is None else Y)
    errors = np.linalg.norm(back - X, axis=1) / np.linalg.norm(X, axis=1)
    return errors, model.certificate_, [str(w.message) for w in caught if w.category is AccuracyWarning]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("X", "options"),
    [
        (TONES, {"n_measurements": 64, "measurement": np.kron(np.eye(64), np.ones((1, 4))) / 2}),  # means of four
        (SPIKES, {"n_measurements": 128, "measurement": EYE[::2], "basis": EYE}),  # half of the spikes are never seen
        (EYE[:50], {"n_measurements": 8, "measurement": "bernoulli", "basis": EYE}),  # 256 columns of 8 signs
    ],
    ids=["alike", "unseen", "drawn alike"],
)
def test_what_cannot_be_told_apart_is_not_called_recovered(solver, X, options):
    errors, certificate, said = asked(X, solver=solver, **options)
    assert errors.max() > 0.5
    assert certificate.alike
    assert not certificate.verdict.startswith("recovered")
    assert any("have the same measurements, or none" in text for text in said)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("m", [128, 256])
def test_measurements_that_repeat_each_other_count_once(solver, m):
    rng = np.random.default_rng(1)
    errors, certificate, said = asked(
        TONES, n_measurements=m, measurement=rng.standard_normal((m, 30)) @ rng.standard_normal((30, N)), solver=solver
    )
    assert errors.max() > 0.5
    assert certificate.rank == 30
    assert "of rank 30" in certificate.remarks[0]
    np.testing.assert_array_equal(certificate.hopeless, errors > 1e-6)
    np.testing.assert_array_equal(certificate.doubtful, errors <= 1e-6)  # nobody knows what they were made of
    assert not certificate.satisfied
    assert len(said) == 1 + certificate.doubtful.any()


@pytest.mark.parametrize("solver", SOLVERS)
def test_measurements_of_another_seed_are_noticed(solver):
    Y = CompressedSensing(64).fit(TONES).transform(TONES)
    for sparsity in (None, 8):
        errors, certificate, said = asked(TONES, Y, n_measurements=64, random_state=1, solver=solver, sparsity=sparsity)
        assert errors.min() > 0.9
        assert not certificate.explained.any()
        assert len(said) == 1


@pytest.mark.parametrize("solver", SOLVERS)
def test_digits_lost_by_float32_are_no_alarm(solver):
    errors, certificate, said = asked(TONES.astype(np.float32), n_measurements=64, solver=solver)
    assert errors.max() < 1e-6
    assert certificate.verdict.startswith("recovered as asked")
    assert not said


@pytest.mark.parametrize("solver", ["fista", "basis-pursuit"])
def test_the_least_l1_norm_with_fewer_coefficients_than_measurements_is_no_alarm(solver):
    X = idct(sparse_codes(4, N, 118, np.random.default_rng(2)), norm="ortho")
    errors, certificate, said = asked(X, n_measurements=230, solver=solver)
    assert errors.max() < 1e-9
    assert certificate.explained.all()
    assert not said


def test_too_few_iterations_are_not_called_too_few_measurements():
    _, certificate, said = asked(TONES, n_measurements=64, solver="fista", max_iter=2)
    assert not certificate.hopeless.any()
    assert not certificate.converged.any()
    assert len(said) == 1
    assert "raise max_iter" in said[0]


def test_the_numbers_of_a_warning_are_those_of_the_signals_it_is_about():
    """A signal that takes 90 coefficients, and is right, beside one of 8 in which every measurement is a little off."""
    X = idct(np.vstack([sparse_codes(1, N, 90, np.random.default_rng(3)), SPIKES[:1]]), norm="ortho")
    Y = CompressedSensing(200).fit(X).transform(X)
    Y[1] += 1e-3 * np.random.default_rng(4).standard_normal(200)
    _, certificate, said = asked(X, Y, n_measurements=200, solver="basis-pursuit")
    assert certificate.hopeless.tolist() == [False, True]
    assert "1 of 2 signals have up to 8 coefficients" in said[0]
    assert "say how much noise there is" in said[0]


@pytest.mark.parametrize("solver", ["omp", "fista"])
def test_a_noise_that_drowns_the_signals(solver):
    errors, certificate, said = asked(TONES, n_measurements=64, noise=10.0, solver=solver)
    assert (errors == 1).all()
    assert not certificate.explained.any()
    assert "nothing stands above noise=10 in 4 of 4 signals" in said[0]


@pytest.mark.parametrize("solver", ["omp", "fista"])
def test_a_basis_that_cannot_give_the_measurements(solver):
    few = idct(EYE, axis=0, norm="ortho")[:, :20]
    errors, certificate, said = asked(TONES, n_measurements=64, basis=few, noise=1e-3, solver=solver)
    assert errors.min() > 0.9
    assert not certificate.explained.any()
    assert len(said) == 1


@pytest.mark.parametrize("solver", ["omp", "fista"])
def test_noise_far_below_the_signals(solver):
    errors, certificate, said = asked(TONES, n_measurements=100, noise=1e-10, solver=solver)
    assert errors.max() < 1e-9
    assert certificate.explained.all()
    assert not said


def test_guarantees_are_for_columns_of_length_1():
    B = np.eye(200)
    B[:, 0] *= 0.01
    for solver in SOLVERS:
        model = CompressedSensing(100, basis=B, solver=solver).fit(B)
        right = np.allclose(model.inverse_transform(model.transform(B[:, :1].T)), B[:, :1].T, atol=1e-6)
        assert right or not model.certificate_.guaranteed
    assert CompressedSensing(100, basis=B).fit(B).certificate_.guaranteed == 1


def test_columns_of_own_measurements_that_are_known_by_their_products():
    """Lengths from 0.01 to 1, which a matrix too large to be held must not hide."""
    rng = np.random.default_rng(5)
    w, C = 10.0 ** rng.uniform(-2, 0, 2048), sparse_codes(4, 2048, 30, rng)
    M = (rng.standard_normal((1026, 2048)) / 1026**0.5 * w) @ dct(np.eye(2048), norm="ortho", axis=0)
    errors, certificate, said = asked(idct(C, norm="ortho"), n_measurements=1026, measurement=aslinearoperator(M))
    assert errors.max() < 1e-9
    assert certificate.verdict.startswith("explained")
    assert not said


def test_a_sparse_matrix_that_is_changed_later():
    rng = np.random.default_rng(6)
    M = random_array((20, N), density=0.3, format="csr", rng=rng)
    model = CompressedSensing(20, measurement=M).fit(TONES)
    before = model.transform(TONES)
    M.data *= 2
    np.testing.assert_array_equal(model.transform(TONES), before)


def test_a_fit_looks_at_few_columns_of_a_large_basis():
    asked_for = []

    def forth(c):
        asked_for.append(1 if c.ndim == 1 else c.shape[1])
        return c

    B = LinearOperator((16_384, 16_384), matvec=forth, rmatvec=forth, matmat=forth, rmatmat=forth, dtype=float)
    CompressedSensing(0.3, basis=B, measurement="subsampled-dct", solver="fista").fit(np.ones((1, 16_384)))
    assert sum(asked_for) < 200


def test_gaps_include_rounding():
    """A minimiser, exactly: what the gap says beyond 0 is rounding, and it says that much."""
    rng = np.random.default_rng(7)
    A = seen_by(gaussian(40, 40, rng))
    code, dual = np.eye(40)[:1], np.linalg.solve(A.held.entries.T, np.eye(40)[0])[None]
    assert _rounding(A) > 40 * np.finfo(float).eps
    assert pursuit_gap(A, code, dual)[0] >= _rounding(A) * np.linalg.norm(dual)
    residual = np.linalg.solve(A.held.entries.T, 0.1 * np.eye(40)[0])[None]
    assert lasso_gap(A, code, residual, np.array([0.1]))[0] > 0


def test_maps_say_whether_they_were_drawn():
    drawn: Map = CompressedSensing(8).fit(TONES).measurement_
    given: Map = CompressedSensing(8, measurement=EYE[:8]).fit(TONES).measurement_
    assert drawn.random
    assert not given.random
    assert CompressedSensing(8, measurement="subsampled-dct").fit(TONES).measurement_.random


def test_measurements_span_no_subspace_of_the_columns():
    model = CompressedSensing(8).fit(TONES)
    with pytest.raises(DataError, match="CompressedSensing has no subspace of its columns to compare"):
        compare(model, model)


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("solver", ["omp", "fista"])
def test_noise_does_not_hide_too_few_measurements(solver, share):
    """Sixty of 1000 coefficients from 100 measurements, with noise that is known."""
    X = idct(sparse_codes(5, 1000, 60, np.random.default_rng(8)), norm="ortho")
    Y = CompressedSensing(100).fit(X).transform(X)
    noise = share * float(np.linalg.norm(Y)) / Y.size**0.5
    Y = Y + noise * np.random.default_rng(9).standard_normal(Y.shape)
    errors, certificate, said = asked(X, Y, n_measurements=100, noise=noise, solver=solver)
    assert errors.min() > 0.5
    assert not certificate.explained.any()
    assert said


def test_a_loose_tolerance_explains_nothing():
    X = np.random.default_rng(10).standard_normal((5, 1000))
    errors, certificate, _ = asked(X, n_measurements=100, tol=0.1)
    assert errors.min() > 0.9
    assert not certificate.explained.any()


@pytest.mark.parametrize(("solver", "decades"), [("fista", 1), ("basis-pursuit", 4)])
@pytest.mark.parametrize("sparsity", [None, 70])
def test_digits_lost_by_float32_with_small_coefficients(solver, decades, sparsity):
    rng = np.random.default_rng(11)
    codes = sparse_codes(6, N, 20, rng) * 10.0 ** -rng.uniform(0, decades, (6, N))
    X = idct(codes, norm="ortho")
    Y = CompressedSensing(128).fit(X).transform(X).astype(np.float32)
    errors, certificate, said = asked(X, Y, n_measurements=128, solver=solver, sparsity=sparsity)
    assert errors.max() < 1e-5
    assert certificate.explained.all()
    assert not said


def test_matching_pursuit_says_that_it_stopped_at_half_of_the_measurements():
    X = idct(sparse_codes(2, 99, 36, np.random.default_rng(12)), norm="ortho")
    _, certificate, said = asked(X, n_measurements=70)
    assert (certificate.support_size == 35).all()
    assert "solver='fista'" in said[0] or "too few for the sparsity" in said[0]
    errors, _, said = asked(X, n_measurements=80, solver="fista")
    assert errors.max() < 1e-9
    assert not said


@pytest.mark.parametrize("solver", ["omp", "basis-pursuit"])
def test_as_many_measurements_as_entries_explain_anything(solver):
    """What is off by a noise that nobody spoke of has an exact explanation too, but no telling one."""
    X = idct(sparse_codes(3, 64, 3, np.random.default_rng(13)), norm="ortho")
    Y = CompressedSensing(64).fit(X).transform(X)
    Y = Y + 0.02 * np.random.default_rng(14).standard_normal(Y.shape)
    _, certificate, _ = asked(X, Y, n_measurements=64, solver=solver)
    assert not certificate.verdict.startswith("recovered")


def test_noise_stays_within_its_level():
    """But for a chance of 1/m (Cai and Wang 2011); and a level much larger would hide signals."""
    rng = np.random.default_rng(15)
    for m in (16, 64, 256):
        noise = 0.3 * rng.standard_normal((20_000, m))
        level = Goal(np.full(1, 0.3)).level(m)[0]
        assert (np.linalg.norm(noise, axis=1) > level).mean() <= 1 / m
        assert level < 1.5 * 0.3 * m**0.5


@pytest.mark.parametrize(("second", "counted"), [(0.0, 1), (0.03, 1), (0.04, 2)])
def test_coefficients_count_by_their_energy(second, counted):
    """All but a thousandth of it."""
    X = idct(np.eye(N)[:1] + second * np.eye(N)[1:2], norm="ortho")
    _, certificate, _ = asked(X, n_measurements=64)
    assert certificate.sparsity.tolist() == [counted]
    assert certificate.support_size.tolist() == [1 + (second > 0)]


def test_an_explanation_is_worth_what_chance_leaves_it():
    """The share of random directions within ρ of one of C(p, s) spans, by simulation, where chance explains much."""
    rng = np.random.default_rng(16)
    p, s, m = 12, 2, 5
    A = seen_by(gaussian(m, p, rng))
    Y = rng.standard_normal((2_000, m))
    outcome = recovered(A, Y, SOLVERS["omp"], goal(len(Y), sparsity=s))
    told = telling(np.full(len(Y), s), outcome.residuals, m, p)
    assert told.mean() <= 2e-3
    assert telling(np.array([s]), np.array([1e-9]), m, p).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_max_iter_is_named_where_it_was_too_small(solver):
    _, certificate, said = asked(TONES, n_measurements=128, solver=solver, max_iter=3)
    assert not certificate.converged.any()
    assert said[0].endswith("raise max_iter=3")


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_best_that_the_arithmetic_allows(solver):
    errors, certificate, said = asked(TONES, n_measurements=128, solver=solver, tol=0.0)
    assert errors.max() < 1e-12
    assert certificate.satisfied
    assert not said


def test_a_coefficient_a_million_times_smaller_than_the_others():
    """At the accuracy that is asked for: found by fista too."""
    X = sparse_codes(1, 400, 40, np.random.default_rng(17))
    X[0, np.flatnonzero(X)[0]] = 3e-5
    errors, certificate, said = asked(X, n_measurements=200, basis=np.eye(400), solver="fista")
    assert errors.max() < 1e-9
    assert certificate.satisfied
    assert not said


def test_measurements_that_are_all_zero():
    _, certificate, said = asked(TONES, np.ones((4, 8)), n_measurements=8, measurement=np.zeros((8, N)))
    assert certificate.rank == 0
    assert not certificate.satisfied
    assert not any("match any data" in text for text in said)


def test_whatever_is_warned_of_is_not_satisfied():
    noise = np.random.default_rng(18).standard_normal((2, 400))
    for options in ({"sparsity": 20}, {"sparsity": 20, "solver": "fista"}, {"noise": 100.0}, {}):
        _, certificate, said = asked(noise, n_measurements=100, **options)
        assert said
        assert not certificate.satisfied


def test_images_in_three_dimensions_are_told_how_to_come():
    with pytest.raises(DataError, match=r"shape \(5, 8, 8\); signals are rows: pass X.reshape\(len\(X\), -1\)"):
        CompressedSensing(8, signal_shape=(8, 8)).fit(np.ones((5, 8, 8)))


def test_signals_that_are_too_rich_end_before_their_support_is_full():
    """More coefficients than half way to m make neither images nor noise better, and take thousands of steps."""
    rng = np.random.default_rng(3)
    decaying = rng.standard_normal((3, 512)) / np.arange(1, 513) ** 0.8
    noise = rng.standard_normal((3, 512))
    for X in (decaying, noise):
        errors, certificate, said = asked(X, n_measurements=150, basis=np.eye(512), solver="fista")
        assert errors.min() > 0.1
        assert certificate.hopeless.all()
        assert certificate.converged.all()
        assert certificate.duality_gap.max() <= 1e-6
        assert certificate.support_size.max() < 0.98 * 150
        assert certificate.iterations.max() < 3000
        assert len(said) == 1
        assert "too few for the sparsity" in said[0] or "match any data" in said[0]


def test_a_support_that_is_full_costs_nothing_in_accuracy():
    """The answer above the penalty that fills the support is as near as the one below."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((b := usually(4, thorough=8), 1024)) / np.arange(1, 1025) ** 0.8
    model = CompressedSensing(200, basis=np.eye(1024), solver="fista").fit(X)
    Y = model.transform(X)
    with pytest.warns(AccuracyWarning):
        above = np.linalg.norm(model.inverse_transform(Y) - X, axis=1)
    A, lengths = seen_by(model.measurement_.entries), np.linalg.norm(Y, axis=1, keepdims=True)
    penalties = model.certificate_.penalty / 10
    below, _, _ = lasso(A, Y / lengths, penalties, np.zeros_like(X), 1e-4, np.full(b, 5000))
    assert (np.count_nonzero(below, axis=1) > 0.95 * 200).all()
    assert np.median(above / np.linalg.norm(below * lengths - X, axis=1)) < 1.02


def test_supports_that_crowd_are_still_recovered_near_the_transition():
    """Where l1 recovers, supports on the way hold up to 95 % of the measurements, of which most come out as 0."""
    C = sparse_codes(20, 400, 64, np.random.default_rng(5), spread=1.0)
    errors, certificate, _ = asked(C, n_measurements=200, basis=np.eye(400), solver="fista")
    right = errors < 1e-4
    assert right.mean() >= 0.9
    assert certificate.explained[right].all()
    assert not certificate.explained[~right].any()


def decades(b, s, p, seed, spread):
    """Coefficients of random sign whose sizes spread over so many decades, or normal ones."""
    rng = np.random.default_rng(seed)
    codes = np.zeros((b, p))
    for row in codes:
        sizes = 10 ** rng.uniform(-spread, 0, s) * rng.choice([-1, 1], s) if spread else rng.standard_normal(s)
        row[rng.choice(p, s, replace=False)] = sizes
    return codes


NEAR_THE_TRANSITION = [
    (400, 200, 65, 3, 23),
    (200, 150, 68, 0, 24),
    (200, 190, 136, 0, 15),
    (400, 200, 53, 5, 25),
    (400, 200, 73, 3, 20),
    (400, 300, 152, 0, 10),
    (400, 200, 100, 3, 0),
    (200, 199, 154, 0, 23),
]


@pytest.mark.parametrize(
    ("p", "m", "s", "spread", "least"), usually(NEAR_THE_TRANSITION[:4], thorough=NEAR_THE_TRANSITION)
)
def test_no_signal_near_the_transition_is_lost_without_a_word(p, m, s, spread, least):
    """Recovered, or not converged, or hopeless: whatever their sizes, and however full supports are on the way."""
    C = decades(25, s, p, 7, spread)
    errors, certificate, said = asked(C, n_measurements=m, basis=np.eye(p), solver="fista")
    right = errors < 1e-5
    assert right.sum() >= least
    assert (right | certificate.hopeless | ~certificate.converged).all()
    assert not (right & certificate.hopeless).any()
    assert not (~right & certificate.explained).any()
    assert bool(said) == bool((~right).any())


@pytest.mark.parametrize("measurement", ["gaussian", "bernoulli", "subsampled-dct"])
@pytest.mark.parametrize("basis", ["dct", "haar", "bior2.2"])
def test_as_many_measurements_as_entries_determine_anything(measurement, basis):
    pytest.importorskip("pywt")
    X = np.random.default_rng(0).standard_normal((3, 128))
    errors, certificate, said = asked(X, n_measurements=128, basis=basis, measurement=measurement, solver="fista")
    assert errors.max() < 1e-10
    assert certificate.duality_gap.max() < 1e-8
    assert certificate.satisfied
    assert not said


def test_measurements_given_twice_are_recovered_as_if_given_once():
    """It is the rank that supports come near."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((3, 512)) / np.arange(1, 513) ** 0.8
    P = rng.standard_normal((75, 512)) / np.sqrt(75)
    once = asked(X, n_measurements=75, measurement=P, basis=np.eye(512), solver="fista")
    twice = asked(X, n_measurements=150, measurement=np.vstack([P, P]) / np.sqrt(2), basis=np.eye(512), solver="fista")
    np.testing.assert_allclose(twice[0], once[0], rtol=1e-2)
    assert twice[1].converged.all()
    assert twice[1].hopeless.all()


def test_a_sparsity_that_was_asked_for_is_not_called_hopeless():
    """Full supports are those of the lasso; what was asked for has few coefficients."""
    X = np.random.default_rng(3).standard_normal((3, 512)) / np.arange(1, 513) ** 1.2
    for sparsity, hopeless in ((None, True), (20, False)):
        _, certificate, _ = asked(X, n_measurements=100, basis=np.eye(512), solver="fista", sparsity=sparsity)
        assert (certificate.hopeless == hopeless).all()


def test_supports_that_fill_are_hopeless_however_few_coefficients_count():
    """Small coefficients without end: those that count are few enough to be determined, and come out wrong."""
    rng = np.random.default_rng(8)
    X = rng.choice([-1, 1], (4, 512)) * rng.permuted(np.tile(np.arange(1, 513) ** -1.2, (4, 1)), axis=1)
    errors, certificate, said = asked(X, n_measurements=200, basis=np.eye(512), solver="fista")
    assert errors.min() > 0.05
    assert (certificate.sparsity <= certificate.determined).all()
    assert certificate.hopeless.all()
    assert len(said) == 1


def test_noise_that_is_given_ends_the_penalties_however_full_the_support():
    """The last penalty above would depend on where the ladder has its rungs."""
    X = np.random.default_rng(9).standard_normal((1, 512))
    model = CompressedSensing(200, basis=np.eye(512), solver="fista").fit(X)
    Y, Phi = model.transform(X), model.measurement_.entries
    lowest = 0.004 * np.abs(Y @ Phi).max()
    sigma = lowest / np.sqrt(2 * np.log(512)) / np.sqrt(np.square(Phi).sum() / 512)
    _, certificate, said = asked(X, n_measurements=200, basis=np.eye(512), solver="fista", noise=sigma)
    assert certificate.support_size[0] > 0.97 * 200
    np.testing.assert_allclose(certificate.penalty * np.linalg.norm(Y), lowest)
    assert certificate.hopeless.all()
    assert len(said) == 1


def test_coefficients_without_end_are_approximated_in_few_iterations():
    """Those of k⁻² grow slowly but on and on: further down is no recovery, and takes five times as long."""
    rng = np.random.default_rng(8)
    X = rng.choice([-1, 1], (3, 512)) * rng.permuted(np.tile(np.arange(1, 513) ** -2.0, (3, 1)), axis=1)
    errors, certificate, said = asked(X, n_measurements=200, basis=np.eye(512), solver="fista")
    assert errors.max() < 0.01
    assert certificate.iterations.max() < 600
    assert certificate.verdict.startswith("approximated")
    assert not said


def test_crowds_of_coefficients_are_not_followed_further_down():
    pytest.importorskip("pywt")
    image, asks = rotating_object(1, 64), {"basis": "sym8", "signal_shape": (64, 64), "solver": "fista"}
    errors, certificate, said = asked(image, n_measurements=1638, measurement="subsampled-dct", **asks)
    assert errors.max() < 0.1
    assert certificate.iterations.max() < 1000
    assert certificate.hopeless.all()
    assert "match any data" in said[0]

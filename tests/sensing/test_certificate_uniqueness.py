"""Whether what explains discrete measurements is the signal: signs, sampled transforms, and matrices of your own."""

import warnings
from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.linalg import hadamard

import ritz
from helpers.commands import run
from helpers.models import with_tree
from helpers.signals import sparse_codes
from ritz import AccuracyWarning, CompressedSensing
from ritz.sensing import SOLVERS
from ritz.sensing.bases import chosen_basis
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.measurements import chosen_measurement
from ritz.sensing.phase_transition import CHANCE, NEAR, alone, apart, noisy_needed, signs_needed

pytestmark = pytest.mark.usefixtures("one_thread")

DISCRETE = ["bernoulli", "subsampled-dct"]


def found_by(model, X, Y=None):
    """Whether every signal came back, what is said of all, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = model.recover(model.transform(X) if Y is None else Y)
    right = np.linalg.norm(found.signals - X, axis=1) <= 1e-5 * np.linalg.norm(X, axis=1)
    return right, found.certificate, [str(w.message) for w in caught if issubclass(w.category, AccuracyWarning)]


def spaces(n):
    """Bases of two and three dimensions: sparse, with equal entries, dense."""
    rng = np.random.default_rng(0)
    yield np.eye(n)[:2]
    yield np.eye(n)[:2] + np.eye(n)[2:4]
    yield np.eye(n)[:3]
    yield np.array([[1.0, 1, 1, 1] + [0.0] * (n - 4), [1.0, -1, 0, 0] + [0.0] * (n - 4)])
    yield rng.integers(-2, 3, (3, n)).astype(float)
    yield rng.standard_normal((3, n))


@pytest.mark.parametrize("m", [2, 3, 5, 7])
def test_signs_send_a_vector_of_a_space_to_zero_as_seldom_as_bits_do(m):
    """A chance of at most 2^(k − m) for k dimensions, by simulation."""
    draws = 4_000
    for V in spaces(8):
        signs = np.random.default_rng(m).choice([-1.0, 1.0], (draws, m, V.shape[1]))
        lost = np.linalg.matrix_rank(signs @ V.T) < len(V)
        bound = 2.0 ** (len(V) - m)
        assert lost.mean() <= bound + 4 * np.sqrt(min(bound, 1.0) / draws)


def test_how_many_signs_leave_no_doubt():
    for s, p in [(0, 10), (1, 32), (5, 32), (20, 1024), (100, 30_000)]:
        m = signs_needed(s, p)
        assert comb(p, s) * 2.0 ** (s + 1 - m) <= CHANCE < comb(p, s) * 2.0 ** (s + 2 - m)
        assert alone(np.array([s]), np.zeros(1), m, p).all()
        assert not alone(np.array([s]), np.zeros(1), m - 1, p).any()
        assert not alone(np.array([s]), np.full(1, 0.9), m, p).any()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("measurement", DISCRETE)
def test_no_wrong_signal_of_few_discrete_measurements_is_called_recovered(measurement, solver):
    """Five of 32 coefficients, 13 measurements: fewer than 13 coefficients may explain them, and be wrong."""
    rng, wrong = np.random.default_rng(1), 0
    for seed in range(12):
        model = CompressedSensing(13, basis=np.eye(32), measurement=measurement, solver=solver, random_state=seed)
        X = np.vstack([sparse_codes(2, 32, 5, rng), sparse_codes(2, 32, 5, rng, spread=1.0)])
        right, certificate, said = found_by(model.fit(X), X)
        assert not certificate.unique[~right].any()
        assert not certificate.verdict.startswith("recovered")
        warned = certificate.doubtful | certificate.hopeless | ~certificate.converged | certificate.alike
        assert warned[~right].all()
        assert bool(said) == (not certificate.satisfied)
        if certificate.doubtful.any():
            assert any("explained as well by others" in text and "'gaussian'" in text for text in said)
        wrong += int((certificate.explained & ~right).sum())
    assert wrong or solver == "omp"


@pytest.mark.parametrize("solver", ["omp", "fista"])
@pytest.mark.parametrize("basis", ["dct", "eye"])
@pytest.mark.parametrize("measurement", DISCRETE)
def test_enough_discrete_measurements_recover(measurement, basis, solver):
    basis = np.eye(256) if basis == "eye" else basis
    model = CompressedSensing(100, basis=basis, measurement=measurement, solver=solver).fit(np.zeros((1, 256)))
    X = model.basis_.apply(np.vstack([sparse_codes(2, 256, 8, np.random.default_rng(2)), np.eye(256)[:2]]))
    right, certificate, said = found_by(model, X)
    assert right.all()
    assert certificate.unique.all()
    assert certificate.satisfied
    assert certificate.verdict.startswith("recovered as asked")
    assert not said


def test_more_signs_are_asked_for_where_there_can_be_more():
    X = sparse_codes(1, 256, 8, np.random.default_rng(3))
    for m, doubt in ((64, True), (signs_needed(8, 256), False)):
        right, certificate, said = found_by(CompressedSensing(m, basis=np.eye(256), measurement="bernoulli").fit(X), X)
        assert right.all()
        assert certificate.doubtful.any() == doubt
        assert certificate.satisfied != doubt
        assert doubt == any(f"measure more (about {signs_needed(8, 256)} are enough" in text for text in said)
    assert certificate.verdict.startswith("recovered")


@pytest.mark.parametrize(("p", "m", "s"), [(32, 13, 3), (32, 20, 5), (64, 32, 6), (128, 64, 6)])
def test_noise_hides_no_part_of_a_signal_that_is_called_recovered(p, m, s):
    """What is missing is no longer than some residuals; with fewer measurements there is doubt."""
    rng, far = np.random.default_rng(m), 0
    for seed in range(25):
        model = CompressedSensing(m, noise=0.03, random_state=seed).fit(np.zeros((1, p)))
        X = model.basis_.apply(sparse_codes(20, p, s, rng))
        Y = model.transform(X) + 0.03 * rng.standard_normal((20, m))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = model.recover(Y)
        certificate, level = found.certificate, 0.03 * np.sqrt(m + 2 * np.sqrt(m * np.log(m)))
        wrong = np.linalg.norm(found.signals - X, axis=1) > (NEAR + 1) * level
        assert not (certificate.unique & wrong).any()
        assert (certificate.explained & wrong <= certificate.doubtful).all()
        if certificate.doubtful.any():
            assert not certificate.satisfied
            assert any("so few measurements with noise" in str(w.message) for w in said)
        far += int((certificate.explained & wrong).sum())
    assert far or m == 64
    if m == 64:
        assert certificate.verdict.startswith("recovered as asked")


def test_how_much_of_a_random_direction_a_span_leaves():
    """By simulation: at most as often as the rule says."""
    rng = np.random.default_rng(0)
    for r, s in ((6, 2), (8, 5), (10, 1)):
        directions = rng.standard_normal((200_000, r))
        left = np.linalg.norm(directions[:, s:], axis=1) / np.linalg.norm(directions, axis=1)
        for p in (12, 20, 40):
            chance = comb(p, s) * (left <= 1 / NEAR).mean()
            if not 0.5 * CHANCE < chance < 2 * CHANCE:
                assert apart(np.array([s]), np.array([0.1]), r, p).all() == (chance <= CHANCE)
    for s, p in ((3, 32), (10, 1000)):
        m = noisy_needed(s, p)
        assert [bool(apart(np.array([s]), np.array([0.1]), r, p)[0]) for r in (m - 1, m)] == [False, True]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["signs", "bits", "integers", "waves"])
def test_two_explanations_by_measurements_of_your_own(kind, solver):
    """Two signals of as many coefficients that look the same: whichever comes back is not called the one."""
    rng = np.random.default_rng(4)
    if kind == "waves":  # a comb of spikes is a comb of waves
        A = np.hstack([np.eye(16), hadamard(16) / 4])
        C = np.array([[1.0, 0, 0, 0] * 4 + [0.0] * 16, [0.0] * 16 + [1.0] * 4 + [0.0] * 12])
    else:
        A = {
            "signs": rng.choice([-1.0, 1.0], (12, 24)),
            "bits": rng.integers(0, 2, (12, 24)),
            "integers": rng.integers(-3, 4, (12, 24)),
        }[kind].astype(float)
        A[:, 3] = A[:, 0] + A[:, 1] - A[:, 2]
        C = np.eye(24)[[0, 2]] + np.eye(24)[[1, 3]]
    p = A.shape[1]
    np.testing.assert_allclose(A @ C[0], A @ C[1], atol=1e-12)
    model = CompressedSensing(len(A), basis=np.eye(p), measurement=A, solver=solver).fit(np.zeros((1, p)))
    right, certificate, said = found_by(model, C)
    assert not right.all()
    assert not certificate.unique.any()
    assert not certificate.satisfied
    assert said


def test_what_coherence_proves_is_not_doubted():
    """Spikes beside Hadamard's waves, ⟨a, b⟩ = 1/4: no two pairs have the same sum."""
    A = np.hstack([np.eye(16), hadamard(16) / 4])
    C = np.array([np.isin(np.arange(32), S) for S in list(combinations(range(32), 2))[::9]], float)
    right, certificate, said = found_by(CompressedSensing(16, basis=np.eye(32), measurement=A).fit(C), C)
    assert right.all()
    assert certificate.satisfied
    assert certificate.verdict.startswith("explained as asked")
    assert not said


def test_square_matrices_of_signs_may_be_singular():
    rng = np.random.default_rng(5)
    for seed in range(12):
        Phi = chosen_measurement("bernoulli", 6, (6,), np.random.default_rng(seed))
        rank = np.linalg.matrix_rank(Phi.entries)
        assert Dictionary(Phi, chosen_basis("dct", (6,))).coherence.rank == rank
        X = rng.standard_normal((2, 6))
        model = CompressedSensing(6, measurement="bernoulli", solver="basis-pursuit", random_state=seed).fit(X)
        right, certificate, _ = found_by(model, X)
        assert right.all() == certificate.satisfied == (rank == 6)


def test_a_file_tells_signs_from_numbers(tmp_path):
    """Also where the parameter was changed after the fit."""
    X = sparse_codes(2, 32, 2, np.random.default_rng(6))
    own = np.random.default_rng(7).choice([-1.0, 1.0], (16, 32))
    for kind, measurement in (("bernoulli", "bernoulli"), ("gaussian", "gaussian"), ("own", own)):
        for later in (measurement, "gaussian", "bernoulli", np.eye(32)[:16]):
            model = CompressedSensing(16, basis=np.eye(32), measurement=measurement).fit(X)
            Y = model.transform(X)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AccuracyWarning)
                model.inverse_transform(Y)
            model.set_params(measurement=later).save(tmp_path / "m")
            loaded = ritz.load(tmp_path / "m")
            assert loaded.certificate_.verdict == model.certificate_.verdict
            assert loaded.certificate_.satisfied == model.certificate_.satisfied == (kind == "gaussian")
            assert loaded.measurement_.random == (kind != "own")
            assert loaded.measurement_.generic == loaded._state.dictionary.coherence.generic == (kind == "gaussian")
            _, certificate, said = found_by(loaded, X, Y)
            assert certificate.verdict == model.certificate_.verdict
            assert bool(said) == (kind != "gaussian")


def test_a_file_from_before_signs_were_told_apart(tmp_path):
    """The certificate lacks a word, and the matrix says it."""

    def older(tree):
        del tree["certificate"]["generic"]

    X = sparse_codes(2, 32, 2, np.random.default_rng(8))
    for measurement in ("gaussian", "bernoulli"):
        CompressedSensing(16, basis=np.eye(32), measurement=measurement).fit(X).save(tmp_path / "m")
        with_tree(tmp_path / "m", older)
        assert ritz.load(tmp_path / "m").certificate_.generic == (measurement == "gaussian")


def test_the_command_line_ends_with_4_where_there_is_doubt(tmp_path):
    X = sparse_codes(3, 32, 2, np.random.default_rng(9))
    for measurement, code in (("bernoulli", 4), ("gaussian", 0)):
        model = CompressedSensing(20, basis=np.eye(32), measurement=measurement).fit(X)
        np.save(tmp_path / "y.npy", model.transform(X))
        model.save(tmp_path / "m.safetensors")
        paths = [tmp_path / name for name in ("m.safetensors", "y.npy", f"{measurement}.npy")]
        said = run("inverse", *paths[:2], "-o", paths[2], code=code).stderr
        assert ("perhaps not by the signal measured, for 3 of 3" in said) == bool(code)
        np.testing.assert_allclose(np.load(paths[2]), X, atol=1e-9)


def test_as_many_columns_as_measurements_are_never_apart():
    """They span all there is, and would explain anything; only a residual of rounding leaves no doubt."""
    for size, rank, p in ((8, 8, 10), (9, 8, 10), (10, 8, 10), (5, 5, 5)):
        assert not apart(np.array([size]), np.array([2e-10]), rank, p).any()
    assert apart(np.array([7]), np.array([2e-10]), 8, 10).all()

"""Solvers of compressed sensing: scikit-learn's matching pursuit and lasso, a linear programme, and known signals."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import Lasso, orthogonal_mp

from helpers.matrices import random_orthonormal
from helpers.signals import gaussian, goal, lasso_objective, least_l1, recovered_by, seen_by, sparse_codes
from ritz import CompressedSensing
from ritz.errors import DataError
from ritz.sensing import SOLVERS, dictionary, omp
from ritz.sensing.bases import chosen_basis
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.lasso import lasso, least_squares, signed_dual
from ritz.sensing.measurements import chosen_measurement
from ritz.sensing.recovery import parts

pytestmark = pytest.mark.usefixtures("one_thread")


def found_by(solver, A, Y, **asked):
    A = seen_by(A) if isinstance(A, np.ndarray) else A
    return recovered_by(A, Y, SOLVERS[solver], goal(len(Y), **asked))


def peer(A, Y, s):
    """scikit-learn's matching pursuit, which takes columns of length 1 for granted."""
    lengths = np.linalg.norm(A, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # it stops early where nothing is left
        return orthogonal_mp(A / lengths, Y.T, n_nonzero_coefs=s).T.reshape(len(Y), -1) / lengths


@pytest.mark.parametrize("kind", ["sparse", "noisy", "anything"])
@pytest.mark.parametrize(("m", "p", "s"), [(40, 100, 6), (64, 64, 20), (30, 200, 12), (25, 10, 10), (9, 30, 1)])
def test_matching_pursuit_takes_the_columns_that_scikit_learn_takes(m, p, s, kind):
    rng = np.random.default_rng(m + p)
    A = gaussian(m, p, rng) * rng.uniform(0.2, 5.0, p)  # columns of any length
    Y = sparse_codes(20, p, min(s, p), rng, spread=1.0) @ A.T
    Y = (
        Y
        if kind == "sparse"
        else Y + 0.1 * rng.standard_normal(Y.shape)
        if kind == "noisy"
        else rng.standard_normal((20, m))
    )
    found, residuals = found_by("omp", A, Y, sparsity=s, tol=1e-13)
    truth = peer(A, Y, s)
    assert np.array_equal(found.codes != 0, np.abs(truth) > 1e-10)
    np.testing.assert_allclose(found.codes, truth, atol=1e-10)
    np.testing.assert_allclose(
        residuals, np.linalg.norm(Y - truth @ A.T, axis=1) / np.linalg.norm(Y, axis=1), atol=1e-12
    )
    assert found.converged.all()


def test_matching_pursuit_that_holds_no_matrix_takes_the_same_columns(monkeypatch):
    rng = np.random.default_rng(1)
    Phi, Psi = chosen_measurement("subsampled-dct", 60, (128,), rng), chosen_basis("db4", (128,))
    Y = Phi.apply(Psi.apply(sparse_codes(10, 128, 8, rng, spread=1.0)))
    held = found_by("omp", Dictionary(Phi, Psi), Y)[0]
    monkeypatch.setattr(dictionary, "FAST", 0)
    A = Dictionary(Phi, Psi)
    assert A.held is None
    walked = found_by("omp", A, Y)[0]
    np.testing.assert_allclose(walked.codes, held.codes, atol=1e-12)
    np.testing.assert_allclose(walked.gaps, held.gaps, atol=1e-12)
    assert np.isnan(walked.exact_recovery).all()


def test_matching_pursuit_of_oblique_columns_keeps_its_digits():
    """Columns at an angle of 1e-5: Gram matrices would square that, and leave five digits."""
    rng = np.random.default_rng(2)
    common = rng.standard_normal((30, 1))
    A = common + 1e-5 * rng.standard_normal((30, 12))
    Y = rng.standard_normal((5, 12)) @ A.T
    found, residuals = found_by("omp", A, Y, sparsity=12, tol=1e-15)
    best = np.linalg.lstsq(A, Y.T)[0].T
    assert residuals.max() < 1e-14
    np.testing.assert_allclose(found.codes, best, rtol=1e-7, atol=1e-7 * np.abs(best).max())


def test_matching_pursuit_makes_room_as_it_goes(monkeypatch):
    rng = np.random.default_rng(3)
    A, Y = gaussian(50, 80, rng), rng.standard_normal((4, 50))
    grown = found_by("omp", A, Y)[0]
    assert (grown.iterations == 25).all()  # half of the measurements: more would explain anything
    monkeypatch.setattr(omp, "FIRST", 64)
    np.testing.assert_allclose(found_by("omp", A, Y, sparsity=25)[0].codes, grown.codes, atol=1e-10)


def test_matching_pursuit_takes_no_more_than_there_is_memory_for(monkeypatch):
    rng = np.random.default_rng(3)
    A, Y = gaussian(50, 80, rng), rng.standard_normal((4, 50))
    monkeypatch.setattr(omp, "allowed", lambda: 4 * 8 * 4 * 20 * 70)  # four times 8·b·k·(m + k) bytes, k = 20
    assert (found_by("omp", A, Y)[0].iterations == 20).all()
    assert (found_by("omp", A, Y, sparsity=20)[0].iterations == 20).all()
    for asked in ({"sparsity": 21}, {"sparsity": 50}):
        with pytest.raises(DataError, match=r"would take over .* of memory; use solver='fista'"):
            found_by("omp", A, Y, **asked)


@pytest.mark.parametrize("penalty", [0.3, 0.1, 1e-2, 1e-3])
@pytest.mark.parametrize(("m", "p"), [(30, 70), (40, 40), (40, 15)])
def test_the_lasso_is_that_of_scikit_learn(m, p, penalty):
    rng = np.random.default_rng(m + p)
    A = gaussian(m, p, rng)
    Y = sparse_codes(3, p, 4, rng, spread=1.0) @ A.T + 0.05 * rng.standard_normal((3, m))
    Y /= np.linalg.norm(Y, axis=1)[:, None]
    codes, gaps, _ = lasso(seen_by(A), Y, np.full(3, penalty), np.zeros((3, p)), 1e-9, np.full(3, 50_000))
    assert (gaps <= 1e-9).all()
    for y, c, gap in zip(Y, codes, gaps, strict=True):
        best = Lasso(penalty / m, fit_intercept=False, tol=1e-14, max_iter=100_000).fit(A, y).coef_
        objective, least = lasso_objective(A, y, c, penalty), lasso_objective(A, y, best, penalty)
        assert objective - least <= gap * objective + 1e-14
        np.testing.assert_allclose(c, best, atol=1e-3)


def plain_iterations(A, y, penalty, tol):
    """Beck and Teboulle's iteration as they wrote it, until its own duality gap is small."""
    step, c, z, t = 1 / np.linalg.norm(A, 2) ** 2, np.zeros(A.shape[1]), np.zeros(A.shape[1]), 1.0
    for count in range(1, 20_000):
        ahead = z + step * A.T @ (y - A @ z)
        new = np.sign(ahead) * np.maximum(np.abs(ahead) - step * penalty, 0.0)
        longer = (1 + np.sqrt(1 + 4 * t * t)) / 2
        z, c, t = new + (t - 1) / longer * (new - c), new, longer
        r = y - A @ c
        theta = r * min(1.0, penalty / np.abs(A.T @ r).max())
        if lasso_objective(A, y, c, penalty) - (y @ theta - theta @ theta / 2) <= tol * lasso_objective(
            A, y, c, penalty
        ):
            return count
    raise AssertionError("no end of iterations")


def test_restarts_spare_iterations():
    """Momentum overshoots where the lasso is strongly convex (O'Donoghue and Candès 2015)."""
    rng = np.random.default_rng(19)
    A = gaussian(40, 20, rng)
    y = rng.standard_normal(40)
    y /= np.linalg.norm(y)
    _, _, spent = lasso(seen_by(A), y[None], np.array([1e-3]), np.zeros((1, 20)), 1e-10, np.array([20_000]))
    assert spent[0] < 0.7 * plain_iterations(A, y, 1e-3, 1e-10)


def test_the_lasso_solves_every_signal_at_its_own_penalty():
    rng = np.random.default_rng(4)
    A, Y, penalties = gaussian(20, 50, rng), rng.standard_normal((6, 20)), np.geomspace(1e-2, 3.0, 6)
    together = lasso(seen_by(A), Y, penalties, np.zeros((6, 50)), 1e-8, np.full(6, 20_000))
    for i in range(6):
        alone = lasso(seen_by(A), Y[i : i + 1], penalties[i : i + 1], np.zeros((1, 50)), 1e-8, np.full(1, 20_000))
        np.testing.assert_allclose(together[0][i], alone[0][0], atol=1e-6)
        assert together[2][i] == alone[2][0]


@pytest.mark.parametrize("solver", ["fista", "basis-pursuit"])
@pytest.mark.parametrize(("m", "p", "s"), [(20, 40, 3), (40, 100, 12), (30, 30, 8), (12, 60, 2)])
def test_exact_measurements_give_the_least_l1_norm(m, p, s, solver):
    rng = np.random.default_rng(s)
    A = gaussian(m, p, rng)
    Y = sparse_codes(10, p, s, rng, spread=1.0) @ A.T
    found, residuals = found_by(solver, A, Y)
    sure = found.converged & (found.penalties == 0)
    assert sure.mean() >= (1.0 if solver == "basis-pursuit" else 0.7)
    for y, c, residual in zip(Y[sure], found.codes[sure], residuals[sure], strict=True):
        least = least_l1(A, y)
        assert residual <= 1e-6
        assert np.abs(c).sum() == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize("solver", ["omp", "fista"])
@pytest.mark.parametrize("sigma", [1e-6, 1e-3, 0.05])
def test_noise_costs_no_more_than_it_must(solver, sigma):
    """‖ĉ − c‖ ≤ C·σ√(s log p), with C = 2: the rate that no method beats (Candès and Davenport 2013)."""
    rng = np.random.default_rng(5)
    m, p, s = 100, 256, 8
    A, C = gaussian(m, p, rng), sparse_codes(30, p, s, rng, spread=1.0)
    Y = C @ A.T + sigma * rng.standard_normal((30, m))
    found, residuals = found_by(solver, A, Y, noise=sigma)
    errors = np.linalg.norm(found.codes - C, axis=1)
    assert errors.max() <= 2 * sigma * np.sqrt(s * np.log(p))
    assert found.converged.all()
    assert (np.count_nonzero(found.codes, axis=1) <= 4 * s).all()
    assert (residuals > 0.3 * sigma * np.sqrt(m) / np.linalg.norm(Y, axis=1)).all()  # the noise itself is not fitted


@pytest.mark.parametrize("solver", ["omp", "fista"])
def test_what_is_nothing_but_noise_is_mostly_nothing(solver):
    rng = np.random.default_rng(6)
    A, Y = gaussian(64, 128, rng), rng.standard_normal((40, 64))
    found, _ = found_by(solver, A, Y, noise=1.0)
    assert np.count_nonzero(found.codes, axis=1).mean() < 2


@pytest.mark.parametrize("solver", SOLVERS)
def test_signals_of_every_sparsity_in_one_call_are_those_of_a_call_each(solver):
    rng = np.random.default_rng(7)
    A, C = gaussian(32, 64, rng), np.zeros((12, 64))
    for i, row in enumerate(C):
        row[rng.choice(64, i, replace=False)] = rng.choice([-1, 1], i) * 10.0 ** rng.uniform(-3, 3)
    Y = C @ A.T
    together, residuals = found_by(solver, A, Y, max_iter=None if solver == "omp" else 2000)
    for i in range(12):
        alone, residual = found_by(solver, A, Y[i : i + 1], max_iter=None if solver == "omp" else 2000)
        size = np.abs(Y[i]).max()
        np.testing.assert_allclose(together.codes[i], alone.codes[0], atol=1e-7 * size)
        np.testing.assert_allclose(residuals[i], residual[0], atol=1e-9)
        assert together.converged[i] == alone.converged[0]
        assert together.iterations[i] == alone.iterations[0]
    np.testing.assert_allclose(together.codes[:7], C[:7], atol=1e-9 * np.abs(C[:7]).max())


@pytest.mark.parametrize("solver", SOLVERS)
def test_zeros_come_back_as_zeros(solver):
    rng = np.random.default_rng(8)
    A, C = gaussian(20, 40, rng), sparse_codes(5, 40, 2, rng)
    C[[1, 4]] = 0.0
    found, residuals = found_by(solver, A, C @ A.T)
    assert (found.codes[[1, 4]] == 0).all()
    assert (residuals[[1, 4]] == 0).all()
    assert found.converged.all()
    np.testing.assert_allclose(found.codes, C, atol=1e-12)
    nothing, _ = found_by(solver, A, np.zeros((3, 20)))
    assert (nothing.codes == 0).all()
    assert (nothing.gaps == 0).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-8, 1e8, 1e150, 1e300])
@pytest.mark.parametrize("solver", SOLVERS)
def test_signals_of_any_size(solver, scale):
    rng = np.random.default_rng(9)
    A, C = gaussian(20, 40, rng), sparse_codes(6, 40, 2, rng, spread=1.0)
    sizes = np.where(np.arange(6) % 2, scale, 1.0)[:, None]  # beside others of size 1
    plain, _ = found_by(solver, A, C @ A.T)
    found, residuals = found_by(solver, A, sizes * (C @ A.T))
    np.testing.assert_allclose(found.codes / sizes, plain.codes, atol=1e-9)
    np.testing.assert_allclose(found.gaps, plain.gaps, atol=1e-9)
    assert residuals.max() < 1e-2


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1e3, 1e8])
@pytest.mark.parametrize("solver", SOLVERS)
def test_matrices_of_any_size(solver, scale):
    rng = np.random.default_rng(10)
    A, C = gaussian(20, 40, rng), sparse_codes(6, 40, 2, rng, spread=1.0)
    found, residuals = found_by(solver, scale * A, C @ A.T)
    assert found.converged.all()
    assert residuals.max() <= 1e-6
    np.testing.assert_allclose(found.codes * scale, C, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_columns_that_repeat_and_columns_of_zeros(solver):
    """Nobody can tell which of two equal columns it was: the measurements are explained, at the same l1 norm."""
    rng = np.random.default_rng(11)
    A = gaussian(40, 90, rng)
    A[:, 3], A[:, 7], A[:, 20] = 0.0, A[:, 8], -A[:, 21]
    C = sparse_codes(10, 90, 4, rng, spread=1.0)
    C[:, [3, 7, 8, 20, 21]] = 0.0
    C[:5, 8], C[5:, 21] = 2.0, -2.0
    found, residuals = found_by(solver, A, C @ A.T)
    assert residuals.max() < 1e-10
    assert found.converged.all()
    assert (found.codes[:, 3] == 0).all()
    merged = found.codes.copy()
    merged[:, 8] += merged[:, 7]
    merged[:, 21] -= merged[:, 20]
    merged[:, [7, 20]] = 0.0
    np.testing.assert_allclose(merged, C, atol=1e-10)
    np.testing.assert_allclose(np.abs(found.codes).sum(axis=1), np.abs(C).sum(axis=1), rtol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-8, 1e8, 1e160, 1e300])
def test_measurements_in_any_unit(solver, size):
    rng = np.random.default_rng(13)
    B, C = rng.standard_normal((30, 60)), sparse_codes(3, 60, 2, rng)
    plain = CompressedSensing(30, basis=np.eye(60), measurement=B, solver=solver).fit(C)
    model = CompressedSensing(30, basis=np.eye(60), measurement=size * B, solver=solver).fit(C)
    np.testing.assert_allclose(model.inverse_transform(model.transform(C)), C, atol=1e-9)
    assert model.certificate_.coherence == pytest.approx(plain.certificate_.coherence)
    assert model.certificate_.mutual_coherence == pytest.approx(plain.certificate_.mutual_coherence)
    assert model.certificate_.residual.max() < 1e-9


@pytest.mark.parametrize("size", [1, 100, 1e12])
def test_noise_is_in_the_units_of_the_measurements(size):
    rng = np.random.default_rng(14)
    B, C = size * rng.standard_normal((40, 80)), sparse_codes(4, 80, 3, rng)
    noise = 0.05 * size
    for solver in ("omp", "fista"):
        model = CompressedSensing(40, basis=np.eye(80), measurement=B, solver=solver, noise=noise).fit(C)
        back = model.inverse_transform(model.transform(C) + noise * rng.standard_normal((4, 40)))
        assert np.abs(back - C).max() < 0.05
        assert model.certificate_.support_size.max() < 10


def test_a_product_beyond_the_range_of_numbers_is_refused():
    with pytest.raises(DataError, match="beyond the range of float64; scale one of them"):
        CompressedSensing(4, basis=1e200 * np.eye(8), measurement=np.full((4, 8), 1e200)).fit(np.ones((1, 8)))


@pytest.mark.parametrize("solver", ["omp", "fista"])
def test_measurements_that_see_nothing(solver):
    found, residuals = found_by(solver, np.zeros((2, 3)), np.ones((2, 2)), max_iter=50)
    assert (found.codes == 0).all()
    np.testing.assert_allclose(residuals, 1)
    assert not found.converged.any()


@pytest.mark.parametrize("solver", SOLVERS)
def test_as_many_measurements_as_entries(solver):
    rng = np.random.default_rng(12)
    A, C = random_orthonormal(24, 24, rng), rng.standard_normal((3, 24))
    found, residuals = found_by(solver, A, C @ A.T)
    assert residuals.max() < 1e-2
    np.testing.assert_allclose(found.codes, C, atol=1e-8 if solver != "fista" else 1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_fewer_basis_vectors_than_measurements(solver):
    """Least squares where nothing fits, except for the linear programme, which has no answer then."""
    rng = np.random.default_rng(13)
    A, C = gaussian(30, 12, rng), rng.standard_normal((4, 12))
    np.testing.assert_allclose(found_by(solver, A, C @ A.T)[0].codes, C, atol=1e-9)
    Y = rng.standard_normal((4, 30))
    if solver == "basis-pursuit":
        found, residuals = found_by(solver, A, np.vstack([Y, C @ A.T]))
        assert found.converged.tolist() == 4 * [False] + 4 * [True]
        np.testing.assert_allclose(residuals[:4], 1)
        return
    found, _ = found_by(solver, A, Y)
    np.testing.assert_allclose(found.codes, np.linalg.lstsq(A, Y.T)[0].T, atol=1e-2)


@pytest.mark.parametrize("s", [1, 3, 6])
@pytest.mark.parametrize("solver", SOLVERS)
def test_no_more_coefficients_than_asked_for(solver, s):
    """And those are the best for their places."""
    rng = np.random.default_rng(14)
    A = gaussian(30, 60, rng)
    Y = sparse_codes(8, 60, 5, rng, spread=1.0) @ A.T
    found, residuals = found_by(solver, A, Y, sparsity=s)
    assert (np.count_nonzero(found.codes, axis=1) <= s).all()
    for y, c, residual in zip(Y, found.codes, residuals, strict=True):
        S = np.flatnonzero(c)
        best = np.linalg.lstsq(A[:, S], y)[0]
        np.testing.assert_allclose(c[S], best, atol=1e-9)
        assert residual == pytest.approx(np.linalg.norm(y - A[:, S] @ best) / np.linalg.norm(y), abs=1e-9)


def test_a_solver_that_is_cut_short_says_so():
    rng = np.random.default_rng(15)
    A = gaussian(30, 60, rng)
    Y = sparse_codes(4, 60, 6, rng, spread=1.0) @ A.T
    for solver, most in (("omp", 2), ("fista", 5), ("basis-pursuit", 1)):
        found, residuals = found_by(solver, A, Y, max_iter=most)
        assert not found.converged.any()
        assert (found.iterations <= most).all()
        assert (residuals > 1e-6).all()


def test_the_linear_programme_names_its_limits():
    with pytest.raises(DataError, match="up to 2048 coefficients, and there are 2049"):
        CompressedSensing(3, solver="basis-pursuit").fit(np.ones((1, 2049))).recover(np.ones((1, 3)))
    with pytest.raises(DataError, match=r"takes measurements as exact, and noise=0.1 says"):
        CompressedSensing(3, solver="basis-pursuit", noise=0.1).fit(np.ones((1, 9))).recover(np.ones((1, 3)))
    with pytest.raises(DataError, match="unless sparsity or noise says when to stop, and there are 40000"):
        CompressedSensing(3, measurement="subsampled-dct").fit(np.ones((1, 40_000))).recover(np.ones((1, 3)))


def test_least_squares_and_signs_on_supports_of_any_size():
    rng = np.random.default_rng(17)
    A = gaussian(100, 200, rng)
    Y, support = rng.standard_normal((5, 100)), np.zeros((5, 200), bool)
    for i, row in enumerate(support):
        row[rng.choice(200, 15 * i, replace=False)] = True
    codes = least_squares(seen_by(A), Y, np.zeros((5, 200)), support)
    dual = signed_dual(seen_by(A), codes)
    for i, S in enumerate(support):
        best = np.zeros(200)
        best[S] = np.linalg.lstsq(A[:, S], Y[i])[0]
        np.testing.assert_allclose(codes[i], best, atol=1e-11)
        np.testing.assert_allclose(dual[i], np.linalg.pinv(A[:, S].T) @ np.sign(best[S]), atol=1e-10)


@pytest.mark.parametrize("solver", ["omp", "fista"])
def test_batches_are_put_together_in_order(solver, monkeypatch):
    rng = np.random.default_rng(18)
    A, C = gaussian(20, 40, rng), sparse_codes(23, 40, 2, rng, spread=1.0)
    monkeypatch.setattr("ritz.sensing.recovery.LEAST", 4)
    done = list(parts(seen_by(A), C @ A.T, SOLVERS[solver], goal(23), lambda codes: codes))
    assert [len(part.output) for part in done] == [4, 4, 4, 4, 4, 3]
    np.testing.assert_allclose(np.vstack([part.output for part in done]), C, atol=1e-10)
    assert np.array_equal(np.concatenate([part.columns["support_size"] for part in done]), np.full(23, 2))

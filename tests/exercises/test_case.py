"""What is measured of an answer is what is true of it, and ties and rounding excuse no more than they must."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.counts import usually
from helpers.matrices import random_orthonormal, with_eigenvalues, with_spectrum
from helpers.students import Student, covariance, data
from ritz import PCA, DataError, check, eigen
from ritz.exercises.answer import answer_of
from ritz.exercises.case import Case
from ritz.exercises.problem import RowsProblem

pytestmark = pytest.mark.usefixtures("one_thread")
RNG = np.random.default_rng(0)


@settings(max_examples=usually(5, thorough=200))
@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_any_rotation_within_a_tie_is_right(seed, size):
    rng = np.random.default_rng(seed)
    X = with_spectrum(20, 8, [9.0, *[5.0] * size, *0.5 ** np.arange(1, 8 - size)], rng, offset=3.0)
    V = np.linalg.svd(X - X.mean(axis=0))[2].T
    V[:, 1 : 1 + size] = V[:, 1 : 1 + size] @ random_orthonormal(size, size, rng)
    for k in (2, 1 + size, 2 + size):  # cut by k, or whole
        assert check(X, V[:, :k]).right
    assert "tie" in [finding.code for finding in check(X, V[:, :2]).findings]
    turned = V[:, :3] @ random_orthonormal(3, 3, rng)
    assert not check(X, turned).right  # the first axis is not tied


@settings(max_examples=usually(8, thorough=300))
@given(st.integers(0, 2**32 - 1), st.floats(-6.5, -0.7), st.sampled_from(["iris", "wide", "gapped", "square"]))
def test_a_perturbation_is_measured_to_what_the_certificate_says(seed, power, name):
    """An angle ε of the last axis, away from all others, is what the verdict reports."""
    rng, s, k, angle = np.random.default_rng(seed), Student(name), 2, 10**power
    outward = s.V[:, k:] @ random_orthonormal(s.V.shape[1] - k, 1, rng)
    U = s.V[:, :k].copy()
    U[:, k - 1 :] = np.cos(angle) * U[:, k - 1 :] + np.sin(angle) * outward
    verdict = check(s.X, U)
    slack = verdict.certificate.angle_bounds[:k].max() + 1e-12
    for sine in (verdict["span"].numbers["sine"], verdict["axes"].numbers["sine_2"]):
        assert abs(sine - np.sin(angle)) <= slack
    assert verdict.right == (np.sin(angle) <= verdict["span"].numbers["allowed"])
    assert verdict.code == ("right" if verdict.right else "not_converged")


def test_the_error_is_that_of_decoding():
    s = Student("wide")
    for U in (s.V[:, :3], s.V[:, 1:4], 1.1 * s.V[:, :3]):
        found = check(s.X, U)["error"].numbers
        assert found["decoded"] == pytest.approx(((s.Z - s.Z @ U @ U.T) ** 2).sum(axis=1).mean())
        assert found["subtracted"] == pytest.approx(((s.Z**2).sum(axis=1) - ((s.Z @ U) ** 2).sum(axis=1)).mean())
        assert found["best"] == pytest.approx((s.s[3:] ** 2).sum() / s.n)


@pytest.mark.parametrize("gap", [1e-8, 1e-11, 1e-13, 1e-14])
def test_near_ties_excuse_rotations_inside_them_alone(gap):
    """Two eigenvalues that float64 can hardly tell apart: their plane is determined, and has to be met."""
    A, Q = with_eigenvalues([4.0, 3.0, 3.0 - 3.0 * gap, 1.0, 0.5], RNG)
    values, vectors = covariance(A)
    assert check(A=A, U=(values, vectors)).right
    off = Q[:, :3].copy()
    off[:, 2] = np.cos(0.01) * Q[:, 2] + np.sin(0.01) * Q[:, 3]
    assert not check(A=A, U=off).right
    turned = Q[:, 1:3] @ random_orthonormal(2, 2, RNG)
    assert check(A=A, U=np.column_stack([Q[:, 0], turned])).right == (gap <= 1e-14)


@pytest.mark.parametrize("unit", [1e-120, 1e-9, 1e9, 1e120])
def test_units_do_not_matter(unit):
    s = Student("gapped")
    raw = Student("gapped", center=False)
    assert check(unit * s.X, (unit * (unit * s.values), s.V)).right
    assert check(unit * s.X, raw.V[:, :2]).code == "not_centred"
    assert check(unit * s.X, (unit * (unit * s.values) * 19 / 20, s.V)).code == "divided_by_n"


def test_data_beyond_what_can_be_squared_is_refused():
    for unit in (1e-140, 1e140):
        with pytest.raises(DataError, match="scale the data"):
            check(unit * data("iris"), np.eye(4)[:, :2])


def test_the_residual_is_told():
    s = Student("iris")
    u = np.linalg.matrix_power(s.C, 3) @ np.ones(4)
    u /= np.linalg.norm(u)
    residual = np.linalg.norm(s.C @ u - (u @ s.C @ u) * u) / s.values[0]
    assert check(s.X, u)["residual"].numbers["residual"] == pytest.approx(residual)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("solver", ["power", "orthogonal", "krylov"])
def test_what_is_certified_to_tol_is_right(solver, scale):
    """`tol` is the same number here and there."""
    for name, k in (("iris", 2), ("iris", 3), ("wine", 3)):
        s = Student(name, scale=scale)
        found = eigen(s.C, k, solver)
        for answer in (found.vectors, found, PCA(k, svd_solver=solver, scale=scale).fit(s.X)):
            verdict = check(s.X, answer, scale=scale)
            assert verdict.right, str(verdict)


def test_a_larger_residual_is_not_converged():
    """Turned towards the next axis until ‖Cu − λu‖ is 10⁻⁵ λ₁, and where gaps are small beside λ₁, to √tol at most."""
    s = Student("iris")
    for i in range(3):
        sine = 1e-5 * s.values[0] / (s.values[i] - s.values[i + 1])
        U = s.V[:, : i + 1].copy()
        U[:, i] = np.sqrt(1 - sine**2) * s.V[:, i] + sine * s.V[:, i + 1]
        assert check(s.X, U).codes == ("not_converged",)
        assert check(s.X, U, tol=2e-5).right
    w = Student("wine")
    turn = np.array([[np.cos(0.01), -np.sin(0.01)], [np.sin(0.01), np.cos(0.01)]])
    U = np.column_stack([w.V[:, :10], w.V[:, 10:12] @ turn])
    verdict = check(w.X, U)
    assert verdict["residual"].numbers["residual"] < 1e-8
    assert not verdict.right


def test_a_certificate_states_no_more_than_what_is_asked():
    """An axis of "wine" that is off by 0.01 for a residual of 10⁻⁸ λ₁, and one of "iris" for a larger one."""
    for name, i, right in (("wine", 10, True), ("iris", 0, False)):
        s = Student(name)
        found = eigen(s.C, i + 2, "covariance")
        V = found.vectors.copy()
        V[:, i : i + 2] = V[:, i : i + 2] @ [[np.cos(0.01), -np.sin(0.01)], [np.sin(0.01), np.cos(0.01)]]
        off = replace(found, vectors=V)
        assert not check(s.X, off.vectors).right
        for reached, well in ((1e-8, right), (1e-3, False)):
            stated = replace(off, certificate=replace(off.certificate, reached=reached))
            assert check(s.X, stated).right == well


def test_a_larger_tolerance_accepts_more():
    s = Student("gapped")
    near = np.linalg.qr(s.V[:, :2] + 1e-3 * RNG.standard_normal((s.d, 2)))[0]
    assert check(s.X, near).code == "not_converged"
    assert check(s.X, near, tol=0.01).right


def test_judging_writes_to_nothing_that_was_handed_in():
    s = Student("iris")
    answer = answer_of((s.values, s.V))
    before = dict(vars(answer))
    assert Case(RowsProblem(s.X), answer).right
    assert vars(answer) == before
    assert not any(isinstance(part, dict) for part in before.values())


@pytest.mark.filterwarnings("error")
def test_numbers_of_any_size_are_judged_without_a_warning():
    s = Student("iris")
    for answer in (1e200 * s.V, (1e200 * s.values, s.V), 1e-200 * s.V, np.full(4, 1e200)):
        assert not check(s.X, answer).right


@pytest.mark.parametrize("apart", [0.0, 1e-8, 1e-6])
def test_one_axis_handed_in_twice_does_not_span_a_plane(apart):
    s = Student("gapped")
    twice = np.column_stack([s.V[:, 0], s.V[:, 0] + apart * s.V[:, 1]])  # as two power iterations without deflation
    verdict = check(s.X, twice)
    assert verdict.code == "first_axis_repeated"
    assert not verdict["span"].right
    assert verdict.headline == "the columns span another subspace, 90° from the best one."

"""Power iteration as textbooks have it: its own rule to stop, the ratio with any y, magnitudes, and how it fails."""

import warnings

import numpy as np
import pytest

from helpers.matrices import with_eigenvalues
from ritz import PCA, AccuracyWarning, DataError, eigen, load, solvers

SPECTRUM = [3.0, 2.1, 1.0, 0.4, 0.1]


@pytest.fixture(scope="module")
def A():
    return with_eigenvalues(SPECTRUM, np.random.default_rng(0))[0]


@pytest.mark.parametrize("change", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("solver", [solvers.Power, solvers.Orthogonal])
def test_without_a_tol_the_change_of_the_eigenvalue_alone_stops_it(A, solver, change):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = eigen(A, 1, solver(change=change, **({} if solver is solvers.Power else {"oversample": 0})), tol=None)
    changes = np.array([step.change for step in found.history])
    assert changes[-1] <= change < changes[1:-1].min()
    certificate = found.certificate
    assert (certificate.tol, certificate.satisfied, certificate.diagnostics()) == (None, True, ())
    u = found.vectors[:, 0]
    measured = np.linalg.norm(A @ u - found.values[0] * u) / 3.0
    assert measured <= certificate.reached <= 1.01 * measured + 1e-14
    assert 0.1 * np.sqrt(change) < measured < 10 * np.sqrt(change)  # as the docstring says
    assert certificate.verdict.startswith("no accuracy was asked for: residual of every component at most ")
    assert "asked:" not in str(certificate)


def test_a_rule_that_never_held_is_told(A):
    with pytest.warns(AccuracyWarning, match=r"did not converge: residual .* stopped at max_iter, after 3 iterations"):
        found = eigen(A, 1, solvers.Power(max_iter=3), tol=None)
    assert not found.certificate.satisfied
    assert "did NOT converge" in found.certificate.verdict
    assert found.certificate.diagnostics()[0].code == "not_converged"


@pytest.mark.parametrize("solver", ["auto", "krylov", "covariance", solvers.Krylov()])
def test_solvers_without_such_a_rule_refuse(A, solver):
    with pytest.raises(ValueError, match=r"tol=None .* (Krylov|Covariance) does not have; use solver='power'"):
        eigen(A, 1, solver, tol=None)


def test_the_ratio_with_y_is_that_of_the_formula(A):
    rng = np.random.default_rng(1)
    y, v = rng.standard_normal((2, 5))
    found = eigen(A, 2, solvers.Power(y=y, start=np.column_stack([v, v + y]), max_iter=400), tol=1e-12)
    first = [step.value for step in found.history if step.component == 0]
    powers = [v.astype(np.longdouble)]
    for _ in range(len(first)):
        powers.append(A.astype(np.longdouble) @ powers[-1])
    expected = [float((y @ powers[m + 1]) / (y @ powers[m])) for m in range(len(first))]
    np.testing.assert_allclose(first, expected, rtol=1e-11)
    assert found.history[-1].component == 1
    assert found.history[-1].value == pytest.approx(2.1, rel=1e-9)  # of the deflated matrix
    np.testing.assert_allclose(found.values, [3.0, 2.1], rtol=1e-12)


def test_with_y_the_eigenvalue_converges_like_the_ratio_and_not_its_square(A):
    y = np.random.default_rng(2).standard_normal(5)
    rates = {}
    for name, solver in (("y", solvers.Power(y=y)), ("v", solvers.Power())):
        errors = np.array([abs(step.value - 3.0) for step in eigen(A, 1, solver, tol=1e-9).history])
        rates[name] = (errors[21] / errors[13]) ** (1 / 8)
    assert rates["y"] == pytest.approx(0.7, rel=2e-2)
    assert rates["v"] == pytest.approx(0.49, rel=2e-2)


@pytest.mark.parametrize(
    ("y", "match"),
    [
        (np.zeros(5), "y holds NaN or infinity, or is 0 everywhere"),
        ([1.0, np.nan, 0, 0, 0], "y holds NaN"),
        (np.ones((5, 1)), r"y has shape \(5, 1\); give a vector"),
        (np.ones(4), "y has 4 rows but the operator has order 5"),
    ],
)
def test_a_y_that_is_none(A, y, match):
    with pytest.raises(DataError, match=match):
        eigen(A, 1, solvers.Power(y=y))


@pytest.mark.parametrize("given", ["a", ["a", "b"], object(), [[1.0, 2.0], [3.0]], [1.0, 2j]])
@pytest.mark.parametrize("option", ["y", "start"])
def test_an_option_without_numbers_is_named(A, option, given):
    with pytest.raises(DataError, match=rf"^{option}=.* does not hold real numbers; give a vector such as"):
        eigen(A, 1, solvers.Power(**{option: given}))


def test_a_y_orthogonal_to_an_iterate_is_an_error_that_names_it():
    A = np.diag([3.0, 2.0, 1.0])
    with pytest.raises(DataError, match=r"y is orthogonal to iterate 1 of PC2, .* 0/0; choose a y"):
        eigen(A, 2, solvers.Power(y=[1.0, 0, 0], start=[1.0, 0, 0]))


def test_a_y_orthogonal_to_the_eigenvector_tells_of_another_and_the_pair_is_right():
    A = np.diag([3.0, 2.0, 1.0])
    with pytest.warns(AccuracyWarning, match=r"settled at 0.6667 times the Rayleigh quotient of PC1: y is nearly orth"):
        found = eigen(A, 1, solvers.Power(y=[0, 1.0, 1.0], start=[1.0, 1.0, 1.0]), tol=None)
    assert found.history[-1].value == pytest.approx(2.0, rel=1e-6)
    assert found.values[0] == pytest.approx(3.0, rel=1e-6)


@pytest.mark.parametrize("tol", [None, 0.9])
def test_a_ratio_that_stands_still_where_the_vector_does_not_is_told(tol):
    A, e2 = np.diag([3.0, 2.0, 1.0]), [0.0, 1.0, 0.0]  # y = e₂ has the ratio 2 in every step
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AccuracyWarning)
        found = eigen(A, 1, solvers.Power(y=e2), tol=tol)
    assert {step.value for step in found.history} == {2.0}
    assert found.note.startswith("the ratio with y stands still, but PC1 does not: its residual is ")
    assert found.certificate.satisfied == (tol is not None)  # that residual was asked for
    assert [found.note in str(one.message) for one in caught] == ([True] if tol is None else [])
    assert found.certificate.verdict.count(", and a larger component may have been missed") == (tol is None)


@pytest.mark.parametrize("size", [1.0, 2.0**900, 2.0**-900])
def test_magnitudes_in_order_with_their_signs(size):
    values = np.array([0.5, -4.0, 3.0, -2.0, 1.0, 0.0])
    A, _ = with_eigenvalues(values, np.random.default_rng(3))
    for matrix in (A * size, lambda V: (A @ V) * size):
        found = eigen(matrix, 4, "power", dim=6, tol=1e-9)
        np.testing.assert_allclose(found.values / size, [-4, 3, -2, 1], rtol=1e-12)
        assert found.certificate.by_magnitude
        assert found.certificate.satisfied
        assert "order: by magnitude" in str(found)
        assert "of the largest magnitude" in found.certificate.verdict
        low, high = found.certificate.value_bounds.T / size
        truth = np.array([-4, 3, -2, 1])
        assert ((low <= truth) & (truth <= high + 1e-14)).all()


@pytest.mark.parametrize("tol", [None, 1e-6])
@pytest.mark.parametrize("apart", [0.0, 1e-5])
def test_eigenvalues_of_opposite_sign_and_the_same_magnitude_are_told(tol, apart):
    A, _ = with_eigenvalues([2.0, -2.0 * (1 - apart), 1.0, 0.5], np.random.default_rng(4))
    with pytest.warns(
        AccuracyWarning, match=r"PC1 alternates between two vectors: .* opposite signs and .* to separate them"
    ):
        found = eigen(A, 1, solvers.Power(max_iter=150), tol=tol)
    assert not found.certificate.satisfied
    assert apart or len(found.history) < 100  # no use to go on
    assert found.certificate.reached > 0.1
    shifted = eigen(A + 3 * np.eye(4), 1, "power")  # what the message advises
    np.testing.assert_allclose(shifted.values - 3, [2.0], rtol=1e-9)
    both = eigen(A, 2, solvers.Power(max_iter=150))  # Rayleigh–Ritz of two vectors separates them too
    np.testing.assert_allclose(np.sort(both.values), [-2.0 * (1 - apart), 2.0], rtol=1e-6)


def path(d):
    """The edges of a path of d points: eigenvalues 2cos(πj/(d + 1)), which come in pairs ±."""
    return np.eye(d, k=1) + np.eye(d, k=-1)


@pytest.mark.parametrize("d", [2, 3, 8])
@pytest.mark.parametrize("turned", [False, True])
def test_a_rayleigh_quotient_of_0_in_every_step_is_no_eigenvalue(d, turned):
    """From one end of a path, vᵀA v is 0 for ever, or what rounding makes of it: no sign that anything converged."""
    Q = np.linalg.qr(np.random.default_rng(6).standard_normal((d, d)))[0] if turned else np.eye(d)
    A = Q @ path(d) @ Q.T
    with pytest.warns(AccuracyWarning, match="did not converge: .* PC1 alternates between two vectors"):
        found = eigen((A + A.T) / 2, 1, "power", tol=None, start=Q[:, 0])
    assert not found.certificate.satisfied
    assert found.certificate.reached > 0.5
    assert found.history[0].change == np.inf
    zero = eigen(np.zeros((2, 2)), 1, "power", tol=None)  # which has one eigenvalue, found at once
    assert (zero.values[0], zero.history[-1].change, zero.certificate.satisfied) == (0.0, 0.0, True)


def test_a_model_keeps_its_y(tmp_path):
    X = np.random.default_rng(5).standard_normal((40, 3)) * [3, 2, 1]
    PCA(1, svd_solver=solvers.Power(y=[1, 2, 3])).fit(X).save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "model.safetensors").svd_solver.y, [1, 2, 3])


def test_a_slow_component_names_the_eigenvalues_that_decide_its_rate(A):
    said = r"of which each of the last 10 multiplied its residual by about 0\.70\d\d; .* the ratio of eigenvalue 2 to "
    with pytest.warns(AccuracyWarning, match=said + "eigenvalue 1, 1 minus the relative eigengap between them"):
        eigen(A, 1, solvers.Power(max_iter=20), tol=1e-12)

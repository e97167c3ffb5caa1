"""A student's function is tried on matrices with known eigenpairs, easy and hard, and cannot change the exercise.

It is not stopped: a loop without an end would hang these tests as it hangs `ritz.check`, which says so.
"""

import numpy as np
import pytest

from helpers.students import covariance, data
from ritz import check
from ritz.exercises.functions import SPECTRA, hidden, trials

pytestmark = pytest.mark.usefixtures("one_thread")


def power_from(start, steps):
    """Power iteration with deflation."""

    def pairs(A, k):
        values, vectors = [], []
        for _ in range(k):
            v = start(len(A))
            for _ in range(steps):
                w = A @ v
                v = w / (np.linalg.norm(w) or 1.0)
            values.append(v @ A @ v)
            vectors.append(v)
            A = A - values[-1] * np.outer(v, v)
        return np.array(values), np.array(vectors).T

    return pairs


def failures(verdict):
    return [finding.code for finding in verdict.findings if finding.kind == "check" and not finding.right]


def test_the_matrices_have_the_eigenvalues_they_should():
    made = {trial.code: np.linalg.eigvalsh(trial.problem.matrix)[::-1] for trial in trials(None)}
    for code, _, values in SPECTRA:
        np.testing.assert_allclose(made[code], values, atol=1e-14 * values[0])
    np.testing.assert_allclose(made["orthogonal_start"], [6, 4, 3, 2, 1], rtol=1e-14)
    assert abs(np.linalg.eigh(hidden())[1][:, -1] @ np.ones(5)) < 1e-15


def test_a_right_function_passes_all():
    verdict = check(data("iris"), covariance)
    assert verdict.right, str(verdict)
    assert len(verdict.findings) == 2 + len(SPECTRA)
    assert verdict.headline.startswith("7 of 7")
    assert check(U=covariance).headline.startswith("6 of 6")
    assert check(A=np.diag([3.0, 1.0]), U=covariance).right
    assert check(data("gapped"), covariance, kernel="rbf", gamma=0.02).right
    assert check(data("iris"), lambda A, k: covariance(A, k)).right
    assert check(data("iris"), lambda A, k=9: covariance(A, k), k=2).right


def test_mistakes_of_functions_have_their_codes():
    X = data("iris")
    assert check(X, np.linalg.eigh).code == "ascending_order"
    assert check(X, lambda A, k: tuple(part[..., :k] for part in np.linalg.eigh(A))).code == "smallest_taken"
    assert check(X, lambda A: (covariance(A)[0], covariance(A)[1].T)).code == "transposed"


def test_hard_matrices_find_what_easy_ones_do_not():
    X = data("gapped")
    start = np.random.default_rng(1)
    assert failures(check(X, power_from(lambda d: start.standard_normal(d), 1000))) == []
    assert "small_gap" in failures(check(X, power_from(lambda d: start.standard_normal(d), 60)))
    found = check(X, power_from(np.ones, 1000))
    assert failures(found) == ["orthogonal_start"]
    assert found.code in ("not_the_largest", "wrong_order", "sorted_alone")


def test_a_function_cannot_change_the_exercise():
    X = data("iris").copy()
    A = np.diag([3.0, 2.0, 1.0])

    def spoils(matrix):
        found = covariance(matrix)
        matrix[:] = 0
        return found

    before = X.copy()
    verdict = check(X, spoils)
    assert verdict.right
    assert "writes to the matrix" in verdict["changes_argument"].text
    np.testing.assert_array_equal(X, before)
    assert check(A=A, U=spoils).right
    np.testing.assert_array_equal(A, np.diag([3.0, 2.0, 1.0]))


@pytest.mark.parametrize(
    ("function", "code", "said"),
    [
        (lambda A: 1 / 0, "raised", "ZeroDivisionError: division by zero"),
        (lambda A: None, "returned", "returned None"),
        (lambda A: "pairs", "returned", "must be real numbers"),
        (lambda A: (A[0] * np.nan, A), "returned", "holds nan"),
        (lambda A: (A[0, :1], A[:1, :2]), "wrong_shape", "expected columns of 4 entries"),
        (lambda: None, "raised", "TypeError"),
        (lambda A: exit(), "raised", "SystemExit"),
    ],
)
def test_what_a_function_does_wrong_is_told(function, code, said):
    verdict = check(data("iris"), function)
    assert verdict.codes == (code,)
    assert said in str(verdict)


def first_alone(A, *_):
    values, vectors = covariance(A)
    return values[:1], vectors[:, :1]


def test_as_many_as_are_asked_for_or_more():
    X = data("iris")
    assert check(X, first_alone, k=1).right
    assert check(X, covariance, k=2).right
    assert check(X, lambda A: covariance(A), k=2).right  # that returns all of them
    assert check(X, lambda A: covariance(A, max(1, np.linalg.matrix_rank(A))), k=4).right  # and none of no variance
    assert check(X, lambda A, k: first_alone(A)).codes == ("wrong_count",)  # it was told how many
    assert check(X, lambda A: first_alone(A), k=2).codes == ("wrong_count",)


def test_what_is_no_function():
    assert check(data("iris"), np.eye(4), what="function").code == "not_a_function"


def test_an_interrupt_is_not_swallowed():
    def interrupted(A):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(data("iris"), interrupted)

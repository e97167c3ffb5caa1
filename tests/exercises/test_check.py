"""`ritz.check`: right answers from anywhere are right, angles are measured, and nothing handed in makes it fail."""

import json
import re
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import sklearn.decomposition

import ritz
from helpers.matrices import with_eigenvalues
from helpers.students import Student, covariance, data, kernel_pairs, rbf
from ritz import DataError, ParameterError, check

pytestmark = pytest.mark.usefixtures("one_thread")
RNG = np.random.default_rng(0)
NAMES = ["iris", "wine", "wide", "plane", "tied", "square", "gapped"]


def rank(name):
    X = data(name)
    return int(np.linalg.matrix_rank(X - X.mean(axis=0)))


def by_numpy(X, k):
    return covariance(np.cov(X, rowvar=False), k)


def by_scipy(X, k):
    return scipy.linalg.svd(X - X.mean(axis=0))[2][:k].T


def by_sklearn(X, k):
    return sklearn.decomposition.PCA(k, svd_solver="full").fit(X)


def by_ritz(X, k):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.AccuracyWarning)  # a tie that k cuts
        return ritz.PCA(k).fit(X)


def by_gram(X, k):
    Z = X - X.mean(axis=0)
    values, vectors = covariance(Z @ Z.T, k)
    return vectors / np.sqrt(values)


def in_float32(X, k):
    return covariance(np.cov(X.astype(np.float32), rowvar=False, dtype=np.float32), k)


def with_signs(X, k):
    return by_scipy(X, k) * RNG.choice([-1, 1], k)


def to_three_decimals(X, k):
    return by_scipy(X, k).round(3)


SOLVERS = [by_numpy, by_scipy, by_sklearn, by_ritz, by_gram, in_float32, with_signs, to_three_decimals]


@pytest.mark.parametrize("name", NAMES)
def test_right_answers_are_right(name):
    for solve, k in product(SOLVERS, {2, rank(name)}):
        verdict = check(data(name), solve(data(name), k))
        assert verdict.right, f"{solve.__name__}: {verdict}"
        assert (verdict.code, verdict.codes) == ("right", ())
        assert str(verdict).startswith("Right: ")


@pytest.mark.parametrize("options", [{"scale": True}, {"center": False}, {"ddof": 0}], ids=str)
def test_every_option_of_the_exercise_counts(options):
    for name in ("iris", "wide"):
        s = Student(name, **options)
        assert check(data(name), (s.values[:3], s.V[:, :3]), **options).right
        assert check(data(name), s.alpha(2), **options).right
        assert check(data(name), s.Z @ s.V[:, :2], **options).right
        assert not check(data(name), (s.values[:3], s.V[:, :3])).right


def test_kernels():
    X = data("hot plane")
    values, vectors = kernel_pairs(rbf(X, 0.5), 3)
    assert check(X, (values, vectors), kernel="rbf", gamma=0.5).right
    assert check(X, vectors / np.sqrt(values), kernel="rbf", gamma=0.5).right
    assert check(X, vectors * np.sqrt(values), kernel="rbf", gamma=0.5).right  # scores
    assert check(rbf(X, 0.5), (values, vectors), kernel="precomputed").right
    model = sklearn.decomposition.KernelPCA(3, kernel="rbf", gamma=0.5).fit(X)
    assert check(X, model, kernel="rbf", gamma=0.5).right
    assert not check(X, (values, vectors), kernel="rbf", gamma=0.6).right


def test_a_matrix_in_place_of_rows():
    A, Q = with_eigenvalues([4.0, 3.0, 1.0, 0.0], RNG)
    assert check(A=A, U=Q[:, :2]).right
    assert check(A=A, U=([4.0, 3.0, 1.0, 0.0], Q)).right
    assert check(A=A, U=Q[:, [1, 0]]).code == "ascending_order"
    assert check(A=A, U=(np.array([4.0, 3.5]), Q[:, :2])).code == "unexplained"


def test_what_says_how_to_read_a_square():
    s = Student("square")
    k = len(s.s)
    assert check(s.X, s.V).right
    by_shape = check(s.X, s.alpha(k))
    assert by_shape.right
    assert "it could be axes or scores too" in by_shape["given"].text
    assert check(s.X, s.alpha(k), what="alpha").right
    assert not check(s.X, s.alpha(k), what="scores").right
    assert not check(s.X, s.alpha(k), what="axes").right


def test_two_mistakes_at_once():
    s, raw = Student("iris"), Student("iris", center=False, ddof=0)
    assert set(check(s.X, (raw.values, raw.V)).codes) == {"not_centred", "divided_by_n"}
    assert set(check(s.X, (s.s, s.V.T)).codes) == {"transposed", "singular_values"}
    assert set(check(s.X, (s.s[:2], s.P[:, :2])).codes) == {"left_singular_vectors", "singular_values"}


def test_how_many_are_asked_for():
    s = Student("iris")
    assert check(s.X, s.V[:, :2], k=2).right
    verdict = check(s.X, s.V[:, :2], k=3)
    assert (verdict.right, verdict.code) == (False, "wrong_count")


def test_forms_that_answers_come_in():
    s = Student("iris")
    assert check(pd.DataFrame(s.X), pd.DataFrame(s.V[:, :2])).right
    assert check(s.X.tolist(), s.V[:, :2].tolist()).right
    assert check(s.X, s.V[:, 0]).right
    assert check(s.X, (s.V[:, :2], s.values[:2])).right  # vectors first
    assert check(s.X, (s.values[0], s.V[:, 0])).right
    assert check(s.X, s.V.astype(complex)).right
    assert check(s.X, s.values[:3]).right  # 3 is neither 150 nor 4
    assert check(np.ones((5, 3)), np.eye(3)[:, :2]).right  # no variance in any direction
    assert check(np.array([[1.0], [2.0]]), [[-1.0]]).right


BAD = {
    "no_answer": None,
    "not_numbers": "axes",
    "empty": np.empty((4, 0)),
    "not_finite": np.full((4, 2), np.nan),
    "wrong_shape": np.ones((3, 7)),
}


@pytest.mark.parametrize("code", BAD)
def test_what_cannot_be_judged_gets_a_verdict(code):
    verdict = check(data("iris"), BAD[code])
    assert (verdict.right, verdict.codes) == (False, (code,))
    assert verdict.mistakes[0].advice


def test_more_of_what_cannot_be_judged():
    X = data("iris")
    assert check(X, [[1.0, 2.0], [3.0]]).code == "not_numbers"
    assert check(X, 1j * np.ones((4, 2))).code == "not_numbers"
    assert check(X, np.ones((2, 2, 2))).code == "wrong_shape"
    assert "4 entries" in check(X, np.ones((3, 7))).headline
    assert "3×7" in check(X, np.ones((3, 7))).headline
    assert check(X, np.ones((4, 2)), what="pairs").code == "wrong_shape"
    assert check(data("wide"), np.ones((12, 12)), what="alpha").code == "beyond_rank"
    assert check(X, (np.ones((2, 2)), np.ones((4, 2)))).code == "not_numbers"
    assert check(X, np.ma.masked_array(Student("iris").V[:, :1], mask=[[1], [0], [0], [0]])).code == "not_finite"
    assert check(X, np.zeros((4, 2))).code == "unexplained"
    assert check(X, 5.0).code == "wrong_shape"


def test_what_is_wrong_with_the_exercise_is_an_error():
    X, U = data("iris"), np.eye(4)[:, :2]
    with pytest.raises(ParameterError, match="'guess' must be one of"):
        check(X, U, what="guess")
    with pytest.raises(ParameterError, match="and not both; neither was given"):
        check(U=U)
    with pytest.raises(ParameterError, match=r"Call check\(X, U\) with rows X"):
        check()
    with pytest.raises(ParameterError, match="both were given"):
        check(X, U, A=np.eye(4))
    with pytest.raises(DataError, match="NaN, first at row 0"):
        check(np.full((3, 2), np.nan), U)
    with pytest.raises(DataError, match="X has 1 rows"):
        check(np.ones((1, 2)), U)
    with pytest.raises(ParameterError, match="does not go with this exercise"):
        check(X, U, kernel="rbf", what="axes")
    with pytest.raises(ParameterError, match="does not go with A"):
        check(A=np.eye(3), U=U, kernel="rbf")
    with pytest.raises(DataError, match="not symmetric"):
        check(A=np.triu(np.ones((3, 3))), U=U)
    with pytest.raises(ParameterError, match="tol=2"):
        check(X, U, tol=2)


@pytest.mark.parametrize("lowest", [-1.0, -0.0237, -8.2, -666.0])
def test_a_matrix_with_negative_eigenvalues_is_judged_as_advised(lowest):
    values = np.array([3.0, 1.0, lowest])
    A, Q = with_eigenvalues(values, RNG)
    with pytest.raises(DataError, match=f"A has the eigenvalue {lowest:g}; ") as error:
        check(A=A, U=Q[:, :2])
    shift = float(re.findall("add (.*) to its diagonal", str(error.value))[0])
    assert check(A=A + shift * np.eye(3), U=(values + shift, Q)).right
    assert shift <= -2 * lowest


def test_an_answer_is_asked_for():
    assert "call check(X, U)" in check(data("iris"))["no_answer"].advice


def test_a_verdict_for_programs():
    s = Student("iris")
    verdict = check(s.X, s.V[:, :2].T)
    told = json.loads(json.dumps(verdict.to_dict()))
    assert (told["right"], told["code"]) == (False, "transposed")
    assert told["findings"][-1]["advice"] == verdict["transposed"].advice
    assert bool(verdict) is False
    assert check(s.X, s.V)
    with pytest.raises(KeyError, match="no finding 'nothing'"):
        verdict["nothing"]

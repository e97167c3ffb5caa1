"""Who follows the advice of a verdict is right: it is run as it stands, for every option of the exercise."""

import re
from itertools import product

import numpy
import numpy as np
import pytest
import scipy.linalg

from helpers.matrices import random_orthonormal
from helpers.students import Student, covariance, data, kernel_pairs, rbf
from ritz import check

pytestmark = pytest.mark.usefixtures("one_thread")
OPTIONS = [{"center": c, "scale": s, "ddof": d} for c, s, d in product([True, False], [True, False], [0, 1])]
PREPARED = ("not_centred", "centred", "scaled", "not_scaled", "grand_mean", "rows_centred", "points_in_columns")


def advice(verdict, code):
    assert code in verdict.codes
    return verdict[code].advice


def followed(Z, X):
    """Z by the formula in an advice."""
    [formula] = re.findall(r"Z = (.*?)(?:\.$|, or call)", Z)
    return eval(formula, {"X": X, "numpy": numpy, "n": len(X)})


@pytest.mark.parametrize("asked", OPTIONS, ids=str)
def test_rows_prepared_as_advised_are_right(asked):
    s, X = Student("gapped", **asked), data("gapped")
    others = [Student("gapped", **{**asked, name: not asked[name]}).V for name in ("center", "scale")]
    others += [np.linalg.svd(X - m)[2].T for m in (X.mean(), X.mean(axis=1, keepdims=True))]
    told = [check(X, V[:, :2], **asked) for V in others]
    told.append(check(X, np.linalg.eigh(np.cov(X, ddof=asked["ddof"]))[1][:, ::-1][:, :2], **asked))
    formulas = [advice(v, v.code) for v in told if v.code in PREPARED]
    assert len(formulas) >= 2
    for text in formulas:
        V = np.linalg.svd(followed(text, X), full_matrices=False)[2].T
        assert check(X, (s.values, V), **asked).right, text


@pytest.mark.parametrize("asked", OPTIONS, ids=str)
def test_values_divided_as_advised_are_right(asked):
    s = Student("gapped", **asked)
    space = {"s": s.s, "n": s.n}
    text = advice(check(s.X, (s.s, s.V), **asked), "singular_values")
    assert check(s.X, (eval(text.partition(": ")[2].rstrip("."), space), s.V), **asked).right
    text = advice(check(s.X, (s.s**2, s.V), **asked), "not_divided")
    divisor = re.findall(r"by (.*) to get", text)[0]
    assert check(s.X, (s.s**2 / eval(divisor, space), s.V), **asked).right


def test_another_ddof_is_offered_only_where_it_makes_the_answer_right():
    for asked in OPTIONS:
        s = Student("gapped", **asked)
        ratio = (s.n - 1) / s.n
        values = s.values * ratio if asked["ddof"] else s.values / ratio
        code = "divided_by_n" if asked["ddof"] else "divided_by_n_minus_1"
        offered = "call check with ddof=" in advice(check(s.X, (values, s.V), **asked), code)
        assert offered == check(s.X, (values, s.V), **asked | {"ddof": 1 - asked["ddof"]}).right


@pytest.mark.parametrize("less", [0, 1])
def test_kernel_values_multiplied_as_advised_are_right(less):
    X = data("hot plane")
    values, vectors = kernel_pairs(rbf(X, 0.5), 3)
    divided = values / (len(X) - less)
    text = advice(check(X, (divided, vectors), kernel="rbf", gamma=0.5), "kernel_divided")
    factor = eval(text.removeprefix("multiply them by ").rstrip("."), {"n": len(X)})
    assert check(X, (factor * divided, vectors), kernel="rbf", gamma=0.5).right


@pytest.mark.parametrize("asked", [{}, {"ddof": 0}], ids=str)
def test_scores_of_scaled_rows_are_centred_and_scaled(asked):
    s = Student("wine", scale=True, **asked)
    off = (s.X / s.X.std(axis=0, ddof=asked.get("ddof", 1))) @ s.V[:, :2]
    text = advice(check(s.X, off, scale=True, what="scores", **asked), "scores_not_centred")
    assert check(s.X, followed(text, s.X) @ s.V[:, :2], scale=True, **asked).right


def run(text, **space):
    """The columns that the code of an advice makes."""
    code = text.partition(": ")[2].rstrip(".")
    exec(code, {"numpy": numpy, "scipy": scipy}, space)
    return space


def test_a_basis_turned_as_advised_is_right():
    """Axes, dual coefficients of rows and of a kernel, and eigenvectors of a matrix."""
    rng, s = np.random.default_rng(1), Student("wide")
    K, A = s.Z @ s.Z.T, s.C
    Kc = rbf(data("gapped"), 0.02)
    Kc = Kc - Kc.mean(axis=0) - Kc.mean(axis=1, keepdims=True) + Kc.mean()
    values, B = covariance(Kc, 3)
    kernel = {"X": data("gapped"), "kernel": "rbf", "gamma": 0.02}
    cases = [
        ({"X": s.X}, "U", s.V[:, :3], {"C": s.C}),
        ({"X": s.X, "what": "alpha"}, "α", s.alpha(3), {"K": K}),
        (kernel | {"what": "alpha"}, "α", B / np.sqrt(values), {"K": Kc}),
        ({"A": A}, "U", s.V[:, :3], {"A": A}),
    ]
    for asked, name, right, space in cases:
        for code, mixed in {
            "rotated_basis": right @ random_orthonormal(3, 3, rng),
            "not_orthogonal": right @ np.array([[1.0, 0.4, 0.3], [0.0, 0.7, 0.5], [0.0, 0.0, 0.9]]),
        }.items():
            text = advice(check(U=mixed, **asked), code)
            assert check(U=run(text, **space, **{name: mixed})[name], **asked).right, text

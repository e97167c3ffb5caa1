"""Numbers for gamma that follow from the rows, against their definitions in extended precision."""

import warnings

import numpy as np
import pytest

from helpers.kernels import FORMS, WIDE, wide
from ritz.kernels.distances import resolved


def rows() -> np.ndarray:
    X = np.random.default_rng(7).standard_normal((24, 7))
    X[3], X[8:11] = 0.0, X[7]
    return X


@pytest.mark.parametrize("form", ["dense", "float32", "int", "uint8", "int8", "fortran", "sparse", "sparse uint8"])
@pytest.mark.parametrize("rule", ["median", "scale", None])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_bandwidths_by_their_definitions(rule, form, kernel):
    X = FORMS[form](rows())
    D = wide(X)
    apart = D[:, None] - D
    distances = np.abs(apart).sum(axis=2) if kernel == "laplacian" else (apart**2).sum(axis=2)
    distances = distances[np.triu_indices(len(D), 1)]
    truths = {"median": 1 / np.median(distances[distances > 0]), "scale": 1 / (7 * D.var()), None: 1 / WIDE(7)}
    assert resolved(rule, X, kernel) == pytest.approx(float(truths[rule]), rel=1e-6)


@pytest.mark.parametrize("rule", ["median", "scale"])
@pytest.mark.parametrize("form", ["dense", "sparse full"])
@pytest.mark.parametrize("offset", [1e3, 1e8])
def test_bandwidths_do_not_depend_on_where_the_rows_are(rule, form, offset):
    X = np.rint(rows() * 1024) / 1024
    moved = FORMS[form](X + offset)
    assert resolved(rule, moved, "rbf") == pytest.approx(resolved(rule, X, "rbf"), rel=1e-6)


@pytest.mark.parametrize("rule", ["median", "scale"])
@pytest.mark.parametrize("scale", [1e-150, 1e-90, 1e90, 1e150])
def test_bandwidths_follow_the_scale(rule, scale):
    X = rows()
    expected = resolved(rule, X, "rbf") / scale / scale
    assert resolved(rule, X * scale, "rbf") == pytest.approx(expected, rel=1e-9)


def test_equal_rows_say_nothing_about_a_bandwidth():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rule in ("median", "scale"):
            assert resolved(rule, np.ones((5, 4)), "rbf") == 0.25


@pytest.mark.parametrize("gamma", [-1.0, np.nan, np.inf, True, "wide", [1.0]])
def test_a_gamma_that_is_none_is_refused(gamma):
    with pytest.raises(ValueError, match=r"gamma=.*must be"):
        resolved(gamma, rows(), "rbf")

"""Every operator: symmetric, positive, equal to its dense matrix, with a factor and a trace that fit."""

import numpy as np
import pytest

from helpers import preprocess
from ritz.decomposition import Request, preprocessing
from ritz.errors import DataError
from ritz.moments import moments
from ritz.operators import Covariance, Dense, Function, Gram
from ritz.rows import as_rows


def covariance_of(X, center, scale, ddof, full):
    rows = as_rows(X)
    found = moments(rows, center=center, full=full)
    prepare = preprocessing(rows, found, Request(center=center, scale=scale, ddof=ddof))[0]
    return Covariance(rows, prepare, found, ddof, min(X.shape))


@pytest.mark.parametrize("shape", [(300, 12), (12, 300), (5000, 20)])
@pytest.mark.parametrize(("center", "scale"), [(False, False), (True, False), (True, True), (False, True)])
@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("size", [1.0, 1e160])
def test_covariance_and_gram_in_all_their_forms(shape, center, scale, ddof, size):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal(shape) * rng.uniform(0.5, 5, shape[1]) + 40) * size
    Z = preprocess(X / size, center, scale, ddof).astype(np.float64)
    unit = 1.0
    if size > 1 and not scale:
        peak = preprocessing(as_rows(X), moments(as_rows(X), center=center), Request(center=center))[2]
        unit = size / peak
    C, K = unit**2 * Z.T @ Z / (shape[0] - ddof), unit**2 * Z @ Z.T / (shape[0] - ddof)
    tight = 1e-12 * np.trace(C)
    walking, formed = (covariance_of(X, center, scale, ddof, full) for full in (False, True))
    V, W = rng.standard_normal((shape[1], 3)), rng.standard_normal((shape[0], 3))
    np.testing.assert_allclose(formed.dense(), C, atol=tight)
    assert walking.dense() is None
    assert formed.trace == pytest.approx(np.trace(C), rel=1e-12)
    for operator in (walking, formed):
        np.testing.assert_allclose(operator.apply(V), C @ V, atol=10 * tight)
    AQ, T = walking.normal(V)
    np.testing.assert_allclose(AQ, C @ V, atol=10 * tight)
    np.testing.assert_allclose(T.T @ T, V.T @ C @ V, atol=100 * tight)
    gram = Gram(walking)
    np.testing.assert_allclose(gram.apply(W), K @ W, atol=100 * tight)
    np.testing.assert_allclose(gram.lift(W), unit * Z.T @ W, atol=1e-10 * np.abs(Z.T @ W).max() * unit)
    np.testing.assert_allclose(gram.dense(), K, atol=tight)
    F = walking.factor()
    assert len(F) <= max(shape[1], shape[0] if shape[0] <= shape[1] else 0)
    np.testing.assert_allclose(F.T @ F, C, atol=tight)
    np.testing.assert_allclose(walking.apply(V), C @ V, atol=10 * tight)  # through the factor now


def test_a_function_must_keep_its_shape_and_stay_finite():
    with pytest.raises(DataError, match="shape"):
        Function(lambda V: V[:2], 3).apply(np.eye(3))
    with pytest.raises(DataError, match="NaN"):
        Function(lambda V: V * np.nan, 3).apply(np.eye(3))


def test_dense_is_itself():
    A = np.diag([2.0, 1.0])
    assert Dense(A).trace == 3.0
    np.testing.assert_array_equal(Dense(A).apply(np.eye(2)), A)

"""What rounding does to the features of landmarks: bounds on it hold for kernel matrices in extended precision."""

import numpy as np
import pytest

from helpers.arrays import strict
from helpers.kernels import kernel_value
from ritz.kernels import kernel_named
from ritz.kernels.device_features import DeviceFeatures
from ritz.kernels.nystrom import Features, chosen
from ritz.kernels.scatter import FeatureScatter, FeatureSums
from ritz.linalg.arrays import on_host
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import moments
from ritz.rows import as_rows

N = 60
KERNELS = {
    "rbf": {"gamma": 0.5},
    "wide rbf": {"gamma": 1e-4},  # the features of all rows nearly depend on each other
    "laplacian": {"gamma": 0.3},
    "linear": {},
    "poly": {"gamma": 0.1, "degree": 3.0, "coef0": 1.0},
    "cosine": {},
}
ROWS = {
    "plain": lambda X, rng: X,
    "duplicates": lambda X, rng: X[rng.integers(0, N // 3, N)],
    "nearly duplicates": lambda X, rng: X[rng.integers(0, N // 3, N)] + 1e-7 * rng.standard_normal(X.shape),
    "columns of all sizes": lambda X, rng: X * [1e-6, 1.0, 1e3],
    "far": lambda X, rng: X + 1e6,
}


def on_a_device(X, *about):
    rows = as_rows(strict(X, "device1"))
    return DeviceFeatures(Features(rows, *about), rows, *about)


FEATURES = {"here": lambda X, *about: Features(as_rows(X), *about), "on a device": on_a_device}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("data", ROWS)
@pytest.mark.parametrize(("seen", "where"), [(N, "here"), (N // 4, "here"), (N // 4, "on a device")])
def test_the_kernel_matrix_differs_from_that_of_the_features_by_what_is_said(name, data, seen, where):
    """0 ⪯ K − F Fᵀ ⪯ lacking but for the bound; the landmarks are among all rows, or the others lie far from them."""
    rng = np.random.default_rng(0)
    X, parameters = ROWS[data](rng.standard_normal((N, 3)), rng), KERNELS[name]
    kernel_name = name.removeprefix("wide ")
    kernel = kernel_named(kernel_name, **{"gamma": 1.0, "degree": 3.0, "coef0": 1.0} | parameters)
    frame = kernel.frame_of_range(X.min(axis=0), X.max(axis=0), shifted=True)
    points, factor = chosen(kernel, frame, X[:seen], N, rng)
    landmarks, L = points[factor.pivots], factor.triangle
    features = FEATURES[where](X, kernel, frame, landmarks, L)
    sums = FeatureSums.of(moments(features, scatter=Scatter.FLOAT64))
    bound = FeatureScatter(sums, L, kernel, frame, landmarks, features.solving).features_error

    F = on_host(features.read(0, N))[:, :-1].astype(np.longdouble)
    K = kernel_value(kernel_name, X, X, **parameters, origin=frame.origin if name == "linear" else None)
    K /= np.longdouble(frame.unit) ** 2
    rest = K - F @ F.T
    values = np.linalg.eigvalsh(rest.astype(np.float64))
    judge = 4e-16 * float(np.abs(values).max())
    assert -values[0] <= bound / 2 + judge
    assert values[-1] <= sums.lacking + bound + sums.error + judge
    assert float(np.trace(rest)) <= sums.lacking + bound + sums.error
    centred = F - F.mean(axis=0)
    assert np.linalg.norm((centred.T @ centred - sums.S).astype(np.float64), 2) <= sums.error
    assert bound <= 1e-9 * sums.trace + 0.1 * sums.lacking  # which is no idle one

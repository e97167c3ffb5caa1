"""Bandwidths of kernels: gamma as a number, given or computed from the rows."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from ritz.errors import DataError
from ritz.kernels.base import power_of_two
from ritz.rows.base import Block, dense

SAMPLE = 1000  # rows whose distances are compared


def resolved(gamma: Any, X: Block, kernel: Any) -> float:
    """gamma as a number: the one given, 1/d for None, or one of the two rules.

    "median" is 1 over the median squared distance between rows (over the median sum of absolute differences for the
    laplacian kernel); "scale" is 1/(d·variance of all entries), as support vector machines have it.

    Examples
    --------
    >>> import numpy as np
    >>> resolved("median", np.array([[0.0], [1.0], [3.0]]), "rbf")
    0.25
    """
    if gamma is None:
        return 1 / X.shape[1]
    if isinstance(gamma, str) and gamma in RULES:
        found = RULES[gamma](X, kernel)
        if not np.finfo(float).tiny <= found < np.inf:
            raise DataError(
                f"gamma={gamma!r} is {found:g} for these rows, outside the range of float64; scale the columns"
            )
        return found
    if isinstance(gamma, bool) or not isinstance(gamma, Real) or not 0 <= float(gamma) < np.inf:
        raise ValueError(f"gamma={gamma!r} must be a number >= 0, 'median', 'scale' or None for 1/n_features")
    return float(gamma)


def median(X: Block, kernel: Any) -> float:
    """1 over the median distance of a sample of rows; equal rows are not counted."""
    n = X.shape[0]
    some = np.random.default_rng(0).permutation(n)[:SAMPLE]
    rows = dense(X[np.sort(some)]).astype(np.float64)
    size = power_of_two(float(np.abs(rows).max(initial=0.0)))
    distances = pdist(rows / size, "cityblock" if kernel == "laplacian" else "sqeuclidean")
    apart = distances[distances > 0]
    if not len(apart):
        return 1 / X.shape[1]
    with np.errstate(over="ignore", under="ignore"):
        return float(1 / np.median(apart) / size / (1.0 if kernel == "laplacian" else size))


def scale(X: Block, kernel: Any) -> float:
    """1/(d·variance of all entries)."""
    stored = np.asarray(X if isinstance(X, np.ndarray) else X.data).astype(np.float64)
    size = power_of_two(float(np.abs(stored).max(initial=0.0)))
    stored /= size
    if isinstance(X, np.ndarray):
        variance = float(np.var(stored))
    else:
        entries = X.shape[0] * X.shape[1]
        mean = float(stored.sum()) / entries
        variance = (float(np.square(stored - mean).sum()) + (entries - len(stored)) * mean**2) / entries
    if not variance > 0:
        return 1 / X.shape[1]
    return 1 / (X.shape[1] * variance) / size / size


RULES = {"median": median, "scale": scale}

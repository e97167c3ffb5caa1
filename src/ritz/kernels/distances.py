"""Kernels that are functions of the distance between two rows, and gamma, the scale of that distance, as a number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist, pdist

from ritz.errors import DataError
from ritz.kernels.base import (
    Frame,
    Kernel,
    Movable,
    Points,
    center,
    inner,
    magnitude,
    ones,
    power_of_two,
    row_nnz,
    shifted,
    squares,
)
from ritz.linalg.arrays import is_device_array, namespace
from ritz.linalg.dense import UNIT, Array
from ritz.rows.base import Block, dense

FINEST, FINE = 1e-11, 1e-9  # error of a kernel value that may come from taking distances from inner products
SAMPLE = 1000  # rows whose distances are compared for gamma
QUICK = 1e9  # differences that cost so little that the smaller one counts


@dataclass(frozen=True)
class Rbf(Movable):
    """exp(−γ‖x − y‖²)."""

    gamma: float
    local: ClassVar[bool] = True
    parameters: ClassVar[str] = "gamma"

    def frame(self, X: Block) -> Frame:
        """‖z − w‖² = ‖z‖² + ‖w‖² − 2 z·w costs one product, but errs by the rounding of ‖z‖²: not for rows far out.

        Differences of the rows themselves err by their own rounding alone, so these are neither moved nor rounded.
        """
        frame = Frame(center(X), float(np.sqrt(self.gamma)))
        with np.errstate(over="ignore", invalid="ignore"):
            largest = float(np.nan_to_num(squares(shifted(X, frame.origin, frame.weight)), nan=np.inf).max(initial=0.0))
        terms = (row_nnz(X) + 10) * 4 * largest + 8
        if terms * UNIT <= (FINEST if X.shape[0] ** 2 * X.shape[1] <= QUICK else FINE):
            return replace(frame, terms=terms)
        weight = power_of_two(float(np.sqrt(self.gamma)))
        if not np.isfinite(weight * magnitude(X, None)):
            weight = 1.0
        return Frame(None, weight, factor=self.gamma / weight / weight, terms=X.shape[1] + 16, exact=True)

    def tile(self, a: Points, b: Points, frame: Frame) -> Array:
        if frame.exact:
            return decayed(a, b, "sqeuclidean", frame)
        if is_device_array(a.Z):
            return _decayed_there(inner(a.Z, b.Z), a, b)
        t = _negative_squares(a, b)
        if t.dtype == np.float64:  # in float32 a value of 1 + 1e-6 does no harm
            np.minimum(t, 0.0, out=t)
        far = ~np.isfinite(a.sizes)
        if far.any():  # inf − inf
            t[far] = -np.inf
        return np.exp(t, out=t)

    def lengths(self, points: Points, frame: Frame) -> Array:
        return ones(points)


@dataclass(frozen=True)
class Laplacian(Kernel):
    """exp(−γ Σ|x − y|)."""

    gamma: float
    local: ClassVar[bool] = True
    narrow: ClassVar[bool] = False  # there is no product to be gained
    parameters: ClassVar[str] = "gamma"

    def frame(self, X: Block) -> Frame:
        return Frame(factor=self.gamma, terms=X.shape[1] + 16, exact=True)

    def points(self, X: Block, frame: Frame) -> Points:
        with np.errstate(over="ignore", invalid="ignore"):
            Z = shifted(X, frame.origin, frame.weight)
            if is_device_array(Z):
                return Points(Z, namespace(Z).sum(abs(Z), axis=1))
            return Points(Z, np.asarray(abs(Z).sum(axis=1)).ravel())

    def tile(self, a: Points, b: Points, frame: Frame) -> Array:
        return decayed(a, b, "cityblock", frame)

    def lengths(self, points: Points, frame: Frame) -> Array:
        return ones(points)


def _negative_squares(a: Points, b: Points) -> Array:  # (m, p)
    """−‖z − w‖² = 2 z·w − ‖z‖² − ‖w‖² of all pairs: for dense rows, whose sizes can stand beside them, one product
    instead of three more passes over the result."""
    if isinstance(a.Z, np.ndarray) and isinstance(b.Z, np.ndarray):
        one, other = np.ones((len(a), 1), a.Z.dtype), np.ones((len(b), 1), b.Z.dtype)
        left = np.hstack([2 * a.Z, -a.sizes[:, None], -one])
        return left @ np.hstack([b.Z, other, b.sizes[:, None]]).T
    t = inner(a.Z, b.Z)
    t *= t.dtype.type(2)
    t -= a.sizes[:, None]
    t -= b.sizes
    return t


def decayed(a: Points, b: Points, metric: str, frame: Frame) -> Array:
    """exp(−factor·distance) from differences."""
    if is_device_array(a.Z):
        return _from_differences(a.Z, b.Z, metric, frame.factor)
    t: Array = cdist(dense(a.Z), dense(b.Z), metric)
    with np.errstate(over="ignore"):
        t *= -frame.factor
    return np.exp(t, out=t)


def _from_differences(A: Any, B: Any, metric: str, factor: float) -> Any:  # (m, d), (p, d) -> (m, p)
    """The same on a device, column by column: no array is larger than the result."""
    t: Any = 0.0
    for j in range(A.shape[1]):
        apart = A[:, j][:, None] - B[:, j][None, :]
        t = t + (abs(apart) if metric == "cityblock" else apart * apart)
    return namespace(A).exp(t * -factor)


def _decayed_there(t: Any, a: Points, b: Points) -> Any:  # (m, p)
    """exp(2 z·w − ‖z‖² − ‖w‖²) on a device, from z·w; 0 for rows too far out for float64. Without a wait."""
    xp = namespace(t)
    t = (t * 2.0 - a.sizes[:, None]) - b.sizes[None, :]
    none = xp.zeros_like(t)
    return xp.where(xp.isfinite(a.sizes)[:, None], xp.exp(xp.minimum(t, none)), none)


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
    some = np.random.default_rng(0).permutation(X.shape[0])[:SAMPLE]
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

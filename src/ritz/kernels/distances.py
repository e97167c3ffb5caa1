"""Kernels that are functions of the distance between two rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ritz.kernels.base import Frame, Kernel, Points, center, inner, magnitude, power_of_two, row_nnz, shifted, squares
from ritz.linalg.dense import UNIT, Array
from ritz.rows.base import Block, dense

FINEST, FINE = 1e-11, 1e-9  # error of a kernel value that may come from taking distances from inner products
QUICK = 1e9  # differences that cost so little that the smaller one counts


@dataclass(frozen=True)
class Rbf(Kernel):
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
        t = inner(a.Z, b.Z)
        t *= t.dtype.type(2)
        t -= a.sizes[:, None]
        t -= b.sizes
        if t.dtype == np.float64:  # in float32 a value of 1 + 1e-6 does no harm
            np.minimum(t, 0.0, out=t)
        far = ~np.isfinite(a.sizes)
        if far.any():  # inf − inf
            t[far] = -np.inf
        return np.exp(t, out=t)

    def points(self, X: Block, frame: Frame) -> Points:
        with np.errstate(over="ignore", invalid="ignore"):
            return super().points(X, frame)

    def lengths(self, points: Points, frame: Frame) -> Array:
        return np.ones(len(points))


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
            return Points(Z, _sums(Z))

    def tile(self, a: Points, b: Points, frame: Frame) -> Array:
        return decayed(a, b, "cityblock", frame)

    def lengths(self, points: Points, frame: Frame) -> Array:
        return np.ones(len(points))


def decayed(a: Points, b: Points, metric: str, frame: Frame) -> Array:
    """exp(−factor·distance) from differences."""
    from scipy.spatial.distance import cdist  # not needed, nor its import worth while, where products will do

    t: Array = cdist(dense(a.Z), dense(b.Z), metric)
    with np.errstate(over="ignore"):
        t *= -frame.factor
    return np.exp(t, out=t)


def _sums(Z: Block) -> Array:
    """Σ|z| of every row."""
    return np.asarray(abs(Z).sum(axis=1)).ravel()

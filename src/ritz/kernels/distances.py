"""Kernels that are functions of the distance between two rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from ritz.kernels.base import Frame, Kernel, Points, center, inner, moved, size, squares
from ritz.linalg import UNIT, Array
from ritz.rows.base import Block, dense

FINE = 1e-11  # error of a kernel value that may come from taking distances from inner products


@dataclass(frozen=True)
class Rbf(Kernel):
    """exp(−γ‖x − y‖²)."""

    gamma: float
    local: ClassVar[bool] = True
    parameters: ClassVar[str] = "gamma"

    def frame(self, X: Block) -> Frame:
        """‖z − w‖² = ‖z‖² + ‖w‖² − 2 z·w costs one product, but errs by the rounding of ‖z‖²: not for rows far out."""
        d = X.shape[1]
        frame = Frame(center(X), float(np.sqrt(self.gamma)))
        with np.errstate(over="ignore", invalid="ignore"):
            largest = float(np.nan_to_num(squares(moved(X, frame.origin, frame.weight)), nan=np.inf).max(initial=0.0))
        short = (d + 10) * 4 * largest + 8
        if short * UNIT <= FINE:
            return replace(frame, terms=short)
        terms = min(float(d + 16 + 8 * np.sqrt(min(largest, 1e300))), 2 / UNIT)
        if not np.isfinite(frame.weight * size(X, frame.origin)):
            frame = replace(frame, weight=1.0, factor=self.gamma)
        return replace(frame, terms=terms, exact=True)

    def tile(self, a: Points, b: Points, frame: Frame) -> Array:
        if frame.exact:
            return decayed(cdist(dense(a.Z), dense(b.Z), "sqeuclidean"), frame)
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
        frame = Frame(center(X), factor=self.gamma, exact=True)
        with np.errstate(over="ignore"):
            largest = self.gamma * float(_sums(moved(X, frame.origin, 1.0)).max(initial=0.0))
        return replace(frame, terms=min(X.shape[1] + 16 + 8 * largest, 2 / UNIT))

    def points(self, X: Block, frame: Frame) -> Points:
        with np.errstate(over="ignore", invalid="ignore"):
            Z = moved(X, frame.origin, frame.weight)
            return Points(Z, _sums(Z))

    def tile(self, a: Points, b: Points, frame: Frame) -> Array:
        return decayed(cdist(dense(a.Z), dense(b.Z), "cityblock"), frame)

    def lengths(self, points: Points, frame: Frame) -> Array:
        return np.ones(len(points))


def decayed(t: Array, frame: Frame) -> Array:
    """exp(−factor·t), in place."""
    with np.errstate(over="ignore"):
        t *= -frame.factor
    return np.exp(t, out=t)


def _sums(Z: Block) -> Array:
    """Σ|z| of every row."""
    return np.asarray(abs(Z).sum(axis=1)).ravel()

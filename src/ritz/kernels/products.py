"""Kernels that are functions of the inner product of two rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ritz.errors import DataError
from ritz.kernels.base import (
    LARGEST,
    Frame,
    Kernel,
    Movable,
    Points,
    center,
    inner,
    magnitude,
    ones,
    row_nnz,
    shifted,
    squares,
)
from ritz.linalg.arrays import functions_for, in_float64, is_device_array
from ritz.linalg.dense import UNIT, Array
from ritz.rows.base import Block


@dataclass(frozen=True)
class Linear(Movable):
    """x·y: kernel PCA is then PCA."""

    def frame(self, X: Block) -> Frame:
        origin = center(X)
        unit = magnitude(X, origin) * X.shape[1] ** 0.5
        return Frame(origin, 1 / unit, unit, row_nnz(X) + 10)


@dataclass(frozen=True)
class Cosine(Kernel):
    """x·y/(‖x‖ ‖y‖), and 0 for a row of zeros."""

    def frame(self, X: Block) -> Frame:
        return Frame(terms=row_nnz(X) + 16)

    def points(self, X: Block, frame: Frame) -> Points:
        """Rows of unit length, each divided by its largest entry first so that no square leaves the range."""
        Z = shifted(X, None, 1.0)
        xp = functions_for(Z)
        Z = _divided(Z, xp.max(abs(Z), axis=1) if xp is not np else abs(Z).max(axis=1))
        lengths = xp.sqrt(squares(Z))
        return Points(_divided(Z, lengths), in_float64(lengths > 0))


@dataclass(frozen=True)
class Polynomial(Kernel):
    """(γ x·y + coef0)^degree."""

    gamma: float
    degree: float = 3
    coef0: float = 1
    parameters: ClassVar[str] = "degree, gamma and coef0"

    @property
    def positive(self) -> bool:  # type: ignore[override]
        return self.coef0 >= 0 and float(self.degree).is_integer()

    @property
    def limit(self) -> str:  # type: ignore[override]
        if float(self.degree).is_integer():
            return super().limit
        return f"gamma*x.y + coef0 is negative there, which degree={self.degree:g} does not allow, or too large"

    def frame(self, X: Block) -> Frame:
        """Points are scaled so that γ‖x‖² + |coef0| is at most 1: no power overflows."""
        root = magnitude(X, None) * X.shape[1] ** 0.5
        sizes = squares(shifted(X, None, 1 / root))
        with np.errstate(over="ignore", under="ignore"):
            highest = float(self.gamma * sizes.max(initial=0.0) * np.float64(root) * root + abs(self.coef0))
            unit = np.float64(highest) ** (self.degree / 2)
            reach = unit * unit
        if not reach < LARGEST:
            raise DataError(
                f"kernel='poly' overflows: (gamma*x.y + coef0)**degree reaches {highest:.3g}**{self.degree:g}; "
                f"lower degree={self.degree:g} or gamma={self.gamma:g}, or scale the columns"
            )
        if self.gamma > 0 and sizes.any() and not highest > np.finfo(float).tiny:
            raise DataError(
                f"kernel='poly' underflows: gamma*x.y + coef0 reaches no more than {highest:.3g}; raise "
                f"gamma={self.gamma:g} or coef0={self.coef0:g}, or scale the columns"
            )
        highest = highest or 1.0
        weight, terms = float(np.sqrt(self.gamma / highest)), (row_nnz(X) + 12) * (self.degree + 2)
        if 0 < self.degree < 1:  # a root magnifies errors near 0: |a^p − b^p| ≤ |a − b|^p
            terms = 4 * ((row_nnz(X) + 12) * UNIT) ** self.degree / UNIT
        return Frame(None, weight, float(unit), terms, shift=self.coef0 / highest)

    def tile(self, a: Points, b: Points, frame: Frame) -> Array:
        base = inner(a.Z, b.Z)
        base += float(frame.shift)
        return power(base, self.degree)

    def lengths(self, points: Points, frame: Frame) -> Array:
        return (points.sizes + abs(frame.shift)) ** self.degree

    def diagonal(self, points: Points, frame: Frame) -> Array:
        return power(points.sizes + frame.shift, self.degree)


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """tanh(γ x·y + coef0): indefinite for many parameters, which a fit checks."""

    gamma: float
    coef0: float = 1
    positive: ClassVar[bool] = False
    parameters: ClassVar[str] = "gamma and coef0"

    def frame(self, X: Block) -> Frame:
        weight = float(np.sqrt(self.gamma))
        with np.errstate(over="ignore"):
            largest = float(squares(shifted(X, None, weight)).max(initial=0.0))
        if not largest < LARGEST:
            raise DataError(f"kernel='sigmoid': gamma*x.x overflows with gamma={self.gamma:g}; scale the columns")
        # No value is further from another than 2, however long the rows are.
        terms = min((row_nnz(X) + 12) * (1 + largest + abs(self.coef0)), 2 / UNIT)
        return Frame(None, weight, terms=terms)

    def tile(self, a: Points, b: Points, frame: Frame) -> Array:
        t = inner(a.Z, b.Z)
        t += float(self.coef0)
        return np.tanh(t, out=t) if isinstance(t, np.ndarray) else functions_for(t).tanh(t)

    def lengths(self, points: Points, frame: Frame) -> Array:
        return ones(points)

    def diagonal(self, points: Points, frame: Frame) -> Array:
        return np.tanh(points.sizes + self.coef0)


def power(base: Array, degree: float) -> Array:
    """base^degree, by multiplications where the degree is a whole number: NumPy's own power is fifty times as slow."""
    if not float(degree).is_integer() or degree < 0:
        with np.errstate(invalid="ignore"):
            return base**degree
    out, factor, left = functions_for(base).ones_like(base), base, int(degree)
    while left:
        if left & 1:
            out *= factor
        left >>= 1
        if left:
            factor = factor * factor
    return out


def _divided(Z: Block, by: Any) -> Block:
    """Rows divided by these numbers, by 1 where they are 0."""
    if is_device_array(Z):
        xp = functions_for(by)
        return Z / xp.where(by > 0, by, xp.ones_like(by))[:, None]
    by = np.asarray(by if isinstance(by, np.ndarray) else by.toarray()).ravel()
    by = np.where(by > 0, by, 1.0)[:, None]
    if isinstance(Z, np.ndarray):
        return np.asarray(Z / by)
    Z = Z.tocsr()
    return type(Z)((Z.data / np.repeat(by.ravel(), np.diff(Z.indptr)), Z.indices, Z.indptr), shape=Z.shape)

"""What a kernel is: inner products of features, of rows that are scaled once so that nothing overflows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ritz.errors import DataError
from ritz.linalg.arrays import functions_for, is_device_array
from ritz.linalg.dense import UNIT, Array, row_squares
from ritz.moments.preprocessing import Preprocessing
from ritz.rows import Rows
from ritz.rows.base import Block, dense

LARGEST = 2.0**1000  # values beyond it are refused: their sums could overflow
LEAST = 2.0**-1021  # the least power of two that numbers are divided by: its inverse is finite


@dataclass(frozen=True, eq=False)
class Points:
    """Rows as a kernel wants them: Z = (x − origin)·weight, and a number for each row that every value needs."""

    Z: Block  # (n, d), dense or sparse
    sizes: Array  # (n,) ‖z‖² or what else a kernel needs of every row

    def __len__(self) -> int:
        return int(self.Z.shape[0])

    def __getitem__(self, key: Any) -> Points:
        return Points(self.Z[key, :] if is_device_array(self.Z) else self.Z[key], self.sizes[key])

    def beside(self, rows: Rows) -> Points:
        """The same where the blocks of rows are."""
        return Points(rows.here(dense(self.Z)), rows.here(self.sizes))


@dataclass(frozen=True, eq=False)
class Frame:
    """How rows become points: what was learned from the rows of the fit, and holds for new ones too."""

    origin: Array | None = None  # (d,) subtracted where the kernel, or centring, is not changed by it; None for 0
    weight: float = 1.0  # rows are multiplied by it
    unit: float = 1.0  # the kernel of points is that of rows divided by unit²
    terms: float = 0.0  # error of an inner product of features over their lengths, in units of the rounding of float64
    factor: float = 1.0  # that distances between points are multiplied by
    exact: bool = False  # whether distances are summed from differences, as the shorter way would lose their digits
    grain: float = 0.0  # relative precision of values that were given
    shift: float = 0.0  # of the value that is raised to a power, in the units of the points

    def beside(self, rows: Rows) -> Frame:
        """The same where the blocks of rows are."""
        return self if self.origin is None else replace(self, origin=rows.here(self.origin))

    @property
    def rounding(self) -> float:
        """Relative error of an inner product of features."""
        return self.terms * UNIT / max(1 - self.terms * UNIT, 0.5)


class Kernel(ABC):
    """k(x, y) = φ(x)·φ(y). Its parameters are those of the formula; unless a kernel says more, points are features.

    Points and values are computed where the rows are, on a device too, in float64.
    """

    positive: ClassVar[bool] = True  # whether it is positive semidefinite whatever the rows are
    local: ClassVar[bool] = False  # whether gamma is a bandwidth, beyond which values are nearly 0
    narrow: ClassVar[bool] = True  # whether float32 is worth while
    on_devices: ClassVar[bool] = True  # whether rows may stay on their device
    parameters: ClassVar[str] = ""  # those that an error message says to change
    limit: str = "they lie too far from those of the fit"  # why new rows may have no finite value

    @abstractmethod
    def frame(self, X: Block) -> Frame:
        """How the rows of a fit become points."""

    def frame_of_range(self, low: Array, high: Array, shifted: bool) -> Frame:
        """The same for all rows whose entries lie between these; `shifted` where an origin may be subtracted."""
        far = np.maximum(np.abs(low), np.abs(high))
        return self.frame(np.stack([far, -far]))

    def tile(self, a: Points, b: Points, frame: Frame) -> Array:  # (m, ·), (p, ·) -> (m, p)
        """Inner products of the features, divided by unit². The caller may write to it."""
        return inner(a.Z, b.Z)

    def lengths(self, points: Points, frame: Frame) -> Array:  # (n,)
        """Upper bounds of ‖φ(x)‖², divided by unit²; for positive semidefinite kernels, the diagonal."""
        return points.sizes

    def points(self, X: Block, frame: Frame) -> Points:
        """Rows as this kernel wants them; infinite where they lie too far out for float64."""
        with np.errstate(over="ignore", invalid="ignore"):
            Z = shifted(X, frame.origin, frame.weight)
            return Points(Z, squares(Z))

    def kept(self, points: Points) -> Points:
        """What a model needs of the points to compare new ones with them."""
        return points

    def diagonal(self, points: Points, frame: Frame) -> Array:
        """k(x, x)/unit² of every row."""
        return self.lengths(points, frame)


class Movable(Kernel):
    """A kernel, or kernel PCA with it, that does not change when all rows are moved."""

    def frame_of_range(self, low: Array, high: Array, shifted: bool) -> Frame:
        """No row is further from the middle of the range than its ends."""
        return self.frame(np.stack([low, high])) if shifted else super().frame_of_range(low, high, shifted)


def shifted(X: Block, origin: Array | None, weight: float) -> Block:
    """(x − origin)·weight in float64; rows stay sparse where there is no origin, as after a fit of sparse ones."""
    if is_device_array(X):
        return Preprocessing(origin)(X) * weight
    if not isinstance(X, np.ndarray) and origin is None:
        return X.astype(np.float64) * weight
    Z = Preprocessing(origin)(dense(X))
    Z *= weight
    return Z


def squares(Z: Block) -> Array:
    """‖z‖² of every row."""
    if isinstance(Z, np.ndarray) or is_device_array(Z):
        return row_squares(Z)
    return np.asarray(Z.multiply(Z).sum(axis=1)).ravel()


def inner(a: Block, b: Block) -> Array:
    """z·w of all pairs of rows."""
    return dense(a @ b.T)


def ones(points: Points) -> Array:  # (n,)
    """1 for every point, in float64."""
    xp = functions_for(points.sizes)
    return xp.ones_like(points.sizes, dtype=xp.float64)


def row_nnz(X: Block) -> int:
    """The most entries of a row that are stored: an inner product of two rows sums no more products."""
    return X.shape[1] if isinstance(X, np.ndarray) else int(np.diff(X.tocsr().indptr).max(initial=0))


def center(X: Block) -> Array | None:
    """The mean of the rows; None where they are sparse, or it is 0 or not finite."""
    if not isinstance(X, np.ndarray):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        mean: Array = np.asarray(np.mean(X, axis=0, dtype=np.float64))
    return mean if np.isfinite(mean).all() and mean.any() else None


def magnitude(X: Block, origin: Array | None) -> float:
    """A power of two near the largest entry of x − origin; 1 where all are 0."""
    values = X if isinstance(X, np.ndarray) else X.data
    if origin is None:
        largest = float(np.abs(values).max(initial=0.0))
    else:
        with np.errstate(over="ignore"):
            high, low = values.max(axis=0) - origin, origin - values.min(axis=0)
        largest = max(float(np.max(high)), float(np.max(low)))
    if not largest < LARGEST**1.02:
        raise DataError("rows lie further apart than float64 can represent (1.8e308); scale the columns")
    return max(power_of_two(largest), LEAST)


def power_of_two(value: float) -> float:
    """The next power of two, by which dividing is exact; 1 for 0."""
    return float(np.ldexp(1.0, int(np.frexp(value)[1]))) if value > 0 else 1.0

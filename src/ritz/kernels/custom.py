"""Kernels without a formula: a precomputed matrix, and a function of two rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ritz.errors import DataError
from ritz.kernels.base import LARGEST, Frame, Kernel, Points, magnitude, power_of_two
from ritz.linalg.dense import Array
from ritz.rows.base import Block, dense


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Rows are the kernel's values with the points of the fit: the matrix itself when fitting."""

    positive: ClassVar[bool] = False
    on_devices: ClassVar[bool] = False

    def frame(self, X: Block) -> Frame:
        unit = power_of_two(float(np.sqrt(magnitude(X, None))))
        narrow = X.dtype.kind == "f" and X.dtype.itemsize < 8
        return Frame(weight=1 / unit / unit, unit=unit, grain=float(np.finfo(X.dtype).eps) if narrow else 0.0)

    def points(self, X: Block, frame: Frame) -> Points:
        """The numbers of the rows take the place of sizes: they say which columns belong to them."""
        Z = dense(X) * np.float64(frame.weight)
        return Points(Z, np.arange(len(Z), dtype=np.float64))

    def kept(self, points: Points) -> Points:
        """Their numbers alone: the values come with new rows."""
        return Points(np.empty((len(points), 0)), points.sizes)

    def tile(self, a: Points, b: Points, frame: Frame) -> Array:
        first, last = int(b.sizes[0]), int(b.sizes[-1])
        if last - first == len(b) - 1:
            return a.Z[:, first : last + 1].copy()
        return a.Z[:, b.sizes.astype(np.intp)]

    def lengths(self, points: Points, frame: Frame) -> Array:
        """The largest entry of every row: |K_ij| is at most the root of both, even where K is indefinite."""
        return np.abs(points.Z).max(axis=1)

    def diagonal(self, points: Points, frame: Frame) -> Array:
        return points.Z[np.arange(len(points)), points.sizes.astype(np.intp)]


@dataclass(frozen=True)
class Custom(Kernel):
    """A function of two rows that returns a number; or of two blocks of rows that returns a matrix, which is faster."""

    function: Callable[..., Any]
    params: dict[str, Any] = field(default_factory=dict)
    positive: ClassVar[bool] = False
    narrow: ClassVar[bool] = False
    on_devices: ClassVar[bool] = False
    parameters: ClassVar[str] = "kernel_params"

    def frame(self, X: Block) -> Frame:
        """`exact` says that the function wants single rows."""
        some = dense(X[np.arange(3) % X.shape[0]]).astype(np.float64)
        if self._takes_blocks(some):
            return Frame(terms=8)  # its values are taken as exact, to the last digits
        for x in some:
            value = self._number(x, some[0])
            if not abs(value) < LARGEST:
                raise DataError(f"kernel={self!r} returned {value:g} for two rows; its values must be finite")
        return Frame(terms=8, exact=True)

    def points(self, X: Block, frame: Frame) -> Points:
        Z = dense(X).astype(np.float64)
        return Points(Z, np.zeros(len(Z)))

    def tile(self, a: Points, b: Points, frame: Frame) -> Array:
        if frame.exact:
            return np.array([[self._number(x, y) for y in b.Z] for x in a.Z])
        return np.array(self._block(a.Z, b.Z), dtype=np.float64)

    def lengths(self, points: Points, frame: Frame) -> Array:
        return np.abs(self.diagonal(points, frame))

    def diagonal(self, points: Points, frame: Frame) -> Array:
        single = (points[i : i + 1] for i in range(len(points)))
        return np.array([float(self.tile(point, point, frame)[0, 0]) for point in single])

    def __repr__(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))

    def _number(self, x: Array, y: Array) -> float:
        value = np.asarray(self.function(x, y, **self.params))
        if value.size != 1 or value.dtype.kind not in "biuf":
            raise DataError(f"kernel={self!r} returned {value.dtype} of shape {value.shape} for two rows, not a number")
        return float(value.reshape(()))

    def _takes_blocks(self, some: Array) -> bool:
        """Whether the function takes blocks, and returns for them what it returns for their pairs.

        Random rows are tried: with rows of the data, chance could decide. Only where it has no value for them, neither
        way, are rows of the data tried, and nothing but shapes counts.
        """
        d = some.shape[1]
        m, p = [size for size in (2, 3, 4) if size != d][:2]  # the product a·b of such blocks has no shape
        known = some[np.arange(4) % len(some)]
        for trial in (np.random.default_rng(0).uniform(0.1, 1.0, (4, d)), known):
            with np.errstate(all="ignore"):
                block = self._tried(self._block, trial[:m], trial[:p])
                single = self._tried(lambda a, b: [[self._number(x, y) for y in b] for x in a], trial[:m], trial[:p])
            if block is not None and single is not None:
                return trial is not known and bool(np.allclose(block, single, equal_nan=True))
            if block is not None or single is not None:
                return block is not None
        return False

    def _block(self, a: Array, b: Array) -> Array:
        block = np.asarray(self.function(a, b, **self.params))
        if block.shape != (len(a), len(b)) or block.dtype.kind not in "biuf":
            raise DataError(
                f"kernel={self!r} returned {block.dtype} of shape {block.shape} for blocks of {len(a)} and "
                f"{len(b)} rows, not a number for every pair"
            )
        return block

    @staticmethod
    def _tried(f: Callable[[Array, Array], Any], a: Array, b: Array) -> Array | None:
        """Its value, or None where it has none: a function of rows may do anything with blocks, and the reverse."""
        try:
            return np.asarray(f(a.copy(), b.copy()), np.float64)
        except Exception:
            return None

"""Preprocessing of rows: centring and scaling, block by block and never on a copy of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz.linalg import Array
from ritz.rows.base import Block


@dataclass(frozen=True)
class Preprocessing:
    """z = ((x − shift) − delta) · weight.

    The mean is kept as shift + delta, two words: at an offset of 1e8 the rounding of the mean itself would
    otherwise show in small variances. `None` stands for 0 and 1.
    """

    shift: Array | None = None
    delta: Array | None = None
    weight: Array | None = None

    def __call__(self, block: Block, out: Array | None = None) -> Array:
        """The preprocessed block, in float64 or in the precision of `out`; never the input itself."""
        Z = np.empty(block.shape) if out is None else out[: len(block)]
        if self.shift is None:
            Z[...] = block
        else:
            np.subtract(block, self.shift.astype(Z.dtype), out=Z, dtype=Z.dtype)
        if self.delta is not None:
            Z -= self.delta.astype(Z.dtype)
        if self.weight is not None:
            Z *= self.weight.astype(Z.dtype)
        return Z

    def undo(self, Z: Array) -> Array:
        """x = z / weight + mean. Overwrites Z."""
        if self.weight is not None:
            Z /= self.weight
        if self.mean is not None:
            Z += self.mean
        return Z

    def columns(self, which: slice) -> Preprocessing:
        """The same for some of the columns."""
        cut = [None if part is None else part[which] for part in (self.shift, self.delta, self.weight)]
        return Preprocessing(*cut)

    @property
    def mean(self) -> Array | None:
        """The mean in one word."""
        if self.shift is None or self.delta is None:
            return self.shift
        return self.shift + self.delta

    @classmethod
    def split(cls, mean: Array | None, weight: Array | None, dtype: np.dtype[Any]) -> Preprocessing:
        """Preprocessing whose subtraction is exact to one rounding even in a narrow dtype."""
        if mean is None:
            return cls(None, None, weight)
        high = mean.astype(dtype).astype(np.float64)
        low = mean - high
        return cls(high, low if low.any() else None, weight)

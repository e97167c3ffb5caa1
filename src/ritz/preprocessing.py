"""Preprocessing of rows: centring and scaling, block by block and never on a copy of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz.linalg import Array
from ritz.rows.base import Block, dense

LOOP = 6000  # entries that one run of NumPy's innermost loop should cover


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
        """The preprocessed block, dense, in float64 or in the precision of `out`; never the input itself."""
        block = dense(block)
        Z = np.empty(block.shape) if out is None else out[: len(block)]
        if self.shift is None:
            Z[...] = block
        else:
            _subtract(block, self.shift, Z)
        if self.delta is not None:
            Z -= self.delta.astype(Z.dtype)
        if self.weight is not None:
            Z *= self.weight.astype(Z.dtype)
        return Z

    def shifted(self, block: Block, buffer: Array) -> Array:
        """x − shift alone, not to be written to: products with few columns take the rest on themselves."""
        if self.shift is None and _ready(block):
            return block
        Z = buffer[: len(block)]
        if self.shift is None:
            Z[...] = block
        else:
            _subtract(block, self.shift, Z)
        return Z

    def times(self, block: Block, V: Array) -> Array:  # (m, d), (d, b) -> (m, b)
        """Z V in the precision of V; centred before it is multiplied, but for sparse rows, where that cannot be."""
        if isinstance(block, np.ndarray):
            return self(block, np.empty(block.shape, V.dtype)) @ V
        W, mean = self.weighted(V), self.mean
        product: Array = block @ W.astype(V.dtype)
        return product if mean is None else product - (mean @ W).astype(V.dtype)

    def sizes(self, block: Block) -> Array:  # (m, d) -> (m,)
        """‖z‖² of every row."""
        if isinstance(block, np.ndarray):
            Z = self(block)
            return np.asarray(np.einsum("ij,ij->i", Z, Z))
        plain, center = self.uncentred(block), self.center
        sizes: Array = plain.power(2).sum(axis=1)
        return sizes if center is None else np.maximum(sizes - 2 * (plain @ center) + center @ center, 0.0)

    def uncentred(self, block: Any) -> Any:
        """x·weight of a sparse block, sparse, in float64."""
        data = block.data.astype(np.float64)
        if self.weight is not None:
            data *= self.weight[block.indices]
        return type(block)((data, block.indices, block.indptr), shape=block.shape)

    @property
    def center(self) -> Array | None:
        """mean·weight: what z = x·weight − center subtracts."""
        mean = self.mean
        return mean if mean is None or self.weight is None else mean * self.weight

    @property
    def mean(self) -> Array | None:
        """What is subtracted, in one word."""
        parts = [part for part in (self.shift, self.delta) if part is not None]
        return sum(parts[1:], start=parts[0]) if parts else None

    def weighted(self, V: Array) -> Array:  # (d, b) -> (d, b)
        """V·weight, row by row."""
        return V if self.weight is None else V * self.weight[:, None]

    def remainder(self, V: Array) -> Array | float:  # (d, b) -> (b,)
        """deltaᵀV: what Z V loses against shifted rows times V, the same for every row."""
        return 0.0 if self.delta is None else self.delta @ V

    def columns(self, which: slice) -> Preprocessing:
        """The same for some of the columns."""
        cut = [None if part is None else part[which] for part in (self.shift, self.delta, self.weight)]
        return Preprocessing(*cut)

    @classmethod
    def split(cls, mean: Array | None, weight: Array | None, dtype: np.dtype[Any]) -> Preprocessing:
        """Preprocessing whose subtraction is exact to one rounding even in a narrow dtype."""
        if mean is None:
            return cls(None, None, weight)
        high = mean.astype(dtype).astype(np.float64)
        low = mean - high
        return cls(high, low if low.any() else None, weight)


def _ready(block: Block) -> bool:
    """Whether products can read the block as it is."""
    return not isinstance(block, np.ndarray) or (block.dtype == np.float64 and bool(block.flags.c_contiguous))


def _subtract(block: Block, shift: Array, Z: Array) -> None:
    """Z = block − shift, several rows at a time: NumPy's loops are slow to start."""
    if block.dtype != Z.dtype:  # converting first is faster than converting on the way
        Z[...] = block
        block = Z
    shift = shift.astype(Z.dtype)
    m, d = block.shape
    rows = -(-LOOP // d) if block.flags.c_contiguous and Z.flags.c_contiguous else 1
    whole = m // rows * rows
    if rows > 1 and whole:
        np.subtract(block[:whole].reshape(-1, rows * d), np.tile(shift, rows), out=Z[:whole].reshape(-1, rows * d))
    else:
        whole = 0
    np.subtract(block[whole:], shift, out=Z[whole:])

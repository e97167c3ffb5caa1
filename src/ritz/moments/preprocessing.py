"""Preprocessing of rows: centring and scaling, block by block and never on a copy of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz.linalg.dense import Array
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
        Z = self._moved(block, np.empty(block.shape) if out is None else out[: len(block)])
        if self.delta is not None:
            Z -= self.delta.astype(Z.dtype)
        if self.weight is not None:
            Z *= self.weight.astype(Z.dtype)
        return Z

    def nearly(self, block: Block, dtype: np.dtype[Any]) -> Array:
        """(x − shift) · weight of a dense block: all but `lacking`, which is the same for every row."""
        Z = self._moved(block, np.empty(block.shape, dtype))
        if self.weight is not None:
            Z *= self.weight.astype(dtype)
        return Z

    def lacking(self, V: Array) -> Array | float:  # (d, b) -> (b,)
        """Vᵀ(delta · weight): what products of V with `nearly` have too much."""
        return self.remainder(self.weighted(V))

    def shifted(self, block: Block, buffer: Array) -> Array:
        """x − shift alone, not to be written to: products with few columns take the rest on themselves."""
        if self.shift is None and _ready(block):
            return block
        return self._moved(block, buffer[: len(block)])

    def _moved(self, block: Block, Z: Array) -> Array:
        if self.shift is None:
            Z[...] = block
        else:
            _subtract(block, self.shift, Z)
        return Z

    def times(self, block: Block, V: Array) -> Array:  # (m, d), (d, b) -> (m, b)
        """Z V in float64; shifted before it is multiplied, but for sparse rows, where that cannot be."""
        if isinstance(block, np.ndarray):
            product: Array = self.nearly(block, V.dtype) @ V
            return less(product, self.lacking(V))
        W = self.weighted(V)
        product = block @ W
        if self.shift is not None:
            product -= self.shift @ W
        return less(product, self.remainder(W))

    def sizes(self, block: Any) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """‖z‖² of every row, and for sparse ones of what it is the difference: digits are lost by their ratio."""
        if isinstance(block, np.ndarray):
            Z = block if self == Preprocessing() else self(block)
            size = np.einsum("ij,ij->i", Z, Z)
            return size, size
        plain, center = self.uncentred(block), self.center
        sizes: Array = plain.power(2).sum(axis=1)
        if center is None:
            return sizes, sizes
        square = center @ center
        return np.maximum(sizes - 2 * (plain @ center) + square, 0.0), sizes + square

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
    def split(
        cls, mean: Array | None, remainder: Array | None, weight: Array | None, dtype: np.dtype[Any]
    ) -> Preprocessing:
        """Preprocessing by a mean in two words, whose first subtraction is rounded once even in a narrow dtype."""
        if mean is None:
            return cls(None, None, weight)
        with np.errstate(over="ignore"):
            high = mean.astype(dtype).astype(np.float64)
        low = np.where(np.isfinite(high), mean - high, 0.0) + (0.0 if remainder is None else remainder)
        return cls(high, low if low.any() else None, weight)


def two_words(high: Array, low: Array, unit: Array | float = 1.0) -> tuple[Array, Array]:
    """high + low·unit as a rounded sum and its remainder, in that unit: later differences of means keep what one word
    would lose."""
    total = high + low * unit
    part = total - high
    return total, (low - part / unit) + (high - (total - part)) / unit  # whichever is the larger (Knuth's TwoSum)


def mean_in_words(X: Block) -> tuple[Array, Array]:
    """The mean of dense rows, and what its rounding left over."""
    shift: Array = np.asarray(np.mean(X, axis=0, dtype=np.float64))
    return two_words(shift, np.mean(Preprocessing(shift)(X), axis=0))


def _ready(block: Block) -> bool:
    """Whether products can read the block as it is."""
    return not isinstance(block, np.ndarray) or (block.dtype == np.float64 and bool(block.flags.c_contiguous))


def less(Z: Array, vector: Array | float) -> Array:
    """Z with that subtracted from every row, in place."""
    if isinstance(vector, np.ndarray):
        _subtract(Z, vector, Z)
    return Z


def _subtract(block: Block, shift: Array, Z: Array) -> None:
    """Z = block − shift, several rows at a time: NumPy's loops are slow to start."""
    if block.dtype != Z.dtype:  # converting first is faster than converting on the way
        Z[...] = block
        block = Z
    shift = shift.astype(Z.dtype, copy=False)
    m, d = block.shape
    rows = -(-LOOP // d) if block.flags.c_contiguous and Z.flags.c_contiguous else 1
    whole = m // rows * rows
    if rows > 1 and whole:
        np.subtract(block[:whole].reshape(-1, rows * d), np.tile(shift, rows), out=Z[:whole].reshape(-1, rows * d))
    else:
        whole = 0
    np.subtract(block[whole:], shift, out=Z[whole:])

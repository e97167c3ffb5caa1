"""Preprocessing of rows: centring and scaling, block by block and never on a copy of the data.

Also what comes before it: a provisional mean, and units of columns in which no square leaves float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg.arrays import beside, difference, in_float64, is_device_array, namespace, on_host
from ritz.linalg.dense import Array, column_sums, row_squares, times
from ritz.rows import Rows
from ritz.rows.base import Block, dense
from ritz.rows.passes import Cut
from ritz.runtime.threads import pinned, scratch

LOOP, SHORT = 6000, 1500  # entries that one run of NumPy's innermost loop should cover, and of a small block
SMALL = 1 << 16  # entries of such a block
CACHED = 1 << 17  # entries of rows that stay in cache
SAMPLE = 128  # rows averaged into the provisional mean, fewer where they are wide
SPREAD = 1024  # the same where they also tell how far columns spread
WIDE = 1 << 16  # entries of such a sample
# Units below which products with entries of rows may fall below 2⁻¹⁰²², where float64 has fewer and fewer digits.
FAINT = 2.0**-900


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
        if not isinstance(block, np.ndarray):
            return self._on_device(block, self.shift, self.delta, self.weight)
        Z = _subtracted(block, self.shift, np.empty(block.shape) if out is None else out[: len(block)])
        if self.delta is not None:
            Z -= self.delta.astype(Z.dtype)
        if self.weight is not None:
            Z *= self.weight.astype(Z.dtype)
        return Z

    @staticmethod
    def _on_device(block: Any, shift: Array | None, delta: Array | None, weight: Array | None) -> Any:
        """((x − shift) − delta) · weight in float64, where the block is; itself where there is nothing to do."""
        Z = difference(block, shift)
        if delta is not None:
            Z = Z - beside(delta, Z)
        return Z if weight is None else Z * beside(weight, Z)

    def nearly(self, block: Block, dtype: np.dtype[Any], out: Array | None = None) -> Array:
        """(x − shift) · weight of a dense block: all but `lacking`, which is the same for every row."""
        if not isinstance(block, np.ndarray):
            return self._on_device(block, self.shift, None, self.weight)
        Z = _subtracted(block, self.shift, np.empty(block.shape, dtype) if out is None else out)
        if self.weight is not None:
            Z *= self.weight.astype(dtype)
        return Z

    def lacking(self, V: Array) -> Array | float:  # (d, b) -> (b,)
        """Vᵀ(delta · weight): what products of V with `nearly` have too much."""
        return self.remainder(self.weighted(V))

    def shifted(self, block: Block, buffer: Array | None) -> Array:
        """x − shift alone, not to be written to: products with few columns take the rest on themselves."""
        if buffer is None:
            return difference(block, self.shift)
        readable = not isinstance(block, np.ndarray) or (block.dtype == np.float64 and block.flags.c_contiguous)
        if self.shift is None and readable:
            return block
        return _subtracted(block, self.shift, buffer[: len(block)])

    def times(self, block: Block, V: Array) -> Array:  # (m, d), (d, b) -> (m, b)
        """Z V in float64; shifted before it is multiplied, but for sparse rows, where that cannot be."""
        if isinstance(block, np.ndarray) or is_device_array(block):
            if isinstance(block, np.ndarray):
                return self._times(block, np.ascontiguousarray(V))
            return less(times(self.nearly(block, V.dtype), V), self.lacking(V))
        W = self.weighted(V)
        product = block @ W
        if self.shift is not None:
            product -= self.shift @ W
        return less(product, self.remainder(W))

    def _times(self, block: Block, V: Array) -> Array:  # (m, d), (d, b) -> (m, b)
        """The same of dense rows, as many at a time as stay in cache when they are shifted."""
        if self.shift is None and self.weight is None and block.dtype == V.dtype and block.flags.c_contiguous:
            return less(times(block, V), self.lacking(V))
        (m, d), out = block.shape, np.empty((len(block), V.shape[1]), V.dtype)
        step = max(16, CACHED // d)
        for start in range(0, m, step):
            some = block[start : start + step]
            out[start : start + step] = times(self.nearly(some, V.dtype, scratch("shifted", len(some), d, V.dtype)), V)
        return less(out, self.lacking(V))

    def sizes(self, block: Any) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """‖z‖² of every row, and for sparse ones of what it is the difference: digits are lost by their ratio.

        Dense rows are preprocessed already.
        """
        if isinstance(block, np.ndarray) or is_device_array(block):
            size = row_squares(block)
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
        parts = [part for part in (self.shift, self.delta) if part is not None]
        if not parts:
            return None
        mean = sum(parts[1:], start=parts[0])
        return mean if self.weight is None else mean * self.weight

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

    def beside(self, rows: Rows) -> Preprocessing:
        """The same where the blocks of rows are, brought there once and not block by block."""
        if not rows.on_device:
            return self
        return Preprocessing(*(None if part is None else rows.here(part) for part in vars(self).values()))

    @classmethod
    def split(
        cls, mean: Array | None, remainder: Array | None, weight: Array | None, dtype: np.dtype[Any]
    ) -> Preprocessing:
        """Preprocessing by a mean in two words, whose first subtraction is rounded once even in a narrow dtype."""
        if mean is None:
            return cls(None, None, weight)
        if dtype == np.float64:
            return cls(mean, remainder, weight)
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


def less(Z: Array, vector: Array | float) -> Array:
    """Z with that subtracted from every row, in place unless it is on a device."""
    if not isinstance(Z, np.ndarray):
        return Z - beside(vector, Z)
    return _subtracted(Z, vector, Z) if isinstance(vector, np.ndarray) else Z


def _subtracted(block: Block, shift: Array | None, Z: Array) -> Array:
    """Z = block − shift, several rows at a time: NumPy's loops are slow to start."""
    # Converting first, or closing gaps between rows, is faster than to do so on the way.
    if shift is None or block.dtype != Z.dtype or not block.flags.c_contiguous:
        Z[...] = block
        block = Z
    if shift is None:
        return Z
    shift = shift.astype(Z.dtype, copy=False)
    m, d = block.shape
    rows = -(-(LOOP if m * d > SMALL else SHORT) // d)
    whole = m // rows * rows if rows > 1 and block.flags.c_contiguous and Z.flags.c_contiguous else 0
    if whole:
        tiled = np.empty((rows, d), shift.dtype)
        tiled[...] = shift
        np.subtract(block[:whole].reshape(-1, rows * d), tiled.ravel(), out=Z[:whole].reshape(-1, rows * d))
    if whole < m:
        np.subtract(block[whole:], shift, out=Z[whole:])
    return Z


def few_rows(rows: Rows, most: int = SAMPLE) -> Array:
    """Rows taken all over the data, or all of them, in float64."""
    n, d = rows.shape
    size = min(n, most if n > SPREAD else SPREAD, max(16, WIDE // d))  # few rows are taken whole, from every source
    # One layout for all, so that sums are the same to the last bit however the data is stored.
    return np.ascontiguousarray(dense(rows.sample(size)), np.float64)


def provisional_mean(rows: Rows, sample: Array, dtype: np.dtype[Any]) -> Array:
    """The mean of a sample, representable in the type of the rows, or in dtype, so that x − shift is exact.

    Where all the sampled values agree it is that value itself, so that a constant column shifts to exact zeros.
    """
    m, first = len(sample), sample[0]
    with np.errstate(invalid="ignore", over="ignore"), pinned():
        mean = column_sums(sample) / m
        if not np.isfinite(mean).all():  # the sum may have left float64, where the mean has not
            mean = np.add.reduce(sample / m, axis=0)
        (alike,) = (first == sample[-1]).nonzero()  # few columns, as a rule, in which all the others can be the same
        if len(alike):
            mean[alike] = np.where((sample[:, alike] == first[alike]).all(axis=0), first[alike], mean[alike])
        narrow = rows.dtype if rows.dtype.kind == "f" else dtype
        return mean if narrow == np.float64 else mean.astype(narrow).astype(np.float64)


def coarse(mean: Array, sample: Array) -> Array:
    """The mean rounded to a power of two below the deviation of each column, and no further from it than half of that.

    Whole numbers, such as those of pictures, stay whole where they vary by more than that: their products are then
    exact in float32, where the same rounding of most of them, those of the background, would add up.
    """
    deviations = spread_about(mean, sample)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        grid = np.ldexp(1.0, np.clip(np.frexp(deviations)[1] - 1, -1000, 1000))
        rounded = np.rint(mean / grid) * grid
    return np.where((deviations > 0) & np.isfinite(rounded), rounded, mean)


def spread_about(mean: Array, sample: Array) -> Array:
    """The root mean square distance of a sample from that."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.sqrt(np.mean(np.square(sample - mean), axis=0))


def peaks(rows: Rows, shift: Array, columns: NDArray[np.bool_]) -> Array:
    """Largest |x − shift| of those columns, an error where that is no float64."""

    nothing = np.zeros((1, int(np.count_nonzero(columns))))

    def some(block: Any) -> Any:
        if not rows.sparse:
            return block[:, columns]
        X = block.tocsr()
        return X[:, columns] if columns[X.indices].any() else nothing

    def largest(blocks: Iterable[Block]) -> Array:
        found = ends(blocks if rows.on_device else map(some, blocks))
        high, low = (end[columns] for end in found) if rows.on_device else found
        with np.errstate(over="ignore"):
            return np.maximum(np.abs(high - shift[columns]), np.abs(low - shift[columns]))

    found = rows.reduce(largest, np.maximum, cut=Cut.THIN)
    check_differences(found, lambda j: rows.name(int(np.flatnonzero(columns)[j])))
    return found


def ends(blocks: Iterable[Any]) -> tuple[Array, Array]:
    """The largest and the least value of every column; on a device they are compared there, and come here once."""
    found: Any = None
    for block in blocks:
        if not isinstance(block, np.ndarray) and is_device_array(block):
            xp, wide = namespace(block), in_float64(block)
            high, low = xp.max(wide, axis=0), xp.min(wide, axis=0)
        else:
            xp = np
            high, low = (dense(end).ravel().astype(np.float64) for end in (block.max(axis=0), block.min(axis=0)))
        found = (high, low) if found is None else (xp.maximum(found[0], high), xp.minimum(found[1], low))
    return on_host(found)


def check_differences(found: Array, name: Callable[[int], str] = str) -> None:
    """Differences between the entries of columns must be finite."""
    if not np.isfinite(found).all():
        column = name(int(np.argmin(np.isfinite(found))))
        raise DataError(
            f"differences between entries overflow float64 in column {column}; divide the data by its largest entry"
        )


def power_near(sizes: Array) -> Array:
    """The next power of two, as far as its inverse is finite and has all its digits."""
    return np.ldexp(1.0, np.clip(np.frexp(sizes)[1], -1021, 1021))


def units(sizes: Array) -> Array:
    """A power of two near the size of every column; those of size 0 must not decide and take the largest."""
    power = power_near(sizes)
    return np.where(sizes > 0, power, power[sizes > 0].max(initial=0.0) or 1.0)

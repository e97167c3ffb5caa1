"""Where the numbers of every column lie: a provisional mean, and units in which no square leaves float64."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.rows import Rows
from ritz.rows.base import Block, dense

SAMPLE = 1024  # rows averaged into the provisional mean, fewer where they are wide
WIDE = 1 << 16  # entries of that sample
# Units below which products with entries of rows may fall below 2⁻¹⁰²², where float64 has fewer and fewer digits.
FAINT = 2.0**-900


def provisional_mean(rows: Rows, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Mean and spread of rows taken all over the data; the mean is representable in dtype, so that x − shift is exact.

    Where all the sampled values agree it is that value itself, so that a constant column shifts to exact zeros.
    """
    n, d = rows.shape
    size = min(n, SAMPLE, max(16, WIDE // d))
    sample = dense(rows.sample(size)).astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        mean = np.mean(sample / len(sample), axis=0) * len(sample)
        mean = np.where((sample == sample[0]).all(axis=0), sample[0], mean)
        narrow = rows.dtype if rows.dtype.kind == "f" else dtype
        mean = mean.astype(narrow).astype(np.float64)
        return mean, np.sqrt(np.mean(np.square(sample - mean), axis=0))


def peaks(rows: Rows, shift: Array, columns: NDArray[np.bool_]) -> Array:
    """Largest |x − shift| of those columns, an error where that is no float64."""

    def ends(block: Any) -> tuple[Array, ...]:
        if rows.sparse:
            return tuple(
                end.toarray().ravel().astype(np.float64)[columns] for end in (block.max(axis=0), block.min(axis=0))
            )
        part = block[:, columns].astype(np.float64)
        return part.max(axis=0), part.min(axis=0)

    def largest(blocks: Iterable[Block]) -> Array:
        with np.errstate(over="ignore"):
            return np.max([np.abs(end - shift[columns]) for block in blocks for end in ends(block)], axis=0)

    found = rows.reduce(largest, np.maximum)
    check_differences(found, lambda j: rows.name(int(np.flatnonzero(columns)[j])))
    return found


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

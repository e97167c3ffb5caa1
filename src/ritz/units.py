"""Where the numbers of every column lie: a provisional mean, and units in which no square leaves float64."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.linalg import Array
from ritz.rows import Rows
from ritz.rows.base import Block, dense

SAMPLE = 1024  # rows averaged into the provisional mean, fewer where they are wide
WIDE = 1 << 16  # entries of that sample


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
    """Largest |x − shift|/2 of those columns; sparse rows are not shifted."""

    def largest(blocks: Iterable[Block]) -> Array:
        if rows.sparse:
            return np.max([0.5 * abs(block).max(axis=0).toarray().ravel()[columns] for block in blocks], axis=0)
        # Halving first keeps the difference of two huge values finite.
        halves = (block[:, columns].astype(np.float64) * 0.5 - shift[columns] * 0.5 for block in blocks)
        return np.max([np.abs(half).max(axis=0) for half in halves], axis=0)

    return rows.reduce(largest, np.maximum)


def units(sizes: Array) -> Array:
    """A power of two near the size of every column; those of size 0 must not decide and take the largest."""
    power = np.ldexp(1.0, np.clip(np.frexp(sizes)[1], -1021, 1021))
    return np.where(sizes > 0, power, power[sizes > 0].max(initial=0.0) or 1.0)

"""Resamples: how often every row is in each of them. What is drawn depends on the seed alone, not on how rows are
read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError, ParameterError
from ritz.linalg.dense import Array
from ritz.runtime.wording import plural

BLOCK = 1024  # rows whose weights one generator draws
COUNTED = 1 << 24  # counts of rows that are kept; beyond them, weights are drawn block by block
FEW = 64  # rows of which Poisson weights may leave less than two
TRIES = 1000  # before a draw with two rows is given up
POISSON, MULTINOMIAL, GIVEN = "Poisson weights", "rows drawn with replacement", "the weights given"


@dataclass(frozen=True, eq=False)
class Resamples:
    """Weights of n rows in each of `count` resamples.

    Attributes
    ----------
    block : of (start, stop), the weights (count, stop − start) of these rows; start is a multiple of `BLOCK`, and stop
        is as well, or n
    kind : how they came about
    redrawn : resamples that had less than two different rows, and were drawn again
    """

    n: int
    count: int
    block: Callable[[int, int], Array]
    kind: str
    redrawn: int = 0


def drawn(n: int, count: int, seed: int) -> Resamples:
    """Random resamples of n rows: rows drawn with replacement while their counts are few enough to be kept, else
    independent Poisson weights (Hanley and MacGibbon 2006), drawn block by block."""
    if n * count <= COUNTED or n < FEW:
        return _multinomial(n, count, seed)

    def block(start: int, stop: int) -> Array:
        generator = np.random.default_rng([seed, start // BLOCK])
        return generator.poisson(1.0, (BLOCK, count))[: stop - start].T.astype(np.float64)

    return Resamples(n, count, block, POISSON)


def _multinomial(n: int, count: int, seed: int) -> Resamples:
    generator, kind = np.random.default_rng(seed), np.uint8 if n < 256 else np.uint16 if n < 1 << 16 else np.uint32
    counts, redrawn = np.empty((count, n), kind), 0
    for b in range(count):
        for _ in range(TRIES):
            counts[b] = np.bincount(generator.integers(0, n, n), minlength=n)
            if np.count_nonzero(counts[b]) >= 2:
                break
            redrawn += 1
        else:
            raise DataError(f"{n} rows leave no resample with two different ones", "give more rows")
    return Resamples(n, count, lambda start, stop: counts[:, start:stop].astype(np.float64), MULTINOMIAL, redrawn)


def by_indices(indices: Any, n: int) -> Resamples:
    """Resamples whose rows are given: (count, any) indices from 0, one line for each."""
    found = _matrix("indices", indices)
    if found.ndim != 2 or found.dtype.kind not in "iu" or not found.shape[0]:
        raise ParameterError(
            "indices", _brief(found), "must be a matrix of integers, a line of row numbers per resample"
        )
    if found.size and (found.min() < 0 or found.max() >= n):
        raise ParameterError(
            "indices", int(found.min() if found.min() < 0 else found.max()), f"must be from 0 to {n - 1}"
        )
    counts = np.stack([np.bincount(line, minlength=n) for line in found]).astype(np.uint32)
    return _given(counts)


def by_weights(weights: Any, n: int) -> Resamples:
    """Resamples whose weights are given: (count, n), not negative."""
    found = _matrix("weights", weights)
    if found.ndim != 2 or found.shape[1] != n or not found.shape[0] or found.dtype.kind not in "iufb":
        raise ParameterError(
            "weights", _brief(found), f"must be a matrix of numbers with {n} columns, one per row of X"
        )
    if not np.isfinite(found).all() or (found < 0).any():
        line = int(np.argmax((~np.isfinite(found) | (found < 0)).any(axis=1)))
        raise ParameterError("weights", _brief(found), f"must be finite and not negative, but draw {line} is not")
    return _given(found)


def _matrix(name: str, given: Any) -> NDArray[Any]:
    try:
        return np.asarray(given)
    except ValueError:
        raise ParameterError(name, "given", "must be a matrix: lines of equal length") from None


def _given(weights: NDArray[Any]) -> Resamples:
    distinct = np.count_nonzero(weights, axis=1)
    if (distinct < 2).any():
        draw = int(np.argmax(distinct < 2))
        left = f"{distinct[draw]} {plural(int(distinct[draw]), 'row')}"
        raise DataError(
            f"draw {draw}, counted from 0, leaves {left}, and a variance needs 2 different ones", "draw it again"
        )
    count, n = weights.shape
    return Resamples(n, count, lambda start, stop: weights[:, start:stop].astype(np.float64), GIVEN)


def _brief(found: NDArray[Any]) -> str:
    return f"an array of {found.dtype} of shape {found.shape}"

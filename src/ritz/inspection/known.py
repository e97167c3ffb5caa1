"""What passes over all rows in memory tell exactly: ends of columns, gaps, duplicates, how often a value is there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.inspection.duplicates import hashes, repeats
from ritz.linalg.dense import Array
from ritz.rows import Rows
from ritz.rows.base import Block
from ritz.rows.passes import Cut
from ritz.runtime.threads import cached_property

MOST_ROWS = 1 << 24  # a number for every row is kept, to find equal ones
LISTED = 1000  # cells beyond limits


@dataclass(frozen=True, eq=False)
class Known:
    """Facts about all rows of an array or a table in memory."""

    rows: Rows
    _counted: dict[tuple[int, float], int] = field(default_factory=dict)

    @cached_property
    def _ends(self) -> tuple[Array, Array, NDArray[np.intp], NDArray[np.intp]]:
        return self.rows.reduce(_ends, _together, cut=Cut.THIN)

    @property
    def low(self) -> Array:
        """(d,) the least finite values; NaN of a column without any."""
        return np.where(np.isinf(self._ends[0]), np.nan, self._ends[0])

    @property
    def high(self) -> Array:
        return np.where(np.isinf(self._ends[1]), np.nan, self._ends[1])

    @property
    def missing(self) -> NDArray[np.intp]:
        return self._ends[2]

    @property
    def infinite(self) -> NDArray[np.intp]:
        return self._ends[3]

    @cached_property
    def duplicates(self) -> tuple[int, tuple[int, int] | None]:
        """How many rows repeat an earlier one, and the first pair."""
        n, d = self.rows.shape
        return repeats(self.rows.map(hashes, exact=False), np.arange(n), d)

    def count(self, j: int, value: float) -> int:
        """How often a value stands in a column."""
        if (j, value) not in self._counted:
            found = self.rows.reduce(
                lambda blocks: sum(int(np.count_nonzero(block[:, j] == value)) for block in blocks), _plus, cut=Cut.THIN
            )
            self._counted[j, value] = found
        return self._counted[j, value]

    def beyond(self, low: Array, high: Array) -> list[tuple[int, int, float]]:
        """Finite cells outside of these limits, the first of them if they are many: row, column, value."""
        if not ((self.low < low) | (self.high > high)).any():
            return []

        def some(pairs: Iterable[tuple[Block, range]]) -> list[tuple[int, int, float]]:
            found: list[tuple[int, int, float]] = []
            for block, places in pairs:
                with np.errstate(invalid="ignore"):
                    out = ((block < low) | (block > high)) & np.isfinite(block)
                if len(found) < LISTED and out.any():
                    i, j = np.nonzero(out)
                    where = zip(i.tolist(), j.tolist(), block[i, j].tolist(), strict=True)
                    found += [(places[a], b, float(value)) for a, b, value in where]
            return found[:LISTED]

        return self.rows.reduce(some, _plus, beside=range(self.rows.shape[0]), cut=Cut.THIN)


def known_of(rows: Rows) -> Known | None:
    """What passes tell of rows for which they are cheap; None of others."""
    cheap = rows.in_memory and not (rows.scattered or rows.sparse or rows.on_device or rows.copied)
    return Known(rows) if cheap and rows.shape[0] <= MOST_ROWS else None


def _ends(blocks: Iterable[Block]) -> Any:
    total: Any = None
    for block in blocks:
        if block.dtype.kind == "f" and not np.isfinite(block).all():
            there = np.isfinite(block)
            low = np.min(block, axis=0, where=there, initial=np.inf)
            high = np.max(block, axis=0, where=there, initial=-np.inf)
            gaps, endless = np.isnan(block).sum(axis=0), np.isinf(block).sum(axis=0)
        else:
            low, high = block.min(axis=0), block.max(axis=0)
            gaps = endless = np.zeros(block.shape[1], np.intp)
        found = (low.astype(np.float64), high.astype(np.float64), gaps, endless)
        total = found if total is None else _together(total, found)
    return total


def _together(a: Any, b: Any) -> Any:
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1]), a[2] + b[2], a[3] + b[3]


def _plus(a: Any, b: Any) -> Any:
    return a + b

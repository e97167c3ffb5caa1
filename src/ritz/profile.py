"""A look at rows before anything is fitted: what is missing, what is constant, how differently columns vary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.linalg import Array
from ritz.rows import Rows
from ritz.rows.base import dense

LOOKED_AT, LOOKED_BYTES = 4096, 1 << 26  # rows, and fewer where they are long


@dataclass(frozen=True, eq=False)
class Profile:
    """What some rows say about all of them.

    Attributes
    ----------
    looked_at : rows that were looked at
    whole : whether these were all
    missing : (d,) cells of theirs without a value
    deviations : (d,) standard deviations of the columns
    """

    looked_at: int
    whole: bool
    missing: Array
    deviations: Array
    names: tuple[str, ...]

    @classmethod
    def of(cls, rows: Rows, size: int = LOOKED_AT) -> Profile:
        """Rows from all over the data, or from some parts of a file.

        Examples
        --------
        >>> from ritz.rows import as_rows
        >>> found = Profile.of(as_rows(np.array([[1.0, 100.0], [2.0, 300.0], [3.0, 200.0]])))
        >>> found.times, found.widest
        ('100 times', '1')
        """
        n, d = rows.shape
        size = max(2, min(size, LOOKED_BYTES // (8 * d)))
        block = rows.exact(rows.block(0, n) if n <= size else rows.sample(size))
        block = dense(block).astype(np.float64)
        there = np.isfinite(block)
        count = np.maximum(there.sum(axis=0), 1)
        largest = np.max(np.abs(block), axis=0, where=there, initial=0.0)
        unit = np.where(largest > 0, largest, 1.0)  # squares of 1e200 would overflow
        values = np.where(there, block, 0.0) / unit
        mean = values.sum(axis=0) / count
        spread = np.square(np.where(there, values - mean, 0.0)).sum(axis=0) / np.maximum(count - 1, 1)
        names = tuple(rows.name(j) for j in range(d))
        return cls(len(block), len(block) == n, np.isnan(block).sum(axis=0), np.sqrt(spread) * unit, names)

    @property
    def constant(self) -> list[str]:
        """Columns that do not vary in what was looked at."""
        return [self.names[j] for j in np.flatnonzero((self.deviations == 0) & (self.missing < self.looked_at))]

    @property
    def empty(self) -> list[str]:
        """Columns without any value in what was looked at."""
        return [self.names[j] for j in np.flatnonzero(self.missing == self.looked_at)]

    @property
    def spread(self) -> float:
        """The largest deviation over the smallest, of columns that vary at all."""
        varying = self.deviations[self.deviations > 0]
        return float(varying.max() / varying.min()) if len(varying) else 1.0

    @property
    def times(self) -> str:
        """The same, in words."""
        spread = self.spread
        return f"{spread:,.0f} times" if 10 <= spread < 1e6 else f"{spread:.2g} times"

    @property
    def widest(self) -> str:
        """The column that varies most."""
        return self.names[int(np.argmax(self.deviations))]

    @property
    def narrowest(self) -> str:
        """The column that varies least, but does."""
        return self.names[int(np.argmin(np.where(self.deviations > 0, self.deviations, np.inf)))]

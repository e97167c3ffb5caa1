"""A look at rows before anything is fitted: what is missing, what is constant, how differently columns vary."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.dense import Array
from ritz.rows import Rows
from ritz.rows.base import dense

LOOKED_AT, LOOKED_BYTES = 4096, 1 << 25  # rows of data that take more bytes than these
EMPTY, GAPPY = 0.5, 0.5  # share of cells without a value that makes a column, or a row, worth nothing
FEW = 0.1  # share of rows with gaps that can be spared
ENOUGH = 3  # rows without gaps that are worth a fit
WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[%°€$]")
# What a name says about the unit of a column: a unit, or what is measured in one of its own.
UNITS = {
    **{unit: unit for unit in ("mm", "cm", "km", "mg", "kg", "ml", "ms", "hz", "khz", "kpa", "hpa", "lb", "lbs", "ft")},
    **dict.fromkeys(("year", "years", "yr", "yrs", "age"), "years"),
    **dict.fromkeys(("height", "length", "width", "depth", "distance"), "length"),
    **dict.fromkeys(("weight", "mass"), "mass"),
    **dict.fromkeys(("temperature", "temp", "celsius", "fahrenheit", "°"), "temperature"),
    **dict.fromkeys(("price", "income", "salary", "cost", "usd", "eur", "€", "$"), "money"),
    **dict.fromkeys(("percent", "pct", "%"), "percent"),
    **{unit: unit for unit in ("pressure", "speed", "g", "days", "hours", "minutes")},
}


@dataclass(frozen=True, eq=False)
class Profile:
    """What rows, or some from all over them, say about all.

    Attributes
    ----------
    looked_at : rows that were looked at
    whole : whether these were all
    missing, infinite : (d,) missing and infinite cells of every column
    deviations : (d,) standard deviations of the columns
    with_gaps, mostly_gaps : how many rows lack a value, or most of them, in columns that are not nearly empty
    constant_if_dropped : (d,) whether a column has one value in all rows without a gap
    """

    looked_at: int
    whole: bool
    missing: Array
    infinite: Array
    deviations: Array
    with_gaps: int
    mostly_gaps: int
    constant_if_dropped: NDArray[np.bool_]
    names: tuple[str, ...]

    @classmethod
    def of(cls, rows: Rows) -> Profile:
        """All rows, or where they are many, some from all over the data.

        Examples
        --------
        >>> from ritz.rows import as_rows
        >>> found = Profile.of(as_rows(np.array([[1.0, 100.0], [2.0, 300.0], [3.0, 200.0]])))
        >>> found.times, found.widest
        ('100 times', '1')
        """
        n, d = rows.shape
        whole = n <= 2 or 8 * n * d <= LOOKED_BYTES
        some = rows.exact(rows.block(0, n) if whole else rows.spread(max(2, min(LOOKED_AT, LOOKED_BYTES // (8 * d)))))
        return cls.of_block(dense(some).astype(np.float64), n, tuple(rows.name(j) for j in range(d)))

    @classmethod
    def of_block(cls, block: Array, n: int, names: tuple[str, ...]) -> Profile:
        """The same of some of n rows, or all of them, that were read already."""
        gaps = np.isnan(block)
        missing = gaps.sum(axis=0)
        used = gaps[:, missing <= EMPTY * len(block)]
        complete = block[~used.any(axis=1)]
        return cls(
            len(block),
            len(block) == n,
            missing,
            np.isinf(block).sum(axis=0),
            _deviations(block),
            int(used.any(axis=1).sum()),
            int((used.mean(axis=1) > GAPPY).sum()) if used.shape[1] else 0,
            (complete == complete[:1]).all(axis=0),
            names,
        )

    @property
    def constant(self) -> list[str]:
        """Columns that do not vary in what was looked at."""
        return [self.names[j] for j in np.flatnonzero((self.deviations == 0) & (self.missing < self.looked_at))]

    def varies(self, missing: str) -> bool:
        """Whether any column does that is worth something, when missing values are dealt with like that."""
        moving = ~self.constant_if_dropped if missing == "drop" else self.deviations > 0
        return bool(np.delete(moving, self.worthless).any())

    @property
    def empty(self) -> list[str]:
        """Columns without any value in what was looked at."""
        return [self.names[j] for j in np.flatnonzero(self.missing == self.looked_at)]

    @property
    def worthless(self) -> list[int]:
        """Columns with values, but hardly any, or with infinities; none where all are like that."""
        hardly = (self.missing > EMPTY * self.looked_at) & (self.missing < self.looked_at)
        found = np.flatnonzero(hardly | (self.infinite > 0))
        return [] if len(found) + len(self.empty) >= len(self.names) else [int(j) for j in found]

    @property
    def remedy(self) -> str:
        """What to do about gaps: drop the rows where few have any or they hold nothing else, or put means there.

        As `missing` of `ritz.read` calls it; "error" where there are none, those of columns aside that are worthless.
        """
        others = np.delete(self.missing, self.worthless)
        if not (others % self.looked_at).any():  # a column without any value is left out anyway
            return "error"
        sparable = self.with_gaps <= FEW * self.looked_at or self.mostly_gaps == self.with_gaps
        usable = self.with_gaps > 0 and self.looked_at - self.with_gaps >= ENOUGH
        return "drop" if sparable and usable else "mean"

    @property
    def units(self) -> set[str]:
        """Different units of the columns, as far as their names tell; one of no name where one does not."""
        words = ([word.lower() for word in reversed(WORDS.findall(name))] for name in self.names)
        return {next((UNITS[word] for word in those if word in UNITS), "") for those in words}

    def needs_scale(self, apart: float) -> bool:
        """Whether columns should be given the same weight: units differ, or deviations by more than `apart` times."""
        known = self.units - {""}
        if len(self.units) == 1 and known:
            return False
        return self.spread > apart or len(known) > 1

    @property
    def spread(self) -> float:
        """The largest deviation over the smallest, of columns that vary at all."""
        varying = self.deviations[self.deviations > 0]
        with np.errstate(over="ignore"):
            return float(varying.max() / varying.min()) if len(varying) else 1.0

    @property
    def times(self) -> str:
        """The same, in words."""
        spread = self.spread
        if np.isinf(spread):
            return "more than 1e308 times"
        return f"{spread:,.0f} times" if 10 <= spread < 1e6 else f"{spread:.2g} times"

    @property
    def widest(self) -> str:
        """The column that varies most."""
        return self.names[int(np.argmax(self.deviations))]

    @property
    def narrowest(self) -> str:
        """The column that varies least, but does."""
        return self.names[int(np.argmin(np.where(self.deviations > 0, self.deviations, np.inf)))]


def _deviations(block: Array) -> Array:
    """Standard deviations of what is finite."""
    there = np.isfinite(block)
    count = np.maximum(there.sum(axis=0), 1)
    largest = np.max(np.abs(block), axis=0, where=there, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)  # squares of 1e200 would overflow
    values = np.where(there, block, 0.0) / unit
    mean = values.sum(axis=0) / count
    spread = np.square(np.where(there, values - mean, 0.0)).sum(axis=0) / np.maximum(count - 1, 1)
    deviations: Array = np.sqrt(spread) * unit
    return deviations

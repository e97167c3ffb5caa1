"""When copies with random signs have told enough: the count will not change, however many more are compared.

The bar is the largest value of all copies, so more of them can only raise it. Where no value of the rows stands above
it, none will. Where some do, the least of these must be out of reach of all copies that are still to come. The largest
eigenvalue hardly varies from copy to copy: about as much as the largest ones of a single copy lie apart, since both
come from the same fluctuations at the edge of a spectrum (those of Tracy and Widom). From the first to the fifth it is
some five standard deviations of the first, and much the same in every copy. Where one value is far above the others of
its copy, such as that of a column with most of the variance, that distance exceeds the fluctuations by far, and more
copies are compared than it takes.

While components are still to be subtracted, a single copy may do: values far above it are components, and what is left
without them is looked at next.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ritz.fitting import rank
from ritz.linalg.dense import Array

PLACES = 5  # largest values of a copy that are looked at
LEAST = 5  # copies without which none is left out while any value stands above them
# Distances between the first and the last of these that a value must lie above the bar. In simulated noise, equal and
# unequal by row or column, with light and heavy tails, one of the other copies comes so far less than once in 10,000
# times, and once in 3,000 in few columns that depend on few rows.
CLEAR = 1.25
# Times as many, where fewer copies were made, of which the first may be a small one: another comes so far less than
# once in 300 times.
SOONER = 1.5
SUNK, MARGIN = 0.25, 1.02  # of the energy, that a guess may go ahead by; and of its bar, for what it may err


@dataclass
class Comparison:
    """The rows beside their copies, as these come.

    Attributes
    ----------
    factor : by what the values of copies are multiplied
    offset : and what is then added, as a share of the largest value of the rows
    values : (k,) those of the rows, descending; one that is not above the copies is among them, if there is any
    tops : largest values, descending, of the first copies and of those that exceed all before them
    count : copies so far
    dust : what is added to the bar whatever the values: rounding of components that were subtracted

    Examples
    --------
    >>> import numpy as np
    >>> seen = Comparison(values=np.array([9.0, 1.9]))
    >>> for _ in range(5):
    ...     seen.add(np.array([2.0, 1.9, 1.8, 1.75, 1.7]))
    >>> seen.above, seen.bar, seen.settled
    (1, 2.0, True)
    >>> seen.values = np.array([2.1, 1.9])  # a sixth copy may well exceed 2.1
    >>> seen.above, seen.settled
    (1, False)
    """

    factor: float = 1.0
    offset: float = 0.0
    values: Array = field(default_factory=lambda: np.empty(0))
    tops: list[Array] = field(default_factory=list)
    count: int = 0
    dust: float = 0.0

    def add(self, top: Array | None) -> None:
        """Count a copy, by its largest values; None where they are known not to exceed those before it."""
        self.count += 1
        if top is not None:
            self.tops.append(top)

    @property
    def largest(self) -> float:
        """The largest value of all copies."""
        return max(float(top[0]) for top in self.tops)

    @property
    def bar(self) -> float:
        """What a value of the rows must exceed."""
        return self.largest * self.factor + float(self.values[0]) * self.offset + self.dust

    @property
    def above(self) -> int:
        """How many leading values do."""
        return rank.parallel(self.values, np.full((1, len(self.values)), self.bar))

    @property
    def settled(self) -> bool:
        """Whether more copies would not change that number."""
        if not self.tops:
            return False
        above = self.above
        if not above:
            return True
        return self.count >= LEAST and self.clear == above

    @property
    def clear(self) -> int:
        """How many leading values are out of reach of all copies that are still to come."""
        return rank.parallel(self.values, np.full((1, len(self.values)), self.reach))

    @property
    def reach(self) -> float:
        """How far copies that are still to come may reach; infinity where there is no telling."""
        if not self.tops or len(self.tops[0]) < PLACES:
            return float("inf")
        spread = float(np.mean([top[0] - top[PLACES - 1] for top in self.tops])) * self.factor
        return self.bar + CLEAR * (1 if self.count >= LEAST else SOONER) * spread

    def ahead(self, above: int, rows: int, columns: int) -> int:
        """How many leading values would be above, at a guess, once those above the bar are subtracted, and then those
        above what is left of it, and so on: the bar sinks with the energy that is left, made up for the directions that
        went. A guess that is to be confirmed, and no farther than the energy sinks by a quarter.
        """
        if not np.isfinite(self.reach):
            return above
        counts = np.arange(min(len(self.values), rows, columns))
        left = np.cumsum(self.values[::-1])[::-1][: len(counts)] / ((1 - counts / rows) * (1 - counts / columns))
        share = left / left[0]
        far = (self.values[: len(counts)] > MARGIN * self.reach * share) & (share >= 1 - SUNK)
        far[:above] = True
        return len(far) if far.all() else int(np.argmin(far))

"""The first two scores of many rows, in memory that does not grow with them."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

import numpy as np

from ritz.linalg.dense import Array
from ritz.rows.base import Block
from ritz.views.format import count, ordinal

MOST = 1 << 20  # rows that are remembered


class First:
    """The first two scores of every row, or of every 2nd, 4th, …, remembered while all of them pass by.

    Attributes
    ----------
    rows : how many passed by
    step : 1 where all are remembered, 2 where every 2nd is, …

    Examples
    --------
    >>> first = First(most=4)
    >>> for _ in first.seen([np.array([[1.0], [2.0], [3.0]]), np.array([[4.0], [5.0]])]):
    ...     pass
    >>> first.scores.ravel(), first.step
    (array([1., 3., 5.]), 2)
    """

    def __init__(self, most: int = MOST) -> None:
        self._most, self._parts, self._kept = most, list[Block](), 0
        self.rows, self.step = 0, 1

    def seen(self, blocks: Iterable[Block]) -> Generator[Block, None, None]:
        """The same blocks."""
        for block in blocks:
            part = np.array(block[-self.rows % self.step :: self.step, :2])
            self._parts.append(part)
            self.rows, self._kept = self.rows + len(block), self._kept + len(part)
            while self._kept > self._most:
                self._parts, self.step = [self.scores[::2]], 2 * self.step
                self._kept = len(self._parts[0])
            yield block

    @property
    def scores(self) -> Array:
        """(m, 2), or (m, 1) of a single component."""
        return np.concatenate(self._parts)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What the reader of a chart should know."""
        shown = f"every {ordinal(self.step)} row of {count(self.rows)}"
        return () if self.step == 1 else (("scores shown", shown),)

    def of(self, labels: Any) -> Any:
        """The labels of the rows that are remembered."""
        return None if labels is None else labels[:: self.step]


def exhausted(first: First, blocks: Iterable[Block]) -> First:
    """The same, after all of these blocks."""
    for _ in first.seen(blocks):
        pass
    return first

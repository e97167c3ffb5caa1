"""The first two scores of many rows, and their chart: points by class or a density; of one component a histogram."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.dense import Array
from ritz.rows.base import Block
from ritz.runtime.wording import component
from ritz.views.axes import Axis, extended, left_of, level, upright
from ritz.views.charts import BOTTOM, HEIGHT, TOP, Chart, Mark, box, dots
from ritz.views.classes import Classes
from ritz.views.format import counted, number, ordinal, percent
from ritz.views.label_layout import written

MOST_ROWS = 1 << 20  # that are remembered
MOST_POINTS = 20_000
MARGIN = 0.04  # of the range, around the points
TALLEST, FLATTEST = 1.1, 0.45  # height over width between which units of both axes are drawn alike
CELL = 6.0  # pixels of a cell of a density
LEVELS = 4  # of its darkness
BARS = 40
LIGHT, DENSE = 300, 3_000  # points from which on they are drawn smaller


class First:
    """The first two scores of every row, or of every 2nd, 4th, …, remembered while all of them pass by.

    Attributes
    ----------
    rows : how many passed by
    step : 1 where all are remembered, 2 where every 2nd is, …

    Examples
    --------
    >>> first = First(most=4)
    >>> first.add(np.array([[1.0], [2.0], [3.0]]))
    >>> first.add(np.array([[4.0], [5.0]]))
    >>> first.scores.ravel(), first.step
    (array([1., 3., 5.]), 2)
    """

    def __init__(self, most: int = MOST_ROWS) -> None:
        self._most, self._parts, self._kept = most, list[Block](), 0
        self.rows, self.step = 0, 1

    def add(self, block: Block) -> None:
        """The scores of the next rows."""
        part = np.array(block[-self.rows % self.step :: self.step, :2])
        self._parts.append(part)
        self.rows, self._kept = self.rows + len(block), self._kept + len(part)
        while self._kept > self._most:
            self._parts, self.step = [self.scores[::2]], 2 * self.step
            self._kept = len(self._parts[0])

    def seen(self, blocks: Iterable[Block]) -> Generator[Block, None, None]:
        """The same blocks, each of which is added on its way."""
        for block in blocks:
            self.add(block)
            yield block

    @property
    def scores(self) -> Array:
        """(m, 2), or (m, 1) of a single component."""
        return np.concatenate(self._parts)


@dataclass(frozen=True)
class Scores:
    """The chart of scores, what its marks mean, and what is to be said before and below it."""

    chart: Chart
    classes: Classes
    lead: str
    notes: tuple[str, ...]


def scores_chart(scores: Array, classes: Classes, shares: Array, step: int, rows: int) -> Scores:
    """The first two columns of the scores; one alone as a histogram.

    Parameters
    ----------
    step : 1 where the scores are those of all rows, 2 where they are those of every 2nd, …
    rows : how many there are in all
    """
    finite = np.isfinite(scores[:, :2]).all(axis=1)
    points, codes = scores[finite][:, :2].astype(np.float64), classes.codes[finite]
    names = [f"{component(i)} ({percent(float(share))})" for i, share in enumerate(shares[: points.shape[1]])]
    flat = points.shape[1] == 1 or not len(points)
    chart = (_histogram if flat else _plane)(points, codes, classes, names)
    which = f"{ordinal(step)} row" if step > 1 else "row"
    where = "first component" if flat else "first two components"
    lead = f"Every {which} at its place along the {where}: rows that are alike lie close together."
    of_all = counted(rows, "row") + (f", of which every {ordinal(step)} is counted" if step > 1 else "")
    notes = [f"There are {of_all}{', here and in the legend' * classes.labelled}."] if step > 1 else []
    if lost := len(scores) - len(points):
        which = counted(lost, "row") + " of those counted" * (step > 1)
        notes.append(f"{which} beyond float64 {'is' if lost == 1 else 'are'} not drawn.")
    notes += [chart.note] if chart.note else []
    if not flat and len(points) > MOST_POINTS:
        cells = "cells show how many there are, stronger colour for more"
        cells += ", and which label most of them have" * (len(classes.names) > 1)
        notes.append(f"{rows:,} rows are too many to be drawn one by one: {cells}.")
    return Scores(replace(chart, description=f"{of_all}: {chart.description}"), classes, lead, tuple(notes))


def _plane(points: Array, codes: NDArray[np.intp], classes: Classes, names: list[str]) -> Chart:
    """Points, or cells that count them, with the names of the classes."""
    x, y, height, alike = _frame(points, names)
    at = np.column_stack([x.at(points[:, 0]), y.at(points[:, 1])])
    marks = (_density if len(points) > MOST_POINTS else _points)(at, codes, classes)
    ends = [(number(float(column.min()), 3), number(float(column.max()), 3)) for column in points.T]
    told = ", ".join(f"{component(i)} from {low} to {high}" for i, (low, high) in enumerate(ends))
    title, labels = "Scores on the first two components", written(at, codes, classes, x, y)
    note = "Both axes have the same unit." if alike else "Each axis has its own unit."
    return Chart("scores", title, told, height, marks, x, y, labels, note=note)


def _frame(points: Array, names: list[str]) -> tuple[Axis, Axis, float, bool]:
    """Axes with the same unit where that makes a chart of sensible shape."""
    low, high = points.min(axis=0), points.max(axis=0)
    reach = high / 2 - low / 2
    low, high = low - MARGIN * reach, high + MARGIN * reach
    y = upright(float(low[1]), float(high[1]), 1.0, 0.0, names[1])  # its texts decide how much room there is
    x = level(float(low[0]), float(high[0]), left_of(y), names[0])
    ratio = float(reach[1] / reach[0]) if reach[0] > 0 else np.inf
    alike = FLATTEST <= ratio <= TALLEST
    height = round((x.end - x.start) * (ratio if alike else 0.7) + TOP + BOTTOM, 1)
    return x, replace(y, start=height - BOTTOM, end=float(TOP)), height, alike


def _points(at: Array, codes: NDArray[np.intp], classes: Classes) -> tuple[Mark, ...]:
    """One path for every class; what is left over or missing lies below the rest."""
    size = "large" if len(at) <= LIGHT else "medium" if len(at) <= DENSE else "small"
    order = sorted(range(len(classes.names)), key=lambda i: classes.kinds[i][0] in "cq")
    return tuple(
        Mark(f"points {size} {classes.kinds[i]}", dots(*at[codes == i].T), _title(classes, i))
        for i in order
        if (codes == i).any()
    )


def _title(classes: Classes, i: int) -> str:
    return f"{classes.names[i]}: {counted(classes.counts[i], 'row')}" if classes.labelled else ""


def _density(at: Array, codes: NDArray[np.intp], classes: Classes) -> tuple[Mark, ...]:
    """Cells by their most frequent class, and by how many rows they hold, on a logarithmic scale."""
    cells = np.floor(at / CELL).astype(np.int64)
    wide = int(cells[:, 0].max()) + 1
    where, place = np.unique(cells[:, 1] * wide + cells[:, 0], return_inverse=True)
    table = np.bincount(place * len(classes.names) + codes, minlength=len(where) * len(classes.names))
    table = table.reshape(len(where), len(classes.names))
    held, leading = table.sum(axis=1), table.argmax(axis=1)
    level = np.floor((LEVELS - 1e-9) * np.log1p(held) / np.log1p(held.max())).astype(int)
    marks = []
    for i, kind in enumerate(classes.kinds):
        for step in range(LEVELS):
            chosen = where[(leading == i) & (level == step)]
            if len(chosen):
                path = "".join(box(CELL * (cell % wide), CELL * (cell // wide), CELL, CELL) for cell in chosen.tolist())
                marks.append(Mark(f"cell {kind} level{step}", path, classes.names[i] if classes.labelled else ""))
    return tuple(marks)


def _histogram(points: Array, codes: NDArray[np.intp], classes: Classes, names: list[str]) -> Chart:
    """How many rows have which first score, the classes one on top of the other."""
    values = points[:, 0]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    steps = min(BARS, max(5, int(np.sqrt(len(values)))))
    left, right = extended(low, high)
    edges = np.linspace(left / 2, right / 2, steps + 1) * 2
    cell = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, steps - 1)
    table = np.zeros((len(classes.names) + 1, steps))
    for i in range(len(classes.names)):
        table[i + 1] = np.bincount(cell[codes == i], minlength=steps)
    stacked = table.cumsum(axis=0)
    y = upright(0.0, float(stacked.max()) or 1.0, HEIGHT - BOTTOM, TOP, "rows")
    x = level(low, high, left_of(y), names[0])
    marks = []
    for i, kind in enumerate(classes.kinds):
        bottom, top, sides = y.at(stacked[i]), y.at(stacked[i + 1]), x.at(edges)
        path = "".join(
            box(sides[j], top[j], sides[j + 1] - sides[j], bottom[j] - top[j]) for j in range(steps) if table[i + 1, j]
        )
        marks.append(Mark(f"cell {kind}", path, _title(classes, i)))
    told = f"scores from {number(low, 3)} to {number(high, 3)}"
    return Chart("scores", "Scores on the first component", told, HEIGHT, tuple(marks), x, y)

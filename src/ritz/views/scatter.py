"""Scores as a chart: points by class, beyond so many a density, for one component a histogram."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ritz.linalg import Array
from ritz.views.charts import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, Chart, Label, Mark, axis, box, dots
from ritz.views.labels import Classes
from ritz.views.text import count, counted, number, percent

MOST_POINTS = 20_000
MARGIN = 0.04  # of the range, around the points
TALLEST, FLATTEST = 1.1, 0.45  # height over width between which units of both axes are drawn alike
CELL = 6.0  # pixels of a cell of a density
LEVELS = 4  # of its darkness
BARS = 40
SHORT = 12  # characters of a name that is written into the chart
LIGHT, DENSE = 300, 3_000  # points from which on they are drawn smaller


@dataclass(frozen=True)
class Scores:
    """The chart of scores, what its marks mean, and what is to be said of it."""

    chart: Chart
    classes: Classes
    notes: tuple[str, ...]


def scores_chart(scores: Array, classes: Classes, shares: Array) -> Scores:
    """The first two columns of the scores; one alone as a histogram."""
    finite = np.isfinite(scores[:, :2]).all(axis=1)
    notes = [] if finite.all() else [f"{counted(int((~finite).sum()), 'row')} beyond float64 are not drawn."]
    points, codes = scores[finite][:, :2].astype(np.float64), classes.codes[finite]
    names = [f"component {i + 1} ({percent(float(share))})" for i, share in enumerate(shares[: points.shape[1]])]
    if points.shape[1] == 1 or not len(points):
        chart = _histogram(points[:, 0], codes, classes, names[0])
        return Scores(chart, classes, tuple(notes))
    x, y, height, alike = _frame(points, names)
    notes.append("Both axes have the same unit." if alike else "Each axis has its own unit.")
    at = np.column_stack([x.at(points[:, 0]), y.at(points[:, 1])])
    if len(points) > MOST_POINTS:
        marks = _density(at, codes, classes)
        many = f"{count(len(points))} rows are too many to be drawn one by one: cells show how many there are"
        which = ", and which label most of them have." if _several(classes) else "."
        notes.append(f"{many}, stronger colour for more{which}")
    else:
        marks = _points(at, codes, classes)
    labels = _written(at, codes, classes)
    chart = Chart("scores", "Scores on the first two components", _told(points), WIDTH, height, marks, x, y, labels)
    return Scores(chart, classes, tuple(notes))


def _several(classes: Classes) -> bool:
    return len(classes.names) > 1


def _frame(points: Array, names: list[str]) -> tuple[Axis, Axis, float, bool]:
    """Axes with the same unit where that makes a chart of sensible shape."""
    low, high = points.min(axis=0), points.max(axis=0)
    reach = high / 2 - low / 2
    low, high = low - MARGIN * reach, high + MARGIN * reach
    width = WIDTH - LEFT - RIGHT
    ratio = float(reach[1] / reach[0]) if reach[0] > 0 else np.inf
    alike = FLATTEST <= ratio <= TALLEST
    tall = width * (ratio if alike else 0.7)
    height = round(tall + TOP + BOTTOM, 1)
    x = axis(float(low[0]), float(high[0]), LEFT, WIDTH - RIGHT, names[0])
    return x, axis(float(low[1]), float(high[1]), height - BOTTOM, TOP, names[1]), height, alike


def _told(points: Array) -> str:
    parts = [
        f"component {i + 1} from {number(float(column.min()), 3)} to {number(float(column.max()), 3)}"
        for i, column in enumerate(points.T)
    ]
    return f"{counted(len(points), 'row')}: {', '.join(parts)}"


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
    return f"{classes.names[i]}: {counted(classes.counts[i], 'row')}" if _several(classes) else ""


def _written(at: Array, codes: NDArray[np.intp], classes: Classes) -> tuple[Label, ...]:
    """Short names of classes in the middle of their points."""
    if not _several(classes) or classes.scale:
        return ()
    return tuple(
        Label(*_middle(at[codes == i]), text=name, kind="class")
        for i, (name, kind) in enumerate(zip(classes.names, classes.kinds, strict=True))
        if len(name) <= SHORT and kind.startswith("c") and (codes == i).any()
    )


def _middle(at: Array) -> tuple[float, float]:
    x, y = np.median(at, axis=0).round(1)
    return float(x), float(y)


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
                marks.append(Mark(f"cell {kind} level{step}", path, classes.names[i] if _several(classes) else ""))
    return tuple(marks)


def _histogram(values: Array, codes: NDArray[np.intp], classes: Classes, name: str) -> Chart:
    """How many rows have which score, the classes one on top of the other."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    x = axis(low, high, LEFT, WIDTH - RIGHT, name)
    steps = min(BARS, max(5, int(np.sqrt(len(values)))))
    edges = np.linspace(x.low / 2, x.high / 2, steps + 1) * 2
    cell = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, steps - 1)
    table = np.zeros((len(classes.names) + 1, steps))
    for i in range(len(classes.names)):
        table[i + 1] = np.bincount(cell[codes == i], minlength=steps)
    stacked = table.cumsum(axis=0)
    y = axis(0.0, float(stacked.max()) or 1.0, HEIGHT - BOTTOM, TOP, "rows")
    marks = []
    for i, kind in enumerate(classes.kinds):
        bottom, top, sides = y.at(stacked[i]), y.at(stacked[i + 1]), x.at(edges)
        path = "".join(
            box(sides[j], top[j], sides[j + 1] - sides[j], bottom[j] - top[j]) for j in range(steps) if table[i + 1, j]
        )
        marks.append(Mark(f"cell {kind}", path, _title(classes, i)))
    told = f"{counted(len(values), 'row')}, scores from {number(low, 3)} to {number(high, 3)}"
    return Chart("scores", "Scores on the first component", told, WIDTH, HEIGHT, tuple(marks), x, y)

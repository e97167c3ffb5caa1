"""Charts as plain geometry: axes, paths and texts, which one template draws.

Colours and widths belong to the style sheet: a mark only says what kind it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ritz.linalg.dense import Array
from ritz.runtime.wording import component
from ritz.views.axes import GAP, LEFT, WIDTH, Axis, fitted, left_of, length, level, upright
from ritz.views.findings import Findings
from ritz.views.format import asked_share, number, percent

HEIGHT = 306
TOP, BOTTOM = 30, 50  # margins
MOST_BARS = 60  # components in a scree chart, or more if more were kept,
CROWDED = 400  # but not more than there are pixels; a curve has as many points
MOST_WEIGHTS = 20  # columns in a chart of weights
EDGE = 8  # the margin above charts whose vertical axis has no label
ROW = 21  # height of a horizontal bar, with what is between two
NAME = 13.0  # pixels: the size of the names of columns, at most
LONGEST = 180  # pixels that such a name may take
FULL = 0.72  # of the room of a bar, which it fills


@dataclass(frozen=True)
class Mark:
    """A path of one kind; the title is what a pointer, or a screen reader, is told."""

    kind: str
    path: str
    title: str = ""


@dataclass(frozen=True)
class Label:
    """Text inside a chart."""

    x: float
    y: float
    text: str
    kind: str
    title: str = ""


@dataclass(frozen=True)
class Chart:
    """All that is needed to draw it."""

    width: ClassVar[float] = WIDTH
    name: str
    title: str
    description: str
    height: float
    marks: tuple[Mark, ...]
    x: Axis
    y: Axis | None
    labels: tuple[Label, ...] = ()
    top: float = TOP
    note: str = ""  # said below it, after the title

    @property
    def foot(self) -> float:
        """Where the horizontal axis lies."""
        return self.height - BOTTOM


def scree(found: Findings) -> Chart:
    """The variance of every component, and what noise alone reaches."""
    values, kept, shares = _scree_values(found)
    word = "share of the variance" if shares else found.certificate.quantity
    null = _null(found, len(values))
    top = float(max(values.max(), null.max(initial=0.0)))
    y = upright(0.0, top or 1.0, HEIGHT - BOTTOM, TOP, word, share=shares)
    x = _numbered(len(values), left_of(y), "PC")
    marks = [Mark("bar", bars(x, y, np.arange(1, kept + 1), values[:kept]))]
    if kept < len(values):
        marks.append(Mark("bar faint", bars(x, y, np.arange(kept + 1, len(values) + 1), values[kept:])))
    if len(null):
        marks.append(Mark("null", line(x.at(np.arange(1, len(null) + 1)), y.at(null)), "what noise alone reaches"))
    listed = "; ".join(f"{component(i)}: {number(value, 4)}" for i, value in enumerate(values[:10]))
    note = "; the line is what noise alone reaches" if len(null) else ""
    note += f"; the first {len(values)} of {found.k}" if len(values) < found.k else ""
    title = f"{word.capitalize()} of each component"
    return Chart("scree", title, listed, HEIGHT, tuple(marks), x, y, note=note)


def _scree_values(found: Findings) -> tuple[Array, int, bool]:
    """What bars show, how many are kept, and whether they are shares, as they must be beyond float64; otherwise
    variances: those that were compared with noise, or those kept."""
    values = found.values if found.choice is None else np.asarray(found.choice.values, dtype=float)
    shares = found.out_of_range or not np.isfinite(values).all()
    values = (found.shares if shares else values)[: max(MOST_BARS, min(found.k, CROWDED))]
    return values, min(found.k, len(values)), shares


def _null(found: Findings, most: int) -> Array:
    """The largest values that noise explains, where they were computed and can be drawn beside the bars."""
    if found.choice is None or found.out_of_range:
        return np.empty(0)
    null = np.asarray(found.choice.null, dtype=float)[:most]
    return null[: int(np.argmin(np.append(np.isfinite(null), False)))]


def together(found: Findings) -> Chart:
    """How much the first components keep together, up to the last, and how much they were asked to keep."""
    shares = np.minimum(np.cumsum(found.shares), 1.0)
    y = upright(0.0, 1.0, HEIGHT - BOTTOM, TOP, "share of the variance", share=True)
    x = _numbered(len(shares), left_of(y), "components kept")
    drawn = np.unique(np.linspace(0, len(shares) - 1, CROWDED).astype(int))
    places, heights = x.at(drawn + 1), y.at(shares[drawn])
    dotted = slice(None) if len(shares) <= MOST_BARS else slice(-1, None)
    marks = [Mark("line", line(places, heights)), Mark("dots", dots(places[dotted], heights[dotted]))]
    told, note = [*range(min(10, len(shares))), *([len(shares) - 1] if len(shares) > 10 else [])], ""
    listed = "; ".join(f"{i + 1}: {percent(float(shares[i]), found.asked)}" for i in told)
    if found.asked is not None:
        level_asked, text = y.at(np.full(2, found.asked)), f"{asked_share(found.asked)} was asked for"
        marks.insert(0, Mark("asked", line(np.array([x.start, x.end]), level_asked), text))
        listed, note = f"{text}; {listed}", f"; the line: {text}"
    return Chart("together", "Cumulative variance", listed, HEIGHT, tuple(marks), x, y, note=note)


def weights(found: Findings, entries: Array, i: int) -> Chart:
    """The columns with the largest weights in one axis, given its entries."""
    order = np.argsort(-np.abs(entries), kind="stable")[:MOST_WEIGHTS]
    chosen, names = entries[order], [found.name(int(j)) for j in order]
    height = EDGE + ROW * len(chosen) + BOTTOM
    start = max(LEFT, min(LONGEST, max(length(name, NAME) for name in names)) + GAP)
    x = level(min(0.0, float(chosen.min())), max(0.0, float(chosen.max())), round(start, 1), "weight")
    zero = float(x.at(0.0))
    marks, labels = [], []
    for j, (name, value) in enumerate(zip(names, chosen, strict=True)):
        top, end = EDGE + ROW * j, float(x.at(value))
        kind, text = ("bar" if value >= 0 else "bar below"), f"{name}: {number(float(value), 3)}"
        marks.append(Mark(kind, box(min(zero, end), top + ROW * (1 - FULL) / 2, abs(end - zero), ROW * FULL), text))
        labels.append(Label(round(x.start - 8, 1), top + ROW / 2, fitted(name, LONGEST, NAME), "name", name))
    listed = "; ".join(mark.title for mark in marks[:5])
    title = f"Weights of the columns in {component(i)}"
    return Chart(f"weights{i}", title, listed, height, tuple(marks), x, None, tuple(labels), EDGE)


def _numbered(count: int, start: float, label: str) -> Axis:
    """A horizontal axis for things that are numbered from 1, with ticks at whole numbers alone."""
    return level(0.5, count + 0.5, start, label).only(lambda value, _: value >= 1 and value == round(value))


def bars(x: Axis, y: Axis, centres: ArrayLike, heights: Array) -> str:
    """Upright bars around whole numbers."""
    width, foot = float(x.at(1.0) - x.at(0.0)) * FULL, y.at(0.0)
    places = zip(x.at(centres), y.at(heights), strict=True)
    return "".join(box(middle - width / 2, top, width, foot - top) for middle, top in places)


def box(x: float, y: float, width: float, height: float) -> str:
    """A rectangle."""
    return f"M{_short(x)} {_short(y)}h{_short(width)}v{_short(height)}h{_short(-width)}z"


def line(x: Array, y: Array) -> str:
    """Points joined."""
    return "M" + "L".join(f"{_short(a)} {_short(b)}" for a, b in zip(x, y, strict=True))


def dots(x: Array, y: Array) -> str:
    """Points apart: strokes of no length, whose caps are what is seen; equal ones are drawn once."""
    places = dict.fromkeys(zip(np.round(x, 1).tolist(), np.round(y, 1).tolist(), strict=True))
    return "".join(f"M{_short(a)} {_short(b)}h0" for a, b in places)


def _short(value: float) -> str:
    """A tenth of a pixel is as fine as anyone sees."""
    return f"{round(float(value), 1) + 0.0:g}"

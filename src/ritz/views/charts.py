"""Charts as plain geometry: axes, paths and texts, which one template draws.

Colours and widths belong to the style sheet: a mark only says what kind it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ritz.linalg import Array
from ritz.views.findings import Findings
from ritz.views.text import number, percent, shortened

WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 30, 44  # margins
MOST_BARS = 60  # components in a scree chart
MOST_WEIGHTS = 20  # columns in a chart of weights
EDGE = 8  # the margin above charts whose vertical axis has no label
ROW = 21  # height of a horizontal bar, with what is between two
GUTTER = 158  # for the names of columns
NAME = 20  # characters that fit there
TICKS = 6  # at most
TINY = 1e-290  # extents that are none, of anything
FINEST = 1e-12  # the same, beside the numbers themselves
FULL = 0.72  # of the room of a bar, which it fills


@dataclass(frozen=True)
class Axis:
    """Values from low to high, drawn from start to end, with ticks (place, text)."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[tuple[float, str], ...]
    label: str = ""

    def at(self, values: ArrayLike) -> Array:
        """Where values stand."""
        span = self.high / 2 - self.low / 2  # halves: the difference of large numbers may overflow
        return self.start + (np.asarray(values) / 2 - self.low / 2) / span * (self.end - self.start)


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

    name: str
    title: str
    description: str
    width: float
    height: float
    marks: tuple[Mark, ...]
    x: Axis | None = None
    y: Axis | None = None
    labels: tuple[Label, ...] = ()
    top: float = TOP

    @property
    def foot(self) -> float:
        """Where the horizontal axis lies."""
        return self.height - BOTTOM


def axis(low: float, high: float, start: float, end: float, label: str = "", share: bool = False) -> Axis:
    """An axis with round ticks; a range without extent gets some."""
    if not high / 2 - low / 2 > max(TINY, FINEST * max(abs(low), abs(high))):
        reach = abs(low) / 2 if abs(low) > TINY else 1.0
        low, high = low - reach, high + reach
    step = _round_step(high / TICKS - low / TICKS)
    places = step * np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    digits = 1 + max(0, math.ceil(math.log10(max(abs(low), abs(high)) / step)))
    texts = [f"{100 * place:g}%" if share else number(float(place), digits) for place in places]
    bare = Axis(low, high, start, end, (), label)
    return replace(bare, ticks=tuple(zip(np.round(bare.at(places), 1).tolist(), texts, strict=True)))


def _round_step(rough: float) -> float:
    """The next larger of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= rough * (1 - 1e-9))


def scree(found: Findings) -> Chart:
    """The variance of every component, and what noise alone reaches."""
    values, kept, word = _scree_values(found)
    null = _null(found, len(values))
    top = float(max(values.max(), null.max(initial=0.0)))
    x = axis(0.5, len(values) + 0.5, LEFT, WIDTH - RIGHT, "component")
    y = axis(0.0, top or 1.0, HEIGHT - BOTTOM, TOP, word, share=word.startswith("share"))
    marks = [Mark("bar", bars(x, y, np.arange(1, kept + 1), values[:kept]))]
    if kept < len(values):
        marks.append(Mark("bar faint", bars(x, y, np.arange(kept + 1, len(values) + 1), values[kept:])))
    if len(null):
        marks.append(Mark("null", line(x.at(np.arange(1, len(null) + 1)), y.at(null)), "what noise alone reaches"))
    listed = "; ".join(f"{i + 1}: {number(value, 4)}" for i, value in enumerate(values[:10]))
    return Chart(
        "scree", f"{word.capitalize()} of each component", listed, WIDTH, HEIGHT, tuple(marks), whole_ticks(x), y
    )


def _scree_values(found: Findings) -> tuple[Array, int, str]:
    """What bars show: the variances that were compared with noise, or those kept, or their shares beyond float64."""
    values, word = found.values, found.certificate.quantity
    if found.choice is not None:
        values = np.asarray(found.choice.values, dtype=float)
    if found.out_of_range:
        values, word = found.shares, "share of the variance"
    values = values[:MOST_BARS]
    return values, min(found.k, len(values)), word


def _null(found: Findings, most: int) -> Array:
    """The largest values that noise explains, where they were computed and can be drawn beside the bars."""
    if found.choice is None or found.out_of_range:
        return np.empty(0)
    null = np.asarray(found.choice.null, dtype=float)[:most]
    return null[: int(np.argmin(np.append(np.isfinite(null), False)))]


def together(found: Findings) -> Chart:
    """How much the first components keep together."""
    shares = np.minimum(np.cumsum(found.shares), 1.0)[:MOST_BARS]
    x = axis(0.5, len(shares) + 0.5, LEFT, WIDTH - RIGHT, "components kept")
    y = axis(0.0, 1.0, HEIGHT - BOTTOM, TOP, "share of the variance", share=True)
    places, heights = x.at(np.arange(1, len(shares) + 1)), y.at(shares)
    marks = (Mark("line", line(places, heights)), Mark("dots", dots(places, heights)))
    listed = "; ".join(f"{i + 1}: {percent(share)}" for i, share in enumerate(shares[:10]))
    return Chart("together", "Variance kept together", listed, WIDTH, HEIGHT, marks, whole_ticks(x), y)


def weights(found: Findings, entries: Array, component: int) -> Chart:
    """The columns with the largest weights in one axis, given its entries."""
    order = np.argsort(-np.abs(entries), kind="stable")[:MOST_WEIGHTS]
    chosen = entries[order]
    height = EDGE + ROW * len(chosen) + BOTTOM
    x = axis(min(0.0, float(chosen.min())), max(0.0, float(chosen.max())), GUTTER, WIDTH - RIGHT, "weight")
    zero = float(x.at(0.0))
    marks, labels = [], []
    for i, (j, value) in enumerate(zip(order, chosen, strict=True)):
        top, end = EDGE + ROW * i, float(x.at(value))
        name = found.name(int(j))
        kind, text = ("bar" if value >= 0 else "bar below"), f"{name}: {number(float(value), 3)}"
        marks.append(Mark(kind, box(min(zero, end), top + ROW * (1 - FULL) / 2, abs(end - zero), ROW * FULL), text))
        labels.append(Label(GUTTER - 8, top + ROW / 2, shortened(name, NAME), "name", name))
    listed = "; ".join(mark.title for mark in marks[:5])
    title = f"Weights of the columns in component {component + 1}"
    return Chart(f"weights{component}", title, listed, WIDTH, height, tuple(marks), x, None, tuple(labels), EDGE)


def whole_ticks(x: Axis) -> Axis:
    """The same axis with ticks at whole numbers alone."""
    return replace(x, ticks=tuple((place, text) for place, text in x.ticks if "." not in text and text != "0"))


def bars(x: Axis, y: Axis, centres: ArrayLike, heights: Array) -> str:
    """Upright bars around whole numbers."""
    width = float(x.at(1.0) - x.at(0.0)) * FULL
    foot = float(y.at(0.0))
    tops = y.at(heights)
    return "".join(
        box(float(middle) - width / 2, float(top), width, foot - float(top))
        for middle, top in zip(x.at(centres), tops, strict=True)
    )


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

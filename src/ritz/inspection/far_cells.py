"""Single cells that are far from all others of their column: a decimal point in the wrong place, a lost sign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ritz.inspection.codes import code_cells
from ritz.inspection.finding import NOTE, WARNING, Finding, as_number, called, in_option, roughly
from ritz.inspection.sample import Sample
from ritz.linalg.dense import Array

FEWEST, DIFFERENT = 20, 8  # values, and different ones, that tell what is usual in a column
LEVEL = 1e-3  # expected number of such cells in a table without mistakes
FIRST, DEEPEST, KEPT = 0.25, 3, 8  # tail that the scale is taken from; values beyond the last tail of few, many rows
# Growth of tails that is expected anyway, that of Student's t with 5 degrees of freedom; its error, and errors allowed.
EXPECTED, EXPECTED_ERROR, SURE = 0.12, 0.08, 0.5
MOST, MOST_SHARE = 12, 0.005  # cells, and their share of a column, that are mistakes rather than how things are
POWERS = (10.0, 0.1, 100.0, 0.01, 1000.0, 0.001)
TWICE, PAIR = 4.5, 2.0  # spreads, and times the next largest, of a row that is far in several columns
ENOUGH = 200  # rows that are many
LISTED = 8
USUAL = (0.05, 0.95)
TIGHT, FACTOR = 1.5, 5.0  # how far these are apart in a column that is tight, and how far beyond them a mistake is
NEGATIVE, BELOW = 3, 0.5  # values below 0 that are mistakes, and how far below all others, in parts of their range
SHORT = 2.5  # times the distance of the lower quartile from the median, of the least value in a column without a tail
WIDE, ABOVE = 100, 2.0  # columns of which some are far by chance, and how far above these a mistake is


@dataclass(frozen=True)
class Cell:
    """A cell that is far from the others of its column; `share` of the variance of the column."""

    row: int
    j: int
    value: float
    spreads: float
    share: float
    guess: str


def far_cells(sample: Sample) -> Iterator[Finding]:
    """Cells beyond what the tails of their columns explain, one finding for all."""
    if sample.pictures or sample.sparse or sample.m < FEWEST:
        return
    if cells := sample.once("far", cells_beyond):
        yield _finding(sample, cells)
    elif (pair := _far_together(sample)) is not None:
        yield pair


def cells_beyond(sample: Sample) -> list[Cell]:
    """The cells beyond the limits of their columns, but for those that are told of as codes."""
    if sample.pictures or sample.sparse or sample.m < FEWEST:
        return []
    codes = code_cells(sample)
    return [cell for cell in _beyond(sample, *limits(sample)) if (cell.j, cell.value) not in codes]


def _finding(sample: Sample, cells: list[Cell]) -> Finding:
    cells = sorted(cells, key=lambda cell: -cell.share)
    listed = "; ".join(told(sample, cell) for cell in cells[:LISTED])
    rest = f"; and {len(cells) - LISTED} more" if len(cells) > LISTED else ""
    rows = list(dict.fromkeys(cell.row for cell in cells))
    return Finding(
        "far_cell",
        WARNING,
        f"{len(cells)} {'cell is' if len(cells) == 1 else 'cells are'} far from all others of "
        f"{'its column' if len(cells) == 1 else 'their columns'}: {listed}{rest}"
        + ("" if sample.known is not None else sample.where),
        sample.called(dict.fromkeys(cell.j for cell in cells)),
        tuple(rows),
        {
            "cells": [[cell.row, sample.names[cell.j], cell.value] for cell in cells],
            "spreads": [cell.spreads for cell in cells],
            "shares": [cell.share for cell in cells],
        },
        "correct such a cell, or take it for missing: ritz.read(…, na={column: value}, missing='mean')",
        " ".join(_option(sample, cell) for cell in cells[:LISTED]) + " --missing mean",
    )


def _option(sample: Sample, cell: Cell) -> str:
    return in_option("--na", [sample.names[cell.j]], f"{cell.value!r}:".replace(".0:", ":"))


def told(sample: Sample, cell: Cell) -> str:
    low, high = _usual(sample, cell.j)
    name = called([sample.names[cell.j]])
    share = f", {cell.share:.0%} of the variance" if cell.share >= 0.005 else ""
    usual = f"usual: {roughly(low)} to {roughly(high)}"
    return f"{as_number(cell.value)} in row {cell.row}, {name} ({usual}{share}{cell.guess})"


def _usual(sample: Sample, j: int) -> tuple[float, float]:
    """What nine of ten cells of a column lie between."""
    there, unit = sample.ordered[: sample.counts[j], j], float(sample.unit[j])
    low, high = (float(there[round(share * (len(there) - 1))]) * unit for share in USUAL)
    return low, high


def limits(sample: Sample) -> tuple[Array, Array]:  # (d,), (d,)
    """What no cell of a column should be below or above, in the units of the columns.

    From the spread and the tails of either side, as its inner order statistics have them: half-widths at ever smaller
    tails, U_i = (q_i − median)/z_i, are constant for normal rows and grow like exp(h z²/2) for heavier tails. A cell is
    far where it is beyond what that gives at a tail of `LEVEL` cells in all. For positive columns the same must hold
    for their logarithms, so that skewed ones are left in peace.
    """
    low, high = _limits(sample.ordered, sample.counts, sample)
    positive = (sample.counts > 0) & (sample.rank(np.zeros(sample.d)) > 0)
    if positive.any():
        with np.errstate(invalid="ignore", divide="ignore"):
            logs = np.log(np.where(sample.ordered > 0, sample.ordered, np.nan))
        below, above = _limits(logs, sample.counts, sample)
        with np.errstate(over="ignore"):
            low = np.where(positive, np.minimum(low, np.exp(below)), low)
            high = np.where(positive, np.maximum(high, np.exp(above)), high)
    low, high = _of_many(sample, *_of_tight(sample, low, high))
    return _of_whole_numbers(sample, low), high


def _of_whole_numbers(sample: Sample, low: Array) -> Array:
    """The lower limits, closer for whole numbers from 0 on without a tail below, as ages: there a sign is a mistake."""
    first = np.count_nonzero(sample.ordered < 0, axis=0)
    least, quarter, most = sample.rank(first), sample.rank(sample.counts // 4), sample.rank(sample.counts)
    short = sample.median - least <= SHORT * (sample.median - quarter)
    least = least - BELOW * (most - least)
    worth = sample.integral & (first <= NEGATIVE) & (sample.counts >= 5 * FEWEST) & (sample.distinct >= 2 * DIFFERENT)
    worth &= short
    return np.where(worth & (least < 0), np.maximum(low, least), low)


def _of_many(sample: Sample, low: Array, high: Array) -> tuple[Array, Array]:
    """The limits, farther for one of very many columns: what several of them reach is how such columns are."""
    if sample.d < WIDE:
        return low, high
    found = []
    for limit, end in ((low, sample.rank(np.zeros(sample.d))), (high, sample.rank(sample.counts))):
        with np.errstate(invalid="ignore", divide="ignore"):
            reach = np.nan_to_num(np.abs(end - sample.median) / np.abs(limit - sample.median), nan=0.0, posinf=0.0)
        times = max(1.0, ABOVE * float(np.partition(reach, -MOST - 1)[-MOST - 1]))
        with np.errstate(invalid="ignore", over="ignore"):
            found.append(sample.median + (limit - sample.median) * times)
    return found[0], found[1]


def _of_tight(sample: Sample, low: Array, high: Array) -> tuple[Array, Array]:
    """The limits, closer for columns in which nine of ten cells are within a small factor, as heights of people are:
    there a factor of several is a mistake, however few rows there are."""
    last = np.maximum(sample.counts - 1, 0)
    least, most = (sample.rank(np.rint(share * last)) for share in USUAL)
    tight = (least > 0) & (most < TIGHT * least) & np.isfinite(low) & np.isfinite(high)
    return np.where(tight, np.maximum(low, least / FACTOR), low), np.where(tight, np.minimum(high, most * FACTOR), high)


def _limits(ordered: Array, counts: NDArray[np.intp], sample: Sample) -> tuple[Array, Array]:
    columns, last = np.arange(ordered.shape[1]), np.maximum(counts - 1, 0)

    def at(share: float, upper: bool) -> Array:
        depth = np.rint(share * last).astype(np.intp)
        return ordered[last - depth if upper else depth, columns]

    middle = (ordered[last // 2, columns] + ordered[(last + 1) // 2, columns]) / 2
    found = []
    for upper in (False, True):
        width = _width(lambda share, upper=upper: np.abs(at(share, upper) - middle), sample)
        found.append(middle + width if upper else middle - width)
    usable = (counts >= FEWEST) & (sample.distinct >= DIFFERENT)
    low, high = found
    return np.where(usable, low, -np.inf), np.where(usable, high, np.inf)


def _width(distance: Any, sample: Sample) -> Array:
    """How far a cell may be from the median on one side."""
    m, tails, share = sample.m, [], FIRST
    deepest = KEPT if m >= ENOUGH else DEEPEST
    while share * m >= deepest:
        tails.append(share)
        share /= 2
    z = -ndtri(np.array(tails))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.stack([distance(tail) for tail in tails]) / z[:, None])
    x = z**2 / 2
    # The slope has errors, since every logarithm has one of variance 4/m: it is weighted with what is expected anyway.
    weight, expected = np.square(x - x.mean()).sum() * m / 4, 1 / EXPECTED_ERROR**2
    with np.errstate(invalid="ignore"):  # where half of the cells are alike, logarithms are infinite
        slope = ((x - x.mean())[:, None] * logs).sum(axis=0) * m / 4 + expected * EXPECTED
    slope = np.maximum(slope / (weight + expected), 0.0) + SURE / np.sqrt(weight + expected)
    cells = sample.d * (sample.m if sample.known is None else sample.n)
    far = -ndtri(min(0.1, LEVEL / (2 * cells)))
    widest = np.argmax(logs, axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        found: Array = np.exp(np.max(logs, axis=0) + slope * (far**2 / 2 - x[widest])) * far
    return np.where(np.isfinite(logs).all(axis=0), found, np.inf)


def _beyond(sample: Sample, low: Array, high: Array) -> list[Cell]:
    """The cells beyond the limits, of columns in which they are few."""
    with np.errstate(invalid="ignore"):
        out = (sample.scaled < low) | (sample.scaled > high)
    many = out.sum(axis=0) > max(3, min(MOST, MOST_SHARE * sample.m))
    if sample.known is None:
        rows, columns = np.nonzero(out & ~many)
        places = zip(sample.at[rows].tolist(), columns.tolist(), sample.values[rows, columns].tolist(), strict=True)
        return [cell_of(sample, *place) for place in places]
    low, high = np.where(many, -np.inf, low), np.where(many, np.inf, high)
    found = sample.known.beyond(low * sample.unit, high * sample.unit)
    often = Counter(j for _, j, _ in found)
    return [cell_of(sample, *place) for place in found if often[place[1]] <= MOST]


def cell_of(sample: Sample, row: int, j: int, value: float) -> Cell:
    unit = float(sample.unit[j])
    there = sample.ordered[: sample.counts[j], j]
    x = value / unit
    others = there[there != x]
    spread = float(np.subtract(*np.quantile(there, [0.75, 0.25]))) / 1.349
    rest = float(np.square(others - others.mean()).sum()) if len(others) else 0.0
    rest *= (sample.n if sample.known is not None else sample.m) / max(1, len(there))
    own = (x - float(np.median(there))) ** 2
    return Cell(row, j, value, abs(x - float(np.median(there))) / spread, own / (own + rest), _guess(there, x))


def _guess(there: Array, x: float) -> str:
    """What may have happened to a value."""
    low, high = np.quantile(there, USUAL)
    low, high = low - (high - low) / 2, high + (high - low) / 2
    middle = float(np.median(there))
    powers = [power for power in POWERS if low <= x * power <= high and low * high > 0]
    if powers and not low <= -x <= high:
        best = min(powers, key=lambda power: abs(x * power - middle))
        return f"; {'×' if best > 1 else '÷'} {best if best > 1 else round(1 / best):.0f} it would be usual"
    return "; with the other sign it would be usual" if low <= -x <= high else ""


def _far_together(sample: Sample) -> Finding | None:
    """A row that is the farthest by far in two columns or more, though in none of them beyond all doubt."""
    spread = (sample.rank(0.75 * (sample.counts - 1)) - sample.rank(0.25 * (sample.counts - 1))) / 1.349
    usable = (spread > 0) & (sample.counts >= 2 * FEWEST) & (sample.distinct > 2 * DIFFERENT)
    if usable.sum() < 2:
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        away = np.abs(sample.scaled - sample.median) / np.where(usable, spread, np.inf)
    away = np.nan_to_num(away, nan=0.0)
    first = np.argmax(away, axis=0)
    two = np.partition(away, -2, axis=0)[-2:]
    far = usable & (two[1] > TWICE) & (two[1] > PAIR * two[0])
    rows, counts = np.unique(first[far], return_counts=True)
    if not len(rows) or counts.max() < 2:
        return None
    i = int(rows[np.argmax(counts)])
    columns = [int(j) for j in np.flatnonzero(far & (first == i))]
    cells = [cell_of(sample, int(sample.at[i]), j, float(sample.values[i, j])) for j in columns]
    listed = "; ".join(told(sample, cell) for cell in cells[:LISTED])
    return Finding(
        "far_row",
        NOTE,
        f"row {int(sample.at[i])} is the farthest by far in {len(columns)} columns: {listed}{sample.where}",
        sample.called(columns),
        (int(sample.at[i]),),
        {"values": [cell.value for cell in cells], "spreads": [cell.spreads for cell in cells]},
        "look at this row: if it is a mistake, correct it or leave it out",
    )

"""Rows in an order: series in time, of which the steps rather than the levels can be compared."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ritz.inspection.finding import WARNING, Finding, called, roughly
from ritz.inspection.sample import Sample
from ritz.linalg.dense import Array

FEWEST = 24  # pairs of rows, and differences of these, that tell of an order
DIFFERENT = 8  # values that a column needs to be a series
SMOOTH = 0.3  # of what squared differences of neighbours are in rows without an order
NOISE, SURE = -0.3, 3.0  # correlation of one step with the next that is noise around levels, and errors allowed
JUMP = 5.0  # times the median step
SHARE = 0.5  # of the columns that make all of it a series


def ordered_rows(sample: Sample) -> Iterator[Finding]:
    """Whether neighbours are alike as in a series in time, and not only because the rows are sorted by groups.

    Squared differences of neighbours are 2 σ² without an order. They are small in a series, and in rows that are sorted
    by groups. What tells these apart are the steps: within groups a step up is followed by one down, with correlation
    −1/2, since it is noise; in a series it is not.
    """
    if sample.pictures or sample.sparse or sample.m < FEWEST:
        return
    smooth, steps, pairs = neighbours(sample)
    if pairs < FEWEST:
        return
    monotone = _monotone(sample)
    usable = (sample.distinct >= DIFFERENT) & (sample.counts > 0.5 * sample.m)
    if not (usable & monotone).sum() == usable.sum() >= 2:  # running totals all rise; else it is a key, or the time
        usable &= ~monotone
    series = usable & (smooth < SMOOTH) & (steps > NOISE + SURE * 0.5 / np.sqrt(pairs))
    if not usable.any() or series.sum() < SHARE * usable.sum() or (series.sum() == 1 and sample.d > 2):
        return
    names = sample.called(np.flatnonzero(series))
    typical = float(np.median(1 - smooth[series]))
    yield Finding(
        "ordered_rows",
        WARNING,
        f"rows are in an order, as in a series in time: neighbours correlate by {roughly(typical)} in {called(names)}"
        f"{sample.where}; components of levels then show trends that any two series share",
        names,
        evidence={"correlations": (1 - smooth[series]).tolist(), "steps": steps[series].tolist(), "pairs": pairs},
        python="differences of neighbours can be compared: PCA().fit(np.diff(X, axis=0))",
        option="--diff",
    )


def neighbours(sample: Sample) -> tuple[Array, Array, int]:  # (d,), (d,)
    """Mean squared differences of neighbours over those of any two rows, the correlation of one difference with the
    next, and how many pairs there are."""
    X = np.where(sample.finite, sample.scaled - sample.median, np.nan)
    steps = np.where((np.diff(sample.at) == 1)[:, None], np.diff(X, axis=0), np.nan)
    there = ~np.isnan(steps)
    pairs = int(there.any(axis=1).sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        squared = np.nansum(steps**2, axis=0) / np.maximum(there.sum(axis=0), 1)
        smooth = squared / (2 * np.square(sample.deviation))
        # Between two groups is a jump, which says nothing of the steps within them.
        steps = np.where(np.abs(steps) <= JUMP * _typical(steps), steps, np.nan)
        both = ~np.isnan(steps[1:] + steps[:-1])
        follow = np.where(both, steps[1:] * steps[:-1], 0.0).sum(axis=0) / np.maximum(both.sum(axis=0), 1)
        correlation = follow / (np.nansum(steps**2, axis=0) / np.maximum((~np.isnan(steps)).sum(axis=0), 1))
    return np.nan_to_num(smooth, nan=1.0), np.nan_to_num(correlation, nan=-0.5), pairs


def _typical(steps: Array) -> Array:  # (m, d) -> (d,)
    """The median size of the steps of every column."""
    sizes, counts = np.sort(np.abs(steps), axis=0), (~np.isnan(steps)).sum(axis=0)
    found: Array = sizes[np.maximum(counts - 1, 0) // 2, np.arange(steps.shape[1])]
    return found


def _monotone(sample: Sample) -> NDArray[np.bool_]:
    """(d,) whether a column only rises or only falls: a key that the rows are sorted by, or the time itself."""
    steps = np.diff(sample.scaled, axis=0)
    rising: NDArray[np.bool_] = ~np.any(steps < 0, axis=0) | ~np.any(steps > 0, axis=0)
    return rising

"""Intervals of variances from resamples.

Of few or heavy-tailed rows no single rule covers as it should: percentiles are too narrow, as the variances of few rows
are, and studentised intervals, whose bias is corrected, are too narrow at the other end. The farther of the two ends is
taken on each side; for many rows they agree. `python -m benchmarks coverage` has what they cover.
"""

from __future__ import annotations

from contextlib import closing

import numpy as np

from ritz.linalg.dense import Array
from ritz.rows.base import Block
from ritz.sampling.resamples import Resamples
from ritz.sampling.rows_of_fit import RowsOfFit
from ritz.sampling.weighted import aligned

SMALL = 1e-3  # of a variance, the least that its standard error is taken for


def statistics(fit: RowsOfFit, draws: Resamples) -> Array:  # (B, k)
    """Studentised changes of the logarithms of variances, to first order: the mean influence of the rows of a resample,
    over its own standard error."""
    U, values, k = fit.subspace.axes, fit.values, fit.k
    prepare, own = fit.Z.prepare, U**2 * values

    def moved(block: Block) -> Array:
        Z = prepare(block)
        found = (Z @ U) ** 2 - (Z**2 @ own if fit.scaled else values)
        return np.column_stack([found, found**2])

    mass, sums = np.zeros(draws.count), np.zeros((draws.count, 2 * k))
    with closing(fit.Z.rows.each(moved)) as blocks:
        for start, part in aligned(blocks):
            W = draws.block(start, start + len(part))
            mass += W.sum(axis=1)
            sums += W @ part
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = np.split(sums / mass[:, None] / np.tile(values, 2), 2, axis=1)
        spread = np.sqrt(np.maximum(second / values - first**2, 0.0) / fit.n)
        level = np.maximum(1.0 + first, SMALL)
        return np.nan_to_num(np.log(level) / np.maximum(spread / level, SMALL))


def farther(draws: Array, estimate: Array, corrected: Array, error: Array, t: Array, level: float) -> Array:
    """(k, 2) the farther ends of percentile and studentised intervals.

    Parameters
    ----------
    draws : (B, k) of the resamples
    estimate, corrected : (k,) of the fit, and without its bias; NaN where there is none to speak of
    error : (k,) standard errors relative to the estimate
    t : (B, k) studentised changes of the resamples
    """
    tails = [0.5 - level / 2, 0.5 + level / 2]
    low, high = np.quantile(draws, tails, axis=0)
    left, right = np.quantile(t, tails, axis=0)
    centre = np.where(np.isfinite(corrected), corrected, estimate)
    with np.errstate(over="ignore"):
        return np.column_stack([
            np.minimum(np.minimum(low, centre * np.exp(-right * error)), estimate),
            np.maximum(high, centre * np.exp(-left * error)),
        ])  # fmt: skip

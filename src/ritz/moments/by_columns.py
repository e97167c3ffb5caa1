"""Columns that are centred and scaled where they lie: a pure function of blocks that hold whole columns.

A block has a column of the data in each of its rows. Its mean, its deviation and the unit in which its squares stay in
range are all found from the n entries of that row, in every pass again: nothing about columns has to travel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.linalg.dense import Array, gamma, row_squares
from ritz.moments.moments import SAFE_SQUARES, Moments
from ritz.moments.preprocessing import check_differences, power_near
from ritz.rows import Rows, check_finite
from ritz.rows.base import Block, dense
from ritz.runtime.threads import scratch


@dataclass(frozen=True)
class ColumnPreprocessing:
    """z = (x − mean)/scale of columns, of which a block holds one in each of its rows; in `unit` where none is scaled.

    Sparse blocks are made dense, one at a time, so that all of them are centred in the same way.
    """

    center: bool
    scale: bool
    ddof: int
    unit: float = 1.0

    def __call__(self, block: Block) -> Array:  # (m, n) -> (m, n)
        """The preprocessed block, in memory that the next one will use again."""
        Z, _, _, unit = self._centred(block)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            if self.scale:
                Z /= np.sqrt(row_squares(Z) / (Z.shape[1] - self.ddof))[:, None]
            elif (unit != self.unit).any():
                Z *= (unit / self.unit)[:, None]
        return Z

    def moments(self, block: Block) -> Array:  # (m, n) -> (m, 4)
        """Shift, delta, Σ z² and unit of every column, as `Moments` has them."""
        Z, shift, delta, unit = self._centred(block)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            return np.column_stack([shift, delta, row_squares(Z), unit])

    @np.errstate(over="ignore", invalid="ignore", under="ignore")
    def _centred(self, block: Block) -> tuple[Array, Array, Array, Array]:
        """(x − mean)/unit, and shift, delta and unit of every column; the mean is shift + delta·unit."""
        Z = scratch("block", *block.shape)
        Z[...] = dense(block)
        m, n = Z.shape
        shift, delta = np.zeros(m), np.zeros(m)
        if self.center:
            shift = np.mean(Z, axis=1)
            large = ~np.isfinite(shift)
            if large.any():  # a sum may overflow where a mean does not
                shift[large] = np.sum(Z[large] / n, axis=1)
            least, most = Z.min(axis=1), Z.max(axis=1)
            shift = np.where(least == most, least, shift)  # a constant column is shifted to exact zeros
            Z -= shift[:, None]
        unit = _units(Z)
        if (unit != 1).any():
            Z /= unit[:, None]
        if self.center:
            delta = np.mean(Z, axis=1)
            Z -= delta[:, None]
        return Z, shift, delta, unit


def _units(Z: Array) -> Array:  # (m, n) -> (m,)
    """A power of two near the size of rows whose squares may leave float64, 1 for others, and for zeros."""
    low, high = SAFE_SQUARES[np.dtype(np.float64)]
    unit, squares = np.ones(len(Z)), row_squares(Z)
    unsafe = np.flatnonzero(~((squares >= low) & (squares <= high)))
    peaks = np.abs(Z[unsafe]).max(axis=1)
    unit[unsafe] = np.where((peaks > 0) & np.isfinite(peaks), power_near(peaks), 1.0)
    return unit


def moments_by_columns(rows: Rows, turned: Rows, *, center: bool, scale: bool, ddof: int) -> Moments:
    """Count, means and variances of rows that are known by their columns, in one pass along these."""
    shift, delta, scatter, unit = turned.map(ColumnPreprocessing(center, scale, ddof).moments).T
    if not np.isfinite(scatter).all():
        check_finite(rows)
        check_differences(scatter, rows.name)
    n = rows.shape[0]
    sizes = scatter + n * delta**2
    spread = sizes > 0
    if not spread.all():  # columns without spread do not decide in which unit all are measured
        unit = np.where(spread, unit, np.max(unit, where=spread, initial=0.0) or 1.0)
    # A sum over the n entries of a column for the mean, and one for the squares.
    rounding = 4 * gamma(n + 8)
    return Moments(n, shift, delta, scatter, unit, sizes, rounding, scaled=scale, centred=center)

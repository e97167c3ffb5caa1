"""Sums over rows of their scores, alone and with what stands beside the rows; block by block, in one pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.interpretation.given import Given
from ritz.linalg.dense import Array, row_squares
from ritz.rows import Rows, check_finite
from ritz.rows.base import Block
from ritz.rows.passes import Cut
from ritz.spectrum.subspace import Subspace

ALIKE = 1e-3  # of a standard deviation: what the scores of the rows of the fit may be off by, beyond its accuracy
FIRST = 256  # rows whose mean score is near to that of all


@dataclass(frozen=True, eq=False)
class Beside:
    """What stands beside the rows, as one array: a part of it goes with every block.

    Attributes
    ----------
    table : (n, w) columns of numbers, centred where the fit is and in units of their own, 0 where there is no value;
        for those with gaps, where there is one; ones; codes of categories, each column's after those of the one before
    unit : (q,) of the columns of numbers, powers of two
    counts : (q,) rows with a value
    gaps : which columns of numbers lack some
    slices : the codes of every column of categories
    """

    table: Array
    unit: Array
    counts: NDArray[np.intp]
    gaps: NDArray[np.intp]
    slices: tuple[slice, ...]

    @classmethod
    def of(cls, given: Given, centred: bool) -> Beside:
        """In the order of the columns that were given."""
        S = given.values.T  # one column after the other, for NumPy is slow along short rows
        there = ~np.isnan(S)
        counts = there.sum(axis=1)
        gaps = np.flatnonzero(counts < S.shape[1])
        Z = np.where(there, S, 0.0) if len(gaps) else S
        sizes = _largest(Z)
        unit = np.ldexp(1.0, np.clip(np.frexp(sizes)[1], -1000, 1000) * (sizes > 0))
        Z = Z / unit[:, None]
        for _ in range(2 if centred else 0):  # the mean of what is left is what rounding left over
            Z -= (Z.sum(axis=1) / np.maximum(counts, 1))[:, None]
            Z[gaps] *= there[gaps]
        if centred:
            Z[_largest(Z) <= 4 * np.finfo(float).eps * sizes / unit] = 0.0
        starts = np.cumsum([0, *(found.count for found in given.categories)])
        codes = [found.codes + start for found, start in zip(given.categories, starts[:-1], strict=True)]
        table = np.empty((S.shape[1], len(Z) + len(gaps) + 1 + len(codes)))
        for place, column in enumerate([*Z, *there[gaps], 1.0, *codes]):
            table[:, place] = column
        slices = tuple(slice(int(a), int(b)) for a, b in pairwise(starts))
        return cls(table, unit, counts, gaps, slices)

    @property
    def q(self) -> int:
        """Columns of numbers."""
        return len(self.unit)

    @property
    def sized(self) -> int:
        """Columns that are multiplied by scores: numbers, where there are some, and ones."""
        return self.q + len(self.gaps) + 1

    @property
    def groups(self) -> int:
        """Groups of rows, over all columns of categories."""
        return self.slices[-1].stop if self.slices else 0

    @property
    def codes(self) -> NDArray[np.intp]:  # (n, c)
        """The group of every row, for each column of categories."""
        return self.codes_of(self.table)

    def codes_of(self, part: Array) -> NDArray[np.intp]:
        """The same of some rows."""
        return part[:, self.sized :].astype(np.intp)


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over rows of scores y from an origin, in the unit of the subspace.

    Attributes
    ----------
    count : of rows
    total, squares : (k,) Σ y, Σ y²
    products : (q, k) Σ s y
    there, there_squares : (g, k) Σ y and Σ y² over the rows with a value, of columns with gaps
    groups : (c, k) Σ y over the rows of every group
    """

    count: int
    total: Array
    squares: Array
    products: Array
    there: Array
    there_squares: Array
    groups: Array

    def check(self, rows: Rows, subspace: Subspace, lack: float, origin: Array | float = 0.0) -> None:
        """Rows of the fit have scores with mean 0, where it is centred, and the variances of the fit, as far as that
        is accurate: others have not."""
        n, roots = subspace.n_rows, subspace.deviations
        if not np.isfinite(self.squares).all():
            check_finite(rows)
        seen = roots > 0
        if n is None or not seen.any():
            return
        squares = self.squares + origin * (2 * self.total + self.count * origin)
        allowed = ALIKE + 8 * lack * (roots[0] / roots[seen]) ** 2
        off = np.abs(squares[seen] / ((n - subspace.ddof) * roots[seen] ** 2) - 1.0)
        if subspace.mean is not None:
            off = np.maximum(off, np.abs(self.total[seen]) / n / roots[seen])
        if not (off <= allowed).all():
            raise DataError(
                "the rows of X are not those of the fit: their scores have other means or variances",
                "pass the rows that the model was fitted to; others may be supplementary_rows",
            )


def scores_sums(count: int, total: Array, squares: Array) -> Sums:
    """Sums of scores alone."""
    none = np.zeros((0, len(total)))
    return Sums(count, total, squares, none, none, none, none)


def sums_of(Y: Array) -> tuple[Array, Array]:  # (k, m) -> (k,), (k,)
    """Σ y and Σ y², of scores that lie one component after the other."""
    return Y.sum(axis=1), row_squares(Y)


def origin_of(rows: Rows, subspace: Subspace) -> Array:  # (k,)
    """Scores near the mean of all, so that sums of squares about them lose no digits: 0 where rows are centred."""
    k = subspace.axes.shape[1]
    if subspace.mean is not None:
        return np.zeros(k)
    _, place = subspace.placing(rows)
    return np.asarray(place(rows.sample(FIRST))[:, :k].mean(axis=0))


def summed(rows: Rows, subspace: Subspace, beside: Beside, origin: Array) -> Sums:
    """All sums in one pass."""
    rows, place = subspace.placing(rows)
    k, q, sized = len(origin), beside.q, beside.sized

    def sums(pairs: Iterable[tuple[Block, Array]]) -> tuple[Array, Array, Array]:
        total: Any = None
        for block, part in pairs:
            Y = place(block)
            Y[:, :k] -= origin
            groups = indicator(beside.codes_of(part), beside.groups) @ Y if beside.groups else np.zeros((0, k + 1))
            found = part[:, :sized].T @ Y, part[:, q:sized].T @ (Y * Y), groups
            total = found if total is None else _added(total, found)
        return total

    products, squares, groups = (part[:, :k] for part in rows.reduce(sums, _added, beside.table, Cut.SQUARE))
    return Sums(rows.shape[0], products[-1], squares[-1], products[:q], products[q:-1], squares[:-1], groups)


def _added(ours: tuple[Array, ...], theirs: tuple[Array, ...]) -> tuple[Any, ...]:
    return tuple(a + b for a, b in zip(ours, theirs, strict=True))


def _largest(Z: Array) -> Array:
    """The largest magnitude of every row."""
    return np.maximum(Z.max(axis=1, initial=0.0), -Z.min(axis=1, initial=0.0))


def indicator(codes: NDArray[np.intp], groups: int) -> Any:  # (m, c) -> (g, m)
    """The sparse matrix that sums rows by group: each row belongs to one group of every column."""
    from scipy.sparse import csc_array

    m, c = codes.shape
    return csc_array((np.ones(m * c), codes.ravel(), np.arange(0, m * c + 1, c)), shape=(groups, m))

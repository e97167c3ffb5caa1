"""First differences of consecutive rows: what changes from one time to the next, instead of where things stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError, ParameterError
from ritz.rows.base import Block, Rows, dense
from ritz.rows.memory.computed import Computed
from ritz.rows.memory.sparse import Sparse
from ritz.rows.passes import Run


def differenced(rows: Rows) -> Rows:
    """Row i + 1 less row i, for all but the last; a row is known by the name and the labels of the later one.

    A difference with a missing value is missing, so that none spans a row that is not there.

    Examples
    --------
    >>> from ritz.rows import as_rows
    >>> differenced(as_rows([[1, 5], [4, 5], [9, 0]])).block(0, 2)
    array([[ 3.,  0.],
           [ 5., -5.]])
    """
    n = rows.shape[0]
    if n < 2:
        raise DataError("one row has no difference from another; give at least 2 rows")
    if rows.on_device:
        raise ParameterError("diff", True, "is for data on the CPU; pass a copy there, or take differences before")
    if rows.scattered:
        raise ParameterError("diff", True, "is for rows that this process reads, and these lie on a Dask cluster")
    if isinstance(rows, Sparse):
        X = rows.exact(rows._X)
        made = rows._of_these(_less(X[1:], X[:-1]), rows.names, np.arange(1, n))
        made._labels = rows._labels
        return made
    return Differenced(rows)


def levels(rows: Rows) -> Rows:
    """What rows are differences of; themselves, where they are none."""
    return rows._base if isinstance(rows, Differenced) else rows


def _less(later: Any, earlier: Any) -> Any:
    """later − earlier, in float64 where they are integers."""
    if later.dtype.kind != "f":
        later, earlier = later.astype(np.float64), earlier.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is reported with its place
        return later - earlier


class Differenced(Computed):
    """Differences of the rows of another source, block by block, when they are read."""

    numbered = True

    def __init__(self, base: Rows) -> None:
        super().__init__(base)
        self.shape = (base.shape[0] - 1, base.shape[1])
        self.dtype = base.dtype if base.dtype.kind == "f" else np.dtype(np.float64)
        self.sparse, self.density = base.sparse, min(1.0, 2 * base.density)
        self.inherit(base, np.arange(1, base.shape[0]))
        self._labels, self.white = base._labels, None
        self.origin = base.origin and base.origin._replace(view=f"{base.origin.view}diff")
        self._borders: dict[int, Block] = {}  # first rows of runs, of which each ends the run before

    def read(self, start: int, stop: int) -> Block:
        if stop <= start:
            return _less(*(self._exact(start, start),) * 2)
        rows = self._exact(start, stop + 1)
        return _less(rows[1:], rows[:-1])

    def take(self, indices: NDArray[np.integer]) -> Block:
        later, earlier = np.asarray(indices) + 1, np.asarray(indices)
        base = self._base
        return _less(base.exact(base.take(later)), base.exact(base.take(earlier)))

    def sample(self, size: int) -> Block:
        return super().sample(size) if self.in_memory else self.glimpse(size, np.random.default_rng(0))[1]

    def glimpse(self, size: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], Block]:
        if self.in_memory:
            return super().glimpse(size, rng)
        at, block = self._base.glimpse(size + 1, rng)
        rows = dense(self._base.exact(block))
        follows = np.flatnonzero(np.diff(at) == 1)
        if not len(follows):  # so few rows of so many that no two are neighbours
            return super().glimpse(size, rng)
        return at[follows], _less(rows[follows + 1], rows[follows])

    def with_gaps(self) -> Differenced:
        return Differenced(self._base.with_gaps())

    def some(self, columns: NDArray[np.intp]) -> Differenced | None:
        base = self._base.some(columns)
        return None if base is None else Differenced(base)

    def column(self, key: Any) -> NDArray[Any]:
        """A column of the source, of all its rows, as `kept` counts them."""
        return self._base.column(key)

    def cells(self, keys: Iterable[Any]) -> dict[Any, NDArray[Any]]:
        return self._base.cells(keys)

    def raw_cells(self, keys: Iterable[Any]) -> dict[Any, NDArray[Any]]:
        return self._base.raw_cells(keys)

    def _runs(self, step: int, least: int, most: int) -> list[Run]:
        return self._one_less(super()._runs(step, least, most))

    def portions(self, blocks: int = 1, columns: int | None = None) -> list[Run]:
        return self._one_less(super().portions(blocks, columns))

    def _one_less(self, runs: list[Run]) -> list[Run]:
        """Runs of rows as runs of differences: the last row has none."""
        ends = [runs[0][0], *(min(stop, self.shape[0]) for _, stop in runs)]
        return [(a, b) for a, b in pairwise(ends) if a < b]

    def _blocks(self, start: int, stop: int, step: int) -> Iterator[Block]:
        if self._base.in_memory:
            yield from super()._blocks(start, stop, step)
            return
        before: Any = None
        for block in self._base._blocks(start, stop, step):
            rows = self._base.exact(block)
            yield from self._with_first(rows, before)
            before = rows[-1:].copy()
        yield _less(self._border(stop), before)

    def _with_first(self, rows: Any, before: Any) -> Iterator[Block]:
        """The differences of a block, and that of its first row from the one `before`, if there is one."""
        m = rows.shape[0]
        if before is not None and not self.sparse:
            out = np.empty((m, self.shape[1]), self.dtype)
            out[:1], out[1:] = _less(rows[:1], before), _less(rows[1:], rows[:-1])
            yield out
            return
        if before is not None:
            yield _less(rows[:1], before)
        if m > 1:
            yield _less(rows[1:], rows[:-1])

    def _border(self, row: int) -> Block:
        """The row after a run, which is read once: a part of a file is parsed as a whole."""
        if row not in self._borders:
            self._borders[row] = self._exact(row, row + 1).copy()
        return self._borders[row]

    def _exact(self, start: int, stop: int) -> Block:
        return self._base.exact(self._base.read(start, stop))

"""A dask array with fewer rows than columns, whose columns are cut into chunks: passes go along the columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Self

import numpy as np

from ritz.errors import DataError
from ritz.rows import check_exact, is_dask
from ritz.rows.base import Rows
from ritz.rows.dask.chunks import chunks_of
from ritz.rows.dask.graphs import Key
from ritz.rows.dask.parts import Chunk, rows_of
from ritz.rows.dask.source import DaskRows, are_columns_cut, no_whole_rows
from ritz.rows.large_integers import is_wide
from ritz.rows.passes import Passes, block_memory
from ritz.runtime.watch import Watch


class DaskColumns(Rows):
    """n rows of d > n columns, in chunks that hold whole columns.

    `turned` has the columns as its rows, and their chunks as its parts. To centre a column, or to scale it, takes no
    more than its own n entries; so what the Gram matrix needs is a sum, or a stack, over blocks of columns. What needs
    whole rows is an error.
    """

    scattered = True
    in_memory = True  # nothing is gained by gathering them
    turned: DaskRows

    def __init__(self, x: Any) -> None:
        self._adopt(Turned(x))

    @classmethod
    def of(cls, turned: DaskRows) -> Self:
        """Rows whose columns someone has looked at already."""
        rows = cls.__new__(cls)
        rows._adopt(turned)
        return rows

    @classmethod
    def opens(cls, source: Any) -> bool:
        return is_dask(source) and are_columns_cut(source) and not source.shape[0] >= source.shape[1]

    def _adopt(self, turned: DaskRows) -> None:
        d, n = turned.shape
        self.turned, self.shape, self.dtype = turned, (n, d), turned.dtype
        self.workers, self.watch = turned.workers, turned.watch

    # Where they are.

    def near(self, f: Callable[..., Any], *args: Any) -> Any:
        return self.turned.near(_led, f, args)

    def at_hand(self, passes: int | None) -> Rows:
        return self._with(self.turned.at_hand(passes))

    def limited(self, most_bytes: int, most_threads: int | None = None) -> Self:
        limited = super().limited(most_bytes, most_threads)
        return limited._with(self.turned.limited(most_bytes, most_threads))

    def watched(self, watch: Watch) -> Self:
        return self._with(self.turned.watched(watch))

    def _with(self, turned: DaskRows) -> Self:
        twin = copy(self)
        twin.turned, twin.watch = turned, turned.watch
        return twin

    @property
    def threads(self) -> int:
        return self.turned.threads

    @property
    def latency(self) -> float:
        return self.turned.latency

    @property
    def passes(self) -> Passes:
        return ColumnPasses(self, self.turned)

    def name(self, column: int) -> str:
        """With the chunk, which a column without a name is found by."""
        known = self.turned.known
        i = int(np.searchsorted(known.starts, column, side="right")) - 1
        part = known.parts[i]
        return f"{column} (column {part.start + column - known.starts[i]} of {part.place})"

    # What needs whole rows.

    def check_whole(self, what: str) -> NoReturn:
        raise no_whole_rows(len(self.turned.known.parts), what)

    def _refused(self, *args: Any, **how: Any) -> NoReturn:
        self.check_whole("a pass over rows")

    reduce = each = _pairs = take = read = _refused


@dataclass(frozen=True)
class ColumnPasses(Passes):
    """Along the columns, by blocks of whole ones: the Gram matrix is summed as the covariance is by rows."""

    turned: Rows

    side = "gram"  # Z Zᵀ
    known = 5
    reads = 1
    share = 1.0
    few_rows = False

    @property
    def length(self) -> int:
        return self.turned.shape[1]

    @property
    def gram_memory(self) -> int:
        return 8 * self.rows.shape[0] ** 2 * (4 + 2 * self.rows.threads) + int(block_memory(self.turned, 1))

    def thin_memory(self, b: int) -> int:
        """Results of n×b in every thread, and two of d×b."""
        n, d = self.rows.shape
        return int(block_memory(self.turned, 1)) + 8 * b * (2 * n * self.rows.threads + 2 * d)


def _led(turned: DaskRows, f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """f of rows whose columns lie here."""
    return f(DaskColumns.of(turned), *args)


class Turned(DaskRows):
    """The columns of a dask array as rows: a part is a chunk of columns, with all rows of them."""

    def _chunks(self, x: Any, cluster: Any) -> tuple[list[Chunk], None, Any]:
        if np.isnan(x.shape).any():
            raise DataError(
                "the columns are cut, and the sizes of the chunks are not known", "call x.compute_chunk_sizes() first"
            )
        # All rows of a column in one chunk: they are few.
        found, kept = chunks_of(x.rechunk({0: -1}), list(map(int, x.chunks[1])), cluster)
        strips: list[Chunk] = [
            Strip(**{**vars(chunk), "place": f"chunk [:, {j}]", "height": x.shape[0]}) for j, chunk in enumerate(found)
        ]
        if x.numblocks[0] > 1:  # a strip is joined from what lies in several places: once, where `at_hand` finds room
            strips = [replace(strip, anchor=None) for strip in strips]
        return strips, None, kept


@dataclass(frozen=True, eq=False)
class Strip(Chunk):
    """A chunk of columns, read as rows; `height` is how many numbers each has."""

    height: int = 0

    def opened(self, needed: Mapping[Key, Any]) -> Rows:
        chunk = self._value(needed)
        if chunk.shape != (self.height, self.rows):
            made, told = ("×".join(map(str, shape)) for shape in (chunk.shape, (self.height, self.rows)))
            raise DataError(
                f"{self.place} is {made}, but {told} was announced", "x.compute_chunk_sizes() corrects the sizes"
            )
        if is_wide(chunk.dtype):  # now: once turned, a column would be called by the number of a row
            try:
                check_exact(chunk)
            except DataError as error:
                raise error.at(self.place) from error
        return rows_of(chunk.T, self.place)

"""Rows that are computed from other rows or from pieces, block by block: scaled, some of them, without gaps."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from copy import copy
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError, ParameterError
from ritz.rows.base import Block, Rows
from ritz.rows.columns import no_mean, nothing_left
from ritz.rows.memory.sparse import Sparse
from ritz.rows.passes import Cut, Run
from ritz.runtime.watch import UNWATCHED

Partial = TypeVar("Partial")


class Computed(Rows):
    """Rows in float64 of the shape of others, read as those are: limits, threads, files and pieces.

    Whoever computes rows of another shape or type says so after `__init__`. Where the others are scattered, these are
    computed where those lie, by `_made`.
    """

    numbered = False  # whether what a row becomes depends on its number

    def __init__(self, base: Rows) -> None:
        self._base, self.scattered = base, base.scattered
        self.shape, self.names, self.dtype = base.shape, base.names, np.dtype(np.float64)
        self.most_bytes, self.most_threads = base.most_bytes, base.most_threads
        self.in_memory, self.watch, self.files = base.in_memory, base.watch, base.files
        self.home, self.remark, self.workers = base.home, base.remark, base.workers

    @property
    def reading(self) -> int:
        return self._base.reading + 8 * self._base.shape[1] * self.block_rows

    @property
    def threads(self) -> int:
        return min(self._base.threads, self.most_threads)

    @property
    def latency(self) -> float:
        return self._base.latency

    def limited(self, most_bytes: int, most_threads: int | None = None) -> Self:
        limited = super().limited(most_bytes, most_threads)
        limited._base = self._base.limited(most_bytes, most_threads)
        return limited

    def _runs(self, step: int, least: int, most: int) -> list[Run]:
        return self._base._runs(step, least, most)

    def portions(self, blocks: int = 1, columns: int | None = None) -> list[Run]:
        return self._base.portions(blocks, columns)

    # Over rows that are scattered.

    def _made(self, block: Block, at: range | None) -> Block:
        """What a block of the others becomes; `at` is where it stands among all rows, for those that need to know.

        Classes that are only made of rows at hand have none.
        """
        raise NotImplementedError

    def reduce(
        self,
        f: Callable[[Iterable[Any]], Partial],
        combine: Callable[[Partial, Partial], Partial],
        beside: Block | range | None = None,
        cut: Cut = Cut.SQUARE,
        least: int = 1,
    ) -> Partial:
        if not self.scattered:
            return super().reduce(f, combine, beside, cut, least)
        places, there = range(self.shape[0]), self._base.watched(self.watch)
        if beside is None:
            return there.reduce(lambda some: f(self._made(*pair) for pair in some), combine, places, cut, least)

        def paired(some: Iterable[tuple[Block, Any]]) -> Partial:
            return f((self._made(block, numbered.places), numbered.values) for block, numbered in some)

        # Only slices of what stands beside rows are taken, and these it has.
        return there.reduce(paired, combine, Numbered(beside, places), cut, least)  # type: ignore[arg-type]

    def each(
        self, f: Callable[[Block], Block], exact: bool = True, columns: int | None = None
    ) -> Generator[Block, None, None]:
        if not self.scattered or self.numbered:
            return super().each(f, exact, columns)
        return self._base.watched(self.watch).each(lambda block: f(self._made(block, None)), exact, columns)

    def _pairs(self, f: Callable[[Block, Block], Block]) -> Block:
        if not self.scattered or self.numbered:
            return super()._pairs(f)

        def tile(A: Block, B: Block) -> Block:
            made = self._made(A, None)
            return f(made, made if A is B else self._made(B, None))

        return self._base._pairs(tile)

    def near(self, f: Callable[..., Partial], *args: Any) -> Partial:
        return self._base.watched(self.watch).near(_rebased, self, f, args) if self.scattered else f(self, *args)

    def __getstate__(self) -> dict[str, Any]:
        """What goes along with functions of blocks: nobody watches there."""
        return self.__dict__ | {"watch": UNWATCHED, "files": None}

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin


class Numbered(NamedTuple):
    """What stands beside rows, and which rows those are: sliced together."""

    values: Any
    places: range

    def __getitem__(self, which: Any) -> Any:
        return Numbered(self.values[which], self.places[which]) if isinstance(which, slice) else tuple(self)[which]


def _rebased(base: Rows, rows: Computed, f: Callable[..., Partial], args: tuple[Any, ...]) -> Partial:
    """f of rows whose base lies here."""
    here = copy(rows)
    here._base, here.watch = base, base.watch
    return f(here, *args)


class Scaled(Computed):
    """(x − shift)·factor, in float64; sparse rows are not shifted, and stay sparse.

    Below 2⁻¹⁰²² float64 has fewer and fewer digits, so that products round to whatever is left. Differences of such
    numbers are exact, and so is their product with a power of two: nothing is lost here.
    """

    def __init__(self, base: Rows, shift: NDArray[Any] | None, factor: float) -> None:
        super().__init__(base)
        self._shift, self._factor = None if base.sparse else shift, factor
        self.sparse, self.density, self.origin = base.sparse, base.density, base.origin

    def read(self, start: int, stop: int) -> Block:
        return self._scaled(self._base.read(start, stop))

    def take(self, indices: NDArray[np.integer]) -> Block:
        return self._scaled(self._base.take(indices))

    def sample(self, size: int) -> Block:
        return self._scaled(self._base.sample(size))

    def _made(self, block: Block, at: range | None) -> Block:
        return self._scaled(block)

    @property
    def thin_rows(self) -> int:
        return self._base.thin_rows

    def _blocks(self, start: int, stop: int, step: int) -> Iterator[Block]:
        return map(self._scaled, self._base._blocks(start, stop, step))

    def _scaled(self, block: Any) -> Any:
        if self.sparse:
            data = block.data.astype(np.float64) * self._factor
            return type(block)((data, block.indices, block.indptr), shape=block.shape)
        block = block.astype(np.float64)
        if self._shift is not None:
            block -= self._shift
        block *= self._factor
        return block


class Subset(Computed):
    """Columns, and rows where not all are kept, of another source. Only blocks are copied."""

    def __init__(
        self,
        base: Rows,
        columns: NDArray[np.intp],
        kept: NDArray[np.intp] | None = None,
        fill: NDArray[np.floating] | None = None,
    ) -> None:
        super().__init__(base)
        self._columns, self._kept, self.fill = columns, kept, fill
        self.scattered = base.scattered and kept is None
        self._replaced: list[int] = []
        self.shape = (base.shape[0] if kept is None else len(kept), len(columns))
        self.dtype, self.copied = base.dtype, base.copied
        self.inherit(base, kept)
        if len(columns) != base.shape[1] or (columns[1:] <= columns[:-1]).any():  # not all pixels, or in another order
            self.image_shape = self.white = None
        self.names = None if base.names is None else tuple(base.names[j] for j in columns)

    def read(self, start: int, stop: int) -> Block:
        kept = self._kept
        return self._finish(self._base.read(start, stop) if kept is None else self._base.take(kept[start:stop]))

    def take(self, indices: NDArray[np.integer]) -> Block:
        return self._finish(self._base.take(indices if self._kept is None else self._kept[indices]))

    def _made(self, block: Block, at: range | None) -> Block:
        return self._finish(block)

    def column(self, key: Any) -> NDArray[Any]:
        """A column of the source, also one that was not chosen; all of its rows, as `kept` counts them."""
        return self._base.column(key)

    def cells(self, keys: Iterable[Any]) -> dict[Any, NDArray[Any]]:
        return self._base.cells(keys)

    def sample(self, size: int) -> Block:
        return self._finish(self._base.sample(size)) if self._kept is None else super().sample(size)

    def spread(self, size: int) -> Block:
        return self._finish(self._base.spread(size)) if self._kept is None else super().spread(size)

    def glimpse(self, size: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], Block]:
        if self._kept is not None:
            return super().glimpse(size, rng)
        at, block = self._base.glimpse(size, rng)
        return at, self._finish(block)

    def _runs(self, step: int, least: int, most: int) -> list[Run]:
        return self._among_kept(super()._runs(step, least, most))

    def portions(self, blocks: int = 1, columns: int | None = None) -> list[Run]:
        return self._among_kept(super().portions(blocks, columns))

    def _among_kept(self, runs: list[Run]) -> list[Run]:
        """Runs of rows of the base as runs of the rows that are kept."""
        if self._kept is None:
            return runs
        ends = np.searchsorted(self._kept, [runs[0][0], *(stop for _, stop in runs)])
        return [(int(a), int(b)) for a, b in pairwise(ends) if a < b]

    def _blocks(self, start: int, stop: int, step: int) -> Iterator[Block]:
        kept = np.arange(start, stop) if self._kept is None else self._kept[start:stop]
        at, row = 0, int(kept[0])
        for block in self._base._blocks(row, int(kept[-1]) + 1, step):
            here = kept[at : np.searchsorted(kept, row + len(block))] - row
            if len(here):
                yield self._finish(block if len(here) == len(block) else block[here])
            at, row = at + len(here), row + len(block)

    def _finish(self, block: Block) -> Block:
        block = block[:, self._columns]
        if self.fill is None:
            return block
        gaps = np.isnan(block)
        if not gaps.any():
            return block
        self._replaced.append(int(np.count_nonzero(gaps)))
        return np.where(gaps, self.fill.astype(block.dtype), block)


class Transposed(Rows):
    """Fᵀ, (d, p), where F is made of pieces of d columns that stand one below the other and are never stacked."""

    def __init__(self, pieces: Sequence[NDArray[Any]]) -> None:
        self.pieces = pieces
        self.shape = (int(pieces[0].shape[1]), sum(map(len, pieces)))
        self.dtype = np.result_type(*pieces)

    def read(self, start: int, stop: int) -> Block:
        out, left = np.empty((stop - start, self.shape[1]), self.dtype), 0
        for piece in self.pieces:
            out[:, left : left + len(piece)] = piece[:, start:stop].T
            left += len(piece)
        return out


def choose(rows: Rows, columns: Iterable[Any] | None, without: Iterable[Any], missing: str) -> Rows:
    """The columns asked for but those left out, with missing values dealt with."""
    if missing not in ("error", "drop", "mean"):
        raise ParameterError("missing", missing, "must be 'error', 'drop' or 'mean'")
    rows = rows if missing == "error" else rows.with_gaps()
    picked = list(range(rows.shape[1])) if columns is None else rows.positions(columns)
    left_out = set(rows.positions(without))
    places = np.array([j for j in picked if j not in left_out], np.intp)
    if not len(places):
        raise DataError("no column is left to decompose")
    everything = list(places) == list(range(rows.shape[1]))
    if not everything:
        rows.check_whole("a choice of columns")
    chosen = rows if everything else rows.some(places) or Subset(rows, places)
    if missing == "error" or rows.dtype.kind != "f":
        return chosen
    chosen.check_whole(f"missing={missing!r}")
    if missing == "mean":
        return chosen.filled() if isinstance(chosen, Sparse) else _filled(chosen)
    found = drop_missing(chosen, "any")
    if not found.shape[0]:
        raise nothing_left(rows.shape[0])
    return found


def drop_missing(rows: Rows, how: Literal["any", "all"]) -> Rows:
    """The rows without those in which any value is missing, or all are; perhaps none is left."""
    rows = rows.with_gaps()
    if rows.dtype.kind != "f" or (isinstance(rows, Sparse) and how == "all"):
        return rows
    if isinstance(rows, Sparse):
        kept = rows.complete()
    else:
        test = np.any if how == "all" else np.all
        kept = np.flatnonzero(rows.map(lambda block: test(~np.isnan(block), axis=1)))
    if len(kept) == rows.shape[0]:
        return rows
    if isinstance(rows, Sparse) and len(kept):
        return rows.keeping(kept)
    return Subset(rows, np.arange(rows.shape[1]), kept)


def _filled(rows: Rows) -> Rows:
    """The rows with the mean of a column in its gaps."""

    def sums(blocks: Iterable[Block]) -> Any:
        return sum(np.stack([np.nansum(part, axis=0, dtype=float), (~np.isnan(part)).sum(axis=0)]) for part in blocks)

    total, count = rows.reduce(sums, np.add)
    if not count.all():
        raise no_mean(rows.name(int(np.argmin(count))))
    filled = Subset(rows, np.arange(rows.shape[1]), fill=total / count)
    filled.n_filled = int(rows.shape[0] * rows.shape[1] - count.sum())
    return filled

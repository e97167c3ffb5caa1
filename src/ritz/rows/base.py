"""Rows: anything that can be walked in blocks of rows, again and again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from copy import copy
from itertools import pairwise
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.dense import Array, r_factor
from ritz.linalg.products import SKINNY, cross, times
from ritz.rows.columns import Columns
from ritz.rows.exact import check_block
from ritz.rows.unchanged import steadily
from ritz.runtime import threads
from ritz.runtime.watch import UNWATCHED, Watch

Partial = TypeVar("Partial")
Block = NDArray[Any]

MOST_BYTES = 1 << 24  # of a block, unless memory is scarce
BLOCK_BYTES = 1 << 21  # a block stays in cache; twice as many for short rows, where calls cost more than that saves
THIN_BYTES = 1 << 20  # a block and its centred copy stay in the second-level cache
BLOCK_ROWS = 320  # fewer rows leave a d×d product bound by memory, not arithmetic
ENTRY_BYTES = 12  # of an entry of a sparse matrix: its value, and where it stands
THIN_ROWS = 256  # the same for d×b products with few columns
LANE_ROWS = 4096  # merging two partial results costs about as much as 100 rows
LANE_WORK = 1 << 28  # products, and reading an entry counts for 32, that are worth a thread's start
LANES = 64
SERIAL = 1 << 16  # entries below which starting threads costs more than it saves


class Rows(Columns, ABC):
    """n rows of d numbers. A source gives `shape`, `dtype`, `names` and `block`; the four verbs follow.

    Every pass over the data is one of `reduce`, `map`, `pairs`, `take`, given pure functions of blocks. Results
    are combined in an order fixed by the shape alone, so they depend neither on timing nor on the thread count.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    most_bytes: int = MOST_BYTES
    most_threads: int = 1 << 30
    sparse: bool = False  # whether blocks are sparse, so that nothing can be subtracted from them
    in_memory: bool = True  # whether a walk costs no reading, or none but a copy
    copied: bool = False  # whether every walk is a copy, so that one copy of all is better than many walks
    transposed: bool = False  # whether products with few columns keep a transpose in memory
    density: float = 1.0  # share of the entries that are stored
    origin: tuple[Any, ...] = ()  # of files: their names, sizes and times of change
    watch: Watch = UNWATCHED

    @classmethod
    @abstractmethod
    def opens(cls, source: object) -> bool:
        """Whether this class can walk `source`."""

    @abstractmethod
    def block(self, start: int, stop: int) -> Block:  # (stop − start, d)
        """Rows start to stop, a view wherever possible; the caller does not write to it."""

    def take(self, indices: NDArray[np.integer]) -> Block:
        """The rows at these indices, stacked."""
        return np.concatenate([self.block(i, i + 1) for i in indices])

    def sample(self, size: int) -> Block:
        """About so many rows, from all over the data."""
        return self.take(np.unique(np.linspace(0, self.shape[0] - 1, size).astype(np.intp)))

    def spread(self, size: int) -> Block:
        """The same, however they are stored; more is read than for `sample` where rows come one after another."""
        return self.sample(size)

    def reduce(
        self,
        f: Callable[[Iterable[Any]], Partial],
        combine: Callable[[Partial, Partial], Partial],
        beside: Block | range | None = None,
        thin: bool = False,
        whole: bool = False,
        least: int = 1,
    ) -> Partial:
        """combine(… combine(f(run₀), f(run₁)) …), where a run is an iterator over consecutive blocks.

        `f` sees whole runs so that it can accumulate in place; from outside it is pure. With `beside`, an array of
        n rows or range(n), a run yields pairs: a block and what stands next to its rows, or their numbers. Partial
        results that are `thin`, d×b with few columns, cost nothing to combine: blocks are smaller and runs more. With
        `whole` there is one run, of the largest blocks that memory allows, and `f` may use the cores itself. Runs of
        fewer rows than `least` are not worth a partial result.
        """
        most = max(1, self.most_bytes // (8 * self.shape[1]))
        step = most if whole else self.thin_rows if thin else self.block_rows

        def partial(run: tuple[int, int]) -> Partial:
            return f(self.watch.seen(self._exact_blocks(*run, step, beside)))

        runs = self._runs(step, max(least, self._lane_rows(thin)), 1 if whole else LANES)
        return self.watch.fold(runs, lambda some: self._walk(partial, some), combine)

    def normal(
        self, W: Array, shifted: Callable[[Block], Block], remainder: Array | float, factor: bool = False
    ) -> tuple[Array, ...]:
        """Σ (x − shift) yᵀ and Σ y over all rows, y = Wᵀ(x − shift) − remainder; with `factor`, the triangle of all y.

        One pass. A source that can multiply by its transpose in a better way does.
        """

        def project(blocks: Iterable[Block]) -> tuple[Array, ...]:
            AW, total = np.zeros(W.shape), np.zeros(W.shape[1])
            T: Array = np.empty((0, W.shape[1]))
            for block in blocks:
                Z = shifted(block)
                Y = times(Z, W)
                Y -= remainder
                AW += cross(Z, Y)
                total += np.ones(len(Y)) @ Y
                if factor:
                    T = r_factor(T, Y)
            return (AW, total, T) if factor else (AW, total)

        return self.reduce(project, _add, thin=True)

    def combine(self, V: Array, shifted: Callable[[Block], Block]) -> Array:  # (n, b) -> (d, b)
        """Σ (x − shift) v over all rows, for few columns."""

        def combine(pairs: Iterable[tuple[Block, Array]]) -> Array:
            total: Any = 0.0
            for block, part in pairs:
                total += cross(shifted(block), part)
            return total

        return self.reduce(combine, np.add, V, thin=True)

    def project(self, W: Array, shifted: Callable[[Block], Block]) -> Array:  # (d, b) -> (n, b)
        """Wᵀ(x − shift) of every row."""
        return self.map(lambda block: times(shifted(block), W))

    def map(self, f: Callable[[Block], Block], exact: bool = True) -> Block:
        """f of every block, stacked in order; `exact` as in `each`."""
        return self.watch.whole(lambda: stack(self.each(f, exact), self.shape[0]))

    def each(self, f: Callable[[Block], Block], exact: bool = True) -> Generator[Block, None, None]:
        """f of every block, in order, as they come: few of them are in memory at a time.

        Integers that float64 cannot hold are refused, unless `exact` is False because nobody computes with them.
        """
        step, pieces = self.block_rows, self._pieces()
        walk = self._exact_blocks if exact else self._blocks

        def piece(ends: tuple[int, int]) -> list[Block]:
            return [f(block) for block in self.watch.seen(walk(*ends, step, None))]

        self.watch.begin(pieces)
        with closing(self._walk(piece, pieces)) as results:
            for blocks in steadily(self.files, results, len(pieces)):
                yield from blocks

    def pairs(self, f: Callable[[Block, Block], Block]) -> Block:
        """The n×n symmetric matrix whose tiles are f(rows of the tile, columns of the tile)."""
        return self.watch.whole(lambda: self._pairs(f))

    def _pairs(self, f: Callable[[Block, Block], Block]) -> Block:
        n = self.shape[0]
        step = min(256, max(1, -(-n // 2)))
        starts = range(0, n, step)
        tiles = [(i, j) for i in starts for j in starts if i <= j]
        out = np.empty((n, n))

        def tile(corner: tuple[int, int]) -> tuple[tuple[int, int], Block]:
            i, j = corner
            rows = self.exact(self.block(i, min(i + step, n)))
            return corner, f(rows, rows if i == j else self.exact(self.block(j, min(j + step, n))))

        with closing(self._walk(tile, tiles)) as parts:
            for (i, j), part in parts:
                out[i : i + step, j : j + step] = part
                out[j : j + step, i : i + step] = part.T
        return out

    def __repr__(self) -> str:
        n, d = self.shape
        about = f"; {self.about}" if self.about else ""
        return f"<{type(self).__name__}: {n} rows, {d} columns, {self.dtype}{about}>"

    @property
    def reading(self) -> int:
        """Bytes that a thread holds beside its block while it reads."""
        return 0

    @property
    def outer_work(self) -> float:
        """Multiplications of XᵀX."""
        n, d = self.shape
        return 1.0 * n * d * d

    @property
    def inner_work(self) -> float:
        """Multiplications of X Xᵀ."""
        n, d = self.shape
        return 1.0 * n * n * d

    @property
    def narrow(self) -> bool:
        """Whether float32 holds every digit of the data."""
        return bool(np.result_type(self.dtype, np.float32) == np.float32)

    @property
    def result_dtype(self) -> np.dtype[Any]:
        """What results are given in: float32 for data of at most that precision, float64 for all else."""
        return np.dtype(np.float32 if self.dtype.kind == "f" and self.dtype.itemsize <= 4 else np.float64)

    @property
    def block_rows(self) -> int:
        """Rows of a block: a few megabytes, but no fewer than a product needs to be bound by arithmetic."""
        n, d = self.shape
        rows = max((BLOCK_BYTES if d > SKINNY else 2 * BLOCK_BYTES) // (8 * d), BLOCK_ROWS)
        return max(1, min(n, rows, self.most_bytes // (8 * d)))

    @property
    def threads(self) -> int:
        """How many of them walk."""
        return min(threads.pinned.budget(), self.most_threads)

    def limited(self, most_bytes: int, most_threads: int | None = None) -> Self:
        """The same rows, walked in blocks of at most so many bytes in float64, by at most so many threads."""
        limited = copy(self)
        limited.most_bytes = most_bytes
        limited.most_threads = most_threads or self.most_threads
        return limited

    def with_gaps(self) -> Rows:
        """The same rows in a type that can say what is missing, where the source has values that may be."""
        return self

    @property
    def thin_rows(self) -> int:
        """Rows of a block that is multiplied by few columns."""
        row_bytes = 8 * self.shape[1]
        enough = max(32, min(THIN_ROWS, 4 * THIN_BYTES // row_bytes))
        return min(self.block_rows, max(THIN_BYTES // row_bytes, enough))

    def column(self, key: Any) -> NDArray[Any]:
        """All values of one column, by its name or position; a table may hold others than numbers."""
        if (known := self.resolved(key)) in self.others:
            return self.others[known](None)
        j = self.position(key)
        return self.map(lambda block: np.asarray(dense(block[:, [j]])[:, 0]), exact=False)

    def exact(self, block: Block) -> Block:
        """A block of these rows, unless float64 cannot hold one of its integers."""
        check_block(block, self.name)
        return block

    def watched(self, watch: Watch) -> Self:
        """The same rows, with someone who sees every pass."""
        watched = copy(self)
        watched.watch = watch
        return watched

    def _lane_rows(self, thin: bool) -> int:
        """Rows that a run needs to be worth a partial result of its own."""
        n, d = self.shape
        if thin:
            return min(LANE_ROWS // 4, n // 8)
        return max(LANE_ROWS // 4, min(max(LANE_ROWS, 8 * d, LANE_WORK // (d * (d + 32))), n // 8))

    def _runs(self, step: int, least: int, most: int) -> list[tuple[int, int]]:
        """At most so many runs, about equal, of about so many rows at least; a power of two, to share out evenly."""
        n = self.shape[0]
        lanes = min(most, -(-n // step), n // max(1, least))
        lanes = min(n, 1 << round(np.log2(lanes))) if lanes > 1 else 1
        return list(pairwise(n * lane // lanes for lane in range(lanes + 1)))

    def _pieces(self) -> list[tuple[int, int]]:
        """The least that is read at once."""
        n, step = self.shape[0], self.block_rows
        return [(i, min(i + step, n)) for i in range(0, n, step)]

    def _blocks(self, start: int, stop: int, step: int, beside: Block | range | None) -> Iterator[Any]:
        """Blocks of at most `step` rows, about equal: a small one at the end would cost as many calls."""
        count = -(-(stop - start) // step)
        for i, j in pairwise(start + (stop - start) * part // count for part in range(count + 1)):
            yield self.block(i, j) if beside is None else (self.block(i, j), beside[i:j])

    def _exact_blocks(self, start: int, stop: int, step: int, beside: Block | range | None) -> Iterator[Any]:
        """The same, once it is known that float64 can hold their integers."""
        blocks = self._blocks(start, stop, step, beside)
        if beside is None:
            return map(self.exact, blocks)
        return ((self.exact(block), part) for block, part in blocks)

    def _walk(self, f: Callable[[Any], Partial], items: list[Any]) -> Generator[Partial, None, None]:
        """f over items, by threads with BLAS pinned where there is enough to do."""
        workers = 1 if self.shape[0] * self.shape[1] < SERIAL else min(self.threads, len(items))
        if workers > 1:
            yield from threads.ordered(f, items, workers)
        else:
            with threads.pinned():
                yield from map(f, items)


def stack(blocks: Iterator[Block], n: int) -> Block:
    """Blocks of n rows in all, one below the other."""
    first = next(blocks)
    if len(first) == n:
        return first
    out = np.empty((n, *first.shape[1:]), first.dtype)
    out[: len(first)], at = first, len(first)
    for block in blocks:
        out[at : at + len(block)] = block
        at += len(block)
    return out


def dense(block: Block) -> Block:
    """The block as an array, whatever it is stored as."""
    return block if isinstance(block, np.ndarray) else block.toarray()


def _add(a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, ...]:
    """Partial sums, into the first; a third part is a triangle."""
    for total, part in zip(a[:2], b[:2], strict=True):
        total += part
    return *a[:2], *(r_factor(*pair) for pair in zip(a[2:], b[2:], strict=True))

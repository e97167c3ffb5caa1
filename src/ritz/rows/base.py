"""Rows: anything that can be read in blocks of rows, in several passes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from copy import copy
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.arrays import device_of, room_for, stacked
from ritz.linalg.dense import Array, column_sums, cross, joined, qr_terms, r_factor, terms_of_sum, times
from ritz.rows.columns import Columns
from ritz.rows.file_changes import Origin
from ritz.rows.large_integers import check_block
from ritz.rows.passes import Cut, Partition, Passes, Run, checked_results
from ritz.runtime.threads import combined, pinned, working
from ritz.runtime.watch import UNWATCHED, Watch

Partial = TypeVar("Partial")
TOGETHER = 4  # blocks in memory that a thread is given at once: to hand one over takes as long as to copy it
CONSECUTIVE = 16  # rows of a run that a glimpse takes together
Block = NDArray[Any]


@dataclass(frozen=True)
class Workers:
    """Those of a cluster, as far as plans depend on them."""

    count: int
    threads: int  # of one
    total_threads: int
    memory: int | None  # bytes that a fit may take on each; None where nobody has said
    total_memory: int  # bytes of all, for data as well; 0 where nobody has said


class Rows(Columns, Partition, ABC):
    """n rows of d numbers. A source gives `shape`, `dtype`, `names` and `read`; the four verbs follow.

    Every pass over the data is one of `reduce`, `map`, `pairs`, `take`, given pure functions of blocks. Results
    are combined in an order fixed by the shape alone, so they depend neither on timing nor on the thread count.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import PCA
    >>> from ritz.rows import Rows
    >>> class Counted(Rows):  # rows (i, i mod 7) that are computed when they are read
    ...     shape, dtype = (1000, 2), np.dtype(float)
    ...
    ...     def read(self, start, stop):
    ...         i = np.arange(start, stop, dtype=float)
    ...         return np.column_stack([i, i % 7])
    >>> PCA(1).fit(Counted()).mean_
    array([499.5  ,   2.997])
    """

    dtype: np.dtype[Any]
    sparse: bool = False  # whether blocks are sparse, so that nothing can be subtracted from them
    in_memory: bool = True  # whether a pass costs no reading, or none but a copy
    copied: bool = False  # whether every pass is a copy, so that one copy of all is better than many passes
    scattered: bool = False  # whether rows lie in parts that passes go to, by tasks of their own
    turned: Rows | None = None  # the columns as rows, where parts hold whole columns: passes go along these
    transposed: bool = False  # whether products with few columns keep a transpose in memory
    density: float = 1.0  # share of the entries that are stored
    fill: NDArray[np.floating] | None = None  # what stands in place of missing values, by column
    n_filled: int = 0  # missing values that the mean of their column replaces
    _replaced: Sequence[int] = ()  # missing values of every block that was read
    workers: Workers | None = None  # of the cluster that the rows lie on; None if they are here
    origin: Origin | None = None  # of files: which they are, and how they were read
    elsewhere: tuple[Path, ...] = ()  # files that rows are read from, beside the one that they were opened by
    watch: Watch = UNWATCHED

    @classmethod
    def opens(cls, source: object) -> bool:
        """Whether this class can read `source`; never, where it is made for files or from other rows.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz.rows import Rows
        >>> class Squares(Rows):  # of the numbers in a range
        ...     dtype = np.dtype(float)
        ...
        ...     def __init__(self, numbers):
        ...         self.numbers, self.shape = numbers, (len(numbers), 1)
        ...
        ...     @classmethod
        ...     def opens(cls, source):
        ...         return isinstance(source, range)
        ...
        ...     def read(self, start, stop):
        ...         return np.array([[float(i) ** 2] for i in self.numbers[start:stop]])
        >>> Squares.opens(range(3)), Squares.opens([0, 1, 2])
        (True, False)
        """
        return False

    @property
    def paths(self) -> list[str]:
        """The files that it is read from, which nothing may replace meanwhile."""
        return [path for path, *_ in self.origin.files] if self.origin else []

    @property
    def replaced(self) -> int:
        """Missing values that were replaced in whatever was read so far."""
        return sum(self._replaced)

    @abstractmethod
    def read(self, start: int, stop: int) -> Block:  # (stop − start, d)
        """Rows start to stop, a view wherever possible; the caller does not write to it.

        It is for whoever looks at the files afterwards, as every pass does at its end: a pass may have thousands of
        blocks. All others ask for a `block`.

        Examples
        --------
        >>> import ritz
        >>> ritz.read([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).read(1, 3)
        array([[3., 4.],
               [5., 6.]])
        """

    def block(self, start: int, stop: int) -> Block:
        """Rows start to stop, given only if the files are what they were."""
        return self.read(start, stop)

    def take(self, indices: NDArray[np.integer]) -> Block:
        """The rows at these indices, stacked.

        Examples
        --------
        >>> import ritz
        >>> ritz.read([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).take([2, 0])
        array([[5., 6.],
               [1., 2.]])
        """
        return np.concatenate([self.read(i, i + 1) for i in indices])

    def sample(self, size: int) -> Block:
        """About so many rows, from all over the data."""
        n = self.shape[0]
        size = min(size, n)
        return self.take(np.arange(size) * (n - 1) // max(1, size - 1))  # steps of one row at least

    def spread(self, size: int) -> Block:
        """The same, however they are stored; more is read than for `sample` where rows come one after another."""
        return self.sample(size)

    def glimpse(self, size: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], Block]:
        """The numbers of about so many rows from all over, in short runs of consecutive ones, and these rows.

        Neighbours tell what a spread cannot: whether a row is like the one before it.

        Examples
        --------
        >>> import numpy as np
        >>> import ritz
        >>> rows = ritz.read(np.arange(1000.0).reshape(-1, 1))
        >>> at, block = rows.glimpse(64, np.random.default_rng(0))
        >>> bool((block[:, 0] == at).all()), np.diff(at).tolist().count(1)
        (True, 60)
        """
        at = runs_from_all_over(self.shape[0], size, rng)
        return at, self.take(at)

    def reduce(
        self,
        f: Callable[[Iterable[Any]], Partial],
        combine: Callable[[Partial, Partial], Partial],
        beside: Block | range | None = None,
        cut: Cut = Cut.SQUARE,
        least: int = 1,
    ) -> Partial:
        """combine(… combine(f(run₀), f(run₁)) …), where a run is an iterator over consecutive blocks.

        `f` sees whole runs so that it can accumulate in place; from outside it is pure. With `beside`, an array of
        n rows or range(n), a run yields pairs: a block and the same rows of `beside`. `cut` and `least` decide how many
        runs there are and how large blocks are; see `Cut`.

        Examples
        --------
        >>> import numpy as np
        >>> import ritz
        >>> rows = ritz.read(np.ones((1000, 3)))
        >>> rows.reduce(lambda blocks: sum(block.sum(axis=0) for block in blocks), np.add)
        array([1000., 1000., 1000.])
        """
        step, runs = self.cut(cut, least)

        def partial(run: Run) -> Partial:
            blocks = self._seen(map(self.exact, self._blocks(*run, step)), run, step)
            return f(blocks if beside is None else paired(blocks, beside, run[0]))

        if len(runs) == 1 and self.watch is UNWATCHED:  # as of small data: nothing to share out, and nobody looks
            with working():
                return partial(runs[0])
        ahead = 0 if cut is Cut.SQUARE and self.long_result else 1
        if self.watch is UNWATCHED:
            return combined(self.in_parallel(partial, runs, ahead=ahead), combine)
        return self.watch.fold(runs, lambda some: self.in_parallel(partial, some, ahead=ahead), combine)

    def normal(
        self, W: Array, shifted: Callable[[Block], Block], remainder: Array | float, factor: bool = False
    ) -> tuple[Any, ...]:
        """Σ (x − shift) yᵀ and Σ y over all rows, y = Wᵀ(x − shift) − remainder, and how many terms are behind them.

        With `factor` the R factor of all y follows; the terms, as `terms_of_sum` counts them, are then those of its QR.
        One pass. A source that can multiply by its transpose in a better way does.

        Examples
        --------
        >>> import numpy as np
        >>> import ritz
        >>> X, W = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [0.0]])
        >>> shift = X.mean(axis=0)
        >>> product, total, terms = ritz.read(X).normal(W, lambda block: block - shift, 0.0)
        >>> product.ravel(), total  # C W times the number of rows, and 0 for centred ones
        (array([2., 2.]), array([0.]))
        """

        def project(blocks: Iterable[Block]) -> tuple[Any, ...]:
            b = W.shape[1]
            AW, total, T, terms = self.zeros(*W.shape), self.zeros(b), None, 0
            here, lacking = self.here(W), self.here(remainder)
            product = self.buffer("cross", *W.shape)  # fresh memory for every block would cost as much as to read it
            for block in blocks:
                Z = shifted(block)
                Y = times(Z, here)
                Y -= lacking
                AW += cross(Z, Y, product)
                total += column_sums(Y)
                if factor:  # of the block alone, then both: else every block would add its rows to the errors of T
                    R = r_factor(Y)
                    T = R if T is None else r_factor(T, R)
                    terms = terms_of_sum(terms, qr_terms(Y.shape[0], b), qr_terms(2 * b, b))
                else:
                    terms = terms_of_sum(terms, Y.shape[0])
            return (AW, total, terms, T) if factor else (AW, total, terms)

        return self.reduce(project, _add, cut=Cut.THIN)

    def combine(self, V: Array, shifted: Callable[[Block], Block]) -> Array:  # (n, b) -> (d, b)
        """Σ (x − shift) v over all rows, for few columns."""

        def combine(pairs: Iterable[tuple[Block, Array]]) -> Array:
            total: Any = 0.0
            for block, part in pairs:
                total += cross(shifted(block), part)
            return total

        return self.reduce(combine, np.add, V, Cut.THIN)

    def project(self, W: Array, shifted: Callable[[Block], Block]) -> Array:  # (d, b) -> (n, b)
        """Wᵀ(x − shift) of every row."""
        here = self.here(W)
        return self.map(lambda block: times(shifted(block), here))

    def map(self, f: Callable[[Block], Block], exact: bool = True) -> Block:
        """f of every block, stacked in order; `exact` as in `each`.

        Examples
        --------
        >>> import ritz
        >>> ritz.read([[1.0, 2.0], [3.0, 4.0]]).map(lambda block: block.sum(axis=1))
        array([3., 7.])
        """
        return self.watch.whole(lambda: stack(self.each(f, exact), self.shape[0]))

    def each(
        self, f: Callable[[Block], Block], exact: bool = True, columns: int | None = None
    ) -> Generator[Block, None, None]:
        """f of every block, in order, as they come: few of them are in memory at a time.

        Integers that float64 cannot hold are refused, unless `exact` is False because nobody computes with them. Where
        f is a product with so many columns, `columns` says so: it decides whether threads are worth their start.

        Examples
        --------
        >>> import ritz
        >>> rows = ritz.read([[1.0, 2.0], [3.0, 4.0]])
        >>> for largest in rows.each(lambda block: block.max(axis=1)):
        ...     print(largest)
        [2. 4.]
        """
        at_hand = self.in_memory and not self.copied
        known = columns if at_hand else None
        step, pieces = self.block_rows, self.portions(TOGETHER if at_hand else 1, known)

        def piece(ends: tuple[int, int]) -> list[Block]:
            blocks = self._blocks(*ends, step)
            return [f(block) for block in self._seen(map(self.exact, blocks) if exact else blocks, ends, step)]

        if len(pieces) == 1 and self.watch is UNWATCHED and self.files is None:
            with pinned():
                found = piece(pieces[0])
            yield from found
            return
        self.watch.begin(pieces)
        with closing(self.in_parallel(piece, pieces, known)) as results:
            for blocks in checked_results(self.files, results, len(pieces)):
                yield from blocks

    def pairs(self, f: Callable[[Block, Block], Block]) -> Block:
        """The n×n symmetric matrix whose tiles are f(rows of the tile, columns of the tile).

        Examples
        --------
        >>> import ritz
        >>> ritz.read([[1.0, 2.0], [3.0, 4.0]]).pairs(lambda A, B: A @ B.T)
        array([[ 5., 11.],
               [11., 25.]])
        """
        return self.watch.whole(lambda: self._pairs(f))

    def _pairs(self, f: Callable[[Block, Block], Block]) -> Block:
        n = self.shape[0]
        step = min(256, max(1, -(-n // 2)))
        starts = range(0, n, step)
        tiles = [(i, j) for i in starts for j in starts if i <= j]
        out = np.empty((n, n))

        def tile(corner: tuple[int, int]) -> tuple[tuple[int, int], Block]:
            i, j = corner
            rows = self.exact(self.read(i, min(i + step, n)))
            return corner, f(rows, rows if i == j else self.exact(self.read(j, min(j + step, n))))

        with closing(self.in_parallel(tile, tiles)) as parts:
            for (i, j), part in parts:
                out[i : i + step, j : j + step] = part
                out[j : j + step, i : i + step] = part.T
        return out

    def near(self, f: Callable[..., Partial], *args: Any) -> Partial:
        """f(rows, *args), computed where the rows are: here, unless they lie on a cluster."""
        return f(self, *args)

    def at_hand(self, passes: int | None) -> Rows:
        """The same rows, where they are best read so many times."""
        return self

    @property
    def latency(self) -> float:
        """Seconds that a pass takes at least."""
        return 0.0

    @property
    def passes(self) -> Passes:
        """How passes go, and what they need."""
        return Passes(self)

    def check_whole(self, what: str) -> None:
        """Refuse what needs whole rows, where no part holds any."""

    def place(self, row: int) -> str:
        """What to call a row in a message: its number in the source."""
        return f"row {row if self.kept is None else int(self.kept[row])}"

    def __repr__(self) -> str:
        n, d = self.shape
        about = f"; {self.about}" if self.about else ""
        return f"<{type(self).__name__}: {n} rows, {d} columns, {self.dtype}{about}>"

    @property
    def reading(self) -> int:
        """Bytes of working memory that a thread needs beside its block while it reads."""
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
        return _fits_float32(self.dtype)

    @property
    def result_dtype(self) -> np.dtype[Any]:
        """What results are given in: float32 for data of at most that precision, float64 for all else."""
        return np.dtype(np.float32 if self.dtype.kind == "f" and self.dtype.itemsize <= 4 else np.float64)

    def with_gaps(self) -> Rows:
        """The same rows in a type that can say what is missing, where the source has values that may be."""
        return self

    def column(self, key: Any) -> NDArray[Any]:
        """All values of one column, by its name or position; a table may hold others than numbers.

        Examples
        --------
        >>> import pandas as pd
        >>> import ritz
        >>> rows = ritz.read(pd.DataFrame({"height": [170.0, 180.0], "weight": [60.0, 75.0]}))
        >>> rows.column("weight")
        array([60., 75.])
        """
        if (known := self.resolved(key)) in self.others:
            return self.others[known](None)
        j = self.position(key)
        return self.map(lambda block: np.asarray(dense(block[:, [j]])[:, 0]), exact=False)

    def exact(self, block: Block) -> Block:
        """A block of these rows, unless float64 cannot hold one of its integers."""
        if block.dtype.kind in "iu":
            check_block(block, self.name)
        return block

    def watched(self, watch: Watch) -> Self:
        """The same rows, with someone who sees every pass."""
        if watch is self.watch:
            return self
        watched = copy(self)
        watched.watch = watch
        return watched

    def _seen(self, blocks: Iterable[Block], run: Run, step: int) -> Iterable[Block]:
        """The blocks of a run, with whoever watches; between the parts of a single block there is nothing to see."""
        single = self.watch is UNWATCHED and run[1] - run[0] <= step
        return blocks if single else self.watch.seen(blocks)

    def _blocks(self, start: int, stop: int, step: int) -> Iterator[Block]:
        """Blocks of at most `step` rows, about equal: a small one at the end would cost as many calls."""
        count = -(-(stop - start) // step)
        if count == 1:
            return iter((self.read(start, stop),))
        ends = pairwise(start + (stop - start) * part // count for part in range(count + 1))
        return (self.read(i, j) for i, j in ends)


def runs_from_all_over(n: int, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """The numbers of about `size` of n rows: a run of consecutive ones in every equal part, at a random place of it.

    Examples
    --------
    >>> runs_from_all_over(3, 10, np.random.default_rng(0))
    array([0, 1, 2])
    """
    if size >= n:
        return np.arange(n)
    run = min(CONSECUTIVE, size)
    ends = np.linspace(0, n, max(1, size // run) + 1).astype(np.intp)
    starts = ends[:-1] + (rng.random(len(ends) - 1) * (np.diff(ends) - run + 1)).astype(np.intp)
    return (starts[:, None] + np.arange(run)).ravel()


@cache
def _fits_float32(dtype: np.dtype[Any]) -> bool:
    return bool(np.result_type(dtype, np.float32) == np.float32)


def paired(blocks: Iterable[Block], beside: Block | range, start: int) -> Iterator[tuple[Block, Any]]:
    """Consecutive blocks, of which the first begins at row `start`, each with the same rows of `beside`."""
    for block in blocks:
        stop = start + block.shape[0]
        yield block, beside[start:stop]
        start = stop


def stack(blocks: Iterator[Block], n: int) -> Block:
    """Blocks of n rows in all, one below the other."""
    first = next(blocks)
    if first.shape[0] == n:
        return first
    if not isinstance(first, np.ndarray):
        parts = [first, *blocks]
        with room_for((n, *first.shape[1:]), device_of(first)):
            return stacked(parts)
    out = np.empty((n, *first.shape[1:]), first.dtype)
    out[: len(first)], at = first, len(first)
    for block in blocks:
        out[at : at + len(block)] = block
        at += len(block)
    return out


def dense(block: Block) -> Block:
    """The block as an array, whatever it is stored as."""
    return block.toarray() if hasattr(block, "toarray") else block


def _add(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Partial sums, into the first, and their terms; a fourth part is an R factor."""
    sums = joined(a[:3], b[:3])
    if len(a) == 3:
        return sums
    T = r_factor(a[3], b[3])
    return *sums[:2], terms_of_sum(a[2], b[2], qr_terms(2 * T.shape[1], T.shape[1])), T

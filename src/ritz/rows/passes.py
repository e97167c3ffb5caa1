"""A pass over rows: cut into blocks that stay in cache, and runs of blocks that threads work on side by side, of files
that stay what they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from enum import Enum, auto
from functools import wraps
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from ritz.linalg.arrays import Home
from ritz.linalg.dense import SKINNY
from ritz.linalg.sparse import WIDTHS
from ritz.rows.file_changes import Files
from ritz.runtime import threads

if TYPE_CHECKING:
    from ritz.rows.base import Rows

Result = TypeVar("Result")
Run = tuple[int, int]  # the first row, and the one after the last

MOST_BYTES = 1 << 24  # of a block, unless memory is scarce
BLOCK_BYTES = 1 << 21  # a block stays in cache; twice as many for short rows, where calls cost more than that saves
ENTRY_BYTES = 12  # of an entry of a sparse matrix: its value, and where it stands
THIN_BYTES = 1 << 20  # a block and its centred copy stay in the second-level cache
BLOCK_ROWS = 320  # fewer rows leave a d×d product bound by memory, not arithmetic
THIN_ROWS = 256  # the same for d×b products with few columns
RUN_ROWS = 4096  # merging two partial results costs about as much as 100 rows
RUN_WORK = 1 << 28  # products, and reading an entry counts for 32, that are worth a thread's start
MOST_RUNS = 64
LONG_RESULT, SMALL_SHARE = 400, 64  # columns of a d×d result that is long, unless there are so many times as many rows
# Data of a block or two is cut into a few runs all the same, where each has so many rows and products.
FEW_RUNS, FEW_ROWS, FEW_WORK = 4, 256, 25_000_000
SERIAL = 1 << 16  # entries below which starting threads costs more than it saves
SERIAL_PRODUCTS = 1 << 22  # the same for multiplications
SHARE = 1 << 22  # multiplications that are worth handing to a thread
SHARES = 8  # as many of them are enough to share out evenly
# What reads rows, in one step. Whoever overrides one of them need not think of files that change.
VERBS = (
    "reduce", "normal", "combine", "project", "map", "pairs", "block", "take", "sample", "glimpse", "head", "column",
    "cells", "raw_cells", "peek",
)  # fmt: skip


class Cut(Enum):
    """How the rows of a reduction are cut, by what its partial results are."""

    SQUARE = auto()  # d×d: combining two costs as much as many rows do, so runs are long
    THIN = auto()  # d×b with few columns: combining costs nothing, so blocks are smaller and runs more
    WHOLE = auto()  # there is one run, of the largest blocks that memory allows, and the cores are left to the caller


class Partition:
    """Blocks and runs depend on the shape and on `most_bytes` alone, never on the number of threads.

    Blocks are in the memory of the CPU, unless a source says that they stay on a device.
    """

    shape: tuple[int, int]
    most_bytes: int = MOST_BYTES
    most_threads: int = 1 << 30
    on_device: bool = False  # whether blocks are arrays of another library, which stay on their device
    home: Home | None = None  # what results should be, where the data is an array of another library
    free_columns: int = 1  # that blocks are multiplied by in hardly more time than by one
    remark: str = ""  # what a plan says of where blocks are computed

    @property
    def block_rows(self) -> int:
        """Rows of a block: a few megabytes, but no fewer than a product needs to be bound by arithmetic."""
        n, d = self.shape
        rows = max((BLOCK_BYTES if d > SKINNY else 2 * BLOCK_BYTES) // (8 * d), BLOCK_ROWS)
        return max(1, min(n, rows, self.most_bytes // (8 * d)))

    @property
    def long_result(self) -> bool:
        """Whether a thread waits until its d×d result is combined, rather than begin another one meanwhile."""
        n, d = self.shape
        return d > LONG_RESULT and SMALL_SHARE * d > n

    @property
    def few_runs(self) -> int:
        """Runs that products of all columns are worth, however few blocks there are; a power of two."""
        n, d = self.shape
        most = min(FEW_RUNS, n * d * (d + 32) // FEW_WORK, n // max(FEW_ROWS, d))
        return 1 << most.bit_length() - 1 if most > 1 else 1

    @property
    def square_rows(self) -> int:
        """Rows of a block that is multiplied by itself."""
        return min(self.block_rows, -(-self.shape[0] // self.few_runs))

    @property
    def thin_rows(self) -> int:
        """Rows of a block that is multiplied by few columns."""
        row_bytes = 8 * self.shape[1]
        enough = max(32, min(THIN_ROWS, 4 * THIN_BYTES // row_bytes))
        return min(self.block_rows, max(THIN_BYTES // row_bytes, enough))

    @property
    def threads(self) -> int:
        """How many threads a pass uses."""
        return min(threads.pinned.budget(), self.most_threads)

    def limited(self, most_bytes: int, most_threads: int | None = None) -> Self:
        """The same rows, read in blocks of at most so many bytes in float64, by at most so many threads."""
        most_threads = most_threads or self.most_threads
        if most_bytes == self.most_bytes and most_threads >= self.threads:
            return self
        limited = copy(self)
        limited.most_bytes, limited.most_threads = most_bytes, most_threads
        return limited

    def buffer(self, use: str, rows: int, columns: int) -> Any:
        """Memory that a block may be written into, the same for the same use; None for blocks on a device."""
        return threads.scratch(use, rows, columns)

    def zeros(self, *shape: int) -> Any:
        """What results of blocks are added to."""
        return threads.zeros(*shape)

    def here(self, A: Any) -> Any:
        """A small matrix where the blocks are; at an address that BLAS can use, which messages do not care for."""
        return np.require(A, requirements="A") if isinstance(A, np.ndarray) and not A.flags.aligned else A

    def on_cpu(self) -> Self:
        """The same rows in blocks of NumPy, and so are results."""
        if self.home is None:
            return self
        there = copy(self)
        there.home = None
        return there

    def cut(self, cut: Cut, least: int = 1) -> tuple[int, list[Run]]:
        """Rows of a block, and the runs; those of fewer rows than `least` are not worth a partial result."""
        n, d = self.shape
        if cut is Cut.WHOLE:
            step, worth, most = max(1, self.most_bytes // (8 * d)), least, 1
        elif cut is Cut.THIN:
            step, worth, most = self.thin_rows, min(RUN_ROWS // 4, n // 8), MOST_RUNS
        else:
            step, few, most = self.square_rows, self.few_runs, MOST_RUNS
            worth = max(RUN_ROWS // 4, min(max(RUN_ROWS, 8 * d, RUN_WORK // (d * (d + 32))), n // 8))
            worth = worth if few == 1 else min(worth, n // few)
        return step, self._runs(step, max(least, worth), most)

    def _runs(self, step: int, least: int, most: int) -> list[Run]:
        """At most so many runs, about equal, of about so many rows at least; a power of two, to share out evenly."""
        n = self.shape[0]
        count = min(most, -(-n // step), n // max(1, least))
        if count <= 1:
            return [(0, n)]
        count = min(n, 1 << round(math.log2(count)))
        return list(pairwise(n * i // count for i in range(count + 1)))

    def portions(self, blocks: int = 1, columns: int | None = None) -> list[Run]:
        """The least that is read at once, or so many blocks of it; fewer rows where products with so many columns are
        all there is to do, and would leave threads idle."""
        (n, d), step = self.shape, blocks * self.block_rows
        if columns is not None:
            shares = max(1, min(SHARES, n * d * columns // SHARE))
            step = min(step, -(-n // (1 << shares.bit_length() - 1)))  # a power of two, to share out evenly
        return [(i, min(i + step, n)) for i in range(0, n, step)]

    def in_parallel(
        self, f: Callable[[Any], Result], items: list[Any], columns: int | None = None, ahead: int = 1
    ) -> Generator[Result, None, None]:
        """f over items, in order, by threads with BLAS pinned where there is enough to do.

        Where it is known that f multiplies rows in memory by so many columns, and does no more, that decides. `ahead`
        is how many results may wait beside those that threads work on.
        """
        entries = self.shape[0] * self.shape[1]
        little = entries < SERIAL if columns is None else entries * columns < SERIAL_PRODUCTS
        workers = 1 if little else min(self.threads, len(items))
        if workers > 1:
            yield from threads.in_order(f, items, workers, ahead)
        else:
            with threads.pinned():
                yield from map(f, items)


@dataclass(frozen=True)
class Passes:
    """How passes over rows go, by blocks of whole ones, and the memory that they need."""

    rows: Rows

    side = "covariance"  # of the operator that one pass multiplies by: ZᵀZ
    known = 1  # numbers about every column that the pass for the moments brings together
    reads = 2  # passes that forming the Gram matrix takes as long as
    share = 0.7  # of the rate of products that it reaches

    @property
    def length(self) -> int:
        """Numbers in a row of a block."""
        return self.rows.shape[1]

    @property
    def few_rows(self) -> bool:
        """Whether blocks hold only a few long rows."""
        n, d = self.rows.shape
        return d > 4 * n and not self.rows.sparse

    @property
    def gram_memory(self) -> int:
        """Bytes of the pass that forms the Gram matrix."""
        return 8 * 3 * self.rows.shape[0] ** 2 + self.thin_memory(16)

    def thin_memory(self, b: int) -> int:
        """Bytes of a pass that multiplies by b columns."""
        rows, (n, d) = self.rows, self.rows.shape
        if rows.transposed:  # and all rows of a product, a panel of which may be copied
            return int(entry_bytes(rows) * n * d) + 8 * (b * (2 * n + 3 * d) + WIDTHS[-1] * max(n, d))
        return rows.threads * (int(entry_bytes(rows) * rows.thin_rows * d) + 8 * 3 * d * b + rows.reading)


def entry_bytes(rows: Rows) -> float:
    """Bytes that an entry takes in a block, on average."""
    return ENTRY_BYTES * rows.density if rows.sparse else 8.0


def block_memory(rows: Rows, copies: float) -> float:
    """Of so many copies of a block of rows in every thread."""
    return (8 * copies * rows.block_rows * rows.shape[1] + rows.reading) * rows.threads


def checks_files(verb: Callable[..., Result]) -> Callable[..., Result]:
    """A way to read rows, whose result is given only if the files are what they were when they were opened."""

    @wraps(verb)
    def read(self: Any, *args: Any, **kwargs: Any) -> Result:
        files = self.files
        if files is None:
            return verb(self, *args, **kwargs)
        try:
            found = verb(self, *args, **kwargs)
        except Exception as error:  # a file that became shorter looks damaged
            files.check(error)
            raise
        files.check()
        return found

    read.is_checked = True  # type: ignore[attr-defined]
    return read


def checked_results(files: Files | None, results: Iterable[Result], count: int) -> Iterator[Result]:
    """So many results of a pass as they come; the last one is given only if the files are what they were."""
    try:
        for i, result in enumerate(results, 1):
            if i == count and files is not None:
                files.check()
            yield result
    except Exception as error:
        if files is not None:
            files.check(error)
        raise


class CheckedFiles:
    """Classes derived from this check their files after every read, whichever verbs they override."""

    files: Files | None = None  # that rows are read from

    def check_unchanged(self) -> None:
        """Raise if the files are not what they were when they were opened."""
        if self.files is not None:
            self.files.check()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in VERBS:
            verb = vars(cls).get(name)
            if callable(verb) and not hasattr(verb, "is_checked"):
                setattr(cls, name, checks_files(verb))

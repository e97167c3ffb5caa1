"""Sources that are read from a beginning to an end, part by part, rather than entry by entry."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ritz.rows.base import CONSECUTIVE, Block, Rows, runs_from_all_over
from ritz.rows.passes import MOST_RUNS, Run

PARTS, SPREAD_BYTES = 16, 1 << 27  # that are read for rows from all over, and fewer where they are large


class Streamed(Rows):
    """Rows in parts that can be read independently of each other, each from its beginning.

    A part is read by one thread: reading overlaps computing, and no part is read twice in a pass.
    """

    in_memory = False
    edges: NDArray[np.int64]  # where the parts begin, and the end
    index: tuple[str, ...] = ()  # columns that name the rows, as whoever wrote the file said
    tabular: bool = False  # whether columns may be anything that a table holds, numbers of rows too
    vectors: bool = False  # whether rows are vectors in one column, all of which is measured

    @abstractmethod
    def stream(self, part: int, step: int) -> Iterator[Block]:
        """The rows of a part in blocks of at most `step`."""

    def read(self, start: int, stop: int) -> Block:
        blocks = list(self._blocks(start, stop, max(1, stop - start)))
        return np.concatenate(blocks) if blocks else np.empty((0, self.shape[1]), self.dtype)

    def take(self, indices: NDArray[np.integer]) -> Block:
        out = np.empty((len(indices), self.shape[1]), self.dtype)
        parts = np.searchsorted(self.edges, indices, side="right") - 1
        for part in np.unique(parts):
            first = int(self.edges[part])
            for block in self.stream(int(part), self.block_rows):
                here = (indices >= first) & (indices < first + len(block))
                out[here] = block[np.asarray(indices)[here] - first]
                first += len(block)
        return out

    def sample(self, size: int) -> Block:
        """Rows from the first, the middle and the last part: those from all over would take a pass of their own."""
        parts = self.some_parts
        return np.concatenate([self.head(part, -(-size // len(parts))) for part in parts])

    def spread(self, size: int) -> Block:
        """About so many rows from all over the source, whose parts are read from beginning to end: some, if many."""
        parts = self._spread_parts()
        every = max(1, -(-int(np.diff(self.edges)[parts].sum()) // size))
        found = []
        for part in parts:
            at = 0
            for block in self.stream(int(part), self.block_rows):
                found.append(block[-at % every :: every].copy())
                at += len(block)
        return np.concatenate(found)

    def glimpse(self, size: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], Block]:
        """Runs from some parts, which are read from beginning to end, as for `spread`; or all rows."""
        if size >= self.shape[0]:
            return np.arange(self.shape[0]), self.read(0, self.shape[0])
        parts = self._spread_parts()

        def numbered() -> Iterator[tuple[int, Block]]:
            for part in parts:
                at = int(self.edges[part])
                for block in self.stream(int(part), self.block_rows):
                    yield at, block
                    at += len(block)

        return runs_of(numbered(), size, int(np.diff(self.edges)[parts].sum()), rng)

    def _spread_parts(self) -> NDArray[np.intp]:
        """Parts from all over: some, if many."""
        n, d = self.shape
        most = max(len(self.some_parts), min(PARTS, SPREAD_BYTES * (len(self.edges) - 1) // (8 * n * d)))
        return np.unique(np.linspace(0, len(self.edges) - 2, most).astype(np.intp))

    @property
    def some_parts(self) -> list[int]:
        """The first part, the middle one and the last."""
        return sorted({0, (len(self.edges) - 1) // 2, len(self.edges) - 2})

    @property
    def some_files(self) -> list[Rows]:
        """Of many files that are read as one, the first, the middle one and the last."""
        return []

    @property
    def threads(self) -> int:
        return min(super().threads, len(self.edges) - 1)

    def head(self, part: int, count: int) -> Block:
        """At most so many rows from the beginning of a part."""
        return next(iter(self.stream(part, count)))

    def _runs(self, step: int, least: int, most: int) -> list[Run]:
        """Runs of whole parts, about equal."""
        count = min(most, MOST_RUNS, len(self.edges) - 1)
        cuts = np.unique(np.searchsorted(self.edges, np.linspace(0, self.shape[0], count + 1)))
        ends = self.edges[np.unique(np.concatenate([[0], cuts, [len(self.edges) - 1]]))]
        return [(int(a), int(b)) for a, b in pairwise(ends) if a < b]

    def portions(self, blocks: int = 1, columns: int | None = None) -> list[Run]:
        return list(pairwise(self.edges.tolist()))

    def _blocks(self, start: int, stop: int, step: int) -> Iterator[Block]:
        first = int(np.searchsorted(self.edges, start, side="right")) - 1
        for part in range(first, len(self.edges) - 1):
            at = int(self.edges[part])
            if at >= stop:
                return
            for block in self.stream(part, step):
                low, high = max(start - at, 0), min(stop - at, block.shape[0])
                if low < high:
                    yield block[low:high]
                at += block.shape[0]
                if at >= stop:
                    return


def runs_of(
    blocks: Iterator[tuple[int, Block]], size: int, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], Block]:
    """About `size` of the n rows of blocks that come with the number of their first row, in runs; and their numbers."""
    found: list[Block] = []
    places: list[NDArray[np.intp]] = []
    due = 0.0
    for start, block in blocks:
        due += size * len(block) / n
        if not found or due >= min(CONSECUTIVE, size):
            some = runs_from_all_over(len(block), max(1, round(due)), rng)
            found.append(block[some])
            places.append(start + some)
            due -= len(some)
    return np.concatenate(places), np.concatenate(found)

"""Rows that are computed from other rows or from pieces, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ritz.rows.base import Block, Rows
from ritz.rows.passes import Run


class Computed(Rows):
    """Rows in float64 of the shape of others, read as those are: limits, threads, files and pieces.

    Whoever computes rows of another shape or type says so after `__init__`.
    """

    def __init__(self, base: Rows) -> None:
        self._base = base
        self.shape, self.names, self.dtype = base.shape, base.names, np.dtype(np.float64)
        self.most_bytes, self.most_threads = base.most_bytes, base.most_threads
        self.in_memory, self.watch, self.files = base.in_memory, base.watch, base.files

    @property
    def threads(self) -> int:
        return min(self._base.threads, self.most_threads)

    def limited(self, most_bytes: int, most_threads: int | None = None) -> Self:
        limited = super().limited(most_bytes, most_threads)
        limited._base = self._base.limited(most_bytes, most_threads)
        return limited

    def _runs(self, step: int, least: int, most: int) -> list[Run]:
        return self._base._runs(step, least, most)

    def _pieces(self) -> list[Run]:
        return self._base._pieces()


class Scaled(Computed):
    """(x − shift)·factor, in float64; sparse rows are not shifted, and stay sparse.

    Below 2⁻¹⁰²² float64 has fewer and fewer digits, so that products round to whatever is left. Differences of such
    numbers are exact, and so is their product with a power of two: nothing is lost here.
    """

    def __init__(self, base: Rows, shift: NDArray[Any] | None, factor: float) -> None:
        super().__init__(base)
        self._shift, self._factor = None if base.sparse else shift, factor
        self.sparse, self.density, self.origin = base.sparse, base.density, base.origin

    def block(self, start: int, stop: int) -> Block:
        return self._scaled(self._base.block(start, stop))

    def take(self, indices: NDArray[np.integer]) -> Block:
        return self._scaled(self._base.take(indices))

    @property
    def reading(self) -> int:
        return self._base.reading + 8 * self.shape[1] * self.block_rows

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


class Transposed(Rows):
    """Fᵀ, (d, p), where F is made of pieces of d columns that stand one below the other and are never stacked."""

    def __init__(self, pieces: Sequence[NDArray[Any]]) -> None:
        self.pieces = pieces
        self.shape = (int(pieces[0].shape[1]), sum(map(len, pieces)))
        self.dtype = np.result_type(*pieces)

    def block(self, start: int, stop: int) -> Block:
        out, left = np.empty((stop - start, self.shape[1]), self.dtype), 0
        for piece in self.pieces:
            out[:, left : left + len(piece)] = piece[:, start:stop].T
            left += len(piece)
        return out

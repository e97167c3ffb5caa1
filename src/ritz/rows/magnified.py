"""Rows whose numbers are too small for products: multiplied by a power of two, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ritz.rows.base import Block, Rows
from ritz.rows.stored_sparse import as_it_is


class Magnified(Rows):
    """(x − shift)·factor, in float64; sparse rows are not shifted, and stay sparse.

    Below 2⁻¹⁰²² float64 has fewer and fewer digits, so that products round to whatever is left. Differences of such
    numbers are exact, and so is their product with a power of two: nothing is lost here.
    """

    def __init__(self, base: Rows, shift: NDArray[Any] | None, factor: float) -> None:
        self._base, self._shift, self._factor = base, None if base.sparse else shift, factor
        self.shape, self.names, self.dtype = base.shape, base.names, np.dtype(np.float64)
        self.most_bytes, self.most_threads = base.most_bytes, base.most_threads
        self.sparse, self.density, self.in_memory = base.sparse, base.density, base.in_memory
        self.origin, self.watch = base.origin, base.watch

    @classmethod
    def opens(cls, source: object) -> bool:
        return False

    def block(self, start: int, stop: int) -> Block:
        return self._magnified(self._base.block(start, stop))

    def take(self, indices: NDArray[np.integer]) -> Block:
        return self._magnified(self._base.take(indices))

    def normal(self, W: Any, shifted: Any, remainder: Any, factor: bool = False) -> tuple[Any, ...]:
        return super().normal(W, as_it_is if self.sparse else shifted, remainder, factor)

    def combine(self, V: Any, shifted: Any) -> Any:
        return super().combine(V, as_it_is if self.sparse else shifted)

    def project(self, W: Any, shifted: Any) -> Any:
        return super().project(W, as_it_is if self.sparse else shifted)

    @property
    def reading(self) -> int:
        return self._base.reading + 8 * self.shape[1] * self.block_rows

    @property
    def threads(self) -> int:
        return min(self._base.threads, self.most_threads)

    @property
    def thin_rows(self) -> int:
        return self._base.thin_rows

    def limited(self, most_bytes: int, most_threads: int | None = None) -> Self:
        limited = super().limited(most_bytes, most_threads)
        limited._base = self._base.limited(most_bytes, most_threads)
        return limited

    def _runs(self, step: int, least: int, most: int) -> list[tuple[int, int]]:
        return self._base._runs(step, least, most)

    def _pieces(self) -> list[tuple[int, int]]:
        return self._base._pieces()

    def _blocks(self, start: int, stop: int, step: int, beside: Any) -> Iterator[Any]:
        for found in self._base._blocks(start, stop, step, beside):
            yield self._magnified(found) if beside is None else (self._magnified(found[0]), found[1])

    def _magnified(self, block: Any) -> Any:
        if self.sparse:
            data = block.data.astype(np.float64) * self._factor
            return type(block)((data, block.indices, block.indptr), shape=block.shape)
        block = block.astype(np.float64)
        if self._shift is not None:
            block -= self._shift
        block *= self._factor
        return block

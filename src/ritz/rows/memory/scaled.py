"""Rows whose numbers are too small for products: multiplied by a power of two, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.rows.base import Block, Rows
from ritz.rows.memory.computed import Computed


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

    def _blocks(self, start: int, stop: int, step: int, beside: Any) -> Iterator[Any]:
        for found in self._base._blocks(start, stop, step, beside):
            yield self._scaled(found) if beside is None else (self._scaled(found[0]), found[1])

    def _scaled(self, block: Any) -> Any:
        if self.sparse:
            data = block.data.astype(np.float64) * self._factor
            return type(block)((data, block.indices, block.indptr), shape=block.shape)
        block = block.astype(np.float64)
        if self._shift is not None:
            block -= self._shift
        block *= self._factor
        return block

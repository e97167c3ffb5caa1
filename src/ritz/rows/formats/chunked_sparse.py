"""Sparse matrices that other libraries keep on disk by rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.rows.base import Block
from ritz.rows.formats.chunked import check_numbers
from ritz.rows.memory.array import check_shape
from ritz.rows.memory.sparse import Entries, check_pointers, compressed
from ritz.rows.partition import ENTRY_BYTES


class ChunkedSparse(Entries):
    """A sparse matrix kept by rows on disk, as a group of `data`, `indices` and `indptr`. Only blocks are in memory."""

    def __init__(self, group: Any, shape: tuple[int, int], where: str, names: tuple[Any, ...] | None = None) -> None:
        check_shape(shape)
        check_numbers(group["data"], where)
        self._group, self._where, self.shape, self.names = group, where, shape, names
        self.dtype = np.dtype(group["data"].dtype)
        lengths = {part: int(group[part].shape[0]) for part in ("data", "indices", "indptr")}
        self._ends = self._read("indptr", 0, lengths["indptr"])
        check_pointers(self._ends, shape[0], min(lengths["data"], lengths["indices"]))
        self.stored = int(self._ends[-1])

    def block(self, start: int, stop: int) -> Block:
        from scipy.sparse import csr_array

        ends = self._ends[start : stop + 1]
        data, indices = (self._read(part, int(ends[0]), int(ends[-1])) for part in ("data", "indices"))
        return compressed(csr_array((data, indices, ends - ends[0]), shape=(stop - start, self.shape[1])))[0]

    def take(self, indices: NDArray[np.integer]) -> Block:
        from scipy.sparse import vstack

        return vstack([self.block(int(i), int(i) + 1) for i in indices], format="csr")

    @property
    def reading(self) -> int:
        """A block as it comes from disk, whose indices may take twice the room."""
        return int(2 * ENTRY_BYTES * self.density * max(self.block_rows, self.thin_rows) * self.shape[1])

    @property
    def outer_work(self) -> float:
        return float(np.sum(np.square(np.diff(self._ends), dtype=np.float64)))

    @property
    def inner_work(self) -> float:
        """As if the entries were spread evenly over the columns: how they are, only a pass could tell."""
        return float(self.stored) ** 2 / self.shape[1]

    def _read(self, part: str, first: int, last: int) -> NDArray[Any]:
        try:
            return np.asarray(self._group[part][first:last])
        except Exception as error:  # every library has errors of its own for what it cannot decode
            raise DataError(f"entries {first} to {last} of {part} of {self._where} cannot be read: {error}") from error

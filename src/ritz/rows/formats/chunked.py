"""Arrays and sparse matrices that other libraries keep on disk in chunks, read part by part; and Zarr, which is nothing
else."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import FILE, DataError, MissingPackageError
from ritz.rows.base import Block
from ritz.rows.formats.damage import damage
from ritz.rows.formats.streamed import Streamed
from ritz.rows.memory.array import check_shape, real_numbers
from ritz.rows.memory.sparse import Entries, check_pointers, compressed
from ritz.rows.passes import ENTRY_BYTES
from ritz.runtime.memory import allowed, format_bytes

PART_BYTES = 1 << 24  # read at a time, in whole chunks
LARGEST = 1 << 50  # bytes that a matrix may claim; a file of a few bytes can claim any number


class Chunked(Streamed):
    """An array that is sliced like NumPy's, each slice read from disk; all axes but the first are flattened."""

    def __init__(self, array: Any, where: str, names: tuple[Any, ...] | None = None, file: object = "") -> None:
        shape = tuple(map(int, array.shape))
        flat = (shape[0], math.prod(shape[1:])) if len(shape) > 2 else shape
        check_shape(flat)
        check_numbers(array, where)
        self._array, self._where, self._file, self.names = array, where, file, names
        self.shape, self.stack = (flat[0], flat[1]), shape if len(shape) > 2 else None
        self.dtype = real_numbers(np.empty(0, array.dtype)).dtype
        row_bytes = np.dtype(array.dtype).itemsize * self.shape[1]
        if self.shape[0] * row_bytes > LARGEST:
            raise DataError(f"{where} claims the shape {self.shape}, which is more than {format_bytes(LARGEST)}")
        self.edges = np.append(np.arange(0, self.shape[0], self._part_rows(row_bytes)), self.shape[0]).astype(np.int64)

    def _part_rows(self, row_bytes: int) -> int:
        """Rows of whole chunks, unless those would fill the memory: then chunks are decoded more than once."""
        chunk = (getattr(self._array, "chunks", None) or (1,))[0]
        whole = max(chunk, PART_BYTES // row_bytes // chunk * chunk)
        return max(1, min(whole, allowed() // 8 // row_bytes))

    def stream(self, part: int, step: int) -> Iterator[Block]:
        rows = self._rows(*map(int, self.edges[part : part + 2]))
        yield from (rows[i : i + step] for i in range(0, len(rows), step))

    @property
    def reading(self) -> int:
        """A part, the chunks that are decoded into it, and what the library keeps of them."""
        return 5 * self.dtype.itemsize * self.shape[1] * int(np.diff(self.edges).max())

    def head(self, part: int, count: int) -> Block:
        first = int(self.edges[part])
        return self._rows(first, min(first + count, int(self.edges[part + 1])))

    def _rows(self, first: int, last: int) -> Block:
        what = f"rows {first} to {last} of {self._where} cannot be read"
        with damage(what, file=self._file):  # every codec has errors of its own
            return np.asarray(self._array[first:last], self.dtype).reshape(last - first, self.shape[1])


def check_numbers(array: Any, where: str) -> None:
    if np.dtype(array.dtype).kind not in "biuf":
        raise DataError(f"{where} holds {array.dtype} values, not real numbers")


def open_zarr(path: Path) -> Chunked:
    """The only matrix in a Zarr folder."""
    try:
        import zarr
    except ImportError as error:
        raise MissingPackageError('reading Zarr needs zarr: pip install "ritz[zarr]"') from error
    with damage(f"{FILE} is not a Zarr array or group"):  # every store has errors of its own
        root = zarr.open(str(path), mode="r")
        members = dict(root.members(max_depth=None)) if hasattr(root, "members") else {"": root}
    return Chunked(only({name: item for name, item in members.items() if has_rows(item)}), FILE, file=path)


def has_rows(item: Any) -> bool:
    """Whether these are numbers in two dimensions or more."""
    return len(getattr(item, "shape", ()) or ()) >= 2 and np.dtype(item.dtype).kind in "biuf"


def only(arrays: dict[str, Any]) -> Any:
    """The one matrix there is, or else the one stack; which of several is meant, nobody can guess."""
    matrices = {name: item for name, item in arrays.items() if len(item.shape) == 2} or arrays
    if len(matrices) != 1:
        shown = ", ".join(f"{name!r} {item.shape}" for name, item in list(matrices.items())[:8]) or "none"
        raise DataError(f"{FILE} holds {len(matrices)} matrices of numbers ({shown}); keep one of them in the file")
    return next(iter(matrices.values()))


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

    def read(self, start: int, stop: int) -> Block:
        from scipy.sparse import csr_array

        ends = self._ends[start : stop + 1]
        data, indices = (self._read(part, int(ends[0]), int(ends[-1])) for part in ("data", "indices"))
        return compressed(csr_array((data, indices, ends - ends[0]), shape=(stop - start, self.shape[1])))[0]

    def take(self, indices: NDArray[np.integer]) -> Block:
        from scipy.sparse import vstack

        return vstack([self.read(int(i), int(i) + 1) for i in indices], format="csr")

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
        with damage(f"entries {first} to {last} of {part} of {self._where} cannot be read"):
            return np.asarray(self._group[part][first:last])

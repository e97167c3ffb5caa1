"""Arrays that other libraries keep on disk in chunks: HDF5 and its dialect h5ad, and Zarr. Read part by part."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.rows.array import check_shape
from ritz.rows.base import ENTRY_BYTES, Block
from ritz.rows.sparse import Entries, Sparse, check_pointers, compressed
from ritz.rows.streamed import Streamed

PART_BYTES = 1 << 24  # read at a time, in whole chunks
UNREADABLE = (OSError, RuntimeError, ValueError)  # what the libraries raise for chunks they cannot decode


class Stored(Streamed):
    """A two-dimensional array that is sliced like NumPy's, each slice read from disk."""

    def __init__(self, array: Any, where: str, names: tuple[Any, ...] | None = None) -> None:
        check_shape(array.shape)
        _check_numbers(array, where)
        self._array, self._where, self.names = array, where, names
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = np.dtype(array.dtype)
        row_bytes = self.dtype.itemsize * self.shape[1]
        chunk = (getattr(array, "chunks", None) or (1,))[0]
        rows = max(chunk, PART_BYTES // row_bytes // chunk * chunk)
        self.edges = np.append(np.arange(0, self.shape[0], rows), self.shape[0]).astype(np.int64)

    @classmethod
    def opens(cls, source: object) -> bool:
        return False  # opened by the name of the file

    def stream(self, part: int, step: int) -> Iterator[Block]:
        first, last = int(self.edges[part]), int(self.edges[part + 1])
        yield from (rows[i : i + step] for rows in (self._rows(first, last),) for i in range(0, len(rows), step))

    @property
    def reading(self) -> int:
        """A part, and the chunk that is decoded into it."""
        return 2 * self.dtype.itemsize * self.shape[1] * int(np.diff(self.edges).max())

    def head(self, part: int, count: int) -> Block:
        first = int(self.edges[part])
        return self._rows(first, min(first + count, int(self.edges[part + 1])))

    def _rows(self, first: int, last: int) -> Block:
        try:
            return np.asarray(self._array[first:last])
        except UNREADABLE as error:
            raise DataError(f"rows {first} to {last} of {self._where} cannot be read: {error}") from error


class StoredSparse(Entries):
    """A sparse matrix kept by rows on disk, as a group of `data`, `indices` and `indptr`. Only blocks are in memory."""

    def __init__(self, group: Any, shape: tuple[int, int], where: str, names: tuple[Any, ...] | None = None) -> None:
        check_shape(shape)
        _check_numbers(group["data"], where)
        self._group, self._where, self.shape, self.names = group, where, shape, names
        self.dtype = np.dtype(group["data"].dtype)
        lengths = {part: int(group[part].shape[0]) for part in ("data", "indices", "indptr")}
        self._ends = self._read("indptr", 0, lengths["indptr"])
        check_pointers(self._ends, shape[0], min(lengths["data"], lengths["indices"]))
        self.stored = int(self._ends[-1])

    @classmethod
    def opens(cls, source: object) -> bool:
        return False  # made for objects that keep their matrix on disk

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

    def normal(self, W: Any, shifted: Any, remainder: Any, factor: bool = False) -> tuple[Any, ...]:
        return super().normal(W, _as_it_is, remainder, factor)

    def combine(self, V: Any, shifted: Any) -> Any:
        return super().combine(V, _as_it_is)

    def project(self, W: Any, shifted: Any) -> Any:
        return super().project(W, _as_it_is)

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
        except UNREADABLE as error:
            raise DataError(f"entries {first} to {last} of {part} of {self._where} cannot be read: {error}") from error


def _as_it_is(block: Block) -> Block:
    """What sparse rows are shifted by: nothing."""
    return block


def _check_numbers(array: Any, where: str) -> None:
    if np.dtype(array.dtype).kind not in "biuf":
        raise DataError(f"{where} holds {array.dtype} values, not real numbers")


def open_hdf5(path: Path) -> Any:
    """The only matrix in an HDF5 file, or X of an h5ad file, dense or sparse."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError("reading HDF5 needs h5py: pip install 'ritz[hdf5]'") from error
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise DataError(f"{path} is no whole HDF5 file: {error}") from error
    if path.suffix.lower() == ".h5ad" or {"X", "obs", "var"} <= set(file):
        return _open_h5ad(file, path)
    found: dict[str, Any] = {}
    file.visititems(lambda name, item: found.setdefault(name, item) and None if _is_matrix(item) else None)
    return Stored(_only(found, path), str(path))


def _open_h5ad(file: Any, path: Path) -> Any:
    X = file.get("X")
    if X is None:
        raise DataError(f"{path} has no X; an h5ad file keeps its matrix there")
    if "indptr" in getattr(X, "keys", dict)():
        return Sparse(_sparse(X, path), _names(file))
    return Stored(X, f"X of {path}", _names(file))


def _sparse(group: Any, path: Path) -> Any:
    """A sparse matrix, whose entries are read at once: they are what a sparse matrix is."""
    import scipy.sparse

    kind = str(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "csr")))[:3]
    shape = tuple(int(length) for length in group.attrs.get("shape", group.attrs.get("h5sparse_shape", ())))
    if kind not in ("csr", "csc") or len(shape) != 2:
        raise DataError(f"X of {path} is a sparse matrix without its format or its shape")
    data, indices, indptr = (group[name][...] for name in ("data", "indices", "indptr"))
    try:
        return getattr(scipy.sparse, f"{kind}_array")((data, indices, indptr), shape=shape)
    except ValueError as error:
        raise DataError(f"the sparse matrix X of {path} is damaged: {error}") from error


def _names(file: Any) -> tuple[str, ...] | None:
    """The names of the variables, where the file keeps them as a column of text."""
    var = file.get("var")
    key = var.attrs.get("_index", "_index") if hasattr(var, "keys") else None
    if key is None or key not in var:
        return None
    names = var[key][...]
    return tuple(name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name) for name in names)


def open_zarr(path: Path) -> Stored:
    """The only matrix in a Zarr folder."""
    try:
        import zarr
    except ImportError as error:
        raise ImportError("reading Zarr needs zarr: pip install 'ritz[zarr]'") from error
    try:
        root = zarr.open(str(path), mode="r")
    except Exception as error:  # every store has errors of its own
        raise DataError(f"{path} is no Zarr array or group: {error}") from error
    members = dict(root.members(max_depth=None)) if hasattr(root, "members") else {"": root}
    return Stored(_only({name: item for name, item in members.items() if _is_matrix(item)}, path), str(path))


def _is_matrix(item: Any) -> bool:
    return len(getattr(item, "shape", ()) or ()) == 2 and np.dtype(item.dtype).kind in "biuf"


def _only(matrices: dict[str, Any], path: Path) -> Any:
    """The one matrix there is; which of several is meant, nobody can guess."""
    if len(matrices) != 1:
        shown = ", ".join(f"{name!r} {item.shape}" for name, item in list(matrices.items())[:8]) or "none"
        raise DataError(f"{path} holds {len(matrices)} matrices of numbers ({shown}); keep one of them in the file")
    return next(iter(matrices.values()))

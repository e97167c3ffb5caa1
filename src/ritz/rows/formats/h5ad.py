"""The tables `obs` and `var` of an h5ad file, column by column: words, numbers, categories and gaps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import FILE, DataError
from ritz.rows.formats.read import damage
from ritz.runtime.memory import check_fits

WORD_BYTES = 64  # of a short word in memory, and the reference to it
FORMS = ({"categories", "codes"}, {"values", "mask"})  # groups that are one column


def read_obs(path: Path, n: int, name: str, count: int | None) -> NDArray[Any]:
    """A column of the table `obs` for the first so many of n rows. The file is open only while it is read."""
    expected = n if count is None else min(n, count)
    with open_file(path) as file, damage(f"{FILE} is damaged", file=path):
        values = column_of(file["obs"], name, count)
        if values.shape != (expected,):
            where = f"column {name!r} of obs in {FILE}"
            raise DataError(f"{where} has the shape {values.shape} where {expected} rows need a value each")
    return values


def open_file(path: Path) -> Any:
    """An HDF5 file, to be read."""
    import h5py

    with damage(f"{FILE} is not a valid HDF5 file (truncated or corrupt)", file=path):
        return h5py.File(path, "r")


def index_of(table: Any) -> str | None:
    """The column with the names of the rows of a table, if there is one."""
    if hasattr(table, "keys"):
        name = as_text(table.attrs.get("_index", "_index"))
        return name if table.get(name) is not None else None
    fields = _fields(table)
    return None if not fields else "index" if "index" in fields else fields[0]


def columns_of(table: Any) -> list[str]:
    """The other columns, in their order; what is stored in a form that is none of a column is not among them."""
    index = index_of(table)
    if not hasattr(table, "keys"):
        return [name for name in _fields(table) if name != index]
    order = np.atleast_1d(table.attrs.get("column-order", list(table)))
    listed = dict.fromkeys(map(as_text, order.tolist()))
    return [name for name in listed if name != index and _is_column(table.get(name))]


def column_of(table: Any, name: str, count: int | None = None) -> NDArray[Any]:
    """The first so many values of a column, or all of them; None where one is missing."""
    if hasattr(table, "keys"):
        return _values(table[name], count)
    _check_list(table, table.dtype[name], count)
    values = _plain(np.asarray(table.fields(name)[:count]))
    kinds = table.file.get(f"uns/{name}_categories")  # where the first versions kept them
    if kinds is None or values.dtype.kind not in "iu":
        return values
    categories = _plain(np.atleast_1d(kinds[...]))
    # Both tables kept them under one name: those that are too few belong to the other one.
    return _categorical(values, categories) if _needed(values) <= len(categories) else values


def as_text(name: Any) -> str:
    """A name, however it is stored."""
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)


def _fields(table: Any) -> tuple[str, ...]:
    """Columns of a table that is one list of records."""
    return getattr(getattr(table, "dtype", None), "names", None) or ()


def _is_column(item: Any) -> bool:
    if hasattr(item, "keys"):
        return any(parts <= set(item) for parts in FORMS)
    return len(getattr(item, "shape", None) or ()) == 1 and not _fields(item)


def _values(column: Any, count: int | None) -> NDArray[Any]:
    if not hasattr(column, "keys"):
        values, reference = _listed(column, count), column.attrs.get("categories")
        return values if reference is None else _chosen(values, column.file[reference])
    if "categories" in column:
        return _chosen(_listed(column["codes"], count), column["categories"])
    values, mask = (_listed(column[part], count) for part in ("values", "mask"))
    if values.shape != mask.shape:
        raise DataError(f"{column.name} of {FILE} has {len(values)} values, but marks {len(mask)}")
    gaps = mask.astype(bool)
    return np.where(gaps, np.array(None), values) if gaps.any() else values


def _listed(dataset: Any, count: int | None) -> NDArray[Any]:
    """The first so many entries of a list, or all of them."""
    _check_list(dataset, dataset.dtype, count)
    return _plain(np.asarray(dataset[:count]))


def _check_list(dataset: Any, dtype: np.dtype[Any], count: int | None) -> None:
    """Whether it is a list, and one that memory can hold."""
    where = f"{dataset.name} of {FILE}"
    if len(dataset.shape) != 1:
        raise DataError(f"{where} has the shape {dataset.shape}, but must be a list")
    size = dataset.size if count is None else min(count, dataset.size)
    check_fits(size * (dtype.itemsize + (WORD_BYTES if dtype.kind in "OS" else 0)), where)


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Words as words, and numbers in the byte order of this machine."""
    if values.dtype.kind in "OS":
        return np.array([as_text(value) for value in values.tolist()], object)
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _chosen(codes: NDArray[Any], kinds: Any) -> NDArray[Any]:
    """The categories that codes stand for, of which no more are read than that."""
    if codes.dtype.kind not in "iu":
        raise DataError(f"the codes of {kinds.name} of {FILE} are {codes.dtype}, but must be integers")
    needed = _needed(codes)
    categories = _values(kinds, needed)
    if needed > len(categories):
        told = f"a code stands for category {needed - 1} of {kinds.name}, there are {len(categories)}"
        raise DataError(f"{FILE} is damaged: {told}")
    return _categorical(codes, categories)


def _needed(codes: NDArray[Any]) -> int:
    """How many categories there must be."""
    return max(0, int(codes.max()) + 1) if len(codes) else 0


def _categorical(codes: NDArray[Any], categories: NDArray[Any]) -> NDArray[Any]:
    if (codes >= 0).all():
        return categories[codes]
    return np.array([*categories.tolist(), None], object)[np.maximum(codes, -1)]

"""HDF5 files with one matrix, and their dialect h5ad: X, dense or sparse, with the tables of its variables and of its
observations, `var` and `obs`."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import FILE, DataError, MissingPackageError
from ritz.rows.base import Rows
from ritz.rows.formats.chunked import Chunked, has_rows, only
from ritz.rows.formats.damage import damage
from ritz.rows.memory.sparse import Sparse, stored_values
from ritz.runtime.memory import check_fits

WORD_BYTES = 64  # of a short word in memory, and the reference to it
FORMS = ({"categories", "codes"}, {"values", "mask"})  # groups that are one column of a table
CELL, NAMELESS = "cell", ("_index", "index")  # what the names of the rows are called where nobody named them


def open_hdf5(path: Path) -> Any:
    """The only matrix in an HDF5 file, or X of an h5ad file, dense or sparse."""
    file = _opened(path)
    with ExitStack() as stack, damage(f"{FILE} is damaged"):
        rows = _matrix(stack.enter_context(file), path)
        if isinstance(rows, Chunked):
            rows.elsewhere = _elsewhere(rows._array)
            stack.pop_all()  # it is read from the file; all others have been read, or cannot be
        return rows


def _opened(path: Path) -> Any:
    try:
        import h5py
    except ImportError as error:
        raise MissingPackageError('reading HDF5 needs h5py: pip install "ritz[hdf5]"') from error
    with damage(f"{FILE} is not a valid HDF5 file (truncated or corrupt)", file=path):
        return h5py.File(path, "r")


def _matrix(file: Any, path: Path) -> Any:
    if path.suffix.lower() == ".h5ad" or {"X", "obs", "var"} <= set(file):
        return _open_h5ad(file, path)
    found: dict[str, Any] = {}
    file.visititems(lambda name, item: found.update({name: item}) if has_rows(item) else None)
    return Chunked(_written(only(found)), FILE, file=path)


def _written(dataset: Any) -> Any:
    """A dataset, unless nothing was ever stored in it: its shape may then be anything, and all its values a filling."""
    if dataset.size and not (dataset.id.get_storage_size() or dataset.is_virtual):
        raise DataError(f"{dataset.name} of {FILE} has shape {dataset.shape}, but was never written; write it first")
    return dataset


def _elsewhere(dataset: Any) -> tuple[Path, ...]:
    """The files that hold a dataset which is linked to, put together from others, or kept outside."""
    at = Path(dataset.file.filename)
    names = [source.file_name for source in dataset.virtual_sources()] if dataset.is_virtual else []
    names += [name for name, *_ in dataset.external or ()]
    return (at, *(at.parent / name for name in dict.fromkeys(names) if name != "."))


def _open_h5ad(file: Any, path: Path) -> Rows:
    """X with the table `obs` beside it, of which nothing is read yet."""
    rows: Rows
    X, obs = file.get("X"), file.get("obs")
    if X is None:
        raise DataError(f"{FILE} has no X, where an h5ad file keeps its matrix{_instead(file)}")
    if hasattr(X, "keys"):
        matrix = _sparse(X)
        rows = Sparse(matrix, _names(file, matrix.shape[1]))
    elif X.shape is not None and len(X.shape) == 2:
        rows = Chunked(_written(X), f"X of {FILE}", _names(file, X.shape[1]), path)
    else:
        raise DataError(f"X of {FILE} has the shape {X.shape}; a matrix has rows and columns, so write it as one")
    index, read = _index_of(obs), partial(_read_obs, path, rows.shape[0])
    names = None if index is None else (CELL if index in NAMELESS else index, partial(read, index))
    rows.put_beside([(name, partial(read, name)) for name in _columns_of(obs)], names)
    return rows


def _instead(file: Any) -> str:
    """What there is where X should be, for a reader who wonders."""
    link = file.get("X", getlink=True) if "X" in set(file) else None
    if link is not None:
        return f"; its X is a link to {getattr(link, 'filename', '')}{link.path}, where nothing is"
    if file.get("raw/X") is not None:
        return "; its raw/X is there: write adata.raw.to_adata() to a file and read that"
    return ""


def _sparse(group: Any) -> Any:
    """A sparse matrix, whose entries are read at once: they are what a sparse matrix is."""
    import scipy.sparse

    kind = _as_text(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "csr")))[:3]
    shape = np.asarray(group.attrs.get("shape", group.attrs.get("h5sparse_shape", ())))
    if kind not in ("csr", "csc") or shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise DataError(f"X of {FILE} is a group, but not a sparse matrix with a known format and shape")
    n, d = (int(length) for length in shape)
    data, indices, indptr = _parts(group, n if kind == "csr" else d)
    with damage(f"the sparse matrix X of {FILE} is damaged", ValueError):
        return getattr(scipy.sparse, f"{kind}_array")((stored_values(data), indices, indptr), shape=(n, d))


def _parts(group: Any, steps: int) -> list[NDArray[Any]]:
    """The entries, their places and where each row or column begins, once their lengths are known to agree."""
    parts = [group.get(name) for name in ("data", "indices", "indptr")]
    found = [getattr(part, "shape", None) for part in parts]
    if found[0] is None or found != [found[0], found[0], (steps + 1,)]:
        raise DataError(
            f"the sparse matrix X of {FILE} is damaged: there must be as many indices as data, and {steps + 1} index "
            f"pointers; found the shapes {', '.join(map(str, found))}"
        )
    if any(part.dtype.kind not in "iu" for part in parts[1:]):
        raise DataError(f"the sparse matrix X of {FILE} is damaged: its indices must be integers")
    check_fits(sum(part.size * part.dtype.itemsize for part in parts), f"the sparse matrix X of {FILE}")
    return [part[...] for part in parts]


def _names(file: Any, d: int) -> tuple[str, ...] | None:
    """The names of the variables, where the file keeps them: as an index of the table `var`, or in its first field."""
    var = file.get("var")
    index = _index_of(var)
    if index is None:
        return None
    names = _column_of(var, index)
    if len(names) != d:
        raise DataError(f"{FILE} names {len(names)} variables, but X has {d} columns")
    return tuple(str(j) if name is None else str(name) for j, name in enumerate(names))


def _read_obs(path: Path, n: int, name: str, count: int | None) -> NDArray[Any]:
    """A column of the table `obs` for the first so many of n rows. The file is open only while it is read."""
    expected = n if count is None else min(n, count)
    with _opened(path) as file, damage(f"{FILE} is damaged", file=path):
        values = _column_of(file["obs"], name, count)
        if values.shape != (expected,):
            where = f"column {name!r} of obs in {FILE}"
            raise DataError(f"{where} has the shape {values.shape} where {expected} rows need a value each")
    return values


def _index_of(table: Any) -> str | None:
    """The column with the names of the rows of a table, if there is one."""
    if hasattr(table, "keys"):
        name = _as_text(table.attrs.get("_index", "_index"))
        return name if table.get(name) is not None else None
    fields = _fields(table)
    return None if not fields else "index" if "index" in fields else fields[0]


def _columns_of(table: Any) -> list[str]:
    """The other columns, in their order; what is stored in a form that is none of a column is not among them."""
    index = _index_of(table)
    if not hasattr(table, "keys"):
        return [name for name in _fields(table) if name != index]
    order = np.atleast_1d(table.attrs.get("column-order", list(table)))
    listed = dict.fromkeys(map(_as_text, order.tolist()))
    return [name for name in listed if name != index and _is_column(table.get(name))]


def _column_of(table: Any, name: str, count: int | None = None) -> NDArray[Any]:
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


def _as_text(name: Any) -> str:
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
        raise DataError(f"{column.name} of {FILE} has {len(values)} values, but a mask of {len(mask)}")
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
        return np.array([_as_text(value) for value in values.tolist()], object)
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

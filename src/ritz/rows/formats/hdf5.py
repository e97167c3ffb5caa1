"""HDF5 files with one matrix, and their dialect h5ad: X, dense or sparse, with its variables and its observations."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import FILE, DataError, MissingPackageError
from ritz.rows.base import Rows
from ritz.rows.formats.chunked import Chunked, has_rows, only
from ritz.rows.formats.h5ad import as_text, column_of, columns_of, index_of, open_file, read_obs
from ritz.rows.formats.read import damage
from ritz.rows.memory.sparse import Sparse, stored_values
from ritz.runtime.memory import check_fits

CELL, NAMELESS = "cell", ("_index", "index")  # what the names of the rows are called where nobody named them


def open_hdf5(path: Path) -> Any:
    """The only matrix in an HDF5 file, or X of an h5ad file, dense or sparse."""
    try:
        file = open_file(path)
    except ImportError as error:
        raise MissingPackageError('reading HDF5 needs h5py: pip install "ritz[hdf5]"') from error
    rows = None
    try:
        with damage(f"{FILE} is damaged"):
            rows = _matrix(file, path)
            if isinstance(rows, Chunked):
                rows.elsewhere = _elsewhere(rows._array)
    finally:
        if not isinstance(rows, Chunked):  # all others have been read, or cannot be
            file.close()
    return rows


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


def _open_h5ad(file: Any, path: Path) -> Any:
    X = file.get("X")
    if X is None:
        raise DataError(f"{FILE} has no X, where an h5ad file keeps its matrix{_instead(file)}")
    if hasattr(X, "keys"):
        matrix = _sparse(X)
        return _annotated(Sparse(matrix, _names(file, matrix.shape[1])), file, path)
    if X.shape is not None and len(X.shape) == 2:
        return _annotated(Chunked(_written(X), f"X of {FILE}", _names(file, X.shape[1]), path), file, path)
    raise DataError(f"X of {FILE} has the shape {X.shape}; a matrix has rows and columns, so write it as one")


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

    kind = as_text(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "csr")))[:3]
    shape = np.asarray(group.attrs.get("shape", group.attrs.get("h5sparse_shape", ())))
    if kind not in ("csr", "csc") or shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise DataError(f"X of {FILE} is a group, but no sparse matrix with its format and its shape")
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
    index = index_of(var)
    if index is None:
        return None
    names = column_of(var, index)
    if len(names) != d:
        raise DataError(f"{FILE} names {len(names)} variables, but X has {d} columns")
    return tuple(str(j) if name is None else str(name) for j, name in enumerate(names))


def _annotated(rows: Rows, file: Any, path: Path) -> Rows:
    """The rows with the table `obs` beside them, of which nothing is read yet."""
    obs, read = file.get("obs"), partial(read_obs, path, rows.shape[0])
    index = index_of(obs)
    names = None if index is None else (CELL if index in NAMELESS else index, partial(read, index))
    rows.put_beside([(name, partial(read, name)) for name in columns_of(obs)], names)
    return rows

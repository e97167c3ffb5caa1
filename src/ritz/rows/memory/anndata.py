"""AnnData objects: X in memory or on disk, named after the variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.rows import Rows, is_anndata
from ritz.rows.file_changes import Files
from ritz.rows.formats.chunked import Chunked, ChunkedSparse
from ritz.rows.formats.flat import array_of
from ritz.rows.memory.array import Convertible
from ritz.rows.memory.frame import check_names
from ritz.rows.memory.sparse import Sparse


class AnnDataRows(Rows):
    """X of an AnnData object, read by the source for what X is: an array, a sparse matrix, or one kept on disk."""

    def __new__(cls, adata: Any) -> Any:
        names = tuple(str(name) for name in adata.var_names)
        check_names(names)
        X = adata.X
        if X is None:
            raise DataError("this AnnData object has no X; put the matrix there: adata.X = adata.layers[...]")
        if isinstance(X, np.ndarray):
            return array_of(X, names)
        if Sparse.opens(X):
            return Sparse(X, names)
        files = Files.at(Path(adata.filename)) if adata.isbacked else None
        rows = _stored(X, f"X of {adata.filename}" if adata.isbacked else "X", names)
        rows.names, rows.files = names, files
        return rows

    @classmethod
    def opens(cls, source: object) -> bool:
        return is_anndata(source)


def _stored(X: Any, where: str, names: tuple[str, ...]) -> Rows:
    """X as what it is, wherever it is kept; arrays of HDF5 and Zarr are sliced from disk."""
    if getattr(X, "format", None) not in ("csr", "csc") or not hasattr(X, "group"):
        stored = type(X).__module__.split(".")[0] in ("h5py", "zarr")
        return Chunked(X, where, names) if stored else Convertible(X)
    if X.format == "csc":
        raise DataError(
            f"{where} is kept on disk by columns, where rows cannot be read; use adata.to_memory(), or write it as CSR"
        )
    return ChunkedSparse(X.group, tuple(X.shape), where, names)

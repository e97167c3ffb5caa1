"""Rows: data of any kind as blocks of rows that can be read in several passes.

Comes in: an array, a table, a sparse matrix, AnnData or a path. Goes out: `Rows`, with its four verbs (see `base`).
A new source is one file in `memory` or `formats` and one line in the table below or in that of `formats.read`.
"""

from __future__ import annotations

from functools import cache
from os import PathLike
from pkgutil import resolve_name
from typing import Any

import numpy as np

from ritz.rows.base import Rows
from ritz.rows.formats.read import read

# The first class whose `opens` accepts the object reads it; modules are imported only when reached.
SOURCES: list[str | type[Rows]] = [
    "ritz.rows.formats.flat:Mapped",
    "ritz.rows.memory.array:ArrayRows",
    "ritz.rows.memory.sparse:Sparse",
    "ritz.rows.memory.anndata:AnnDataRows",
    "ritz.rows.memory.sparse_frame:SparseFrame",
    "ritz.rows.memory.frame:FrameRows",
    "ritz.rows.memory.convert:Convertible",
]

_imported = cache(resolve_name)


def as_rows(source: object) -> Rows:
    """`source` as Rows: an array, a table, a sparse matrix, AnnData, the path of a file, or anything with `__array__`.

    Examples
    --------
    >>> as_rows([[1, 2], [3, 4], [5, 6]]).shape
    (3, 2)
    """
    if isinstance(source, Rows):
        return source
    if isinstance(source, str | PathLike):
        return read(source)
    for entry in SOURCES:
        kind: Any = _imported(entry) if isinstance(entry, str) else entry
        if kind.opens(source):
            return kind(source)
    raise TypeError(f"cannot read rows from {type(source).__name__!r}; pass a 2-D array or a table")


def check_exact(given: object) -> None:
    """Refuse a matrix, whatever it is kept in, of which float64 cannot hold an integer."""
    if isinstance(given, np.ndarray) and given.dtype.kind == "f":
        return
    for _ in as_rows(given).each(lambda block: block[:0]):
        pass


__all__ = ["SOURCES", "Rows", "as_rows", "check_exact", "read"]

"""Rows: data of any kind as blocks of rows that can be read in several passes.

Comes in: an array, a table, a sparse matrix, AnnData or a path. Goes out: `Rows`, with its four verbs (see `base`).
A new source in memory is one file in `memory` and one line in the table `SOURCES` below; a new file format is one file
in `formats` and one line in the table `FORMATS` of `formats.read`; many files are one below the other in
`formats.stacked`. Results are written by `write`; `scores` only reads
scores back.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache, partial
from os import PathLike
from pkgutil import resolve_name
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.linalg.arrays import all_finite, on_host
from ritz.rows.base import Block, Rows, dense
from ritz.rows.formats.read import read
from ritz.rows.formats.several import is_list
from ritz.rows.large_integers import is_wide

# The first class whose `opens` accepts the object reads it; modules are imported only when reached.
SOURCES: list[str | type[Rows]] = [
    "ritz.rows.memory.array:ArrayRows",
    "ritz.rows.formats.flat:Mapped",
    "ritz.rows.memory.sparse:Sparse",
    "ritz.rows.memory.anndata:AnnDataRows",
    "ritz.rows.dask.columns:DaskColumns",
    "ritz.rows.dask.source:DaskRows",
    "ritz.rows.memory.frame:SparseFrame",
    "ritz.rows.memory.frame:FrameRows",
    "ritz.rows.memory.device:OtherArray",
    "ritz.rows.memory.array:Convertible",
]
ANNDATA = ("X", "var_names", "obs_names", "obsm", "varm", "uns", "is_view", "isbacked")  # what is used of it

_imported = cache(resolve_name)


def as_rows(source: object) -> Rows:
    """`source` as Rows: an array, a table, a sparse matrix, AnnData, paths of files, or anything with `__array__`.

    Examples
    --------
    >>> as_rows([[1, 2], [3, 4], [5, 6]]).shape
    (3, 2)
    """
    if isinstance(source, Rows):
        return source
    if isinstance(source, str | PathLike) or (isinstance(source, list | tuple) and is_list(source)):
        return read(source)
    for entry in SOURCES:
        kind: Any = _imported(entry) if isinstance(entry, str) else entry
        if kind.opens(source):
            return kind(source)
    raise TypeError(f"cannot read rows from {type(source).__name__!r}; pass a 2-D array or a table")


def check_exact(given: object) -> None:
    """Refuse a matrix, whatever it is kept in, of which float64 cannot hold an integer, or an entry is masked."""
    if isinstance(given, np.ndarray) and given.dtype.kind == "f" and not isinstance(given, np.ma.MaskedArray):
        return
    for _ in as_rows(given).each(lambda block: block[:0]):
        pass


def check_finite(rows: Rows) -> None:
    """Count NaN and infinities and name the first; nothing happens when there are none."""
    if is_wide(rows.dtype):
        check_exact(rows)
    if rows.dtype.kind != "f":
        return
    walked = rows.turned or rows
    gaps = partial(_gaps, beyond=rows.shape, on_device=rows.on_device, down=walked is rows)
    nan, bad, row, column = map(int, walked.reduce(gaps, _together, beside=range(walked.shape[0])))
    if bad:
        endless = "infinity (inf)" if bad - nan == 1 else "infinities (inf)"
        what = " and ".join(f"{c} {w}" for c, w in ((nan, "NaN"), (bad - nan, endless)) if c)
        place = f"first at {rows.place(row)}, column {rows.name(column)}"
        code = "missing" if nan == bad else "infinite"
        found, advice = f"contains {what}, {place}", "drop or impute those rows first"
        raise DataError(f"Input X {found}", advice, code, f"the data {found}")


def _gaps(pairs: Iterable[tuple[Block, range]], beyond: tuple[int, int], on_device: bool, down: bool) -> Any:
    """NaN, all that is not finite, and the row and column of the first, or those `beyond` the last; blocks go down the
    rows, or along the columns."""
    found = np.array([0, 0, *beyond])
    for block, places in pairs:
        if on_device:
            if all_finite(block):
                continue
            block = on_host(block)
        block = dense(block) if down else dense(block).T
        finite = np.isfinite(block)
        if finite.all():
            continue
        bad = np.argwhere(~finite)
        first = bad[0] + ([places[0], 0] if down else [0, places[0]])
        found = _together(found, np.array([np.isnan(block).sum(), len(bad), *first]))
    return found


def _together(a: Any, b: Any) -> Any:  # (4,), (4,) -> (4,)
    """What is not finite in two runs of rows, and the first place."""
    return np.concatenate([a[:2] + b[:2], a[2:] if tuple(a[2:]) <= tuple(b[2:]) else b[2:]])


def is_anndata(source: object) -> bool:
    """Whether an object is an AnnData or of a class derived from it."""
    if "anndata" not in sys.modules:  # no object of it can exist
        return False
    kind = type(source)
    named = any(base.__name__ == "AnnData" and base.__module__.split(".")[0] == "anndata" for base in kind.__mro__)
    return named and all(hasattr(kind, part) for part in ANNDATA)


def is_dask(source: object) -> bool:
    """Whether an object is a collection of Dask, such as an array or a dataframe."""
    if "dask" not in sys.modules:  # no object of it can exist
        return False
    return hasattr(type(source), "__dask_graph__") and hasattr(type(source), "__dask_keys__")


__all__ = ["SOURCES", "Rows", "as_rows", "check_exact", "check_finite", "is_anndata", "is_dask", "read"]

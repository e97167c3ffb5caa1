"""Data in memory as `ritz.read` takes it: stacks of pictures flattened, points in columns as rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError, ParameterError
from ritz.linalg.arrays import Home, is_other_array, on_host
from ritz.rows import Rows, as_rows, is_anndata, is_dask
from ritz.rows.memory.device import viewable
from ritz.rows.memory.frame import FrameRows
from ritz.rows.memory.plain import check_plain
from ritz.rows.memory.sparse import Sparse
from ritz.rows.pictures import stacked
from ritz.rows.transpose import first, transposed


def given(source: Any, columns: list[Any] | None, label: Any, transpose: bool, of_files: Mapping[str, Any]) -> Rows:
    """An array, a table or a sparse matrix as rows, before anything is chosen from them.

    `columns` and `label` are those of `ritz.read`: what else a table holds may be text. `of_files` are parameters that
    only files have.
    """
    for name, value in of_files.items():
        if value is not None:
            raise ParameterError(name, value, f"is for files, and this is a {type(source).__name__} in memory")
    if is_anndata(source):
        if transpose:
            raise DataError("an AnnData object has its cells in rows; pass adata.T if yours has them in columns")
        return as_rows(source)
    if not isinstance(source, Rows) and not Sparse.opens(source) and FrameRows.opens(source):
        return _table(source, columns, label, transpose)
    if is_dask(source) and hasattr(type(source), "columns") and not transpose:
        return _chosen(source, list(source.columns), columns, label, lambda frame, names: frame[names], _computed)
    if is_other_array(source):
        check_plain(source)
    if is_other_array(source) and not viewable(source):
        if columns is not None or label is not None:
            name, value = ("columns", columns) if columns is not None else ("label", label)
            raise ParameterError(name, value, "is for data on the CPU; choose columns before, such as X[:, [0, 2]]")
        return as_rows(source.T if transpose and source.ndim == 2 else source)
    X = source if isinstance(source, Rows) or Sparse.opens(source) or _is_lazy(source) else _array(source)
    if isinstance(X, np.ndarray) and X.ndim > 2:
        return stacked(X, transpose).knowing(home=Home.of(source) if is_other_array(source) else None)
    if not transpose:
        return as_rows(source)
    if is_other_array(source):
        return as_rows(source.T)
    return transposed(as_rows(source)) if not Sparse.opens(source) else as_rows(source.T)


def _is_lazy(source: Any) -> bool:
    """Whether it is a matrix or a table of Dask, which NumPy would compute as a whole to look at it."""
    return is_dask(source) and getattr(source, "ndim", None) == 2


def _array(source: Any) -> NDArray[Any] | None:
    """What NumPy makes of an object; None where that fails, for whoever makes rows of it to say why."""
    if isinstance(source, np.ndarray):
        return source
    if is_other_array(source):
        return on_host(source)
    try:
        return np.asarray(source)
    except (ValueError, TypeError, RuntimeError):
        return None


def _table(table: Any, columns: list[Any] | None, label: Any, transpose: bool) -> Rows:
    """The columns that are asked for, and the label beside them."""
    if transpose:
        return _named_by_index(transposed(as_rows(table)), table)
    names = list(table.column_names if hasattr(type(table), "column_names") else table.columns)
    return _chosen(table, names, columns, label, _select, _values)


def _chosen(
    table: Any,
    names: list[Any],
    columns: list[Any] | None,
    label: Any,
    select: Callable[[Any, list[Any]], Any],
    values: Callable[[Any, Any], list[Any]],
) -> Rows:
    """Rows of some columns of a table, and the values of the label; all where neither is one of its names."""
    picked = None if columns is None or not set(columns) <= set(names) else columns
    if picked is None and label not in names:
        return as_rows(table)
    rows = as_rows(select(table, [name for name in picked or names if name != label]))
    return rows if label not in names else rows.knowing(others={label: partial(first, values(table, label))})


def _select(table: Any, names: list[Any]) -> Any:
    import narwhals as nw

    return nw.from_native(table, eager_only=True).select(names).to_native()


def _values(table: Any, name: Any) -> list[Any]:
    import narwhals as nw

    return nw.from_native(table, eager_only=True)[name].to_list()


def _computed(frame: Any, name: Any) -> list[Any]:
    """A column of a dask dataframe."""
    return frame[name].compute().tolist()


def _named_by_index(rows: Rows, table: Any) -> Rows:
    """Columns that were rows, by the names that pandas has for those, if all differ and are text."""
    index = [] if callable(getattr(table, "index", None)) else list(getattr(table, "index", ()))
    named = len(index) == rows.shape[1] == len(set(index)) and all(isinstance(name, str) for name in index)
    return rows.knowing(names=tuple(index)) if named else rows

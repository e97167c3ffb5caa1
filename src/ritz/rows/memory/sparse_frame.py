"""Tables of pandas whose columns are sparse, taken over column by column without making them dense."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.rows.memory.array import check_shape
from ritz.rows.memory.frame import check_names, columns, common_dtype, is_sparse, numbers
from ritz.rows.memory.sparse import Sparse
from ritz.rows.partition import ENTRY_BYTES


class SparseFrame(Sparse):
    """Columns of which most entries are zero and not stored; those of any other kind are stored whole between them."""

    def __init__(self, table: Any) -> None:
        names = tuple(table.columns)
        check_shape(table.shape)
        check_names(names)
        super().__init__(_matrix(table, names), names)

    @classmethod
    def opens(cls, source: object) -> bool:
        """Tables with sparse columns, where those take less memory than dense ones."""
        pandas = sys.modules.get("pandas")  # there is no such table in a program that never imported it
        if pandas is None or not isinstance(source, pandas.DataFrame) or not any(map(is_sparse, source.dtypes)):
            return False
        stored = sum(_stored(column) for _, column in source.items())
        return bool(ENTRY_BYTES * stored < 8 * source.size)


def _stored(column: Any) -> int:
    """Entries that a column takes."""
    sparse = is_sparse(column.dtype) and (column.dtype.fill_value == 0 or _is_nan(column.dtype.fill_value))
    return int(column.array.sp_index.npoints) if sparse else len(column)


def _is_nan(value: Any) -> bool:
    return bool(value != value)


def _matrix(table: Any, names: tuple[Any, ...]) -> Any:
    from scipy.sparse import csc_array

    parts = [_entries(column, name) for column, name in zip(columns(table), names, strict=True)]
    common_dtype([values for values, _ in parts], lambda j: repr(names[j]))
    ends = np.concatenate([[0], np.cumsum([len(values) for values, _ in parts])])
    values, places = (np.concatenate(part) for part in zip(*parts, strict=True))
    return csc_array((values, places, ends), shape=table.shape)


def _entries(column: Any, name: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """The values of a column that are not zero, or are stored as one, and their rows."""
    native = column.to_native()
    if not is_sparse(native.dtype) or native.dtype.fill_value != 0:
        _check_gaps(native, name)
        values = numbers(column, name)
        rows = np.flatnonzero(values)
        return values[rows], rows
    values = np.asarray(native.array.sp_values)
    if values.dtype.kind not in "biufc":
        raise DataError(f"column {name!r} holds {native.dtype} values, not numbers; convert or drop it")
    return values, native.array.sp_index.to_int_index().indices


def _check_gaps(column: Any, name: Any) -> None:
    """Missing values that are not stored are reported before they would fill the memory."""
    if is_sparse(column.dtype) and _is_nan(column.dtype.fill_value) and column.array.sp_index.npoints < len(column):
        rows = column.array.sp_index.to_int_index().indices
        first = int(np.argmin(np.append(rows, -1) == np.arange(len(rows) + 1)))
        raise DataError(
            f"Input X contains {len(column) - len(rows)} NaN in column {name!r}, first at row {first}, because its "
            "fill value is nan; fill them first, for instance with .fillna(0)"
        )

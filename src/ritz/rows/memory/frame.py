"""Tables: pandas, polars, pyarrow and whatever else narwhals reads. Names are kept, and sparse columns stay sparse."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ritz.errors import ColumnWarning, DataError
from ritz.rows.base import Block, Rows
from ritz.rows.columns import shown
from ritz.rows.formats.flat import array_of
from ritz.rows.large_integers import all_small, check_integers, check_numbers
from ritz.rows.memory.array import ArrayRows, check_shape
from ritz.rows.memory.sparse import Sparse
from ritz.rows.passes import ENTRY_BYTES


class FrameRows(Rows):
    """Columns of one table, each a view of its column's memory wherever the table allows it."""

    _whole: Any = None  # rows of a table that is one array

    def __init__(self, table: Any) -> None:
        kind = type(table)  # asked of the class: a column may be called "collect" or "column_names"
        if hasattr(kind, "collect"):
            raise DataError("a lazy table has no rows yet; call .collect() on it first")
        self.names = tuple(table.column_names if hasattr(kind, "column_names") else table.columns)
        self.shape = (len(table), len(self.names))
        check_shape(self.shape)
        check_names(self.names)
        if (whole := _one_array(table)) is not None:
            self._whole = array_of(whole, self.names)
            self.files, self.dtype = self._whole.files, self._whole.dtype
        else:
            self._columns = [numbers(*pair) for pair in zip(columns(table), self.names, strict=True)]
            self.dtype = common_dtype(self._columns, self.name)

    @classmethod
    def opens(cls, source: object) -> bool:
        return bool(nw.dependencies.is_into_dataframe(source)) or type(source).__name__ == "LazyFrame"

    def read(self, start: int, stop: int) -> Block:
        return self._stacked(slice(start, stop)) if self._whole is None else self._whole.read(start, stop)

    def take(self, indices: NDArray[np.integer]) -> Block:
        return self._stacked(indices) if self._whole is None else self._whole.take(indices)

    @property
    def T(self) -> Any:
        return self._stacked(slice(None)).T if self._whole is None else self._whole.T

    def _stacked(self, which: Any) -> Block:
        return np.stack([column[which] for column in self._columns], axis=1, dtype=self.dtype)


def numbers(column: Any, name: Any) -> NDArray[Any]:
    """One column as numbers; missing values become NaN, which every pass reports with their place."""
    kind = column.dtype
    if is_sparse(getattr(column.to_native(), "dtype", None)):
        return _array(column.to_native(), name)
    if not (kind.is_numeric() or kind in (nw.Boolean, nw.Object)):
        what = getattr(column.to_native(), "dtype", kind) if kind == nw.Unknown else kind
        raise DataError(f"column {name!r} holds {what} values, not numbers; convert or drop it")
    if kind in (nw.Decimal, nw.Int128, nw.UInt128):  # with more digits than float64, but no integer may be rounded
        found = _array(column.cast(nw.Float64).to_numpy(), name)
        if not all_small(found):
            check_numbers(found, column.to_list().__getitem__, f"column {name!r}")
        return found
    if kind == nw.Object or not column.null_count():
        return _array(column.to_numpy(), name)
    if not kind.is_integer():
        return _array(column.cast(nw.Float64).to_numpy(), name)
    gaps, values = column.is_null().to_numpy(), _array(column.fill_null(0).to_numpy(), name)
    check_integers(values, f"column {name!r}")
    return np.where(gaps, np.nan, values.astype(np.float64))


def common_dtype(columns: list[NDArray[Any]], name: Callable[[int], str]) -> np.dtype[Any]:
    """A type for columns that become one matrix; beside floats, integers become floats."""
    dtype = np.result_type(*columns)
    for j, column in enumerate(columns if dtype.kind == "f" else ()):
        check_integers(column, f"column {name(j)}")
    return dtype


def _array(values: Any, name: Any) -> NDArray[Any]:
    return ArrayRows(np.asarray(values).reshape(-1, 1), (name,)).block(0, len(values))[:, 0]


def is_sparse(dtype: Any) -> bool:
    """Whether a column of pandas stores only what differs from a fill value."""
    return type(dtype).__name__ == "SparseDtype"


def _one_array(table: Any) -> NDArray[Any] | None:
    """The table as one array where its memory is one, as in a pandas table of a single dtype."""
    dtypes = set(table.dtypes) if hasattr(type(table), "iloc") else set()
    if len(dtypes) != 1 or not isinstance(dtype := dtypes.pop(), np.dtype) or dtype.kind not in "biuf":
        return None
    return np.asarray(table)


def columns(table: Any) -> Iterator[Any]:
    """The columns one by one. Duplicate names are legal in a table but not in narwhals, hence the renaming."""
    unique = [str(j) for j in range(table.shape[1])]
    if hasattr(table, "set_axis"):
        table = table.set_axis(unique, axis=1)
    elif hasattr(table, "rename_columns"):
        table = table.rename_columns(unique)
    return nw.from_native(table, eager_only=True).iter_columns()


def check_names(names: tuple[Any, ...]) -> None:
    """Warn where names repeat or are empty."""
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        twice = f"column names appear more than once: {shown(repeated, 5)}; columns are told apart by position"
        warnings.warn(twice, ColumnWarning, stacklevel=5)
    if empty := [j for j, name in enumerate(names) if name == ""]:
        warnings.warn(f"columns without a name at positions {empty[:5]}", ColumnWarning, stacklevel=5)


class SparseFrame(Sparse):
    """Columns of which most entries are zero and not stored; those of any other kind are stored whole between them."""

    def __init__(self, table: Any) -> None:
        from scipy.sparse import csc_array

        names = tuple(table.columns)
        check_shape(table.shape)
        check_names(names)
        parts = [_entries(*pair) for pair in zip(columns(table), names, strict=True)]
        common_dtype([values for values, _ in parts], lambda j: repr(names[j]))
        ends = np.concatenate([[0], np.cumsum([len(values) for values, _ in parts])])
        values, places = (np.concatenate(part) for part in zip(*parts, strict=True))
        super().__init__(csc_array((values, places, ends), shape=table.shape), names)

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
    sparse = is_sparse(column.dtype) and (column.dtype.fill_value == 0 or _fills_nan(column.dtype))
    return int(column.array.sp_index.npoints) if sparse else len(column)


def _fills_nan(dtype: Any) -> bool:
    return bool(dtype.fill_value != dtype.fill_value)


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
    if is_sparse(column.dtype) and _fills_nan(column.dtype) and column.array.sp_index.npoints < len(column):
        rows = column.array.sp_index.to_int_index().indices
        first = int(np.argmin(np.append(rows, -1) == np.arange(len(rows) + 1)))
        raise DataError(
            f"Input X contains {len(column) - len(rows)} NaN in column {name!r}, first at row {first}, because its "
            "fill value is nan; fill them first, for instance with .fillna(0)"
        )

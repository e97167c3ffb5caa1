"""Tables: pandas, polars, pyarrow and whatever else narwhals reads. Column names are kept."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import ColumnWarning, DataError
from ritz.rows.array import Array, check_shape
from ritz.rows.base import Block, Rows


class Frame(Rows):
    """Columns of one table, each a view of its column's memory wherever the table allows it."""

    def __init__(self, table: Any) -> None:
        if hasattr(table, "collect"):
            raise DataError("a lazy table has no rows yet; call .collect() on it first")
        self.names = tuple(getattr(table, "column_names", None) or table.columns)
        check_shape((len(table), len(self.names)))
        self.shape = (len(table), len(self.names))
        _check_names(self.names)
        self._columns = [self._numbers(j, column) for j, column in enumerate(_columns(table))]
        self.dtype = np.result_type(*self._columns)

    @classmethod
    def opens(cls, source: object) -> bool:
        import narwhals as nw

        return bool(nw.dependencies.is_into_dataframe(source)) or type(source).__name__ == "LazyFrame"

    def block(self, start: int, stop: int) -> Block:
        return np.stack([column[start:stop] for column in self._columns], axis=1, dtype=self.dtype)

    def take(self, indices: NDArray[np.integer]) -> Block:
        return np.stack([column[indices] for column in self._columns], axis=1, dtype=self.dtype)

    def _numbers(self, j: int, column: Any) -> NDArray[Any]:
        """One column as numbers; missing values become NaN, which the walk reports with their place."""
        import narwhals as nw

        kind = column.dtype
        if not (kind.is_numeric() or kind in (nw.Boolean, nw.Object)):
            raise DataError(f"column {self.name(j)} holds {kind} values, not numbers; convert or drop it")
        if kind == nw.Decimal or (kind != nw.Object and column.null_count()):
            column = column.cast(nw.Float64)
        named = None if self.names is None else (self.names[j],)
        return Array(column.to_numpy().reshape(-1, 1), named).block(0, self.shape[0])[:, 0]


def _columns(table: Any) -> Iterator[Any]:
    """The columns one by one. Duplicate names are legal in a table but not in narwhals, hence the renaming."""
    import narwhals as nw

    unique = [str(j) for j in range(table.shape[1])]
    if hasattr(table, "set_axis"):
        table = table.set_axis(unique, axis=1)
    elif hasattr(table, "rename_columns"):
        table = table.rename_columns(unique)
    return nw.from_native(table, eager_only=True).iter_columns()


def _check_names(names: tuple[Any, ...]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        shown = ", ".join(map(repr, repeated[:5]))
        warnings.warn(
            f"column names appear more than once: {shown}; columns are told apart by position",
            ColumnWarning,
            stacklevel=5,
        )
    empty = [j for j, name in enumerate(names) if name == ""]
    if empty:
        warnings.warn(f"columns without a name at positions {empty[:5]}", ColumnWarning, stacklevel=5)

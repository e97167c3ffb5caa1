"""Columns that a fit left with a model, compared with those of all later data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.estimators import lazy
from ritz.rows import Rows, is_anndata, is_dask
from ritz.rows.columns import counts_up, model_columns
from ritz.rows.formats.read import read_for_model
from ritz.rows.memory.computed import choose
from ritz.rows.pictures import check_like, compare_white
from ritz.rows.select import check_names_once


class FittedColumns:
    """n_features_in_ and feature_names_in_, which `Certified._remember_columns` leaves, compared ever after.

    Names that are not text, such as years, are remembered as text beside them.
    """

    n_features_in_: int
    feature_names_in_: Any
    _column_keys: tuple[str, ...] | None = None
    _opened: Callable[[Any], Rows]

    def _like_fitted(self, X: Any) -> Rows:
        """X as Rows; from a file, only the model's columns."""
        names = self.__dict__.get("feature_names_in_")
        if isinstance(X, str | PathLike):
            return read_for_model(X, names, self.n_features_in_, self.__dict__.get("image_shape_"))
        rows = self._opened(X)
        # Of columns that nobody asked for by name, those of the model are taken.
        anything = isinstance(X, Rows) and X.origin is not None and X.origin.columns is None
        there = list(rows.names or ())
        if not anything or names is None or not set(names) <= set(there) or list(names) == there:
            return rows
        check_names_once(rows, names)
        return choose(rows, list(names), [], "error")

    def _compare_columns(self, X: Any, rows: Rows) -> None:
        """How many columns there are, and their names; and of pictures, their shape."""
        shape = self.__dict__.get("image_shape_")
        check_like(rows, shape)
        compare_white(rows, shape, self.__dict__.get("white_"))
        self._check_orientation(rows)
        repeated = rows.names is not None and repeats(rows.names)
        if (own := model_columns(self)) is not None:
            check_names_once(rows, [*own, *map(str, rows.names or ())] if repeated else own)
        # Where names repeat, positions tell the columns apart, unless the model knows names.
        names = None if repeated else rows.names
        nameless = type(X) is np.ndarray and "feature_names_in_" not in self.__dict__  # nothing to look up
        if nameless or (is_no_table(X) and not repeated):
            self._compare_names(names, rows.shape[1])
        else:
            self._compare_table(np.broadcast_to(0.0, rows.shape) if names is None else as_table(X), names)
        self._compare_keys(names)

    def _compare_without_rows(self, X: Any) -> None:
        """The columns of data that has no rows."""
        if is_dask(X):
            lazy.compared(self, X)
            return
        table = X.var.iloc[:, :0].T if is_anndata(X) else X
        names = tuple(table.columns) if hasattr(type(table), "columns") else None
        self._compare_table(table, names)
        self._compare_keys(names)

    def _check_orientation(self, rows: Rows) -> None:
        """Name the likely reason where rows have another number of columns than the model, but as many rows as that."""
        (n, d), known = rows.shape, self.n_features_in_
        if d != known == n:
            raise DataError(
                f"X has {d} features, but {type(self).__name__} is expecting {known} features as input, and X has "
                f"{n} rows",
                "rows are points and columns are variables: if your points are columns, pass X.T or "
                "ritz.read(X, transpose=True)",
            )

    def _compare_table(self, X: Any, names: tuple[Any, ...] | None) -> None:
        """Number and names of the columns of an array or a table, for which scikit-learn has rules of its own."""
        self._compare_names(names, X.shape[1])

    def _compare_names(self, names: tuple[Any, ...] | None, d: int) -> None:
        """The same for sources that scikit-learn does not know: files, and AnnData objects."""
        if d != self.n_features_in_:
            expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input"
            raise DataError(f"X has {d} features, but {expected}.")
        known = self.__dict__.get("feature_names_in_")
        if known is not None and names is not None and list(known) != list(names):
            raise _other_columns(names, list(known))

    def _compare_keys(self, names: tuple[Any, ...] | None) -> None:
        """The same for names that are not text; numbers that only count the columns say nothing."""
        if names is None or counts_up(names):
            return
        given, known = list(map(str, names)), model_columns(self) or list(map(str, range(len(names))))
        if given != known and (self._column_keys is not None or set(given) == set(known)):
            raise _other_columns(names, known)

    def _column_names(self) -> tuple[str, ...]:
        """What the columns are called in a file of rows."""
        names = self.__dict__.get("feature_names_in_")
        return tuple(f"x{j}" for j in range(self.n_features_in_)) if names is None else tuple(map(str, names))


def repeats(names: Sequence[Any]) -> bool:
    """Whether two columns have the same name."""
    return len(set(names)) < len(names)


def is_no_table(X: Any) -> bool:
    """Whether X is something whose columns scikit-learn cannot find: a file, rows that were read, an AnnData object."""
    return isinstance(X, str | PathLike | Rows) or is_anndata(X)


def as_table(table: Any) -> Any:
    """A table that has these columns: of a dask dataframe, which scikit-learn would compute, the one without rows."""
    return table._meta if is_dask(table) else table


def _other_columns(names: tuple[Any, ...], known: list[str]) -> DataError:
    j = next(j for j, name in enumerate(names) if str(name) != known[j])
    found, expected = (repr(names[j]), repr(known[j])) if isinstance(names[j], str) else (names[j], known[j])
    return DataError(
        f"the columns are not those the model was learned from: column {j} is {found} instead of {expected}; put "
        "them into that order first"
    )

"""The columns a model was learned from: how many, and their names, whatever kind of data they come with."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.rows import Rows, as_rows, is_anndata
from ritz.rows.columns import counts_up, keys_of, model_columns
from ritz.rows.formats.read import read_for_model
from ritz.rows.memory.subset import choose
from ritz.rows.select import check_names_once


class Columns:
    """n_features_in_ and feature_names_in_, remembered by a fit and compared ever after.

    Names that are not text, such as years, are remembered as text beside them.
    """

    n_features_in_: int
    feature_names_in_: Any
    _column_keys: tuple[str, ...] | None = None

    def _like_fitted(self, X: Any) -> Rows:
        """Rows; of a file, the columns that the model knows, whatever else stands in it."""
        names = self.__dict__.get("feature_names_in_")
        if isinstance(X, str | PathLike):
            return read_for_model(X, names, self.n_features_in_)
        rows = as_rows(X)
        anything = isinstance(X, Rows) and X.origin and X.origin[1] is None  # columns that nobody asked for by name
        there = list(rows.names or ())
        if not anything or names is None or not set(names) <= set(there) or list(names) == there:
            return rows
        check_names_once(rows, names)
        return choose(rows, list(names), [], "error")

    def _columns(self, X: Any, rows: Rows, reset: bool) -> None:
        """Remember, or compare, how many columns there are and their names."""
        repeated = rows.names is not None and len(set(rows.names)) < len(rows.names)
        if not reset and (own := model_columns(self)) is not None:
            check_names_once(rows, [*own, *map(str, rows.names or ())] if repeated else own)
        # Where names repeat, positions tell the columns apart, unless the model knows names.
        names = None if repeated else rows.names
        if (isinstance(X, str | PathLike | Rows) or is_anndata(X)) and not repeated:
            self._columns_by_name(rows.names, rows.shape[1], reset)
        else:
            self._columns_of_object(np.broadcast_to(0.0, rows.shape) if repeated else X, names, reset)
        self._columns_by_key(names, reset)

    def _columns_of_object(self, X: Any, names: tuple[Any, ...] | None, reset: bool) -> None:
        """The same for an array or a table, for which scikit-learn has rules of its own."""
        self._columns_by_name(names, X.shape[1], reset)

    def _columns_alone(self, X: Any) -> None:
        """Compare the columns of data without rows."""
        table = X.var.iloc[:, :0].T if is_anndata(X) else X
        names = tuple(table.columns) if hasattr(type(table), "columns") else None
        self._columns_of_object(table, names, reset=False)
        self._columns_by_key(names, reset=False)

    def _columns_by_name(self, names: tuple[Any, ...] | None, d: int, reset: bool) -> None:
        """The same for sources that scikit-learn does not know: files, and AnnData objects."""
        known = self.__dict__.get("feature_names_in_")
        if reset:
            self.n_features_in_ = d
            self.__dict__.pop("feature_names_in_", None)
            if names is not None and all(isinstance(name, str) for name in names):
                self.feature_names_in_ = np.array(names, dtype=object)
            return
        if d != self.n_features_in_:
            expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input"
            raise DataError(f"X has {d} features, but {expected}.")
        if known is not None and names is not None and list(known) != list(names):
            raise self._other_columns(names, list(known))

    def _columns_by_key(self, names: tuple[Any, ...] | None, reset: bool) -> None:
        """The same for names that are not text; numbers that only count the columns say nothing."""
        if reset:
            self._column_keys = None if names is None else keys_of(names)
            return
        if names is None or counts_up(names):
            return
        given, known = list(map(str, names)), model_columns(self) or list(map(str, range(len(names))))
        if given != known and (self._column_keys is not None or set(given) == set(known)):
            raise self._other_columns(names, known)

    def _other_columns(self, names: tuple[Any, ...], known: list[str]) -> DataError:
        j = next(j for j, name in enumerate(names) if str(name) != known[j])
        found, expected = (repr(names[j]), repr(known[j])) if isinstance(names[j], str) else (names[j], known[j])
        return DataError(
            f"the columns are not those the model was learned from: column {j} is {found} instead of {expected}; put "
            "them into that order first"
        )

    def _column_names(self) -> tuple[str, ...]:
        """What the columns are called in a file of rows."""
        names = self.__dict__.get("feature_names_in_")
        return tuple(f"x{j}" for j in range(self.n_features_in_)) if names is None else tuple(map(str, names))

    def _column_name(self, j: int) -> str:
        names = model_columns(self)
        return str(j) if names is None else repr(names[j])

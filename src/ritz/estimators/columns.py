"""The columns a model was learned from: how many, and their names, whatever kind of data they come with."""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from ritz.errors import DataError
from ritz.rows import Rows, as_rows
from ritz.rows.anndata import is_anndata
from ritz.rows.chosen import choose
from ritz.rows.files import known


class Columns:
    """n_features_in_ and feature_names_in_, remembered by a fit and compared ever after."""

    n_features_in_: int
    feature_names_in_: Any

    def _known(self, X: Any) -> Rows:
        """New rows, once the model is known to be fitted and their columns to be the model's."""
        check_is_fitted(self)
        rows = self._like_fitted(X)
        self._columns(X, rows, reset=False)
        return rows

    def _like_fitted(self, X: Any) -> Rows:
        """Rows; of a file, the columns that the model knows, whatever else stands in it."""
        names = self.__dict__.get("feature_names_in_")
        if isinstance(X, str | PathLike):
            return known(X, names, self.n_features_in_)
        rows = as_rows(X)
        anything = isinstance(X, Rows) and X.origin and X.origin[1] is None  # columns that nobody asked for by name
        there = list(rows.names or ())
        if not anything or names is None or not set(names) <= set(there) or list(names) == there:
            return rows
        return choose(rows, list(names), [], "error")

    def _columns(self, X: Any, rows: Rows, reset: bool) -> None:
        """Remember, or compare, how many columns there are and their names."""
        repeated = rows.names is not None and len(set(rows.names)) < len(rows.names)
        if (isinstance(X, str | PathLike | Rows) or is_anndata(X)) and not repeated:
            self._columns_by_name(rows, reset)
            return
        if repeated:
            # scikit-learn refuses tables whose names repeat; here their positions tell the columns apart.
            X = np.broadcast_to(0.0, rows.shape)
        validate_data(cast(Any, self), X, reset=reset, skip_check_array=True)

    def _columns_by_name(self, rows: Rows, reset: bool) -> None:
        """The same for sources that scikit-learn does not know: files, and AnnData objects."""
        known = self.__dict__.get("feature_names_in_")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            validate_data(cast(Any, self), np.broadcast_to(0.0, rows.shape), reset=reset, skip_check_array=True)
        if rows.names is None:
            return
        if reset:
            if all(isinstance(name, str) for name in rows.names):
                self.feature_names_in_ = np.array(rows.names, dtype=object)
        elif known is not None and list(known) != list(rows.names):
            j = next(j for j, name in enumerate(rows.names) if name != known[j])
            raise DataError(
                f"the columns are not those the model was learned from: column {j} is {rows.names[j]!r} instead of "
                f"{known[j]!r}; bring them into that order first"
            )

    def _columns_alone(self, X: Any) -> None:
        """Compare the columns of data without rows."""
        table = X.var.iloc[:, :0].T if is_anndata(X) else X
        validate_data(cast(Any, self), table, reset=False, skip_check_array=True)

    def _column_name(self, j: int) -> str:
        names = self.__dict__.get("feature_names_in_")
        return str(j) if names is None else repr(names[j])

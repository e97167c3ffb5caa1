"""What those who ask about a fitted PCA need of it, from left of the estimators: its subspace, rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ritz.errors import DataError
from ritz.rows import Rows, is_dask
from ritz.rows.columns import model_columns
from ritz.spectrum.subspace import Subspace


def is_pca(model: Any) -> bool:
    """Whether it is a PCA, fitted or not."""
    return hasattr(type(model), "left_singular_vectors")


def subspace_of(model: Any, what: str) -> Subspace:
    """The subspace of a fitted PCA, in the units and the type that the mathematics has; an error that says what needs
    it.

    Examples
    --------
    >>> from ritz import PCA
    >>> subspace_of(PCA(1).fit([[1.0, 2.0], [3.0, 5.0]]), "bootstrap").axes.shape
    (2, 1)
    >>> subspace_of("a model", "bootstrap")
    Traceback (most recent call last):
    ...
    ritz.errors.DataError: bootstrap takes a fitted ritz.PCA, not a 'str'
    """
    if isinstance(model, Subspace):
        return model
    if not is_pca(model):
        raise DataError(f"{what} takes a fitted ritz.PCA, not a {type(model).__name__!r}")
    model._check_fitted()
    found: Subspace = model.subspace_
    return found


def rows_of(model: Any, X: Any) -> Rows:
    """Rows for a fitted model: columns are compared with those of the fit, whatever X is."""
    found: Rows = model._known(X)
    return found


def column_names(model: Any) -> list[str]:
    """What the columns of a fitted model are called: by their names, or by position as scikit-learn does.

    Examples
    --------
    >>> from ritz import PCA
    >>> column_names(PCA(1).fit([[1.0, 2.0], [3.0, 5.0]]))
    ['x0', 'x1']
    """
    known = model_columns(model)
    return [f"x{j}" for j in range(model.n_features_in_)] if known is None else known


def row_names(X: Any, rows: Rows) -> Sequence[Any]:
    """What the rows of X are called: by the index of a table of pandas, by the names that a file has, or by their
    numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> from ritz.rows import as_rows
    >>> X = pd.DataFrame({"height": [1.7, 1.8]}, index=["Ann", "Bob"])
    >>> row_names(X, as_rows(X)), row_names(X.to_numpy(), as_rows(X.to_numpy()))
    (['Ann', 'Bob'], range(0, 2))
    """
    index = getattr(X, "index", None)
    if hasattr(type(X), "iloc") and not is_dask(X) and index is not None and len(index) == rows.shape[0]:
        counted = hasattr(index, "step")  # numbers, which need not be listed
        return range(index.start, index.stop, index.step) if counted else list(index)
    names = rows.row_names
    if names is not None:
        return list(map(str, names if rows.kept is None else names[rows.kept]))
    return range(rows.shape[0]) if rows.kept is None else list(map(int, rows.kept))

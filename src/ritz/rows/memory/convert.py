"""Lists of lists and anything else with `__array__`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.rows.large_integers import check_numbers
from ritz.rows.memory.array import ArrayRows


class Convertible(ArrayRows):
    """An object that NumPy turns into an array, once, when it is opened."""

    def __init__(self, source: Any) -> None:
        try:
            X = np.asarray(source)
        except ValueError as error:
            if not isinstance(source, list | tuple):
                raise
            raise DataError(f"rows must have equal lengths, and pictures equal sizes: {error}") from error
        if X.dtype == object and not X.ndim:
            raise TypeError(f"cannot read rows from a {type(source).__name__}; pass a 2-D array or a table")
        if X.dtype.kind == "f" and X.ndim == 2 and not hasattr(source, "__array__"):
            _check_given(source, X)
        super().__init__(X)

    @classmethod
    def opens(cls, source: object) -> bool:
        return True


def _check_given(source: Any, X: NDArray[np.floating]) -> None:
    """Beside floats, NumPy makes floats of the integers in lists."""
    d = X.shape[1]
    check_numbers(X.ravel(), lambda i: _item(_item(source, i // d), i % d), lambda i: f"column {i % d}")


def _item(items: Any, i: int) -> Any:
    return items[i] if isinstance(items, list | tuple) else np.asarray(items)[i]

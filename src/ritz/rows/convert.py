"""Lists of lists and anything else with `__array__`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.rows.array import Array


class Convertible(Array):
    """An object that NumPy turns into an array, once, when it is opened."""

    def __init__(self, source: Any) -> None:
        try:
            X = np.asarray(source)
        except ValueError as error:
            if not isinstance(source, list | tuple):
                raise
            raise DataError(f"rows must have equal lengths, and pictures equal sizes: {error}") from error
        if X.dtype == object and not X.ndim:
            raise TypeError(f"cannot walk the rows of a {type(source).__name__}; pass a 2-D array or a table")
        super().__init__(X)

    @classmethod
    def opens(cls, source: object) -> bool:
        return True

"""From immutable objects to a tree of JSON and named tensors."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.runtime.files.container import Tensors

LARGEST_INTEGER = 1 << 63  # what other languages can read


def stored_fields(kind: Any) -> list[dataclasses.Field[Any]]:
    """The fields of a class that files keep: all but those with the metadata stored=False, which follow from others."""
    return [field for field in dataclasses.fields(kind) if field.init and field.metadata.get("stored", True)]


class Encoder:
    """Objects of these kinds become tables, arrays become tensors named by the path to them.

    What appears twice is stored once: an array by its name, an object by the path at which it stood first.
    """

    def __init__(self, kinds: Collection[type]) -> None:
        self._kinds = kinds
        self._paths: dict[int, str] = {}
        self.tensors: Tensors = {}

    def encoded(self, value: Any, at: str = "") -> Any:
        """The node of the tree that stands for a value."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int):
            if not -LARGEST_INTEGER <= value < LARGEST_INTEGER:
                raise DataError(f"{at}={value} is beyond the integers of 64 bits that a model file holds")
            return int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else str(value)
        if isinstance(value, np.ndarray):
            return self._array(value, at)
        if isinstance(value, tuple):
            return self._several(value, at)
        if type(value).__module__.startswith("scipy.sparse"):
            return self._sparse(value, at)
        return self._object(value, at)

    def _array(self, array: NDArray[Any], at: str) -> dict[str, str]:
        """The name of a tensor. Arithmetic rounds by the order in memory, so that is kept beside it."""
        if id(array) not in self._paths:
            self._paths[id(array)] = at
            self.tensors[at] = array
        node = {"tensor": self._paths[id(array)]}
        steps = [abs(step) for step in array.strides]
        return node | {"order": "F"} if array.ndim == 2 and steps[0] < steps[1] else node

    def _several(self, values: tuple[Any, ...], at: str) -> Any:
        """A list; or, of named tuples, a table with a tensor for every field."""
        if not values or not hasattr(values[0], "_fields"):
            return [self.encoded(value, f"{at}.{i}") for i, value in enumerate(values)]
        columns = {name: np.array([getattr(row, name) for row in values]) for name in values[0]._fields}
        return {"table": {name: self._array(column, f"{at}.{name}") for name, column in columns.items()}}

    def _sparse(self, matrix: Any, at: str) -> dict[str, Any]:
        parts = {name: self._array(getattr(matrix, name), f"{at}.{name}") for name in ("data", "indices", "indptr")}
        return {"sparse": type(matrix).__name__, "shape": list(map(int, matrix.shape)), **parts}

    def _object(self, value: Any, at: str) -> dict[str, Any]:
        if id(value) in self._paths:
            return {"same": self._paths[id(value)]}
        if type(value) not in self._kinds:
            raise DataError(
                f"{at}={value!r} cannot be kept in a model file, which holds numbers, names and objects of ritz alone; "
                "change it with set_params, or use pickle or joblib between trusted programs"
            )
        self._paths[id(value)] = at
        names = [field.name for field in stored_fields(value)]
        parts = {name: self.encoded(getattr(value, name), f"{at}.{name}" if at else name) for name in names}
        return {"kind": type(value).__name__, **parts}

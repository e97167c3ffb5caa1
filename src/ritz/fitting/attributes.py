"""Fitted attributes: a table for each model says how every one of them follows from its frozen state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

import numpy as np

from ritz.linalg.dense import Array

Table = Mapping[str, Callable[[Any], Any]]
ABSENT = object()  # what this fit does not have


def optional(name: str) -> Callable[[Any], Any]:
    """A part of the state that not every fit has."""
    part = attrgetter(name)

    def found(state: Any) -> Any:
        value = part(state)
        return ABSENT if value is None else value

    return found


def attributes(table: Table, state: Any) -> dict[str, Any]:
    """All attributes that this fit has."""
    with np.errstate(over="ignore", under="ignore"):
        found = {name: value(state) for name, value in table.items()}
    return {name: value for name, value in found.items() if value is not ABSENT}


def as_result(values: Array, dtype: str | np.dtype[Any]) -> Array:
    """Values in that type, or in float64 where it has no room for them, or not for all their digits."""
    sizes, limits = np.abs(values), np.finfo(dtype)
    outside = ((sizes > limits.max) & (sizes < np.inf)) | ((sizes < limits.tiny) & (sizes > 0))
    return values.astype(np.float64 if outside.any() else dtype)

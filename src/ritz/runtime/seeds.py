"""Seeds: what `random_state` may be, as an integer."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.errors import ParameterError
from ritz.runtime.rules import is_integer


def seed_of(random_state: Any) -> int:
    """An integer seed; None is a fixed one, so that the same data gives the same answer.

    Examples
    --------
    >>> seed_of(None), seed_of(7)
    (0, 7)
    """
    if random_state is None:
        return 0
    if is_integer(random_state) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(1 << 31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(1 << 31))
    raise ParameterError("random_state", random_state, "must be an integer >= 0, a Generator, a RandomState or None")

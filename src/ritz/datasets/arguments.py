"""What is asked of the arguments: counts, seeds, and results that fit into memory."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from ritz.errors import DataError

MOST = 1 << 31  # bytes of a result
SEEDS = 1 << 32  # of NumPy's RandomState


def counted(name: str, value: object) -> int:
    """A number of things, one at least."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} must be an integer >= 1")
    return int(value)


def check_room(what: str, *sides: int) -> None:
    """Whether an array with these sides is of a size that anybody wants."""
    if np.prod(np.array(sides, dtype=object)) * 8 > MOST:
        raise DataError(f"{what} take more than 2 GB; ask for fewer or smaller ones")


def generator(random_state: object, *stream: int) -> np.random.RandomState:
    """Random numbers that are the same in every version of NumPy, which keeps those of this generator as they are.

    `stream` tells apart several generators of the same seed.
    """
    if not isinstance(random_state, Integral) or isinstance(random_state, bool) or not 0 <= int(random_state) < SEEDS:
        raise ValueError(f"random_state={random_state!r} must be an integer, 0 <= random_state < 2**32")
    return np.random.RandomState([int(random_state), *stream])

"""What is asked of the arguments: counts, seeds, and results that fit into memory."""

from __future__ import annotations

import numpy as np

from ritz.errors import DataError
from ritz.runtime.rules import Rule, integer, is_integer

MOST = 1 << 31  # bytes of a result
COUNT = integer(1)
SEED = Rule(
    lambda value: is_integer(value) and 0 <= int(value) < 1 << 32,  # those of NumPy's RandomState
    "must be an integer, 0 <= random_state < 2**32",
)


def counts(**given: int) -> list[int]:
    """Numbers of things, one at least of each."""
    for name, value in given.items():
        COUNT.check(name, value)
    return [int(value) for value in given.values()]


def check_room(what: str, *sides: int) -> None:
    """Whether an array with these sides is of a size that anybody wants."""
    if np.prod(np.array(sides, dtype=object)) * 8 > MOST:
        raise DataError(f"{what} take more than 2 GB; ask for fewer or smaller ones")


def generator(random_state: int, *stream: int) -> np.random.RandomState:
    """Random numbers that are the same in every version of NumPy, which keeps those of this generator as they are.

    `stream` tells apart several generators of the same seed.
    """
    SEED.check("random_state", random_state)
    return np.random.RandomState([int(random_state), *stream])

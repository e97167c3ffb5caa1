"""Digits: how exact numbers are, as far as they tell by their type and by where they end."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.linalg.dense import Array

MOST = 7  # digits that people round to; numbers with more were computed and not rounded
DECIMALS = 2  # numbers with fewer may be exact, such as 0.6 and 0.8


def unit(array: Array) -> float:
    """The rounding of the type; that of float32 too where float64 holds nothing that float32 does not."""
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:
        return float(np.finfo(array.dtype).eps)
    with np.errstate(over="ignore"):
        narrow = np.array_equal(array, array.astype(np.float32)) and not np.array_equal(array, array.astype(np.float16))
    return float(np.finfo(np.float32 if narrow else np.float64).eps)


def grain(array: Array, fewest: int) -> Array:
    """Half of the last digit of every number, where all were rounded to a few decimals, or to a few significant digits,
    at least so many; else 0.

    Examples
    --------
    >>> import numpy as np
    >>> grain(np.array([7010.0, 202.0, 42.1, 6.16]), 3)
    array([5.   , 0.5  , 0.05 , 0.005])
    >>> grain(np.array([1 / 3, 2.0]), 3)
    array([0., 0.])
    """
    numbers = array if array.dtype.kind == "f" else array.astype(float)
    return np.maximum(_of_decimals(numbers), _of_significant(numbers, fewest))


def _of_decimals(numbers: Array) -> Array:
    if np.array_equal(np.round(numbers, DECIMALS - 1), numbers):
        return np.zeros(numbers.shape)
    found = (p for p in range(DECIMALS, MOST + 1) if np.array_equal(np.round(numbers, p), numbers))
    decimals = next(found, None)
    return np.full(numbers.shape, 0.0 if decimals is None else 0.5 * 10.0**-decimals)


def _of_significant(numbers: Array, fewest: int) -> Array:
    most = 0
    for number in numbers.flat:  # ends at the first one that was not rounded
        most = max(most, _count(number))
        if most > MOST:
            break
    if not fewest <= most <= MOST:
        return np.zeros(numbers.shape)
    sizes = np.abs(numbers.astype(float))
    places = np.floor(np.log10(np.where(sizes > 0, sizes, 1.0)))
    return np.where(sizes > 0, 0.5 * 10.0 ** (places - most + 1), 0.0)


def _count(number: Any) -> int:
    """Significant digits of the shortest decimal number that stands for it in its type."""
    digits = np.format_float_scientific(number, trim="-").partition("e")[0]
    return len(digits.lstrip("-").replace(".", ""))

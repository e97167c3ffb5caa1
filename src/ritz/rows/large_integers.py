"""Integers that float64 cannot hold: refused wherever they would be rounded, whatever they come in.

Up to 2⁵³ float64 holds every integer, beyond only some: 2⁶⁰, but not 2⁶⁰ + 1. The mean of a model, its scores and what
it rebuilds are float64, so that stamps in nanoseconds would come out wrong by more than they vary.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError

Where = str | Callable[[int], str]  # how a message calls what the numbers belong to, all of them or the i-th

LIMIT = 1 << 53
PLAIN = re.compile(r"[+-]?[0-9.]+")  # a number without an exponent


def is_wide(dtype: np.dtype[Any]) -> bool:
    """Whether a type holds integers beyond 2⁵³."""
    return dtype.kind in "iu" and dtype.itemsize > 4


def check_integers(values: NDArray[Any], where: Where) -> None:
    """Refuse integers of which float64 cannot hold one; ordinary ones cost a look or two."""
    if not is_wide(values.dtype) or all_small(values):
        return
    wrong = ~held_by_float(values)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise refusal(int(values.flat[i]), where, i)


def check_block(block: Any, name: Callable[[int], str]) -> None:
    """The same of a matrix, dense or sparse, whose columns have names."""
    if isinstance(block, np.ndarray):
        check_integers(block, lambda i: f"column {name(i % block.shape[1])}")
    else:
        check_integers(block.data, lambda i: f"column {name(int(block.indices[i]))}")


def check_numbers(found: NDArray[Any], given: Callable[[int], Any], where: Where) -> None:
    """Refuse numbers beyond 2⁵³ that were rounded to become `found`; given(i) is the i-th as it was."""
    for i in np.flatnonzero(is_large(found)):
        value = given(int(i))
        if is_rounded(value):
            raise refusal(value, where, int(i))


def all_small(values: NDArray[Any]) -> bool:
    """Whether all numbers are below 2⁵³, and none is missing: nothing is quicker to ask."""
    if not values.size:
        return True
    # Bits that any of them has take half the time of the least and the largest, and settle it unless one is negative.
    if values.dtype.kind in "iu" and 0 <= int(np.bitwise_or.reduce(values, axis=None)) < LIMIT:
        return True
    return bool(values.min() > -LIMIT and values.max() < LIMIT)


def is_large(found: NDArray[Any]) -> NDArray[np.bool_]:
    """Which floats may have been another number before; 2⁵³ may have been 2⁵³ + 1."""
    return np.abs(found.astype(np.float64, copy=False)) >= LIMIT


def is_rounded(value: Any) -> bool:
    """Whether a number beyond 2⁵³, such as an integer or a decimal, is another one in float64; no float is."""
    value = value.item() if hasattr(value, "item") else value  # which compares as Python does, exactly
    return not isinstance(value, float | np.floating) and bool(abs(value) >= LIMIT and value != float(value))


def exact_number(cell: str, decimal: str = ".") -> Decimal | float:
    """The number in a text, with all its digits; one with an exponent is a float, as programs write them."""
    cell = cell.replace(decimal, ".")
    return Decimal(cell) if PLAIN.fullmatch(cell) else float(cell)


def held_by_float(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which integers float64 holds: those with at most 53 bits from the first to the last that is 1."""
    bits = values.astype(np.uint64)
    size = np.where(values < 0, ~bits + np.uint64(1), bits)
    last = np.maximum(size & (~size + np.uint64(1)), np.uint64(1))
    return size // last <= LIMIT


def refusal(value: Any, where: Where, i: int = 0) -> DataError:
    """What to say of a number that would be rounded."""
    return DataError(
        f"{where if isinstance(where, str) else where(i)} holds {value}, which float64 cannot hold: beyond 2**53 = "
        f"{LIMIT} not every integer is exact there",
        "subtract an offset first, for instance the first value, or take a coarser unit",
        "large_integer",
    )

"""Numbers as m·2^e, for rows and products whose size, or its square, float64 has no number for."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import AccuracyWarning
from ritz.linalg.arrays import all_finite, beside, in_type, on_host
from ritz.linalg.dense import Array

Exponents = NDArray[np.integer]

ORDINARY = (1e-270, 1e270)  # sizes of rows that need no care
NONE = -(1 << 20)  # the exponent of 0: below all others


def by_rows(mantissas: Array, exponents: Exponents) -> tuple[Array, Exponents]:  # (m, d), (m, d) -> (m, d), (m,)
    """The same numbers in a unit for every row, a power of two near its largest."""
    largest = np.where(mantissas != 0, exponents, NONE).max(axis=1)
    largest = np.where(largest == NONE, 0, largest)
    return times_power(mantissas, exponents - largest[:, None]), largest


def differences(X: Array, mean: Array | None, remainder: Array | None, scale: Array | None) -> tuple[Array, Exponents]:
    """(x − mean)/scale of rows, each in a unit of its own, given by its exponent; the mean in two words."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        Z = X.astype(np.float64) if mean is None else X.astype(np.float64) - mean
        over = np.isinf(Z) & np.isfinite(X)
        if mean is not None and over.any():  # halves of huge numbers have a difference
            Z = np.where(over, X * 0.5 - mean * 0.5, Z)
        if remainder is not None:
            Z -= np.where(over, remainder * 0.5, remainder)
    mantissas, exponents = np.frexp(Z)
    exponents = exponents.astype(np.int64) + over
    if scale is not None:
        divisors, powers = np.frexp(scale)
        mantissas, exponents = mantissas / divisors, exponents - powers
    return by_rows(mantissas, exponents)


def sums(Y: Array, weight: Array | float, axes: Array, mean: Array | None, scale: Array | None, power: int) -> Array:
    """scale ⊙ (U (y ⊙ weight))·2^power + mean of rows y of any size; infinite where that leaves float64."""
    mantissas, exponents = np.frexp(Y.astype(np.float64))
    small, largest = by_rows(mantissas * weight, exponents.astype(np.int64))
    X, powers = small @ axes.T, largest[:, None] + power
    if scale is not None:
        factors, more = np.frexp(scale)
        X, powers = X * factors, powers + more
    X = times_power(X, powers)
    return X if mean is None else X + mean


def mapped(f: Callable[[Array], Array], X: Array) -> Array:
    """f of rows, a linear one, which sees none so large or so small that its sums would leave float64."""
    sizes = sizes_of(X)
    if not len(outside_of(sizes[sizes > 0], *ORDINARY)):
        return f(X)
    powers = np.frexp(sizes)[1].astype(np.int64)[:, None]
    return np.asarray(times_power(f(times_power(X, -powers)), powers))


def between(S: Array, scale: Array | None, power: int, inverse: bool = False) -> Array:
    """s_ij·scale_i·scale_j·2^power, or with the inverses of the scales; infinite or 0 where that leaves float64."""
    if scale is None:
        return times_power(S, power)
    factors, exponents = np.frexp(scale)
    exponents = exponents.astype(np.int64)
    if inverse:
        factors, exponents = 1 / factors, -exponents
    return times_power(S * factors * factors[:, None], exponents + exponents[:, None] + power)


def times_power(values: Any, powers: Any) -> Any:
    """values·2^powers, in the shape of the values."""
    if not (powers if isinstance(powers, int) else np.any(powers)):
        return values
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(values, np.clip(powers, -4000, 4000))


def sizes_of(X: Array) -> Array:  # (m, d) -> (m,)
    """The largest magnitude in every row, without a copy of them all."""
    return np.maximum(X.max(axis=1), -X.min(axis=1))


def rows_outside(X: Array, least: float, most: float = np.inf) -> NDArray[np.intp]:
    """Rows whose largest numbers are so large or small that they need a unit of their own.

    Ordinary ones are told by their first number: NumPy is slow to look along short rows.
    """
    if X.shape[1] and -most < X.min(initial=0.0) and X.max(initial=0.0) < most:
        (doubtful,) = (~(np.abs(X[:, 0]) > least)).nonzero()
        return doubtful[outside_of(sizes_of(X[doubtful]), least, most)] if len(doubtful) else doubtful
    return outside_of(sizes_of(X), least, most)


def outside_of(sizes: Array, least: float, most: float = np.inf) -> NDArray[np.intp]:
    """Rows with numbers of these sizes that are so large or small that they need a unit of their own."""
    return np.flatnonzero(~((sizes > least) & (sizes < most)))


def delivered(values: Array, dtype: np.dtype[Any]) -> Array:
    """Results in their type; a warning where they are too large for it."""
    if values.dtype == dtype:
        return values
    with np.errstate(over="ignore", under="ignore"):
        out = values.astype(dtype)
    if np.isinf(out).any() and not np.isinf(values).all(where=np.isinf(out)):
        problem = f"some results are beyond the range of {dtype} and infinite there"
        warnings.warn(AccuracyWarning(problem, "pass float64 data", "out_of_range"), stacklevel=2)
    return out


def narrowed(exact: Any, dtype: np.dtype[Any]) -> Any:
    """Results on a device in their type; where that has no room for them, as it is done on the CPU."""
    out = in_type(exact, dtype)
    return out if out is exact or all_finite(out) else beside(delivered(on_host(exact), dtype), exact)

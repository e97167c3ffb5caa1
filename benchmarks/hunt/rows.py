"""Random rows: of every shape of spectrum, far from 0 or not, of any magnitude, as any dtype."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Draw = np.random.Generator

SPECTRA: list[Callable[[Draw, int], Array]] = [
    lambda draw, m: np.arange(1.0, m + 1) ** -draw.uniform(0.1, 3),
    lambda draw, m: np.exp(-np.arange(m) * draw.uniform(0.01, 3)),
    lambda draw, m: np.ones(m),
    lambda draw, m: np.append(1.0, 10.0 ** -draw.uniform(0, 8) / np.arange(1, m)),
    lambda draw, m: np.repeat(10.0 ** -np.arange(m // 3 + 1.0), 3)[:m],
    lambda draw, m: np.sort(draw.uniform(0.1, 1, m) * (np.arange(m) < draw.integers(1, m + 1)))[::-1],
    lambda draw, m: 1 + 1e-6 * draw.standard_normal(m),
    lambda draw, m: 10.0 ** -draw.uniform(0, 9, m),
    lambda draw, m: np.where(np.arange(m) < 5, 1.0, 10.0 ** -draw.uniform(1, 7)),
    lambda draw, m: np.linspace(1, 0.01, m),
    lambda draw, m: np.r_[1.0, 1 - 10.0 ** -draw.uniform(3, 14), np.full(max(m - 2, 0), 0.1)][:m],
    lambda draw, m: np.abs(draw.standard_normal(m)),
]


def spectrum(draw: Draw, m: int) -> Array:
    """m singular values of one of the kinds above."""
    return SPECTRA[draw.integers(len(SPECTRA))](draw, m)


def orthonormal(draw: Draw, n: int, m: int) -> Array:
    """n × m, orthonormal columns."""
    return np.linalg.qr(draw.standard_normal((n, m)))[0]


def low_rank(draw: Draw, n: int, d: int) -> Array:
    """n × d with a spectrum of one of the kinds above."""
    m = min(n, d)
    return (orthonormal(draw, n, m) * spectrum(draw, m)) @ orthonormal(draw, d, m).T


def rows(draw: Draw, n: int, d: int) -> Array:
    """Rows of any spectrum, magnitude and offset."""
    kind = draw.integers(5)
    if kind == 0:
        X = draw.standard_normal((n, d)) * draw.uniform(0.01, 1, d)
    elif kind == 1:
        X = draw.standard_normal((n, d)) / np.arange(1, d + 1) ** draw.uniform(0, 2)
    elif kind == 2:  # few different rows
        X = draw.standard_normal((n, d))[draw.integers(0, max(n // 2, 1), n)]
    else:
        X = low_rank(draw, n, d)
    X = X * 10.0 ** (draw.integers(-3, 4) if draw.random() < 0.8 else draw.integers(-120, 120))
    if draw.random() < 0.5:
        offsets = 1.0 if draw.random() < 0.5 else draw.standard_normal(d)
        X = X + draw.choice([1, 3, 1e3, 1e6, 1e8]) * np.abs(X).max() * offsets
    return X


def shape(draw: Draw) -> tuple[int, int]:
    """Mostly small, so that many fits are tried; one in twenty is large enough for blocks and iterations."""
    if draw.random() < 0.05:
        return int(draw.integers(100, 500)), int(draw.integers(100, 900))
    return int(draw.integers(60, 400) if draw.random() < 0.2 else draw.integers(2, 60)), int(draw.integers(1, 60))


def cast(draw: Draw, X: Array) -> NDArray[np.generic]:
    """The rows in one of the dtypes that users have, moved into its range."""
    dtype = draw.choice(["f8", "f8", "f8", "f4", "f4", "f2", "i4", "i8", "u1"])
    largest = np.abs(X).max() or 1.0
    with np.errstate(all="ignore"):
        moved = {
            "f8": X,
            "f4": X,
            "f2": X / largest * 100,
            "i4": np.round(X / largest * 10.0 ** draw.integers(1, 6)),
            "i8": np.round(X / largest * 10.0 ** draw.integers(1, 6)),
            "u1": np.round((X - X.min()) / (np.ptp(X) or 1.0) * 255),
        }[dtype].astype(dtype)
    fits = np.isfinite(moved.astype(float)).all() and (moved.dtype.kind != "f" or np.abs(moved).max() > 1e-25)
    return moved if fits else X


def any_rows(draw: Draw) -> NDArray[np.generic]:
    """All of the above."""
    return cast(draw, rows(draw, *shape(draw)))

"""The exact fast bootstrap of few rows (Fisher, Caffo, Schwartz and Zipunnikov, JASA 111, 2016).

All resamples lie in the space of the rows, which n − 1 coordinates describe: a decomposition of the n×n Gram matrix
finds them once, and every resample is then a problem of the size of its rows, however many columns there are. Where
every resample has its own scales, the columns themselves are needed, and are held.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.dense import Array, eigh_descending
from ritz.runtime.threads import in_order, pinned
from ritz.sampling.resamples import BLOCK, Resamples
from ritz.sampling.rows_of_fit import RowsOfFit

TINY = 64 * float(np.finfo(float).eps)  # times n: of the largest value of the Gram matrix, below which it has none
FLAT = 1e-10  # of the variance of a column, below which a resample has left none of it
MANY = 500  # rows whose inner products are kept
TOGETHER = 1 << 21  # entries of axes that are held at a time


class Draw(NamedTuple):
    """The covariance of some resamples: values, total variances and axes in coordinates."""

    values: Array  # (c, k)
    totals: Array  # (c,)
    axes: Array  # (c, r, k)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Rows in r coordinates.

    Attributes
    ----------
    rows : (n, r) their coordinates
    fit : (r, k) the axes of the fit
    dual : (n, r) what makes directions in the columns of combinations of rows, Zᵀ dual; None where coordinates are
        columns
    inner : (n, n) inner products of many rows, which are quicker picked than computed again; None of few
    """

    rows: Array
    fit: Array
    dual: Array | None
    inner: Array | None = None


def in_row_space(fit: RowsOfFit) -> Coordinates:
    """From the Gram matrix: Z = W Vᵀ with orthonormal V, of which Zᵀ dual is all that is ever formed."""
    K = fit.Z.gram() * fit.Z.divisor
    values, P = eigh_descending(K)
    r = max(1, int(np.count_nonzero(values > TINY * len(values) * values[0]))) if values[0] > 0 else 1
    roots = np.sqrt(np.maximum(values[:r], 0.0))
    dual = P[:, :r] * np.divide(1.0, roots, out=np.zeros(r), where=roots > 0)
    with pinned():
        inner = K if len(K) > MANY else None
        return Coordinates(P[:, :r] * roots, dual.T @ fit.Z.project(fit.subspace.axes), dual, inner)


def in_columns(fit: RowsOfFit) -> Coordinates:
    """The preprocessed rows themselves."""
    return Coordinates(fit.Z.dense(), fit.subspace.axes, None)


def decomposed(fit: RowsOfFit, found: Coordinates, draws: Resamples, rescaled: bool) -> Generator[Draw, None, None]:
    """Every resample, some at a time; with `rescaled` each has scales of its own."""
    n, k = fit.n, fit.k
    W = np.column_stack([draws.block(at, min(at + BLOCK, n)) for at in range(0, n, BLOCK)])
    step = max(1, min(64, TOGETHER // (found.rows.shape[1] * k)))

    def some(first: int) -> Draw:
        made = [_one(fit, found, w, rescaled) for w in W[first : first + step]]
        return Draw(*(np.stack(part) for part in zip(*made, strict=True)))

    yield from in_order(some, list(range(0, draws.count, step)), pinned.budget())


def _one(fit: RowsOfFit, found: Coordinates, w: Array, rescaled: bool) -> tuple[Array, Array, Array]:
    """One resample: its variances, their sum, and its axes; those without variance are 0."""
    there = np.flatnonzero(w)
    share = w[there] / w.sum()
    T = found.rows[there]
    if fit.centred:
        T -= share @ T
    if rescaled:
        variances = share @ np.square(T) * (fit.n / fit.Z.divisor)
        T *= np.where(variances > FLAT, 1.0 / np.sqrt(np.maximum(variances, FLAT)), 0.0)
    T *= np.sqrt(share * (fit.n / fit.Z.divisor))[:, None]
    (m, r), k = T.shape, fit.k
    small: Array
    if m > r:
        small = T.T @ T
    elif found.inner is None:
        small = T @ T.T
    else:
        small = _picked(found.inner, there, share, fit.centred, fit.n / fit.Z.divisor)
    total = np.trace(small)
    values, vectors = eigh_descending(small, min(k, len(small)))
    values = np.maximum(values, 0.0)
    seen = values > TINY * len(small) * values[0]
    axes = np.zeros((r, k))
    if m <= r:
        vectors = T.T @ (vectors[:, seen] / np.sqrt(values[seen]))
        axes[:, : vectors.shape[1]] = vectors
    else:
        axes[:, : int(seen.sum())] = vectors[:, seen]
    out = np.zeros(k)
    out[: len(values)] = np.where(seen, values, 0.0)
    return out, total, axes


def _picked(K: Array, there: NDArray[np.intp], share: Array, centred: bool, factor: float) -> Array:
    """Inner products of the rows of a resample, about its mean and weighted, from those of all rows."""
    small = K[np.ix_(there, there)]
    if centred:
        mean = small @ share
        small += share @ mean - mean - mean[:, None]
    root = np.sqrt(share * factor)
    small *= root
    small *= root[:, None]
    return small

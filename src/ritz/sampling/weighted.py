"""The bootstrap of tall rows: one pass gives the weighted scatters of all resamples.

Every scatter is a sum over rows of weight times z zᵀ. With the products of a block's coordinates packed into a matrix
(m, r(r+1)/2), one product with the weights (B, m) adds to all B of them at once: what is kept does not grow with n, and
sums over blocks can be merged.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from ritz.fitting.request import Request
from ritz.linalg.dense import Array
from ritz.pca.from_rows import from_rows
from ritz.rows.base import Block
from ritz.runtime.threads import in_order, pinned
from ritz.sampling.resamples import BLOCK, Resamples
from ritz.sampling.rows_of_fit import RowsOfFit

FLAT = 1e-10  # of the variance of a column, below which a resample has left none of it
HELD = 1 << 23  # entries of the sums that are held at a time
PRODUCTS = 1 << 20  # entries of the products of a block
SHARES = 8  # parts of the resamples that threads work on: fixed, so that sums do not depend on their number


@dataclass(frozen=True, eq=False)
class Basis:
    """The coordinates in which the covariance of a resample is formed.

    Attributes
    ----------
    fit : (r, k) axes of the fit in these coordinates
    axes : (d, r), what rows are multiplied by; None where the coordinates are the columns themselves
    back : (d, r), directions in the columns that the coordinates stand for
    """

    fit: Array
    axes: Array | None = None
    back: Array | None = None

    @property
    def size(self) -> int:
        return len(self.fit)

    def coordinates(self, fit: RowsOfFit) -> Callable[[Block], Array]:
        """Those of the rows of a block."""
        prepare, axes = fit.Z.prepare, self.axes
        if axes is None:
            return lambda block: prepare(block)
        return lambda block: prepare.times(block, axes)


def covariances(fit: RowsOfFit, basis: Basis, draws: Resamples) -> Generator[Array, None, None]:
    """Covariances of the resamples in the coordinates of the basis, (c, r, r) for some of them at a time."""
    r = basis.size
    step = max(1, HELD // (r * (r + 1) // 2 + r))
    for first in range(0, draws.count, step):
        yield _finished(fit, r, *_sums(fit, basis, draws, slice(first, min(first + step, draws.count))))


def columns(fit: RowsOfFit) -> Basis:
    """The columns themselves: nothing is left out."""
    return Basis(fit.subspace.axes)


def leading(fit: RowsOfFit, size: int, others: int, share: float, seed: int) -> Basis:
    """The axes of the fit, further leading directions, and random combinations of all others, which keep in the mean
    that share of their variance and of how it goes with the scores."""
    subspace, (d, k) = fit.subspace, fit.subspace.axes.shape
    request = Request(
        n_components=size, center=fit.centred, scale=fit.scaled, ddof=subspace.ddof, solver="krylov", tol=1e-2
    )
    found = from_rows(fit.Z.rows, request).subspace.axes
    with pinned():
        rest = found - subspace.axes @ (subspace.axes.T @ found)
        U, size_of, _ = np.linalg.svd(rest, full_matrices=False)
        lead = np.column_stack([subspace.axes, U[:, : size - k][:, size_of[: size - k] > 1e-6]])
        some = np.random.default_rng([seed, d]).standard_normal((d, others))
        for _ in range(2):
            some -= lead @ (lead.T @ some)
        Q, _ = np.linalg.qr(some)
    back = np.column_stack([lead, Q])
    magnified = np.column_stack([lead, Q * np.sqrt(share * (d - lead.shape[1]) / others)])
    return Basis(np.eye(back.shape[1], k), magnified, back)


def _sums(fit: RowsOfFit, basis: Basis, draws: Resamples, some: slice) -> tuple[Array, Array, Array]:
    """Σ w, Σ w y and Σ w y yᵀ, packed, of some resamples: one pass."""
    r, count = basis.size, some.stop - some.start
    upper, lower = np.triu_indices(r)
    mass, first, second = np.zeros(count), np.zeros((count, r)), np.zeros((count, len(upper)))
    parts = [slice(count * i // SHARES, count * (i + 1) // SHARES) for i in range(SHARES)]
    parts = [part for part in parts if part.stop > part.start]
    size = max(16, min(BLOCK, 1 << (max(16, PRODUCTS // len(upper)).bit_length() - 1)))
    rows = fit.Z.rows
    with closing(rows.each(basis.coordinates(fit), columns=None)) as blocks:
        for start, Y in aligned(blocks):
            W = draws.block(start, start + len(Y))[some]
            mass += W.sum(axis=1)
            for at in range(0, len(Y), size):
                y, w = Y[at : at + size], np.ascontiguousarray(W[:, at : at + size])
                products = y[:, upper] * y[:, lower]

                def add(part: slice, y: Array = y, w: Array = w, products: Array = products) -> None:
                    first[part] += w[part] @ y
                    second[part] += w[part] @ products

                for _ in in_order(add, parts, pinned.budget()):
                    pass
    return mass, first, second


def aligned(blocks: Iterator[Array]) -> Iterator[tuple[int, Array]]:
    """The same rows in blocks of `BLOCK`, however they come: where a block begins decides its weights."""
    waiting: list[Array] = []
    start = rows = 0
    for block in blocks:
        waiting.append(np.asarray(block, np.float64))
        rows += len(block)
        if rows >= BLOCK:
            whole = np.concatenate(waiting)
            for at in range(0, rows - BLOCK + 1, BLOCK):
                yield start + at, whole[at : at + BLOCK]
            used = rows // BLOCK * BLOCK
            waiting, start, rows = [whole[used:]], start + used, rows - used
    if rows:
        yield start, np.concatenate(waiting)


def _finished(fit: RowsOfFit, r: int, mass: Array, first: Array, second: Array) -> Array:  # -> (c, r, r)
    """Covariances from sums: about the mean of the resample where rows are centred, divided by its own deviations where
    they are scaled. A column that is constant in a resample has no variance there."""
    upper, lower = np.triu_indices(r)
    C = np.empty((len(mass), r, r))
    second /= mass[:, None]
    C[:, upper, lower] = second
    C[:, lower, upper] = second
    if fit.centred:
        mean = first / mass[:, None]
        C -= mean[:, :, None] * mean[:, None, :]
    C *= fit.n / fit.Z.divisor
    return C


def scaled(C: Array) -> Array:  # (c, d, d) -> (c, d, d)
    """Correlations, in place; 0 for columns without variance."""
    diagonal = np.einsum("cii->ci", C)
    weight = np.where(diagonal > FLAT, 1.0 / np.sqrt(np.maximum(diagonal, FLAT)), 0.0)
    C *= weight[:, :, None]
    C *= weight[:, None, :]
    return C

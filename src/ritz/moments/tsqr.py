"""Tall and skinny QR: moments of rows with their R factor, RᵀR = Σ (x − μ)(x − μ)ᵀ. One pass, nothing squared.

A column of ones is put before the rows. In the R factor of [1, x − shift] the first row is √n (1, δ), with δ what the
shift lacks of the mean, and below it stands the R factor of the centred rows: nothing that was summed is ever
subtracted again. Two R factors stacked upon each other reduce to that of all their rows (TSQR); out of their first rows
that makes √n (1, δ) and the correction row √(n₁n₂/n) (0, δ₁ − δ₂), which holds the spread between the means of the
parts.

What rounding does: the QR of [1, Z] is exact for some [1 + e, Z + E] with ‖Eⱼ‖ ≤ t u ‖zⱼ‖ in every column j, t being
`qr_terms`; ‖e‖ is a few u √n, because sums of ones are exact. Projecting off 1 + e instead of 1, and taking δ
from it, is as if Z were off by 2‖e‖/√n more. Leaves have no rows in common, so that together they are no worse than the
worst of them; each of the merges that follow adds the error of a QR of 2(d + 1) rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce as fold
from typing import Any

import numpy as np

from ritz.linalg.arrays import device_of, namespace
from ritz.linalg.dense import Array, column_squares, gamma, qr_terms, r_factor, terms_of_sum
from ritz.moments.moments import Moments
from ritz.moments.preprocessing import Preprocessing, few_rows, peaks, provisional_mean, units
from ritz.rows import Rows, check_finite
from ritz.rows.base import Block

LEAF_BYTES = 1 << 19  # of rows that are factored at once, so that they stay in cache
DEVICE_LEAF = 8192  # rows that are factored at once on a device, where every call takes longer
LEAF = 4  # but at least so many rows per column, or merging would cost more than the leaves
# Sizes of columns between which reflections lose nothing, and those whose squares and their errors are in range.
EXACT, SQUARED = (1e-140, 1e140), (1e-30, 1e30)
# The R factor of [1, z] of some rows, or of z alone, and how often u of a column's norm it may be off.
Part = tuple[Array, int]


def triangular_moments(rows: Rows, *, center: bool = True, scale: bool = False) -> Moments:
    """Moments with an R factor, in one pass; a second one only for numbers at the ends of the range of float64.

    Parameters
    ----------
    center : subtract the mean; without it RᵀR is Σ x xᵀ and the mean is 0
    scale : whether columns will be scaled to unit variance: weights belong to the columns of R, so nothing else changes

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.rows import as_rows
    >>> m = triangular_moments(as_rows(1e8 + np.array([[1.0], [2.0], [3.0]])))
    >>> round(float(m.triangle[0, 0] ** 2), 12), float(m.mean[0])
    (2.0, 100000002.0)
    """
    d = rows.shape[1]
    shift = provisional_mean(rows, few_rows(rows), np.dtype(np.float64)) if center else np.zeros(d)
    unit: Array = np.ones(d)
    T, terms = _reduced(rows, Preprocessing(shift if center else None), center)
    size = np.abs(T[:, int(center) :]).max(axis=0)
    if not _within(size, SQUARED):
        if not _within(size, EXACT):
            check_finite(rows)
            unit = units(peaks(rows, shift, np.ones(d, bool)))
            T, terms = _reduced(rows, Preprocessing(shift if center else None, None, 1 / unit), center)
        else:
            unit = units(size)
            T[:, int(center) :] /= unit
    delta, R = (T[0, 1:] / T[0, 0], np.ascontiguousarray(T[1:, 1:])) if center else (np.zeros(d), T)
    diagonal = column_squares(R)
    return Moments(
        count=rows.shape[0],
        shift=shift,
        delta=delta,
        scatter=diagonal,
        unit=unit,
        sizes=diagonal + rows.shape[0] * delta**2,
        rounding=2 * gamma(terms),
        scaled=scale,
        centred=center,
        triangle=R,
    )


def leaf_rows(rows: Rows) -> int:
    """How many rows are factored at once."""
    n, d = rows.shape
    if rows.on_device:
        return min(n, max(LEAF * (d + 1), DEVICE_LEAF))
    return min(n, max(LEAF * (d + 1), min(LEAF_BYTES, rows.most_bytes) // (8 * (d + 1))))


def _within(size: Array, limits: tuple[float, float]) -> bool:
    """Whether all sizes but zeros lie between the limits, and none is NaN or infinite."""
    low, high = limits
    if low < size.min() and size.max() < high:
        return True
    return bool(((size == 0) | ((size > low) & (size < high))).all())


def _reduced(rows: Rows, prepare: Preprocessing, center: bool) -> Part:
    """The R factor of all rows, from one pass."""
    size, width = leaf_rows(rows), rows.shape[1] + center

    def run(blocks: Iterable[Block]) -> Part:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            if rows.on_device:
                leaves = _device_leaves(blocks, prepare.beside(rows), size, center)
            else:
                leaves = _leaves(blocks, prepare, rows.buffer("leaf", size, width), int(center))
            return fold(_merged, ((r_factor(leaf), qr_terms(*leaf.shape)) for leaf in leaves))

    return rows.reduce(run, _merged, least=LEAF * width)


def _merged(ours: Part, theirs: Part) -> Part:
    (A, some), (B, others) = ours, theirs
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        T = r_factor(A, B)
    return T, terms_of_sum(some, others, qr_terms(A.shape[0] + B.shape[0], T.shape[1]))


def _leaves(blocks: Iterable[Block], prepare: Preprocessing, leaf: Array, ones: int) -> Iterator[Array]:
    """[1, z] of consecutive rows, as many as the leaf holds; the same memory every time."""
    leaf[:, :ones] = 1.0
    filled = 0
    for block in blocks:
        start = 0
        while start < block.shape[0]:
            part = block[start : start + len(leaf) - filled]
            prepare(part, leaf[filled:, ones:])
            start, filled = start + part.shape[0], filled + part.shape[0]
            if filled == len(leaf):
                yield leaf
                filled = 0
    if filled:
        yield leaf[:filled]


def _device_leaves(blocks: Iterable[Block], prepare: Preprocessing, size: int, center: bool) -> Iterator[Any]:
    """The same of blocks on a device, each of which is cut into leaves of its own."""
    for block in blocks:
        for start in range(0, block.shape[0], size):
            Z: Any = prepare(block[start : min(start + size, block.shape[0]), :])
            xp = namespace(Z)
            ones = [xp.ones((Z.shape[0], 1), dtype=Z.dtype, device=device_of(Z))] if center else []
            yield xp.concat([*ones, Z], axis=1)

"""Bounds for a symmetric matrix with eigenvalues of either sign, ordered by magnitude.

The matrix M = diag(A, −A) has the eigenvalues ±μ of A, so its d largest ones are the magnitudes |μ|, in order. A Ritz
pair (θ, u) of A is one of M, with value |θ| and the same residual, with u on the side of its sign. So all that `bounds`
says of a symmetric matrix holds for M: how many of the values surely are among the k largest magnitudes, and what
follows them. For a single value A itself says more, from either end: the j-th positive one is held against the j-th
largest eigenvalue of A, the j-th negative one against the j-th lowest, with that side's own residuals and gaps.

What lies outside the vectors U is bounded by √(‖A‖² − Σθ²) in the Frobenius norm, by a bound of the norm of A, or by
two Cholesky factorisations, of τI − D and of τI + D, D = A − UΘUᵀ.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.ceiling import proved_ceiling
from ritz.linalg.dense import Array, gamma
from ritz.operators import Operator
from ritz.operators.base import Pairs
from ritz.spectrum.bounds import Bounds, Evidence, beside, bounds, widened

Ceilings = tuple[float, float]  # of A and of −A outside all vectors


def magnitudes(A: Operator, pairs: Pairs, seen: Evidence, k: int) -> tuple[Bounds, Bounds]:
    """What m ≥ k Ritz pairs say about the k largest magnitudes; and about their eigenvalues, with signs.

    `seen` holds the magnitudes of the pairs.
    """
    free = _free(A, pairs, seen)
    found = bounds(seen, k, max(_around(free, pairs, seen)))
    matrix = A.dense() if A.is_dense else None
    if matrix is not None and len(seen.values) < A.dim and found.complete_to < k:
        proved = _proved(matrix, A, pairs, seen)
        free = min(free[0], proved[0]), min(free[1], proved[1])
        found = bounds(seen, k, max(_around(free, pairs, seen)))
    return found, _with_signs(found, pairs, seen, _around(free, pairs, seen), k)


def _free(A: Operator, pairs: Pairs, seen: Evidence) -> Ceilings:
    """Bounds that cost no more than a look at every entry; −inf where nothing lies outside."""
    if len(seen.values) >= A.dim:
        return -np.inf, -np.inf
    norm = A.frobenius
    level = A.most if norm is None else min(A.most, beside(norm, pairs.values, seen.floor, A.dim))
    return level + seen.rounding, level + seen.rounding


def _proved(matrix: Array, A: Operator, pairs: Pairs, seen: Evidence) -> Ceilings:
    """Bounds from a proof for either sign."""
    U, values = pairs.vectors, pairs.values
    deflated = matrix - (U * values) @ U.T
    size = float(np.linalg.norm(matrix)) + float(np.sum(seen.values))
    rounding = seen.rounding + A.dense_rounding + gamma(len(values) + 8) * 2 * size
    last = float(seen.values[-1]) + float(np.linalg.norm(seen.residuals))
    highest, lowest = (
        proved_ceiling(side.copy, last, rounding=rounding, converged=False) for side in (deflated, -deflated)
    )
    return highest, lowest


def _around(outside: Ceilings, pairs: Pairs, seen: Evidence) -> Ceilings:
    """The largest value of A outside the vectors of positive values, and of −A outside those of negative ones.

    Outside of those lie the vectors of the other sign too, whose values are not above 0, coupled to the rest by their
    residuals.
    """
    levels = []
    for sign, level in zip((1, -1), outside, strict=True):
        other = np.flatnonzero((pairs.values < 0) != (sign < 0))[::-1]
        values = sign * pairs.values[other]  # descending: the smallest magnitude first
        if len(other):
            level = float(values[0]) if level == -np.inf else widened(level, values, seen.residuals[other])
            level += seen.floor
        levels.append(level)
    return levels[0], levels[1]


def _with_signs(found: Bounds, pairs: Pairs, seen: Evidence, around: Ceilings, k: int) -> Bounds:
    """The bounds of eigenvalues with their signs, and the angles of their vectors, each from its own end."""
    m = len(seen.values)
    lower, upper, angles = np.empty(m), np.empty(m), np.ones(m)
    groups: list[NDArray[np.intp]] = []
    for sign, level in zip((1, -1), around, strict=True):
        mine = np.flatnonzero((pairs.values < 0) == (sign < 0))
        if not len(mine):
            continue
        values = sign * pairs.values[mine]
        side = Evidence(values, seen.residuals[mine], seen.rounding, seen.defect, exhausted=False, negativity=np.inf)
        own = bounds(side, len(mine), level)
        lower[mine], upper[mine] = (own.lower, own.upper) if sign > 0 else (-own.upper, -own.lower)
        angles[mine] = own.angles
        groups += [mine[start:end] for start, end in own.groups]
    ranges = _ranges(groups, m)
    for start, end in ranges:  # subspaces of several groups, orthogonal to each other
        inside = [group for group in groups if start <= group[0] < end]
        angles[start:end] = min(1.0, float(np.linalg.norm([angles[group[0]] for group in inside])))
    kept = tuple((start, min(end, k)) for start, end in ranges if start < k)
    if kept[-1] not in ranges:  # what is said of a group does not hold for a part of it
        angles[kept[-1][0] :] = 1.0
    return found._replace(lower=lower[:k], upper=upper[:k], angles=angles[:k], groups=kept)


def _ranges(groups: Iterable[NDArray[np.intp]], m: int) -> list[tuple[int, int]]:
    """The shortest ranges of 0, …, m − 1 that cut no group: between positive values there may be negative ones."""
    joined = np.zeros(m, dtype=bool)  # whether i belongs to the range of i − 1
    for group in groups:
        joined[group[0] + 1 : group[-1] + 1] = True
    cuts = [*np.flatnonzero(~joined), m]
    return [(int(start), int(end)) for start, end in pairwise(cuts)]

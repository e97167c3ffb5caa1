"""Lanczos with single vectors, for a few eigenpairs of a matrix that stays in cache.

BLAS multiplies such a matrix by one column as fast as cache gives it out, and by a few columns hardly faster than by
one after the other. One vector finds every eigenvalue once, however often it occurs: a factorisation proves that
nothing was missed, or somebody else has to look.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ritz.linalg.ceiling import deflated, proved_above
from ritz.linalg.dense import Array, norm_of
from ritz.linalg.lanczos import Lanczos
from ritz.operators import Operator
from ritz.runtime.threads import pinned
from ritz.solvers.base import Basis, Outside, Step, leading_vectors, worst_step

ORDERS = range(100, 725)  # of matrices that are worth it, and stay in cache
SHARE = 30  # one in so many components
FINEST = 1e-9  # tol from which rounding has no part in it
FINER = 1e-3  # times tol that residuals are asked to reach: near the end every step gains a lot
ROUGH = 1e-3  # the same, relative to the largest value, of the value behind the last one asked for
FIRST, EVERY, MOST = 16, 4, 6  # steps before the first look and between two, and vectors at most per component


@dataclass(frozen=True)
class SingleVectors:
    """A few eigenpairs of a dense matrix by single vectors; by LAPACK where that does not find them."""

    side: ClassVar[str] = "gram"  # kernel matrices are n×n, as Gram matrices are
    direct: ClassVar[bool] = True

    def basis(self, A: Operator, k: int, *, tol: float | None, rng: np.random.Generator) -> Basis:
        return by_single_vectors(A, k, tol or 0.0, rng) or leading_vectors(A, k)


def worth_single_vectors(order: int, k: int, tol: float) -> bool:
    """Whether so few components of a matrix, to that tolerance, are worth single vectors."""
    return order in ORDERS and (k + 1) * SHARE <= order and tol >= FINEST


def by_single_vectors(A: Operator, k: int, tol: float, rng: np.random.Generator) -> Basis | None:
    """The k leading eigenvectors of a dense matrix and one more, proved to be the leading ones; None where they are not
    found or not proved."""
    C = A.dense()
    if C is None:
        return None
    with pinned():
        found = _found(C, k, FINER * tol, rng)
        if found is None:
            return None
        U, history = found
        CU = C @ U
        values = np.einsum("ij,ij->j", U, CU)
        level = _proved(A, C, U, values, float(norm_of(CU - U * values)))
    return None if level is None else Basis(U, CU, history=tuple(history), outside=Outside(level))


def _found(C: Array, k: int, tol: float, rng: np.random.Generator) -> tuple[Array, list[Step]] | None:
    """Ritz vectors of k + 1 values from one Krylov space, None where they are not found in time."""
    most = min(len(C) // 2, MOST * (k + 1) + 2 * FIRST)
    space = Lanczos(C.__matmul__, rng.standard_normal(len(C)), most)
    history: list[Step] = []
    next_look = max(FIRST, 2 * (k + 1))
    while space.size < most:
        space.extend()
        if space.spent:
            break
        if space.size not in (next_look, most):
            continue
        values, S, residuals = space.largest(k + 1)
        history.append(worst_step(space.size, values[:k], residuals[:k], history))
        if residuals[:k].max() <= tol * values[0] and residuals[k] <= ROUGH * values[0]:
            return space.vectors(S), history
        next_look += EVERY
    return None


def _proved(A: Operator, C: Array, U: Array, values: Array, error: float) -> float | None:
    """What no eigenvalue outside these vectors exceeds, if that is about the last of their values."""
    if not values[-1] > 0:
        return None
    left = deflated(C.copy(), np.ascontiguousarray((U * np.sqrt(values)).T))
    level = proved_above(left, float(values[-1]) + error, A.deflation_rounding(values))
    return level if np.isfinite(level) else None

"""Lanczos with single vectors, for a few eigenpairs of a matrix that stays in cache.

BLAS multiplies such a matrix by one column as fast as cache gives it out, and by a few columns hardly faster than by
one after the other. One vector finds every eigenvalue once, however often it occurs: a factorisation proves that
nothing was missed, or somebody else has to look.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ritz.linalg.ceiling import above
from ritz.linalg.dense import UNIT, Array, add_upper_squares, few_of_tridiagonal, gamma, norm_of
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

    side: ClassVar[str] = "gram"
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
        found = _lanczos(C, k, FINER * tol, rng)
        if found is None:
            return None
        U, history = found
        CU = C @ U
        values = np.einsum("ij,ij->j", U, CU)
        level = _proved(A, C, U, values, float(norm_of(CU - U * values)))
    return None if level is None else Basis(U, CU, history=tuple(history), outside=Outside(level))


def _lanczos(C: Array, k: int, tol: float, rng: np.random.Generator) -> tuple[Array, list[Step]] | None:
    """Ritz vectors of k + 1 values from one Krylov space, all of whose vectors are kept orthogonal."""
    most = min(len(C) // 2, MOST * (k + 1) + 2 * FIRST)
    Q = np.empty((most + 1, len(C)))
    diagonal, beside = np.zeros(most), np.zeros(most)
    history: list[Step] = []
    q = rng.standard_normal(len(C))
    Q[0], next_look = q / norm_of(q), max(FIRST, 2 * (k + 1))
    for j in range(most):
        known = Q[: j + 1]
        w = C @ Q[j]
        diagonal[j] = w @ Q[j]
        w -= diagonal[j] * Q[j]
        w -= beside[j - 1] * Q[j - 1]  # nothing in the first step
        w -= (known @ w) @ known  # what rounding has left of all the others
        beside[j] = norm_of(w)
        if beside[j] <= 100 * UNIT * len(C) * diagonal[: j + 1].max():
            return None  # the space is all that this start can see
        if j + 1 == next_look or j + 1 == most:
            pairs = few_of_tridiagonal(diagonal[: j + 1], beside[:j], k + 1)
            if pairs is None:
                return None
            values, S = pairs[0][::-1], pairs[1][:, ::-1]
            residuals = beside[j] * np.abs(S[-1])
            history.append(worst_step(j + 1, values[:k], residuals[:k], history))
            if residuals[:k].max() <= tol * values[0] and residuals[k] <= ROUGH * values[0]:
                return known.T @ S, history
            next_look += EVERY
        Q[j + 1] = w / beside[j]
    return None


def _proved(A: Operator, C: Array, U: Array, values: Array, error: float) -> float | None:
    """What no eigenvalue outside these vectors exceeds, if that is about the last of their values."""
    if not values[-1] > 0:
        return None
    left = C.copy()
    add_upper_squares(np.ascontiguousarray((U * np.sqrt(values)).T), left, keep=True, sign=-1.0)
    rounding = 2 * gamma(len(values) + 8) * float(A.trace or 0.0) + A.dense_rounding
    level = above(left, float(values[-1]) + error, rounding)
    return level if np.isfinite(level) else None

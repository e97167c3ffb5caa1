"""Randomly pivoted Cholesky: a positive matrix by few of its columns, with the trace of what they lack.

Accelerated by rejection (Epperly, Tropp and Webber, arXiv 2410.03969, 2024), after Chen, Epperly, Tropp and Webber
(Comm. Pure Appl. Math. 78, 2025): pivots are proposed many at a time, in proportion to the diagonal of what is left,
and each is accepted with the share of its diagonal entry that the pivots accepted before it leave. What is accepted has
the law of pivots drawn one by one, and all columns of a round are computed at once. K − F Fᵀ is positive semidefinite
and its trace is known after every round, so that

    0 ≤ λ_i(K) − λ_i(F Fᵀ) ≤ tr(K − F Fᵀ)   for every i.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.dense import UNIT, Array, eigh_descending, gamma
from ritz.operators.base import Operator
from ritz.rows.memory.array import symmetric_product, thin_inner, thin_product
from ritz.runtime.threads import cached_property, ordered, pinned, team
from ritz.runtime.watch import UNWATCHED, Watch

PROPOSED = 160  # pivots of a round
LEAST = 16
STEP = 1024  # rows that are handled at a time
ROOM = 1024  # columns to begin with
FLOOR = 64  # roundings below which what is left of the diagonal is nothing but them
Entries = Callable[[slice | NDArray[np.intp], NDArray[np.intp]], Array]  # K at the given rows and columns


@dataclass(frozen=True, eq=False)
class Factor:
    """K ≈ F Fᵀ from its columns at the pivots.

    Attributes
    ----------
    F : (n, p)
    pivots : (p,) their numbers, in the order they were chosen
    error : tr(K − F Fᵀ)
    trace : tr(K)
    rounding : bound on how far below 0 rounding may have put an eigenvalue of K − F Fᵀ
    """

    F: Array
    pivots: NDArray[np.intp]
    error: float
    trace: float
    rounding: float

    @property
    def triangle(self) -> Array:  # (p, p)
        """L with L Lᵀ = K at the pivots: the rows of F there."""
        return np.tril(self.F[self.pivots])


def randomly_pivoted(
    diagonal: Array,
    entries: Entries,
    most: int,
    rng: np.random.Generator,
    enough: float = 0.0,
    least: int = 0,
    error: float = 0.0,
    watch: Watch = UNWATCHED,
) -> Factor:
    """At most so many columns, fewer where the trace of what they lack falls to `enough`, but no fewer than `least`.

    Parameters
    ----------
    diagonal : (n,) of K
    entries : K at the given rows and columns
    error : of entries, relative to the roots of the diagonal: what is left of it below that is noise
    """
    n, total = len(diagonal), float(np.sum(diagonal))
    most = min(most, n)
    F: Array = np.empty((n, min(most, ROOM)))
    left, pivots = diagonal.astype(np.float64), np.empty(0, np.intp)
    floor, growth = max(FLOOR * UNIT, 4 * error) * float(diagonal.max(initial=0.0)), 1.0
    watch.begin([(0, most)], what="landmarks")
    with team():
        while len(pivots) < most:
            chances, done = np.where(left > floor, left, 0.0), len(pivots)
            remaining = float(np.sum(chances))
            if remaining <= n * floor or (remaining <= enough and done >= least):
                break
            count = min(max(LEAST, min(PROPOSED, most // 4)), most - done)
            F = _with_room(F, done, done + count, most)
            proposed = rng.choice(n, size=count, p=chances / remaining)
            rest = entries(proposed, proposed) - F[proposed, :done] @ F[proposed, :done].T
            accepted, L = _accepted(rest, left[proposed], rng, floor)
            if not len(accepted):
                break
            chosen = proposed[accepted]
            growth = max(growth, _extend(F, done, chosen, L, entries, left))
            pivots = np.append(pivots, chosen)
            left[chosen] = 0.0
            watch.advance(len(chosen))
    rounding = (8 * (len(pivots) + FLOOR) * UNIT + 4 * error) * growth * total + n * floor
    return Factor(F[:, : len(pivots)], pivots, float(np.sum(np.maximum(left, 0.0))), total, rounding)


def _with_room(F: Array, done: int, needed: int, most: int) -> Array:
    """F with room for more columns: pages of a larger one than is used would be touched all the same."""
    if needed <= F.shape[1]:
        return F
    larger = np.empty((len(F), min(most, max(needed, 2 * F.shape[1]))))
    larger[:, :done] = F[:, :done]
    return larger


def _accepted(rest: Array, before: Array, rng: np.random.Generator, floor: float) -> tuple[NDArray[np.intp], Array]:
    """Which of the proposals are kept, and the Cholesky factor L, L Lᵀ = what was left of K at those."""
    rest, chance = rest.copy(), rng.random(len(rest))
    accepted: list[int] = []
    columns = np.zeros(rest.shape)
    for i in range(len(rest)):
        level = float(rest[i, i])
        if level <= max(chance[i] * before[i], 4 * floor):
            continue
        column = rest[:, i] / np.sqrt(level)
        rest -= np.outer(column, column)
        columns[:, len(accepted)] = column
        accepted.append(i)
    kept = np.array(accepted, dtype=np.intp)
    return kept, np.tril(columns[kept, : len(kept)])


def _extend(F: Array, done: int, chosen: NDArray[np.intp], L: Array, entries: Entries, left: Array) -> float:
    """New columns of F, (K − F Fᵀ) at the chosen times L⁻ᵀ, and the diagonal that is left, all rows by all cores.

    Returns ‖L‖‖L⁻¹‖, by which the product with L⁻ᵀ may magnify rounding.
    """
    n, inverse, known = len(F), np.linalg.inv(L).T, F[chosen, :done].copy()
    new = slice(done, done + len(chosen))

    def fill(start: int) -> None:
        rows = slice(start, min(start + STEP, n))
        part = entries(rows, chosen)
        part -= F[rows, :done] @ known.T
        F[rows, new] = part @ inverse
        left[rows] -= np.einsum("ij,ij->i", F[rows, new], F[rows, new])

    for _ in ordered(fill, range(0, n, STEP), pinned.budget()):
        pass
    return float(np.linalg.norm(L) * np.linalg.norm(inverse))


class LowRank(Operator):
    """A ≈ H F (H F)ᵀ, H = I − 11ᵀ/n, from a factor of the matrix that is centred.

    0 ⪯ A − H F (H F)ᵀ ⪯ missing·I, where `missing` is a trace: hardly any direction lacks so much, so values are given
    as they are and not in the middle of what is possible. `trace` is the most that A's can be.
    """

    def __init__(self, found: Factor) -> None:
        """Takes over the factor's memory: F is centred where it stands."""
        self.dim, p = found.F.shape
        self.triangle, self.mean = found.triangle, found.F.mean(axis=0)
        self.F = np.subtract(found.F, self.mean, out=found.F)
        self.rows_of_factor, self.rank_bound = p, self.dim - 1
        self.missing, self.offset = found.error, 0.0
        self._size, self._error = found.trace, found.rounding
        self.trace = max(found.trace - self.dim * float(self.mean @ self.mean), 0.0)

    @property
    def rounding(self) -> float:
        return self._error + 8 * gamma(self.dim + len(self.mean) + 16) * self._size

    @cached_property
    def small(self) -> tuple[Array, Array]:
        """Eigenvalues and vectors of (H F)ᵀ H F, which has the non-zero eigenvalues of H F (H F)ᵀ."""
        return eigh_descending(symmetric_product(self.F))

    def apply(self, V: Array) -> Array:
        return thin_product(self.F, thin_inner(self.F, V))

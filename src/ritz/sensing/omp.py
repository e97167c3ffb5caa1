"""Orthogonal matching pursuit of many signals at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.runtime import threads
from ritz.runtime.memory import allowed, format_bytes
from ritz.sensing.base import Found, Goal, PerSignal, Solver, pursuit_gap
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.maps import Places

FIRST = 16  # columns that there is room for at the start, where nobody knows how many it will take
EXHAUSTED = 1e-12  # share of a column outside the span of those taken that rounding can fake
OBLIQUE = 0.5  # share of a column outside that span below which it is taken out twice
TOLD = 100  # coefficients between two words about progress
TRIAL = 32  # columns that mostly show already that a recovery is not guaranteed


class MatchingPursuit(Solver):
    """Take the column that correlates most with the residual, refit, and again, until the residual is small.

    The Cholesky factor L of the Gram matrix of the columns taken grows by a row with each of them. It is kept together
    with the orthonormal rows Q of A_Sᵀ = L Q: then L w = A_Sᵀa is one product, w = Q a, and squaring costs no digits.
    """

    uses = ("lengths", "normalised")
    longest = 1 << 15  # a product per coefficient, and nobody knows how many
    greedy = True

    def recover(self, A: Dictionary, Y: Array, goal: Goal) -> Found:
        found, most, level = Found.nothing(len(Y), A.shape[1]), _most(A, len(Y), goal), goal.level(A.shape[0])
        run = _Run.begin(Y, min(most, FIRST))
        while len(run.places):
            threads.check()
            norms = np.linalg.norm(run.residuals, axis=1)
            explained = norms <= level[run.places]
            done = explained | (run.taken == most)
            if not done.all():
                best, correlation = _most_correlated(A, run)
                done |= correlation <= EXHAUSTED * np.maximum(norms, EXHAUSTED)
            if done.any():
                as_asked = goal.sparsity is not None and run.taken == goal.sparsity
                ended = run.of(done)
                found.put(ended.places, replace(_fitted(A, ended), converged=explained[done] | as_asked))
            if done.all():
                break
            run = run.of(~done).extended(A, best[~done], most)
            if goal.tell is not None and run.taken % TOLD == 0:
                left = f"residual {norms.max():.1e} of the measurements"
                goal.tell(f"omp: {run.taken} coefficients, {len(run.places)} signals to go, {left}")
        return found


def _most(A: Dictionary, count: int, goal: Goal) -> int:
    """The most columns to take: what is asked, or half of the measurements, as more would explain anything.

    No more than there is memory for.
    """
    m, p = A.shape
    most = min(m if m >= p else max(1, m // 2), p) if goal.sparsity is None else min(goal.sparsity, m, p)
    fits = int(np.sqrt(allowed() / 32 / count + m * m / 4) - m / 2)  # 8·count·k·(m + k) bytes in a quarter of all
    if fits < min(most, goal.sparsity or FIRST):
        raise DataError(
            f"matching pursuit of {most} of {p} coefficients from {m} measurements would take over "
            f"{format_bytes(8 * count * most * (m + most))} of memory; use solver='fista'"
        )
    return min(most, fits, goal.max_iter or most)


def _most_correlated(A: Dictionary, run: _Run) -> tuple[Places, Array]:
    """The column of the largest |⟨a_j, r⟩|/‖a_j‖ for every residual r, and that; of columns alike to 7 digits, any."""
    correlations = A.correlations(run.residuals)
    np.put_along_axis(correlations, run.support, 0.0, axis=1)
    best = correlations.argmax(axis=1)
    products = np.einsum("bm,bm->b", A.some_columns(best), run.residuals)
    return best, np.abs(products) / A.lengths[best]


@dataclass(frozen=True, eq=False)
class _Run(PerSignal):
    """Signals that are not done, all with as many columns taken: A_Sᵀ = L Q, and β = Q y."""

    places: Places  # (a,) their places among all
    residuals: Array  # (a, m)
    Q: Array  # (a, room, m)
    L: Array  # (a, room, room)
    beta: Array  # (a, room)
    support: Places  # (a, taken)

    @classmethod
    def begin(cls, Y: Array, room: int) -> _Run:
        b, m = Y.shape
        Q, L = np.zeros((b, room, m)), np.zeros((b, room, room))
        return cls(np.arange(b), Y.copy(), Q, L, np.zeros((b, room)), np.zeros((b, 0), np.intp))

    @property
    def taken(self) -> int:
        return self.support.shape[1]

    def extended(self, A: Dictionary, best: Places, most: int) -> _Run:
        """One more column for every signal: the next row of Q by Gram-Schmidt, and of L."""
        run = self if self.taken < self.L.shape[1] else self._with_room(most)
        k, columns = run.taken, A.some_columns(best)
        inside, outside = _projected(run.Q[:, :k], columns)
        length = np.linalg.norm(outside, axis=1)
        if (length < OBLIQUE * A.lengths[best]).any():  # little is left, and rounding in it
            more, outside = _projected(run.Q[:, :k], outside)
            inside, length = inside + more, np.linalg.norm(outside, axis=1)
        q = outside / np.where(length > 0, length, 1.0)[:, None]
        beta = np.einsum("bm,bm->b", q, run.residuals)
        run.Q[:, k], run.L[:, k, :k], run.L[:, k, k], run.beta[:, k] = q, inside, length, beta
        residuals = run.residuals - beta[:, None] * q
        return replace(run, residuals=residuals, support=np.column_stack([run.support, best]))

    def _with_room(self, most: int) -> _Run:
        """The same with room for twice as many columns."""
        a, room, m = self.Q.shape
        more = min(most, 2 * room)
        Q, L, beta = np.zeros((a, more, m)), np.zeros((a, more, more)), np.zeros((a, more))
        Q[:, :room], L[:, :room, :room], beta[:, :room] = self.Q, self.L, self.beta
        return replace(self, Q=Q, L=L, beta=beta)


def _projected(Q: Array, columns: Array) -> tuple[Array, Array]:  # (b, k, m), (b, m) -> (b, k), (b, m)
    """Coordinates of columns inside the spans of orthonormal Q, and what lies outside."""
    inside = np.matmul(Q, columns[:, :, None])[:, :, 0]
    return inside, columns - np.matmul(inside[:, None], Q)[:, 0]


def _fitted(A: Dictionary, run: _Run) -> Found:
    """Coefficients from Lᵀc = β, and what can be said of them."""
    k, found = run.taken, Found.nothing(len(run.places), A.shape[1])
    found.iterations[:] = k
    if not k:
        return found
    Q, L = run.Q[:, :k], run.L[:, :k, :k]
    codes = np.linalg.solve(L.transpose(0, 2, 1), run.beta[:, :k, None])[:, :, 0]
    np.put_along_axis(found.codes, run.support, codes, axis=1)
    # ν with A_Sᵀν = sign(c), of least length: where ‖Aᵀν‖∞ ≤ 1, no c has a smaller l1 norm (Fuchs 2004).
    signs = np.linalg.solve(L, np.sign(codes)[:, :, None])
    found.gaps[:] = pursuit_gap(A, found.codes, np.matmul(signs.transpose(0, 2, 1), Q)[:, 0])
    found.exact_recovery[:] = _exact_recovery(A, Q, L, run.support)
    return found


def _exact_recovery(A: Dictionary, Q: Array, L: Array, support: Places) -> Array:  # (b, s, m), (b, s, s) -> (b,)
    """max ‖A_S⁺ a_j‖₁ over all other columns, scaled to length 1: below 1, every signal with this support is recovered.

    Tropp's (2004) exact recovery condition. A few columns mostly show that it does not hold.
    """
    if A.held is None:
        return np.full(len(support), np.nan)
    entries, p = A.held.entries, A.shape[1]

    def largest(rows: Places, columns: Places) -> Array:
        inside = Q[rows].reshape(-1, Q.shape[2]) @ entries[:, columns]
        weights = np.linalg.solve(L[rows].transpose(0, 2, 1), inside.reshape(len(rows), -1, len(columns)))
        weights *= A.lengths[support[rows]][:, :, None]
        sums = np.abs(weights).sum(axis=1) / A.lengths[columns]
        sums[(columns[:, None] == support[rows][:, None, :]).any(axis=2)] = 0.0
        return sums.max(axis=1)

    found = largest(np.arange(len(support)), np.arange(0, p, max(1, p // TRIAL)))
    for i in np.flatnonzero(found < 1):
        found[i] = largest(np.array([i]), np.arange(p))[0]
    return found

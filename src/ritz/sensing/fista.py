"""The lasso by accelerated proximal gradients, down a path of penalties, stopped by the duality gap."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from ritz.linalg.dense import Array
from ritz.runtime import threads
from ritz.sensing.base import FULL, Flags, Found, Goal, kept, lasso_gap, pursuit_gap
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.least_squares import least_squares, signed_dual, unique
from ritz.sensing.maps import Places
from ritz.sensing.phase_transition import determined

LOOSE = 1e-3  # relative gap on the way down: most supports have settled by then
# Penalties, as shares of the least one whose answer is 0; images gain nothing below.
LADDER = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4)
FURTHER = (3e-5, 3e-6, 3e-7)  # for signals so sparse that the measurements may still determine their small coefficients
EVERY = 10  # iterations between two looks at the gap, which cost half an iteration
MOST = 10_000
GROWTH = 1 / 3  # power of 1/λ that supports grow by: at most a quarter for sparse signals, a half and more for images
CROWDING = 1  # likewise, for s/(r − s) of supports that are near the rank r they cannot grow beyond
PRUNED = 1e-12  # coefficients so much smaller than the largest are rounding


@dataclass(frozen=True)
class Fista:
    """min ½‖Ac − y‖² + λ‖c‖₁, then least squares on the support where the measurements determine it.

    Beck and Teboulle's (2009) iteration with the restarts of O'Donoghue and Candès (2015). Exact measurements call for
    λ → 0: the penalty goes down in steps, and as soon as least squares on the support explains the measurements, up to
    the noise, and a dual vector proves that no smaller l1 norm does, that is the answer. Else the steps end where noise
    of standard deviation σ hides the rest, at λ = σ√(2 log p) times the length of a column, or where a signal turns out
    to be too rich to be recovered exactly: before the support is as large as the number of measurements, because images
    are best well before, and the closer the support is to that, the more iterations it takes.
    """

    uses: ClassVar[tuple[str, ...]] = ("norm",)
    longest: ClassVar[int | None] = None
    greedy: ClassVar[bool] = False
    noisy: ClassVar[bool] = True

    def recover(self, A: Dictionary, Y: Array, goal: Goal) -> Found:
        run = _Run(A, Y, goal)
        for last, share in pairwise((1.0, *LADDER, *FURTHER)):
            run.down(last, share)
            if not len(run.alive):
                break
        return run.found


class _Run:
    """Signals on their way down the ladder; those that have arrived are in `found`."""

    EACH = ("alive", "Y", "codes", "gaps", "before", "full", "top", "penalties", "floor", "level")  # a row per signal

    def __init__(self, A: Dictionary, Y: Array, goal: Goal) -> None:
        self.A, self.goal = A, goal
        self.rank, self.p = A.coherence.rank, A.shape[1]
        self.few = determined(self.rank, self.p)
        self.found = Found.nothing(len(Y), A.shape[1])
        self.alive, self.Y = np.arange(len(Y)), Y
        self.codes, self.gaps = np.zeros_like(self.found.codes), np.full(len(Y), np.inf)
        self.before, self.full = self.codes, np.zeros(len(Y), bool)
        top = np.abs(A.adjoint(Y)).max(axis=1)
        self.top = np.where(top > 0, top, 1.0)  # what no column is like has the answer 0 for any penalty
        self.floor = goal.noise * np.sqrt(2 * np.log(max(A.shape[1], 2))) * A.typical
        self.penalties = np.maximum(self.top, self.floor)
        self.level = goal.level(A.shape[0])

    def down(self, last: float, share: float) -> None:
        """A step, and who ends there: explained, or with no end of coefficients in sight, or at the floor of noise."""
        ratio, lowest = last / share, share == FURTHER[-1]
        self._lower(share)
        self._explain(ratio)
        if self.rank == self.p and self._near(share).any():
            self._invert()
        near = self._near(share)
        if not near.any():
            return
        self._solve(self.goal.gap, near)
        self._explain(ratio)
        spent = self.found.iterations[self.alive] >= (self.goal.max_iter or MOST)
        self.full |= self._low(share) & self._crowded(ratio) & ~self._grown(ratio)
        over = self.full | self._at_floor() | (self._low(share) & (spent | self._grown(ratio) | lowest))
        self._finish(over, self._debiased(over), self.gaps, self.penalties, explaining=lowest)

    def _lower(self, share: float) -> None:
        """The next penalty; back to the last one where nearly as many coefficients as measurements are found there.

        Nothing is determined by them, and going down has no end.
        """
        self.before, last = self.codes.copy(), self.penalties
        self.penalties = np.maximum(share * self.top, self.floor)
        self._solve(LOOSE)
        self.full = (sizes(self.codes) > self.few + FULL * (self.rank - self.few)) & (self.rank < self.p)
        back = self.full & (sizes(self.before) > 0) & ~self._at_floor()
        self.codes[back], self.penalties[back] = self.before[back], last[back]

    def _near(self, share: float) -> Flags:
        """Who may end here, and is solved to the gap that was asked for."""
        return self.full | self._at_floor() | self._low(share)

    def _at_floor(self) -> Flags:
        return self.penalties <= self.floor

    def _low(self, share: float) -> Flags:
        """Who may end here if not sparse: those whose noise is no floor to reach."""
        return (self.floor < FURTHER[-1] * self.top) & (share <= LADDER[-1])

    def _settled(self, ratio: float) -> Flags:
        """Whose support hardly grew at a penalty so many times smaller."""
        before, now = sizes(self.before), sizes(self.codes)
        return (before == 0) | (now <= before * ratio**GROWTH)

    def _grown(self, ratio: float) -> Flags:
        """Who is not sparse: supports larger than what may be determined, that are still growing."""
        return (sizes(self.codes) > self.few) & ~self._settled(ratio)

    def _crowded(self, ratio: float) -> Flags:
        """Whose supports are on their way to the rank, where nothing is determined."""
        before, now = sizes(self.before), sizes(self.codes)
        free_before, free = self.rank - before, self.rank - now
        return (now > self.few) & (before > 0) & (now * free_before > before * free * ratio**CROWDING)

    def _explain(self, ratio: float) -> None:
        """Finish signals that least squares on their support explains, with no smaller l1 norm to be had.

        The support may hold too much, which comes out as 0. The dual vector has the signs of the lasso, and is its
        residual over λ, to the last digit, once the lasso has settled on its support.
        """
        trial = np.flatnonzero(self._settled(ratio) & ~self._crowded(ratio) & ~self.full & (sizes(self.codes) > 0))
        codes, gaps = self.codes.copy(), np.full(len(self.alive), np.inf)
        if len(trial):
            fitted = least_squares(self.A, self.Y[trial], codes[trial], codes[trial] != 0)
            fitted[np.abs(fitted) <= PRUNED * np.abs(fitted).max(axis=1, keepdims=True)] = 0.0
            near = np.linalg.norm(self.Y[trial] - self.A.apply(fitted), axis=1) <= self.level[trial]
            trial, fitted = trial[near], fitted[near]
        if len(trial):
            gaps[trial] = pursuit_gap(self.A, fitted, signed_dual(self.A, codes[trial]))
            codes[trial] = fitted
        self._finish(gaps <= self.goal.gap, codes, gaps, np.zeros(len(gaps)))

    def _invert(self) -> None:
        """Finish signals that are explained by all columns, which are independent: no other coefficients do."""
        codes, dual = unique(self.A, self.Y)
        near = np.linalg.norm(self.Y - self.A.apply(codes), axis=1) <= self.level
        gaps = np.where(near & (self.floor == 0), pursuit_gap(self.A, codes, dual), np.inf)
        self._finish(gaps <= self.goal.gap, codes, gaps, np.zeros(len(gaps)))

    def _solve(self, tol: float, which: Flags | slice = slice(None)) -> None:
        """The lasso of some signals at their penalties, from the codes there are."""
        places, penalties = self.alive[which], self.penalties[which]
        left = (self.goal.max_iter or MOST) - self.found.iterations[places]
        self.codes[which], self.gaps[which], spent = lasso(
            self.A, self.Y[which], penalties, self.codes[which], tol, left
        )
        self.found.iterations[places] += spent
        if self.goal.tell is not None:
            size, count = int(sizes(self.codes)[which].max()), f"{len(places)} signal{'s' * (len(places) > 1)}"
            self.goal.tell(
                f"fista: penalty down to {penalties.min():.1e} for {count}: {spent.max()} iterations, "
                f"gap {self.gaps[which].max():.1e} of the objective, up to {size} coefficients"
            )

    def _debiased(self, which: Flags) -> Array:
        """Shrunken coefficients put right by least squares, where they are few enough; more would fit the noise."""
        codes = self.codes.copy()
        rows = np.flatnonzero(which & (sizes(self.codes) <= self.few))
        if len(rows):
            codes[rows] = least_squares(self.A, self.Y[rows], codes[rows], codes[rows] != 0)
        return codes

    def _finish(self, which: Flags, codes: Array, gaps: Array, penalties: Array, explaining: bool = False) -> None:
        """Some are done, converged by their gap, or else by explaining the measurements too, unless noise ended it."""
        places, found = self.alive[which], self.found
        found.codes[places], found.gaps[places], found.penalties[places] = codes[which], gaps[which], penalties[which]
        found.converged[places], found.full[places] = gaps[which] <= self.goal.gap, self.full[which]
        if explaining and len(places):
            residuals = np.linalg.norm(self.Y[which] - self.A.apply(codes[which]), axis=1)
            found.converged[places] &= (residuals <= self.level[which]) | (self.floor[which] >= penalties[which])
        for name in _Run.EACH:
            setattr(self, name, getattr(self, name)[~which])


def sizes(codes: Array) -> Places:
    """How many coefficients every signal has."""
    return np.asarray(np.count_nonzero(codes, axis=1))


def lasso(
    A: Dictionary, Y: Array, penalties: Array, start: Array, tol: float, most: Places
) -> tuple[Array, Array, Places]:
    """Codes (b, p) of min ½‖Ac − y‖² + λ‖c‖₁, their relative duality gaps and the iterations, from a start."""
    codes, gaps, spent = start.copy(), np.empty(len(Y)), np.zeros(len(Y), np.intp)
    step = 1 / (A.norm**2 or 1.0)  # nothing is seen through a matrix of zeros
    places, C, AC = np.arange(len(Y)), start, A.apply(start)
    Z, AZ, t, weights = C, AC, np.ones((len(Y), 1)), penalties[:, None]
    for count in range(int(most.max()) + 1):
        last = count >= most
        if count % EVERY == 0 or last.any():
            gaps[places] = lasso_gap(A, C, Y - AC, weights[:, 0])
            over = last | (gaps[places] <= tol)
            codes[places[over]], spent[places[over]] = C[over], count
            places, Y, C, AC, Z, AZ, t, weights, most = kept(~over, places, Y, C, AC, Z, AZ, t, weights, most)
            if not len(places):
                break
        threads.check()
        new = A.adjoint(Y - AZ)
        new *= step
        new += Z
        shrink(new, step * weights)
        seen = A.apply(new)
        change = new - C
        Z = Z - new
        t[np.einsum("bp,bp->b", Z, change) > 0] = 1.0  # momentum points uphill: begin anew
        longer = (1 + np.sqrt(1 + 4 * t * t)) / 2
        ahead = (t - 1) / longer
        change *= ahead
        change += new
        Z, AZ = change, seen + ahead * (seen - AC)
        C, AC, t = new, seen, longer
    return codes, gaps, spent


def shrink(C: Array, by: Array) -> None:
    """Towards 0, in place: max(|c| − by, 0)·sign(c)."""
    C -= np.clip(C, -by, by)

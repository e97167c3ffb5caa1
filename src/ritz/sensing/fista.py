"""The lasso down a path of penalties, until the measurements are explained or noise hides the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ritz.linalg.dense import Array
from ritz.runtime.wording import plural
from ritz.sensing.base import SATURATED, Flags, Found, Goal, PerSignal, Solver, pursuit_gap
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.lasso import lasso, least_squares, signed_dual, unique
from ritz.sensing.maps import Places
from ritz.sensing.phase_transition import determined

LOOSE = 1e-3  # relative gap on the way down: most supports have settled by then
# Penalties, as shares of the least one whose answer is 0; images gain nothing below.
LADDER = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4)
FURTHER = (3e-5, 3e-6, 3e-7)  # for signals so sparse that the measurements may still determine their small coefficients
MOST = 10_000
GROWTH = 1 / 3  # power of 1/λ that supports grow by: at most a quarter for sparse signals, a half and more for images
CROWDING = 1  # likewise, for s/(r − s) of supports that are near the rank r they cannot grow beyond
PRUNED = 1e-12  # coefficients so much smaller than the largest are rounding


class Fista(Solver):
    """min ½‖Ac − y‖² + λ‖c‖₁, then least squares on the support where the measurements determine it.

    Beck and Teboulle's (2009) iteration with the restarts of O'Donoghue and Candès (2015). Exact measurements call for
    λ → 0: the penalty goes down in steps, and as soon as least squares on the support explains the measurements, up to
    the noise, and a dual vector proves that no smaller l1 norm does, that is the answer. Else the steps end where noise
    of standard deviation σ hides the rest, at λ = σ√(2 log p) times the length of a column, or where a signal turns out
    to be too rich to be recovered exactly: before the support is as large as the number of measurements, because images
    are best well before, and the closer the support is to that, the more iterations it takes.
    """

    uses = ("norm",)

    def recover(self, A: Dictionary, Y: Array, goal: Goal) -> Found:
        path = _Path(A, goal, len(Y))
        signals = path.start(Y)
        for step in STEPS:
            signals = path.down(signals, step)
            if not len(signals.places):
                break
        return path.found


class Step(NamedTuple):
    """A step down the path of penalties."""

    share: float  # the penalty, as a share of λ_max
    ratio: float  # the penalty before, divided by this one


STEPS = [Step(share, before / share) for before, share in pairwise((1.0, *LADDER, *FURTHER))]


@dataclass(frozen=True, eq=False)
class _Signals(PerSignal):
    """Signals on their way down the path."""

    places: Places  # (a,) their places among all
    Y: Array  # (a, m) measurements
    lambda_max: Array  # (a,) ‖Aᵀy‖∞, the least penalty whose answer is 0
    floor: Array  # (a,) the penalty at which noise hides the rest, 0 without noise
    level: Array  # (a,) the residual that noise accounts for, or tol
    penalties: Array  # (a,) λ
    codes: Array  # (a, p) of the lasso at λ
    gaps: Array  # (a,) their relative duality gaps
    size_before: Places  # (a,) coefficients other than 0 at the penalty before
    saturated: Flags  # (a,) whether nearly as many coefficients as measurements are other than 0

    @property
    def size(self) -> Places:
        """(a,) coefficients other than 0."""
        return np.asarray(np.count_nonzero(self.codes, axis=1))

    @property
    def at_floor(self) -> Flags:
        return self.penalties <= self.floor

    def may_end_low(self, step: Step) -> Flags:
        """Which may end at a low penalty though they are not sparse: those whose noise sets no floor on the path."""
        return (self.floor < FURTHER[-1] * self.lambda_max) & (step.share <= LADDER[-1])

    def may_end(self, step: Step) -> Flags:
        """Which are to be solved to the gap that was asked for."""
        return self.saturated | self.at_floor | self.may_end_low(step)

    def settled(self, ratio: float) -> Flags:
        """Whose support hardly grew at a penalty so many times smaller."""
        return (self.size_before == 0) | (self.size <= self.size_before * ratio**GROWTH)


class _Path:
    """Lassos at smaller and smaller penalties, each one started from the one before; `found` has what is done."""

    def __init__(self, A: Dictionary, goal: Goal, count: int) -> None:
        self.A, self.goal, self.most = A, goal, goal.max_iter or MOST
        self.rank, self.p = A.coherence.rank, A.shape[1]
        self.determined = determined(self.rank, self.p)
        self.found = Found.nothing(count, self.p)

    def start(self, Y: Array) -> _Signals:
        """All signals, before the first step: their answer is 0."""
        b = len(Y)
        largest = np.abs(self.A.adjoint(Y)).max(axis=1)
        lambda_max = np.where(largest > 0, largest, 1.0)  # what no column is like has the answer 0 for any penalty
        floor = self.goal.noise * np.sqrt(2 * np.log(max(self.p, 2))) * self.A.typical_length
        level, penalties = self.goal.level(self.A.shape[0]), np.maximum(lambda_max, floor)
        codes, gaps, sizes = np.zeros((b, self.p)), np.full(b, np.inf), np.zeros(b, np.intp)
        return _Signals(np.arange(b), Y, lambda_max, floor, level, penalties, codes, gaps, sizes, np.zeros(b, bool))

    def down(self, signals: _Signals, step: Step) -> _Signals:
        """One step down, and the signals that go on: a rough answer for all, a good one for those that may end here."""
        signals = self._lowered(signals, step)
        signals = self._without_explained(signals, step)
        if self.rank == self.p and signals.may_end(step).any():
            signals = self._without_inverted(signals)
        may_end = signals.may_end(step)
        if not may_end.any():
            return signals
        signals = self._solved(signals, self.goal.gap, may_end)
        signals = self._without_explained(signals, step)
        return self._without_ended(signals, step)

    def _lowered(self, signals: _Signals, step: Step) -> _Signals:
        """The next penalty; back to the last one where nearly as many coefficients as measurements are found there.

        Nothing is determined by them, and going down has no end.
        """
        before, penalties = signals.size, np.maximum(step.share * signals.lambda_max, signals.floor)
        lower = self._solved(replace(signals, penalties=penalties, size_before=before), LOOSE)
        many = self.determined + SATURATED * (self.rank - self.determined)
        saturated = (lower.size > many) & (self.rank < self.p)
        back = saturated & (before > 0) & ~lower.at_floor
        lower.codes[back], lower.penalties[back] = signals.codes[back], signals.penalties[back]
        return replace(lower, saturated=saturated)

    def _solved(self, signals: _Signals, tol: float, which: Flags | slice = slice(None)) -> _Signals:
        """The lasso of some signals at their penalties, started from the codes there are."""
        places, penalties = signals.places[which], signals.penalties[which]
        codes, gaps, left = signals.codes.copy(), signals.gaps.copy(), self.most - self.found.iterations[places]
        codes[which], gaps[which], spent = lasso(self.A, signals.Y[which], penalties, codes[which], tol, left)
        self.found.iterations[places] += spent
        signals = replace(signals, codes=codes, gaps=gaps)
        if self.goal.tell is not None:
            size, count = int(signals.size[which].max()), f"{len(places)} {plural(len(places), 'signal')}"
            self.goal.tell(
                f"fista: penalty down to {penalties.min():.1e} for {count}: {spent.max()} iterations, "
                f"gap {gaps[which].max():.1e} of the objective, up to {size} coefficients"
            )
        return signals

    def _saturating(self, signals: _Signals, ratio: float) -> Flags:
        """Whose supports are on their way to the rank, where nothing is determined."""
        before, now = signals.size_before, signals.size
        free_before, free = self.rank - before, self.rank - now
        return (now > self.determined) & (before > 0) & (now * free_before > before * free * ratio**CROWDING)

    def _without_explained(self, signals: _Signals, step: Step) -> _Signals:
        """Finish signals that least squares on their support explains, with no smaller l1 norm to be had.

        The support may hold too much, which comes out as 0. The dual vector has the signs of the lasso, and is its
        residual over λ, to the last digit, once the lasso has settled on its support.
        """
        promising = signals.settled(step.ratio) & ~self._saturating(signals, step.ratio) & ~signals.saturated
        rows = np.flatnonzero(promising & (signals.size > 0))
        if not len(rows):
            return signals
        codes = signals.codes[rows]
        fitted = least_squares(self.A, signals.Y[rows], codes, codes != 0)
        fitted[np.abs(fitted) <= PRUNED * np.abs(fitted).max(axis=1, keepdims=True)] = 0.0
        near = np.linalg.norm(signals.Y[rows] - self.A.apply(fitted), axis=1) <= signals.level[rows]
        rows, codes, fitted = rows[near], codes[near], fitted[near]
        if not len(rows):
            return signals
        gaps = pursuit_gap(self.A, fitted, signed_dual(self.A, codes))
        return self._without_proved(signals, rows, fitted, gaps)

    def _without_inverted(self, signals: _Signals) -> _Signals:
        """Finish signals that are explained by all columns, which are independent: no other coefficients do."""
        codes, dual = unique(self.A, signals.Y)
        near = np.linalg.norm(signals.Y - self.A.apply(codes), axis=1) <= signals.level
        gaps = np.where(near & (signals.floor == 0), pursuit_gap(self.A, codes, dual), np.inf)
        return self._without_proved(signals, np.arange(len(codes)), codes, gaps)

    def _without_proved(self, signals: _Signals, rows: Places, codes: Array, gaps: Array) -> _Signals:
        """Finish those of some signals whose gap proves that their codes have the least l1 norm."""
        proved = gaps <= self.goal.gap
        done = np.zeros(len(signals.places), bool)
        done[rows[proved]] = True
        self._finish(signals.of(done), codes[proved], gaps[proved], np.zeros(proved.sum()))
        return signals.of(~done)

    def _without_ended(self, signals: _Signals, step: Step) -> _Signals:
        """Finish signals with no end of coefficients in sight, at the floor of noise, or out of iterations or steps."""
        low = signals.may_end_low(step)
        growing = (signals.size > self.determined) & ~signals.settled(step.ratio)  # these are not sparse
        saturated = signals.saturated | (low & self._saturating(signals, step.ratio) & ~growing)
        signals = replace(signals, saturated=saturated)
        spent, last = self.found.iterations[signals.places] >= self.most, step is STEPS[-1]
        done = saturated | signals.at_floor | (low & (spent | growing | last))
        ended = signals.of(done)
        codes, few = ended.codes.copy(), np.flatnonzero(ended.size <= self.determined)
        if len(few):  # least squares puts shrunken coefficients right; more of them would fit the noise
            codes[few] = least_squares(self.A, ended.Y[few], codes[few], codes[few] != 0)
        self._finish(ended, codes, ended.gaps, ended.penalties)
        if last:  # converged by explaining the measurements too, unless noise ended it
            residuals = np.linalg.norm(ended.Y - self.A.apply(codes), axis=1)
            self.found.converged[ended.places] &= (residuals <= ended.level) | ended.at_floor
        return signals.of(~done)

    def _finish(self, signals: _Signals, codes: Array, gaps: Array, penalties: Array) -> None:
        """Some are done, converged by their gap."""
        found, at = self.found, signals.places
        found.codes[at], found.gaps[at], found.penalties[at] = codes, gaps, penalties
        found.converged[at], found.saturated[at] = gaps <= self.goal.gap, signals.saturated

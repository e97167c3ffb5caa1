"""How far off a right answer may be.

That is what was asked for (`tol`), what the certificate leaves open, and what rounding in the arithmetic of the answer
can do: an axis moves by rounding·λ₁ over the gap of its eigenvalue, and eigenvalues that rounding can join are a group
of which only the span is determined.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ritz.exercises.case import Case
from ritz.exercises.problem import Solution
from ritz.linalg.dense import Array

APART = 4.0  # eigenvalues closer than so many errors are not told apart, as in the certificate
GROWTH = 32.0  # roundings of an eigensolver and of the matrix it was given, per root of the dimension


@dataclass(frozen=True, eq=False)
class Scale:
    """How large an error of a right answer may be."""

    solution: Solution
    tol: float
    own: float  # rounding of the answer's arithmetic, relative to λ₁
    coarse: float
    stretch: Array  # (r + k,) how much more it is for α and scores of small variances

    @classmethod
    def of(cls, case: Case) -> Scale:
        solution, answer = case.problem.solution, case.answer
        values, k = solution.values, answer.count
        stretch = np.ones(solution.rank + k)
        if answer.kind in ("alpha", "scores") and solution.rank:
            stretch[: solution.rank] = np.sqrt(values[0] / values)
        own = GROWTH * np.sqrt(solution.dim) * answer.unit
        coarse = answer.coarse * float(stretch[: min(k, solution.rank)].max(initial=1.0))
        return cls(solution, case.tol, own, coarse, stretch)

    @property
    def error(self) -> float:
        """Of an eigenvalue, by rounding."""
        return self.own * float(self.solution.first(1)[0])

    def gap(self, start: int, end: int) -> float:
        """From a group of eigenvalues to the next one on either side; 0 stands for directions without variance."""
        gaps = self._gaps(start, end)
        return float(gaps[gaps > 0].min(initial=np.inf))

    def _gaps(self, start: int, end: int) -> Array:  # (r + k,)
        """From a group of eigenvalues to every other one; 0 inside the group."""
        levels = np.append(self.solution.values, np.zeros(len(self.stretch) - self.solution.rank))
        gaps = np.maximum(np.maximum(levels - levels[start], levels[end - 1] - levels), 0.0)
        gaps[start:end] = 0.0
        return gaps

    def limits(self, start: int, end: int) -> Array:  # (r + k,)
        """How large each coordinate of a unit vector of a group may be: infinite inside it, 1 at most outside.

        Rounding turns an eigenvector towards another one by its size over their gap. So an axis that a near tie leaves
        open in one direction is held in all others.
        """
        certificate, last = self.solution.certificate, min(end, self.solution.rank)
        error = self.error * float(self.stretch[start:end].max(initial=1.0)) + certificate.rounding
        error += _norm(certificate.residuals[start:last])
        limits = np.minimum(
            1.0, self.tol + self.coarse + error / np.maximum(self._gaps(start, end), max(error, 1e-300))
        )
        limits[start:end] = np.inf
        return limits

    def certified(self, start: int, end: int) -> float:
        """What the certificate leaves open of that angle: its own bound, or ‖R‖/gap for groups that are wider."""
        certificate, last = self.solution.certificate, min(end, self.solution.rank)
        if start >= last:
            return 0.0
        if (start, last) in certificate.groups and last == end:
            return float(certificate.angle_bounds[start])
        error = _norm(certificate.residuals[start:last]) + certificate.rounding
        return error / max(self.gap(start, end), error, 1e-300)


def _norm(residuals: Array) -> float:
    """At least ‖r‖, without squares that could overflow."""
    return float(residuals.max(initial=0.0)) * float(np.sqrt(len(residuals)))


def grouped(solution: Solution, k: int, error: float) -> list[tuple[int, int]]:
    """Ranges of eigenvectors that cannot be told apart, from the certificate's bounds and that error; the last one is
    all directions without a variance, of which k columns are at most in use."""
    errors = np.maximum(solution.certificate.errors[: solution.rank], error)
    errors[~np.isfinite(errors)] = error
    levels, errors = np.append(solution.values, 0.0), np.append(errors, error)
    apart = levels[:-1] - levels[1:] > APART * np.maximum(errors[:-1], errors[1:])
    if solution.rank == solution.dim:
        apart[-1:] = True  # there is nothing without a variance
    cuts = [0, *(np.flatnonzero(apart) + 1), solution.rank + k]
    return [(int(s), int(e)) for s, e in pairwise(cuts) if e > s]

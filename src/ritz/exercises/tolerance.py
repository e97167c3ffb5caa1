"""How far off a right answer may be.

That is what was asked for (`tol`), what the certificate leaves open, and what rounding in the arithmetic of the answer
can do. `tol` means what it means for `PCA`, a residual ‖Cu − λu‖ of tol·λ₁; over the gap to another eigenvalue it is
the angle that the axis may be turned by towards that one. But the angle is √tol at most, so that the variance along
every axis is right to tol, however close eigenvalues are to each other beside λ₁; a fit whose own certificate states a
residual within tol says itself what it leaves open. Rounding moves an axis by rounding·λ₁ over the gap, and eigenvalues
that it can join are a group of which only the span is determined.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ritz.exercises.answer import Answer
from ritz.exercises.problem import Problem
from ritz.exercises.solution import Solution
from ritz.linalg.dense import Array, column_norms, svd

APART = 4.0  # eigenvalues closer than so many errors are not told apart, as in the certificate
GROWTH = 32.0  # roundings of an eigensolver and of the matrix it was given, per root of the dimension
CLOSE = 0.25  # sine of the angle (14°) below which an axis counts as on its way, or as rounded to a few digits
SINGULAR = 1e-10  # columns that depend on each other, but for that
Group = tuple[int, int]  # a range of eigenvectors


class Within(NamedTuple):
    """Errors that were measured, and how large they may be."""

    found: Any
    allowed: Any

    @property
    def holds(self) -> bool:
        return bool(np.all(self.found <= self.allowed))


@dataclass(frozen=True, eq=False)
class Scale:
    """How large an error of a right answer may be."""

    solution: Solution
    tol: float
    own: float  # rounding of the answer's arithmetic, relative to λ₁
    stated: float  # residual that a certificate of the answer's own states, relative to λ₁, where it is within tol
    coarse: float
    stretch: Array  # (r + k,) how much more it is for α and scores of small variances
    too_coarse: bool = False  # whether numbers have so few digits that they are judged as they stand

    @classmethod
    def of(cls, problem: Problem, answer: Answer, tol: float) -> Scale:
        solution, k = problem.solution, answer.count
        stretch = np.ones(solution.rank + k)
        if answer.kind in ("alpha", "scores") and solution.rank:
            stretch[: solution.rank] = np.sqrt(solution.values[0] / solution.values)
        own = GROWTH * np.sqrt(problem.dim) * answer.unit
        # Errors of scores are relative to their lengths already; those of α are multiplied by Zᵀ.
        turns = float(stretch[: min(k, solution.rank)].max(initial=1.0)) if answer.kind == "alpha" else 1.0
        coarse = answer.coarse * turns
        stated = answer.stated if answer.stated <= tol else 0.0
        return cls(solution, tol, own, stated, coarse if coarse <= CLOSE else 0.0, stretch, coarse > CLOSE)

    @property
    def error(self) -> float:
        """Of an eigenvalue, by rounding."""
        return self.own * float(self.solution.first(1)[0])

    @cached_property
    def levels(self) -> Array:  # (r + k,)
        """Eigenvalues; 0 for directions without variance."""
        return self.solution.first(len(self.stretch))

    def _gaps(self, start: int, end: int) -> Array:  # (r + k,)
        """From a group of eigenvalues to every other one; 0 inside the group."""
        levels = self.levels
        gaps = np.maximum(np.maximum(levels - levels[start], levels[end - 1] - levels), 0.0)
        gaps[start:end] = 0.0
        return gaps

    def limits(self, start: int, end: int) -> Array:  # (r + k,)
        """How large each coordinate of a unit vector of a group may be: infinite inside it, 1 at most outside.

        An error turns an eigenvector towards another one by its size over their gap. So an axis that a near tie leaves
        open in one direction is held in all others.
        """
        gaps, stretch = self._gaps(start, end), float(self.stretch[start:end].max(initial=1.0))
        most = 1.0 if self.stated else np.sqrt(self.tol)
        asked = turned(self.tol * float(self.levels[0]) * stretch, gaps).clip(self.tol, most)
        left = turned(self.error * stretch + self.solution.residual(start, end), gaps)
        limits = np.minimum(1.0, asked + self.coarse + left)
        limits[start:end] = np.inf
        return limits

    def angles(self, W: Array, groups: list[Group]) -> Within:  # (m, k) -> (k,), (k,)
        """Sine of the angle between each column and the eigenvectors of its group, and what it may be."""
        which = {group: self.limits(*group)[: len(W)] for group in set(groups)}
        limits = np.array([which[group] for group in groups]).T
        lengths = column_norms(W)
        sizes, excess = column_norms(np.where(np.isfinite(limits), W, 0.0)), column_norms(W / limits)
        with np.errstate(divide="ignore", invalid="ignore"):
            sines = np.where(lengths > 0, np.minimum(sizes / lengths, 1.0), 1.0)
            allowed = np.where((excess > 0) & (lengths > 0), sizes / excess, self.tol)
        return Within(sines, allowed)

    def certified(self, start: int, end: int) -> float:
        """What the certificate leaves open of that angle: its own bound, or ‖R‖/gap for groups that are wider."""
        certificate, last = self.solution.certificate, min(end, self.solution.rank)
        if certificate is None or start >= last:
            return 0.0
        if (start, last) in certificate.groups and last == end:
            return float(certificate.angle_bounds[start])
        error, gaps = self.solution.residual(start, end), self._gaps(start, end)
        return error / max(float(gaps[gaps > 0].min(initial=np.inf)), error, 1e-300)


def turned(error: float, gaps: Array) -> Array:
    """Sines of the angles by which an error of a matrix turns its eigenvectors."""
    return error / np.maximum(gaps, max(error, 1e-300))


def grouped(solution: Solution, k: int, error: float) -> list[Group]:
    """Ranges of eigenvectors that cannot be told apart, from the certificate's bounds and that error; the last one is
    all directions without a variance, of which k columns are at most in use."""
    errors = np.maximum(solution.errors, error)
    errors[~np.isfinite(errors)] = error
    levels, errors = np.append(solution.values, 0.0), np.append(errors, error)
    apart = levels[:-1] - levels[1:] > APART * np.maximum(errors[:-1], errors[1:])
    if solution.rank == len(solution.vectors):
        apart[-1:] = True  # there is nothing without a variance
    cuts = [0, *(np.flatnonzero(apart) + 1), solution.rank + k]
    return [(int(s), int(e)) for s, e in pairwise(cuts) if e > s]


def span(W: Array, last: Group, scale: Scale) -> Within:
    """The sine of the largest angle to the best subspace, which is not unique where a group is cut, and its limit."""
    k, (start, end) = W.shape[1], last
    Q, sizes, _ = svd(W / np.maximum(column_norms(W), 1e-300))
    if not sizes[-1] > SINGULAR * sizes[0]:
        return Within(1.0, scale.tol)
    limits = scale.limits(start, end)[: len(W)]
    others = np.flatnonzero(np.isfinite(limits[start:])) + start
    beyond, excess = (
        float(np.linalg.norm(P, 2)) if P.size else 0.0 for P in (Q[others], Q[others] / limits[others, None])
    )
    # What is allowed in every direction, wherever rounding points.
    least = float(limits[others].min()) if others.size else scale.tol
    allowed = beyond / excess if beyond > least else least
    best = Within(min(beyond, 1.0), allowed)
    if end == k or not start:
        return best
    within = np.eye(len(W))[:, :start]  # a group is cut; all before it has to lie in the span
    missing = float(np.linalg.norm(within - Q @ (Q.T @ within), 2))
    most = float(scale.limits(0, start).min())
    return best if beyond * most >= missing * allowed else Within(missing, most)

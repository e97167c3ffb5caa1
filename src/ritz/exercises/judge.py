"""Judging: an answer beside the certified solution of a problem.

Everything is measured in the coordinates of the true eigenvectors, W = [VᵀU; R], where R holds what lies outside all
directions with a variance. Then WᵀW = UᵀU, the matrix of the problem is diag(λ), and the angle between a column and
the eigenvectors of a group of equal eigenvalues is what its other coordinates say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import starmap

import numpy as np

from ritz.exercises.answer import Answer
from ritz.exercises.case import Case, fits
from ritz.exercises.tolerance import Scale, grouped
from ritz.linalg.dense import Array, column_norms

NOTHING = 1e-13  # share of the total variance that is rounding
SINGULAR = 1e-10  # columns that depend on each other, but for that


@dataclass(frozen=True, eq=False)
class Judgement:
    """What is measured of an answer, when it is asked for, and what a right one may have.

    Attributes
    ----------
    case : the answer and its problem
    W : (r + k, k) coordinates of its columns; without any for values alone
    scale : how large errors may be
    """

    case: Case
    W: Array
    scale: Scale

    @cached_property
    def right(self) -> bool:
        return self.valued and self.orthonormal and self.aligned

    @property
    def orthonormal(self) -> bool:
        return self.defect <= self.allowed_defect

    @property
    def spans(self) -> bool:
        return self.span <= self.allowed_span

    @property
    def aligned(self) -> bool:
        return bool((self.axes <= self.allowed_axes).all())

    @property
    def valued(self) -> bool:
        return bool((np.abs(self.off) <= self.allowed_off).all())

    @cached_property
    def lengths(self) -> Array:  # (k,)
        """Of the columns; right ones have 1."""
        return column_norms(self.W)

    @cached_property
    def defect(self) -> float:
        """Largest entry of |UᵀU − I|."""
        return float(np.abs(self.W.T @ self.W - np.eye(self.W.shape[1])).max(initial=0.0))

    @cached_property
    def allowed_defect(self) -> float:
        stretched = self.scale.own * self.scale.stretch[: self.W.shape[1]] ** 2
        return float(4 * self.case.tol + 2 * self.scale.coarse + stretched.max(initial=0.0))

    @cached_property
    def homes(self) -> list[tuple[int, int]]:
        """The group of eigenvectors that each column should belong to."""
        k = self.W.shape[1]
        groups = grouped(self.case.problem.solution, k, self.scale.error)
        return [next((s, e) for s, e in groups if s <= i < e) for i in range(k)]

    @cached_property
    def _axes(self) -> Array:  # (k, 2)
        limits = {home: self.scale.limits(*home) for home in set(self.homes)}
        pairs = [outside(w, limits[home], self.case.tol) for w, home in zip(self.W.T, self.homes, strict=True)]
        return np.array(pairs).reshape(-1, 2)

    @property
    def axes(self) -> Array:  # (k,)
        """Sine of the angle between a column and the eigenvectors of its group."""
        return self._axes[:, 0]

    @property
    def allowed_axes(self) -> Array:  # (k,)
        return self._axes[:, 1]

    @cached_property
    def _span(self) -> tuple[float, float]:
        return _span(self.W, self.homes[-1], self.scale)

    @property
    def span(self) -> float:
        """Sine of the largest angle to the best subspace."""
        return self._span[0]

    @property
    def allowed_span(self) -> float:
        return self._span[1]

    @property
    def certified(self) -> float:
        """What the certificate leaves open of the angles of the solution."""
        return max(starmap(self.scale.certified, self.homes))

    @cached_property
    def levels(self) -> Array:  # (r + k,)
        """Eigenvalues of all coordinates."""
        return self.case.problem.solution.first(len(self.W))

    @cached_property
    def captured(self) -> Array:  # (k,)
        """Variance θ along each column, of length 1."""
        return self.levels @ self._unit**2

    @property
    def residuals(self) -> Array:  # (k,)
        """‖C u − θ u‖ of the same, relative to λ₁."""
        return column_norms((self.levels[:, None] - self.captured) * self._unit) / max(self.levels[0], 1e-300)

    @property
    def _unit(self) -> Array:
        return self.W / np.where(self.lengths > 0, self.lengths, 1.0)

    @property
    def errors(self) -> tuple[float, float, float]:
        """Mean squared reconstruction error as ‖x − UUᵀx‖² and as ‖x‖² − ‖Uᵀx‖², which agree where columns are
        orthonormal; and the least possible."""
        W, problem = self.W, self.case.problem
        captured, total = W.T @ (self.levels[:, None] * W), problem.solution.total
        kept = float(np.trace(captured))
        decoded = total - 2 * kept + float(np.sum(captured * (W.T @ W)))
        found = (decoded, total - kept, float(problem.solution.values[W.shape[1] :].sum()))
        decoded, subtracted, best = (problem.weight * e if abs(e) > NOTHING * total else 0.0 for e in found)
        return decoded, subtracted, best

    @cached_property
    def off(self) -> Array:
        """Differences of the eigenvalues."""
        values = self.case.answer.values
        return np.zeros(0) if values is None else values - self.case.problem.solution.first(len(values))

    @cached_property
    def allowed_off(self) -> Array:
        solution, m = self.case.problem.solution, len(self.off)
        certified = np.append(solution.certificate.errors[: solution.rank], np.zeros(m))[:m]
        certified[~np.isfinite(certified)] = 0.0
        return self.case.tol * solution.first(m) + certified + self.scale.error + self.case.answer.grain


def judge(case: Case) -> Judgement | None:
    """What is right about an answer, and what is not; None where it does not even fit. Many mistakes ask for it."""
    if not fits(case):
        return None
    known = case.answer.judged
    if (case.problem, case.tol) not in known:
        W = np.zeros((1, 0)) if case.answer.array is None else coordinates(case)
        known[case.problem, case.tol] = Judgement(case, W, Scale.of(case))
    return known[case.problem, case.tol]


def coordinates(case: Case) -> Array:  # (r + k, k)
    """W of an answer that fits, so that right columns have length 1."""
    problem, answer = case.problem, case.answer
    U, solution = np.asarray(answer.array), problem.solution
    r, k = solution.rank, answer.count
    if answer.kind == "alpha":  # w = Zᵀα, whose coordinates are √κ βᵀα
        return np.vstack([np.sqrt(problem.kappa)[:, None] * (problem.duals.T @ U), np.zeros((k, k))])
    basis = solution.vectors if answer.kind == "axes" else problem.duals
    T = basis.T @ U
    R = np.linalg.qr(U - basis @ T, mode="r")
    W = np.vstack([T, R, np.zeros((r + k - len(T) - len(R), k))])
    return W / np.sqrt(problem.kappa[:k]) if answer.kind == "scores" else W


def outside(w: Array, limits: Array, tol: float) -> tuple[float, float]:
    """The sine of the angle between a column and the coordinates without a limit, and the largest one that is allowed
    in that direction. Of several columns, which are orthonormal, it is the largest angle."""
    order, length = (None, float(np.linalg.norm(w))) if w.ndim == 1 else (2, 1.0)
    if not length:
        return 1.0, tol
    others = np.isfinite(limits)
    if not others.any():
        return 0.0, tol
    sine = float(np.linalg.norm(w[others], order)) / length
    excess = float(np.linalg.norm((w[others].T / limits[others]).T, order)) / length
    return min(sine, 1.0), sine / excess if excess > 0 else tol


def _span(W: Array, last: tuple[int, int], scale: Scale) -> tuple[float, float]:
    """The sine of the largest angle to the best subspace, which is not unique where a group is cut, and its limit."""
    k, (start, end) = W.shape[1], last
    Q, sizes = np.linalg.svd(W / np.maximum(column_norms(W), 1e-300), full_matrices=False)[:2]
    if not sizes[-1] > SINGULAR * sizes[0]:
        return 1.0, scale.tol
    limits = scale.limits(start, end)
    limits[:start] = np.inf
    beyond, allowed = outside(Q, limits, scale.tol)
    if end == k or not start:
        return beyond, allowed
    within = np.eye(len(W))[:, :start]  # a group is cut; all before it has to lie in the span
    missing = float(np.linalg.norm(within - Q @ (Q.T @ within), 2))
    most = float(scale.limits(0, start).min())
    return (beyond, allowed) if beyond * most >= missing * allowed else (missing, most)


def solved(case: Case) -> Answer:
    """The right answer in the form of the one that was handed in."""
    problem, answer, k = case.problem, case.answer, case.answer.count
    values = None if answer.values is None else problem.solution.first(len(answer.values))
    if answer.array is None:
        return answer.but(values=values)
    basis = problem.solution.vectors if answer.kind == "axes" else problem.duals
    roots = np.sqrt(problem.kappa[:k])
    columns = {"alpha": basis[:, :k] / roots, "scores": basis[:, :k] * roots}.get(answer.kind, basis[:, :k])
    return answer.but(array=columns, values=values)

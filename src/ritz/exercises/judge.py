"""Judging: an answer beside the certified solution of a problem.

Everything is measured in the coordinates of the true eigenvectors, W = [VᵀU; R], where R holds what lies outside all
directions with a variance. Then WᵀW = UᵀU, the matrix of the problem is diag(λ), and the angle between a column and
the eigenvectors of a group of equal eigenvalues is what its other coordinates say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.exercises.answer import Answer
from ritz.exercises.case import Case, fits
from ritz.exercises.problem import Problem, Solution
from ritz.exercises.tolerance import Scale, grouped
from ritz.linalg.dense import Array, column_norms

NOTHING = 1e-13  # share of the total variance that is rounding
SINGULAR = 1e-10  # columns that depend on each other, but for that


@dataclass(frozen=True, eq=False)
class Judgement:
    """What was measured of an answer, and what a right one may have.

    Attributes
    ----------
    defect : largest entry of |UᵀU − I|
    lengths : (k,) of the columns, where right ones have 1
    span : sine of the largest angle to the best subspace
    axes : (k,) sine of the angle between a column and the eigenvectors of its group
    captured : (k,) variance along each column, of length 1
    errors : mean squared reconstruction error, as ‖x − UUᵀx‖² and as ‖x‖² − ‖Uᵀx‖²; and the least possible
    off : (m,) differences of the eigenvalues
    allowed_* : the most that a right answer may have
    """

    defect: float
    allowed_defect: float
    lengths: Array
    span: float
    allowed_span: float
    axes: Array
    allowed_axes: Array
    captured: Array
    errors: tuple[float, float, float]
    off: Array
    allowed_off: Array
    certified: float

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

    @property
    def right(self) -> bool:
        return self.orthonormal and self.aligned and self.valued


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


def judge(case: Case) -> Judgement | None:
    """What is right about an answer, and what is not; None where it does not even fit. Many mistakes ask for it."""
    if not fits(case):
        return None
    known = case.answer.judged
    if (case.problem, case.tol) not in known:
        known[case.problem, case.tol] = _judged(case)
    return known[case.problem, case.tol]


def _judged(case: Case) -> Judgement:
    problem, answer, tol = case
    scale = Scale.of(case)
    off, allowed_off = _values(problem.solution, answer, scale)
    if answer.array is None:
        none = np.zeros(0)
        return Judgement(0, 0, none, 0, 0, none, none, none, (0, 0, 0), off, allowed_off, 0)
    W, k = coordinates(case), answer.count
    lengths, defect = column_norms(W), float(np.abs(W.T @ W - np.eye(k)).max())
    groups = grouped(problem.solution, k, scale.error)
    home = [next((s, e) for s, e in groups if s <= i < e) for i in range(k)]
    span, allowed_span = _span(W, home[-1], scale)
    unit = W / np.where(lengths > 0, lengths, 1.0)
    levels = np.append(problem.solution.values, np.zeros(k))
    return Judgement(
        defect=defect,
        allowed_defect=float(4 * tol + 2 * scale.coarse + (scale.own * scale.stretch[:k] ** 2).max()),
        lengths=lengths,
        span=span,
        allowed_span=allowed_span,
        axes=np.array([_outside(W[:, i], *home[i]) for i in range(k)]),
        allowed_axes=np.array([scale.allowed(*home[i]) for i in range(k)]),
        captured=levels @ unit**2,
        errors=_errors(W, levels, problem),
        off=off,
        allowed_off=allowed_off,
        certified=max(scale.certified(*group) for group in home),
    )


def _outside(w: Array, start: int, end: int) -> float:
    """The sine of the angle between a column and a group of coordinates."""
    length = float(np.linalg.norm(w))
    return float(np.linalg.norm(np.delete(w, np.s_[start:end]))) / length if length else 1.0


def _span(W: Array, last: tuple[int, int], scale: Scale) -> tuple[float, float]:
    """The sine of the largest angle to the best subspace, which is not unique where a group is cut, and its limit."""
    k, (start, end) = W.shape[1], last
    Q, sizes = np.linalg.svd(W / np.maximum(column_norms(W), 1e-300), full_matrices=False)[:2]
    allowed = scale.allowed(start, end)
    if not sizes[-1] > SINGULAR * sizes[0]:
        return 1.0, allowed
    within = np.eye(len(W))[:, : k if end == k else start]  # what has to lie in the span
    beyond = float(np.linalg.norm(Q[end:], 2)) if end < len(W) else 0.0
    missing = float(np.linalg.norm(within - Q @ (Q.T @ within), 2)) if within.shape[1] else 0.0
    return min(1.0, max(beyond, missing)), allowed


def _errors(W: Array, levels: Array, problem: Problem) -> tuple[float, float, float]:
    """Mean squared reconstruction errors: both forms, which agree where columns are orthonormal; and the least."""
    captured, total = W.T @ (levels[:, None] * W), problem.solution.total
    kept, k = float(np.trace(captured)), W.shape[1]
    decoded = total - 2 * kept + float(np.sum(captured * (W.T @ W)))
    best = float(problem.solution.values[k:].sum())
    found = [problem.weight * error if abs(error) > NOTHING * total else 0.0 for error in (decoded, total - kept, best)]
    return found[0], found[1], found[2]


def _values(solution: Solution, answer: Answer, scale: Scale) -> tuple[Array, Array]:
    """How far the eigenvalues are off, and how far they may be."""
    if answer.values is None:
        return np.zeros(0), np.zeros(0)
    m = len(answer.values)
    true = solution.first(m)
    certified = np.append(solution.certificate.errors[: solution.rank], np.zeros(m))[:m]
    certified[~np.isfinite(certified)] = 0.0
    return answer.values - true, scale.tol * true + certified + scale.error + answer.grain


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

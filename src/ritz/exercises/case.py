"""Cases: an answer beside the solution of a problem, and everything that is measured of it.

All is measured in the coordinates of the true eigenvectors, T = VᵀU, where the matrix of the problem is diag(λ), and
by the length of what lies outside all directions with a variance. The angle between a column and the eigenvectors of a
group of equal eigenvalues is what its other coordinates say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import starmap
from typing import Any

import numpy as np

from ritz.exercises.answer import Answer
from ritz.exercises.problem import Problem
from ritz.exercises.tolerance import Group, Scale, Within, grouped, span
from ritz.linalg.dense import Array, column_norms

NOTHING = 1e-13  # share of the total variance that is rounding


@dataclass(frozen=True, eq=False)
class Case:
    """An answer to a problem; it is measured when that is asked for, and only where it `fits`.

    Attributes
    ----------
    tol : residual that an axis may have, relative to λ₁, beside what rounding explains
    """

    problem: Problem
    answer: Answer
    tol: float = 1e-6

    def with_answer(self, **changes: Any) -> Case:
        """The same problem, and the answer with something changed."""
        return replace(self, answer=replace(self.answer, **changes))

    @cached_property
    def fits(self) -> bool:
        """Whether the answer has the shape of its kind, and no more columns than there are directions."""
        problem, answer = self.problem, self.answer
        if answer.array is None:
            return 1 <= answer.count <= problem.dim
        if len(answer.array) != problem.entries(answer.kind):
            return False
        free = answer.kind in ("axes", problem.pairs[0])  # eigenvectors of the matrix itself may have no variance
        return answer.count <= (problem.dim if free else problem.solution.rank)

    @cached_property
    def right(self) -> bool:
        if not self.fits or not self.values.holds:
            return False
        if self.answer.array is None:
            return True
        # One column tells nearly all wrong answers, and costs little beside all of them.
        return self.scale.angles(self.first, self.expected[:1]).holds and self.products.holds and self.axes.holds

    @cached_property
    def scale(self) -> Scale:
        """How large errors may be."""
        return Scale.of(self.problem, self.answer, self.tol)

    @cached_property
    def U(self) -> Array:
        """The columns, so that right ones have length 1; α has them in w = Zᵀα."""
        array = np.asarray(self.answer.array)
        return array / np.sqrt(self.problem.kappa[: self.answer.count]) if self.answer.kind == "scores" else array

    @property
    def basis(self) -> Array:
        """The eigenvectors that columns of this kind are combined of."""
        return self.problem.solution.vectors if self.answer.kind == "axes" else self.problem.duals

    def _coordinates(self, U: Array) -> tuple[Array, Array]:
        """T of some columns, and what lies outside."""
        T = self.basis.T @ U
        if self.answer.kind == "alpha":  # w = Zᵀα = V √κ βᵀα
            return np.sqrt(self.problem.kappa)[:, None] * T, np.zeros((0, U.shape[1]))
        complete = self.basis.shape[0] == self.basis.shape[1]
        return T, np.zeros((0, U.shape[1])) if complete else U - self.basis @ T

    def _sized(self, U: Array) -> Array:
        """T of some columns, and the lengths of what lies outside."""
        T, rest = self._coordinates(U)
        return np.vstack([T, column_norms(rest)])

    @cached_property
    def W(self) -> Array:  # (r + 1, k)
        """T, and the length of what lies outside."""
        return self._sized(self.U)

    @cached_property
    def first(self) -> Array:  # (r + 1, 1)
        """The first column of W, for less work."""
        return self._sized(self.U[:, :1])

    @cached_property
    def gram(self) -> Array:  # (k, k)
        """UᵀU; that of w for α."""
        U = self.W if self.answer.kind == "alpha" else self.U
        return U.T @ U

    @cached_property
    def lengths(self) -> Array:  # (k,)
        """Of the columns; right ones have 1."""
        return column_norms(self.W)

    @cached_property
    def products(self) -> Within:
        """Largest entry of |UᵀU − I|."""
        found = np.abs(self.gram - np.eye(self.answer.count)).max()
        stretched = self.scale.own * self.scale.stretch[: self.answer.count] ** 2
        return Within(float(found), float(4 * self.tol + 2 * self.scale.coarse + stretched.max()))

    @cached_property
    def groups(self) -> list[Group]:
        """Eigenvectors that cannot be told apart; the last one is that of directions without a variance."""
        return grouped(self.problem.solution, self.answer.count, self.scale.error)

    @cached_property
    def expected(self) -> list[Group]:
        """The group of eigenvectors that each column should belong to."""
        return [group for group in self.groups for _ in range(*group)][: self.answer.count]

    @cached_property
    def actual(self) -> list[Group] | None:
        """The group that each column belongs to; None where one of them is no eigenvector, or there are none.

        Of another problem than the one asked for, directions without a variance do not count: there are too many.
        """
        if self.answer.array is None or not self.fits:
            return None
        groups: list[Group] | None = None
        for W in (self.first, self.W):  # one column tells nearly all others from eigenvectors
            starts = [start for start, _ in self.groups if start < len(W)]
            groups = [self.groups[g] for g in np.add.reduceat(W**2, starts).argmax(axis=0)]
            null = any(end > self.problem.solution.rank for _, end in groups)
            if (null and not self.problem.certified) or not self.scale.angles(W, groups).holds:
                return None
        return groups

    @cached_property
    def axes(self) -> Within:  # (k,)
        """Sine of the angle between a column and the eigenvectors of its group."""
        return self.scale.angles(self.W, self.expected)

    @cached_property
    def span(self) -> Within:
        """Sine of the largest angle to the best subspace."""
        if self._repeats:
            return Within(1.0, self.tol)
        T, rest = self._coordinates(self.U)
        return span(np.vstack([T, np.linalg.qr(rest, mode="r")]), self.expected[-1], self.scale)

    @property
    def _repeats(self) -> bool:
        """Whether more columns are eigenvectors of a group than it has dimensions: what else they span is rounding."""
        groups = self.actual or []
        return any(groups.count((start, end)) > end - start for start, end in groups)

    @property
    def certified(self) -> float:
        """What the certificate leaves open of the angles of the solution."""
        return max(starmap(self.scale.certified, self.expected))

    @cached_property
    def levels(self) -> Array:
        """Eigenvalues of all coordinates."""
        return self.problem.solution.first(len(self.W))

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
        W, solution = self.W, self.problem.solution
        captured, total = W.T @ (self.levels[:, None] * W), solution.total
        kept = float(np.trace(captured))
        decoded = total - 2 * kept + float(np.sum(captured * self.gram))
        found = (decoded, total - kept, float(solution.values[self.answer.count :].sum()))
        decoded, subtracted, best = (self.problem.weight * e if abs(e) > NOTHING * total else 0.0 for e in found)
        return decoded, subtracted, best

    @cached_property
    def values(self) -> Within:
        """Differences of the eigenvalues; none where none were handed in."""
        solution, m = self.problem.solution, 0 if self.answer.values is None else len(self.answer.values)
        found = np.zeros(0) if self.answer.values is None else np.abs(self.answer.values - solution.first(m))
        certified = np.append(solution.errors, np.full(m, solution.left))[:m]
        certified[~np.isfinite(certified)] = 0.0
        certified += self.scale.stated * float(solution.first(1)[0])
        return Within(found, self.tol * solution.first(m) + certified + self.scale.error + self.answer.grain)

    @property
    def solved(self) -> Answer:
        """The right answer in the form of the one that was handed in."""
        answer, k = self.answer, self.answer.count
        values = None if answer.values is None else self.problem.solution.first(len(answer.values))
        if answer.array is None:
            return replace(answer, values=values)
        roots, basis = np.sqrt(self.problem.kappa[:k]), self.basis[:, :k]
        columns = {"alpha": basis / roots, "scores": basis * roots}.get(answer.kind, basis)
        return replace(answer, array=columns, values=values)

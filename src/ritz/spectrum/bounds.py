"""Bounds: what residuals say about true eigenvalues and eigenvectors.

A is symmetric, U has orthonormal columns, R = A U − U Θ rests on float64 products with A. `rounding` bounds the
difference between the A that was multiplied and the A that was meant.

- Values from below: Cauchy's interlacing, λ_i ≥ θ_i.
- Values from above: need τ ≥ xᵀA x for all unit vectors x orthogonal to U, so that no larger eigenvalue hides outside
  span(U); then Weyl's theorem, or with a gap the quadratic bound of Li and Li (Linear Algebra Appl. 395, 2005).
- Angles: Davis and Kahan's sin θ theorem, with gaps to bounds on true eigenvalues, not to computed ones.

`bounds` itself asks no more of A: eigenvalues and τ may lie below 0. That none does enters in two places. With a
`negativity` of 0, lower bounds are lifted to 0; and `completeness`, which looks for τ, takes that of an A that is
positive semidefinite but for its `negativity` (`magnitudes` finds those of A and −A otherwise).

A sketch knows an A that falls short of the one that is meant, by a positive part of norm at most `missing`. The one
that is meant is then A + missing/2·I to ±missing/2, with the same vectors, and that is what all but the lower bounds
rest on: Weyl's theorem moves no value by more.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ritz.linalg.ceiling import deflated, proved_ceiling
from ritz.linalg.dense import (
    LARGE,
    Array,
    gamma,
    norm_of,
)
from ritz.operators import Operator
from ritz.operators.base import Pairs
from ritz.solvers import Outside
from ritz.solvers.probes import FAILURE

APART = 4.0  # neighbours closer than this many errors are not told apart
CHEAP = 0.05  # share of a fit that a proof of completeness may cost where the free bounds already hold


@dataclass(frozen=True, eq=False)
class Evidence:
    """m Ritz values with the norms of their residuals, and how far they can be trusted.

    Attributes
    ----------
    values, residuals : (m,) Ritz values, descending, and the norms of the columns of R
    rounding : norm bound on the error of the operator and of R's own computation
    defect : ‖Uᵀ A U − Θ‖
    exhausted : whether span(U) is the whole space, so that nothing lies outside
    negativity : how far below 0 an eigenvalue may lie; 0 lifts lower bounds to 0
    slack : (m,) further residuals of the vectors that values do not have
    missing : norm bound on the positive part by which the A that is meant exceeds the one that was multiplied
    """

    values: Array
    residuals: Array
    rounding: float
    defect: float
    exhausted: bool
    negativity: float = 0.0
    slack: Array | None = None
    missing: float = 0.0

    @property
    def floor(self) -> float:
        """What rounding alone can make of 0."""
        return self.rounding + self.defect

    @property
    def least(self) -> float:
        """Lower bound of the largest eigenvalue, by Cauchy's interlacing."""
        return float(self.values[0]) - self.defect - self.rounding

    @property
    def turned(self) -> Array:
        """Residuals of the vectors."""
        return self.residuals if self.slack is None else self.residuals + self.slack


class Bounds(NamedTuple):
    """Bounds on the first k true values and on the angles of their groups."""

    lower: Array
    upper: Array
    following: float  # upper bound of the value after the first k
    angles: Array
    groups: tuple[tuple[int, int], ...]
    tie_at_k: bool
    complete_to: int
    ceiling: float  # τ, as it was given: the largest xᵀA x of unit vectors x outside span(U), or more
    next_lower: float  # lower bound of the value after the first k


def bounds(seen: Evidence, k: int, ceiling: float) -> Bounds:
    """What m ≥ k Ritz pairs say about the k leading true values; no xᵀA x outside span(U) exceeds τ = `ceiling`.

    Here x is a unit vector orthogonal to U. τ may lie below 0; where U spans the whole space, any number is such a τ.
    """
    lower, upper = _value_bounds(seen, ceiling)
    values, upper, error_of_A = seen.values + seen.missing / 2, upper + seen.missing, seen.rounding + seen.missing / 2
    errors = seen.residuals + error_of_A
    alone, more = seen.exhausted and k == len(values), k < len(values)
    following = -np.inf if alone else float(upper[k]) if more else ceiling + seen.missing
    groups, turned = _groups(values[:k], errors[:k]), seen.turned
    angles = np.ones(k)
    for s, e in groups:
        above = float(lower[s - 1] - values[s]) if s else np.inf
        gap = min(above, float(values[e - 1]) - (float(upper[e]) if e < k else following))
        error = norm_of(turned[s:e]) + error_of_A
        angles[s:e] = min(1.0, error / gap) if gap > 0 else 1.0
    surely = values[:k] - (norm_of(seen.residuals[:k]) + error_of_A) > following
    return Bounds(
        lower=lower[:k],
        upper=upper[:k],
        following=0.0 if alone else following,
        angles=angles,
        groups=groups,
        tie_at_k=bool(angles[-1] >= 1) and _tied(values, errors, k, following),  # an angle bound rests on a proved gap
        complete_to=k if surely.all() else int(np.argmin(surely)),
        ceiling=ceiling,
        next_lower=max(float(lower[k]), -seen.negativity) if more else -seen.negativity,
    )


def _groups(values: Array, errors: Array) -> tuple[tuple[int, int], ...]:
    """Half-open ranges of values too close to be told apart."""
    sharp = values[:-1] - values[1:] > APART * np.maximum(errors[:-1], errors[1:])
    cuts = [0, *(np.flatnonzero(sharp) + 1), len(values)]
    return tuple((int(s), int(e)) for s, e in pairwise(cuts))


def _tied(values: Array, errors: Array, k: int, following: float) -> bool:
    """Whether the value after the first k, if there is one, cannot be told from the k-th."""
    if k < len(values):
        return _near(values, errors, k)
    # Without a next Ritz value, a proved ceiling at the k-th value's own height is the evidence.
    return bool(abs(following - values[k - 1]) <= max(APART * errors[k - 1], 1e-9 * values[0]))


def _near(values: Array, errors: Array, k: int) -> bool:
    """Whether the k-th value cannot be told from the one behind it."""
    return bool(values[k - 1] - values[k] <= APART * max(errors[k - 1], errors[k]))


def may_tie(seen: Evidence, k: int) -> bool:
    """Whether the k-th value may be tied with the next one: what only bounds can tell is left open."""
    if k == len(seen.values):
        return not seen.exhausted
    return _near(seen.values, seen.residuals + (seen.rounding + seen.missing / 2), k)


def next_upper(seen: Evidence, k: int, ceiling: float) -> float:
    """The upper bound of the value after the first k alone, as `bounds` has it or hardly higher: all that most fits
    need at once, for a small part of the work."""
    m, more = len(seen.values), k < len(seen.values)
    if not more:
        return -np.inf if seen.exhausted and k == m else ceiling + seen.missing
    value, own = float(seen.values[k]), seen.defect + seen.rounding
    whole, lead = (norm_of(part) + seen.rounding for part in (seen.residuals, seen.residuals[: k + 1]))
    upper = max(value, ceiling) + own + whole
    outside = max(float(seen.values[k + 1]) + seen.defect, ceiling) if k + 1 < m else ceiling
    gap = value - seen.defect - outside - norm_of(seen.residuals[k + 1 :]) - seen.rounding
    if gap > 0:
        upper = min(upper, value + own + float(_rise(gap, lead)))
    return upper + seen.missing


def _value_bounds(seen: Evidence, ceiling: float) -> tuple[Array, Array]:
    values, rounding, defect, squares = seen.values, seen.rounding, seen.defect, seen.residuals**2
    lead = np.sqrt(np.add.accumulate(squares)) + rounding  # ‖R[:, :i+1]‖
    rest = np.full(len(values), rounding)  # ‖R[:, i+1:]‖
    rest[:-1] += np.sqrt(np.add.accumulate(squares[:0:-1])[::-1])
    lower = np.maximum.accumulate((values - defect - rounding)[::-1])[::-1]
    # Weyl: everything in span(U) against everything outside.
    upper = np.maximum(values, ceiling) + defect + rounding + lead[-1]
    # Li and Li: the first i+1 vectors against all the rest, whose norm is at most `outside`.
    outside = np.full(len(values), ceiling)
    np.maximum(values[1:] + defect, ceiling, out=outside[:-1])
    outside += rest
    gap = values - defect - outside
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        quadratic = values + defect + rounding + _rise(gap, lead)
    upper = np.where(gap > 0, np.fmin(upper, quadratic), upper)
    return lower if seen.negativity else np.maximum(lower, 0.0), np.minimum.accumulate(upper)


def _rise(gap: Any, coupling: Any) -> Any:
    """How far coupling may lift values above others that lie so far below (Li and Li)."""
    return 2 * coupling**2 / (gap + np.hypot(gap, 2 * coupling))


@dataclass(frozen=True, eq=False)
class Question:
    """Whether the k leading eigenvalues of A are among these Ritz pairs, and what the solver knows outside of them."""

    A: Operator
    pairs: Pairs
    seen: Evidence
    k: int
    tol: float
    outside: Outside

    @property
    def at_hand(self) -> bool:
        """Whether the matrix is; `exact` says how good it is."""
        return self.A.is_dense

    @property
    def exact(self) -> bool:
        """Whether the matrix is about as good as products with A; a rough one was formed in float32."""
        return self.A.dense_rounding <= 2 * self.A.rounding

    def settled(self, ceiling: float) -> bool:
        """Whether all components that can have variance surely are the leading ones, with this ceiling."""
        seen, last = self.seen, min(self.k, self.A.rank_bound) - 1
        error = norm_of(seen.residuals[: self.k]) + seen.rounding
        return last < 0 or float(seen.values[last]) - error > next_upper(seen, self.k, ceiling)


def completeness(question: Question) -> tuple[float, float]:
    """The first ceiling that settles the question, or the lowest, and the probability that it does not hold."""
    if question.seen.exhausted:  # so that nothing can have been missed
        return 0.0, 0.0
    free = min(ceiling(question) for ceiling in FREE)
    return _by_probes(question, free) or _by_cholesky(question, free) or (free, 0.0)


def _by_trace(question: Question) -> float:
    A, seen = question.A, question.seen
    if A.trace is None:
        return np.inf
    m = len(seen.values)
    hidden = (len(question.pairs.vectors) - m) * A.negativity  # eigenvalues below 0 may hide as much above it
    return max(A.trace - float(np.sum(seen.values)), 0.0) + (m + 1) * seen.floor + hidden


def _by_frobenius_norm(question: Question) -> float:
    A, seen = question.A, question.seen
    norm = A.frobenius if question.exact or not question.at_hand else None
    if norm is None:
        return np.inf
    return beside(norm, seen.values, seen.floor, len(question.pairs.vectors)) + seen.rounding


def beside(norm: float, values: Array, floor: float, dim: int) -> float:
    """√(‖A‖² − Σθ²), which no norm outside the vectors exceeds, from a Frobenius norm; values may have any sign."""
    squares = norm**2 * (1 + gamma(8 * dim)) - float(np.sum(values**2))
    return float(np.sqrt(max(squares, 0.0) + 2 * floor * float(np.sum(np.abs(values)))))


def _by_norm(question: Question) -> float:
    return question.A.most + question.seen.rounding


def _by_solver(question: Question) -> float:
    return np.inf if question.outside.failure else question.outside.level + question.seen.rounding


FREE = (_by_trace, _by_frobenius_norm, _by_norm, _by_solver)  # each costs at most a look at every entry of A


def _by_probes(question: Question, free: float) -> tuple[float, float] | None:
    """From random probes, unless a proof costs little: beside a matrix, only if they settle the question."""
    products_alone = not question.at_hand
    if not (products_alone or question.A.dim > LARGE) or question.settled(free):
        return None
    level, failure = question.outside
    if level >= free:
        return None
    found = level + question.seen.rounding
    return (found, failure) if products_alone or question.settled(found) else None


def _by_cholesky(question: Question, free: float) -> tuple[float, float] | None:
    """From a proof; what is known of a rough matrix, random vectors have told."""
    A, pairs, seen = question.A, question.pairs, question.seen
    cheap = A.dim**3 / 3 <= CHEAP * (A.work + 4 * A.dim**3 / 3)
    if not question.at_hand or (question.settled(free) and not cheap):
        return None
    image = np.ascontiguousarray(pairs.root.T)

    def make() -> Array:  # anew for every guess: mostly the first one holds
        matrix: Any = A.copied()  # which is there, as the matrix is
        return deflated(matrix, image)

    # What follows may exceed the last value by the error of that value, but a proof is only of use within tol.
    error, largest = norm_of(pairs.residuals), float(pairs.values[0])
    last = float(pairs.values[-1]) + (min(error, 0.4 * question.tol * largest) if question.tol else error)
    rounding = seen.rounding + _deflation_error(A, pairs)
    tau = proved_ceiling(make, last, rounding=rounding, converged=len(pairs.values) > question.k)
    return min(free, tau), 0.0 if question.exact else FAILURE


def _deflation_error(A: Operator, pairs: Pairs) -> float:
    """Bound on the error of A − UΘUᵀ: that of the matrix, and of the products that are subtracted."""
    error = A.deflation_rounding(pairs.values)
    if pairs.slack is not None:  # the image rests on the same products as the axes, and shares their errors
        error += 2 * float(np.linalg.norm(pairs.slack * np.sqrt(pairs.values / pairs.values[0])))
    return error


def widened(ceiling: float, values: Array, residuals: Array) -> float:
    """τ outside a smaller U, from τ outside all of it: the largest eigenvalue of [[Θ, Rᵀ], [R, τI]] at most.

    Θ holds the values that are left out, descending, of either sign.
    """
    if not len(values):
        return ceiling
    middle, half = (float(values[0]) + ceiling) / 2, (float(values[0]) - ceiling) / 2
    return middle + float(np.hypot(half, np.linalg.norm(residuals)))

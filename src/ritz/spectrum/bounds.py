"""Bounds: what residuals say about true eigenvalues and eigenvectors.

A is symmetric positive semidefinite, U has orthonormal columns, R = A U − U Θ rests on float64 products with A.
`rounding` bounds the difference between the A that was multiplied and the A that was meant.

- Values from below: Cauchy's interlacing, λ_i ≥ θ_i.
- Values from above: need τ ≥ ‖(I−UUᵀ)A(I−UUᵀ)‖, so that no larger eigenvalue hides outside span(U); then Weyl's
  theorem, or with a gap the quadratic bound of Li and Li (Linear Algebra Appl. 395, 2005).
- Angles: Davis and Kahan's sin θ theorem, with gaps to bounds on true eigenvalues, not to computed ones.

A sketch knows an A that falls short of the one that is meant, by a positive part of norm at most `missing`. The one
that is meant is then A + missing/2·I to ±missing/2, with the same vectors, and that is what all but the lower bounds
rest on: Weyl's theorem moves no value by more.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ritz.linalg.dense import Array

APART = 4.0  # neighbours closer than this many errors are not told apart


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
    ceiling: float  # τ, as it was given


def bounds(seen: Evidence, k: int, ceiling: float) -> Bounds:
    """What m ≥ k Ritz pairs say about the k leading true values; τ = `ceiling` bounds the norm of A outside span(U)."""
    lower, upper = _value_bounds(seen, ceiling)
    values, upper, error_of_A = seen.values + seen.missing / 2, upper + seen.missing, seen.rounding + seen.missing / 2
    errors = seen.residuals + error_of_A
    alone = seen.exhausted and k == len(values)
    following = -np.inf if alone else float(np.append(upper, ceiling + seen.missing)[k])
    groups, after = _groups(values[:k], errors[:k]), np.append(upper[:k], following)
    angles = np.ones(k)
    for s, e in groups:
        gap = min(lower[s - 1] - values[s] if s else np.inf, values[e - 1] - after[e])
        error = float(np.linalg.norm(seen.turned[s:e])) + error_of_A
        angles[s:e] = min(1.0, error / gap) if gap > 0 else 1.0
    surely = values[:k] - (float(np.linalg.norm(seen.residuals[:k])) + error_of_A) > following
    return Bounds(
        lower=lower[:k],
        upper=upper[:k],
        following=0.0 if alone else following,
        angles=angles,
        groups=groups,
        tie_at_k=_tied(values, errors, k, following),
        complete_to=k if surely.all() else int(np.argmin(surely)),
        ceiling=ceiling,
    )


def _groups(values: Array, errors: Array) -> tuple[tuple[int, int], ...]:
    """Half-open ranges of values too close to be told apart."""
    sharp = values[:-1] - values[1:] > APART * np.maximum(errors[:-1], errors[1:])
    cuts = [0, *(np.flatnonzero(sharp) + 1), len(values)]
    return tuple((int(s), int(e)) for s, e in pairwise(cuts))


def _tied(values: Array, errors: Array, k: int, following: float) -> bool:
    """Whether the value after the first k, if there is one, cannot be told from the k-th."""
    if k < len(values):
        return bool(values[k - 1] - values[k] <= APART * max(errors[k - 1], errors[k]))
    # Without a next Ritz value, a proved ceiling at the k-th value's own height is the evidence.
    return bool(abs(following - values[k - 1]) <= max(APART * errors[k - 1], 1e-9 * values[0]))


def _value_bounds(seen: Evidence, ceiling: float) -> tuple[Array, Array]:
    values, rounding, defect, squares = seen.values, seen.rounding, seen.defect, seen.residuals**2
    lead = np.sqrt(np.cumsum(squares)) + rounding  # ‖R[:, :i+1]‖
    rest = np.append(np.sqrt(np.cumsum(squares[::-1]))[::-1][1:], 0.0) + rounding  # ‖R[:, i+1:]‖
    lower = np.maximum.accumulate((values - defect - rounding)[::-1])[::-1]
    # Weyl: everything in span(U) against everything outside.
    upper = np.maximum(values, ceiling) + defect + rounding + lead[-1]
    # Li and Li: the first i+1 vectors against all the rest, whose norm is at most `outside`.
    outside = np.maximum(np.append(values[1:] + defect, -np.inf), ceiling) + rest
    gap = values - defect - outside
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        quadratic = values + defect + rounding + 2 * lead**2 / (gap + np.sqrt(gap**2 + 4 * lead**2))
    upper = np.where(gap > 0, np.fmin(upper, quadratic), upper)
    return lower if seen.negativity else np.maximum(lower, 0.0), np.minimum.accumulate(upper)

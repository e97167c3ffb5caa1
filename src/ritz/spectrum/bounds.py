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

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ritz.linalg.dense import Array, eigh_descending, norm_estimate, positive_definite
from ritz.linalg.rounding import gamma

SMALL = 512  # order up to which the largest eigenvalue outside is computed rather than estimated
APART = 4.0  # neighbours closer than this many errors are not told apart


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


def bounds(
    values: Array,
    residuals: Array,
    k: int,
    *,
    rounding: float,
    defect: float,
    ceiling: float,
    exhausted: bool,
    negativity: float = 0.0,
    slack: Array | None = None,
    missing: float = 0.0,
) -> Bounds:
    """What m ≥ k Ritz values with residual norms say about the k leading true values.

    Parameters
    ----------
    values, residuals : (m,) Ritz values, descending, and the norms of the columns of R
    rounding : norm bound on the error of the operator and of R's own computation
    defect : ‖Uᵀ A U − Θ‖
    ceiling : τ, an upper bound of the operator's norm outside span(U)
    exhausted : whether span(U) is the whole space, so that nothing lies outside
    negativity : how far below 0 an eigenvalue may lie; 0 lifts lower bounds to 0
    slack : (m,) further residuals of the vectors that values do not have
    missing : norm bound on the positive part by which the A that is meant exceeds the one that was multiplied
    """
    lower, upper = _value_bounds(values, residuals, rounding, defect, ceiling)
    lower = lower if negativity else np.maximum(lower, 0.0)
    values, upper, error_of_A = values + missing / 2, upper + missing, rounding + missing / 2
    alone = exhausted and k == len(values)
    following = 0.0 if alone else float(np.append(upper, ceiling + missing)[k])
    errors = residuals + error_of_A
    sharp = values[:-1] - values[1:] > APART * np.maximum(errors[:-1], errors[1:])
    cuts = [0, *(np.flatnonzero(sharp[: k - 1]) + 1), k]
    groups = tuple((int(s), int(e)) for s, e in pairwise(cuts))
    angles, turned = np.ones(k), residuals if slack is None else residuals + slack
    for s, e in groups:
        above = lower[s - 1] - values[s] if s else np.inf
        below = np.inf if alone and e == k else values[e - 1] - (upper[e] if e < k else following)
        gap = min(above, below)
        error = float(np.linalg.norm(turned[s:e])) + error_of_A
        angles[s:e] = min(1.0, error / gap) if gap > 0 else 1.0
    lead = float(np.linalg.norm(residuals[:k])) + error_of_A
    surely = np.ones(k, bool) if alone else values[:k] - lead > following
    complete_to = k if surely.all() else int(np.argmin(surely))
    return Bounds(
        lower[:k],
        upper[:k],
        following,
        angles,
        groups,
        _tied(values, errors, k, following, alone),
        complete_to,
        ceiling,
    )


def _tied(values: Array, errors: Array, k: int, following: float, alone: bool) -> bool:
    """Whether the value after the first k cannot be told from the k-th."""
    if alone:
        return False
    if k < len(values):
        return bool(values[k - 1] - values[k] <= APART * max(errors[k - 1], errors[k]))
    # Without a next Ritz value, a proved ceiling at the k-th value's own height is the evidence.
    return bool(abs(following - values[k - 1]) <= max(APART * errors[k - 1], 1e-9 * values[0]))


def _value_bounds(
    values: Array, residuals: Array, rounding: float, defect: float, ceiling: float
) -> tuple[Array, Array]:
    squares = residuals**2
    lead = np.sqrt(np.cumsum(squares)) + rounding  # ‖R[:, :i+1]‖
    rest = np.append(np.sqrt(np.cumsum(squares[::-1]))[::-1][1:], 0.0) + rounding  # ‖R[:, i+1:]‖
    lower = values - defect - rounding
    # Weyl: everything in span(U) against everything outside.
    upper = np.maximum(values, ceiling) + defect + rounding + lead[-1]
    # Li and Li: the first i+1 vectors against all the rest, whose norm is at most `outside`.
    outside = np.maximum(np.append(values[1:] + defect, -np.inf), ceiling) + rest
    gap = values - defect - outside
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        quadratic = values + defect + rounding + 2 * lead**2 / (gap + np.sqrt(gap**2 + 4 * lead**2))
    upper = np.where(gap > 0, np.fmin(upper, quadratic), upper)
    return np.maximum.accumulate(lower[::-1])[::-1], np.minimum.accumulate(upper)


def free_ceiling(
    trace: float | None,
    frobenius: float | None,
    values: Array,
    *,
    rounding: float,
    defect: float,
    negativity: float,
    dim: int,
) -> float:
    """τ from the trace, and from the Frobenius norm where A is dense: both cost nothing."""
    m, slack = len(values), rounding + defect
    candidates = [np.inf]
    if trace is not None:
        hidden = (dim - m) * negativity  # eigenvalues below 0 may hide as much above it
        candidates.append(max(trace - float(np.sum(values)), 0.0) + (m + 1) * slack + hidden)
    if frobenius is not None:
        squares = frobenius**2 * (1 + gamma(8 * dim)) - float(np.sum(values**2))
        candidates.append(np.sqrt(max(squares, 0.0) + 2 * slack * float(np.sum(values))) + rounding)
    return float(min(candidates))


def widened(ceiling: float, values: Array, residuals: Array) -> float:
    """A bound outside a smaller U, from τ outside all of it: what is left out has these values, coupled by R."""
    if not len(values):
        return ceiling
    middle, half = (float(values[0]) + ceiling) / 2, (float(values[0]) - ceiling) / 2
    return middle + float(np.hypot(half, np.linalg.norm(residuals)))


def proved_ceiling(deflated: Array, last: float, *, rounding: float, converged: bool) -> float:
    """τ proved by a Cholesky factorisation of τI − (A − UΘUᵀ), inf if none of a few guesses holds.

    The factorisation running to its end shows λ_min ≥ −γ tr(τI − …) (Rump, BIT 46, 2006), which is added to τ.

    Parameters
    ----------
    last : the smallest of the deflated values plus its error: what follows should not be larger
    converged : whether that value lies beyond those asked for, so that a τ at its height is tight enough
    """
    n = len(deflated)
    growth = 2 * gamma(n + 2) * n
    shifted = np.empty_like(deflated)

    def proved(guess: float) -> float:
        tau = guess * (1 + 8 * growth) + 2 * rounding
        np.negative(deflated, out=shifted)
        shifted.flat[:: n + 1] += tau
        return tau * (1 + growth) + rounding if positive_definite(shifted.T) else np.inf

    if converged and np.isfinite(tau := proved(last)):
        return tau
    small = n <= SMALL
    estimate = max(float(eigh_descending(deflated, 1)[0][0]), 0.0) if small else norm_estimate(deflated, steps=20)
    guesses = sorted([last, (1 + 1e-9 if small else 1.02) * estimate, 1.2 * estimate, 2 * estimate])
    return next((tau for guess in guesses if np.isfinite(tau := proved(guess))), np.inf)

"""Completeness: whether a larger eigenvalue can hide outside the vectors that were found.

What excludes it is a ceiling τ ≥ ‖(I−UUᵀ)A(I−UUᵀ)‖. It is searched for in this order, until the k components are known
to be the leading ones:

1. Free ceilings, the lowest of them: 0 where U spans the whole space; the trace of A less what was found; the Frobenius
   norm of a dense A, likewise; what the solver is sure of.
2. What the solver's random probes say, where only products with A are known or the matrix is large. It may fail with a
   small probability.
3. A proof by a Cholesky factorisation of τI − (A − UΘUᵀ), where A is dense; also where the question is settled, if the
   proof costs little beside the fit, as its ceiling is the tightest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.linalg.dense import LARGE, Array, eigh_descending, norm_estimate, positive_definite
from ritz.linalg.rounding import gamma
from ritz.operators import Operator
from ritz.operators.rayleigh_ritz import Pairs
from ritz.solvers import Outside
from ritz.solvers.probes import FAILURE
from ritz.spectrum.bounds import Bounds, Evidence, bounds

CHEAP = 0.05  # share of a fit that a proof of completeness may cost where the free bounds already hold
SMALL = 512  # order up to which the largest eigenvalue outside is computed rather than estimated


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
    def matrix(self) -> Array | None:
        """A itself where it is at hand; `exact` says how good it is."""
        return self.A.dense() if self.A.is_dense else None

    @property
    def exact(self) -> bool:
        """Whether the matrix is about as good as products with A; a rough one was formed in float32."""
        return self.A.dense_rounding <= 2 * self.A.rounding

    def bounded(self, ceiling: float) -> Bounds:
        """The bounds that follow from a ceiling."""
        return bounds(self.seen, self.k, ceiling)

    def settled(self, found: Bounds) -> bool:
        """Whether all components that can have variance surely are the leading ones."""
        return found.complete_to >= min(self.k, self.A.rank_bound)


def completeness(question: Question) -> tuple[Bounds, float]:
    """The bounds from the first ceiling that settles the question, and the probability that they do not hold."""
    free = question.bounded(min(ceiling(question) for ceiling in FREE))
    return _by_probes(question, free) or _by_cholesky(question, free) or (free, 0.0)


def _by_dimension(question: Question) -> float:
    return 0.0 if question.seen.exhausted else np.inf


def _by_trace(question: Question) -> float:
    A, seen = question.A, question.seen
    if A.trace is None or seen.exhausted:
        return np.inf
    m = len(seen.values)
    hidden = (len(question.pairs.vectors) - m) * A.negativity  # eigenvalues below 0 may hide as much above it
    return max(A.trace - float(np.sum(seen.values)), 0.0) + (m + 1) * seen.floor + hidden


def _by_frobenius_norm(question: Question) -> float:
    seen, matrix = question.seen, question.matrix
    if matrix is None or not question.exact or seen.exhausted:
        return np.inf
    norm = float(np.linalg.norm(matrix))
    squares = norm**2 * (1 + gamma(8 * len(question.pairs.vectors))) - float(np.sum(seen.values**2))
    slack = 2 * seen.floor * float(np.sum(seen.values))
    return float(np.sqrt(max(squares, 0.0) + slack) + seen.rounding)


def _by_solver(question: Question) -> float:
    return np.inf if question.outside.failure else question.outside.level + question.seen.rounding


FREE = (_by_dimension, _by_trace, _by_frobenius_norm, _by_solver)  # each costs at most a look at every entry of A


def _by_probes(question: Question, free: Bounds) -> tuple[Bounds, float] | None:
    """From random probes, unless a proof costs little: beside a matrix, only if they settle the question."""
    products_alone = question.matrix is None
    if question.settled(free) or not (products_alone or question.A.dim > LARGE):
        return None
    level, failure = question.outside
    if level >= free.ceiling:
        return None
    found = question.bounded(level + question.seen.rounding)
    return (found, failure) if products_alone or question.settled(found) else None


def _by_cholesky(question: Question, free: Bounds) -> tuple[Bounds, float] | None:
    """From a proof; what is known of a rough matrix, random vectors have told."""
    A, pairs, seen, matrix = question.A, question.pairs, question.seen, question.matrix
    cheap = A.dim**3 / 3 <= CHEAP * (A.work + 4 * A.dim**3 / 3)
    if matrix is None or seen.exhausted or (question.settled(free) and not cheap):
        return None
    deflated = matrix - pairs.image @ pairs.image.T
    # What follows may exceed the last value by the error of that value, but a proof is only of use within tol.
    error, largest = float(np.linalg.norm(pairs.residuals)), float(pairs.values[0])
    last = float(pairs.values[-1]) + (min(error, 0.4 * question.tol * largest) if question.tol else error)
    rounding = seen.rounding + _deflation_error(A, pairs)
    tau = proved_ceiling(deflated, last, rounding=rounding, converged=len(pairs.values) > question.k)
    return question.bounded(min(free.ceiling, tau)), 0.0 if question.exact else FAILURE


def _deflation_error(A: Operator, pairs: Pairs) -> float:
    """Bound on the error of A − UΘUᵀ: that of the matrix, and of the products that are subtracted."""
    error = gamma(len(pairs.values) + 8) * 2 * float(A.trace or 0.0) + A.dense_rounding
    if pairs.slack is not None:  # the image rests on the same products as the axes, and shares their errors
        error += 2 * float(np.linalg.norm(pairs.slack * np.sqrt(pairs.values / pairs.values[0])))
    return error


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

"""A bound that no eigenvalue of a symmetric matrix exceeds, proved by a Cholesky factorisation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ritz.linalg.bases import orthonormalise
from ritz.linalg.dense import Array, add_upper_squares, eigh_descending, gamma, mirrored, positive_definite

SMALL = 512  # order up to which the largest eigenvalue is computed rather than estimated


def deflated(A: Array, image: Array) -> Array:  # (n, n), (m, n) -> (n, n)
    """A − UΘUᵀ on and above the diagonal, from √Θ Uᵀ. Overwrites A."""
    add_upper_squares(image, A, keep=True, sign=-1.0)
    return A


def proved_above(A: Array, guess: float, rounding: float) -> float:
    """τ a little above the guess that no eigenvalue exceeds, inf where that cannot be proved. Overwrites the matrix, of
    which the upper triangle counts, and which is known to `rounding`.

    A factorisation of τI − A that runs to its end shows that it has no eigenvalue below −γ tr(τI − A) (Rump, BIT 46,
    2006), which is added to τ.
    """
    n = len(A)
    growth = 2 * gamma(n + 2) * n
    below = max(0.0, -float(np.trace(A))) / n  # what eigenvalues below 0 add to the trace of τI − A
    tau = guess + 8 * growth * (guess + below) + 2 * rounding
    np.negative(A, out=A)
    A.flat[:: n + 1] += tau
    return tau + growth * (tau + below) + rounding if positive_definite(A.T) else np.inf


def proved_ceiling(make: Callable[[], Array], last: float, *, rounding: float, converged: bool) -> float:
    """τ that no eigenvalue of a deflated matrix A − UΘUᵀ exceeds, inf if none of a few guesses can be proved.

    Parameters
    ----------
    make : makes its upper triangle anew for every guess, which overwrites it
    last : the smallest of the deflated values plus its error: what follows should not be larger
    rounding : bound on the error of the matrix
    converged : whether that value lies beyond those asked for, so that a τ at its height is tight enough
    """
    if converged and np.isfinite(tau := proved_above(make(), last, rounding)):
        return tau
    whole = mirrored(make())
    small = len(whole) <= SMALL
    estimate = max(float(eigh_descending(whole, 1)[0][0]), 0.0) if small else norm_estimate(whole)
    del whole
    guesses = sorted([last, (1 + 1e-9 if small else 1.02) * estimate, 1.2 * estimate, 2 * estimate])
    return next((tau for guess in guesses if np.isfinite(tau := proved_above(make(), guess, rounding))), np.inf)


def norm_estimate(A: Array) -> float:
    """‖A‖₂ of a symmetric matrix from below, by orthogonal iteration on four vectors."""
    V = orthonormalise(np.random.default_rng(0).standard_normal((len(A), min(4, len(A)))))
    for _ in range(20):
        V = orthonormalise(A @ V)
    return float(np.linalg.norm(A @ V, 2))

"""How many random measurements a sparse signal needs, and when an explanation by few coefficients must be the signal.

The signal is fixed, and the measurements are drawn independently of it: all probabilities are over the draw.

Minimising ‖c‖₁ over Ac = y recovers s of p coefficients from m Gaussian measurements with high probability where m is
above the statistical dimension of the descent cone, and fails where it is below (Amelunxen, Lotz, McCoy and Tropp
2014). This is the curve of Donoho and Tanner (2009).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import betainc, gammaln, ndtr

from ritz.linalg.dense import Array

CHANCE = 1e-3  # probability, at most, of an explanation by chance, or of a second one
EVEN = 0.5  # probability, at most, that random signs sum to 0, whatever they are multiplied by
NEAR = 4  # length, in residuals, of the part that a signal recovered from noise may lack
MINUTE = 1e-4  # share of a signal whose loss does not matter
ROUNDING = 1e-13  # relative residuals that are as good as 0
LEAST_GAP = 1e-10  # likewise, of gaps, which include what rounding may have hidden

__all__ = ["determined", "needed", "noisy_needed", "signs_needed"]  # the rest is for certificates


def needed(s: int, p: int) -> float:
    """δ = min over τ of s(1 + τ²) + (p − s)·E[(|g| − τ)₊²], the measurements that s of p coefficients need.

    Examples
    --------
    >>> round(needed(40, 400))
    132
    """
    if not 0 < s < p:
        return float(s)

    def bound(tau: float) -> float:
        density = np.exp(-(tau**2) / 2) / np.sqrt(2 * np.pi)
        beyond = 2 * ((1 + tau**2) * ndtr(-tau) - tau * density)
        return float(s * (1 + tau**2) + (p - s) * beyond)

    most = np.sqrt(2 * np.log(p / s)) + 1  # the best τ is below
    return float(minimize_scalar(bound, bounds=(0, most), method="bounded", options={"xatol": 1e-9}).fun)


def determined(m: int, p: int) -> int:
    """The most coefficients out of p that m Gaussian measurements determine: the largest s with needed(s, p) ≤ m.

    Examples
    --------
    >>> determined(132, 400), round(needed(40, 400)), round(needed(41, 400))
    (40, 132, 134)
    """
    if m >= p:
        return p
    return bisect_right(range(1, m), float(m), key=lambda s: needed(s, p))


def telling(size: NDArray[np.integer], residual: Array, rank: int, p: int) -> NDArray[np.bool_]:
    """Whether random numbers in place of measurements would hardly be explained so well by so few of p coefficients.

    A random direction comes within ρ of a given span of s dimensions, out of r, with a probability of about ρ^(r − s),
    and there are C(p, s) spans.

    Examples
    --------
    >>> telling(np.array([10, 50, 50]), np.array([0.1, 0.1, 1e-6]), 100, 1000)
    array([ True, False,  True])
    """
    s = np.minimum(size, p)
    return np.asarray(_spans(s, p) - np.log(CHANCE) < (rank - s) * -np.log(np.clip(residual, ROUNDING, 1.0)))


def alone(size: NDArray[np.integer], residual: Array, rank: int, p: int) -> NDArray[np.bool_]:
    """Whether random signs (±1) are unlikely to explain any other signal so well by so few of p coefficients.

    Columns from a density are in general position with probability 1. Signs are not: a row of them is orthogonal to k
    given dimensions with probability at most 2^−k (Odlyzko 1988), so that the rank of m rows on a given space grows at
    least as fast as that of random bits, and they send some vector out of s + 1 dimensions to 0 with probability at
    most 2^(s + 1 − m). The space is spanned by the signal, whatever it is, and by s columns of the basis: over all
    C(p, s) choices the probability is at most C(p, s)·2^(s + 1 − m). A residual of ρ > ½ takes the place of the ½.

    Examples
    --------
    >>> alone(np.array([1, 5, 20]), np.zeros(3), 13, 32), alone(np.array([5, 20, 40]), np.zeros(3), 256, 1024)
    (array([False, False, False]), array([ True,  True, False]))
    """
    s = np.minimum(size, p)
    return np.asarray(_spans(s, p) - np.log(CHANCE) <= (rank - s - 1) * -np.log(np.clip(residual, EVEN, 1.0)))


def signs_needed(s: int, p: int) -> int:
    """The least number of random signs (±1) per signal that are hardly explained by another s of p coefficients.

    With probability 0.999 or more, no other signal of that sparsity has the same measurements.

    Examples
    --------
    >>> signs_needed(3, 1000), signs_needed(20, 1024)
    (42, 170)
    """
    return s + 1 + int(np.ceil((float(_spans(np.array(s), p)) - np.log(CHANCE)) / -np.log(EVEN)))


def apart(size: NDArray[np.integer], residual: Array, rank: int, p: int) -> NDArray[np.bool_]:
    """Whether Gaussian measurements are unlikely to be explained so well by columns that miss much of a signal.

    The part that a span of s columns misses is a random direction to them, out of r dimensions, and all but a share of
    ρ of it lies in the span with probability I_ρ²((r − s)/2, s/2), the incomplete beta function. There are C(p, s)
    spans. Of a part of the signal as long as four residuals ρ = ¼ is left over, so no longer one is missing. Residuals
    above ¼ concern the signal as a whole, small ones parts that are 1e-4 of it, and residuals that are rounding leave
    no doubt: columns are in general position.

    Examples
    --------
    >>> apart(np.full(3, 3), np.array([0.1, 1e-6, 1e-15]), 13, 32), apart(np.array([10]), np.array([0.1]), 70, 1000)
    (array([False,  True,  True]), array([ True]))
    """
    s = np.minimum(size, p)
    share = np.square(np.clip(np.maximum(np.minimum(residual / MINUTE, 1 / NEAR), residual), 0.0, 1.0))
    with np.errstate(divide="ignore"):  # log 0
        chance = np.log(betainc(np.maximum(rank - s, 1) / 2, np.maximum(s, 1) / 2, share))
    unlikely = _spans(s, p) + chance <= np.log(CHANCE)
    return np.asarray((unlikely | (residual <= LEAST_GAP)) & (s < rank))


def noisy_needed(s: int, p: int) -> int:
    """The least number of noisy Gaussian measurements that tell s of p coefficients from all others.

    With probability 0.999 or more, no s columns that miss much of a signal then explain its measurements to a quarter
    of their length. Exact measurements need fewer: see `needed`.

    Examples
    --------
    >>> noisy_needed(10, 400), round(needed(10, 400))
    (54, 49)
    """
    counts, size, residual = range(s + 1, max(p, s + 1)), np.array([s]), np.full(1, 1 / NEAR)
    return s + 1 + bisect_left(counts, True, key=lambda m: bool(apart(size, residual, m, p)[0]))


def _spans(s: NDArray[np.integer], p: int) -> Array:
    """log C(p, s)."""
    return np.asarray(gammaln(p + 1) - gammaln(s + 1) - gammaln(p - s + 1))

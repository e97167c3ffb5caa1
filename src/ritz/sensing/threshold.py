"""How many measurements sparsity needs, and how much an explanation by few coefficients says, for random measurements.

Minimising ‖c‖₁ over Ac = y recovers s of p coefficients from m Gaussian measurements with high probability where m is
above the statistical dimension of the descent cone, and fails where it is below (Amelunxen, Lotz, McCoy and Tropp
2014). This is the curve of Donoho and Tanner (2009).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, ndtr

from ritz.linalg import Array

CHANCE = 1e-3  # of an explanation that means nothing, at most
ROUNDING = 1e-13  # relative residuals that are as good as 0
LEAST_GAP = 1e-10  # likewise, of gaps, which include what rounding may have hidden


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
    """The most coefficients out of p that m measurements determine."""
    if m >= p:
        return p
    low, high = 0, m  # needed(low) <= m < needed(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if needed(middle, p) <= m else (low, middle)
    return low


def telling(size: NDArray[np.integer], residual: Array, rank: int, p: int) -> NDArray[np.bool_]:
    """Whether measurements that mean nothing are unlikely to be explained so well by so few of p coefficients.

    A random direction comes within ρ of a given span of s dimensions, out of r, with a chance of about ρ^(r − s), and
    there are C(p, s) spans.

    Examples
    --------
    >>> telling(np.array([10, 50, 50]), np.array([0.1, 0.1, 1e-6]), 100, 1000)
    array([ True, False,  True])
    """
    s = np.minimum(size, p)
    spans = gammaln(p + 1) - gammaln(s + 1) - gammaln(p - s + 1)
    return np.asarray(spans - np.log(CHANCE) < (rank - s) * -np.log(np.clip(residual, ROUNDING, 1.0)))

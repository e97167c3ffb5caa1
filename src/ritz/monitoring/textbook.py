"""Limits of T² and SPE as textbooks have them: functions of degrees of freedom and of residual eigenvalues alone.

T² of rows of the fit follows a Beta distribution, that of new rows an F distribution (Tracy, Young and Mason 1992), the
second exactly only for axes that were not chosen by the rows. SPE is a weighted sum of χ²; Jackson and Mudholkar (1979)
make a power of it normal, Box (1954) matches its mean and variance by g χ²_h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special

from ritz.linalg.dense import Array


@dataclass(frozen=True)
class Freedom:
    """What is known of a fit beside its eigenvalues.

    Attributes
    ----------
    n : rows of the fit
    k : components that T² counts
    centred : whether the mean was subtracted, which takes a degree of freedom
    ddof : by which the variances of the model are divided, n − ddof
    """

    n: int
    k: int
    centred: bool = True
    ddof: int = 1

    @property
    def m(self) -> int:
        """Degrees of freedom of the rows: n − 1 about the mean, n about 0."""
        return self.n - self.centred

    @property
    def bias(self) -> float:
        """The unbiased variances over those of the model."""
        return (self.n - self.ddof) / self.m

    @property
    def reach(self) -> float:
        """The largest T² that a row of the fit can have, with unbiased variances: m (m/n), or m about 0."""
        return self.m * self.m / self.n if self.centred else float(self.m)


def t2_of_fit(alpha: float, of: Freedom) -> float:
    """(n−1)²/n · Beta(k/2, (n−k−1)/2), of rows that the axes were learned from; their largest value where k leaves no
    other.

    Examples
    --------
    >>> round(t2_of_fit(0.05, Freedom(32, 1)), 6), t2_of_fit(0.05, Freedom(3, 2))
    (3.665596, 1.3333333333333333)
    """
    if of.m <= of.k:
        return of.reach
    return of.reach * float(special.betaincinv(of.k / 2, (of.m - of.k) / 2, 1 - alpha))


def t2_of_new(alpha: float, of: Freedom) -> float:
    """k(n²−1)/(n(n−k)) · F(k, n−k), of rows that nobody learned from.

    Examples
    --------
    >>> round(t2_of_new(0.05, Freedom(32, 1)), 6)
    4.289603
    """
    rest = of.m - of.k + 1
    if rest <= 0:
        return math.inf
    mean = 1 + 1 / of.n if of.centred else 1.0
    return mean * of.k * of.m / rest * float(special.fdtri(of.k, rest, 1 - alpha))


def t2_as_printed(alpha: float, of: Freedom) -> float:
    """k(n−1)/(n−k) · F(k, n−k), which PLS_Toolbox and mdatools use for all rows: too wide for rows of the fit, and too
    narrow by 1 + 1/n for new ones.

    Examples
    --------
    >>> round(t2_as_printed(0.05, Freedom(32, 1)), 8)
    4.1596151
    """
    rest = of.n - of.k
    return math.inf if rest <= 0 else of.k * (of.n - 1) / rest * float(special.fdtri(of.k, rest, 1 - alpha))


def t2_of_known(alpha: float, k: int) -> float:
    """χ²(k), where the covariance is taken as known.

    Examples
    --------
    >>> round(t2_of_known(0.05, 2), 3)
    5.991
    """
    return float(special.chdtri(k, alpha))


@dataclass(frozen=True)
class PowerSums:
    """θ₁, θ₂, θ₃: sums of the powers of the residual eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> sums = PowerSums.of(np.array([2.0, 1.0]), np.array([1.0, 2.0]))
    >>> sums.first, sums.second, sums.third
    (4.0, 6.0, 10.0)
    """

    first: float
    second: float
    third: float

    @classmethod
    def of(cls, values: Array, counts: Array) -> PowerSums:
        """Of eigenvalues, each so many times."""
        return cls(*(float(counts @ values**power) for power in (1, 2, 3)))


def jackson_mudholkar(alpha: float, theta: PowerSums) -> float | None:
    """θ₁ [c √(2θ₂h₀²)/θ₁ + 1 + θ₂h₀(h₀−1)/θ₁²]^{1/h₀} with h₀ = 1 − 2θ₁θ₃/(3θ₂²) and c the normal quantile; None where
    h₀ <= 0, for which it does not hold.

    Examples
    --------
    >>> import numpy as np
    >>> theta = PowerSums.of(np.array([1.0]), np.array([10.0]))  # χ² with 10 degrees of freedom: 18.307
    >>> round(jackson_mudholkar(0.05, theta), 2)
    18.29
    """
    one, two, three = theta.first, theta.second, theta.third
    h = 1 - 2 * one * three / (3 * two**2)
    if h <= 0:
        return None
    base = special.ndtri(1 - alpha) * math.sqrt(2 * two * h**2) / one + 1 + two * h * (h - 1) / one**2
    return float(one * base ** (1 / h)) if base > 0 else None


def box(alpha: float, mean: float, variance: float) -> float:
    """g χ²_h with this mean and variance: g = variance/(2 mean), h = 2 mean²/variance, a real number.

    Examples
    --------
    >>> round(box(0.05, 10.0, 20.0), 3)  # χ² with 10 degrees of freedom
    18.307
    """
    if mean <= 0 or variance <= 0:
        return max(mean, 0.0)
    return variance / (2 * mean) * float(special.chdtri(2 * mean**2 / variance, alpha))


def box_of(alpha: float, theta: PowerSums) -> float:
    """The same by the residual eigenvalues: mean θ₁ and variance 2θ₂."""
    return box(alpha, theta.first, 2 * theta.second)

"""The general Marchenko–Pastur law: where the variances of noise end whose columns have variances of their own.

Let n rows be independent, with noise of variance tⱼ in column j. With x above the largest t, the map

    ψ(x) = x (1 + Σⱼ tⱼ / (x − tⱼ) / n)

gives the eigenvalue at which a component of population eigenvalue x shows (Silverstein and Choi, J. Multivariate Anal.
54, 1995). It has its minimum where Σⱼ tⱼ² / (x − tⱼ)² = n: there the noise ends, and a component with less is not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaincinv

from ritz.linalg.dense import Array

# The Tracy–Widom law of order 1 is nearly that of a gamma variable less a constant (Chiani, J. Multivariate Anal. 129,
# 2014): its quantiles are right to three digits.
SHAPE, SIZE, START = 46.446, 0.186054, 9.84801
DIGITS = 1e-13  # relative, of what is solved for


@dataclass(frozen=True, eq=False)
class Law:
    """The law of the eigenvalues of Σ z zᵀ / n for independent columns of these variances.

    All numbers are found relative to the largest variance: the unit of the data does not matter.

    Attributes
    ----------
    variances : (d,) of the columns, at least one above 0
    n : rows; those that were centred count one less

    Examples
    --------
    >>> import numpy as np
    >>> Law(np.ones(100), 400).edge  # (1 + √(100/400))²
    2.25
    """

    variances: Array
    n: int

    @cached_property
    def largest(self) -> float:
        """The largest variance."""
        return float(np.max(self.variances))

    @cached_property
    def _relative(self) -> Array:
        return np.asarray(self.variances, dtype=float) / self.largest

    @cached_property
    def end(self) -> float:
        """The population eigenvalue, in units of the largest variance, at which a component begins to be seen."""
        t, n = self._relative, self.n
        low, high = 1 + np.sqrt(np.count_nonzero(t == 1) / n), 1 + np.sqrt(len(t) / n)
        if high - low <= DIGITS * high:
            return float(high)
        found = brentq(lambda x: float(np.sum((t / (x - t)) ** 2)) - n, low * (1 - DIGITS), high * (1 + DIGITS))
        return float(found)

    def seen_at(self, x: float) -> float:
        """ψ(x), both in units of the largest variance."""
        t = self._relative
        return float(x * (1 + np.sum(t / (x - t)) / self.n))

    @cached_property
    def edge(self) -> float:
        """The upper end of the noise."""
        return self.largest * self.seen_at(self.end)

    @cached_property
    def fluctuation(self) -> float:
        """What the largest eigenvalue fluctuates by, in units of the Tracy–Widom law (El Karoui, Ann. Probab. 35,
        2007)."""
        t, x = self._relative, self.end
        cube = 1 + float(np.sum((t / (x - t)) ** 3)) / self.n
        return self.largest * x * float(np.cbrt(cube)) * self.n ** (-2 / 3)

    def threshold(self, level: float) -> float:
        """What the largest eigenvalue of noise exceeds with this probability."""
        return self.edge + tracy_widom(1 - level) * self.fluctuation

    @cached_property
    def optimal(self) -> float:
        """The eigenvalue from which a component is better kept than left out: its empirical axes are then so near to
        the true ones that the sum of the squared errors falls.

        It is where λ² d log D / dλ² = −2 with D = λ m(λ) m̲(λ), m and its companion m̲ the Stieltjes transforms of the
        noise (Donoho, Gavish and Romanov, Ann. Statist. 51, 2023): 4/√3 squared for white square matrices.
        """
        low = self.end
        high = 2 * low
        while self._slope(high) < 0:
            high *= 2
        return self.largest * self.seen_at(float(brentq(self._slope, low * (1 + 1e-9), high, xtol=1e-12)))

    def _slope(self, x: float) -> float:
        """d log D / d log λ + 2 at ψ(x), which rises from −∞ to 1."""
        t, n = self._relative, self.n
        rising = 1 - float(np.sum((t / (x - t)) ** 2)) / n
        value, ratio = self.seen_at(x), len(t) / n
        companion, its_slope = -1 / x, 1 / (x**2 * rising)
        m = (companion + (1 - ratio) / value) / ratio
        slope = (its_slope - (1 - ratio) / value**2) / ratio
        return 3 + value * (slope / m + its_slope / companion)


def tracy_widom(share: float) -> float:
    """The quantile of the Tracy–Widom law of order 1.

    Examples
    --------
    >>> round(tracy_widom(0.95), 2)  # 0.98 in tables
    0.98
    """
    return float(gammaincinv(SHAPE, share)) * SIZE - START

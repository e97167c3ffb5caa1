"""Residual eigenvalues: what a model knows of the variance outside its axes.

They come from the moments that the model carries, or from the SPE of the rows of the fit, whose first three moments are
functions of their power sums. Many are put into groups: what is asked of them is sums.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ritz.linalg.dense import Array, gamma
from ritz.linalg.exponents import times_power
from ritz.moments.moments import Moments
from ritz.monitoring.textbook import Freedom, PowerSums
from ritz.runtime.threads import pinned
from ritz.spectrum.subspace import Subspace

SINGLE, GROUPS = 16, 48  # eigenvalues that stay by themselves, as they may be near the last component; groups of others
ROUNDING = 1e-13  # share of all variance that rounding may leave outside
NOTHING = 100.0  # times rounding: what is told from it


@dataclass(frozen=True, eq=False)
class Residual:
    """Eigenvalues of the covariance outside the axes, in `unit`² of the subspace, divided as the model's variances.

    Attributes
    ----------
    values : descending, above 0
    counts : how many there are of each, not always whole numbers
    source : what they come from, in words; empty where they are assumed to be equal
    """

    values: Array
    counts: Array
    source: str

    @cached_property
    def theta(self) -> PowerSums:
        return PowerSums.of(self.values, self.counts)

    def times(self, factor: float) -> Residual:
        """All of them times a number."""
        return replace(self, values=self.values * factor)


def truncated(subspace: Subspace, k: int) -> Subspace:
    """The subspace of the first k axes.

    Examples
    --------
    >>> from ritz import PCA
    >>> s = PCA(2).fit([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]]).subspace_
    >>> bool(truncated(s, 1).left_out == s.variances[1])
    True
    """
    if k == subspace.axes.shape[1]:
        return subspace
    beyond: dict[str, Any] = {}
    if subspace.roots is not None and subspace.beyond is not None:
        beyond = {
            "roots": subspace.roots[:k],
            "beyond": float(np.hypot(np.linalg.norm(subspace.roots[k:]), subspace.beyond)),
        }
    left_out = subspace.left_out + float(np.sum(subspace.variances[k:]))
    parts = {"axes": subspace.axes[:, :k], "variances": subspace.variances[:k], "left_out": left_out, **beyond}
    return replace(subspace, **parts, checked=True)


def total(subspace: Subspace) -> float:
    """All variance, in `unit`²."""
    return float(np.sum(subspace.deviations**2)) + subspace.outside**2


def floor(subspace: Subspace) -> float:
    """An SPE that is told from rounding, in `unit`²: by the variance of all rows, and by the size of the mean."""
    center = subspace.preprocessing(np.dtype(np.float64)).center
    far = 0.0 if center is None else float(np.linalg.norm(times_power(center, -subspace.power)))
    return NOTHING * (ROUNDING * total(subspace) + (NOTHING * np.finfo(float).eps * far) ** 2)


def is_empty(subspace: Subspace) -> bool:
    """Whether what is outside is rounding."""
    return subspace.outside**2 <= ROUNDING * total(subspace)


@pinned()
def from_moments(subspace: Subspace, moments: Moments | None, of: Freedom) -> Residual | None:
    """Those that whole moments of the rows have beside the axes; None without such moments.

    Examples
    --------
    >>> from ritz import PCA
    >>> X = np.random.default_rng(0).standard_normal((40, 4)) * [4, 3, 2, 1]
    >>> pca = PCA(2).fit(X)
    >>> found = from_moments(pca.subspace_, pca._moments, Freedom(40, 2))
    >>> bool(np.allclose(found.values, np.linalg.eigvalsh(np.cov(X.T))[1::-1]))
    True
    """
    if moments is None or (moments.triangle is None and moments.scatter.ndim == 1):
        return None
    ratio = moments.unit / (subspace.unit if subspace.scale is None else subspace.scale)
    if moments.triangle is not None:
        values = np.linalg.svd(moments.triangle * ratio, compute_uv=False) ** 2
    else:
        values = np.linalg.eigvalsh(moments.scatter * ratio * ratio[:, None])[::-1]
    values = values[of.k : of.m] / (of.n - of.ddof)
    values = np.maximum(values, 0.0)
    # Those below rounding are not told from 0; what is left adds up to the variance outside, as the fit found it.
    values = values[values > gamma(len(ratio)) * total(subspace)]
    if not len(values):
        return None
    return grouped(values * (subspace.outside**2 / float(values.sum())), "the moments of the model")


def grouped(values: Array, source: str) -> Residual:
    """Descending eigenvalues, of which many are put into groups that keep their sum."""
    groups = np.array_split(values[SINGLE:], min(GROUPS, max(0, len(values) - SINGLE)) or 1)
    ends = [group for group in groups if len(group)]
    means = np.array([float(group.mean()) for group in ends])
    counts = np.array([float(len(group)) for group in ends])
    first = values[:SINGLE]
    return Residual(np.append(first, means), np.append(np.ones(len(first)), counts), source)


def from_errors(subspace: Subspace, errors: Array, of: Freedom, d: int) -> Residual | None:
    """Those whose power sums explain the SPE of the rows of the fit, in `unit`².

    SPE/reach = Σ λ_b g_b² with g uniform in m dimensions has the moments θ₁/m, (θ₁² + 2θ₂)/(m(m+2)) and
    (θ₁³ + 6θ₁θ₂ + 8θ₃)/(m(m+2)(m+4)). Two eigenvalues have these power sums (the nodes of Gauss), or one.
    """
    m, most = of.m, min(d, of.m) - of.k
    if most <= 0 or is_empty(subspace):
        return None
    one = subspace.outside**2
    Q = errors / (float(np.mean(errors)) or 1.0) / m  # in units of θ₁, whose mean is known: 1/m
    two = (float(np.mean(Q**2)) * m * (m + 2) - 1) / 2
    two = min(max(two, 1 / most), 1.0)
    three = (float(np.mean(Q**3)) * m * (m + 2) * (m + 4) - 1 - 6 * two) / 8
    source = "the SPE of the rows of the fit"
    return _of_two(float(most), two, three, source).times(one)


def _of_two(count: float, two: float, three: float, source: str) -> Residual:
    """At most two eigenvalues, `count` in all, with power sums 1, θ₂ and θ₃; one, and else 0, where there are none."""
    spread = count * two - 1
    if spread > 1e-9 * count:
        middle = (count * three - two) / spread  # sum and product of the nodes
        product = (three - two * two) / spread
        root = middle**2 - 4 * product
        if product > 0 and root > 0:
            high = (middle + np.sqrt(root)) / 2
            low = product / high
            many = (1 - low * count) / (high - low)
            if 0 < many < count:
                return Residual(np.array([high, low]), np.array([many, count - many]), source)
    return Residual(np.array([two]), np.array([1 / two]), source)


def assumed(subspace: Subspace, count: int) -> Residual | None:
    """So many equal ones, where nothing is known but their sum."""
    if count <= 0:
        return None
    return Residual(np.array([subspace.outside**2 / count]), np.array([float(count)]), "")

"""The error of the sample by normal theory: how far axes would turn if other rows had been drawn.

To first order an eigenvector of the covariance of n normal rows leaves the true one towards axis j by
√(λ_i λ_j/n)/|λ_i − λ_j| (Girshick 1939, Anderson 1963). What was left out is many directions of little variance each;
with γ of them for every row they raise λ_i and turn its axis beyond first order, as the spiked model has it (Johnstone
2001, Baik and Silverstein 2006, Paul 2007).
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ritz.linalg.dense import Array

ALIKE = 5.991464547107979  # 95 % of χ² with two degrees of freedom: Anderson's test that two variances are equal
TRACY_WIDOM = 0.9793  # 95 % quantile of the law of the largest eigenvalue of noise, real and centred
ROUNDS = 4  # in which the noise is estimated: what is left changes by less than a part in a thousand
LEAST = 0.05  # of a variance, that is left of it at least when its bias is taken out
MOST = 0.5  # sin² of the angle beyond which nothing is said: half of what is seen may be another direction


class Rest(NamedTuple):
    """The variance left out, and the number of directions that it lies in."""

    variance: float
    directions: int


class Sample(NamedTuple):
    """What tells the error of the sample of a fit: in any unit, so that no square has to leave float64."""

    deviations: Array  # (k,) descending
    outside: float  # root of the variance left out
    directions: int  # that it lies in
    n: int
    scaled: bool = False  # whether columns were divided by their deviations, which formulas take as known

    @property
    def values(self) -> Array:
        """Variances relative to the first; 0 where there is none."""
        first = float(self.deviations[0]) if len(self.deviations) else 0.0
        return (self.deviations / first) ** 2 if first > 0 else np.zeros(len(self.deviations))

    @property
    def rest(self) -> Rest:
        """What was left out, relative to the first variance."""
        first = float(self.deviations[0]) if len(self.deviations) else 0.0
        with np.errstate(over="ignore"):
            return Rest((self.outside / first) ** 2 if first > 0 else 0.0, self.directions)

    def excess(self) -> float:
        """By what part of itself a variance is too large at most because columns are many; 0 where nothing is known."""
        values = self.values
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = values / population(values, self.rest, self.n) - 1.0
        return float(np.max(ratio[np.isfinite(ratio)], initial=0.0))

    def groups(self) -> tuple[tuple[int, int], ...]:
        """Ranges of components that the sample cannot tell apart."""
        return separated(self.values, self.n)

    def angles(self, following: float) -> Array:
        """`axis_angles`; the first variance left out is at least `following` times the first one kept."""
        return axis_angles(self.values, self.rest, self.n, self.groups(), following)


def population(values: Array, rest: Rest, n: int) -> Array:
    """ℓ, of which λ = ℓ(1 + γσ²/(ℓ − σ²)) is the limit in the spiked model; NaN where noise alone reaches λ.

    σ² is the mean variance of what was left out, with what the values kept have too much; γ = directions/(n − 1).
    Variances are in any unit.

    Examples
    --------
    >>> population(np.array([6.25]), Rest(98.75, 100), 101).round(3)  # 5(1 + 1/(5 − 1)) = 6.25, where σ² = 1
    array([5.])
    >>> population(np.array([3.9]), Rest(100.0, 100), 101)  # below (1 + √γ)² = 4
    array([nan])
    """
    if not (rest.directions and rest.variance > 0):
        return np.array(values, np.float64)
    noise = rest.variance / rest.directions
    for _ in range(ROUNDS):  # what the values kept have too much was taken from the noise, of which some are all
        found = _spikes(values / noise, rest.directions, n) * noise
        lost = np.isnan(found)
        taken = np.where(lost, values, np.maximum(values - found, 0.0)).sum()
        noise = float(rest.variance + taken) / (rest.directions + np.count_nonzero(lost))
    return _spikes(values / noise, rest.directions, n) * noise


def _spikes(relative: Array, directions: int, n: int) -> Array:
    """The same for noise of variance 1, the largest of which reaches `most` in one of 20 samples (Johnstone 2001)."""
    free = max(n - 1, 1)
    long, wide = np.sqrt(free), np.sqrt(directions)
    most = (long + wide) * (long + wide + TRACY_WIDOM * np.cbrt(1 / long + 1 / wide)) / free
    middle = relative + 1.0 - directions / free
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # a square of its own may leave float64
        found = 0.5 * (middle + np.abs(middle) * np.sqrt(1.0 - 4.0 * (relative / middle) / middle))
    return np.where(relative > most, found, np.nan)


def unbiased(values: Array, rest: Rest, n: int, groups: tuple[tuple[int, int], ...]) -> Array:
    """`population`, also without what the values kept give each other: λ_i/n Σ λ_j/(λ_i − λ_j) over those of other
    groups (Lawley 1956).

    Examples
    --------
    >>> unbiased(np.array([4.0, 1.0]), Rest(0.0, 0), 100, ((0, 1), (1, 2))).round(4)  # 4·1/(4 − 1)/100
    array([3.9867, 1.0133])
    """
    true = population(values, rest, n)
    level = np.where(np.isnan(true), rest.variance / max(1, rest.directions), true)
    gaps = true[:, None] - level
    apart = np.ones(gaps.shape, dtype=bool)
    for start, end in groups:
        apart[start:end, start:end] = False
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        given = np.where(apart & (gaps != 0), true[:, None] * level / gaps, 0.0).sum(axis=1) / n
    return np.maximum(true - given, LEAST * values)


def separated(values: Array, n: int) -> tuple[tuple[int, int], ...]:
    """Half-open ranges of descending variances; two neighbours are in one where the likelihood ratio test of their
    equality, n log((a + b)²/4ab) against χ² with two degrees of freedom (Anderson 1963), does not tell them apart.

    Examples
    --------
    >>> separated(np.array([9.0, 2.0, 1.9, 0.5]), 100)
    ((0, 1), (1, 3), (3, 4))
    """
    a, b = values[:-1], values[1:]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = n * np.log((1.0 + b / a) ** 2 / (4.0 * (b / a)))
    apart = (ratio > ALIKE) | ((b <= 0) & (a > 0))
    edges = [0, *(np.flatnonzero(apart) + 1).tolist(), len(values)]
    return tuple(pairwise(edges)) if len(values) else ()


def axis_angles(
    values: Array,
    rest: Rest,
    n: int,
    groups: tuple[tuple[int, int], ...],
    following: float = 0.0,
    law: tuple[Array, Array] | None = None,
) -> Array:  # (k,) -> (k,)
    """The root mean square of sin ∠(û_i, U), U the true axes of the group of i; 1 where the sample does not determine
    it.

    Parameters
    ----------
    values : variances in descending order
    rest : what was left out, spread evenly but for the first of it
    groups : of components that the sample cannot tell apart
    following : at least this is the first of the variances left out
    law : (k, k) and (k,), E y_i² y_j² of the scores of two components over what it is for normal rows, and the same of
        all directions left out; None for normal rows

    Examples
    --------
    >>> angles = axis_angles(np.array([4.0, 1.0]), Rest(0.0, 0), 400, ((0, 1), (1, 2)))
    >>> angles.round(4)  # √(4·1/400)/(4 − 1)
    array([0.0333, 0.0333])
    """
    k = len(values)
    if not k or not values[0] > 0:
        return np.ones(k)
    unit = float(values[0])
    if not np.isfinite(unit):
        return np.ones(k)
    noise = rest.variance / unit / max(1, rest.directions)
    after = max(float(following) / unit, noise) if rest.directions else 0.0
    others = Rest(max(rest.variance / unit - after, 0.0), max(rest.directions - 1, 0))
    true = population(values / unit, others, n)
    level = np.where(np.isnan(true), noise, true)
    seen = np.append(level, after) if rest.directions else level
    gaps = true[:, None] - seen
    member = np.zeros((k, len(seen)), dtype=bool)
    for start, end in groups:
        member[start:end, start:end] = True
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        pairs = np.where(member, 0.0, true[:, None] * seen / (n * gaps**2))
        beyond = np.ones(k) if law is None else law[1]
        if law is not None:
            pairs[:, :k] *= law[0]
            pairs[:, k:] *= beyond[:, None]
        turned = np.nan_to_num(pairs, nan=0.0, posinf=np.inf).sum(axis=1)
        if others.directions:
            spread, gamma = others.variance / others.directions, others.directions / n
            turned = turned + beyond * gamma * true * spread / (true - spread) ** 2
            turned = turned / (1.0 + gamma * spread / (true - spread))
    known = (true > 0) & (turned <= MOST)
    for start, end in groups:  # a span is determined only if it is in every direction
        known[start:end] = known[start:end].all()
    return np.sqrt(np.where(known, turned, 1.0))

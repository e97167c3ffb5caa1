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
ENOUGH = 3  # rows for every column, from which on variances are taken for what they are where none is left out
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

    σ² and γ are those of `above_noise`. Variances are in any unit.

    Examples
    --------
    >>> population(np.array([6.25]), Rest(98.75, 100), 101).round(3)  # 5(1 + 1/(5 − 1)) = 6.25, where σ² = 1
    array([5.])
    >>> population(np.array([3.9]), Rest(100.0, 100), 101)  # below (1 + √γ)² = 4
    array([nan])
    """
    return above_noise(values, rest, n)[0]


def above_noise(values: Array, rest: Rest, n: int) -> tuple[Array, float]:
    """ℓ, and the variance σ² of the noise: the mean of what is neither kept nor above noise, with what the values above
    it have too much; γ = directions/(n − 1).

    One value after the other is held against the noise that all after it leave (Kritchman and Nadler 2008), so that
    noise is known as such however many values were kept. Where as many were kept as the rows have degrees of freedom,
    the last of them is the least that noise must be.
    """
    k, every, free = len(values), len(values) + rest.directions, max(n - 1, 1)
    if not rest.directions and (k < 2 or n >= ENOUGH * k):
        return np.array(values, np.float64), 0.0
    after = rest.variance + np.append(np.cumsum(values[::-1])[::-1], 0.0)
    count, noise = 0, float(after[0]) / every
    found: Array = np.empty(0)
    for r in range(1, min(k, free - 1, every - 1) + 1):
        if not after[r] > 0:  # no noise
            return np.array(values, np.float64), 0.0
        level, spikes = _noise(values[:r], float(after[r]), every - r, free, ROUNDS if r == 1 else 1, found)
        if not values[r - 1] > _reach(every - r, free) * level:
            break
        count, noise, found = r, level, spikes
    if count:
        noise, found = _noise(values[:count], float(after[count]), every - count, free, ROUNDS, found)
    return np.append(found, np.full(k - count, np.nan)), noise


def _noise(
    values: Array, after: float, directions: int, free: int, rounds: int, before: Array
) -> tuple[float, Array]:  # -> (), (r,)
    """σ² behind r values above it, and their ℓ. Of a bias of γσ²ℓ/(ℓ − σ²), γσ² is there whatever ℓ is."""
    gamma, weight = directions / free, directions * (1.0 - len(values) / free)
    noise = after / weight
    found = np.append(before, values[len(before) :])
    for _ in range(rounds):
        extra = gamma * noise**2 / np.maximum(found - noise, noise)
        noise = (after + float(extra.sum())) / weight
        found = _spikes(values / noise, gamma) * noise
    return noise, found


def _reach(directions: int, free: int) -> float:
    """What the largest variance of noise of variance 1 exceeds in one of 20 samples (Johnstone 2001)."""
    long, wide = np.sqrt(free), np.sqrt(directions)
    return float((long + wide) * (long + wide + TRACY_WIDOM * np.cbrt(1 / long + 1 / wide)) / free)


def _spikes(relative: Array, gamma: float) -> Array:
    """ℓ of values above noise of variance 1; those within its limits are at their edge."""
    middle = relative + 1.0 - gamma
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # a square of its own may leave float64
        root = np.abs(middle) * np.sqrt(np.maximum(1.0 - 4.0 * (relative / middle) / middle, 0.0))
    return np.asarray(0.5 * (middle + np.nan_to_num(root, nan=0.0)))


def unbiased(values: Array, rest: Rest, n: int, groups: tuple[tuple[int, int], ...]) -> Array:
    """`population`, also without what the values kept give each other: λ_i/n Σ λ_j/(λ_i − λ_j) over those of other
    groups (Lawley 1956).

    Examples
    --------
    >>> unbiased(np.array([4.0, 1.0]), Rest(0.0, 0), 100, ((0, 1), (1, 2))).round(4)  # 4·1/(4 − 1)/100
    array([3.9867, 1.0133])
    """
    true, noise = above_noise(values, rest, n)
    level = np.where(np.isnan(true), noise, true)
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
    mean = rest.variance / unit / max(1, rest.directions)
    after = max(float(following) / unit, mean) if rest.directions else 0.0
    others = Rest(max(rest.variance / unit - after, 0.0), max(rest.directions - 1, 0))
    largest = np.append(values / unit, after) if rest.directions else values / unit
    true, noise = above_noise(largest, others, n)
    true = true[:k]
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
            gamma = others.directions / n
            turned = turned + beyond * gamma * true * noise / (true - noise) ** 2
            turned = turned / (1.0 + gamma * noise / (true - noise))
    known = (true > 0) & (turned <= MOST)
    for start, end in groups:  # a span is determined only if it is in every direction
        known[start:end] = known[start:end].all()
    return np.sqrt(np.where(known, turned, 1.0))

"""How many components: rules that turn a spectrum into a number."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import gammaln

from ritz.linalg.dense import Array
from ritz.runtime.wording import component, components, plural

QUANTILE = 0.95  # of what chance reaches, that a component must exceed
FLIPS = 19  # copies: what exceeds all of them is a test at 5 %
# What the random signs of "auto" compare with: copies that keep the size of every entry, and so the scale of columns.
INDEPENDENT = "columns that are independent of each other are noise to this rule, however unequal their variances"
RULE = "random sign flips with deflation"
FIRST, AROUND = 3, 2  # components of a choice that are listed: the first ones, and those before and behind the cut


def for_share(values: Array, total: float, share: float) -> int:
    """The fewest components whose variance exceeds `share` of the total (scikit-learn's rule).

    Examples
    --------
    >>> import numpy as np
    >>> for_share(np.array([6.0, 3.0, 1.0]), 10.0, 0.8)
    2
    """
    if total <= 0:
        return 1
    reached = np.cumsum(values) / total
    return min(int(np.searchsorted(reached, share, side="right")) + 1, len(values))


def parallel(values: Array, null: Array, quantile: float = QUANTILE) -> int:
    """How many leading values exceed, place by place, that quantile of the values of noise; the first that does not
    ends the count (parallel analysis; Horn, Psychometrika 30, 1965).

    Parameters
    ----------
    values : (k,) descending
    null : (flips, k) values at the same places in data without components. The quantile is one of them, the next
        higher one: with 19 flips and 0.95 it is the largest, which noise exceeds once in 20 times.

    Examples
    --------
    >>> import numpy as np
    >>> parallel(np.array([9.0, 4.0, 1.0, 0.9]), np.array([[2.0, 1.5, 1.2, 0.8], [2.1, 1.4, 1.1, 0.7]]))
    2
    """
    bar = threshold(null, quantile)[: len(values)]
    above = np.asarray(values)[: len(bar)] > bar
    return len(above) if above.all() else int(np.argmin(above))


def threshold(null: Array, quantile: float = QUANTILE) -> Array:  # (flips, k) -> (k,)
    """That quantile of every column, one of its own values."""
    if not 0 <= quantile <= 1:
        raise ValueError(f"quantile={quantile!r} must lie between 0 and 1")
    return np.asarray(np.quantile(null, quantile, axis=0, method="higher"))


def copies(flips: int = FLIPS) -> str:
    """So many copies of the rows, in words.

    Examples
    --------
    >>> copies(), copies(5)
    ('19 copies of the rows with random signs', '5 of 19 copies of the rows with random signs')
    """
    return f"{flips:,}{f' of {FLIPS}' if flips < FLIPS else ''} copies of the rows with random signs"


@dataclass(frozen=True, eq=False)
class Choice:
    """How many components, and what decided it.

    Attributes
    ----------
    rule : the rule, in words
    seed, flips : where the signs came from, and how many copies of the rows and of what was left of them were compared
    quantile : of the largest variances of 19 copies, that a component must exceed
    values : (m,) variances of the rows, those that were compared and those that were found on the way
    null : (m,) what they must exceed, at the same places: the largest variance of the copies that were compared
    k : how many components are kept: those above the null, but at least one
    count : how many those above the null are, where values and null are too large or too small to tell; else None
    stages : of each comparison, how many components had been subtracted, and how many copies were made: 19, or as few
        as settle it (`ritz.fitting.stopping`). The last one found nothing more, unless the next would have taken long.
        Choices of earlier versions, which subtracted nothing, have none

    Examples
    --------
    >>> from ritz import PCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 1)) @ np.ones((1, 6)) + rng.standard_normal((200, 6))
    >>> choice = PCA("auto").fit(X).rank_choice_
    >>> choice.k, choice.above, bool(choice.values[0] > choice.null[0])
    (1, 1, True)
    """

    rule: str
    seed: int
    flips: int
    quantile: float
    values: Array
    null: Array
    k: int
    count: int | None = None
    stages: tuple[tuple[int, int], ...] = ()

    @property
    def above(self) -> int:
        """How many components stand above the null, 0 where k is 1 for want of any."""
        return parallel(self.values, self.null[None]) if self.count is None else self.count

    @property
    def compared(self) -> str:
        """What the rows were compared with, in words."""
        if len(self.stages) < 2:
            return copies(self.flips)
        return f"{self.flips:,} copies with random signs, of the rows and of what {components(0, self.above)} left"

    @property
    def reached(self) -> str:
        """What the null is, in words."""
        if len(self.stages) < 2 and self.flips == FLIPS:
            return f"the {self.quantile:g} quantile of the largest variance in {self.compared}"
        return f"the largest variance in {self.compared}, which settle the count"

    @property
    def steps(self) -> str:
        """What each comparison found, in words; nothing where there was one alone."""
        if len(self.stages) < 2:
            return ""
        starts = [removed for removed, _ in self.stages] + [self.above]
        found = [
            f"{components(*ends) if ends[1] > ends[0] else 'nothing'} ({flips} {'copy' if flips == 1 else 'copies'})"
            for ends, (_, flips) in zip(pairwise(starts), self.stages, strict=True)
        ]
        if len(found) > FIRST + AROUND + 1:
            found[FIRST:-AROUND] = ["…"]
        more = f"; more may stand above what {components(0, self.above)} left" if self.unfinished else ""
        return f"found one after the other, each without those before: {', '.join(found)}{more}"

    @property
    def unfinished(self) -> bool:
        """Whether the last comparison found components, and no further one was made: it would have taken long."""
        return len(self.stages) > 1 and self.stages[-1][0] < self.above

    def __str__(self) -> str:
        end, resumed, above = min(len(self.values), self.k + AROUND), self.k - AROUND, self.above
        lines = [
            f"{component(i):>9}  {self.values[i]:11.5g}  {self.null[i]:11.5g}  {'' if i < above else 'not '}above"
            for i in range(end)
        ]
        if resumed > FIRST + 1:  # dots that stand for one line save none
            lines[FIRST:resumed] = [f"{'…':>9}"]
        kept = f"{self.k} {plural(self.k, 'component')} kept, {above} above noise: {self.rule}"
        kept += "" if above else f"; {INDEPENDENT}"
        what = f"null: {self.reached} (seed {self.seed})"
        return "\n".join([kept, what, *filter(None, [self.steps]), "           variance         null", *lines])


def gavish_donoho(singular_values: Array, n: int, d: int, noise: float | None = None) -> int:
    """How many singular values exceed the optimal hard threshold for white noise (Gavish and Donoho, IEEE Trans. Inf.
    Theory 60, 2014): with β the smaller of n/d and d/n, λ(β)·√max(n, d)·noise, or ω(β)·median where noise is unknown.

    Parameters
    ----------
    singular_values : of an n×d matrix, descending; all min(n, d) of them where the noise is unknown
    n, d : its shape; rows that were centred count one less
    noise : standard deviation of its noise

    Examples
    --------
    >>> import numpy as np
    >>> gavish_donoho(np.array([9.0, 1.2, 1.0, 0.9, 0.8]), 5, 5)
    1
    """
    values, least, most = np.asarray(singular_values, dtype=np.float64), min(n, d), max(n, d)
    if least < 1:
        raise ValueError(f"a matrix of shape {n}×{d} has no singular values; both must be at least 1")
    ratio = least / most
    if noise is not None:
        return int(np.count_nonzero(values > hard_threshold(ratio) * np.sqrt(most) * noise))
    if len(values) != least:
        raise ValueError(
            f"{len(values)} singular values of a {n}×{d} matrix, but their median needs all {least}; pass them all, or "
            "the standard deviation of the noise"
        )
    omega = hard_threshold(ratio) / np.sqrt(marchenko_pastur_median(ratio))
    return int(np.count_nonzero(values > omega * np.median(values)))


def hard_threshold(ratio: float) -> float:
    """λ(β), the threshold in units of √n·noise that no other beats in mean squared error; 4/√3 for square matrices."""
    return float(np.sqrt(2 * (ratio + 1) + 8 * ratio / (ratio + 1 + np.sqrt(ratio**2 + 14 * ratio + 1))))


def marchenko_pastur_median(ratio: float) -> float:
    """The median of the eigenvalues of white noise, the Marchenko–Pastur law with 0 < β ≤ 1.

    With t = 1 + β − 2√β cos φ its distribution is (φ + r sin φ − (1 − r²)(atan(r sin φ/(1 − r cos φ)) − r sin φ)/r²)/π,
    r = √β, which rises with φ from 0 to π: bisection finds where it is 1/2.
    """
    r, low, high = float(np.sqrt(ratio)), 0.0, float(np.pi)
    for _ in range(60):
        angle = (low + high) / 2
        sine = r * np.sin(angle)
        turned = np.arctan2(sine, 1 - r * np.cos(angle))
        below = angle + sine - (1 - ratio) * (turned - sine) / ratio
        low, high = (angle, high) if below < np.pi / 2 else (low, angle)
    return float(1 + ratio - 2 * r * np.cos((low + high) / 2))


def minka(values: Array, n_rows: int) -> int:
    """The dimension of largest evidence, by Minka's Laplace approximation (NIPS 13, 2000).

    Parameters
    ----------
    values : all d eigenvalues of the covariance, descending

    Examples
    --------
    >>> import numpy as np
    >>> minka(np.array([9.0, 7.0, 0.11, 0.1, 0.09]), n_rows=500)
    2
    """
    values = np.asarray(values, dtype=float)
    d, tiny = len(values), np.finfo(float).eps * float(values[0]) if len(values) else 0.0
    known = int(np.count_nonzero(values > tiny))
    if d < 2 or not known:
        return 1
    return int(np.argmax(_log_evidence(values, min(known, d - 1), n_rows, tiny))) + 1


def _log_evidence(values: Array, most: int, n: int, tiny: float) -> Array:  # -> (most,)
    """The evidence of 1, 2, … components, of which all have variances above rounding."""
    d, k = len(values), np.arange(1, most + 1)
    logs = np.log(values[:most])
    tails = np.append(np.cumsum(values[::-1])[::-1], 0.0)
    noise = np.maximum(tails[k] / (d - k), tiny)
    sizes = (d - np.arange(most)) / 2.0
    log_volume = np.cumsum(gammaln(sizes) - sizes * np.log(np.pi)) - k * np.log(2.0)
    log_fit = -0.5 * n * (np.cumsum(logs) + (d - k) * np.log(noise))
    free = d * k - k * (k + 1) / 2.0
    log_hessian = _log_curvature(values, noise) + free * np.log(n)
    return np.asarray(log_volume + log_fit + 0.5 * (free + k) * np.log(2 * np.pi) - 0.5 * (log_hessian + k * np.log(n)))


def _log_curvature(values: Array, noise: Array) -> Array:
    """log of the Hessian's determinant but for n, with 1, 2, … components and this noise behind them.

    It runs over pairs i < j with i among the first k. Between values that are equal to rounding the curvature is 0 and
    the approximation breaks down; such a pair counts as a parameter like any other.
    """
    most, d = len(noise), len(values)
    apart = values[:most, None] - values  # (most, d)
    differ = (apart > 1e-12 * values[:most, None]) & (np.arange(d) > np.arange(most)[:, None])
    gaps = np.log(apart, out=np.zeros_like(apart), where=differ)
    both = differ[:, :most]
    inner = 1 / values[:most] - 1 / values[:most, None]
    inside = np.log(inner, out=np.zeros_like(inner), where=both)
    # Pairs among the first k have curvatures of their own values; of the others j stands for the noise.
    within = np.cumsum(inside.sum(axis=0))
    behind = differ.sum(axis=1)[:, None] - np.cumsum(both, axis=1)  # (i, k − 1): partners of i behind place k
    sunk = 1 / noise[None, :] - 1 / values[:most, None]
    first = np.arange(most)[:, None] <= np.arange(most)
    used = first & (behind > 0)
    outside = np.where(used, behind * np.log(sunk, out=np.zeros_like(sunk), where=used & (sunk > 0)), 0.0)
    return np.asarray(np.cumsum(gaps.sum(axis=1)) + within + outside.sum(axis=0))

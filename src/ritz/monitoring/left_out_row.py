"""T² and SPE of new rows: those of a row that is left out of the fit, for all fits with these eigenvalues.

Axes lean towards the rows that they were learned from: variances along them are larger there, and SPE is smaller, than
of new rows, by much where n is not many times d. A row of the fit is √κ ⊙ g, with κ the eigenvalues of the scatter and
g a uniform direction for normal rows. Without it the scatter is that of κ on the plane orthogonal to g, whose
eigenvalues θ solve Σ g_b²/(κ_b − θ) = 0: so what the row would be, had it been left out, follows from κ and g. Nothing
has to be fitted again, and no row has to be kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import special

from ritz.linalg.dense import Array
from ritz.monitoring.residual import Residual
from ritz.monitoring.textbook import Freedom, t2_of_fit
from ritz.monitoring.uniform import quantile
from ritz.runtime.threads import pinned

LEAST, MOST, WORK = 500, 8000, 1.5e8  # draws, and entries that all steps may take
STEPS = 7  # of the secular equation: its convergence is quadratic
BATCH = 1000  # draws at a time


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Draws of a row that is left out, and of the same row in the fit, whose distribution is known.

    Attributes
    ----------
    t2, inside_t2 : over what is expected of the eigenvalues without the row; and in the fit
    spe, inside_spe : squared errors; and those in the fit over the variance left out
    first, second : power sums of the residual eigenvalues without the row
    expected : what T² is multiplied by for the eigenvalues of the fit
    exact : quantiles of SPE in the fit by their level, as far as they were asked for
    """

    t2: Array
    inside_t2: Array
    spe: Array
    inside_spe: Array
    first: Array
    second: Array
    expected: float
    of: Freedom
    residual: Residual
    exact: dict[float, float] = field(default_factory=dict)

    def t2_limit(self, alpha: float) -> float:
        """What T² of a new row exceeds with probability α, with unbiased variances."""
        exact = t2_of_fit(alpha, self.of) / self.of.reach
        return self.expected * _upper(self.t2, alpha) * exact / _upper(self.inside_t2, alpha)

    def spe_limit(self, alpha: float) -> float:
        """What SPE of a new row exceeds with probability α, in the units of the residual eigenvalues."""
        if alpha not in self.exact:
            self.exact[alpha] = quantile(alpha, self.residual.values, self.residual.counts, float(self.of.m))
        theta = self.residual.theta
        # Over what the eigenvalues without the row let expect: these are what a limit for others has to go by.
        farther = _upper(self.spe / _typical(alpha, self.first, self.second), alpha)
        known = float(_typical(alpha, np.array(theta.first), np.array(theta.second)))
        return known * farther * (self.exact[alpha] / theta.first) / _upper(self.inside_spe, alpha)


def can_leave_out(of: Freedom) -> bool:
    """Whether rows enough are left for as many components."""
    return of.m - 1 > of.k


@pinned()
def left_out(kept: Array, residual: Residual, of: Freedom) -> LeftOut:
    """Draws for a fit with these eigenvalues, unbiased ones.

    Examples
    --------
    >>> draws = left_out(np.array([9.0, 4.0]), Residual(np.array([1.0]), np.array([8.0]), ""), Freedom(40, 2))
    >>> round(draws.t2_limit(0.05), 1), round(draws.spe_limit(0.05), 1)  # χ² would say 6.0 and 15.5
    (6.1, 17.0)
    """
    kappa, counts = np.append(kept, residual.values) * of.m, np.append(np.ones(of.k), residual.counts)
    rest = of.m - float(counts.sum())
    if rest > 1e-9:
        kappa, counts = np.append(kappa, 0.0), np.append(counts, rest)
    rng, draws = np.random.default_rng(0), _draws(of, len(kappa), float(counts[kappa > 0].sum()))
    parts = [
        _some(kappa, counts, of, residual, rng.chisquare(counts, (min(BATCH, draws - start), len(counts))))
        for start in range(0, draws, BATCH)
    ]
    t2, inside_t2, spe, inside_spe, first, second = (np.concatenate(part) for part in zip(*parts, strict=True))
    expected = float(_expected(kappa[None, : of.k], kappa, counts, of.k, of.m)[0])
    return LeftOut(t2, inside_t2, spe, inside_spe, first, second, expected, of, residual)


def _draws(of: Freedom, groups: int, rank: float) -> int:
    """So many that limits are reproducible to a few percent of α: the fewer the less a row matters to the fit, since
    then it differs little from the same row in the fit."""
    wanted = MOST * min(1.0, 8 * rank / of.m)
    return int(np.clip(min(wanted, WORK / (STEPS * of.k * groups)), LEAST, MOST))


def _some(kappa: Array, counts: Array, of: Freedom, residual: Residual, squares: Array) -> tuple[Array, ...]:
    """T² and SPE of some draws, outside and inside."""
    k, m = of.k, of.m
    G = squares / squares.sum(axis=1, keepdims=True)  # (draws, b): g²
    theta, along = _secular(kappa, G, k)
    mean = of.n / (of.n - 1) if of.centred else 1.0  # the distance from the mean of all others
    size = G @ kappa
    spe = mean * np.maximum(size - along.sum(axis=1), 0.0)
    first = float(kappa @ counts) - size - theta.sum(axis=1)
    second = float(kappa**2 @ counts) - 2 * (G @ kappa**2) + size**2 - (theta**2).sum(axis=1)
    first = np.maximum(first, 0.0) / (m - 1)
    second = np.maximum(second / (m - 1) ** 2, first**2 / m)  # as many equal ones as there can be
    t2 = mean * (m - 1) * (along / theta).sum(axis=1)
    known = _expected(theta, kappa, counts, k, m - 1)
    beyond = slice(k, k + len(residual.values))
    inside = G[:, beyond] @ kappa[beyond] / (m * residual.theta.first)
    return t2 / known, G[:, :k].sum(axis=1), spe, inside, first, second


def _expected(values: Array, kappa: Array, counts: Array, k: int, m: int) -> Array:
    """The mean of uᵀΣu/λ over components with these scatter eigenvalues, as far as those beyond k decide it.

    uᵀΣu = λ/|1 + Σ_b λ_b/(λ − λ_b)/m|² (Ledoit and Péché 2011), smoothed by the distance that eigenvalues keep.
    """
    found = np.zeros(len(values))
    for a in range(k):
        distance = values[:, [a]] - kappa[k:]
        near = values[:, [a]] / np.sqrt(m)
        weight = counts[k:] * kappa[k:] / (distance**2 + near**2) / m
        found += 1 / ((1 + (weight * distance).sum(axis=1)) ** 2 + (weight * near).sum(axis=1) ** 2)
    return found / k


def _typical(alpha: float, first: Array, second: Array) -> Array:
    """g χ²_h with the mean θ₁ and the variance 2θ₂, by the approximation of Wilson and Hilferty."""
    part = 2 * second / (9 * np.maximum(first, 1e-300) ** 2)
    return first * np.maximum(1 - part + special.ndtri(1 - alpha) * np.sqrt(part), 1e-3) ** 3


def _secular(kappa: Array, G: Array, k: int) -> tuple[Array, Array]:
    """The k largest roots θ of Σ g²/(κ − θ) = 0, and 1/Σ κ g²/(κ − θ)²: squared scores of the row that is left out."""
    theta, along = np.empty((len(G), k)), np.zeros((len(G), k))
    for a in range(k):
        width = kappa[a] - kappa[a + 1]
        if width <= 1e-14 * kappa[a]:  # a tie stays one without the row, and the row has no score there
            theta[:, a] = kappa[a]
            continue
        step = _below(kappa, G, a, width)
        theta[:, a] = kappa[a] - step
        along[:, a] = 1 / (G * kappa / (kappa - kappa[a] + step[:, None]) ** 2).sum(axis=1)
    return theta, along


def _below(kappa: Array, G: Array, a: int, width: float) -> Array:
    """How far below κ_a the root is: each step solves the equation of the two poles around it, with the slopes of the
    two sums (Bunch, Nielsen and Sorensen 1978); where that leaves the bracket, it is halved."""
    low, high = np.zeros(len(G)), np.full(len(G), width)
    step = np.clip(width * G[:, a] / np.maximum(G[:, a:].sum(axis=1), 1e-300), 1e-9 * width, (1 - 1e-9) * width)
    poles = kappa - kappa[a]
    with np.errstate(all="ignore"):
        for _ in range(STEPS):
            inverse = 1 / (poles + step[:, None])
            terms = G * inverse
            upper, lower = terms[:, : a + 1].sum(axis=1), terms[:, a + 1 :].sum(axis=1)
            terms *= inverse
            above, below = terms[:, : a + 1].sum(axis=1), terms[:, a + 1 :].sum(axis=1)
            f, right, left = upper + lower, step, step - width
            low, high = np.where(f > 0, step, low), np.where(f < 0, step, high)
            flat = (upper - above * right) + (lower - below * left)
            middle = flat * (right + left) + below * left**2 + above * right**2
            product = right * left * f
            root = np.sqrt(np.maximum(middle**2 - 4 * flat * product, 0.0))
            change = np.where(middle > 0, 2 * product / (middle + root), (middle - root) / (2 * flat))
            new = step - change
            inside = ((new > low) & (new < high)) | (np.abs(change) <= 1e-9 * step)  # rounding may put it just outside
            step = np.where(inside, np.clip(new, low, high), (low + high) / 2)
    return step


def _upper(values: Array, alpha: float) -> float:
    return float(np.quantile(values, 1 - alpha))

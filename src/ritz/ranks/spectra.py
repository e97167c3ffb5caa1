"""Rules that need a spectrum alone. All are relative: a factor of all variances changes nothing."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.optimize import brentq

from ritz.fitting.rank import parallel
from ritz.linalg.dense import Array

FEW = 50  # components that ScreeNOT takes for possible, at most; and a quarter of all
TABLES = 59  # random tables that variances are compared with
PLACES = 20  # of their leading variances
TINY = 1e-12  # share of the largest variance below which others are equal


def broken_stick(shares: Array, count: int) -> tuple[int, Array]:
    """How many leading shares exceed those of a stick that breaks at random into so many pieces, and these: the i-th
    longest piece is Σⱼ₌ᵢ 1/j / count on average (Frontier, J. Exp. Mar. Biol. Ecol. 25, 1976).

    Examples
    --------
    >>> import numpy as np
    >>> broken_stick(np.array([0.7, 0.2, 0.1]), 3)
    (1, array([0.61111111, 0.27777778, 0.11111111]))
    """
    pieces = np.cumsum(1 / np.arange(count, 0, -1))[::-1] / count
    return parallel(shares, pieces[None]), pieces


def profile_likelihood(values: Array) -> int:
    """Where a scree breaks into two groups of normal numbers with a common variance, by the profile likelihood (Zhu and
    Ghodsi, Comput. Stat. Data Anal. 51, 2006).

    Examples
    --------
    >>> import numpy as np
    >>> profile_likelihood(np.array([9.0, 8.5, 1.2, 1.0, 0.9, 0.8]))
    2
    """
    x = np.asarray(values, dtype=float) / values[0]
    p, q = len(x), np.arange(1, len(x))
    inside = _squares_about_mean(x)[:-1] + _squares_about_mean(x[::-1])[::-1][1:]
    # The common variance is not below what rounding would leave: two groups of equal numbers fit exactly.
    variance = np.maximum(inside / max(1, p - 2), TINY**2)
    likelihood = -p / 2 * np.log(variance) - inside / (2 * variance)
    return int(q[np.argmax(likelihood)])


def _squares_about_mean(x: Array) -> Array:
    """Σ (x − mean)² of the first 1, 2, … numbers (Welford's update)."""
    counts = np.arange(1, len(x) + 1)
    means = np.cumsum(x) / counts
    before = np.append(0.0, means[:-1])
    return np.asarray(np.cumsum((x - before) * (x - means)))


def most_possible(order: int) -> int:
    """How many components ScreeNOT takes for possible, of so many."""
    return max(1, min(FEW, order // 4))


def screenot(singular: Array, n: int, d: int, most: int) -> float:
    """The threshold for singular values that keeps the sum of squared errors least, whatever the spectrum of the noise
    (Donoho, Gavish and Romanov, Ann. Statist. 51, 2023).

    The `most` leading values, which may be of components, are replaced by what the shape of the edge of a spectrum says
    of them. The threshold solves Ψ(z) = −4, relative to the largest of those values.

    Parameters
    ----------
    singular : all min(n, d) singular values, descending
    n, d : shape of the matrix
    most : bound on the number of components, at most (min(n, d) − 1)/2

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.linalg.svd(np.random.default_rng(0).standard_normal((500, 500)) / np.sqrt(500), compute_uv=False)
    >>> round(screenot(noise, 500, 500, 10), 1)  # 4/√3
    2.3
    """
    y, least = np.array(singular, dtype=float), min(n, d)
    if not 1 <= most <= (least - 1) // 2:
        raise ValueError(f"most={most} must be between 1 and {(least - 1) // 2}, less than half of {least} values")
    step = (y[most] - y[2 * most]) / (2 ** (2 / 3) - 1)
    y[:most] = y[most] + (1 - (np.arange(most) / most) ** (2 / 3)) * step
    top = float(y[0])
    if top <= 0:
        return 0.0
    squares, ratio = (y / top) ** 2, least / max(n, d)

    def psi(z: float) -> float:
        apart = z * z - squares
        phi, slope = float(np.mean(z / apart)), -float(np.mean((z * z + squares) / apart**2))
        other, other_slope = ratio * phi + (1 - ratio) / z, ratio * slope - (1 - ratio) / z**2
        return z * (slope / phi + other_slope / other) + 4

    high = 2.0
    while psi(high) < 0:
        high *= 2
    return top * float(brentq(psi, 1 + 1e-9, high))


def reference(n: int, d: int, places: int, share: float, seed: int) -> Array:
    """The quantile of the leading shares of variance in random tables: normal, independent, of equal variance.

    The spectrum of such a table is that of a bidiagonal matrix of chi variables (Dumitriu and Edelman, J. Math. Phys.
    43, 2002), so that no table is made.
    """
    least, most = min(n, d), max(n, d)
    rng, found = np.random.default_rng([seed, n, d]), np.empty((TABLES, min(places, least)))
    for shares in found:
        diagonal = rng.chisquare(most - np.arange(least))
        beside = rng.chisquare(np.arange(least - 1, 0, -1))
        main = diagonal.copy()
        main[1:] += beside
        ends = (least - len(shares), least - 1)
        values = eigh_tridiagonal(main, np.sqrt(diagonal[:-1] * beside), True, "i", ends) if least > 1 else main
        shares[:] = values[::-1] / main.sum()
    return np.asarray(np.quantile(found, share, axis=0, method="higher"))

"""SPE of rows of the fit, exactly for normal rows: Σ λ_b g_b² with g a uniform direction.

Normal rows are as good as their rotations, so the left singular vectors of the fit are a uniform frame, independent of
the eigenvalues: given these, nothing about the SPE of its rows is unknown. The tail is a probability about a quadratic
form in normal variables, P(Σ (λ_b − q) x_b² > 0), found by a saddlepoint (Lugannani and Rice 1980; Kuonen 1999).
"""

from __future__ import annotations

import numpy as np
from scipy import special

from ritz.linalg.dense import Array

POINTS, ROUNDS = 33, 4  # of grids for a quantile
STEPS, CLOSE = 60, 1e-12  # to a saddlepoint, and how near it


def tail(q: Array, values: Array, counts: Array, m: float) -> Array:
    """P(Σ λ_b g_b² > q) for uniform directions g in m dimensions, of which those not counted have the eigenvalue 0.

    Examples
    --------
    >>> found = tail(np.array([0.2]), np.array([1.0, 0.5]), np.array([2.0, 3.0]), 20.0)
    >>> rng = np.random.default_rng(0)
    >>> g = rng.chisquare([2.0, 3.0, 15.0], (100_000, 3))
    >>> bool(abs(np.mean((g @ [1.0, 0.5, 0.0]) / g.sum(axis=1) > 0.2) - found[0]) < 0.01)
    True
    """
    values, counts = np.append(values, 0.0), np.append(counts, max(m - float(counts.sum()), 0.0))
    some = counts > 0
    W, c = values[some] - q[:, None], counts[some]  # (q, b)
    low, high = W.min(axis=1), W.max(axis=1)
    out = np.where(high <= 0, 0.0, 1.0)
    inside = (low < 0) & (high > 0)
    if not inside.any():
        return out
    W = W[inside]
    s = _saddle(W, c)
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = 1 - 2 * s[:, None] * W
        size = np.maximum(np.log(growth) @ c, 0.0)  # −2 K(s)
        w, u = np.sign(s) * np.sqrt(size), s * np.sqrt(2 * ((W / growth) ** 2 @ c))
        found = special.ndtr(-w) + np.exp(-w * w / 2) / np.sqrt(2 * np.pi) * (1 / u - 1 / w)
    # Where s is 0, both terms are infinite and their difference is the skewness.
    skew = 8 * (W**3 @ c) / (2 * (W**2 @ c)) ** 1.5
    found = np.where(np.abs(w) < 1e-4, 0.5 - skew / (6 * np.sqrt(2 * np.pi)), found)
    out[inside] = np.clip(found, 0.0, 1.0)
    return out


def _saddle(W: Array, c: Array) -> Array:
    """Where K'(s) = Σ c w/(1 − 2 s w), which rises from −∞ to ∞ between the poles of the least and the largest w, is 0:
    by Newton's steps, and where these leave the bracket by halves."""
    low, high = 0.5 / W.min(axis=1), 0.5 / W.max(axis=1)
    s = np.zeros(len(W))
    for _ in range(STEPS):
        terms = W / (1 - 2 * s[:, None] * W)
        slope = terms @ c
        low, high = np.where(slope > 0, low, s), np.where(slope > 0, s, high)
        new = s - slope / (2 * (terms**2 @ c))
        new = np.where((new > low) & (new < high), new, (low + high) / 2)
        if (np.abs(new - s) <= CLOSE * (high - low)).all() or (np.abs(slope) <= CLOSE * (np.abs(terms) @ c)).all():
            break
        s = new
    return s


def quantile(alpha: float, values: Array, counts: Array, m: float) -> float:
    """What Σ λ_b g_b² exceeds with probability α; by a Beta distribution where there is one eigenvalue.

    Examples
    --------
    >>> share = quantile(0.05, np.array([1.0]), np.array([1.0]), 31.0)
    >>> round(31**2 / 32 * share, 6)  # the limit of T² for n = 32 and k = 1
    3.665596
    """
    count, rest = float(counts.sum()), m - float(counts.sum())
    if len(values) == 1:
        return float(values[0] * (special.betaincinv(count / 2, rest / 2, 1 - alpha) if rest > 1e-9 else 1.0))
    low, high = float(values[-1]) if rest <= 1e-9 else 0.0, float(values[0])
    for _ in range(ROUNDS):
        grid = np.linspace(low, high, POINTS)
        at = int(np.argmax(tail(grid, values, counts, m) <= alpha))  # the last is never exceeded
        low, high = float(grid[max(at - 1, 0)]), float(grid[at])
    return high

"""What intervals and bounds of `ritz.bootstrap` cover, by simulation: rows of several laws, few and many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import ritz

Array = NDArray[np.float64]
VALUES = np.array([24.0, 8.0, *[1.0] * 18])  # two components that stand above noise, of 20 columns
ROWS = (10, 20, 100, 1000)
K, RESAMPLES = 2, 300
LAWS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "t5 columns": lambda rng, shape: rng.standard_t(5, shape) / np.sqrt(5 / 3),
    "t5 rows": lambda rng, shape: rng.standard_normal(shape) * np.sqrt(3 / rng.chisquare(5, (shape[0], 1))),
    "exponential": lambda rng, shape: rng.exponential(size=shape) - 1,
}


@dataclass(frozen=True)
class Covered:
    """Shares of the samples in which what is said holds, for each component."""

    law: str
    rows: int
    variances: Array
    angles: Array
    shares: Array
    width: Array  # median of the upper end over the lower one


def cover(law: str, n: int, samples: int, values: Array = VALUES) -> Covered:
    """Simulate so many samples of n rows."""
    rng, d = np.random.default_rng([n, len(values), *map(ord, law)]), len(values)
    truth, whole, found = values[:K], values.sum(), []
    for i in range(samples):
        X = LAWS[law](rng, (n, d)) * np.sqrt(values)
        pca = ritz.PCA(K).fit(X)
        told = ritz.bootstrap(pca, X, RESAMPLES, random_state=i)
        (low, high), (least, most) = told.variance_intervals.T, told.share_intervals.T
        off = np.degrees(np.arccos(np.minimum(np.abs(np.diagonal(pca.components_[:, :K])), 1.0)))
        shares = (least <= truth / whole) & (truth / whole <= most)
        found.append([(low <= truth) & (truth <= high), off <= told.angle_bounds, shares, high / low])
    variances, angles, shares = np.mean([part[:3] for part in found], axis=0)
    return Covered(law, n, variances, angles, shares, np.median([part[3] for part in found], axis=0))


def run(quick: bool, only: list[str]) -> None:
    """The table of docs/guide/stability.md."""
    samples = 20 if quick else 200
    print(f"{samples} samples each, {RESAMPLES} resamples, level 90 %; in each cell: first component / second\n")
    print("| rows | law | n/d | variance | share | angle | upper/lower end |\n|---|---|---|---|---|---|---|")
    for law in LAWS:
        if only and not any(name in law for name in only):
            continue
        for n in ROWS:
            one = cover(law, n, samples)
            cells = [" / ".join(f"{100 * x:.0f}" for x in part) for part in (one.variances, one.shares, one.angles)]
            width = " / ".join(f"{x:.1f}" for x in one.width)
            print(f"| {n} | {law} | {n / len(VALUES):g} | {' | '.join(cells)} | {width} |", flush=True)

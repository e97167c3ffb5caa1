"""What rules assume, measured in the rows: whether noise differs by column or row, how heavy its tails are, and whether
rows follow each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.fitting.signflips import Flips
from ritz.linalg.dense import Array
from ritz.rows.base import dense

ROWS, ENTRIES = 1000, 1 << 21  # of a sample
RUN = 500  # rows at the start that are looked at one after the other
NARROW = 4  # columns or rows beyond the components without which nothing is measured
TAIL = 1.2815515655446004  # standard normal quantile of 90 %
EQUAL, HEAVY, FOLLOWS = 2.0, 5.0, 0.15  # what is still called equal, light-tailed, and independent


@dataclass(frozen=True)
class Facts:
    """Measured in what the components above noise leave of the rows; NaN where there is too little to tell.

    Attributes
    ----------
    columns, rows : how many times larger the noise variance is in the columns, or rows, at the 90 % quantile than at
        the 10 % one, beyond what chance does
    tails : excess kurtosis of the noise, 0 for normal numbers
    follows : correlation of each row with the next

    Examples
    --------
    >>> facts = Facts(1.1, 30.0, 0.2, 0.0)
    >>> facts.white, facts.heavy, facts.ordered
    (False, False, False)
    """

    columns: float
    rows: float
    tails: float
    follows: float

    @property
    def alike(self) -> bool:
        """Whether columns have noise of equal variance, as far as is known."""
        return not self.columns > EQUAL

    @property
    def white(self) -> bool:
        """Whether rows have, too."""
        return self.alike and not self.rows > EQUAL

    @property
    def heavy(self) -> bool:
        """Whether noise is heavy-tailed."""
        return self.tails > HEAVY

    @property
    def ordered(self) -> bool:
        """Whether a row tells something about the next one."""
        return self.follows > FOLLOWS


def measured(flips: Flips, axes: Array, levels: Array, center: bool) -> Facts:
    """Facts about what is left of rows without some components, from a sample of them.

    Parameters
    ----------
    axes, levels : (d, k) and (k,), the components, and the eigenvalues of ZᵀZ along them
    """
    rows, (n, d), k = flips.rows, flips.rows.shape, axes.shape[1]
    free = 1 - np.square(axes).sum(axis=1)  # share of its noise that a column still has
    lost = flips.diagonal - (np.square(axes) * levels).sum(axis=1)
    varying = (flips.diagonal > 0) & (free > 0.1)
    noise = np.where(varying, np.maximum(lost, 0.0) / np.where(varying, free, 1.0), 0.0) / max(1, n - center - k)
    varying &= noise > 0
    if np.count_nonzero(varying) < NARROW:
        return Facts(np.nan, np.nan, np.nan, np.nan)
    spread = _ratio(noise[varying], max(1, n - center - k))
    scale = np.where(varying, 1 / np.sqrt(np.where(varying, noise, 1.0)), 0.0)
    size = min(n, ROWS, max(RUN // 10, ENTRIES // d))
    sample = _left(flips, dense(rows.sample(size)), axes) * scale
    energies = np.square(sample).mean(axis=1)
    energies = energies[energies > 0]
    between, tails = np.nan, np.nan
    if len(energies) >= NARROW and d - k >= NARROW:
        between = _ratio(energies, np.count_nonzero(varying) - k)
        even = sample / np.sqrt(np.maximum(np.square(sample).mean(axis=1), np.finfo(float).tiny))[:, None]
        entries = even[:, varying]
        tails = float(np.mean(entries**4) / np.mean(entries**2) ** 2 - 3)
    run = _left(flips, dense(rows.block(0, min(n, RUN, max(2, ENTRIES // d)))), axes) * scale
    square = float(np.square(run).sum())
    follows = float(np.sum(run[1:] * run[:-1])) / square if square > 0 and len(run) > 2 * NARROW else np.nan
    return Facts(spread, between, tails, follows)


def _left(flips: Flips, block: Array, axes: Array) -> Array:
    """Preprocessed rows without the components."""
    Z = flips.prepare(block)
    return np.asarray(Z - (Z @ axes) @ axes.T)


def _ratio(variances: Array, freedom: int) -> float:
    """How far variances lie apart, beyond what chance does to those of so many degrees of freedom."""
    low, high = np.quantile(variances, [0.1, 0.9])
    chance = np.exp(2 * TAIL * np.sqrt(2 / max(1, freedom)))
    return float(max(1.0, high / max(low, np.finfo(float).tiny) / chance))

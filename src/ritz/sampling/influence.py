"""Moments of fourth order of the scores, from one pass: what the errors of variances and axes are made of, whatever
the law of the rows (Davis 1977; Waternaux 1976).

To first order a variance moves by the mean of y_i² − λ_i, and an axis towards another one by the mean of y_i y_j over
λ_i − λ_j. With scaled columns the scales move too: z zᵀ becomes z zᵀ − ½(diag(z²) R + R diag(z²)), so that the
influence on the pair (i, j) is y_i y_j − ½(λ_i + λ_j) Σ_a z_a² u_ai u_aj (after Konishi 1979).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import add

import numpy as np

from ritz.linalg.dense import Array, row_squares
from ritz.rows.base import Block
from ritz.rows.passes import Cut
from ritz.runtime.threads import team
from ritz.sampling.rows_of_fit import RowsOfFit

WIDE = 1 << 22  # entries of the products of axes, beyond which scales are taken as known where axes turn


@dataclass(frozen=True, eq=False)
class Influence:
    """Means over rows, in the unit of the rows.

    Attributes
    ----------
    second, third : (k,) of the influence on every variance, to that power
    pairs : (k, k) squared influence on the angle between two axes
    rest : (k,) Σ over the directions left out of the same
    share, together : (k,) squared influence on the share of a component, and of all up to it
    scales_known : whether `pairs` takes the scales as known
    """

    second: Array
    third: Array
    pairs: Array
    rest: Array
    share: Array
    together: Array
    scales_known: bool


def influence(fit: RowsOfFit) -> Influence:
    """One pass over the rows."""
    U, values, k = fit.subspace.axes, fit.values, fit.k
    own = U**2 * values if fit.scaled else None
    known = not fit.scaled or len(U) * k * (k - 1) // 2 > WIDE
    upper, lower = np.triu_indices(k, 1)
    mixed = None if known else U[:, upper] * U[:, lower] * (0.5 * (values[upper] + values[lower]))
    total = fit.Z.trace or 1.0
    prepare = fit.Z.prepare

    def sums(blocks: Iterable[Block]) -> Sums:
        found = Sums(np.zeros((5, k)), np.zeros((k, k)))
        for block in blocks:
            Z = prepare(block)
            Y, size = Z @ U, row_squares(Z)
            squares = Y**2
            rest = np.maximum(size - squares.sum(axis=1), 0.0)
            moved = squares - (values if own is None else Z**2 @ own)
            part = moved if fit.scaled else squares - np.outer(size, values / total)
            both = np.cumsum(part, axis=1)
            found.lines += [
                (moved**2).sum(axis=0), (moved**3).sum(axis=0), rest @ squares, (part**2).sum(axis=0),
                (both**2).sum(axis=0),
            ]  # fmt: skip
            if mixed is None:
                found.pairs += squares.T @ squares
            else:
                found.pairs[upper, lower] += ((Y[:, upper] * Y[:, lower] - Z**2 @ mixed) ** 2).sum(axis=0)
        return found

    with team():
        found = fit.Z.rows.reduce(sums, add, cut=Cut.THIN)
    n = fit.n
    second, third, rest, share, together = found.lines / n
    pairs = found.pairs / n
    if mixed is not None:
        pairs = pairs + pairs.T
    return Influence(second, third, pairs, rest, share / total**2, together / total**2, known and fit.scaled)


@dataclass
class Sums:
    """Of a run of blocks."""

    lines: Array
    pairs: Array

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.lines + other.lines, self.pairs + other.pairs)

"""Columns that stand beside a fit: how components are correlated with what they were not made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.interpretation.column_tables import ABOUT_ORIGIN, Tables, by_component, decimals
from ritz.interpretation.given import Given
from ritz.interpretation.significance import of_correlations
from ritz.linalg.dense import Array
from ritz.runtime.tables import Table
from ritz.spectrum.subspace import Subspace


@dataclass(frozen=True, eq=False)
class SupplementaryColumns(Tables):
    """Columns of numbers that were not part of the fit.

    Attributes
    ----------
    coordinates : what loadings are to columns of the fit: correlation times standard deviation, or the correlation
        itself where the fit scales columns
    correlations : with scores, over the rows where there is a value
    cos2 : squared correlations
    p_values : of the correlations, by the t-test
    counts : rows with a value
    """

    coordinates: Table
    correlations: Table
    cos2: Table
    p_values: Table
    counts: Table


class Products:
    """Sums over rows of supplementary columns with scores, block by block; the columns are in units of their own."""

    def __init__(self, given: Given, subspace: Subspace) -> None:
        S, k, q = given.values, subspace.axes.shape[1], len(given.names)
        self.subspace, self.there = subspace, ~np.isnan(S)
        self.counts = self.there.sum(axis=0)
        self.unit = np.ones(q)
        for j in range(q):
            size = float(np.abs(S[self.there[:, j], j]).max())
            self.unit[j] = 2.0 ** np.clip(np.frexp(size)[1], -1000, 1000) if size > 0 else 1.0
        Z = np.where(self.there, S, 0.0) / self.unit
        if subspace.mean is not None:
            for _ in range(2):  # the mean of what is left is what rounding left over
                Z = np.where(self.there, Z - Z.sum(axis=0) / self.counts, 0.0)
            largest = np.abs(np.where(self.there, S, 0.0)).max(axis=0) / self.unit
            Z[:, np.abs(Z).max(axis=0) <= 4 * np.finfo(float).eps * largest] = 0.0
        self.Z, self.gaps = Z, not self.there.all()
        self.products, self.total, self.squares = np.zeros((q, k)), np.zeros((q, k)), np.zeros((q, k))
        self.at = 0

    def add(self, part: Array) -> None:
        """Take in a block of scores and distances."""
        some = slice(self.at, self.at + len(part))
        Y, there = part[:, :-1] / self._roots, self.there[some]
        self.products += self.Z[some].T @ Y
        if self.gaps:
            mask = there.astype(np.float64)
            self.total += mask.T @ Y
            self.squares += mask.T @ (Y * Y)
        else:
            self.total += Y.sum(axis=0)
            self.squares += np.einsum("ij,ij->j", Y, Y)
        self.at = some.stop

    @property
    def _roots(self) -> Array:
        roots = self.subspace.deviations
        return np.where(roots > 0, roots, np.inf)  # scores on an axis without variance are 0 to rounding

    def correlations(self) -> Array:  # (q, k)
        """Over the rows where there is a value; 0 for a column, or an axis, that does not vary there."""
        sizes = np.einsum("ij,ij->j", self.Z, self.Z)[:, None]
        squares = self.squares
        if self.subspace.mean is not None:
            squares = squares - self.total**2 / self.counts[:, None]
        bottom = np.sqrt(sizes * np.maximum(squares, 0.0))
        found = np.divide(self.products, bottom, out=np.zeros_like(self.products), where=bottom > 0)
        return np.clip(found, -1.0, 1.0)

    def deviations(self) -> Array:  # (q,)
        """Standard deviations as the fit has them: 1 where it scales columns."""
        if self.subspace.scale is not None:
            return np.ones(len(self.counts))
        free = np.maximum(self.counts - self.subspace.ddof, 1)
        return np.asarray(np.sqrt(np.einsum("ij,ij->j", self.Z, self.Z) / free) * self.unit)


def supplementary_columns(found: Products, given: Given) -> SupplementaryColumns:
    """All tables of the columns of numbers beside the fit."""
    r, counts, names = found.correlations(), found.counts, list(given.names)
    centred = found.subspace.mean is not None
    notes = [] if centred else [ABOUT_ORIGIN]
    flat = [name for name, size in zip(names, np.abs(found.Z).max(axis=0, initial=0.0), strict=True) if size == 0]
    if flat:
        notes.append(f"constant, so 0: {', '.join(map(repr, flat[:5]))}{', …' if len(flat) > 5 else ''}")
    n = found.there.shape[0]
    short = [f"{name!r} {count} of {n}" for name, count in zip(names, counts, strict=True) if count < n]
    if short:
        told = ", ".join(short[:5]) + (", …" if len(short) > 5 else "")
        notes.append(f"over the rows that have a value: {told}")
    p = of_correlations(r, (counts - (2 if centred else 1))[:, None])
    what = "supplementary columns"
    return SupplementaryColumns(
        by_component(r * found.deviations()[:, None], names, f"coordinates of {what}", notes, index_name="column"),
        by_component(r, names, f"correlations of {what} with components", notes, decimals, "column"),
        by_component(r**2, names, f"cos² of {what}", notes, decimals, "column"),
        by_component(p, names, f"p-values of the correlations of {what}", notes, index_name="column"),
        Table({"rows": counts}, names, (f"rows with a value, of {n}",), index_name="column"),
    )

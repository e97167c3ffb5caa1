"""Columns that stand beside a fit: how components are correlated with what they were not made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.interpretation.column_tables import ABOUT_ORIGIN, Tables, by_component, decimals
from ritz.interpretation.given import Given
from ritz.interpretation.significance import of_correlations
from ritz.interpretation.sums import Beside, Sums
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


def supplementary_columns(
    sums: Sums, beside: Beside, given: Given, subspace: Subspace, origin: Array
) -> SupplementaryColumns:
    """All tables of the columns of numbers beside the fit."""
    r, counts, names = correlated(sums, beside, subspace, origin), beside.counts, list(given.names)
    sizes, centred, n = _sizes(beside), subspace.mean is not None, len(beside.table)
    spread = np.ones(len(names))
    if subspace.scale is None:
        spread = np.sqrt(sizes / np.maximum(counts - subspace.ddof, 1)) * beside.unit
    notes = [] if centred else [ABOUT_ORIGIN]
    flat = [name for name, size in zip(names, sizes, strict=True) if not size > 0]
    if flat:
        notes.append(f"constant, so 0: {', '.join(map(repr, flat[:5]))}{', …' if len(flat) > 5 else ''}")
    short = [f"{names[j]!r} {counts[j]} of {n}" for j in beside.gaps]
    if short:
        told = ", ".join(short[:5]) + (", …" if len(short) > 5 else "")
        notes.append(f"over the rows that have a value: {told}")
    what, p = "supplementary columns", of_correlations(r, (counts - (2 if centred else 1))[:, None])
    return SupplementaryColumns(
        by_component(r * spread[:, None], names, f"coordinates of {what}", notes, index_name="column"),
        by_component(r, names, f"correlations of {what} with components", notes, decimals, "column"),
        by_component(r**2, names, f"cos² of {what}", notes, decimals, "column"),
        by_component(p, names, f"p-values of the correlations of {what}", notes, index_name="column"),
        Table({"rows": counts}, names, (f"rows with a value, of {n}",), index_name="column"),
    )


def correlated(sums: Sums, beside: Beside, subspace: Subspace, origin: Array) -> Array:  # (q, k)
    """Correlations with scores, over the rows where there is a value; 0 for a column, or an axis, that does not vary.

    Where the fit does not centre, these are about 0, and not about the origin of the sums.
    """
    total, squares = (np.tile(part, (beside.q, 1)) for part in (sums.total, sums.squares))
    total[beside.gaps], squares[beside.gaps] = sums.there, sums.there_squares
    products, counts = sums.products, beside.counts[:, None]
    if subspace.mean is not None:
        squares = squares - total**2 / counts
    else:
        squares = squares + origin * (2 * total + counts * origin)
        products = products + beside.table[:, : beside.q].sum(axis=0)[:, None] * origin
    bottom = np.sqrt(_sizes(beside))[:, None] * np.sqrt(np.maximum(squares, 0.0))
    seen = (bottom > 0) & (subspace.deviations > 0)  # scores on an axis without variance are 0 to rounding
    found = np.divide(products, bottom, out=np.zeros_like(products), where=seen)
    return np.clip(found, -1.0, 1.0)


def _sizes(beside: Beside) -> Array:  # (q,)
    """Σ s² of the columns, in their units."""
    S = beside.table[:, : beside.q]
    return np.einsum("ij,ij->j", S, S)

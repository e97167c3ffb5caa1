"""What components have to do with columns: coordinates, correlations, contributions, cos²; from the model alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ritz.linalg.dense import Array, row_squares
from ritz.linalg.exponents import times_power
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import Moments, moments
from ritz.rows import Rows
from ritz.runtime.tables import Table
from ritz.runtime.wording import component
from ritz.spectrum.subspace import Subspace

ABOUT_ORIGIN = "columns were not centred: correlations are cosines about the origin"


def percent(share: Any) -> str:
    """A share as it is printed."""
    return f"{100 * float(share):.2f} %"


def hundredths(value: Any) -> str:
    """A percentage as it is printed, under a name that says what it is."""
    return f"{float(value):.2f}"


def decimals(value: Any) -> str:
    """A number between −1 and 1 as it is printed."""
    return f"{float(value) + 0.0:.4f}"


def by_component(
    values: Array, index: Sequence[Any], head: str, notes: Sequence[str] = (), form: Any = None, index_name: str = ""
) -> Table:  # (m, k)
    """A table with a column for every component."""
    names = [component(i) for i in range(values.shape[1])]
    formats = {} if form is None else dict.fromkeys(names, form)
    return Table(dict(zip(names, values.T, strict=True)), index, (head,), notes, formats, index_name)


class Tables:
    """A few tables under their names."""

    @property
    def tables(self) -> Mapping[str, Table]:
        """All of them."""
        return {part.name: getattr(self, part.name) for part in fields(self)}  # type: ignore[arg-type]

    def to_frames(self) -> dict[str, Any]:
        """All of them as DataFrames of pandas, or of polars where pandas is not installed."""
        return {name: table.to_frame() for name, table in self.tables.items()}

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables.values()))


@dataclass(frozen=True, eq=False)
class ColumnTables(Tables):
    """The columns of the fit beside its components.

    Attributes
    ----------
    coordinates : loadings u√λ: a column's covariance with the component's scores of variance 1
    correlations : of columns with the scores of components: coordinates over standard deviations
    contributions : 100·u², the share of a column in the variance of a component, in percent; a component without
        variance has none
    cos2 : squared correlations: the share of a column's variance that the component explains
    """

    coordinates: Table
    correlations: Table
    contributions: Table
    cos2: Table


def eigenvalues(subspace: Subspace) -> Table:
    """Variances with their shares of the whole: all of the variance, and not only what is kept."""
    shares, k = shares_of(subspace), len(subspace.variances)
    cells = {"variance": subspace.variances, "share": shares, "cumulative": np.cumsum(shares)}
    left = 1.0 - float(shares.sum())
    notes = (f"{percent(left)} of the variance is outside these components",) if left > 1e-9 and shares.any() else ()
    formats = {"share": percent, "cumulative": percent}
    return Table(cells, [component(i) for i in range(k)], ("variances of the components",), notes, formats)


def shares_of(subspace: Subspace) -> Array:  # (k,)
    """Shares of the whole variance; 0 where there is none."""
    roots, beyond = subspace.deviations, subspace.outside
    largest = max(float(roots.max(initial=0.0)), beyond)
    if not largest > 0:
        return np.zeros(len(roots))
    squares = (roots / largest) ** 2
    return np.asarray(squares / (squares.sum() + (beyond / largest) ** 2))


def deviations(model: Any, subspace: Subspace) -> Array | None:  # (d,)
    """Standard deviations of preprocessed columns in `unit`, as far as the model knows them: 1 where they were divided
    by theirs; from moments; or from loadings, where no variance is left out."""
    if subspace.scale is not None:
        return np.asarray(times_power(np.ones(len(subspace.axes)), -subspace.power))
    found = getattr(model, "_moments", None)
    if isinstance(found, Moments) and found.count > subspace.ddof:
        return _of_moments(found, subspace)
    if subspace.spare == 0 or subspace.outside == 0.0:
        return np.sqrt(row_squares(subspace.axes * subspace.deviations))
    return None


def deviations_of(rows: Rows, subspace: Subspace) -> Array:  # (d,)
    """The same from a pass over the rows."""
    return _of_moments(moments(rows, center=subspace.mean is not None, scatter=Scatter.DIAGONAL), subspace)


def _of_moments(found: Moments, subspace: Subspace) -> Array:
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.sqrt(found.diagonal / (found.count - subspace.ddof)) * (found.unit / subspace.unit))


def correlations(subspace: Subspace, spread: Array) -> Array:  # (d,) -> (d, k)
    """Correlations of columns with components, u√λ/σ; 0 for a column that does not vary."""
    loadings = subspace.axes * subspace.deviations
    found = np.divide(loadings, spread[:, None], out=np.zeros_like(loadings), where=spread[:, None] > 0)
    return np.clip(found, -1.0, 1.0)


def contributions(subspace: Subspace) -> Array:  # (d, k)
    """100·u² of every component that has variance."""
    return np.where(subspace.deviations > 0, 100.0 * subspace.axes**2, 0.0)


def column_tables(subspace: Subspace, names: Sequence[str], spread: Array) -> ColumnTables:
    """All tables of the columns, from what the model knows and the standard deviations of columns in `unit`."""
    found = correlations(subspace, spread)
    centred = subspace.mean is not None
    flat = [name for name, size in zip(names, spread, strict=True) if not size > 0]
    notes = [] if centred else [ABOUT_ORIGIN]
    if flat:
        notes.append(f"without variance, so 0: {', '.join(map(repr, flat[:5]))}{', …' if len(flat) > 5 else ''}")
    loadings = times_power(subspace.axes * subspace.deviations, subspace.power)
    return ColumnTables(
        by_component(loadings, names, "coordinates of columns (loadings u√λ)", index_name="column"),
        by_component(found, names, "correlations of columns with components", notes, decimals, "column"),
        by_component(contributions(subspace), names, "contributions of columns, percent", (), hundredths, "column"),
        by_component(found**2, names, "cos² of columns", notes, decimals, "column"),
    )


def listed(
    name: str,
    names: Sequence[str],
    loading: Array,
    share: Array,
    correlation: Array | None,
    notes: Sequence[str] = (),
) -> Table:
    """Columns as one component shows them, largest contributions first; without correlations where none are known."""
    order = np.argsort(-share, kind="stable")
    cells: dict[str, Array] = {"loading": loading[order]}
    if correlation is not None:
        cells["correlation"] = correlation[order]
    cells["contribution %"] = share[order]
    if correlation is not None:
        cells["cos²"] = correlation[order] ** 2
    formats = {"correlation": decimals, "contribution %": hundredths, "cos²": decimals}
    head = (f"columns of {name}, largest contributions first",)
    return Table(cells, [names[int(j)] for j in order], head, notes, formats, "column")

"""The columns to blame: T² and SPE of a row as sums over its columns.

T² = Σ_j z_j Σ_a t_a u_ja/λ_a, each term with a sign: it says which columns carried the row along, and which held it
back. SPE = Σ_j e_j², where e = z − U Uᵀz is what the other columns did not expect: its sign says whether a value is too
high.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.linalg.exponents import differences, times_power
from ritz.rows import Rows
from ritz.rows.base import dense
from ritz.runtime.tables import Table
from ritz.runtime.threads import pinned
from ritz.runtime.wording import visible
from ritz.spectrum.subspace import Subspace

LONGEST = 40  # letters of the name of a column to blame
NAMED, WORTH = 3, 0.15  # columns that are named, and the share of the statistic from which on they are worth it


@dataclass(frozen=True, eq=False)
class Contributions:
    """What the columns add to T² and SPE of some rows.

    Attributes
    ----------
    t2 : Table, a line per column and a column per row; its sums are T²
    spe : Table, likewise; its sums are SPE
    residuals : Table of e, in units of the preprocessed columns: above 0 where a value is higher than the components
        expect from all others
    rows : which rows these are
    t2_values, spe_values, residual_values : (rows, d) the same as arrays

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import PCA
    >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
    >>> found = PCA(2).fit(X).monitor(X)
    >>> parts = found.contributions([7])
    >>> bool(np.isclose(parts.t2_values.sum(), found.t2[7])), bool(np.isclose(parts.spe_values.sum(), found.spe[7]))
    (True, True)
    """

    t2: Table
    spe: Table
    residuals: Table
    rows: Sequence[int]
    t2_values: Array
    spe_values: Array
    residual_values: Array

    def __str__(self) -> str:
        return "\n\n".join(map(str, (self.t2, self.spe)))


@pinned()
def parts_of(subspace: Subspace, X: Array) -> tuple[Array, Array, Array, Array]:
    """Preprocessed rows in `unit`, their terms of T², and e and e² in the units of the data."""
    low = subspace._low
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        Z, powers = differences(np.asarray(X), subspace.mean, low, subspace.scale)
        powers = powers[:, None]
        Y = Z @ subspace.axes
        E = Z - Y @ subspace.axes.T
        E -= (E @ subspace.axes) @ subspace.axes.T
        weighted = times_power(Y, powers - subspace.power) * subspace.whitening**2
        Z = times_power(Z, powers - subspace.power)
        return Z, Z * (weighted @ subspace.axes.T), times_power(E, powers), times_power(E * E, 2 * powers)


def contributions(subspace: Subspace, X: Array, rows: Sequence[int], columns: Sequence[str]) -> Contributions:
    """Of rows X, which have these numbers, to the statistics of a subspace."""
    _, t2, residuals, spe = parts_of(subspace, X)

    def table(values: Array, head: str) -> Table:
        named = {f"row {row}": values[i] for i, row in enumerate(rows)}
        return Table(named, list(columns), head=(head,), index_name="column")

    return Contributions(
        table(t2, "contributions of columns to T²"),
        table(spe, "contributions of columns to SPE"),
        table(residuals, "residuals"),
        tuple(rows),
        t2,
        spe,
        residuals,
    )


@dataclass(frozen=True, eq=False)
class Explained:
    """The way from rows to the contributions of their columns; rows that are kept are not read again."""

    subspace: Subspace
    columns: tuple[str, ...]
    kept: NDArray[np.intp]
    values: Array
    rows: Rows | None

    def __call__(self, rows: Sequence[int]) -> Contributions:
        return contributions(self.subspace, self.numbers(rows), rows, self.columns)

    def numbers(self, rows: Sequence[int]) -> Array:
        """What stands in these rows."""
        known = dict(zip(map(int, self.kept), self.values, strict=True))
        absent = sorted({row for row in rows if row not in known})
        if absent and self.rows is None:
            raise DataError(
                f"row {absent[0]} is not among those kept, and a loaded result has no others; monitor X again"
            )
        if absent and self.rows is not None:
            known |= zip(absent, np.asarray(dense(self.rows.on_cpu().take(np.array(absent)))), strict=True)
        return np.array([known[row] for row in rows]).reshape(-1, len(self.subspace.axes))

    def without_rows(self) -> Explained:
        """The same in a file."""
        return replace(self, rows=None)


def blamed(values: Array, signs: Array, columns: Sequence[str]) -> str:
    """The columns that add most to a statistic, with their shares of it, and whether the row is high or low there."""
    whole = float(values.sum())
    if not (np.isfinite(whole) and whole > 0):
        return ""
    least = np.partition(values, -NAMED)[-NAMED] if len(values) > NAMED else -np.inf
    some = np.flatnonzero(values >= least)  # to sort all columns of every row would take as long as the pass
    order = some[np.argsort(-values[some], kind="stable")][:NAMED]
    worth = [j for i, j in enumerate(order) if values[j] > 0 and (i == 0 or values[j] >= WORTH * whole)]
    words = (f"{_short(columns[j])} {'high' if signs[j] > 0 else 'low'} {values[j] / whole:.0%}" for j in worth)
    return ", ".join(words).replace("%", " %")


def _short(name: str) -> str:
    """A name of which there may be several in a line."""
    text = visible(name)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"

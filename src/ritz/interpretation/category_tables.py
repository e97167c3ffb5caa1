"""Categories beside a fit: where their rows lie on average, how far that is from chance, and how well groups differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.interpretation.column_tables import Tables, by_component, decimals
from ritz.interpretation.given import MISSING, Categories
from ritz.interpretation.row_tables import rounding_of
from ritz.interpretation.significance import of_deviations, of_ratios
from ritz.interpretation.sums import Beside, Sums, indicator
from ritz.linalg.dense import Array, row_squares
from ritz.linalg.exponents import times_power
from ritz.moments.preprocessing import Preprocessing
from ritz.rows import Rows
from ritz.rows.base import Block, dense
from ritz.rows.columns import unique_names
from ritz.rows.passes import Cut
from ritz.runtime.tables import Table
from ritz.runtime.threads import cached_property
from ritz.spectrum.subspace import Subspace


@dataclass(frozen=True, eq=False)
class Groups:
    """Scores of the rows of every category, from sums over all rows about an origin near their mean."""

    categories: Sequence[Categories]
    beside: Beside
    sums: Sums
    origin: Array
    subspace: Subspace

    @cached_property
    def counts(self) -> NDArray[np.intp]:  # (g,)
        """Rows of every category."""
        return np.bincount(self.beside.codes.ravel(), minlength=self.beside.groups)

    @property
    def means(self) -> Array:  # (g, k)
        """Mean scores of categories, from the mean of all rows; 0 along axes without variance."""
        found = self.sums.groups / self.counts[:, None] - self.sums.total / self.sums.count
        return np.where(self.subspace.deviations > 0, found, 0.0)

    @property
    def center(self) -> Array:  # (k,)
        """The mean score of all rows: 0 to rounding where rows are centred."""
        found = self.sums.total / self.sums.count + self.origin
        return np.where(self.subspace.deviations > 0, found, 0.0)

    @property
    def spread(self) -> Array:  # (k,)
        """Σ (y − ȳ)², 0 along axes without variance."""
        found = np.maximum(self.sums.squares - self.sums.total**2 / self.sums.count, 0.0)
        return np.where(self.subspace.deviations > 0, found, 0.0)

    def v_tests(self) -> Array:  # (g, k)
        """Mean scores over the standard deviation that the mean of so many rows, drawn at random without replacement,
        has; 0 for a category of all rows."""
        n, counts = self.sums.count, self.counts[:, None]
        deviation = np.sqrt(self.spread / max(n - 1, 1))
        size = np.sqrt(np.divide(counts * n, n - counts, out=np.zeros(counts.shape), where=n > counts))
        found = self.means * size
        return np.divide(found, deviation, out=np.zeros_like(found), where=deviation > 0)

    def ratios(self) -> tuple[Array, Array]:  # (c, k), (c, k)
        """η² of every column of categories, the share of a component's variance that lies between groups, and p."""
        counts, means, spread = self.counts[:, None], self.means, self.spread
        eta2 = np.zeros((len(self.categories), len(spread)))
        p = np.ones_like(eta2)
        for i, some in enumerate(self.beside.slices):
            between = (counts[some] * means[some] ** 2).sum(axis=0)
            eta2[i] = np.clip(np.divide(between, spread, out=np.zeros_like(spread), where=spread > 0), 0.0, 1.0)
            groups = some.stop - some.start
            p[i] = of_ratios(eta2[i], groups - 1, self.sums.count - groups)
        return eta2, p


@dataclass(frozen=True, eq=False)
class CategoryTables(Tables):
    """Categories of columns that were not part of the fit. Distances and cos² take a pass over the rows of their own,
    when they are asked for.

    Attributes
    ----------
    groups : column, category and number of rows of every group; rows without a category are one of their own
    coordinates : mean scores of the rows of a category
    v_tests : coordinates in standard deviations that the mean of as many random rows has: normal, beyond 2 is rare
    p_values : of the v-tests, two-sided
    eta2 : for every column, the share of each component's variance that lies between its groups
    eta2_p_values : by the F-test
    distances : from the centre to the mean of the rows, along all directions
    cos2 : squared coordinates over squared distances
    """

    groups: Table
    coordinates: Table
    v_tests: Table
    p_values: Table
    eta2: Table
    eta2_p_values: Table
    rows: Rows = field(repr=False)
    _groups: Groups = field(repr=False)

    @property
    def tables(self) -> dict[str, Table]:
        names = ("groups", "coordinates", "v_tests", "p_values", "distances", "cos2", "eta2", "eta2_p_values")
        return {name: getattr(self, name) for name in names}

    @property
    def distances(self) -> Table:
        found = times_power(self._sizes, self._groups.subspace.power)
        head = ("distances of categories from the centre",)
        return Table({"distance": found}, self.coordinates.index, head, index_name="category")

    @property
    def cos2(self) -> Table:
        subspace = self._groups.subspace
        means = self._groups.means + self._groups.center
        sizes = self._sizes[:, None]
        found = np.divide(means, sizes, out=np.zeros_like(means), where=sizes > rounding_of(subspace)) ** 2
        head = "cos² of categories"
        return by_component(np.minimum(found, 1.0), self.coordinates.index, head, (), decimals, "category")

    @cached_property
    def _sizes(self) -> Array:  # (g,)
        """Lengths of the mean preprocessed rows of categories, in the unit of the subspace."""
        of = self._groups
        means = group_sums(self.rows, of.subspace, of.beside.codes, of.beside.groups) / of.counts[:, None]
        return np.sqrt(row_squares(means))


def category_tables(found: Groups, rows: Rows) -> CategoryTables:
    """All tables of the categories, from the sums over the rows of X."""
    columns = [of.column for of in found.categories for _ in range(of.count)]
    names = [name for of in found.categories for name in (*of.names, *([MISSING] if of.gaps else []))]
    gaps = [i == len(of.names) for of in found.categories for i in range(of.count)]
    titles = unique_names([title for of in found.categories for title in of.titles])
    cells: dict[str, Any] = {"column": columns, "category": names, "rows": found.counts, "missing": gaps}
    coordinates = times_power(found.means + found.center, found.subspace.power)
    v, (eta2, p), whole = found.v_tests(), found.ratios(), [of.column for of in found.categories]
    what = "columns of categories"
    return CategoryTables(
        Table(cells, titles, ("categories",), index_name="group"),
        by_component(coordinates, titles, "coordinates of categories (means of their rows)", index_name="category"),
        by_component(v, titles, "v-tests of categories", (), decimals, "category"),
        by_component(of_deviations(v), titles, "p-values of the v-tests", index_name="category"),
        by_component(eta2, whole, f"η² of {what}", (), decimals, "column"),
        by_component(p, whole, f"p-values of η² of {what}", index_name="column"),
        rows,
        found,
    )


def group_sums(rows: Rows, subspace: Subspace, codes: NDArray[np.intp], groups: int) -> Array:  # (g, d)
    """Sums of preprocessed rows over every group, in the unit of the subspace; one pass."""
    rows = rows.on_cpu() if rows.on_device else rows
    densely, unit = rows.sparse and subspace._densely(), 0 if subspace.faint else subspace.power

    def sums(pairs: Iterable[tuple[Block, NDArray[np.intp]]]) -> Array:
        total: Array = np.zeros((groups, rows.shape[1]))
        for block, some in pairs:
            Z, prepare = subspace._ready(dense(block) if densely else block)
            total += _sums_of(times_power(Z, -unit) if isinstance(Z, np.ndarray) else Z, prepare, some, groups, unit)
        return total

    return rows.reduce(sums, np.add, codes, Cut.THIN)


def _sums_of(Z: Any, prepare: Preprocessing, codes: NDArray[np.intp], groups: int, unit: int) -> Array:
    """Of one block: preprocessed already, or sparse rows with what is yet to be done to them."""
    which = indicator(codes, groups)
    if isinstance(Z, np.ndarray):
        return np.asarray(which @ Z)
    found = (which @ prepare.uncentred(Z)).toarray()
    if (center := prepare.center) is not None:
        found -= np.bincount(codes.ravel(), minlength=groups)[:, None] * center
    return np.asarray(times_power(found, -unit))

"""What the components of a fit mean: everything about columns, rows, and what stands beside them, in tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.interpretation.category_tables import CategoryTables, Groups, category_tables
from ritz.interpretation.column_tables import (
    ColumnTables,
    Tables,
    column_tables,
    deviations,
    deviations_of,
    eigenvalues,
    listed,
)
from ritz.interpretation.describe import Description, Evidence, brief, check_level, described, four, p_value
from ritz.interpretation.given import Given
from ritz.interpretation.row_tables import FLOOR, RowTables
from ritz.interpretation.significance import of_correlations
from ritz.interpretation.sums import Beside, origin_of, summed
from ritz.interpretation.supplementary import SupplementaryColumns, supplementary_columns
from ritz.linalg.dense import Array
from ritz.pca.fitted import column_names, row_names, rows_of, subspace_of
from ritz.rows import Rows
from ritz.runtime.tables import Table
from ritz.runtime.threads import cached_property, pinned
from ritz.runtime.wording import component, plural
from ritz.spectrum.subspace import Subspace

SHOWN = 3  # components that are printed


@dataclass(frozen=True, eq=False)
class Interpretation:
    """What `ritz.interpret` found. Print it for the first components; every table has `to_frame`.

    Attributes
    ----------
    eigenvalues : variances with their shares
    columns : `coordinates`, `correlations`, `contributions`, `cos2` of the columns of the fit
    rows : `coordinates`, `distances`, `contributions`, `cos2` of its rows, read when they are asked for
    supplementary_columns : `coordinates`, `correlations`, `cos2`, `p_values`, `counts`; None where none were given
    categories : `groups`, `coordinates`, `v_tests`, `p_values`, `distances`, `cos2`, `eta2`, `eta2_p_values`, likewise
    supplementary_rows : `coordinates`, `distances`, `cos2`, likewise

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> found = ritz.interpret(ritz.PCA(2, scale=True).fit(iris.data), iris.data)
    >>> print(found.columns.contributions)
    contributions of columns, percent
    column               PC1    PC2
    sepal length (cm)  27.15  14.24
    sepal width (cm)    7.25  85.25
    petal length (cm)  33.69   0.06
    petal width (cm)   31.91   0.45
    >>> found.rows.cos2.to_frame().shape
    (150, 2)
    """

    eigenvalues: Table
    rows: RowTables
    supplementary_columns: SupplementaryColumns | None = None
    categories: CategoryTables | None = None
    supplementary_rows: RowTables | None = None
    _names: tuple[str, ...] = field(repr=False, default=())  # of the columns
    _spread: Array | None = field(repr=False, default=None)  # their standard deviations, where the model knows them

    @cached_property
    def columns(self) -> ColumnTables:
        """The columns of the fit; where the model does not know how they vary, rows are read for it."""
        of = self.rows
        spread = deviations_of(of.rows, of.subspace) if self._spread is None else self._spread
        return column_tables(of.subspace, self._names, spread)

    @property
    def parts(self) -> dict[str, Tables]:
        """All groups of tables that are there."""
        names = ("columns", "rows", "supplementary_columns", "categories", "supplementary_rows")
        return {name: part for name in names if (part := getattr(self, name)) is not None}

    def to_frames(self) -> dict[str, Any]:
        """All tables as DataFrames: "eigenvalues", "columns.coordinates", …; rows are read and all of them kept.

        Examples
        --------
        >>> import numpy as np
        >>> import ritz
        >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
        >>> frames = ritz.interpret(ritz.PCA(2).fit(X), X).to_frames()
        >>> frames["columns.cos2"].shape, frames["rows.coordinates"].shape
        ((3, 2), (40, 2))
        """
        found = {"eigenvalues": self.eigenvalues.to_frame()}
        for name, part in self.parts.items():
            found |= {f"{name}.{key}": frame for key, frame in part.to_frames().items()}
        return found

    def describe(self, level: float = 0.05) -> Description:
        """For every component, columns by their correlation and categories by their v-test, with p-values up to a
        level.

        Components were made to be correlated with the columns of the fit, so p-values of these describe, and test
        nothing; those of supplementary columns and categories are tests, one at a time.

        Examples
        --------
        >>> import ritz
        >>> from sklearn.datasets import load_wine
        >>> wine = load_wine(as_frame=True)
        >>> pca = ritz.PCA(2, scale=True).fit(wine.data)
        >>> found = ritz.interpret(pca, wine.data, labels=wine.target_names[wine.target])
        >>> print(found.describe(1e-9)["PC2 categories"])
        categories off the centre along PC2
                         v-test        p
        label=class_2    6.3505  2.1e-10
        label=class_1  -11.2715  < 1e-16
        """
        level = check_level(level)
        found: dict[str, Table] = {}
        for i in range(len(self.eigenvalues)):
            found |= dict(described(component(i), self._evidence(i), level))
        return Description(level, found)

    def _evidence(self, i: int) -> Mapping[str, Evidence]:
        name, beside, kinds = component(i), self.supplementary_columns, self.categories
        names, r = list(self.columns.correlations.index), self.columns.correlations[name]
        p = of_correlations(r, self.rows.rows.shape[0] - (1 if self.rows.subspace.mean is None else 2))
        if beside is not None:
            names = names + [f"{title} (supplementary)" for title in beside.correlations.index]
            r = np.concatenate([r, beside.correlations[name]])
            p = np.concatenate([p, beside.p_values[name]])
        found = {"columns": Evidence(names, r, p)}
        if kinds is not None:
            found["ratios"] = Evidence(list(kinds.eta2.index), kinds.eta2[name], kinds.eta2_p_values[name])
            found["categories"] = Evidence(list(kinds.v_tests.index), kinds.v_tests[name], kinds.p_values[name])
        return found

    def __str__(self) -> str:
        n, d, k = self.rows.rows.shape[0], len(self._names), len(self.eigenvalues)
        about = f"{n:,} {plural(n, 'row')}, {d:,} {plural(d, 'column')}, {k} {plural(k, 'component')}"
        found = [about, brief(self.eigenvalues)]
        for i in range(min(k, SHOWN)):
            found += [brief(self._listed(i)), *self._beside(i)]
        return "\n\n".join(found)

    def _listed(self, i: int) -> Table:
        name, at = component(i), self.columns
        parts = (at.coordinates[name], at.contributions[name], at.correlations[name])
        return listed(name, list(at.cos2.index), *parts, at.correlations.notes)

    def _beside(self, i: int) -> list[str]:
        """What stands beside the fit, as one component shows it."""
        name, found = component(i), []
        if (beside := self.supplementary_columns) is not None:
            cells = {"correlation": beside.correlations[name], "cos²": beside.cos2[name], "p": beside.p_values[name]}
            found.append(brief(_by(cells, "correlation", beside.correlations, f"supplementary columns and {name}")))
        if (kinds := self.categories) is not None:
            cells = {"coordinate": kinds.coordinates[name], "v-test": kinds.v_tests[name], "p": kinds.p_values[name]}
            found.append(brief(_by(cells, "v-test", kinds.v_tests, f"categories along {name}")))
        return found


def _by(cells: Mapping[str, Array], key: str, source: Table, head: str) -> Table:
    """Columns of numbers in the order of one of them, from the largest to the smallest."""
    order = np.argsort(-cells[key], kind="stable")
    formats = {"p": p_value, "cos²": four, "correlation": four, "v-test": four}
    sorted_cells = {name: values[order] for name, values in cells.items()}
    return Table(sorted_cells, [source.index[int(j)] for j in order], (head,), source.notes, formats)


@pinned()
def interpret(
    model: Any, X: Any, *, supplementary: Any = None, labels: Any = None, supplementary_rows: Any = None
) -> Interpretation:
    """What the components of a fitted PCA mean, in tables.

    Coordinates, correlations, contributions and cos² of columns and rows are those of FactoMineR, which divides by n:
    its numbers come out with ``ddof=0``. With any ddof the contributions to a component add up to 100 percent, as
    closely as the certificate bounds its variance; cos² of a column or row adds up to at most 1, as all of its variance
    or squared distance is the divisor, and not what is kept; and correlations, contributions, cos², v-tests and η² are
    the same. Scores are not whitened here, also where those of the model are.

    Parameters
    ----------
    model : a fitted ritz.PCA
    X : the rows that it was fitted to, whatever `PCA.fit` takes. They are read once where something stands beside them,
        once for row tables, and once for distances of categories; other rows are an error
    supplementary : columns that were not part of the fit: a table, a dict, an array (n, q), or where X is a file, a
        list of names of its columns. Text, flags and categories are categories, all else numbers. Correlations are
        over the rows where there is a value
    labels : one column of categories: a value for each row, or the name of a column of the file. Rows without a label
        are a group of their own
    supplementary_rows : rows with the columns of the fit that were not part of it

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_wine
    >>> wine = load_wine(as_frame=True)
    >>> pca = ritz.PCA(2, scale=True).fit(wine.data.drop(columns="alcohol"))
    >>> found = ritz.interpret(pca, wine.data.drop(columns="alcohol"), supplementary=wine.data[["alcohol"]])
    >>> print(found.supplementary_columns.correlations)
    correlations of supplementary columns with components
    column      PC1     PC2
    alcohol  0.2302  0.5828
    >>> found.columns.correlations.to_frame().loc["flavanoids", "PC1"].round(4)
    np.float64(0.9175)
    """
    subspace, rows = subspace_of(model, "interpret"), rows_of(model, X)
    rows.check_whole("interpret")
    n = rows.shape[0]
    if subspace.n_rows is None:
        subspace = replace(subspace, n_rows=n)
    if subspace.n_rows != n:
        raise DataError(
            f"X has {n} rows, but the model was fitted to {subspace.n_rows}",
            "pass the rows of the fit; others may be supplementary_rows",
        )
    given = Given.of(supplementary, labels, X, n)
    lack = _lack(model)
    where = RowTables(rows, subspace, row_names(X, rows), lack)
    beside, kinds = _beside(rows, subspace, lack, given)
    others = None
    if supplementary_rows is not None:
        more = rows_of(model, supplementary_rows)
        more.check_whole("interpret")
        others = RowTables(more, subspace, row_names(supplementary_rows, more))
    names, spread = tuple(column_names(model)), deviations(model, subspace)
    return Interpretation(eigenvalues(subspace), where, beside, kinds, others, names, spread)


def _beside(
    rows: Rows, subspace: Subspace, lack: float, given: Given
) -> tuple[SupplementaryColumns | None, CategoryTables | None]:
    """What stands beside the rows, from one pass over them."""
    if not given.names and not given.categories:
        return None, None
    beside, origin = Beside.of(given, subspace.mean is not None), origin_of(rows, subspace)
    sums = summed(rows, subspace, beside, origin)
    sums.check(rows, subspace, lack, origin)
    groups = Groups(given.categories, beside, sums, origin, subspace)
    return (
        supplementary_columns(sums, beside, given, subspace, origin) if given.names else None,
        category_tables(groups, rows) if given.categories else None,
    )


def _lack(model: Any) -> float:
    """How far variances of the fit may be off, relative to the largest."""
    certificate = model.certificate_
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        found = (certificate.rounding + certificate.missing) / certificate.values[0] if len(certificate.values) else 0.0
    return float(found) if np.isfinite(found) else FLOOR

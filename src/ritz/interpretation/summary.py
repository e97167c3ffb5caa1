"""A fitted model in a few tables, from what it knows: nothing is read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ritz.errors import ParameterError
from ritz.interpretation.column_tables import (
    ABOUT_ORIGIN,
    by_component,
    contributions,
    correlations,
    deviations,
    eigenvalues,
    listed,
)
from ritz.interpretation.describe import brief
from ritz.linalg.exponents import times_power
from ritz.pca.fitted import column_names, subspace_of
from ritz.runtime.rules import is_integer
from ritz.runtime.tables import Table
from ritz.runtime.wording import component

UNKNOWN = "this model does not know the variances of its columns; ritz.interpret(model, X) computes the correlations"


@dataclass(frozen=True, eq=False)
class Summary:
    """A model in tables. Print it for the first components.

    Attributes
    ----------
    eigenvalues : variances with their shares
    loadings : u√λ, columns of the data by components, with the names of both
    components : for each of the first components, its columns with loading, correlation, contribution and cos², largest
        contributions first; without correlation and cos² where the model does not know how columns vary, which after
        a fit with an iterative solver and scale=False it may not

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> found = ritz.PCA(2, scale=True).fit(load_iris(as_frame=True).data).summary()
    >>> print(found.eigenvalues)
    variances of the components
         variance    share  cumulative
    PC1     2.918  72.96 %     72.96 %
    PC2     0.914  22.85 %     95.81 %
    4.19 % of the variance is outside these components
    """

    eigenvalues: Table
    loadings: Table
    components: Mapping[str, Table]

    def to_frames(self) -> dict[str, Any]:
        """All tables as DataFrames of pandas, or of polars where pandas is not installed.

        Examples
        --------
        >>> import numpy as np
        >>> import ritz
        >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
        >>> list(ritz.PCA(2).fit(X).summary(1).to_frames())
        ['eigenvalues', 'loadings', 'PC1']
        """
        found = {"eigenvalues": self.eigenvalues.to_frame(), "loadings": self.loadings.to_frame()}
        return found | {name: table.to_frame() for name, table in self.components.items()}

    def __str__(self) -> str:
        return "\n\n".join(map(brief, [self.eigenvalues, *self.components.values()]))


def summary_of(model: Any, n: Any) -> Summary:
    """The summary of a fitted PCA, with the columns of its first n components."""
    if not (is_integer(n) and n >= 1):
        raise ParameterError("n", n, "must be an integer >= 1: how many components to show")
    subspace, names = subspace_of(model, "summary"), column_names(model)
    loadings = times_power(subspace.axes * subspace.deviations, subspace.power)
    spread = deviations(model, subspace)
    r = None if spread is None else correlations(subspace, spread)
    shares, k = contributions(subspace), len(subspace.variances)
    notes = [UNKNOWN] if r is None else [] if subspace.mean is not None else [ABOUT_ORIGIN]
    shown = [
        listed(component(i), names, loadings[:, i], shares[:, i], None if r is None else r[:, i], notes)
        for i in range(min(int(n), k))
    ]
    return Summary(
        eigenvalues(subspace),
        by_component(loadings, names, "loadings u√λ", index_name="column"),
        {component(i): table for i, table in enumerate(shown)},
    )

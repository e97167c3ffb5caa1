"""A component in words of what it goes with: columns and categories that chance does not explain, strongest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import ParameterError
from ritz.linalg.dense import Array
from ritz.runtime.rules import is_number
from ritz.runtime.tables import Table

MOST = 10  # lines of a table that are printed where there are many tables


@dataclass(frozen=True, eq=False)
class Description:
    """What components go with, a table for each kind of thing; one that has nothing to show is not there.

    Attributes
    ----------
    level : p-values above it are left out
    tables : by name: "PC1 columns", "PC1 ratios", "PC1 categories", "PC2 columns", …

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> pca = ritz.PCA(2, scale=True).fit(iris.data)
    >>> found = ritz.interpret(pca, iris.data, labels=iris.target_names[iris.target]).describe(1e-3)
    >>> list(found.tables)
    ['PC1 columns', 'PC1 ratios', 'PC1 categories', 'PC2 columns', 'PC2 ratios', 'PC2 categories']
    >>> print(found["PC2 columns"])
    columns correlated with PC2
                       correlation        p
    sepal width (cm)        0.8827  < 1e-16
    sepal length (cm)       0.3608  5.7e-06
    """

    level: float
    tables: Mapping[str, Table]

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]

    def to_frames(self) -> dict[str, Any]:
        """All tables as DataFrames of pandas, or of polars where pandas is not installed.

        Examples
        --------
        >>> import numpy as np
        >>> import ritz
        >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
        >>> list(ritz.interpret(ritz.PCA(1).fit(X), X).describe().to_frames())
        ['PC1 columns']
        """
        return {name: table.to_frame() for name, table in self.tables.items()}

    def __str__(self) -> str:
        return "\n\n".join(map(brief, self.tables.values())) or f"nothing has a p-value of at most {self.level:g}"


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of one component: correlations, η² and v-tests, each with names and p-values."""

    names: list[str]
    values: Array
    p_values: Array


def described(name: str, kinds: Mapping[str, Evidence], level: float) -> Iterator[tuple[str, Table]]:
    """The tables of one component."""
    heads = {
        "columns": ("correlation", f"columns correlated with {name}"),
        "ratios": ("η²", f"columns of categories that differ along {name}"),
        "categories": ("v-test", f"categories off the centre along {name}"),
    }
    for kind, found in kinds.items():
        quantity, head = heads[kind]
        order = strongest(found.values, found.p_values, level)
        if len(order):
            cells = {quantity: found.values[order], "p": found.p_values[order]}
            names = [found.names[i] for i in order]
            yield f"{name} {kind}", Table(cells, names, (head,), (), {"p": p_value, quantity: four})


def strongest(values: Array, p_values: Array, level: float) -> NDArray[np.intp]:
    """What a level lets through, from the largest positive value to the largest negative one."""
    kept = np.flatnonzero(p_values <= level)
    return kept[np.argsort(-values[kept], kind="stable")]


def check_level(level: Any) -> float:
    """The level of a description."""
    if not (is_number(level) and 0 < float(level) <= 1):
        raise ParameterError("level", level, "must be a number above 0, and at most 1")
    return float(level)


def p_value(p: Any) -> str:
    """A p-value as it is printed."""
    return "< 1e-16" if p < 1e-16 else f"{p:.2g}" if p < 1e-4 else f"{p:.4f}"


def four(value: Any) -> str:
    """A number with four decimals."""
    return f"{float(value) + 0.0:.4f}"


def brief(table: Table) -> str:
    """The first lines of a table."""
    return "\n".join([*table.head, *table.lines(MOST), *table.notes])

"""The data matrix Z by its columns: products that are sums, or stacks, over blocks of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ritz.linalg.dense import Array, add_squares, cross, joined, mirrored, panels, r_factor, terms_of_sum, times
from ritz.moments.by_columns import ColumnPreprocessing
from ritz.moments.moments import Moments
from ritz.moments.preprocessing import Preprocessing
from ritz.operators.covariance import DataMatrix
from ritz.rows import Rows
from ritz.rows.passes import Cut


class ColumnMatrix(DataMatrix):
    """Z, n×d, of rows whose columns are the rows `turned`. `columns` centres and scales a block of them.

    Z Zᵀ is a sum of n×n matrices, one of every block of columns; Zᵀ V has a row for every column. So no part travels:
    only n×n and n×b, and d×b where a result has a number for every column.
    """

    def __init__(
        self,
        rows: Rows,
        turned: Rows,
        prepare: Preprocessing,
        moments: Moments,
        columns: ColumnPreprocessing,
        rank_bound: int,
        passes: int = 1,
    ) -> None:
        super().__init__(rows, prepare, moments, columns.ddof, rank_bound, passes)
        self.columns, self.turned = columns, turned

    @property
    def inner_terms(self) -> int:
        """Of sums over columns so far; no fewer than are behind a variance, as the trace rests on these."""
        return max(self.terms, self.shape[0])

    def gram(self) -> Array:  # (n, n)
        return mirrored(self._summed(add_squares, self.shape[0])) / self.divisor

    def gram_product(self, V: Array) -> Array:  # (n, b) -> (n, b)
        here = self.turned.here(V)

        def add(Z: Array, total: Array) -> None:
            total += cross(Z, times(Z, here))

        return self._summed(add, V.shape[1], cut=Cut.THIN) / self.divisor

    def combine(self, V: Array) -> Array:  # (n, b) -> (d, b)
        self.passes += 1
        columns, here = self.columns, self.turned.here(V)
        return self.turned.map(lambda block: times(columns(block), here))

    def project(self, W: Array) -> Array:  # (d, b) -> (n, b)
        def add(Z: Array, total: Array, part: Array) -> None:
            total += cross(Z, part)

        return self._summed(add, W.shape[1], W, Cut.THIN)

    def normal(self, V: Array, factor: bool = False) -> tuple[Array, ...]:  # (d, b) -> (d, b), (b, b)
        """In two passes: all columns are needed before the first row of the result is known."""
        ZV = self.project(V)
        return self.combine(ZV) / self.divisor, *([r_factor(ZV)] if factor else [])

    def dense(self) -> Array:  # (n, d)
        self.passes += 1
        columns = self.columns
        return self.turned.map(lambda block: columns(block).copy()).T

    def _summed(
        self, add: Callable[..., Any], width: int, beside: Array | None = None, cut: Cut = Cut.SQUARE
    ) -> Array:  # -> (n, width)
        """The sum of what `add` adds to a total of every block of columns, and of what stands beside it."""
        self.passes += 1
        columns, shape, paired = self.columns, (self.shape[0], width), beside is not None

        def run(blocks: Iterable[Any]) -> tuple[Array, int]:
            total, terms = np.zeros(shape), 0
            for block in blocks:
                some, *parts = block if paired else (block,)
                add(columns(some), total, *parts)
                terms = terms_of_sum(terms, some.shape[0], panels(some.shape[0]))
            return total, terms

        total, terms = self.turned.reduce(run, joined, beside, cut)
        self.terms = max(self.terms, terms)
        return total

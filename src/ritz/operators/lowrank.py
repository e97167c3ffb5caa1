"""Matrices that few columns, or few rows of a stream, stand for, and what they lack."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ritz.linalg.dense import Array, eigh_descending, gamma
from ritz.moments.moments import Moments
from ritz.moments.preprocessing import Preprocessing
from ritz.moments.sketch import Sketch
from ritz.operators.base import Operator
from ritz.operators.covariance import DataMatrix
from ritz.operators.gram import Gram
from ritz.operators.pivoted_cholesky import Factor
from ritz.rows import as_rows
from ritz.rows.memory.array import symmetric_product, thin_inner, thin_product
from ritz.runtime.threads import cached_property


class LowRank(Operator):
    """A ≈ H F (H F)ᵀ, H = I − 11ᵀ/n, from a factor of the matrix that is centred.

    0 ⪯ A − H F (H F)ᵀ ⪯ missing·I, where `missing` is a trace: hardly any direction lacks so much, so values are given
    as they are and not in the middle of what is possible. `trace` is the most that A's can be.
    """

    def __init__(self, found: Factor) -> None:
        """Takes over the factor's memory: F is centred where it stands."""
        self.dim, p = found.F.shape
        self.triangle, self.mean = found.triangle, found.F.mean(axis=0)
        self.F = np.subtract(found.F, self.mean, out=found.F)
        self.rows_of_factor, self.rank_bound = p, self.dim - 1
        self.missing, self.offset = found.error, 0.0
        self._size, self._error = found.trace, found.rounding
        self.trace = max(found.trace - self.dim * float(self.mean @ self.mean), 0.0)

    @property
    def rounding(self) -> float:
        return self._error + 8 * gamma(self.dim + len(self.mean) + 16) * self._size

    @cached_property
    def small(self) -> tuple[Array, Array]:
        """Eigenvalues and vectors of (H F)ᵀ H F, which has the non-zero eigenvalues of H F (H F)ᵀ."""
        return eigh_descending(symmetric_product(self.F))

    def apply(self, V: Array) -> Array:
        return thin_product(self.F, thin_inner(self.F, V))


class Sketched(Gram):
    """K = F Fᵀ/(n − ddof) of a sketch F of n rows, at least `least` of them: zeros fill up what the sketch has less.

    Its eigenvalues are those of FᵀF/(n − ddof), which falls short of the covariance by `missing` at most, in units of
    unit². `mean` is that of the rows, `remainder` what it lacks as a float64, in units of unit.
    """

    def __init__(self, sketch: Sketch, ddof: int, rank_bound: int, least: int) -> None:
        self.remainder = sketch.moments.remainder(sketch.unit)
        self.mean, self.unit, d = sketch.moments.mean, sketch.unit, len(sketch.moments.mean)
        rows = sum(map(len, sketch.pieces))
        F = np.concatenate([*sketch.pieces, np.zeros((max(0, least - rows), d))])
        here = replace(sketch.moments.rescaled(np.full(d, self.unit)), unit=np.ones(d))
        super().__init__(_SketchRows(F, here, ddof, rank_bound))
        self.missing = sketch.lost / self.divisor
        self.offset = self.missing / 2
        self._error = sketch.error / self.divisor

    @property
    def rounding(self) -> float:
        return super().rounding + self._error

    @property
    def passes(self) -> int:  # type: ignore[override]
        """The rows themselves were read once; products with F are no passes over them."""
        return 1


class _SketchRows(DataMatrix):
    """The rows F of a sketch, few and long."""

    def __init__(self, F: Array, moments: Moments, ddof: int, rank_bound: int) -> None:
        super().__init__(as_rows(F), Preprocessing(), moments, ddof, rank_bound)
        self._F = F

    def combine(self, V: Array) -> Array:  # (p, b) -> (d, b)
        """Fᵀ V by pieces of columns, so that no core needs a d×b of its own."""
        return thin_product(self._F.T, V)

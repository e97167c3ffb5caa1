"""A = ΦΨ, the measurements of every basis vector, and its coherence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.runtime.threads import cached_property
from ritz.sensing.maps import BLOCK, Map, Matrix, Places

HELD = 1 << 26  # entries up to which A is held as a matrix, where the measurements are a matrix of that size anyway
FAST = 1 << 21  # likewise where products take N log N operations, and a matrix pays by its speed alone
ENOUGH = 1e10  # operations that a number for the reader may take
STRIP = 64  # columns that are compared with all others at once
FAR = 1e6  # from 1: entries whose squares and products need no care
SAFE = 1 + 1e-9  # a coherence that rounding has made too small must not promise more
NONE = 2.0**-61  # coherence that is none: no number of coefficients comes near what it guarantees
ALIKE = 1 - 1e-9  # coherence of columns that are the same but for rounding
VANISHED = 1e-12  # length, as a share of the longest, of columns that are rounding
DEPENDENT = 1e-14  # eigenvalues, as a share of the largest, of dependent columns
SAMPLE = 16  # rows or columns that stand for all where they would take more


@dataclass(frozen=True)
class Coherence:
    """Largest inner products between measurements and basis vectors, and between columns of A: the smaller, the better.

    The first one is between 1 and √N for an orthonormal basis; the larger, the more measurements are needed (Candès and
    Wakin 2008). A certificate has the same fields.
    """

    coherence: float  # √N·max|⟨φ_i, ψ_j⟩| of measurements and basis vectors of length 1
    mutual_coherence: float  # max|⟨a_i, a_j⟩| of columns of A of length 1, or 1 where a column is 0
    coherence_exact: bool  # whether these are maxima over all pairs; over a random sample, the true ones may be larger
    rank: int  # of A where computing it is cheap, else that of random matrices
    random: bool  # whether the measurements are random, and no two columns of A are alike
    generic: bool  # whether their distribution has a density, so that columns are in general position


class Dictionary(Map):
    """The product of measurements Φ and a basis Ψ over `unit`, as a matrix where that is faster.

    The unit is 1, but for entries so large or small that their squares would leave the range of float64.
    """

    def __init__(self, measurement: Map, basis: Map) -> None:
        self.measurement, self.basis = measurement, basis
        self.shape = (measurement.shape[0], basis.shape[1])
        fits = self.shape[0] * self.shape[1] <= (HELD if isinstance(measurement, Matrix) else FAST)
        self.unit, self.held = 1.0, None
        with np.errstate(over="ignore", invalid="ignore"):  # which is found out next
            entries = self._entries() if fits else self._some_columns(self._sample(self.shape[1]))
        self.unit = _unit(entries)
        entries /= self.unit
        self.held = Matrix(entries) if fits else None
        square = np.square(entries).sum() / (self.shape[1] if fits else len(entries))
        self.typical_length = float(np.sqrt(square)) or 1.0  # root mean square of the lengths of columns

    def apply(self, X: Array) -> Array:
        if self.held is not None:
            return self.held.apply(X)
        seen = self.measurement.apply(self.basis.apply(X))
        return seen if self.unit == 1 else seen / self.unit

    def adjoint(self, Y: Array) -> Array:
        if self.held is not None:
            return self.held.adjoint(Y)
        return self.basis.adjoint(self.measurement.adjoint(Y if self.unit == 1 else Y / self.unit))

    def some_columns(self, which: Places) -> Array:
        return super().some_columns(which) if self.held is None else self.held.some_columns(which)

    @staticmethod
    def _sample(count: int) -> Places:
        return np.random.default_rng(0).choice(count, min(count, SAMPLE), replace=False)

    def _entries(self) -> Array:
        """Φ Ψ as a matrix, some rows at a time."""
        entries, at = np.empty(self.shape), 0
        for rows in self.measurement.row_blocks():
            entries[at : at + len(rows)] = self.basis.adjoint(rows)
            at += len(rows)
        return entries

    @cached_property
    def norm(self) -> float:
        """An upper bound of ‖A‖."""
        if self.held is not None and not self.basis.isometry:
            return self.held.norm
        return self.measurement.norm / self.unit * self.basis.norm

    @cached_property
    def lengths(self) -> Array:
        """‖a_j‖ of every column, inf for columns of zeros, so that nothing correlates with them.

        Random measurements keep the lengths of an orthonormal basis on average; where the true ones would take as many
        products as there are columns, that average stands for them.
        """
        if self.held is not None:
            return _nonzero(np.linalg.norm(self.held.entries, axis=0))
        if self.basis.isometry and self.measurement.random:
            return np.full(self.shape[1], self.typical_length)
        step = max(1, BLOCK // self.shape[1])
        starts = range(0, self.shape[1], step)
        blocks = (self.some_columns(np.arange(j, min(j + step, self.shape[1]))) for j in starts)
        return _nonzero(np.concatenate([np.linalg.norm(block, axis=1) for block in blocks]))

    @cached_property
    def longest(self) -> float:
        """An upper bound of the length of every column."""
        if self.held is None:
            return self.norm
        return float(np.linalg.norm(self.held.entries, axis=0).max())

    def correlations(self, Y: Array) -> NDArray[Any]:  # (b, m) -> (b, p)
        """|⟨a_j, y⟩|/‖a_j‖, in float32 where A is held: enough to choose by, in half the time."""
        if self.normalised is None:
            return np.abs(self.adjoint(Y)) / self.lengths
        products = Y.astype(np.float32) @ self.normalised
        return np.abs(products, out=products)

    @cached_property
    def normalised(self) -> NDArray[np.float32] | None:
        """A with columns of length 1, in float32, where it is held."""
        return None if self.held is None else (self.held.entries / self.lengths).astype(np.float32)

    @cached_property
    def coherence(self) -> Coherence:
        m, p = self.shape
        exact = self.held is not None and 1.0 * m * p * p <= ENOUGH
        rows, columns = (np.arange(m), np.arange(p)) if exact else (self._sample(m), self._sample(p))
        measured = self._measured(rows, self._products_with_basis(columns, exact))
        mutual = _largest_product(self._some_columns(columns))
        drawn = self.measurement.random and mutual < ALIKE
        return Coherence(measured, mutual, exact, self._rank(), drawn, self.measurement.generic)

    def _rank(self) -> int:
        """The numerical rank, by the eigenvalues of A Aᵀ or AᵀA."""
        least = min(self.shape)
        independent = self.measurement.independent_rows and self.basis.isometry
        if self.held is None or independent or self.shape[0] * self.shape[1] * least > ENOUGH:
            return least
        entries = self.held.entries if self.shape[0] == least else self.held.entries.T
        values = np.linalg.eigvalsh(entries @ entries.T)
        return int((values > DEPENDENT * values[-1]).sum())

    def _some_columns(self, which: Places) -> Array:
        """Columns of A, one a row, some at a time."""
        few = np.array_split(which, max(1, len(which) * max(self.shape) // BLOCK))
        return np.concatenate([self.some_columns(part) for part in few])

    def _measured(self, which: Places, products: Callable[[Array], Array]) -> float:
        """√N·max|⟨φ_i, ψ_j⟩| over these i."""
        n, largest = self.basis.shape[0], 0.0
        for some in np.array_split(which, max(1, len(which) * n // BLOCK)):
            rows = _units(self.measurement.some_rows(some))
            largest = max(largest, float(np.abs(products(rows)).max()))
        return float(np.sqrt(n) * largest)

    def _products_with_basis(self, columns: Places, exact: bool) -> Callable[[Array], Array]:
        """⟨x, ψ_j⟩ of rows x with basis vectors of length 1: with all of them if exact or cheap, else with these."""
        if self.basis.isometry:
            return self.basis.adjoint
        if exact:
            unit = max(_unit(rows) for rows in self.basis.row_blocks())
            squares = sum(np.square(rows / unit).sum(axis=0) for rows in self.basis.row_blocks())
            lengths = _nonzero(np.sqrt(squares))
            return lambda X: self.basis.adjoint(X) / unit / lengths
        vectors = _units(self.basis.some_columns(columns))
        return lambda X: X @ vectors.T


def guaranteed(mutual: float) -> int:
    """The most coefficients below ½(1 + 1/μ), μ the coherence of columns of length 1 (Tropp 2004).

    Matching pursuit recovers every signal of at most so many.
    """
    return int(np.ceil(0.5 * (1 + 1 / (mutual * SAFE))) - 1) if mutual > NONE else 1 << 62


def _largest_product(columns: Array) -> float:  # (c, m), a column of A each
    """max|⟨a_i, a_j⟩| over different i and j, of columns of length 1; 1 where one of them is 0."""
    lengths = np.linalg.norm(columns, axis=1)
    if (lengths <= VANISHED * lengths.max()).any():
        return 1.0
    units, largest = columns / lengths[:, None], 0.0
    for start in range(0, len(units), STRIP):
        products = np.abs(units[start : start + STRIP] @ units.T)
        some = np.arange(len(products))
        products[some, start + some] = 0.0
        largest = max(largest, float(products.max()))
    return min(largest, 1.0)


def _units(rows: Array) -> Array:
    """Rows of length 1, but for those of zeros."""
    rows = rows / _nonzero(np.abs(rows).max(axis=1))[:, None]
    return rows / _nonzero(np.linalg.norm(rows, axis=1))[:, None]


def _unit(entries: Array) -> float:
    """A power of two as large as the largest entry, where that is far from 1."""
    peak = float(np.abs(entries).max())
    if not np.isfinite(peak):
        raise DataError("measurement and basis multiply to numbers beyond the range of float64; scale one of them")
    return 1.0 if not peak or 1 / FAR < peak < FAR else float(np.ldexp(1.0, int(np.frexp(peak)[1])))


def _nonzero(lengths: Array) -> Array:
    """Lengths to divide by: inf for 0, so that what has no length stays 0."""
    return np.where(lengths > 0, lengths, np.inf)

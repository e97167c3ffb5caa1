"""A positive matrix by few columns, and what they lack."""

from __future__ import annotations

import numpy as np

from ritz.linalg.dense import Array, eigh_descending
from ritz.linalg.rounding import gamma
from ritz.operators.base import Operator
from ritz.operators.pivoted_cholesky import Factor
from ritz.rows.parallel import symmetric_product, thin_inner, thin_product
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

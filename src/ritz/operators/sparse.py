"""A sparse symmetric matrix, known by its entries: its trace and norms cost a look at each of them."""

from __future__ import annotations

from dataclasses import replace
from math import fsum
from typing import Any

import numpy as np

from ritz.linalg.dense import Array, gamma
from ritz.linalg.sparse import product
from ritz.operators.base import Operator, Pairs

ONE_THREAD = 20_000_000  # multiplications that take less time than to hand them out to threads
TOGETHER = 32  # rows whose products BLAS adds in its own order


class SparseMatrix(Operator):
    """A symmetric matrix by its stored entries, never made dense.

    Gershgorin's discs say how far below 0 an eigenvalue may lie: none of a matrix whose diagonal dominates, such as the
    Laplacian of a graph, but for rounding.

    Parameters
    ----------
    A : (d, d) csr_array in float64, symmetric to the last bit
    signed : whether its eigenvalues are ordered by magnitude
    """

    def __init__(self, A: Any, signed: bool = False) -> None:
        self._A, self.signed = A, signed
        self.dim = self.rank_bound = int(A.shape[0])
        diagonal = A.diagonal()
        above = 1 + gamma(8 * self.dim + 64)  # with it a sum is an upper bound whatever its own rounding
        self._terms = int(np.diff(A.indptr).max(initial=0)) + 4
        sums = np.asarray(abs(A).sum(axis=1)).ravel() * (1 + gamma(self._terms))
        self.trace = fsum(diagonal)  # many entries of either sign may cancel
        self._frobenius = float(np.linalg.norm(A.data)) * above
        self.most = min(self._frobenius, float(sums.max(initial=0.0)))
        below = float(np.max(sums - np.abs(diagonal) - diagonal, initial=0.0))
        self.negativity = below + 8 * gamma(self._terms) * self.most

    @property
    def frobenius(self) -> float:
        return self._frobenius

    @property
    def rounding(self) -> float:
        """‖|A|‖ is at most the largest sum of a row, and at most the Frobenius norm."""
        return gamma(self._terms) * self.most

    def apply(self, V: Array) -> Array:
        self.passes += 1
        return np.asarray(self._A @ V) if self._A.nnz * V.shape[1] < ONE_THREAD else product(self._A, V)

    def ritz(self, Q: Array, AQ: Array | None = None, P: Array | None = None, tol: float = 0.0) -> Pairs:
        """The best eigenpairs inside span(Q), with the errors of sums along Q: those of A have far fewer terms."""
        pairs = super().ritz(Q, AQ)
        U, m = pairs.vectors, Q.shape[1]
        defect = self.inner(U, U)
        defect.flat[:: m + 1] -= 1.0
        # ‖|Q|ᵀ|A||Q|‖ ≤ m‖|A|‖: once for UᵀAU, and for UᵀU, whose errors count twice. R has sums of m terms in it.
        relative = m * gamma(3 * _terms_of_inner(self.dim)) + np.sqrt(m) * gamma(self._terms + 4 * m)
        arithmetic = relative * self.most + gamma(self.dim + 8) * float(np.linalg.norm(pairs.residuals))
        return replace(pairs, nonorthogonality=float(np.linalg.norm(defect)), arithmetic=float(arithmetic))

    def inner(self, Q: Array, AQ: Array) -> Array:
        """Qᵀ AQ by pairwise summation: errors hardly grow with d, in whatever order BLAS adds.

        One sum over all d rows may err by a good part of d units: products of the same size, as those of eigenvectors
        of a graph, are all rounded the same way.
        """
        if len(Q) <= TOGETHER:
            return Q.T @ AQ
        half = len(Q) // 2
        return self.inner(Q[:half], AQ[:half]) + self.inner(Q[half:], AQ[half:])

    def lowest_of_two(self) -> float:
        """The lowest eigenvalue of any two rows and their columns, which that of A is not above (Cauchy)."""
        diagonal, entries = self._A.diagonal(), self._A.tocoo()
        row, column = entries.coords
        a, b = diagonal[row], diagonal[column]
        pairs = (a + b) / 2 - np.hypot((a - b) / 2, np.where(row == column, 0.0, entries.data))
        return float(np.min(pairs, initial=0.0))


def _terms_of_inner(d: int) -> int:
    """t, so that every entry of such a product errs by at most γ_t of the same product of magnitudes."""
    return TOGETHER + d.bit_length()

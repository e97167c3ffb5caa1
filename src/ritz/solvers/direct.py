"""Direct solvers: LAPACK on the covariance, the Gram matrix of few rows, the rows themselves, or a small factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import eigh_descending, orthonormalise, svd
from ritz.operators import LowRank as Approximation
from ritz.operators import Operator
from ritz.rows.memory.array import thin_product
from ritz.solvers.base import Basis, Outside

SPARE = 16  # vectors of a low rank beyond those asked for: gaps are known from their values
SMALL = 1e-12  # share of the largest eigenvalue below which a vector of FᵀF says little about one of F Fᵀ


@dataclass(frozen=True)
class Covariance:
    """C = (1/(n − ddof)) ZᵀZ, d×d, is formed in one pass and decomposed by LAPACK: O(n d² + d³).

    The right one when d is moderate. Variances below eps·tr(C) drown in rounding; the certificate says where.
    """

    side: ClassVar[str] = "covariance"
    direct: ClassVar[bool] = True

    def basis(self, A: Operator, k: int, *, tol: float | None, rng: np.random.Generator) -> Basis:
        return _leading_vectors(A, k)


@dataclass(frozen=True)
class Gram:
    """K β = κ β with K = (1/(n − ddof)) Z Zᵀ, n×n; the axis is w = Zᵀ α, α = β/√(κ (n − ddof)).

    Z Zᵀ and Zᵀ Z share their non-zero eigenvalues, so the smaller one is enough.
    """

    side: ClassVar[str] = "gram"
    direct: ClassVar[bool] = True

    def basis(self, A: Operator, k: int, *, tol: float | None, rng: np.random.Generator) -> Basis:
        return _leading_vectors(A, k)


@dataclass(frozen=True)
class SVD:
    """Z = P S Vᵀ by LAPACK; the columns of V are the axes. Sees standard deviations down to eps·σ₁.

    A tall Z is reduced to its R factor by TSQR in the one pass that finds the mean, so no copy of it is made; Z itself
    is decomposed where it has no more rows than columns. The covariance is never formed.
    """

    side: ClassVar[str] = "covariance"
    direct: ClassVar[bool] = True

    def basis(self, A: Operator, k: int, *, tol: float | None, rng: np.random.Generator) -> Basis:
        F = A.factor()
        if F is None:
            raise DataError("svd needs the rows, and only a symmetric matrix is at hand; use 'covariance'")
        P, _, V = svd(F)
        return Basis(V, P=P)


@dataclass(frozen=True)
class LowRank:
    """FᵀF v = κ v makes F v/√κ a unit eigenvector of F Fᵀ, and nothing of F Fᵀ lies outside all of them."""

    side: ClassVar[str] = "either"
    direct: ClassVar[bool] = True

    def basis(self, A: Operator, k: int, *, tol: float | None, rng: np.random.Generator) -> Basis:
        if not isinstance(A, Approximation):
            raise DataError("lowrank needs a factor of few columns, and the operator has none: try 'krylov'")
        values, V = A.small
        m = min(k + SPARE, int(np.count_nonzero(values > SMALL * values[0])))
        following = float(values[m]) if m < len(values) else 0.0
        Q = thin_product(A.F, V[:, :m] / np.sqrt(values[:m])) if m else np.empty((A.dim, 0))
        if m < k:  # random columns beyond the rank
            Q = np.column_stack([Q, rng.standard_normal((A.dim, k - m))])
        return Basis(orthonormalise(Q), outside=Outside(max(following, 0.0) + A.rounding))


def _leading_vectors(A: Operator, k: int) -> Basis:
    """The k leading eigenvectors of the dense operator, and one more if there is: for the certificate."""
    matrix = A.dense()
    if matrix is None:
        raise DataError("this solver needs the matrix, but the operator is known only by its products; use 'krylov'")
    return Basis(eigh_descending(matrix, k if A.rank_bound <= k else k + 1)[1])

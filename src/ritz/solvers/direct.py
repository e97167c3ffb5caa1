"""Direct solvers: LAPACK on the covariance, on the Gram matrix of few rows, or on the rows themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import eigh_descending, svd
from ritz.operators import Operator
from ritz.solvers.base import Basis


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


def _leading_vectors(A: Operator, k: int) -> Basis:
    """The k leading eigenvectors of the dense operator, and one more if there is: for the certificate."""
    matrix = A.dense()
    if matrix is None:
        raise DataError("this solver needs the matrix, but the operator is known only by its products; use 'krylov'")
    return Basis(eigh_descending(matrix, k if A.rank_bound <= k else k + 1)[1])

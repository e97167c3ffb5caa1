"""The singular value decomposition of the rows, or of their R factor, by LAPACK."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import svd
from ritz.operators import Operator
from ritz.solvers.base import Basis


@dataclass(frozen=True)
class SVD:
    """Z = P S Vᵀ by LAPACK; the columns of V are the axes. Sees standard deviations down to eps·σ₁.

    A tall Z is reduced to its R factor by TSQR in the one pass that finds the mean, so no copy of it is made; Z itself
    is decomposed where it has no more rows than columns. The covariance is never formed.

    Examples
    --------
    A covariance would lose the second singular value:

    >>> import numpy as np
    >>> from ritz import PCA, solvers
    >>> X = np.array([[1.0, 0.0], [1.0, 1e-12], [-1.0, 0.0], [-1.0, -1e-12]])
    >>> pca = PCA(svd_solver=solvers.SVD()).fit(X)
    >>> print(*(f"{value:.1e}" for value in pca.singular_values_))
    2.0e+00 1.0e-12
    """

    side: ClassVar[str] = "covariance"
    direct: ClassVar[bool] = True

    def basis(self, A: Operator, k: int, *, tol: float | None, rng: np.random.Generator) -> Basis:
        F = A.factor()
        if F is None:
            raise DataError("svd needs the rows, and only a symmetric matrix is at hand; use 'covariance'")
        P, _, V = svd(F)
        return Basis(V, P=P)

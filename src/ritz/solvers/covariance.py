"""The covariance matrix, decomposed by LAPACK."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ritz.linalg.dense import SUBSET
from ritz.operators import Operator
from ritz.solvers.base import Basis, leading_vectors


@dataclass(frozen=True)
class Covariance:
    """C = (1/(n − ddof)) ZᵀZ, d×d, is formed in one pass and decomposed by LAPACK: O(n d² + d³).

    The right one when d is moderate. Variances below eps·tr(C) drown in rounding; the certificate says where.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import PCA, solvers
    >>> X = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 5.0], [4.0, 2.0]])
    >>> pca = PCA(svd_solver=solvers.Covariance()).fit(X)
    >>> bool(np.allclose(pca.explained_variance_, np.linalg.eigvalsh(np.cov(X.T))[::-1]))
    True
    """

    side: ClassVar[str] = "covariance"
    direct: ClassVar[bool] = True

    def basis(self, A: Operator, k: int, *, tol: float | None, rng: np.random.Generator) -> Basis:
        # LAPACK finds all vectors of a small matrix anyway, and beside all of them nothing can have been missed.
        return leading_vectors(A, A.dim if A.dim <= SUBSET else k)

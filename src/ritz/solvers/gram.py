"""The Gram matrix of few rows, decomposed by LAPACK."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ritz.operators import Operator
from ritz.solvers.base import Basis, leading_vectors


@dataclass(frozen=True)
class Gram:
    """K β = κ β with K = Z Zᵀ, n×n, and ‖β‖ = 1; the axis is w = Zᵀ α, α = β/√κ, its variance λ = κ/(n − ddof).

    Z Zᵀ and Zᵀ Z share their non-zero eigenvalues, so the smaller one is enough.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import PCA, solvers
    >>> X = np.random.default_rng(0).standard_normal((5, 100))
    >>> pca = PCA(2, svd_solver=solvers.Gram()).fit(X)
    >>> Z = X - X.mean(axis=0)
    >>> bool(np.allclose(Z.T @ pca.dual_components_, pca.components_.T))
    True
    >>> kappa = np.linalg.eigvalsh(Z @ Z.T)[::-1][:2]
    >>> bool(np.allclose(pca.explained_variance_, kappa / 4))  # n − 1
    True
    """

    side: ClassVar[str] = "gram"
    direct: ClassVar[bool] = True

    def basis(self, A: Operator, k: int, *, tol: float | None, rng: np.random.Generator) -> Basis:
        return leading_vectors(A, k)

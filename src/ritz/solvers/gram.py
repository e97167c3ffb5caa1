"""The Gram matrix of few rows, decomposed by LAPACK."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ritz.operators import Operator
from ritz.solvers.base import Basis, leading_vectors


@dataclass(frozen=True)
class Gram:
    """K β = κ β with K = (1/(n − ddof)) Z Zᵀ, n×n; the axis is w = Zᵀ α, α = β/√(κ (n − ddof)).

    Z Zᵀ and Zᵀ Z share their non-zero eigenvalues, so the smaller one is enough.
    """

    side: ClassVar[str] = "gram"
    direct: ClassVar[bool] = True

    def basis(self, A: Operator, k: int, *, tol: float | None, rng: np.random.Generator) -> Basis:
        return leading_vectors(A, k)

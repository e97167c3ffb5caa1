"""The eigenvectors of F Fᵀ from those of the small FᵀF."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ritz.errors import DataError
from ritz.linalg.bases import orthonormalise
from ritz.operators import LowRank as Approximation
from ritz.operators import Operator
from ritz.rows.memory.array import thin_product
from ritz.solvers.base import Basis, Outside

SPARE = 16  # vectors of a low rank beyond those asked for: gaps are known from their values
SMALL = 1e-12  # share of the largest eigenvalue below which a vector of FᵀF says little about one of F Fᵀ


@dataclass(frozen=True)
class LowRank:
    """FᵀF v = κ v makes F v/√κ a unit eigenvector of F Fᵀ, and nothing of F Fᵀ lies outside all of them.

    `KernelPCA` takes it where few landmarks stand for all rows; it needs such a factor F, which rows alone do not have.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import KernelPCA, solvers
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> kernel = {"kernel": "rbf", "gamma": 1}
    >>> few = KernelPCA(2, **kernel, n_landmarks=20, eigen_solver=solvers.LowRank())
    >>> exact, few = KernelPCA(2, **kernel).fit(X), few.fit(X)
    >>> few.plan_.solver, bool(np.allclose(few.eigenvalues_, exact.eigenvalues_))
    ('lowrank', True)
    """

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

"""Rayleigh–Ritz: the best eigenpairs inside a solver's basis, with their residuals."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ritz.linalg import UNIT, Array, column_norms, eigh_descending, orthogonality_defect, orthonormalise, svd, triangle
from ritz.operators import Covariance, Gram, Operator
from ritz.solvers import Basis


@dataclass(frozen=True)
class Pairs:
    """Ritz pairs of A inside span(Q), m of them: A U = U Θ + R.

    When the factor F of A = FᵀF is at hand, the singular values `levels` and the residuals `coupling` of its singular
    triplets say more than Θ and R: they were never squared.
    """

    values: Array  # (m,)
    vectors: Array  # (dim, m)
    residuals: Array  # (m,) ‖A u − λ u‖
    defect: float  # ‖Uᵀ A U − Θ‖
    image: Array  # (order, m) L with L Lᵀ = the part of the dense operator that the pairs explain
    levels: Array | None = None  # (m,) singular values of the factor
    coupling: Array | None = None  # (m,) max(‖F u − σ p‖, ‖Fᵀ p − σ u‖)

    def first(self, m: int) -> Pairs:
        """The first m pairs."""
        cut = replace(self, values=self.values[:m], vectors=self.vectors[:, :m], residuals=self.residuals[:m])
        if self.levels is None or self.coupling is None:
            return replace(cut, image=self.image[:, :m])
        return replace(cut, image=self.image[:, :m], levels=self.levels[:m], coupling=self.coupling[:m])

    def trusted(self, k: int, rounding: float) -> Pairs:
        """The k pairs asked for and those spare ones that are as good; unconverged ones would loosen every bound."""
        good = self.residuals[k:] <= 10 * float(np.max(self.residuals[:k])) + rounding
        return self.first(k + (len(good) if good.all() else int(np.argmin(good))))


def rayleigh_ritz(A: Operator, basis: Basis) -> Pairs:
    """The best eigenpairs inside span(Q): from QᵀAQ, or from Q's image under the factor where there is one."""
    if isinstance(A, Gram):
        return _lifted(A, basis.Q)
    if isinstance(A, Covariance) and A.has_factor:
        return _triplets(A.factor(), basis.Q)
    AQ, T = (basis.AQ, None) if basis.AQ is not None else A.normal(basis.Q)
    if T is None:
        values, turn = eigh_descending(basis.Q.T @ AQ)
        return _pairs(basis.Q, AQ, np.maximum(values, 0.0), turn)
    _, sigma, turn = svd(T)
    return _pairs(basis.Q, AQ, sigma**2, turn)


def _pairs(Q: Array, AQ: Array, values: Array, turn: Array) -> Pairs:
    vectors = Q @ turn
    R = AQ @ turn - vectors * values
    return Pairs(values, vectors, column_norms(R), float(np.linalg.norm(vectors.T @ R)), vectors * np.sqrt(values))


def _lifted(A: Gram, B: Array) -> Pairs:
    """From eigenvectors of the Gram matrix to axes: span(Zᵀ B), then Rayleigh–Ritz in factor form there.

    The image Y = Z U/√(n − ddof) makes K − Y Yᵀ = Z(I − UUᵀ)Zᵀ/(n − ddof), which has the non-zero eigenvalues of C
    outside the axes found: what is proved about it holds for C.
    """
    divisor = A.covariance.divisor
    Q = orthonormalise(A.lift(B))
    scores = A.push(Q)
    _, sigma, turn = svd(triangle(scores) / np.sqrt(divisor))
    pairs = _pairs(Q, A.lift(scores) / divisor, sigma**2, turn)
    return replace(pairs, image=scores @ turn / np.sqrt(divisor))


def _triplets(F: Array, Q: Array) -> Pairs:
    """Singular triplets of the factor inside span(Q)."""
    P, T = np.linalg.qr(F @ Q)
    turn_left, sigma, turn = svd(T)
    P, U = P @ turn_left, Q @ turn
    FU = F @ U
    coupling = np.maximum(column_norms(FU - P * sigma), column_norms(F.T @ P - U * sigma))
    own = 2 * orthogonality_defect(P) + 2 * orthogonality_defect(U) + 4 * len(sigma) * UNIT
    pairs = _pairs(U, F.T @ FU, sigma**2, np.eye(len(sigma)))
    return replace(pairs, levels=sigma, coupling=coupling + own * sigma[0] / np.sqrt(len(sigma)))

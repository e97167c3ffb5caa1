"""Rayleigh–Ritz: the best eigenpairs inside a solver's basis, with their residuals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ritz.linalg import UNIT, Array, column_norms, eigh_descending, orthogonality_defect, orthonormalise, svd, triangle
from ritz.operators import Covariance, Gram, Operator
from ritz.solvers import Basis

ALIGNED = 4 * UNIT  # off-diagonal part of QᵀAQ, relative to m λ₁, below which Q need not be rotated


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
    return _pairs(basis.Q, AQ, rotation(basis.Q.T @ AQ if T is None else T.T @ T, T))


class Rotation(NamedTuple):
    """From a basis to Ritz vectors: values, the turn (None for none), and ‖turnᵀ H turn − Θ‖."""

    values: Array
    turn: Array | None
    defect: float

    def __call__(self, V: Array) -> Array:
        return V if self.turn is None else V @ self.turn


def rotation(H: Array, T: Array | None = None) -> Rotation:
    """The rotation that makes H = QᵀAQ diagonal; none where Q is made of eigenvectors already.

    A T with TᵀT = H was never squared and gives small values all their digits.
    """
    diagonal = np.diagonal(H)
    off = float(np.linalg.norm(H - np.diag(diagonal)))
    if off <= ALIGNED * len(H) * abs(float(diagonal[0])) and np.all(diagonal[:-1] >= diagonal[1:]):
        return Rotation(np.maximum(diagonal, 0.0) if T is None else column_norms(T) ** 2, None, off)
    if T is None:
        values, turn = eigh_descending(H)
        values = np.maximum(values, 0.0)
    else:
        _, sigma, turn = svd(T)
        values = sigma**2
    return Rotation(values, turn, float(np.linalg.norm(turn.T @ H @ turn - np.diag(values))))


def _pairs(Q: Array, AQ: Array, turned: Rotation) -> Pairs:
    U = turned(Q)
    return Pairs(
        values=turned.values,
        vectors=U,
        residuals=column_norms(turned(AQ) - U * turned.values),
        defect=turned.defect,
        image=U * np.sqrt(turned.values),
    )


def _lifted(A: Gram, B: Array) -> Pairs:
    """From eigenvectors of the Gram matrix to axes: span(Zᵀ B), then Rayleigh–Ritz in factor form there.

    The image Y = Z U/√(n − ddof) makes K − Y Yᵀ = Z(I − UUᵀ)Zᵀ/(n − ddof), which has the non-zero eigenvalues of C
    outside the axes found: what is proved about it holds for C.
    """
    divisor = A.covariance.divisor
    Q = orthonormalise(A.lift(B))
    scores = A.push(Q)
    T = triangle(scores) / np.sqrt(divisor)
    turned = rotation(T.T @ T, T)
    return replace(_pairs(Q, A.lift(scores) / divisor, turned), image=turned(scores) / np.sqrt(divisor))


def _triplets(F: Array, Q: Array) -> Pairs:
    """Singular triplets of the factor inside span(Q)."""
    P, T = np.linalg.qr(F @ Q)
    turn_left, sigma, turn = svd(T)
    P, U = P @ turn_left, Q @ turn
    FU = F @ U
    coupling = np.maximum(column_norms(FU - P * sigma), column_norms(F.T @ P - U * sigma))
    own = 2 * orthogonality_defect(P) + 2 * orthogonality_defect(U) + 4 * len(sigma) * UNIT
    pairs = _pairs(U, F.T @ FU, Rotation(sigma**2, None, 0.0))
    return replace(pairs, levels=sigma, coupling=coupling + own * sigma[0] / np.sqrt(len(sigma)))

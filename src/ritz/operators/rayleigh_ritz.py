"""Rayleigh–Ritz: the best eigenpairs inside a basis, with their residuals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ritz.linalg.dense import UNIT, Array, column_norms, eigh_descending, orthogonality_defect, svd

ALIGNED = 4 * UNIT  # off-diagonal part of QᵀAQ, relative to m λ₁, below which Q need not be rotated


@dataclass(frozen=True, eq=False)
class Pairs:
    """Ritz pairs of A inside span(Q), m of them: A U = U Θ + R.

    When the factor F of A = FᵀF is at hand, the singular values `levels` and the residuals `coupling` of its singular
    triplets say more than Θ and R: they were never squared.
    """

    values: Array  # (m,)
    vectors: Array  # (dim, m)
    residuals: Array  # (m,) ‖A u − λ u‖
    defect: float  # ‖Uᵀ A U − Θ‖: of rounding alone, as values that do not exceed it are called 0
    image: Array  # (order, m) L with L Lᵀ = the part of the dense operator that the pairs explain
    dual: Array | None = None  # (n, m) α with U = Zᵀα
    levels: Array | None = None  # (m,) singular values of the factor
    coupling: Array | None = None  # (m,) max(‖F u − σ p‖, ‖Fᵀ p − σ u‖)
    nonorthogonality: float | None = None  # ‖UᵀU − I‖ where it was measured
    slack: Array | None = None  # (m,) what rounding may have turned u by, as a residual, beyond what it did to values

    def first(self, m: int) -> Pairs:
        """The first m pairs."""
        names = ("values", "residuals", "levels", "coupling", "slack")
        vectors = {name: getattr(self, name) for name in names}
        matrices = {"vectors": self.vectors, "image": self.image, "dual": self.dual}
        cut: dict[str, Array] = {name: part[:m] for name, part in vectors.items() if part is not None}
        cut |= {name: part[:, :m] for name, part in matrices.items() if part is not None}
        return replace(self, **cut)  # type: ignore[arg-type]

    def trusted(self, k: int, rounding: float) -> Pairs:
        """The k pairs asked for and those spare ones that are as good; unconverged ones would loosen every bound."""
        return self.first(trusted(self.residuals, k, rounding))


def trusted(residuals: Array, k: int, rounding: float) -> int:
    """How many pairs to keep: the k asked for, and the spare ones right behind them that are nearly as good."""
    good = residuals[k:] <= 10 * float(np.max(residuals[:k])) + rounding
    return k + (len(good) if good.all() else int(np.argmin(good)))


class Rotation(NamedTuple):
    """From a basis to Ritz vectors: values, the turn (None for none), and ‖turnᵀ H turn − Θ‖.

    Values below 0, which only rounding can make, are lifted to 0; `lowest` keeps the lowest as it was.
    """

    values: Array
    turn: Array | None
    defect: float
    lowest: float = 0.0

    def __call__(self, V: Array) -> Array:
        return V if self.turn is None else V @ self.turn


def rotation(H: Array, T: Array | None = None) -> Rotation:
    """The rotation that makes H = QᵀAQ diagonal; none where Q is made of eigenvectors already.

    A T with TᵀT = H was never squared and gives small values all their digits.
    """
    diagonal = np.diagonal(H)
    off = float(np.linalg.norm(H - np.diag(diagonal)))
    if off <= ALIGNED * len(H) * abs(float(diagonal[0])) and np.all(diagonal[:-1] >= diagonal[1:]):
        values, turn = diagonal if T is None else column_norms(T) ** 2, None
    elif T is None:
        values, turn = eigh_descending(H)
        off = float(np.linalg.norm(turn.T @ H @ turn - np.diag(values)))
    else:
        _, sigma, turn = svd(T)
        values = sigma**2
        off = float(np.linalg.norm(turn.T @ H @ turn - np.diag(values)))
    lowest = float(values[-1])
    return Rotation(np.maximum(values, 0.0), turn, off + max(0.0, -lowest), lowest)


def ritz_pairs(Q: Array, AQ: Array, turned: Rotation) -> Pairs:
    """Pairs from a basis, its product with A, and the rotation to Ritz vectors."""
    U = turned(Q)
    return Pairs(
        values=turned.values,
        vectors=U,
        residuals=column_norms(turned(AQ) - U * turned.values),
        defect=turned.defect,
        image=U * np.sqrt(turned.values),
    )


def ritz_triplets(F: Array, Q: Array, P: Array | None = None) -> Pairs:
    """Singular triplets of the factor inside span(Q); P holds their left vectors where they are known."""
    if P is None:
        P, T = np.linalg.qr(F @ Q)
        left, _, turn = svd(T)
        P, Q = P @ left, Q @ turn
    FQ = F @ Q
    sigma = np.maximum(np.einsum("ij,ij->j", P, FQ), 0.0)
    order = np.argsort(-sigma, kind="stable")
    P, Q, FQ, sigma = P[:, order], Q[:, order], FQ[:, order], sigma[order]
    coupling = np.maximum(column_norms(FQ - P * sigma), column_norms(F.T @ P - Q * sigma))
    own = 2 * orthogonality_defect(P) + 2 * orthogonality_defect(Q) + 4 * len(sigma) * UNIT
    pairs = ritz_pairs(Q, F.T @ FQ, Rotation(sigma**2, None, 0.0))
    return replace(pairs, levels=sigma, coupling=coupling + own * sigma[0] / np.sqrt(len(sigma)))

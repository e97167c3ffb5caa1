"""What a recovery is asked for, what it finds, and how far that is from the least l1 norm."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ritz.linalg import Array
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.maps import Places

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Goal:
    """What is asked of the recovery of b signals, whose measurements have length 1.

    Attributes
    ----------
    noise : (b,) standard deviation of every measurement, 0 where they are exact
    sparsity : the most coefficients other than 0, None for as many as it takes
    tol : relative: of the residual for matching pursuit, of the duality gap and of the residual for the others
    max_iter : iterations, None for what the solver deems enough
    """

    noise: Array
    sparsity: int | None = None
    tol: float = 1e-6
    max_iter: int | None = None

    def level(self, m: int) -> Array:  # (b,)
        """‖y − Ac‖ that m noisy measurements account for, but for a chance of 1/m (Cai and Wang 2011), or tol."""
        return np.maximum(self.tol, self.noise * np.sqrt(m + 2 * np.sqrt(m * np.log(m))))

    def of(self, which: Places | slice) -> Goal:
        """The same for some of the signals."""
        return Goal(self.noise[which], self.sparsity, self.tol, self.max_iter)


@dataclass(frozen=True, eq=False)
class Found:
    """Coefficients of b signals, and what their solver knows of them.

    Attributes
    ----------
    codes : (b, p)
    gaps : (b,) relative duality gap, of min ‖c‖₁ over Ac = Aĉ where the penalty is 0, of the lasso elsewhere
    penalties : (b,) λ of the lasso ½‖Ac − y‖² + λ‖c‖₁ that was solved, 0 for none
    converged : (b,) whether what was asked has been reached
    iterations : (b,)
    exact_recovery : (b,) max ‖A_S⁺ a_j‖₁ over the columns beyond the support, or a lower bound of at least 1; NaN where
        unknown
    """

    codes: Array
    gaps: Array
    penalties: Array
    converged: Flags
    iterations: Places
    exact_recovery: Array

    @classmethod
    def nothing(cls, b: int, p: int) -> Found:
        """Zeros, to be filled in."""
        none = np.zeros(b)
        return cls(np.zeros((b, p)), none, none.copy(), np.ones(b, bool), np.zeros(b, np.intp), np.full(b, np.nan))

    def put(self, where: Places, found: Found) -> None:
        """Fill some of the rows in."""
        for field in fields(self):
            getattr(self, field.name)[where] = getattr(found, field.name)


class Solver(Protocol):
    """A way to find sparse coefficients."""

    uses: ClassVar[tuple[str, ...]]  # what it asks of the dictionary that takes time to find out

    def recover(self, A: Dictionary, Y: Array, goal: Goal) -> Found:  # (b, m) -> (b, p)
        """Sparse c with Ac ≈ y, for every row y of length 1."""


def kept(which: Flags, *parts: Any) -> Any:
    """Some of the signals, in everything that is known of them."""
    return tuple(part[which] for part in parts)


def pursuit_gap(A: Dictionary, codes: Array, dual: Array) -> Array:  # (b, p), (b, m) -> (b,)
    """(‖c‖₁ − ⟨ν, Ac⟩)/‖c‖₁ with ν shrunk until ‖Aᵀν‖∞ ≤ 1.

    No c' with Ac' = Ac has an l1 norm below 1 − gap times that of c: ⟨ν, Ac'⟩ = ⟨Aᵀν, c'⟩ ≤ ‖c'‖₁.
    """
    size = np.abs(codes).sum(axis=1)
    sight = A.adjoint(dual)
    reached = np.einsum("bp,bp->b", sight, codes) / np.maximum(np.abs(sight).max(axis=1), 1.0)
    return np.where(size > 0, np.maximum(size - reached, 0.0) / np.where(size > 0, size, 1.0), 0.0)


def lasso_gap(A: Dictionary, Y: Array, codes: Array, residuals: Array, penalties: Array) -> Array:
    """The relative duality gap of ½‖Ac − y‖² + λ‖c‖₁ at c, from its residual r = y − Ac.

    θ = r, shrunk until ‖Aᵀθ‖∞ ≤ λ, gives the lower bound ⟨y, θ⟩ − ½‖θ‖²; as
    ½‖y‖² − ½‖y − θ‖² it would be lost in rounding where λ is small.
    """
    largest = np.abs(A.adjoint(residuals)).max(axis=1)
    theta = residuals * np.minimum(1.0, penalties / np.where(largest > 0, largest, 1.0))[:, None]
    primal = 0.5 * np.square(residuals).sum(axis=1) + penalties * np.abs(codes).sum(axis=1)
    dual = np.einsum("bm,bm->b", Y, theta) - 0.5 * np.square(theta).sum(axis=1)
    return np.maximum(primal - dual, 0.0) / np.where(primal > 0, primal, 1.0)

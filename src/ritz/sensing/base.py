"""What is asked of a recovery, what it finds, and its duality gap: how far from the least l1 norm that may be."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.dense import Array
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.maps import Places
from ritz.sensing.phase_transition import LEAST_GAP, ROUNDING

Flags = NDArray[np.bool_]

SATURATED = 0.95  # coefficients, as a share of the rank, that explain anything: no support of them is determined


class PerSignal:
    """A dataclass of arrays that have a row, or an entry, for every signal."""

    def of(self, which: Flags) -> Self:
        """The same for some of the signals."""
        if which.all():
            return self
        return replace(self, **{field.name: getattr(self, field.name)[which] for field in fields(self)})  # type: ignore[type-var, arg-type]


@dataclass(frozen=True, eq=False)
class Goal:
    """What is asked of the recovery of b signals, whose measurements have length 1."""

    noise: Array  # (b,) standard deviation of every measurement, 0 where they are exact
    sparsity: int | None = None  # the most coefficients other than 0, None for as many as it takes
    tol: float = 1e-6  # relative: of the residual for matching pursuit, of that and of the duality gap for the others
    max_iter: int | None = None  # most iterations, None for the solver's own limit
    tell: Callable[[str], None] | None = None  # called with a line about the progress from time to time

    def __post_init__(self) -> None:
        object.__setattr__(self, "tol", max(self.tol, ROUNDING))  # below that rounding decides

    def level(self, m: int) -> Array:  # (b,)
        """The ‖y − Ac‖ that noise stays below with probability at least 1 − 1/m (Cai and Wang 2011), or tol."""
        return np.maximum(self.tol, self.noise * np.sqrt(m + 2 * np.sqrt(m * np.log(m))))

    @property
    def gap(self) -> float:
        """The relative duality gap to be reached."""
        return max(self.tol, LEAST_GAP)


@dataclass(frozen=True, eq=False)
class Found:
    """Coefficients of b signals, and how good they are."""

    codes: Array  # (b, p)
    gaps: Array  # (b,) relative duality gap, of min ‖c‖₁ over Ac = Aĉ where the penalty is 0, of the lasso elsewhere
    penalties: Array  # (b,) λ of the lasso ½‖Ac − y‖² + λ‖c‖₁ that was solved, 0 for none
    converged: Flags  # (b,) whether tol, the noise or the sparsity asked for was reached
    iterations: Places  # (b,)
    saturated: Flags  # (b,) whether a smaller penalty takes about as many coefficients as measurements
    exact_recovery: Array  # (b,) max ‖A_S⁺ a_j‖₁ beyond the support, or a lower bound of at least 1; NaN where unknown
    residuals: Array  # (b,) ‖y − Ac‖/‖y‖, once the coefficients are final
    within: Flags  # (b,) whether that is within tol or the noise

    @classmethod
    def nothing(cls, b: int, p: int) -> Found:
        """Zeros, to be filled in."""
        gaps, penalties, residuals = np.zeros((3, b))
        converged, within = np.ones((2, b), bool)
        iterations, saturated, unknown = np.zeros(b, np.intp), np.zeros(b, bool), np.full(b, np.nan)
        return cls(np.zeros((b, p)), gaps, penalties, converged, iterations, saturated, unknown, residuals, within)

    def put(self, where: Places, found: Found) -> None:
        """Fill in some of the rows."""
        for field in fields(self):
            getattr(self, field.name)[where] = getattr(found, field.name)


class Solver(ABC):
    """A way to find sparse coefficients."""

    uses: tuple[str, ...]  # attributes of the dictionary that it needs and that take time to compute
    longest: int | None = None  # the most coefficients that it is for, None for any number
    greedy = False  # whether it takes more of them, as long as sparsity or noise says when to stop
    noisy = True  # whether measurements may be noisy

    @abstractmethod
    def recover(self, A: Dictionary, Y: Array, goal: Goal) -> Found:  # (b, m) -> (b, p)
        """Sparse c with Ac ≈ y, for every row y of length 1."""


def pursuit_gap(A: Dictionary, codes: Array, dual: Array) -> Array:  # (b, p), (b, m) -> (b,)
    """(‖c‖₁ − ⟨ν, Ac⟩)/‖c‖₁ with ν shrunk until ‖Aᵀν‖∞ ≤ 1, rounding included.

    No c' with Ac' = Ac has an l1 norm below 1 − gap times that of c: ⟨ν, Ac'⟩ = ⟨Aᵀν, c'⟩ ≤ ‖c'‖₁.
    """
    seen = A.adjoint(dual)
    seen /= np.maximum(np.abs(seen).max(axis=1), 1.0)[:, None]
    size = np.abs(codes).sum(axis=1)
    gap = _slack(codes, seen) / np.where(size > 0, size, 1.0)
    return np.where(size > 0, gap + _rounding(A) * np.linalg.norm(dual, axis=1), 0.0)


def lasso_gap(A: Dictionary, codes: Array, residuals: Array, penalties: Array) -> Array:
    """The relative duality gap of ½‖Ac − y‖² + λ‖c‖₁ at c, from its residual r = y − Ac, rounding included.

    θ = s r with s ≤ 1 so small that ‖Aᵀθ‖∞ ≤ λ gives the lower bound ½‖y‖² − ½‖y − θ‖². The gap is written as
    ½(1 − s)²‖r‖² + λ‖c‖₁ − ⟨Aᵀθ, c⟩, in which ‖y‖², so much larger than all else, does not appear.
    """
    seen = A.adjoint(residuals)
    largest = np.abs(seen).max(axis=1)
    share = np.minimum(1.0, penalties / np.where(largest > 0, largest, 1.0))
    seen *= (share / penalties)[:, None]
    square, size = np.square(residuals).sum(axis=1), penalties * np.abs(codes).sum(axis=1)
    gap = 0.5 * (1 - share) ** 2 * square + penalties * _slack(codes, seen)
    gap += _rounding(A) * np.sqrt(square) * size / penalties
    primal = 0.5 * square + size
    return gap / np.where(primal > 0, primal, 1.0)


def _slack(codes: Array, seen: Array) -> Array:
    """‖c‖₁ − ⟨g, c⟩ for |g_j| ≤ 1."""
    return np.maximum(np.abs(codes).sum(axis=1) - np.einsum("bp,bp->b", codes, seen), 0.0)


def _rounding(A: Dictionary) -> float:
    """Rounding error of ⟨a_j, v⟩ for v of length 1: errors add up like a random walk (Higham and Mary 2019)."""
    return float(8 * np.finfo(float).eps * np.sqrt(A.shape[0]) * A.longest)

"""What an operator is, those with a factor, and Rayleigh–Ritz: the best eigenpairs inside a basis."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg.dense import (
    UNIT,
    Array,
    column_norms,
    eigh_descending,
    gamma,
    norm_of,
    orthogonality_defect,
    residual_norms,
    svd,
)
from ritz.runtime.threads import cached_property
from ritz.runtime.wording import at_most, plain

COMBINING = 16  # roundings beyond those of sums: shifting, scaling, dividing
ALIGNED = 4 * UNIT  # off-diagonal part of QᵀAQ, relative to m λ₁, below which Q need not be rotated


class Indefinite(DataError):
    """A matrix has an eigenvalue below 0, at most `lowest`, where none may be."""

    lowest: float = 0.0


def indefinite(lowest: float, advice: str = "") -> Indefinite:
    """The error that says so."""
    value = plain(at_most(lowest))
    error = Indefinite(f"the matrix has an eigenvalue of at most {value}; it must have none below 0", advice)
    error.lowest = lowest
    return error


class Operator(ABC):
    """A symmetric matrix A, positive semidefinite unless it is `signed`.

    Attributes
    ----------
    dim : its order
    trace : its trace, None where unknown
    rank_bound : the most non-zero eigenvalues it can have
    negativity : how far below 0 an eigenvalue may lie; 0 for what is positive by construction
    tolerance : share of the largest one that this may be, before it is an error
    signed : whether eigenvalues may be of either sign, and are ordered by their magnitude
    most : upper bound of its norm, inf where none is known
    missing : norm bound on the positive part by which the matrix that is meant exceeds A; the trace is that of the
        one that is meant
    offset : what is added to values for it: half of it puts them in the middle of what is possible
    work : operations that forming it takes
    factor_rounding : bound on the spectral norm of the error of `factor()`
    rows_of_factor : how many rows it has, 0 until it is known
    audited : whether `rounding` rests on random probes instead of a worst case
    passes : over the data so far
    free_columns : columns up to which a product takes hardly longer than with one
    """

    dim: int
    rank_bound: int
    trace: float | None = None
    negativity: float = 0.0
    tolerance: float = 1e-8
    signed: bool = False
    most: float = np.inf
    missing: float = 0.0
    offset: float = 0.0
    work: float = 0.0
    factor_rounding: float = 0.0
    rows_of_factor: int = 0
    audited: bool = False
    passes: int = 0
    free_columns: int = 1

    @abstractmethod
    def apply(self, V: Array) -> Array:  # (dim, b) -> (dim, b)
        """A V."""

    @property
    @abstractmethod
    def rounding(self) -> float:
        """Bound on ‖fl(A v) − A v‖ over unit vectors v, with `apply` in float64."""

    @property
    def dense_rounding(self) -> float:
        """Bound on the spectral norm of the error of `dense()`."""
        return self.rounding

    def ritz(self, Q: Array, AQ: Array | None = None, P: Array | None = None, tol: float = 0.0) -> Pairs:
        """The best eigenpairs inside span(Q), which may cost half of tol where that saves passes.

        A dense operator multiplies again rather than believe AQ.
        """
        if AQ is None or self.is_dense:
            AQ = self.apply(Q)
        H = self.inner(Q, AQ)
        if self.signed:
            return signed_pairs(Q, AQ, H)
        turned = rotation(H)
        if turned.lowest < -(10 * self.rounding + min(self.negativity, self.tolerance * float(turned.values[0]))):
            raise indefinite(turned.lowest)
        return ritz_pairs(Q, AQ, turned)

    def inner(self, Q: Array, AQ: Array) -> Array:  # (dim, m), (dim, m) -> (m, m)
        """Qᵀ AQ, whose sums of dim products `rounding` has to cover."""
        return Q.T @ AQ

    def dense(self) -> Array | None:  # (dim, dim)
        """A itself, None where it is not at hand. Not to be written to."""
        return None

    def form(self) -> None:
        """Have the matrix at hand from here on, where it can be: products are then products with it."""
        self.dense()

    def copied(self) -> Array | None:  # (dim, dim)
        """A itself, in memory that may be written to."""
        matrix = self.dense()
        return None if matrix is None else matrix.copy()

    @property
    def frobenius(self) -> float | None:
        """Its Frobenius norm, or a bound of it; None where that is unknown."""
        matrix = self.dense() if self.is_dense else None
        return None if matrix is None else norm_of(matrix)

    def deflation_rounding(self, values: Array) -> float:
        """Bound on the spectral norm of the error of A − UΘUᵀ from `dense()`: that of the matrix, and of the products
        that are subtracted, which together are no larger than the trace unless eigenvalues lie below 0."""
        if self.trace is None or self.negativity:
            sizes = (self.frobenius or 0.0) + float(values.sum())
        else:
            sizes = 2 * self.trace
        return gamma(len(values) + 8) * sizes + self.dense_rounding

    def factor(self) -> Array | None:  # (p, dim)
        """F with FᵀF = A, None where there is none."""
        return None

    @property
    def is_dense(self) -> bool:
        """Whether `dense()` is known already."""
        return False


class Factored(Operator):
    """FᵀF, for a factor F that is right to `error` in norm."""

    def __init__(self, F: Array, error: float, rank_bound: int | None = None, passes: int = 0) -> None:
        self._F, self.factor_rounding, self.passes = F, error, passes
        self.rows_of_factor, self.dim = F.shape
        self.rank_bound = min(F.shape) if rank_bound is None else rank_bound
        self._size = norm_of(F)
        self.trace = self._size**2

    @property
    def rounding(self) -> float:
        product = gamma(sum(self._F.shape) + 4) * self._size
        return (2 * self.factor_rounding + product) * self._size + self.factor_rounding**2

    def apply(self, V: Array) -> Array:
        return self._F.T @ (self._F @ V)

    def ritz(self, Q: Array, AQ: Array | None = None, P: Array | None = None, tol: float = 0.0) -> Pairs:
        """From singular triplets of the factor, where nothing was squared; P holds the left vectors if known.

        FᵀF u − σ²u = Fᵀ(F u − σ p) + σ (Fᵀp − σ u), so that residuals of all triplets need no product with FᵀF.
        """
        F = self._F
        if P is None:
            P, T = np.linalg.qr(F @ Q)
            left, _, turn = svd(T)
            P, Q = P @ left, Q @ turn
        FQ = F @ Q
        sigma = np.maximum(np.einsum("ij,ij->j", P, FQ), 0.0)
        if (sigma[:-1] < sigma[1:]).any():
            order = np.argsort(-sigma, kind="stable")
            P, Q, FQ, sigma = P[:, order], Q[:, order], FQ[:, order], sigma[order]
        coupling = np.maximum(column_norms(FQ - P * sigma), column_norms(F.T @ P - Q * sigma))
        departure = orthogonality_defect(Q)
        own = 2 * orthogonality_defect(P) + 2 * departure + 4 * len(sigma) * UNIT
        sure = coupling + own * sigma[0] / math.sqrt(len(sigma))
        values = sigma**2
        if len(sigma) == min(F.shape):  # nothing of F is outside
            residuals = coupling * (sigma[0] + norm_of(sure) + sigma)
        else:
            residuals = residual_norms(F.T @ FQ, Q, values)
        return Pairs(
            values=values,
            vectors=Q,
            residuals=residuals,
            defect=0.0,
            levels=sigma,
            coupling=sure,
            nonorthogonality=departure,
        )

    def factor(self) -> Array:
        return self._F


@dataclass(frozen=True, eq=False)
class Pairs:
    """Ritz pairs of A inside span(Q), m of them: A U = U Θ + R.

    When the factor F of A = FᵀF is at hand, the singular values `levels` and the residuals `coupling` of its singular
    triplets say more than Θ and R: they were never squared.
    """

    values: Array  # (m,)
    vectors: Array  # (dim, m)
    residuals: Array  # (m,) ‖A u − λ u‖; at most, where the factor is at hand
    defect: float  # ‖Uᵀ A U − Θ‖: of rounding alone, as values that do not exceed it are called 0
    image: Array | None = None  # (order, m) `root` where it is not √Θ times the vectors
    dual: Array | None = None  # (n, m) α with U = Zᵀα
    levels: Array | None = None  # (m,) singular values of the factor
    coupling: Array | None = None  # (m,) max(‖F u − σ p‖, ‖Fᵀ p − σ u‖)
    nonorthogonality: float | None = None  # ‖UᵀU − I‖ where it was measured
    slack: Array | None = None  # (m,) what rounding may have turned u by, as a residual, beyond what it did to values
    arithmetic: float = 0.0  # norm bound on the errors of UᵀAU and R where the operator's own rounding is smaller

    @property
    def root(self) -> Array:  # (order, m)
        """L with L Lᵀ = the part of the dense operator that the pairs explain."""
        return self.vectors * np.sqrt(self.values) if self.image is None else self.image

    @cached_property
    def departure(self) -> float:
        """‖UᵀU − I‖."""
        known = self.nonorthogonality
        return orthogonality_defect(self.vectors) if known is None else known

    def trusted(self, k: int, rounding: float) -> Pairs:
        """The k pairs asked for and those spare ones that are as good; unconverged ones would loosen every bound."""
        m = trusted(self.residuals, k, rounding)
        if m == len(self.values):
            return self
        # The last axis of every array counts the pairs.
        cut: dict[str, Any] = {name: part[..., :m] for name, part in vars(self).items() if isinstance(part, np.ndarray)}
        return replace(self, **cut)


def trusted(residuals: Array, k: int, rounding: float) -> int:
    """How many pairs to keep: the k asked for, and the spare ones right behind them that are nearly as good."""
    most = 10 * float(residuals[:k].max()) + rounding
    if residuals[k:].max(initial=0.0) <= most:
        return len(residuals)
    return k + int(np.argmax(residuals[k:] > most))


class Rotation(NamedTuple):
    """From a basis to Ritz vectors: values, the turn (None for none, or an order of columns), and ‖turnᵀ H turn − Θ‖.

    Values below 0, which only rounding can make, are lifted to 0; `lowest` keeps the lowest as it was.
    """

    values: Array
    turn: Array | NDArray[np.intp] | None
    defect: float
    lowest: float = 0.0

    def __call__(self, V: Array) -> Array:
        if self.turn is None:
            return V
        return V @ self.turn if self.turn.ndim == 2 else V[:, self.turn]

    def norms(self, sizes: Array) -> Array:  # (m,) -> (m,)
        """Upper bounds of the norms of turned columns, from those of the columns."""
        if self.turn is None:
            return sizes
        return np.abs(self.turn).T @ sizes if self.turn.ndim == 2 else sizes[self.turn]


def rotation(H: Array, T: Array | None = None) -> Rotation:
    """The rotation that makes H = QᵀAQ diagonal; none where Q is made of eigenvectors already.

    A T with TᵀT = H was never squared and gives small values all their digits.
    """
    turn: Array | NDArray[np.intp] | None = None
    diagonal = H.diagonal()
    apart = H.copy()
    apart.flat[:: len(H) + 1] = 0.0
    off = norm_of(apart)
    if off <= ALIGNED * len(H) * float(np.abs(diagonal).max()):
        values = diagonal if T is None else column_norms(T) ** 2
        if (values[:-1] < values[1:]).any():  # rounding has put equal ones, such as zeros, out of order
            turn = np.argsort(-values, kind="stable")
            values = values[turn]
    else:
        if T is None:
            values, V = eigh_descending(H)
        else:
            _, sigma, V = svd(T)
            values = sigma**2
        off, turn = float(np.linalg.norm(V.T @ H @ V - np.diag(values))), V
    lowest = float(values[-1])
    return Rotation(np.maximum(values, 0.0), turn, off + max(0.0, -lowest), lowest)


def signed_pairs(Q: Array, AQ: Array, H: Array) -> Pairs:
    """Pairs of either sign, ordered by magnitude, from a basis, its product with A, and H = QᵀAQ.

    No values are lifted to 0, and there is no image: the matrix has no square root.
    """
    values, turn = eigh_descending((H + H.T) / 2)
    order = np.argsort(-np.abs(values), kind="stable")
    values, turn = values[order], turn[:, order]
    U = Q @ turn
    return Pairs(
        values=values,
        vectors=U,
        residuals=residual_norms(AQ @ turn, U, values),
        defect=float(np.linalg.norm(turn.T @ H @ turn - np.diag(values))),
        image=np.empty((0, len(values))),
    )


def ritz_pairs(Q: Array, AQ: Array, turned: Rotation, image: Array | None = None) -> Pairs:
    """Pairs from a basis, its product with A, and the rotation to Ritz vectors; `image` as in `Pairs`."""
    U = turned(Q)
    return Pairs(
        values=turned.values,
        vectors=U,
        residuals=residual_norms(turned(AQ), U, turned.values),
        defect=turned.defect,
        image=image,
    )

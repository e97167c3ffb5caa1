"""What an operator is, and those that are given directly: a matrix, a factor, and a product."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import UNIT, Array, column_norms, gamma
from ritz.operators.rayleigh_ritz import Pairs, ritz_pairs, ritz_triplets, rotation
from ritz.rows.memory.array import thin_product
from ritz.runtime.threads import cached_property
from ritz.runtime.wording import at_most, plain

COMBINING = 80  # additions beyond the blocks' own: merging runs, scaling, dividing


class Operator(ABC):
    """A symmetric positive semidefinite matrix A.

    Attributes
    ----------
    dim : its order
    trace : its trace, None where unknown
    rank_bound : the most non-zero eigenvalues it can have
    negativity : how far below 0 an eigenvalue may lie; 0 for what is positive by construction
    tolerance : share of the largest one that this may be, before it is an error
    missing : norm bound on the positive part by which the matrix that is meant exceeds A; the trace is that of the
        one that is meant
    offset : what is added to values for it: half of it puts them in the middle of what is possible
    work : operations that forming it takes
    factor_rounding : bound on the spectral norm of the error of `factor()`
    rows_of_factor : how many rows it has, 0 until it is known
    audited : whether `rounding` rests on random probes instead of a worst case
    passes : over the data so far
    """

    dim: int
    rank_bound: int
    trace: float | None = None
    negativity: float = 0.0
    tolerance: float = 1e-8
    missing: float = 0.0
    offset: float = 0.0
    work: float = 0.0
    factor_rounding: float = 0.0
    rows_of_factor: int = 0
    audited: bool = False
    passes: int = 0

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
        turned = rotation(Q.T @ AQ)
        if turned.lowest < -(10 * self.rounding + min(self.negativity, self.tolerance * float(turned.values[0]))):
            lowest = plain(at_most(turned.lowest))
            raise DataError(f"the matrix has an eigenvalue of at most {lowest}; it must have none below 0")
        return ritz_pairs(Q, AQ, turned)

    def dense(self) -> Array | None:  # (dim, dim)
        """A itself, None where it is not at hand. Not to be written to."""
        return None

    def factor(self) -> Array | None:  # (p, dim)
        """F with FᵀF = A, None where there is none."""
        return None

    @property
    def is_dense(self) -> bool:
        """Whether `dense()` is known already."""
        return False


class Dense(Operator):
    """A matrix given directly, right to `error` in norm, whose eigenvalues may lie below 0 by `negativity`."""

    def __init__(self, A: Array, negativity: float = 0.0, error: float = 0.0) -> None:
        self._A, self._error = A, error
        self.dim = self.rank_bound = len(A)
        self.trace = float(np.trace(A))
        self.negativity = negativity

    @cached_property
    def rounding(self) -> float:
        return gamma(self.dim + 4) * float(np.linalg.norm(self._A)) + self._error

    def apply(self, V: Array) -> Array:
        self.passes += 1
        return thin_product(self._A, V)

    def dense(self) -> Array:
        return self._A

    @property
    def is_dense(self) -> bool:
        return True


class Factored(Operator):
    """FᵀF, for a factor F that is right to `error` in norm."""

    def __init__(self, F: Array, error: float, rank_bound: int | None = None, passes: int = 0) -> None:
        self._F, self.factor_rounding, self.passes = F, error, passes
        self.rows_of_factor, self.dim = F.shape
        self.rank_bound = min(F.shape) if rank_bound is None else rank_bound
        self._size = float(np.linalg.norm(F))
        self.trace = self._size**2

    @property
    def rounding(self) -> float:
        product = gamma(sum(self._F.shape) + 4) * self._size
        return (2 * self.factor_rounding + product) * self._size + self.factor_rounding**2

    def apply(self, V: Array) -> Array:
        return self._F.T @ (self._F @ V)

    def ritz(self, Q: Array, AQ: Array | None = None, P: Array | None = None, tol: float = 0.0) -> Pairs:
        """From singular triplets of the factor, where nothing was squared."""
        return ritz_triplets(self._F, Q, P)

    def factor(self) -> Array:
        return self._F


class Function(Operator):
    """A matrix known only as a product: a LinearOperator or a callable.

    Nothing is known of the product's own arithmetic; a backward stable one in the precision it returns is assumed.
    """

    negativity = np.inf

    def __init__(self, product: Callable[[Array], Any], dim: int, unit: float = 1.0) -> None:
        self._product, self._unit, self._error = product, unit, 0.0
        self.dim = self.rank_bound = dim

    @property
    def rounding(self) -> float:
        return self._error

    def apply(self, V: Array) -> Array:
        self.passes += 1
        AV = np.asarray(self._product(V.copy()))  # a product that works in place must not touch the solver's basis
        if AV.shape != V.shape:
            raise DataError(f"the operator returned shape {AV.shape} for a block of shape {V.shape}; return the same")
        if AV.dtype.kind not in "biuf" or not np.isfinite(AV).all():
            raise DataError(f"the operator returned {AV.dtype} entries that are not finite real numbers")
        relative = gamma(self.dim + 4) * max(1.0, float(np.finfo(np.result_type(AV, np.float16)).eps) / 2 / UNIT)
        faint = float(np.finfo(np.result_type(AV, np.float16)).smallest_subnormal)
        least = self.dim**1.5 * faint if AV.any() else 0.0
        AV = AV.astype(np.float64) / self._unit
        self._error = max(self._error, relative * float(column_norms(AV).max(initial=0.0)) + least / self._unit)
        return AV

"""Operators that are given directly: a matrix at hand, or a product with one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import UNIT, Array, column_norms, gamma
from ritz.operators.base import Operator
from ritz.rows.memory.array import thin_product
from ritz.runtime.threads import cached_property


class Dense(Operator):
    """A matrix given directly, right to `error` in norm, whose eigenvalues may lie below 0 by `negativity`."""

    tolerance = np.inf  # whoever gives the matrix has judged its negativity, and none is judged twice

    def __init__(self, A: Array, negativity: float = 0.0, error: float = 0.0, signed: bool = False) -> None:
        self._A, self._error = A, error
        self.dim = self.rank_bound = len(A)
        self.trace = float(np.trace(A))
        self.negativity, self.signed = negativity, signed

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


class Function(Operator):
    """A matrix known only as a product: a LinearOperator or a callable.

    Nothing is known of the product's own arithmetic; a backward stable one in the precision it returns is assumed.
    """

    negativity = np.inf
    rounding = 0.0  # of the products so far

    def __init__(self, product: Callable[[Array], Any], dim: int, unit: float = 1.0, signed: bool = False) -> None:
        self._product, self._unit, self.signed = product, unit, signed
        self.dim = self.rank_bound = dim

    def apply(self, V: Array) -> Array:
        self.passes += 1
        AV = np.asarray(self._product(V.copy()))  # a product that works in place must not touch the solver's basis
        if AV.shape != V.shape:
            raise DataError(f"the operator returned shape {AV.shape} for a block of shape {V.shape}; return the same")
        if AV.dtype.kind not in "biuf" or not np.isfinite(AV).all():
            raise DataError(f"the operator returned {AV.dtype} entries that are not finite real numbers")
        limits = np.finfo(np.result_type(AV, np.float16))
        relative = gamma(self.dim + 4) * max(1.0, float(limits.eps) / 2 / UNIT)
        least = self.dim**1.5 * float(limits.smallest_subnormal) if AV.any() else 0.0
        AV = AV.astype(np.float64) / self._unit
        self.rounding = max(self.rounding, relative * float(column_norms(AV).max(initial=0.0)) + least / self._unit)
        return AV

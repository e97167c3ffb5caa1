"""Operators: symmetric positive semidefinite matrices known by what they do to a block of vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.linalg import UNIT, Array, column_norms, gamma, orthonormalise, triangle
from ritz.moments import Moments
from ritz.preprocessing import Preprocessing
from ritz.rayleigh import Pairs, ritz_pairs, ritz_triplets, rotation
from ritz.rows import Rows
from ritz.rows.base import Block

CHUNK = 1 << 18  # entries of a tile's column chunk: two of them stay in cache
COMBINING = 80  # additions beyond the blocks' own: merging runs, scaling, dividing


class Operator(ABC):
    """A symmetric positive semidefinite matrix A.

    Attributes
    ----------
    dim : its order
    trace : its trace, None where unknown
    rank_bound : the most non-zero eigenvalues it can have
    negativity : how far below 0 an eigenvalue may lie; 0 for what is positive by construction
    work : operations that forming it takes
    audited : whether `rounding` rests on a recomputed sample
    passes : walks over the data so far
    """

    dim: int
    rank_bound: int
    trace: float | None = None
    negativity: float = 0.0
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

    def ritz(self, Q: Array, AQ: Array | None = None, P: Array | None = None) -> Pairs:
        """The best eigenpairs inside span(Q). A dense operator multiplies again rather than believe AQ."""
        if AQ is None or self.is_dense:
            AQ = self.apply(Q)
        turned = rotation(Q.T @ AQ)
        if turned.lowest < -(10 * self.rounding + min(self.negativity, 1e-8 * float(turned.values[0]))):
            raise DataError(f"the matrix has an eigenvalue of at most {turned.lowest:.2g}; it must have none below 0")
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
    """A matrix given directly, whose eigenvalues may lie below 0 by `negativity`."""

    def __init__(self, A: Array, negativity: float = 0.0) -> None:
        self._A = A
        self.dim = self.rank_bound = len(A)
        self.trace = float(np.trace(A))
        self.negativity = negativity

    @cached_property
    def rounding(self) -> float:
        return gamma(self.dim + 4) * float(np.linalg.norm(self._A))

    def apply(self, V: Array) -> Array:
        self.passes += 1
        return self._A @ V

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
            raise DataError(f"the operator turned a block of shape {V.shape} into one of shape {AV.shape}")
        if AV.dtype.kind not in "biuf" or not np.isfinite(AV).all():
            raise DataError(f"the operator returned {AV.dtype} entries that are not finite real numbers")
        relative = gamma(self.dim + 4) * max(1.0, float(np.finfo(np.result_type(AV, np.float16)).eps) / 2 / UNIT)
        AV = AV.astype(np.float64) / self._unit
        self._error = max(self._error, relative * float(column_norms(AV).max(initial=0.0)))
        return AV


class Covariance(Operator):
    """C = ZᵀZ/(n − ddof), Z the preprocessed rows, d×d. Nothing is copied to be centred or scaled.

    `apply` uses what has been formed already: the factor, the dense matrix, or else a pass over the rows.
    """

    def __init__(
        self, rows: Rows, prepare: Preprocessing, moments: Moments, ddof: int, rank_bound: int, passes: int = 1
    ) -> None:
        self.rows, self.prepare, self.moments = rows, prepare, moments
        self.divisor = rows.shape[0] - ddof
        self.dim, self.rank_bound = rows.shape[1], rank_bound
        self.passes = passes  # the moments took one
        self.work = float(rows.shape[0]) * self.dim**2
        # Powers of two, or one over standard deviations, bring the units of the moments to those of Z.
        self._ratio = moments.unit if prepare.weight is None else moments.unit * prepare.weight
        self.trace = float(np.sum(moments.diagonal * self._ratio**2)) / self.divisor
        self._sizes = float(np.sum(moments.sizes * self._ratio**2)) / self.divisor
        self._factor: Array | None = None

    @cached_property
    def _scaling(self) -> float:
        """Relative error of the variances that the columns were divided by; they are rounded like all the rest."""
        weight = self.prepare.weight
        if weight is None or (weight == weight[0]).all() or not (self.moments.diagonal > 0).all():
            return 0.0
        return self.moments.rounding * self._offset + self._audit + 8 * UNIT

    @cached_property
    def _offset(self) -> float:
        """The most that the remainder of the shift adds to a column's size."""
        return float(np.max(self.moments.sizes / np.maximum(self.moments.diagonal, np.finfo(float).tiny)))

    @property
    def _audit(self) -> float:
        """The audited error of float32 products: in units of the deviations when scaled, else of the scatter."""
        return self.moments.audit * self._offset if self.moments.scaled else self.moments.audit / self.divisor

    @property
    def rounding(self) -> float:
        """Scales with tr(C), not with λ₁: every entry of Z leaves its own rounding error behind."""
        if self._factor is not None:
            return 2 * self.factor_rounding * float(np.sqrt(self._sizes))
        scaled = self._scaling * float(self.trace or 0.0)
        if self.is_dense:
            return self.moments.rounding * self._sizes + self._audit + gamma(self.dim + 8) * self._norm + scaled
        chain = self.rows.block_rows + self.rows.shape[0] // self.rows.block_rows + self.dim + COMBINING
        return 2 * gamma(chain) * self._sizes + scaled

    @cached_property
    def _norm(self) -> float:
        return float(np.linalg.norm(self._dense))

    @property
    def audited(self) -> bool:  # type: ignore[override]
        return self.moments.audit > 0 and self.is_dense and self._factor is None

    @property
    def is_dense(self) -> bool:
        return "_dense" in self.__dict__

    @cached_property
    def _dense(self) -> Array:
        C = self.moments.scatter / self.divisor
        if (self._ratio != 1).any():
            C *= self._ratio
            C *= self._ratio[:, None]
        return C

    def dense(self) -> Array | None:
        return self._dense if self.moments.scatter.ndim == 2 else None

    def apply(self, V: Array) -> Array:
        if self._factor is not None:
            return self._factor.T @ (self._factor @ V)
        if self.is_dense:
            return self._dense @ V
        self.passes += 1
        return self.rows.reduce(lambda blocks: self._project(blocks, V), np.add) / self.divisor

    def _project(self, blocks: Iterable[Block], V: Array) -> Array:
        """Zᵀ(Z V) over a run of blocks."""
        buffer, AV = self._buffer(), np.zeros(V.shape)
        for block in blocks:
            Z = self.prepare(block, buffer)
            AV += Z.T @ (Z @ V)
        return AV

    def ritz(self, Q: Array, AQ: Array | None = None, P: Array | None = None) -> Pairs:
        """From the factor where it is known, else from a product that yields a factor of QᵀCQ on the way."""
        if self._factor is not None:
            return ritz_triplets(self._factor, Q, P)
        if AQ is not None or self.is_dense:
            return super().ritz(Q, AQ)
        self.passes += 1
        AQ, T = self.rows.reduce(lambda blocks: self._project_both(blocks, Q), _add_both)
        return ritz_pairs(Q, AQ / self.divisor, rotation(T.T @ T / self.divisor, T / np.sqrt(self.divisor)))

    def _project_both(self, blocks: Iterable[Block], Q: Array) -> tuple[Array, Array]:
        """Zᵀ(Z Q) and the triangle of Z Q over a run of blocks."""
        buffer, AQ = self._buffer(), np.zeros(Q.shape)
        T: Array = np.empty((0, Q.shape[1]))
        for block in blocks:
            Z = self.prepare(block, buffer)
            Y = Z @ Q
            AQ += Z.T @ Y
            T = triangle(T, Y)
        return AQ, T

    def _buffer(self) -> Array:
        return np.empty((self.rows.block_rows, self.dim))

    def factor(self) -> Array:
        """F with FᵀF = C: the triangle of Z by TSQR when Z is tall, Z itself when it is wide."""
        if self._factor is None:
            self.passes += 1
            n, d = self.rows.shape
            Z: Array = self.rows.reduce(self._triangle, triangle) if n > d else self.rows.map(self.prepare)
            self._factor = Z / np.sqrt(self.divisor)
            self.rows_of_factor = len(self._factor)
        return self._factor

    def _triangle(self, blocks: Iterable[Block]) -> Array:
        """R of a run of blocks; blocks are gathered until a factorisation is worth its d² of work."""
        parts: list[Array] = []
        for block in blocks:
            parts.append(self.prepare(block))
            if sum(map(len, parts)) >= 3 * self.dim:
                parts = [triangle(*parts)]
        return triangle(*parts)

    @property
    def factor_rounding(self) -> float:  # type: ignore[override]
        """Bound on the spectral norm of the factor's error: Householder QR, block by block."""
        n, d = self.rows.shape
        steps = 1 + n // self.rows.block_rows
        chain = self.rows.block_rows + d * (3 + steps) + COMBINING if n > d else 4
        return chain * UNIT * float(np.sqrt(self._sizes)) + self._scaling * float(np.sqrt(self.trace or 0.0))


class Gram(Operator):
    """K = Z Zᵀ/(n − ddof), n×n: the same non-zero eigenvalues as C, known from inner products alone."""

    def __init__(self, covariance: Covariance) -> None:
        self.covariance = covariance
        self.dim = covariance.rows.shape[0]
        self.rank_bound = covariance.rank_bound
        self.trace = covariance.trace
        self.work = float(self.dim) ** 2 * covariance.dim

    @property
    def passes(self) -> int:  # type: ignore[override]
        return self.covariance.passes

    @property
    def rounding(self) -> float:
        scaled = self.covariance._scaling * (self.trace or 0.0)
        return 2 * gamma(self.covariance.dim + self.dim + COMBINING) * self.covariance._sizes + scaled

    @property
    def is_dense(self) -> bool:
        return "_dense" in self.__dict__

    @cached_property
    def _dense(self) -> Array:
        prepare, divisor = self.covariance.prepare, self.covariance.divisor
        self.covariance.passes += 1
        return self.covariance.rows.pairs(lambda a, b: _inner(a, b, prepare) / divisor)

    def dense(self) -> Array:
        return self._dense

    def apply(self, V: Array) -> Array:
        return self._dense @ V if self.is_dense else self.push(self.lift(V)) / self.covariance.divisor

    def ritz(self, Q: Array, AQ: Array | None = None, P: Array | None = None) -> Pairs:
        """From vectors β of the Gram matrix to axes: Rayleigh–Ritz in span(Zᵀβ), in factor form.

        The image Y = Z U/√(n − ddof) makes K − Y Yᵀ = Z(I − UUᵀ)Zᵀ/(n − ddof), which has the non-zero eigenvalues of C
        outside the axes found: what is proved about it holds for C. The dual is α = Z u/((n − ddof) λ), zero for axes
        without variance.
        """
        divisor = self.covariance.divisor
        axes = orthonormalise(self.lift(Q))
        scores = self.push(axes)
        T = triangle(scores) / np.sqrt(divisor)
        turned = rotation(T.T @ T, T)
        pairs = ritz_pairs(axes, self.lift(scores) / divisor, turned)
        image = turned(scores) / np.sqrt(divisor)
        seen = pairs.values > self.rounding
        dual = np.divide(image, pairs.values * np.sqrt(divisor), out=np.zeros_like(image), where=seen)
        return replace(pairs, image=image, dual=dual)

    def lift(self, V: Array) -> Array:  # (n, b) -> (d, b)
        """Zᵀ V: combinations of the points."""
        self.covariance.passes += 1
        return self.covariance.rows.reduce(self._combine, np.add, beside=V)

    def _combine(self, blocks: Iterable[tuple[Block, Array]]) -> Array:
        buffer = self.covariance._buffer()
        total: Any = 0.0
        for block, V in blocks:
            total = total + self.covariance.prepare(block, buffer).T @ V
        return total

    def push(self, W: Array) -> Array:  # (d, b) -> (n, b)
        """Z W."""
        self.covariance.passes += 1
        return self.covariance.rows.map(lambda block: self.covariance.prepare(block) @ W)


def _add_both(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
    return a[0] + b[0], triangle(a[1], b[1])


def _inner(a: Block, b: Block, prepare: Preprocessing) -> Array:
    """Inner products of preprocessed rows, chunk by chunk of columns so that no wide copy is made."""
    step = max(1, CHUNK // max(len(a), len(b)))
    total = np.zeros((len(a), len(b)))
    for start in range(0, a.shape[1], step):
        columns = slice(start, start + step)
        part = prepare.columns(columns)
        Z = part(a[:, columns])
        total += Z @ (Z if a is b else part(b[:, columns])).T
    return total

"""Operators: symmetric positive semidefinite matrices known by what they do to a block of vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.linalg import UNIT, Array, gamma, triangle
from ritz.moments import Moments
from ritz.preprocessing import Preprocessing
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
    work : operations that forming it takes
    audited : whether `rounding` rests on a recomputed sample
    passes : walks over the data so far
    """

    dim: int
    rank_bound: int
    trace: float | None = None
    work: float = 0.0
    audited: bool = False
    passes: int = 0

    @abstractmethod
    def apply(self, V: Array) -> Array:  # (dim, b) -> (dim, b)
        """A V."""

    @property
    @abstractmethod
    def rounding(self) -> float:
        """Bound on ‖fl(A v) − A v‖ over unit vectors v, with `apply` in float64."""

    def normal(self, Q: Array) -> tuple[Array, Array | None]:  # (dim, b) -> (dim, b), (b, b)
        """A Q and, for operators with a factor, a T with TᵀT = QᵀAQ that was never squared."""
        return self.apply(Q), None

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
    """A matrix given directly."""

    def __init__(self, A: Array) -> None:
        self._A = A
        self.dim = self.rank_bound = len(A)
        self.trace = float(np.trace(A))

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

    Nothing is known of the product's own arithmetic; a backward stable one is assumed.
    """

    def __init__(self, product: Callable[[Array], Any], dim: int) -> None:
        self._product, self._largest = product, 0.0
        self.dim = self.rank_bound = dim

    @property
    def rounding(self) -> float:
        return gamma(self.dim + 4) * self._largest

    def apply(self, V: Array) -> Array:
        self.passes += 1
        AV = np.asarray(self._product(V), dtype=np.float64)
        if AV.shape != V.shape:
            raise DataError(f"the operator turned a block of shape {V.shape} into one of shape {AV.shape}")
        if not np.isfinite(AV).all():
            raise DataError("the operator returned NaN or infinite entries")
        self._largest = max(self._largest, float(np.linalg.norm(AV, axis=0).max(initial=0.0)))
        return AV


class Covariance(Operator):
    """C = ZᵀZ/(n − ddof), Z the preprocessed rows, d×d. Nothing is copied to be centred or scaled.

    `apply` uses what has been formed already: the factor, the dense matrix, or else a pass over the rows.
    """

    def __init__(self, rows: Rows, prepare: Preprocessing, moments: Moments, ddof: int, rank_bound: int) -> None:
        self.rows, self.prepare, self.moments = rows, prepare, moments
        self.divisor = rows.shape[0] - ddof
        self.dim, self.rank_bound = rows.shape[1], rank_bound
        self.passes = 1  # the moments
        self.work = float(rows.shape[0]) * self.dim**2
        # Powers of two, or one over standard deviations, bring the units of the moments to those of Z.
        self._ratio = moments.unit if prepare.weight is None else moments.unit * prepare.weight
        self.trace = float(np.sum(moments.diagonal * self._ratio**2)) / self.divisor
        self._sizes = float(np.sum(moments.sizes * self._ratio**2)) / self.divisor
        self._factor: Array | None = None

    @property
    def rounding(self) -> float:
        """Scales with tr(C), not with λ₁: every entry of Z leaves its own rounding error behind."""
        if self._factor is not None:
            return 2 * self.factor_rounding * float(np.linalg.norm(self._factor))
        if self.is_dense:
            return self.moments.rounding * self._sizes + gamma(self.dim + 8) * float(np.linalg.norm(self._dense))
        return 2 * gamma(self.rows.block_rows + self.dim + COMBINING) * self._sizes

    @property
    def audited(self) -> bool:  # type: ignore[override]
        return self.moments.audited and self.is_dense and self._factor is None

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

    def normal(self, Q: Array) -> tuple[Array, Array | None]:
        if self._factor is None and self.is_dense:
            return self.apply(Q), None
        if self._factor is not None:
            Y = self._factor @ Q
            return self._factor.T @ Y, triangle(Y)
        self.passes += 1
        AQ, T = self.rows.reduce(lambda blocks: self._project_both(blocks, Q), _add_both)
        return AQ / self.divisor, T / np.sqrt(self.divisor)

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
        return self._factor

    @property
    def has_factor(self) -> bool:
        return self._factor is not None

    def _triangle(self, blocks: Iterable[Block]) -> Array:
        """R of a run of blocks; blocks are gathered until a factorisation is worth its d² of work."""
        parts: list[Array] = []
        for block in blocks:
            parts.append(self.prepare(block))
            if sum(map(len, parts)) >= 3 * self.dim:
                parts = [triangle(*parts)]
        return triangle(*parts)

    @property
    def factor_rounding(self) -> float:
        """Bound on the spectral norm of the factor's error: Householder QR, block by block."""
        n, d = self.rows.shape
        chain = self.rows.block_rows + 4 * d + COMBINING + n // self.rows.block_rows if n > d else 4
        return chain * UNIT * float(np.sqrt(self._sizes))


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
        return 2 * gamma(self.covariance.dim + self.dim + COMBINING) * self.covariance._sizes

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

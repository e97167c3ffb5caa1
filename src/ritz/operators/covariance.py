"""The data matrix Z, the preprocessed rows known by their products, and its covariance, d×d."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz.linalg.arrays import is_device_array
from ritz.linalg.dense import (
    SKINNY,
    UNIT,
    Array,
    add_squares,
    column_norms,
    column_sums,
    cross,
    gamma,
    joined,
    mirrored,
    norm_of,
    subtract_outer,
    terms_of_sum,
    times,
)
from ritz.moments.accumulate import PROBE_FACTOR, PROBES
from ritz.moments.moments import Moments
from ritz.moments.preprocessing import Preprocessing
from ritz.moments.tsqr import triangular_moments
from ritz.operators.base import COMBINING, Factored, Operator, Pairs, ritz_pairs, rotation
from ritz.operators.given import Dense
from ritz.rows import Rows
from ritz.rows.base import Block
from ritz.rows.memory.array import thin_product
from ritz.rows.passes import Cut
from ritz.runtime.threads import cached_property, ordered, pinned, scratch, team

CHUNK = 1 << 18  # entries of a tile's column chunk: two of them stay in cache
HALF = 8192  # rows from which half of a product with the covariance is worth more than residuals to the last digit
SMALL = 0.25  # share of tol that the errors of float32 products may add to residuals
DEVICE_CHUNK = 1 << 26  # the same on a device


class DataMatrix:
    """Z, n×d: rows that were centred and scaled. Nothing is copied for that: every product is a pass over the rows.

    Attributes
    ----------
    rows, prepare, moments : what it is made from, and how
    shape : (n, d)
    divisor : n − ddof
    rank_bound : the most non-zero singular values it can have
    passes : over the rows so far; the moments took one
    terms : the most behind an entry of a product ZᵀZ V so far, as `terms_of_sum` counts them
    ratio : (d,) what brings the units of moments to those of Z
    trace : ‖Z‖_F²/(n − ddof), the sum of all variances
    sizes : the same of rows that were only shifted: what rounding errors scale with
    """

    def __init__(
        self, rows: Rows, prepare: Preprocessing, moments: Moments, ddof: int, rank_bound: int, passes: int = 1
    ) -> None:
        self.rows, self.shape, self.prepare, self.moments = rows, rows.shape, prepare, moments
        self.divisor, self.rank_bound, self.passes = moments.count - ddof, rank_bound, passes
        self.terms = 0
        self.ratio = unit_ratio(moments, prepare)
        squares = self.ratio**2
        self.trace = float(np.add.reduce(moments.diagonal * squares)) / self.divisor  # by pairs, as BLAS does not add
        self.sizes = float(np.add.reduce(moments.sizes * squares)) / self.divisor

    @cached_property
    def scaling(self) -> float:
        """Relative error of the variances that the columns were divided by; they are rounded like all the rest."""
        if not self.moments.scaled or not (self.moments.diagonal > 0).all():
            return 0.0
        return scale_error(self.moments) + self.audit

    @property
    def audit(self) -> float:
        """The audited error of float32 products: in units of the deviations when scaled, else of the covariance."""
        return self.moments.audit * _offset(self.moments) if self.moments.scaled else self.moments.audit / self.divisor

    def normal(self, V: Array, factor: bool = False) -> tuple[Array, ...]:  # (d, b) -> (d, b), (b, b)
        """ZᵀZ V/(n − ddof) and, with `factor`, the R factor of Z V.

        Rows are only shifted: the small remainder of the mean and the weights belong to the thin side.
        """
        self.passes += 1
        W = self.prepare.weighted(V)
        AW, total, terms, *R = self.rows.normal(W, self._shifted, self.prepare.remainder(W), factor=factor)
        self.terms = max(self.terms, terms)
        if self.prepare.delta is not None:
            subtract_outer(AW, self.prepare.delta, total)
        return self.prepare.weighted(AW) / self.divisor, *R

    def inner_and_normal(self, Q: Array, G: Array) -> tuple[Array, Array]:  # (d, m), (d, t) -> (m, m), (d, t)
        """(Z Q)ᵀ(Z Q)/(n − ddof), which takes half of a product with the covariance, and ZᵀZ G/(n − ddof)."""
        self.passes += 1
        W, m = self.prepare.weighted(np.column_stack([Q, G])), Q.shape[1]
        shifted, here, lacking = self._shifted, self.rows.here(W), self.prepare.remainder(W)

        def run(blocks: Iterable[Block]) -> tuple[Array, Array, Array, int]:
            inner, AG, total, terms = np.zeros((m, m)), np.zeros(G.shape), np.zeros(G.shape[1]), 0
            for block in blocks:
                Z = shifted(block)
                Y = times(Z, here)
                Y -= lacking
                add_squares(Y[:, :m], inner)
                AG += cross(Z, Y[:, m:])
                total += column_sums(Y[:, m:])
                terms = terms_of_sum(terms, Y.shape[0])
            return inner, AG, total, terms

        inner, AG, total, terms = self.rows.reduce(run, joined, cut=Cut.THIN)
        with team() as pool:  # this is the last pass over rows in blocks: what threads keep for it is of no more use
            pool.forget()
        self.terms = max(self.terms, terms)
        if self.prepare.delta is not None:
            AG = AG - np.outer(self.prepare.delta, total)
        return mirrored(inner) / self.divisor, self.prepare.weighted(AG) / self.divisor

    def project(self, W: Array) -> Array:  # (d, b) -> (n, b)
        """Z W."""
        self.passes += 1
        W = self.prepare.weighted(W)
        ZW = self.rows.project(W, self._shifted)
        ZW -= self.prepare.remainder(W)
        return ZW

    def combine(self, V: Array) -> Array:  # (n, b) -> (d, b)
        """Zᵀ V: combinations of the rows."""
        self.passes += 1
        if V.shape[1] > SKINNY and not (self.rows.sparse or self.rows.on_device):
            # The result is large anyway; blocks of its size save it from being added to again and again.
            rows = self.rows.limited(max(self.rows.most_bytes, 8 * V.shape[1] * self.shape[1]))
            return rows.reduce(lambda blocks: self._combine_wide(blocks, V.shape[1]), np.add, V, Cut.WHOLE)
        ZV = self.rows.combine(V, self._shifted)
        if self.prepare.delta is not None:
            subtract_outer(ZV, self.prepare.delta, V.sum(axis=0))
        return self.prepare.weighted(ZV)

    def _combine_wide(self, blocks: Iterable[tuple[Block, Array]], b: int) -> Array:
        """z v, for many columns: the result is large, so the cores share it, each with columns of its own."""
        d = self.shape[1]
        total = np.zeros((b, d))
        for block, V in blocks:
            step = max(64, CHUNK // max(len(block), b))

            def add(left: int, block: Block = block, V: Array = V, step: int = step) -> None:
                chunk = slice(left, min(left + step, d))
                part = block[:, chunk]
                total[:, chunk] += V.T @ self.prepare.columns(chunk)(part, scratch("block", *part.shape))

            for _ in ordered(add, range(0, d, step), pinned.budget()):
                pass
        return total.T

    @cached_property
    def _shifted(self) -> Shifted:
        rows, shift = self.rows, self.prepare.shift
        here = None if rows.sparse or shift is None else rows.here(shift)
        return Shifted(here, rows.sparse, rows.on_device, rows.thin_rows)

    def dense(self) -> Array:  # (n, d)
        """Z itself."""
        self.passes += 1
        return self.rows.map(self.prepare.beside(self.rows))

    def gram(self) -> Array:  # (n, n)
        """Z Zᵀ/(n − ddof), tile by tile."""
        self.passes += 1
        prepare = self.prepare.beside(self.rows)
        return self.rows.pairs(lambda a, b: _inner(a, b, prepare) / self.divisor)

    def gram_product(self, V: Array) -> Array:  # (n, b) -> (n, b)
        """Z ZᵀV/(n − ddof)."""
        return self.project(self.combine(V)) / self.divisor

    @property
    def inner_terms(self) -> int:
        """The most behind an inner product of two rows."""
        return self.shape[1]

    def factored(self) -> Factored:
        """ZᵀZ/(n − ddof) by the R factor of Z when Z is tall, which the moments may hold already, or by Z itself."""
        n, d = self.shape
        if n <= d:
            error = 4 * UNIT * float(np.sqrt(self.sizes)) + self.scaling * float(np.sqrt(self.trace))
            return Factored(self.dense() / np.sqrt(self.divisor), error)
        found = self.moments
        if found.triangle is None:
            self.passes += 1
            found = triangular_moments(self.rows, center=found.centred)
        return factored(found, self.prepare, self.divisor, self.scaling)


@dataclass(frozen=True, eq=False)
class Shifted:
    """x − shift of a block, in memory that the next block will use again; sparse rows are not shifted."""

    shift: Array | None
    sparse: bool
    on_device: bool
    rows: int  # of most blocks

    def __call__(self, block: Block) -> Block:
        if self.sparse:
            return block
        buffer = None if self.on_device else scratch("block", max(len(block), self.rows), block.shape[1])
        return Preprocessing(self.shift).shifted(block, buffer)


class Covariance(Operator):
    """C = ZᵀZ/(n − ddof), Z the preprocessed rows, d×d.

    `apply` uses what has been formed already: the factor, the dense matrix, or else a pass over the rows.
    """

    def __init__(self, Z: DataMatrix) -> None:
        self.Z, self.rough = Z, Z.moments.rough
        n, self.dim = Z.shape
        self.rank_bound, self.trace = Z.rank_bound, Z.trace
        self.work = float(n) * self.dim**2
        self.free_columns = Z.rows.free_columns
        self._factored: Factored | None = None
        self._roughness = np.inf  # of a dense matrix from float32 products, until it was measured

    @property
    def passes(self) -> int:  # type: ignore[override]
        return self.Z.passes

    @property
    def rounding(self) -> float:
        """Scales with tr(C), not with λ₁: every entry of Z leaves its own rounding error behind.

        That of products is known from those so far; it is never below that of the moments, as the trace rests on them.
        """
        if self._factored is not None:
            return self._factored.rounding
        Z, scaled = self.Z, self.Z.scaling * self.Z.trace
        if self.is_dense and not self.rough:
            return Z.moments.rounding * Z.sizes + Z.audit + gamma(self.dim + 8) * self._size + scaled
        products = 2 * gamma(Z.terms + self.dim + COMBINING)
        return max(products, Z.moments.rounding) * Z.sizes + scaled

    @property
    def dense_rounding(self) -> float:
        return self.rounding + (self._roughness if self.rough else 0.0)

    @property
    def frobenius(self) -> float | None:
        return self._size if self.is_dense else None

    @cached_property
    def _size(self) -> float:
        return norm_of(self._scatter) / self.Z.divisor

    @property
    def audited(self) -> bool:  # type: ignore[override]
        return (self.Z.moments.audit > 0 or self.rough) and self.is_dense and self._factored is None

    @property
    def is_dense(self) -> bool:
        return "_scatter" in self.__dict__

    @cached_property
    def _scatter(self) -> Array:
        """ZᵀZ: what the moments have summed up, of which there is no copy where it is that already."""
        S, ratio = self.Z.moments.scatter, self.Z.ratio
        if (ratio != 1).any():
            S = S * ratio
            S *= ratio[:, None]
        return S

    def form(self) -> None:
        if self.Z.moments.scatter.ndim == 2:
            _ = self._scatter

    def copied(self) -> Array | None:
        return self._scatter / self.Z.divisor if self.Z.moments.scatter.ndim == 2 else None

    def dense(self) -> Array | None:
        """A new array every time: nobody keeps it long, and it is as large as the scatter."""
        return self.copied()

    def _product(self, V: Array) -> Array:
        """The matrix times V."""
        CV = thin_product(self._scatter, V)
        CV /= self.Z.divisor
        return CV

    def apply(self, V: Array) -> Array:
        if self._factored is not None:
            return self._factored.apply(V)
        return self._product(V) if self.is_dense else self.Z.normal(V)[0]

    def ritz(self, Q: Array, AQ: Array | None = None, P: Array | None = None, tol: float = 0.0) -> Pairs:
        """From the factor where it is known, else from a product that yields a factor of QᵀCQ on the way."""
        if self._factored is not None:
            return self._factored.ritz(Q, AQ, P)
        if self.rough:
            return self._refined(Q, tol)
        if AQ is not None or self.is_dense:
            return super().ritz(Q, AQ)
        AQ, R = self.Z.normal(Q, factor=True)
        return ritz_pairs(Q, AQ, rotation(R.T @ R / self.Z.divisor, R / np.sqrt(self.Z.divisor)))

    def _refined(self, Q: Array, tol: float) -> Pairs:
        """Ritz pairs from the rows in float64, for a Q that was found with float32 products. Random vectors that are
        multiplied in the same pass tell how far off the dense matrix is."""
        G = np.random.default_rng(0).standard_normal((self.dim, PROBES))
        if self.Z.shape[0] >= HALF:
            found = self._half_refined(Q, G)
            if self._roughness <= SMALL * tol * float(found.values[0]):
                return found
            AQ = self.Z.normal(Q)[0]
        else:
            product = self.Z.normal(np.column_stack([Q, G]))[0]
            AQ = product[:, : Q.shape[1]]
            self._roughness = self._measured(G, product[:, Q.shape[1] :])
        return ritz_pairs(Q, AQ, rotation(Q.T @ AQ))

    def _half_refined(self, Q: Array, G: Array) -> Pairs:
        """Ritz pairs from half a product: values, and the rotation of the vectors within their span, from QᵀCQ in
        float64; residuals from the dense matrix, plus a bound on its error."""
        H, CG = self.Z.inner_and_normal(Q, G)
        self._roughness = self._measured(G, CG)
        pairs = ritz_pairs(Q, self._product(Q), rotation(H))
        return replace(pairs, residuals=pairs.residuals + self._roughness + gamma(self.dim + 8) * self._size)

    def _measured(self, G: Array, CG: Array) -> float:
        """How far the dense matrix is off, by its product with random vectors and the one in float64."""
        errors = column_norms(self._product(G) - CG) + self.rounding * column_norms(G)
        return PROBE_FACTOR * float(errors.max())

    def factor(self) -> Array:
        """F with FᵀF = C: the R factor of Z when Z is tall, Z itself otherwise."""
        if self._factored is None:
            self._factored = self.Z.factored()
            self.factor_rounding, self.rows_of_factor = self._factored.factor_rounding, self._factored.rows_of_factor
        return self._factored.factor()


class Summed(Dense):
    """The covariance of rows that are gone, from their moments."""

    def __init__(self, moments: Moments, prepare: Preprocessing, ddof: int, rank_bound: int, scaled: bool) -> None:
        ratio, divisor = unit_ratio(moments, prepare), moments.count - ddof
        relative = scale_error(moments) if scaled else 0.0
        C = moments.scatter * ratio * ratio[:, None] / divisor
        sizes = float(np.sum(moments.sizes * ratio**2)) / divisor
        audit = moments.audit * float(np.max(ratio)) ** 2 / divisor
        super().__init__(C, error=moments.rounding * sizes + audit + relative * float(np.trace(C)))
        self.rank_bound = rank_bound
        self.audited = moments.audit > 0
        self.passes = 1


def factored(
    moments: Moments, prepare: Preprocessing, divisor: int, scaling: float, rank_bound: int | None = None
) -> Factored:
    """C = FᵀF from the R factor of rows, with at least as many rows as C can have eigenvalues.

    Weights belong to the columns, whose errors are those of the rows behind them, one by one: Z W = Q (R W).
    `scaling` is the relative error of the variances that columns are divided by.
    """
    R, ratio = np.asarray(moments.triangle), unit_ratio(moments, prepare)
    F = np.zeros((min(moments.count, R.shape[1]), R.shape[1]))
    F[: len(R)] = R * (ratio / np.sqrt(divisor))
    squares = ratio**2
    size, spread = (math.sqrt(float(part @ squares) / divisor) for part in (moments.sizes, moments.diagonal))
    error = (moments.rounding / 2 + 4 * UNIT) * size + scaling * spread
    return Factored(F, error, rank_bound, passes=1)


def unit_ratio(moments: Moments, prepare: Preprocessing) -> Array:
    """Powers of two, or one over standard deviations, that bring the units of moments to those of Z."""
    return moments.unit if prepare.weight is None else moments.unit * prepare.weight


def scale_error(moments: Moments) -> float:
    """Relative error of the variances that columns are divided by, products in float32 aside."""
    return moments.rounding * _offset(moments) + 8 * UNIT


def _offset(moments: Moments) -> float:
    """The most that the remainder of the shift adds to a column's size."""
    return float(np.max(moments.sizes / np.maximum(moments.diagonal, np.finfo(float).tiny)))


def _inner(a: Block, b: Block, prepare: Preprocessing) -> Array:
    """Inner products of preprocessed rows, chunk by chunk of columns so that no wide copy is made."""
    away = not isinstance(a, np.ndarray) and is_device_array(a)
    if not (away or isinstance(a, np.ndarray)):
        # (x − m)·(y − m) = x·y − x·m − m·y + m·m, every x, y and m times the weights
        A, B, center = prepare.uncentred(a), prepare.uncentred(b), prepare.center
        inner: Array = (A @ B.T).toarray()
        return inner if center is None else inner - (A @ center)[:, None] - (B @ center) + center @ center
    step = max(1, (DEVICE_CHUNK if away else CHUNK) // max(a.shape[0], b.shape[0]))
    total: Any = 0.0
    for start in range(0, a.shape[1], step):
        columns = slice(start, min(start + step, a.shape[1]))
        part = prepare.columns(columns)
        Z = part(a[:, columns])
        total += Z @ (Z if a is b else part(b[:, columns])).T
    return total

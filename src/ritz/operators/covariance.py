"""The covariance of rows, d×d."""

from __future__ import annotations

import numpy as np

from ritz.linalg.dense import Array, column_norms
from ritz.linalg.rounding import UNIT, gamma
from ritz.moments.accumulate import PROBE_FACTOR, PROBES
from ritz.moments.moments import Moments
from ritz.moments.preprocessing import Preprocessing
from ritz.moments.tsqr import triangular_moments
from ritz.operators.base import COMBINING, Dense, Factored, Operator
from ritz.operators.rayleigh_ritz import Pairs, ritz_pairs, rotation
from ritz.rows import Rows
from ritz.rows.base import Block
from ritz.rows.memory.array import thin_product
from ritz.runtime.lazy import cached_property
from ritz.runtime.threads import scratch


class Covariance(Operator):
    """C = ZᵀZ/(n − ddof), Z the preprocessed rows, d×d. Nothing is copied to be centred or scaled.

    `apply` uses what has been formed already: the factor, the dense matrix, or else a pass over the rows.
    """

    def __init__(
        self, rows: Rows, prepare: Preprocessing, moments: Moments, ddof: int, rank_bound: int, passes: int = 1
    ) -> None:
        self.rows, self.prepare, self.moments = rows, prepare, moments
        self.divisor = moments.count - ddof
        self.dim, self.rank_bound = rows.shape[1], rank_bound
        self.passes = passes  # the moments took one
        self.work = float(rows.shape[0]) * self.dim**2
        self._ratio = _ratio(moments, prepare)
        self.trace = float(np.sum(moments.diagonal * self._ratio**2)) / self.divisor
        self.sizes = float(np.sum(moments.sizes * self._ratio**2)) / self.divisor
        self._factored: Factored | None = None
        self._roughness = np.inf  # of a dense matrix from float32 products, until it was measured

    @cached_property
    def scaling(self) -> float:
        """Relative error of the variances that the columns were divided by; they are rounded like all the rest."""
        if not self.moments.scaled or not (self.moments.diagonal > 0).all():
            return 0.0
        return scale_error(self.moments) + self._audit

    @property
    def _audit(self) -> float:
        """The audited error of float32 products: in units of the deviations when scaled, else of the scatter."""
        return self.moments.audit * _offset(self.moments) if self.moments.scaled else self.moments.audit / self.divisor

    @property
    def rounding(self) -> float:
        """Scales with tr(C), not with λ₁: every entry of Z leaves its own rounding error behind."""
        if self._factored is not None:
            return self._factored.rounding
        scaled = self.scaling * float(self.trace or 0.0)
        if self.is_dense and not self.moments.rough:
            return self.moments.rounding * self.sizes + self._audit + gamma(self.dim + 8) * self._norm + scaled
        chain = self.rows.block_rows + self.rows.shape[0] // self.rows.thin_rows + self.dim + COMBINING
        return 2 * gamma(chain) * self.sizes + scaled

    @property
    def dense_rounding(self) -> float:
        return self.rounding + (self._roughness if self.moments.rough else 0.0)

    @cached_property
    def _norm(self) -> float:
        return float(np.linalg.norm(self._dense))

    @property
    def audited(self) -> bool:  # type: ignore[override]
        return (self.moments.audit > 0 or self.moments.rough) and self.is_dense and self._factored is None

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
        if self._factored is not None:
            return self._factored.apply(V)
        if self.is_dense:
            return thin_product(self._dense, V)
        return self._walked(V)

    def _walked(self, V: Array) -> Array:
        """A V by a pass over the rows."""
        self.passes += 1
        W = self.prepare.weighted(V)
        return self._corrected(*self.rows.normal(W, self.shifted, self.prepare.remainder(W)))

    def shifted(self, block: Block) -> Block:
        """x − shift of a block, in memory that the next block will use again."""
        return self.prepare.shifted(block, scratch("block", max(len(block), self.rows.thin_rows), self.dim))

    def _corrected(self, AW: Array, total: Array) -> Array:
        """Zᵀ(Z V)/(n − ddof) from products with rows that were only shifted: the small remainder of the mean and the
        weights belong to the thin side."""
        if self.prepare.delta is not None:
            AW = AW - np.outer(self.prepare.delta, total)
        return self.prepare.weighted(AW) / self.divisor

    def ritz(self, Q: Array, AQ: Array | None = None, P: Array | None = None, tol: float = 0.0) -> Pairs:
        """From the factor where it is known, else from a product that yields a factor of QᵀCQ on the way."""
        if self._factored is not None:
            return self._factored.ritz(Q, AQ, P)
        if self.moments.rough:
            return self._refined(Q)
        if AQ is not None or self.is_dense:
            return super().ritz(Q, AQ)
        self.passes += 1
        W = self.prepare.weighted(Q)
        AW, total, T = self.rows.normal(W, self.shifted, self.prepare.remainder(W), factor=True)
        turned = rotation(T.T @ T / self.divisor, T / np.sqrt(self.divisor))
        return ritz_pairs(Q, self._corrected(AW, total), turned)

    def _refined(self, Q: Array) -> Pairs:
        """Ritz pairs from the rows in float64, for a Q that was found with float32 products. Random vectors that are
        multiplied in the same pass tell how far off the dense matrix is."""
        G = np.random.default_rng(0).standard_normal((self.dim, PROBES))
        product = self._walked(np.column_stack([Q, G]))
        AQ, AG = product[:, : Q.shape[1]], product[:, Q.shape[1] :]
        errors = column_norms(thin_product(self._dense, G) - AG) + self.rounding * column_norms(G)
        self._roughness = PROBE_FACTOR * float(errors.max())
        return ritz_pairs(Q, AQ, rotation(Q.T @ AQ))

    def factor(self) -> Array:
        """F with FᵀF = C: the triangle of Z when Z is tall, which the moments may hold already, Z itself otherwise."""
        if self._factored is None:
            self._factored = self._wide() if self.rows.shape[0] <= self.dim else self._tall()
            self.factor_rounding, self.rows_of_factor = self._factored.factor_rounding, self._factored.rows_of_factor
        return self._factored.factor()

    def _tall(self) -> Factored:
        found = self.moments
        if found.triangle is None:
            self.passes += 1
            found = triangular_moments(self.rows, center=found.centred)
        return factored(found, self.prepare, self.divisor, self.scaling)

    def _wide(self) -> Factored:
        self.passes += 1
        F = self.rows.map(self.prepare) / np.sqrt(self.divisor)
        return Factored(F, 4 * UNIT * float(np.sqrt(self.sizes)) + self.scaling * float(np.sqrt(self.trace or 0.0)))


def factored(moments: Moments, prepare: Preprocessing, divisor: int, scaling: float) -> Factored:
    """C = FᵀF from the triangle of rows, with at least as many rows as C can have eigenvalues.

    Weights belong to the columns, whose errors are those of the rows behind them, one by one: Z W = Q (R W).
    `scaling` is the relative error of the variances that columns are divided by.
    """
    R, ratio = np.asarray(moments.triangle), _ratio(moments, prepare)
    F = np.zeros((min(moments.count, R.shape[1]), R.shape[1]))
    F[: len(R)] = R * (ratio / np.sqrt(divisor))
    size, spread = (np.sqrt(np.sum(part * ratio**2) / divisor) for part in (moments.sizes, moments.diagonal))
    return Factored(F, (moments.rounding / 2 + 4 * UNIT) * float(size) + scaling * float(spread))


def _ratio(moments: Moments, prepare: Preprocessing) -> Array:
    """Powers of two, or one over standard deviations, that bring the units of moments to those of Z."""
    return moments.unit if prepare.weight is None else moments.unit * prepare.weight


def scale_error(moments: Moments) -> float:
    """Relative error of the variances that columns are divided by, products in float32 aside."""
    return moments.rounding * _offset(moments) + 8 * UNIT


def _offset(moments: Moments) -> float:
    """The most that the remainder of the shift adds to a column's size."""
    return float(np.max(moments.sizes / np.maximum(moments.diagonal, np.finfo(float).tiny)))


class Summed(Dense):
    """The covariance of rows that are gone, from their moments."""

    def __init__(self, moments: Moments, prepare: Preprocessing, ddof: int, rank_bound: int, scaled: bool) -> None:
        ratio, divisor = _ratio(moments, prepare), moments.count - ddof
        relative = scale_error(moments) if scaled else 0.0
        C = moments.scatter * ratio * ratio[:, None] / divisor
        sizes = float(np.sum(moments.sizes * ratio**2)) / divisor
        audit = moments.audit * float(np.max(ratio)) ** 2 / divisor
        super().__init__(C, error=moments.rounding * sizes + audit + relative * float(np.trace(C)))
        self.rank_bound = rank_bound
        self.audited = moments.audit > 0
        self.passes = 1

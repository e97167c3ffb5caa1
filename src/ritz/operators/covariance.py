"""The covariance of rows, d×d."""

from __future__ import annotations

import numpy as np

from ritz.linalg.dense import Array, column_norms, gamma
from ritz.moments.accumulate import PROBE_FACTOR, PROBES
from ritz.moments.moments import Moments
from ritz.moments.preprocessing import Preprocessing
from ritz.operators.base import COMBINING, Dense, Factored, Operator, Pairs, ritz_pairs, rotation
from ritz.operators.data_matrix import DataMatrix, scale_error, unit_ratio
from ritz.rows.memory.array import thin_product
from ritz.runtime.threads import cached_property


class Covariance(Operator):
    """C = ZᵀZ/(n − ddof), Z the preprocessed rows, d×d.

    `apply` uses what has been formed already: the factor, the dense matrix, or else a pass over the rows.
    """

    def __init__(self, Z: DataMatrix) -> None:
        self.Z, self.rough = Z, Z.moments.rough
        n, self.dim = Z.shape
        self.rank_bound, self.trace = Z.rank_bound, Z.trace
        self.work = float(n) * self.dim**2
        self._factored: Factored | None = None
        self._roughness = np.inf  # of a dense matrix from float32 products, until it was measured

    @property
    def passes(self) -> int:  # type: ignore[override]
        return self.Z.passes

    @property
    def rounding(self) -> float:
        """Scales with tr(C), not with λ₁: every entry of Z leaves its own rounding error behind."""
        if self._factored is not None:
            return self._factored.rounding
        Z, scaled = self.Z, self.Z.scaling * self.Z.trace
        if self.is_dense and not self.rough:
            return Z.moments.rounding * Z.sizes + Z.audit + gamma(self.dim + 8) * self._norm + scaled
        chain = Z.rows.block_rows + Z.shape[0] // Z.rows.thin_rows + self.dim + COMBINING
        return 2 * gamma(chain) * Z.sizes + scaled

    @property
    def dense_rounding(self) -> float:
        return self.rounding + (self._roughness if self.rough else 0.0)

    @cached_property
    def _norm(self) -> float:
        return float(np.linalg.norm(self._dense))

    @property
    def audited(self) -> bool:  # type: ignore[override]
        return (self.Z.moments.audit > 0 or self.rough) and self.is_dense and self._factored is None

    @property
    def is_dense(self) -> bool:
        return "_dense" in self.__dict__

    @cached_property
    def _dense(self) -> Array:
        C, ratio = self.Z.moments.scatter / self.Z.divisor, self.Z.ratio
        if (ratio != 1).any():
            C *= ratio
            C *= ratio[:, None]
        return C

    def dense(self) -> Array | None:
        return self._dense if self.Z.moments.scatter.ndim == 2 else None

    def apply(self, V: Array) -> Array:
        if self._factored is not None:
            return self._factored.apply(V)
        return thin_product(self._dense, V) if self.is_dense else self.Z.normal(V)[0]

    def ritz(self, Q: Array, AQ: Array | None = None, P: Array | None = None, tol: float = 0.0) -> Pairs:
        """From the factor where it is known, else from a product that yields a factor of QᵀCQ on the way."""
        if self._factored is not None:
            return self._factored.ritz(Q, AQ, P)
        if self.rough:
            return self._refined(Q)
        if AQ is not None or self.is_dense:
            return super().ritz(Q, AQ)
        AQ, R = self.Z.normal(Q, factor=True)
        return ritz_pairs(Q, AQ, rotation(R.T @ R / self.Z.divisor, R / np.sqrt(self.Z.divisor)))

    def _refined(self, Q: Array) -> Pairs:
        """Ritz pairs from the rows in float64, for a Q that was found with float32 products. Random vectors that are
        multiplied in the same pass tell how far off the dense matrix is."""
        G = np.random.default_rng(0).standard_normal((self.dim, PROBES))
        product = self.Z.normal(np.column_stack([Q, G]))[0]
        AQ, AG = product[:, : Q.shape[1]], product[:, Q.shape[1] :]
        errors = column_norms(thin_product(self._dense, G) - AG) + self.rounding * column_norms(G)
        self._roughness = PROBE_FACTOR * float(errors.max())
        return ritz_pairs(Q, AQ, rotation(Q.T @ AQ))

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

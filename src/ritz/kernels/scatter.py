"""The scatter of the features that landmarks give to rows, with what rounding did to it and what landmarks lack.

F, the features of rows by landmarks, and L, the triangle that they were solved with, are what was computed. Whatever
they are, with A = F L⁻¹, N = F Lᵀ − k(rows, landmarks) and D = k(landmarks, landmarks) − L Lᵀ,

    K − F Fᵀ = Ψ Ψᵀ − (N Aᵀ + A Nᵀ + A D Aᵀ),   ψ(x) = φ(x) − Σ a_j(x) φ(landmark j).

Ψ Ψᵀ is positive, and its trace is that of K − F Fᵀ and that of the bracket: K − F Fᵀ lies between −e and lacking + 2 e,
with e the sum of the singular values of the bracket and `lacking` the trace of K − F Fᵀ.

With l the lengths of the landmarks' features and ε, relative to lengths, the error of kernel values: substitution
solves (L + δL) f = k with |δL| ≤ γ|L|, so that N has entries of at most (ε + γ)‖φ(x)‖ l_j, and D as it is computed
errs by (ε + γ) l_i l_j. Whoever solves in another way says what takes the place of γ (`solving`). A has the
coefficients of rows in landmarks, which are large only where those nearly depend on each other and rows lie off them;
so L⁻¹ magnifies rounding far less than its norm says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from ritz.kernels.base import Frame, Kernel, Points
from ritz.linalg.dense import Array, column_norms, gamma, row_squares
from ritz.moments.moments import Moments
from ritz.operators import Dense
from ritz.operators.base import Pairs
from ritz.runtime.threads import pinned


@dataclass(frozen=True, eq=False)
class FeatureSums:
    """What one pass over the features leaves, of which the last column is √(k(x, x) − ‖f(x)‖²)."""

    count: int  # n
    S: Array  # (p, p) the scatter (H F)ᵀ H F
    mean: Array  # (p,) of the features
    lacking: float  # Σ k(x, x) − ‖f(x)‖², where rounding puts none below 0
    trace: float  # Σ k(x, x), and Σ ‖f(x)‖² of rows that lack nothing
    sizes: Array  # (p,) Σ f_j(x)² or more: what rounding errors of a column scale with
    rounding: float  # how often √(sizes_i sizes_j) the entries of FᵀF may be off
    error: float  # bound on the norm of the error of S, and on that of `lacking`

    @classmethod
    def of(cls, found: Moments) -> FeatureSums:
        scatter, mean, n = found.scatter * np.outer(found.unit, found.unit), found.mean, found.count
        squares = np.diagonal(scatter) + n * mean**2
        sizes = found.sizes * found.unit**2 + n * mean**2
        lacking, trace, error = float(squares[-1]), float(np.sum(squares)), found.rounding * float(np.sum(sizes))
        return cls(n, scatter[:-1, :-1], mean[:-1], lacking, trace, sizes[:-1], 2 * found.rounding, error)

    @property
    def inner(self) -> Array:  # (p, p)
        """FᵀF."""
        return self.S + self.count * np.outer(self.mean, self.mean)


class FeatureScatter(Dense):
    """S, whose eigenvalues are those of H F (H F)ᵀ, and one more dimension for all that lies outside the landmarks.

    H K H exceeds H F (H F)ᵀ by a positive part of norm at most `missing`, and by rounding.
    """

    def __init__(
        self, sums: FeatureSums, L: Array, kernel: Kernel, frame: Frame, landmarks: Points, solving: float
    ) -> None:
        self._sums, self._unit = sums, frame.rounding + max(gamma(len(L) + 8), solving)
        lengths = np.sqrt(np.maximum(kernel.diagonal(landmarks, frame), row_squares(L)))
        with pinned.calling():
            self._inverse = solve_triangular(L, np.diag(lengths), lower=True, check_finite=False)
        defect = (kernel.tile(landmarks, landmarks, frame) - L @ L.T) / np.outer(lengths, lengths)
        self.features_error = self._bound(float(np.linalg.norm(defect)) + len(L) * self._unit)
        super().__init__(np.pad(sums.S, (0, 1)), error=2 * sums.error + self.features_error)
        self.missing, self.trace, self.passes = sums.lacking, float(np.trace(sums.S)) + sums.lacking, 2
        self.rank_bound = sums.count - 1

    def _bound(self, defect: float) -> float:
        """2 e, and what rounding did to `lacking`, from a bound on D over the lengths."""
        sums, inverse, p = self._sums, self._inverse, len(self._inverse)
        relative = sums.rounding + 2 * gamma(p + 8) * float(np.sqrt(p) * np.linalg.norm(inverse))  # of rows of L⁻¹
        worst = float(np.sqrt(sums.sizes) @ np.linalg.norm(inverse, axis=1)) ** 2
        coefficients = float(np.sum(sums.inner * (inverse @ inverse.T))) + relative * worst  # Σ a_j² l_j²
        bracket = 2 * self._unit * float(np.sqrt(p * sums.trace * coefficients)) + defect * coefficients
        return 2 * bracket + 2 * self._unit * sums.trace

    def ritz(self, Q: Array, AQ: Array | None = None, P: Array | None = None, tol: float = 0.0) -> Pairs:
        pairs = super().ritz(Q, AQ, P, tol)
        return replace(pairs, slack=self._slack(pairs))

    def _slack(self, pairs: Pairs) -> Array:
        """What a vector v of S lacks as one of H K H: of β = y/‖y‖, where y are the scores as `transform` finds them.

        H F v errs by √λ₁ ‖S v − λ v‖. Coefficients B = L⁻ᵀ v err by γ|Lᵀ||B|, k(x, landmarks) B by (ε + γ)‖φ(x)‖ lᵀ|B|,
        and F Lᵀ by N: y is off by less than three times (ε + γ)√(p Σ‖φ(x)‖²) ‖l B‖.
        """
        p, sums, values = len(self._inverse), self._sums, pairs.values
        most = float(values[0]) + self.missing + self.rounding  # what no residual exceeds
        own = pairs.residuals + 2 * sums.error
        off = 3 * self._unit * np.sqrt(p * sums.trace) * column_norms(self._inverse.T @ pairs.vectors[:p])
        length = np.sqrt(np.maximum(values - own, 0.0)) - off
        with np.errstate(divide="ignore", invalid="ignore"):
            slack = (np.sqrt(most) * own + 2 * most * off) / length
        return np.where(length > 0, np.fmin(slack, most), most)

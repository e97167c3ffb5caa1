"""Probes: what random vectors say about the part of an operator that a basis leaves out.

B = (I − VVᵀ) A (I − VVᵀ), positive semidefinite, has the top eigenpair (λ, u). A Gaussian g is multiplied by B again
and again. For every polynomial p, ‖p(B) g‖ ≥ |p(λ)|·|uᵀg|, whatever p is chosen afterwards, and |uᵀg| < η has
probability at most η√(2/π). So with q independent probes λ is at most the largest of their bounds

    max {λ : |p(λ)|·η ≤ ‖p(B) g‖ for all p of degree ≤ s}

but for a probability of (η√(2/π))^q (van Dorsselaer, Hochstenbach and van der Vorst, SIAM J. Matrix Anal. Appl. 22,
2000; it is sharper than the worst case over spectra of Kuczyński and Woźniakowski, 1992).
"""

from __future__ import annotations

import numpy as np

from ritz.linalg import Array, column_norms
from ritz.rows.array import thin_inner, thin_product
from ritz.solvers.base import Outside

COUNT = 8
FAILURE = 1e-6
ETA = FAILURE ** (1 / COUNT) * np.sqrt(np.pi / 2)
STEEP = 1e-6  # share of a new power that must lie outside the earlier ones, or it has nothing to say beyond rounding
GRID = 400


class Probes:
    """Gaussian vectors outside span(V), and their products with A deflated by V."""

    def __init__(self, V: Array, rng: np.random.Generator) -> None:
        self._V = V
        self._powers = [self._outside(rng.standard_normal((len(V), min(COUNT, len(V)))))]

    def _outside(self, Y: Array) -> Array:
        for _ in range(2):  # twice is enough (Kahan)
            Y = Y - thin_product(self._V, thin_inner(self._V, Y))
        return Y

    @property
    def columns(self) -> Array:  # (dim, q)
        """The vectors to be multiplied by A next."""
        Y = self._powers[-1]
        return Y / np.maximum(column_norms(Y), np.finfo(float).tiny)

    def absorb(self, product: Array) -> None:
        """Take the product of A with `columns`."""
        self._powers.append(self._outside(product * column_norms(self._powers[-1])))

    @property
    def steps(self) -> int:
        """How often the probes were multiplied."""
        return len(self._powers) - 1

    def outside(self, ceiling: float) -> Outside:
        """What all products so far say about the norm of B, which is at most `ceiling` in any case."""
        if not self.steps:
            return Outside(ceiling)
        levels = [self._level(np.stack([Y[:, i] for Y in self._powers], axis=1), ceiling) for i in range(COUNT)]
        return Outside(max(levels), FAILURE)

    def _level(self, Y: Array, ceiling: float) -> float:  # (dim, s + 1) -> λ
        """The largest λ that one probe does not exclude: max |p(λ)|/‖p(B) g‖ over all p is ‖R⁻ᵀ(1, λ, …, λˢ)‖."""
        sizes = column_norms(Y)
        if not sizes.all():  # the probe was multiplied to nothing: B is zero
            return 0.0
        R: Array = np.asarray(np.linalg.qr(Y / sizes, mode="r"))
        steep = np.abs(np.diagonal(R)) > STEEP
        degree = len(steep) if steep.all() else int(np.argmin(steep))
        levels = np.geomspace(1e-3 * sizes[1] / sizes[0], ceiling, GRID)
        powers = levels[None, :] ** np.arange(degree)[:, None] / sizes[:degree, None]
        growth = np.linalg.norm(np.linalg.solve(R[:degree, :degree].T, powers), axis=0)
        open_ = np.flatnonzero(growth * ETA <= 1)
        return float(levels[min(open_[-1] + 1, GRID - 1)]) if len(open_) else float(levels[0])

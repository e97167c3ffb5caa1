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

from ritz.linalg.dense import Array, column_norms
from ritz.rows.memory.array import thin_inner, thin_product
from ritz.solvers.base import Outside

COUNT = 8
FAILURE = 1e-6
ETA = FAILURE ** (1 / COUNT) * np.sqrt(np.pi / 2)
STEEP = 1e-6  # share of a new power that must lie outside the earlier ones, or it has nothing to say beyond rounding
GRID = 200
CLOSE = 1e-6  # rounding of a Ritz value of such powers, relative to it


class Probes:
    """Gaussian vectors outside span(V), and their products with A deflated by V.

    Powers are kept as unit vectors with the factors they grew by, so that no power leaves the range of float64.
    """

    def __init__(self, V: Array, rng: np.random.Generator) -> None:
        self._V = V
        self._powers: list[Array] = []
        self._growth: list[Array] = []
        self.absorb(rng.standard_normal((len(V), COUNT)))

    @property
    def columns(self) -> Array:  # (dim, q)
        """The vectors to be multiplied by A next."""
        return self._powers[-1]

    def absorb(self, product: Array) -> None:
        """Take the product of A with `columns`."""
        for _ in range(2):  # twice is enough (Kahan)
            product = product - thin_product(self._V, thin_inner(self._V, product))
        sizes = column_norms(product)
        self._powers.append(product / np.where(sizes > 0, sizes, 1.0))
        self._growth.append(sizes)

    @property
    def steps(self) -> int:
        """How often the probes were multiplied."""
        return len(self._powers) - 1

    @property
    def at_least(self) -> float:
        """A lower bound of the norm of B: how much the last product grew the probes."""
        return float(self._growth[-1].max())

    def outside(self, ceiling: float) -> Outside:
        """What all products so far say about the norm of B, which is at most `ceiling` in any case."""
        if not self.steps:
            return Outside(ceiling)
        growth = np.stack(self._growth, axis=1)  # (q, s + 1)
        growing = growth.all(axis=1)  # the others were multiplied to nothing
        powers = np.stack(self._powers, axis=2)[:, growing]  # (dim, q, s + 1)
        factors = [np.linalg.qr(powers[:, j], mode="r") for j in range(powers.shape[1])]
        level = _level(np.stack(factors), growth[growing]) if factors else 0.0
        return Outside(level, FAILURE) if level < ceiling else Outside(ceiling)


def _level(R: Array, growth: Array) -> float:  # (q, s + 1, s + 1), (q, s + 1) -> λ
    """The largest λ that not all probes exclude: the maximum of |p(λ)|/‖p(B) g‖ over all p is ‖R⁻ᵀ(1, λ, …, λˢ)‖.

    That grows with λ from the largest Ritz value of the powers on, which λ cannot be below; p = λʲ alone limits it.
    R are the factors of the powers as unit vectors, `growth` the norm of the first and the factor by which each one
    grew. As many powers count as have something to say for every probe.
    """
    sizes = np.cumsum(np.log(growth), axis=1)
    top = np.exp(np.min((sizes[:, 1:] - np.log(ETA)) / np.arange(1, sizes.shape[1]), axis=1))
    steep = np.all(np.abs(np.diagonal(R, axis1=1, axis2=2)) > STEEP, axis=0, keepdims=True)[0]
    degree = len(steep) if steep.all() else int(np.argmin(steep))
    if degree < 2:
        return float(top.max())
    R, sizes = R[:, :degree, :degree], sizes[:, :degree]
    T = np.linalg.solve(R[:, :-1, :-1].mT, (R[:, :-1, 1:] * growth[:, None, 1:degree]).mT)
    largest = np.linalg.eigvalsh((T + T.mT) / 2)[:, -1] * (1 + CLOSE)
    plain = (largest > 0) & (largest < top)
    least = float(np.where(plain, 0.0, np.maximum(largest, top)).max())
    if not (np.isfinite(top) & np.isfinite(largest)).all():
        return np.inf
    return max(least, _excluded(R[plain], sizes[plain], largest[plain], top[plain])) if plain.any() else least


def _excluded(R: Array, sizes: Array, largest: Array, top: Array) -> float:
    """The least λ on a grid between these that is excluded, with all beyond it, by each probe: the largest of them."""
    q, degree = sizes.shape
    levels = np.geomspace(largest, top, GRID, axis=1)  # (q, GRID)
    powers = np.exp(np.log(levels)[:, None] * np.arange(degree)[:, None] - sizes[:, :, None])
    reach = np.linalg.norm(np.linalg.solve(R.mT, powers), axis=1)
    possible = reach * ETA <= 1
    last = np.where(possible.any(axis=1), GRID - 1 - np.argmax(possible[:, ::-1], axis=1), 0)
    return float(levels[np.arange(q), np.minimum(last + 1, GRID - 1)].max())

"""The Gaussian of probabilistic PCA (Tipping and Bishop 1999): a subspace with isotropic noise around it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.linalg import Array
from ritz.pinning import pinned
from ritz.subspace import Subspace

ON_SUPPORT = 1e-12  # share of a row's size that rounding may put outside a degenerate model's support


@dataclass(frozen=True)
class Gaussian:
    """N(mean, S (U diag(λ − noise) Uᵀ + noise I) S), S = diag(scale).

    With noise 0 and fewer axes than columns the model is degenerate: it lives on the subspace. Its precision is then
    the pseudo-inverse, its density the one on the subspace, and rows outside have log-likelihood −inf.
    """

    subspace: Subspace
    noise: float

    def covariance(self) -> Array:
        """In the units of the data."""
        S = self._assemble(self._along(), self._across())
        scale = self.subspace.scale
        return S if scale is None else S * scale * scale[:, None]

    def precision(self) -> Array:
        """Inverse, or pseudo-inverse, of the covariance."""
        P = self._assemble(_inverse(self._along()), float(_inverse(np.array([self._across()]))[0]))
        scale = self.subspace.scale
        return P if scale is None else P / scale / scale[:, None]

    @pinned()
    def log_likelihood(self, X: object) -> Array:
        """log N(x) of every row."""
        Y, outside = self.subspace.encode(X).astype(np.float64), self.subspace.error(X)
        along, across = self._along(), self._across()
        d, k = self.subspace.axes.shape
        distance = np.square(Y) @ _inverse(along)
        flat = along == 0
        off = np.square(Y[:, flat]).sum(axis=1)
        if across > 0:
            distance += outside / across
        else:
            off = off + outside
        free = int(np.count_nonzero(along)) + (d - k if across > 0 else 0)
        determinant = float(np.sum(np.log(along[~flat]))) + ((d - k) * np.log(across) if across > 0 else 0.0)
        if self.subspace.scale is not None:
            determinant += 2 * float(np.sum(np.log(self.subspace.scale)))
        likelihood = -0.5 * (distance + determinant + free * np.log(2 * np.pi))
        size = np.square(Y).sum(axis=1) + outside
        return np.where(off > ON_SUPPORT * size, -np.inf, likelihood)

    def _along(self) -> Array:
        """Variances along the axes; the noise is isotropic, so none falls below it."""
        return np.maximum(self.subspace.variances, self.noise)

    def _across(self) -> float:
        d, k = self.subspace.axes.shape
        return self.noise if d > k else 0.0

    @pinned()
    def _assemble(self, along: Array, across: float) -> Array:
        axes = self.subspace.axes
        with np.errstate(over="ignore", invalid="ignore"):  # variances beyond float64 are infinite
            S = (axes * (along - across)) @ axes.T
            S.flat[:: len(S) + 1] += across
        return S


def _inverse(values: Array) -> Array:
    """1/v, and 0 for 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)

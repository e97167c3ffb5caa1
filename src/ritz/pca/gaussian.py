"""The Gaussian of probabilistic PCA (Tipping and Bishop 1999): a subspace with isotropic noise around it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.linalg.dense import Array
from ritz.linalg.exponents import Exponents, between, times_power
from ritz.rows import Rows
from ritz.rows.base import stack
from ritz.runtime.threads import pinned
from ritz.spectrum.subspace import Subspace

ON_SUPPORT = 1e-12  # share of a row's size that rounding may put outside a degenerate model's support


@dataclass(frozen=True)
class Gaussian:
    """N(mean, S (U diag(λ − noise) Uᵀ + noise I) S), S = diag(scale).

    With noise 0 and fewer axes than columns the model is degenerate: it lives on the subspace. Its precision is then
    the pseudo-inverse, its density the one on the subspace, and rows outside have log-likelihood −inf.
    """

    subspace: Subspace

    @np.errstate(over="ignore", invalid="ignore")
    def covariance(self) -> Array:
        """In the units of the data."""
        S = self._assemble(self._along() ** 2, self._across() ** 2)
        return between(S, self.subspace.scale, 2 * self.subspace.power)

    @np.errstate(over="ignore", invalid="ignore")
    def precision(self) -> Array:
        """Inverse, or pseudo-inverse, of the covariance."""
        along, across = _inverse(self._along()) ** 2, _inverse(np.array([self._across()])) ** 2
        P = self._assemble(along, float(across[0]))
        return between(P, self.subspace.scale, -2 * self.subspace.power, inverse=True)

    @pinned()
    def log_likelihood(self, rows: Rows) -> Array:
        """log N(x) of every row."""
        return stack((self.likelihood(*part) for part in self.subspace.parts(rows)), rows.shape[0])

    def likelihood(self, Y: Array, outside: Array, powers: Exponents) -> Array:
        """From scores and squared errors in units of 2^p and 4^p: distances have no unit, and determinants add up."""
        along, across, unit = self._along(), self._across(), self.subspace.power
        d, k = self.subspace.axes.shape
        flat, powers = along == 0, powers - unit
        with np.errstate(over="ignore"):  # what is infinitely far has no density
            distance = np.square(times_power(Y * _inverse(along), powers[:, None])).sum(axis=1)
            off = np.square(Y[:, flat]).sum(axis=1)
            if across > 0:
                distance += times_power(outside, 2 * powers) / across / across  # a quotient first may overflow
            else:
                off = off + outside
        free = int(np.count_nonzero(along)) + (d - k if across > 0 else 0)
        logarithms = float(np.sum(np.log(along[~flat]))) + ((d - k) * np.log(across) if across > 0 else 0.0)
        logarithms += free * unit * np.log(2.0)
        if self.subspace.scale is not None:
            logarithms += float(np.sum(np.log(self.subspace.scale)))
        likelihood = -0.5 * (distance + 2 * logarithms + free * np.log(2 * np.pi))
        size = np.square(Y).sum(axis=1) + outside
        return np.where(off > ON_SUPPORT * size, -np.inf, likelihood)

    def _along(self) -> Array:
        """Deviations along the axes, in the unit of the subspace; the noise is isotropic, so none falls below it."""
        return np.maximum(self.subspace.deviations, self._noise())

    def _across(self) -> float:
        d, k = self.subspace.axes.shape
        return self._noise() if d > k else 0.0

    def _noise(self) -> float:
        rest = self.subspace.spare
        return self.subspace.outside / float(np.sqrt(rest)) if rest else 0.0

    @pinned()
    def _assemble(self, along: Array, across: float) -> Array:
        axes = self.subspace.axes
        S = (axes * (along - across)) @ axes.T
        S.flat[:: len(S) + 1] += across
        return S


def _inverse(values: Array) -> Array:
    """1/v, and 0 for 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)

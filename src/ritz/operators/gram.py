"""The inner products of rows, n×n."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ritz.linalg import Array, cross, gamma, orthonormalise, times, triangle
from ritz.operators.base import COMBINING, Operator
from ritz.operators.covariance import Covariance
from ritz.preprocessing import Preprocessing
from ritz.rayleigh import Pairs, ritz_pairs, rotation
from ritz.rows.array import thin_product
from ritz.rows.base import Block
from ritz.threads import scratch

CHUNK = 1 << 18  # entries of a tile's column chunk: two of them stay in cache


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
        scaled = self.covariance.scaling * (self.trace or 0.0)
        return 2 * gamma(self.covariance.dim + self.dim + COMBINING) * self.covariance.sizes + scaled

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

    def factor(self) -> Array:
        """F = Zᵀ/√(n − ddof), so that FᵀF = K."""
        self.covariance.passes += 1
        Z: Array = self.covariance.rows.map(self.covariance.prepare)
        return Z.T / np.sqrt(self.covariance.divisor)

    def apply(self, V: Array) -> Array:
        return thin_product(self._dense, V) if self.is_dense else self.push(self.lift(V)) / self.covariance.divisor

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
        prepare = self.covariance.prepare
        ZV = self.covariance.rows.reduce(self._combine, _add, beside=V, thin=True)
        if prepare.delta is not None:
            ZV -= np.outer(prepare.delta, V.sum(axis=0))
        return prepare.weighted(ZV)

    def _combine(self, blocks: Iterable[tuple[Block, Array]]) -> Array:
        """(x − shift) v, summed over a run of rows."""
        buffer = self.covariance.buffer()
        total: Any = 0.0
        for block, V in blocks:
            total += cross(self.covariance.prepare.shifted(block, buffer), V)
        return total

    def push(self, W: Array) -> Array:  # (d, b) -> (n, b)
        """Z W."""
        self.covariance.passes += 1
        prepare, W = self.covariance.prepare, self.covariance.prepare.weighted(W)
        remainder = prepare.remainder(W)

        def push(block: Block) -> Array:
            return times(prepare.shifted(block, scratch(*block.shape)), W) - remainder

        return self.covariance.rows.map(push)


def _add(a: Array, b: Array) -> Array:
    a += b
    return a


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

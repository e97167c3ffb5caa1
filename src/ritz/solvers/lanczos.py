"""Block Lanczos with full reorthogonalisation: a Krylov space, its Ritz vectors, and thick restarts."""

from __future__ import annotations

import numpy as np

from ritz.linalg.bases import orthonormalise
from ritz.linalg.dense import UNIT, Array, column_norms, eigh_descending, residual_norms
from ritz.operators import Operator
from ritz.rows.memory.array import thin_inner, thin_product
from ritz.runtime.threads import pages
from ritz.solvers.base import Outside
from ritz.solvers.probes import Probes

ORTHOGONAL = 1e-14  # the most of a new block that may lie in the space already
SLIGHT = 1e-8  # as much of it as a further projection takes out but for rounding, so that nobody need look again


class KrylovSpace:
    """The Krylov space so far: A Q = Q H + W C, with Q orthonormal and W the block that will be added next.

    C is zero but for the columns of the last block. H is QᵀAQ itself, not the recurrence of exact arithmetic, so that
    restarts need no special case. `multiplied` counts the columns that A was multiplied by.
    """

    def __init__(self, A: Operator, W: Array, capacity: int, rng: np.random.Generator) -> None:
        self.A, self.W, self.C, self._rng = A, W, np.zeros((0, 0)), rng
        self.size, self._last, self.multiplied, self._dropped = 0, slice(0, 0), 0, 0.0
        self._capacity = capacity
        self._Q, self._AQ = pages(A.dim, capacity), pages(A.dim, capacity)  # which the system gets back at the end
        self._H = np.zeros((capacity, capacity))
        self._vectors: tuple[Array, Array, Array] | None = None  # of the Ritz values found last

    @property
    def Q(self) -> Array:  # (dim, size)
        return self._Q[:, : self.size]

    @property
    def H(self) -> Array:  # (size, size)
        return self._H[: self.size, : self.size]

    @property
    def full(self) -> bool:
        """Whether another block does not fit."""
        return self.size + self.W.shape[1] > self._capacity

    @property
    def exhausted(self) -> bool:
        """Whether the space is all there is."""
        return self.size == self.A.dim

    def expand(self, probes: Probes | None) -> None:
        """Add the block W, and multiply the probes in the same pass over the data."""
        columns = self.W if probes is None else np.column_stack([self.W, probes.columns])
        product, width = self.A.apply(columns), self.W.shape[1]
        if probes is not None:
            probes.absorb(product[:, width:])
        AW, new = product[:, :width], slice(self.size, self.size + width)
        self._Q[:, new], self._AQ[:, new] = self.W, AW
        self.size, self._last = new.stop, new
        self.multiplied += width
        block = thin_inner(self.Q, AW)
        self._H[: self.size, new] = block
        self._H[new, : self.size] = block.T
        self._H[new, new] = (self._H[new, new] + self._H[new, new].T) / 2
        self._follow(AW - thin_product(self.Q, block))

    def _follow(self, rest: Array) -> None:
        """The next block: an orthonormal basis of what A takes out of the space, random where it takes nothing out."""
        width = min(rest.shape[1], self.A.dim - self.size)
        scale = float(np.max(np.abs(np.diagonal(self.H))))
        W = rest[:, :width].copy()
        lost = column_norms(W) <= 100 * UNIT * np.sqrt(self.A.dim) * scale
        for attempt in range(8):
            W[:, lost] = self._rng.standard_normal((self.A.dim, int(lost.sum())))
            W = orthonormalise(W)
            inside = thin_inner(self.Q, W)
            tilt = column_norms(inside)
            if np.linalg.norm(inside) <= ORTHOGONAL:
                break
            # What is still in the space after several projections has nothing outside: a random vector has.
            lost = (tilt > ORTHOGONAL) & (attempt % 3 == 2)
            W = W - thin_product(self.Q, inside)
            if np.linalg.norm(inside) <= SLIGHT:
                W = orthonormalise(W)
                break
        else:
            W = orthonormalise(W)
        self.W, self.C = W, W.T @ rest
        self._dropped = float(np.linalg.norm(rest - W @ self.C))

    def widen(self, directions: Array) -> None:
        """Let these directions join the next block."""
        room = min(self.A.dim - self.size, self._capacity // 4) - self.W.shape[1]
        fresh = directions[:, : max(room, 0)]
        if not fresh.shape[1]:
            return
        for _ in range(2):
            for basis in (self.Q, self.W):
                fresh = fresh - thin_product(basis, thin_inner(basis, fresh))
            fresh = orthonormalise(fresh)
        self.W = np.column_stack([self.W, fresh])
        self.C = np.vstack([self.C, np.zeros((fresh.shape[1], self.C.shape[1]))])

    def restart(self) -> None:
        """Keep the leading Ritz vectors and the block that follows."""
        keep = min(len(self.values), self.size - self.W.shape[1])
        S = self._S[:, :keep]
        Q, AQ = thin_product(self.Q, S), thin_product(self._AQ[:, : self.size], S)
        self.size = keep
        self._Q[:, :keep], self._AQ[:, :keep] = Q, AQ
        self._H[:keep, :keep] = np.diag(self.values[:keep])

    def rayleigh_ritz(self, count: int) -> None:
        """The leading Ritz values and, as coefficients in Q, their vectors."""
        self.values, self._S = eigh_descending(self.H, min(count, self.size))
        self._vectors = None

    def ritz_vectors(self) -> tuple[Array, Array, Array]:  # (dim, m), (dim, m), (m,)
        """U, A U and the residuals ‖A u − θ u‖ of all Ritz values found, from products in float64."""
        if self._vectors is None:
            U, AU = thin_product(self.Q, self._S), thin_product(self._AQ[:, : self.size], self._S)
            self._vectors = U, AU, residual_norms(AU, U, self.values)
        return self._vectors

    def residuals(self, k: int, goal: float) -> Array:  # (k,)
        """‖A u − θ u‖ of the first k Ritz vectors. They follow from C; near the goal they are computed."""
        residuals = column_norms(self.C @ self._S[self._last, :k])
        return self.ritz_vectors()[2][:k] if residuals.max() <= goal else residuals

    def beyond(self) -> Outside:
        """A bound of the norm of A outside the space that costs nothing: what is left of the trace."""
        if self.exhausted:
            return Outside(0.0)
        if self.A.trace is None or self.A.negativity:
            return Outside(np.inf)
        return Outside(max(self.A.trace - float(np.trace(self.H)), 0.0) + (self.size + 1) * self.A.rounding)

    def outside(self, m: int, beyond: Outside) -> Outside:
        """The norm outside the first m Ritz vectors, from the norm beyond the space.

        It is at most that of [[H, Cᵀ], [C, τI]] without those vectors: the rest of the space, its coupling to the next
        block, and τ for all that lies beyond.
        """
        if not np.isfinite(beyond.level):
            return beyond
        S, width = self._S[:, :m], len(self.C)
        C = np.zeros((width, self.size))
        C[:, self._last] = self.C
        H, C = self.H - (S * self.values[:m]) @ S.T, C - (C @ S) @ S.T
        M = np.block([[H, C.T], [C, beyond.level * np.eye(width)]])
        largest = max(float(eigh_descending(M, 1)[0][0]), 0.0)
        return beyond._replace(level=largest + self._dropped + self.A.rounding)

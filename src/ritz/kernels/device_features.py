"""The features of landmarks on a device, which has products of matrices where the CPU has substitution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ritz.kernels.base import Frame, Kernel, Points
from ritz.linalg.arrays import namespace
from ritz.linalg.dense import Array, gamma, row_squares
from ritz.rows.base import Block, Rows
from ritz.rows.memory.device import OnDevice
from ritz.runtime.threads import pinned

BLOCK = 1 << 14  # rows: products of so many with a few hundred landmarks take longer than to start them


class DeviceFeatures(OnDevice):
    """f(x) = L⁻¹ k(landmarks, x) and √(k(x, x) − ‖f(x)‖²) of rows on a device, where they stay.

    f solves f Lᵀ = k by the inverse Y of Lᵀ, and what that leaves is solved once more: f ← k Y, f ← f + (k − f Lᵀ) Y.
    The first step alone would leave a residual that grows with the condition of L; the second one leaves about as
    little as substitution does, which `solving` bounds.
    """

    def __init__(self, here: Rows, base: Any, kernel: Kernel, frame: Frame, landmarks: Points, L: Array) -> None:
        self._here, self._base, self._kernel = here, base, kernel
        self.shape, self.names, self.dtype = here.shape, None, np.dtype(np.float64)
        self.in_memory, self.watch, self.home, self.most_bytes = base.in_memory, base.watch, base.home, base.most_bytes
        with pinned.calling():
            inverse = solve_triangular(L.T, np.eye(len(L)), lower=False, check_finite=False)
        self.solving = refined_residual(L, inverse)
        self._frame, self._landmarks = frame.beside(base), landmarks.beside(base)
        self._triangle, self._inverse = base.here(L.T), base.here(inverse)

    @property
    def _like(self) -> Any:
        return self._base._like

    @property
    def block_rows(self) -> int:
        return max(1, min(super().block_rows, BLOCK, self.most_bytes // (8 * self._base.shape[1])))

    def read(self, start: int, stop: int) -> Block:
        return self._made(self._base.read(start, stop))

    def take(self, indices: NDArray[np.integer]) -> Block:
        return self._here.take(indices)

    def sample(self, size: int) -> Block:
        return self._here.sample(size)

    def _blocks(self, start: int, stop: int, step: int) -> Iterator[Block]:
        return map(self._made, self._base._blocks(start, stop, step))

    def _made(self, block: Any) -> Any:
        new = self._kernel.points(block, self._frame)
        K = self._kernel.tile(new, self._landmarks, self._frame)
        F = K @ self._inverse
        F = F + (K - F @ self._triangle) @ self._inverse
        xp = namespace(F)
        rest = self._kernel.diagonal(new, self._frame) - row_squares(F)
        rest = xp.sqrt(xp.where(rest > 0, rest, xp.zeros_like(rest)))
        return xp.concat([F, rest[:, None]], axis=1)


@pinned()
def refined_residual(L: Array, inverse: Array) -> float:
    """e, so that |f Lᵀ − k|_j ≤ e ‖φ(x)‖ l_j after one refinement, l the lengths of the landmarks' features.

    In units of ‖φ(x)‖ l_j, entries of k are at most 1. Of what it is given, r, a product with Y leaves |r| E at most,
    E = |Y Lᵀ − I| + γ|Y||Lᵀ|. The residual is computed to γ(|f||Lᵀ| + |k|), and |f||Lᵀ| is at most ‖f‖: 1, and what the
    first step is off by. So (1 E + γ(‖f‖ + 1)) E + γ(2‖f‖ + 1) is left.
    """
    lengths, unit = np.sqrt(row_squares(L)), gamma(2 * len(L) + 8)
    E = np.abs(inverse @ L.T - np.eye(len(L))) + 2 * unit * (np.abs(inverse) @ np.abs(L.T))
    E *= lengths[:, None] / lengths
    first = E.sum(axis=0)
    size = 1 + float(np.linalg.norm(first) * np.linalg.norm(lengths[:, None] * inverse))
    left = unit * (2 * size + 1)
    return float(np.max((first + left) @ E)) + left

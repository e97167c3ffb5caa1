"""The pre-image of rbf as a fixed point, from a start that holds it near.

The row whose features come nearest to a point of feature space is a weighted mean of the rows of the fit, found by
iteration (Mika et al., NIPS 11, 1999); held near a start, the ridge regression's answer, it neither wanders off nor
divides by 0 (after Abrahamsen and Hansen, IEEE MLSP 2009).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ritz.kernels import Points
from ritz.kernels.embedding import Embedding
from ritz.linalg.dense import Array
from ritz.rows.base import dense

STEPS, STILL = 100, 1e-6  # iterations at most, and the change, in units of the bandwidth, at which one is at rest
SHRINK = (1.0, 0.5, 0.25, 0.0625)  # of a step that does not climb


def fixed_point(embedding: Embedding, Y: Array, start: Array, held: float) -> Array:
    """z ← (Σ_i w_i k(z, z_i) z_i + h z₀)/(Σ_i w_i k(z, z_i) + h), where Σ_i w_i φ(z_i) has the scores Y.

    Rows, also those to start from, are seen from the origin of the points.
    """
    with np.errstate(over="ignore", under="ignore"):  # the kernel of what is infinitely far is 0
        ascent = _Ascent(embedding, Y, start, held)
        for _ in range(STEPS):
            if not ascent.step():
                break
        return ascent.rows


class _Ascent:
    """Up Σ_i w_i k(z, z_i) − h‖z − z₀‖²: a step that does not climb is shortened, and after several tries z stays."""

    def __init__(self, embedding: Embedding, Y: Array, start: Array, held: float) -> None:
        self._embedding, self._held = embedding, held
        self._points = dense(embedding.points.Z)
        self._weights = Y @ embedding.coefficients.T + embedding.mean
        self._start = start * embedding.frame.weight
        self._Z, self._moving = self._start.copy(), np.arange(len(start))
        self._height, self._mass, self._weighted = self._objective(self._Z, self._moving)

    @property
    def rows(self) -> Array:
        """Where they are, as rows seen from the origin."""
        return self._Z / self._embedding.frame.weight

    def step(self) -> bool:
        """Move all that still move; whether any do."""
        moving = self._moving
        # The mass may be negative, as weights are; the hold keeps the quotient tame, and its sign.
        mass = np.maximum(self._mass[moving] + self._held, self._held / 4)
        target = (self._weighted[moving] + self._held * self._start[moving]) / mass[:, None]
        step, left = target - self._Z[moving], np.arange(len(moving))
        far = np.sqrt(np.square(step).sum(axis=1)) > STILL
        for shrink in SHRINK:
            left = left[~self._climbs(moving[left], shrink * step[left])]
            if not len(left):
                break
        far[left] = False
        self._moving = moving[far]
        return bool(len(self._moving))

    def _climbs(self, which: NDArray[np.intp], step: Array) -> NDArray[np.bool_]:
        """Take the steps that climb, and say which do."""
        trial = self._Z[which] + step
        height, mass, weighted = self._objective(trial, which)
        gained = height > self._height[which]
        at = which[gained]
        self._Z[at], self._height[at] = trial[gained], height[gained]
        self._mass[at], self._weighted[at] = mass[gained], weighted[gained]
        return gained

    def _objective(self, Z: Array, which: NDArray[np.intp]) -> tuple[Array, Array, Array]:
        """Σ w k − h‖z − z₀‖², Σ w k and Σ w k z_i at these places."""
        kernel, frame = self._embedding.kernel, self._embedding.frame
        at = Points(Z, np.square(Z).sum(axis=1))
        values = kernel.tile(at, self._embedding.points, frame) * self._weights[which]
        mass = values.sum(axis=1)
        height = mass - self._held * frame.factor * np.square(Z - self._start[which]).sum(axis=1)
        return height, mass, values @ self._points

"""Rows without the components found so far, as signs are flipped in what is left of them.

One component that is a thousand times larger than all others makes the copies a thousand times noisier: its energy is
spread over all entries. Once it is found it is subtracted, and the rest is compared with copies of the rest (after
Dobriban and Owen, "Deterministic parallel analysis", J. R. Statist. Soc. B 81, 2019).

What is left has less noise than the rows had: of entry (i, j) the projections kept the share (1 − hᵢ)(1 − gⱼ), where
hᵢ = Σ u²ᵢ and gⱼ = Σ v²ⱼ are the leverages of its row and its column. The copies get back what was taken, so that they
are as noisy as the rows; their largest value bounds that of the noise alone, and so that of the rest (Weyl).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.linalg.dense import Array
from ritz.runtime.threads import scratch

# The least share of the noise of a row or column that is made up for; leverages that were computed in float32 are no
# better, and a row that the components describe alone tells nothing about noise.
LEAST_LEFT = 0.01
ALIKE = 1e5  # times that variances may differ: rounding of the largest is then a ten-thousandth of the smallest


@dataclass(frozen=True, eq=False)
class Deflation:
    """Components that are subtracted from lines of the data: its rows, or its columns where these are many.

    Attributes
    ----------
    axes : (m, r) orthonormal, in the entries of a line
    levels : (r,) Σ (line·axis)² over all lines
    centred_along, centred_across : the share of the noise that centring took from the entries of a line, and from
        lines as wholes: 1/n where lines are columns, or rows
    """

    axes: Array
    levels: Array
    centred_along: float = 0.0
    centred_across: float = 0.0

    def rest(self, lines: Array) -> Array:  # (b, m) -> (b, r)
        """Subtract the components from some lines, in place; returns what they had of each."""
        axes = self.axes.astype(lines.dtype, copy=False)
        parts = lines @ axes
        product = scratch("components", len(lines), len(axes), lines.dtype)
        np.matmul(parts, axes.T, out=product)
        lines -= product
        return np.asarray(parts)

    @property
    def alike(self) -> bool:
        """Whether components are so alike in size that float32 can subtract them."""
        return bool(self.levels[0] <= ALIKE * self.levels[-1])

    def compensate(self, lines: Array, parts: Array) -> None:
        """Give the rest of these lines, whose parts were subtracted, the noise that the rows had; in place."""
        lines *= self.weights(parts)[:, None].astype(lines.dtype, copy=False)
        lines *= self.along.astype(lines.dtype, copy=False)

    def weights(self, parts: Array) -> Array:  # (b, r) -> (b,)
        """By what each line is multiplied."""
        taken = np.square(parts) @ (1 / self.levels).astype(parts.dtype)
        return _restoring(taken, self.centred_across)

    @property
    def along(self) -> Array:  # (m,)
        """By what the entries of every line are multiplied."""
        return _restoring(np.square(self.axes).sum(axis=1), self.centred_along)

    def further(self, axes: Array, levels: Array) -> Deflation:
        """With more components, which are made orthogonal to those before them."""
        some = axes - self.axes @ (self.axes.T @ axes)
        more = np.linalg.qr(some)[0]
        return Deflation(
            np.concatenate([self.axes, more], axis=1),
            np.concatenate([self.levels, levels]),
            self.centred_along,
            self.centred_across,
        )


def _restoring(taken: Array, centred: float) -> Array:
    """1/√(what the components left of the noise), where centring took a share of its own, which is made up for
    elsewhere."""
    left = np.maximum(1 - centred - taken, LEAST_LEFT)
    return np.asarray(np.sqrt((1 - centred) / left))

"""What the components leave of a row in feature space: a squared distance, from kernel values alone."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from ritz.errors import DataError
from ritz.kernels.base import Points
from ritz.kernels.custom import Precomputed
from ritz.kernels.embedding import ROWS, Embedding, all_finite
from ritz.linalg.dense import Array, gamma, squared
from ritz.rows import Rows, as_rows, check_finite
from ritz.rows.base import Block
from ritz.runtime.threads import pinned


@dataclass(frozen=True, eq=False)
class FeatureError:
    """‖φ(x) − μ‖² − yᵀG⁻¹y, with μ = Σ mean_i φ(x_i) and G the inner products of the axes, y the scores.

    ‖φ(x) − μ‖² = k(x, x) − 2 Σ_i mean_i k(x, x_i) + ‖μ‖². The axes of an exact fit are orthonormal, G = I. Those from
    landmarks are so up to what the landmarks lack, and G makes the result a squared distance all the same.
    """

    embedding: Embedding
    mean_square: float
    inverse: Array | None  # (k, k) G⁻¹, None for I

    @classmethod
    def of(cls, embedding: Embedding, rows: Block) -> FeatureError:
        """For a model and the rows of its fit, which tell the square of the mean where a file has none."""
        if not embedding.centred:
            return cls(embedding, *_of_landmarks(embedding))
        known = embedding.mean_square
        if known is None:
            known = float(np.mean(as_rows(rows).map(lambda block: _with_mean(embedding, block))))
        return cls(embedding, known, None)

    def each(self, rows: Rows, diagonal: Array | None = None) -> Generator[Array, None, None]:
        """Of every row, block by block; `diagonal` has k(x, x) where the kernel cannot tell it."""
        small, at = rows.limited(max(1, 8 * rows.shape[1] * ROWS)), 0
        for found in small.each(self._errors):
            if diagonal is not None:
                found[:, 0] += diagonal[at : at + len(found)] * np.float64(self.embedding.frame.weight)
                at += len(found)
            if np.isnan(found).any():
                check_finite(rows)
                kernel = self.embedding.kernel
                raise DataError(f"kernel={kernel!r} has no finite value for some of these rows: {kernel.limit}")
            error, doubt = found.T
            yield np.asarray(squared(np.where((error < 0) & (error >= -doubt), 0.0, error), self.embedding.frame.unit))

    def _errors(self, block: Block) -> Array:  # (m, d) -> (m, 2)
        """The errors, without k(x, x) where that comes from elsewhere; and how far below 0 rounding may put them."""
        embedding, kernel, frame = self.embedding, self.embedding.kernel, self.embedding.frame
        if not all_finite(block):
            return np.full((block.shape[0], 2), np.nan)
        with np.errstate(over="ignore", invalid="ignore"):
            new = kernel.points(block, frame)
            products, level = embedding.products(new, np.column_stack([embedding.coefficients, embedding.mean]))
            Y, along = products[:, :-1] - embedding.offset, products[:, -1] + level
            kept = np.einsum("ij,ij->i", Y, Y if self.inverse is None else Y @ self.inverse)
            own = np.zeros(len(new)) if isinstance(kernel, Precomputed) else kernel.diagonal(new, frame)
            error = (own - along) - (along - self.mean_square) - kept
            return np.column_stack([error, self._doubt(new, np.abs(own) + np.abs(along), Y)])

    def _doubt(self, new: Points, sizes: Array, Y: Array) -> Array:
        """What rounding may take off; a kernel that is an inner product always has no error below 0 but by rounding."""
        embedding, frame = self.embedding, self.embedding.frame
        if embedding.kernel.positive:
            return np.full(len(Y), np.inf)
        unit = frame.rounding + frame.grain + gamma(len(embedding.points) + 16)
        height = embedding.kernel.lengths(new, frame) + abs(self.mean_square)
        spread = np.abs(Y) @ np.abs(embedding.coefficients).sum(axis=0)
        return 8 * unit * (sizes + height * (1 + spread) + np.einsum("ij,ij->i", Y, Y))


def _with_mean(embedding: Embedding, block: Block) -> Array:  # (m, d) -> (m,)
    """Σ_i mean_i k(x, x_i)/unit² of rows."""
    product, level = embedding.products(embedding.kernel.points(block, embedding.frame), embedding.mean[:, None])
    return product[:, 0] + level


@pinned()
def _of_landmarks(embedding: Embedding) -> tuple[float, Array]:
    """‖μ‖² and G⁻¹ = (BᵀKB)⁻¹ from the kernel values of the landmarks with each other; 0 for axes that are 0."""
    points, C = embedding.points, np.column_stack([embedding.coefficients, embedding.mean])
    H = np.zeros((C.shape[1], C.shape[1]))
    for start in range(0, len(points), ROWS):
        part = slice(start, start + ROWS)
        H += C[part].T @ (embedding.kernel.tile(points[part], points, embedding.frame) @ C)
    H = (H + H.T) / 2
    return float(H[-1, -1]), np.linalg.pinv(H[:-1, :-1], rcond=1e-12, hermitian=True)

"""Pre-images: from scores back to rows.

A point of feature space is rarely the image of a row. Ridge regression learns rows from scores once (Bakır, Weston and
Schölkopf, NIPS 16, 2004); for rbf the row whose features come nearest is a weighted mean of the rows of the fit, found
by iteration (Mika et al., NIPS 11, 1999), held near the ridge's answer so that it neither wanders off nor divides by 0.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ritz.embedding import Embedding
from ritz.errors import DataError
from ritz.kernel_decomposition import KernelFit
from ritz.kernels import Kernel, Linear, Points, Rbf
from ritz.kernels.base import Frame
from ritz.linalg import Array
from ritz.memory import check_fits
from ritz.operators import Kernel as KernelMatrix
from ritz.rows import Rows
from ritz.rows.base import Block, dense

HELD = 0.1  # weight of the ridge's answer against that of the rows
STEPS, STILL = 100, 1e-7  # iterations at most, and the change, in units of the bandwidth, at which one is at rest
VALUES = 1 << 22  # of the kernel that are held at a time


@dataclass(frozen=True, eq=False)
class PreImage:
    """x̂ = mean + Σ_i k(y, y_i) dual_i, refined for rbf.

    Attributes
    ----------
    kernel, frame, points : of the scores of the fit
    dual : (n, d)
    mean : (d,) of the rows
    embedding : the model whose scores these are
    """

    kernel: Kernel
    frame: Frame
    points: Points
    dual: Array
    mean: Array
    embedding: Embedding

    def decode(self, rows: Rows) -> Generator[Array, None, None]:
        """The pre-image of every row of scores."""
        most = max(1, VALUES // len(self.points))
        return rows.limited(max(1, 8 * rows.shape[1] * most)).each(lambda block: self._decoded(dense(block), rows))

    def _decoded(self, Y: Block, rows: Rows) -> Array:
        new = self.kernel.points(Y, self.frame)
        X: Array = self.kernel.tile(new, self.points, self.frame) @ self.dual * self.frame.unit**2 + self.mean
        if isinstance(self.embedding.kernel, Rbf) and self.embedding.kernel.gamma > 0:
            X = fixed_point(self.embedding, Y.astype(np.float64), X)
        return X.astype(rows.result_dtype, copy=False)


def learn(scores: Array, X: Block, fitted: KernelFit, alpha: float) -> PreImage:
    """Ridge regression from scores to rows, in the kernel of the fit."""
    check_fits(8 * X.shape[0] * X.shape[1], "pre-images of sparse rows are dense, and")
    X, kernel = dense(X).astype(np.float64), fitted.embedding.kernel
    mean: Array = np.asarray(X.mean(axis=0))
    frame = kernel.frame(scores)
    points = kernel.points(scores, frame)
    centred = X - mean
    if isinstance(kernel, Linear):
        dual = _least_squares(scores, centred)
    else:
        K = KernelMatrix(kernel, frame, points)
        dual = _ridge(K, centred, alpha)
    return PreImage(kernel, frame, points, dual, mean, fitted.embedding)


def _least_squares(scores: Array, centred: Array) -> Array:
    """For the linear kernel the pre-image is there, and no ridge is needed: that of PCA."""
    values = np.square(scores).sum(axis=0)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
    return scores @ ((scores.T @ centred) * np.square(inverse)[:, None])


def _ridge(K: KernelMatrix, centred: Array, alpha: float) -> Array:
    """(K + α)⁻¹ of the centred rows."""
    unit = K.frame.unit**2
    everything = np.arange(K.dim)
    matrix = K.entries(everything, everything)
    matrix.flat[:: K.dim + 1] += alpha / unit
    try:
        return scipy.linalg.solve(matrix, centred, assume_a="pos", check_finite=False) / unit
    except np.linalg.LinAlgError:
        raise DataError(
            f"alpha={alpha:g} is too small for the kernel matrix of the scores to be inverted; try alpha=1e-3 or more"
        ) from None


def fixed_point(embedding: Embedding, Y: Array, start: Array, held: float = HELD) -> Array:
    """z ← (Σ_i w_i k(z, z_i) z_i + h z₀)/(Σ_i w_i k(z, z_i) + h), where Σ_i w_i φ(z_i) has the scores Y.

    It climbs Σ_i w_i k(z, z_i) − h‖z − z₀‖²: a step that does not is halved, and after several halvings z stays.
    """
    frame, points = embedding.frame, embedding.points
    origin = 0.0 if frame.origin is None else frame.origin
    rows, weights = dense(points.Z), Y @ embedding.coefficients.T + embedding.mean
    first = (start - origin) * frame.weight
    Z, moving = first.copy(), np.arange(len(first))
    level, pull, mass = _climbed(embedding, Z, weights, rows)
    level = level - 0.0
    for _ in range(STEPS):
        denominator = mass[moving] + held
        safe = np.where(denominator > held / 4, denominator, held / 4)
        target = (pull[moving] + held * first[moving]) / safe[:, None]
        better, stuck = np.zeros(len(moving), bool), Z[moving]
        step = target - stuck
        for shrink in (1.0, 0.5, 0.25, 0.0625):
            left = np.flatnonzero(~better)
            if not len(left):
                break
            at = moving[left]
            trial = stuck[left] + shrink * step[left]
            height, towards, weight = _climbed(embedding, trial, weights[at], rows)
            height = height - held * np.square(trial - first[at]).sum(axis=1)
            gain = height > level[at]
            chosen = at[gain]
            Z[chosen], level[chosen], pull[chosen], mass[chosen] = (
                trial[gain],
                height[gain],
                towards[gain],
                weight[gain],
            )
            better[left[gain]] = True
        far = np.sqrt(np.square(Z[moving] - stuck).sum(axis=1)) > STILL
        moving = moving[better & far]
        if not len(moving):
            break
    return Z / frame.weight + origin


def _climbed(embedding: Embedding, Z: Array, weights: Array, rows: Array) -> tuple[Array, Array, Array]:
    """Σ w k(z, z_i), Σ w k z_i and Σ w k at these points."""
    at = Points(Z, np.square(Z).sum(axis=1))
    values = embedding.kernel.tile(at, embedding.points, embedding.frame) * weights
    mass = values.sum(axis=1)
    return mass, values @ rows, mass

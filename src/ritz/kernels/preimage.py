"""Pre-images: from scores back to rows.

A point of feature space is rarely the image of a row. Ridge regression learns rows from scores once (Bakır, Weston and
Schölkopf, NIPS 16, 2004). For rbf, the row whose features come nearest is a weighted mean of the rows of the fit, found
by iteration (Mika et al., NIPS 11, 1999); held near the ridge regression's answer, it neither wanders off nor divides
by 0 (after Abrahamsen and Hansen, IEEE MLSP 2009). How near is decided by rows that were held out, which also say how
good the pre-images are.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.kernels import Frame, Kernel, Linear, Points, Rbf
from ritz.kernels.base import power_of_two
from ritz.kernels.distances import median
from ritz.kernels.embedding import Embedding
from ritz.kernels.matrix import KernelMatrix
from ritz.linalg.dense import THREADED, Array, squared
from ritz.linalg.exponents import delivered
from ritz.moments.preprocessing import Preprocessing, mean_in_words
from ritz.operators.pivoted_cholesky import randomly_pivoted
from ritz.rows import Rows, as_rows
from ritz.rows.base import Block, dense, stack
from ritz.rows.memory.array import symmetric_product, thin_inner
from ritz.runtime.memory import check_fits
from ritz.runtime.threads import pinned

HOLDS = (None, 1.0, 0.3, 0.1, 0.03)  # weights of the ridge's answer in the iteration; None: it is not refined
WHOLE = 4000  # rows up to which the ridge regression uses all of them; landmarks stand for more
LANDMARKS, ENOUGH = 2000, 1e-6  # of these at most so many, and fewer where they lack no more than that of the trace
ONE_IN, MOST = 10, 200  # rows that are held out: one in so many, and at most
COMPARED = 5000  # rows, at most, of the model that they are held out from
VALUES = 1 << 22  # of the kernel that are held in memory at a time
STEPS, STILL = 100, 1e-6  # iterations at most, and the change, in units of the bandwidth, at which one is at rest
SHRINK = (1.0, 0.5, 0.25, 0.0625)  # of a step that does not climb


@dataclass(frozen=True, eq=False)
class PreImage:
    """x̂ = mean + Σ_i k(y, y_i) dual_i with a Gaussian k on scores, refined for rbf.

    The points are scores of the fit, or landmarks among them; unit vectors for the linear kernel and where there is no
    component.
    """

    kernel: Kernel
    frame: Frame
    points: Points
    dual: Array  # (p, d)
    mean: Array  # (d,) of the rows
    embedding: Embedding  # the model whose scores these are
    held: float | None = None  # weight of the ridge's answer in the iteration that refines it, None for no iteration
    error: float = np.nan  # mean squared distance of rows held out to their pre-images, NaN for too few rows
    remainder: Array | None = None  # (d,) what the rounding of the mean left over, None for 0

    def decode(self, rows: Rows) -> Generator[Array, None, None]:
        """The pre-image of every row of scores."""
        blocks = rows.limited(self._block_bytes(rows.shape[1]))
        for X in blocks.each(lambda block: self._decoded(dense(block))):
            if np.isnan(X).any():
                raise DataError(
                    "the model has no finite pre-image for some of these scores; scale the columns and refit"
                )
            yield delivered(X, rows.result_dtype)

    def distances(self, X: Block, scores: Array, unit: float = 1.0) -> Array:
        """Squared distances of rows to the pre-images of their scores, in units of unit².

        The mean is taken off both before they are compared: beside a large one, pre-images would be rounded.
        """
        centred = np.zeros((len(scores), len(self.mean)))
        if scores.shape[1]:
            blocks = as_rows(scores).limited(self._block_bytes(scores.shape[1]))
            centred = stack(blocks.each(self._centred), len(scores))
        return np.asarray(np.square((Preprocessing(self.mean, self.remainder)(X) - centred) / unit).sum(axis=1))

    def means(self, scores: Array) -> Array:  # (n, 0) -> (n, d)
        """The pre-images of scores on no component: the mean is all that such a model knows."""
        return np.tile(delivered(self.mean, scores.dtype), (len(scores), 1))

    def _block_bytes(self, k: int) -> int:
        """Bytes of a block of scores, of so many components."""
        return max(1, 8 * k * max(1, VALUES // max(len(self.points), len(self.embedding.points))))

    def _decoded(self, Y: Block) -> Array:
        X = self._centred(Y)
        if self.remainder is not None:
            X = X + self.remainder
        return X + self.mean

    @np.errstate(over="ignore", invalid="ignore")
    def _centred(self, Y: Block) -> Array:
        """x̂ − mean."""
        X: Array = self.kernel.tile(self.kernel.points(Y, self.frame), self.points, self.frame) @ self.dual
        if self.held is None:
            return X
        origin = self.embedding.frame.origin
        step = self.mean if origin is None else self.mean - origin
        step = step if self.remainder is None else step + self.remainder
        return fixed_point(self.embedding, Y.astype(np.float64), X + step, self.held) - step


def learn(
    scores: Array, X: Block, embedding: Embedding, alpha: float, refit: Callable[[Block], Embedding], limit: int
) -> PreImage:
    """The way back from scores to rows, in so many bytes. `refit` is the fit that the embedding comes from."""
    check_fits(8 * X.shape[0] * X.shape[1], "pre-images of sparse rows are dense, and")
    found = _regression(scores, dense(X), embedding, alpha, limit)
    n = X.shape[0]
    held_out = min(n // ONE_IN, MOST)
    if not held_out:
        return found
    order = np.random.default_rng(0).permutation(n)
    test, others = X[order[:held_out]], X[order[held_out : held_out + COMPARED]]
    of_others = refit(others) if embedding.n_components else embedding
    scores = stack(of_others.encode(as_rows(others)), others.shape[0]).astype(np.float64)
    return _validated(found, _regression(scores, dense(others), of_others, alpha, limit), test)


def _validated(found: PreImage, model: PreImage, test: Block) -> PreImage:
    """The pre-image with the hold for which `model`, which has not seen the test rows, rebuilds them best."""
    embedding, truth = model.embedding, dense(test)
    scores = stack(embedding.encode(as_rows(test)), len(truth)).astype(np.float64)
    refined = isinstance(embedding.kernel, Rbf) and embedding.kernel.gamma > 0 and embedding.n_components > 0
    errors, unit = {}, power_of_two(float(np.abs(truth).max(initial=0.0)))
    for held in HOLDS if refined else HOLDS[:1]:
        errors[held] = float(np.mean(replace(model, held=held).distances(truth, scores, unit)))
    best = min(errors, key=lambda held: errors[held])
    return replace(found, held=best, error=float(squared(errors[best], unit)))


def _regression(scores: Array, X: Block, embedding: Embedding, alpha: float, limit: int) -> PreImage:
    """Ridge regression of centred rows on the kernel of the scores that the embedding gives them, in `limit` bytes."""
    unit = power_of_two(float(np.abs(X).max(initial=0.0)))
    mean, left = (word * unit for word in mean_in_words(X / unit))
    remainder = left if left.any() else None
    centred = Preprocessing(mean, remainder)(X)
    k = scores.shape[1]
    if isinstance(embedding.kernel, Linear) or not k:
        points, dual = Points(np.eye(k), np.ones(k)), _least_squares(scores, centred)
        return PreImage(Linear(), Frame(), points, dual, mean, embedding, remainder=remainder)
    K = _matrix_of_scores(scores)
    if K.dim <= WHOLE and 24 * K.dim**2 <= limit:
        points, dual = K.points, _ridge(K, centred, alpha)
    else:
        points, dual = _ridge_of_landmarks(K, centred, alpha, min(LANDMARKS, max(k + 1, limit // (24 * K.dim))))
    return PreImage(K.function, K.frame, points, dual, mean, embedding, remainder=remainder)


def _matrix_of_scores(scores: Array) -> KernelMatrix:
    """The Gaussian kernel of scores, as wide as their median distance."""
    gamma = median(scores, "rbf")
    if not np.finfo(float).tiny <= gamma < np.inf:
        size = power_of_two(float(np.abs(scores).max()))
        raise DataError(
            f"fit_inverse_transform=True compares scores, but with sizes of {size:.0e} their squares leave the range "
            "of float64; scale the columns, or change the kernel's parameters"
        )
    kernel = Rbf(gamma)
    frame = kernel.frame(scores)
    return KernelMatrix(kernel, frame, kernel.points(scores, frame))


def _least_squares(scores: Array, centred: Array) -> Array:
    """For the linear kernel the pre-image exists, and no ridge is needed: that of PCA, a row for every component."""
    unit = power_of_two(float(np.abs(scores).max(initial=0.0)))
    Z = scores / unit
    values = np.square(Z).sum(axis=0)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
    return (Z.T @ (centred / unit)) * inverse[:, None]


def _ridge(K: KernelMatrix, centred: Array, alpha: float) -> Array:
    """(K + α)⁻¹ of the centred rows."""
    everything = np.arange(K.dim)
    matrix = K.entries(everything, everything)
    matrix.flat[:: K.dim + 1] += alpha
    try:
        with pinned.calling(large=K.dim > THREADED):
            return scipy.linalg.solve(matrix, centred, assume_a="pos", check_finite=False)
    except np.linalg.LinAlgError:
        raise DataError(
            f"alpha={alpha:g} is too small for the kernel matrix of the scores to be inverted; try alpha=1e-3 or more"
        ) from None


def _ridge_of_landmarks(K: KernelMatrix, centred: Array, alpha: float, most: int) -> tuple[Points, Array]:
    """The same for many rows: the best regression on the kernel's values at landmarks, and these."""
    found = randomly_pivoted(K.diagonal, K.entries, most, np.random.default_rng(0), ENOUGH * K.dim)
    inner = symmetric_product(found.F)
    inner.flat[:: len(inner) + 1] += max(alpha, np.finfo(float).eps * float(np.trace(inner)))
    images = thin_inner(found.F, centred)
    with pinned.calling(large=len(inner) > THREADED):
        weights = scipy.linalg.solve(inner, images, assume_a="pos", check_finite=False)
        return K.points[found.pivots], scipy.linalg.solve_triangular(found.triangle.T, weights, lower=False)


def fixed_point(embedding: Embedding, Y: Array, start: Array, held: float) -> Array:
    """z ← (Σ_i w_i k(z, z_i) z_i + h z₀)/(Σ_i w_i k(z, z_i) + h), where Σ_i w_i φ(z_i) has the scores Y.

    Rows, also those to start from, are seen from the origin of the points.
    """
    with np.errstate(over="ignore", under="ignore"):  # the kernel of what is infinitely far is 0
        ascent = _Ascent(embedding, Y, start, held)
        for _ in range(STEPS):
            if not ascent.step():
                break
        return ascent.Z / embedding.frame.weight


class _Ascent:
    """Up Σ_i w_i k(z, z_i) − h‖z − z₀‖²: a step that does not climb is shortened, and after several tries z stays."""

    def __init__(self, embedding: Embedding, Y: Array, start: Array, held: float) -> None:
        self._embedding, self._held = embedding, held
        self._points = dense(embedding.points.Z)
        self._weights = Y @ embedding.coefficients.T + embedding.mean
        self._start = start * embedding.frame.weight
        self.Z, self._moving = self._start.copy(), np.arange(len(start))
        self._height, self._mass, self._weighted = self._objective(self.Z, self._moving)

    def step(self) -> bool:
        """Move all that still move; whether any do."""
        moving = self._moving
        # The mass may be negative, as weights are; the hold keeps the quotient tame, and its sign.
        mass = np.maximum(self._mass[moving] + self._held, self._held / 4)
        target = (self._weighted[moving] + self._held * self._start[moving]) / mass[:, None]
        step, left = target - self.Z[moving], np.arange(len(moving))
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
        trial = self.Z[which] + step
        height, mass, weighted = self._objective(trial, which)
        gained = height > self._height[which]
        at = which[gained]
        self.Z[at], self._height[at] = trial[gained], height[gained]
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

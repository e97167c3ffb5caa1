"""Landmarks among rows that lie elsewhere: few rows stand for all, and the others stay on their workers or device.

With L Lᵀ the kernel matrix of the landmarks, f(x) = L⁻¹ k(landmarks, x) are the coordinates of the projection of φ(x)
onto the span of their features, and F with the rows f(x) is a factor of the Nyström approximation, K ⪰ F Fᵀ. One pass
sums the scatter S = (H F)ᵀ H F, whose eigenvalues are those of H F (H F)ᵀ, and what the landmarks lack,
tr(K − F Fᵀ) = Σ k(x, x) − ‖f(x)‖². A pass before it finds the range of the columns, so that the bounds on rounding hold
for every row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ritz.errors import DataError
from ritz.fitting.request import Request
from ritz.fitting.solve import solve
from ritz.kernels import Frame, Kernel, Points, distances, plans
from ritz.kernels.decompose import Alike, KernelFit, check_landmarks
from ritz.kernels.device_features import DeviceFeatures
from ritz.kernels.embedding import ROWS, Embedding
from ritz.kernels.plans import Task
from ritz.kernels.scatter import FeatureScatter, FeatureSums
from ritz.linalg.dense import Array, gamma, row_squares
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import moments
from ritz.moments.preprocessing import ends
from ritz.operators.pivoted_cholesky import Factor, randomly_pivoted
from ritz.rows import Rows, check_finite
from ritz.rows.base import Block
from ritz.rows.memory.computed import Computed
from ritz.runtime.memory import format_bytes, too_small
from ritz.runtime.threads import pinned, team
from ritz.runtime.wording import at_most, plural
from ritz.solvers import Gram

SAMPLED, LEAST = 4, 512  # rows among which every landmark is chosen, and how many they are at least in all
FLOOR = 1e-11  # share of k(x, x) below which a row adds nothing to the landmarks: L⁻¹ would magnify rounding


class Features(Computed):
    """f(x) = L⁻¹ k(landmarks, x), and as a last column √(k(x, x) − ‖f(x)‖²), which the landmarks lack of the row."""

    def __init__(self, base: Rows, kernel: Kernel, frame: Frame, landmarks: Points, L: Array) -> None:
        super().__init__(base.limited(max(1, 8 * base.shape[1] * ROWS)))
        self._kernel, self._frame, self._landmarks, self._L = kernel, frame, landmarks, L
        self.shape, self.names = (base.shape[0], len(landmarks) + 1), None
        self.solving = gamma(len(L) + 8)  # of |k|, at most, is what substitution leaves of L f = k

    @property
    def block_rows(self) -> int:
        return self._base.block_rows

    @property
    def thin_rows(self) -> int:
        return self._base.thin_rows

    def read(self, start: int, stop: int) -> Block:
        return self._made(self._base.read(start, stop), None)

    def take(self, indices: NDArray[np.integer]) -> Block:
        return self._made(self._base.take(indices), None)

    def sample(self, size: int) -> Block:
        return self._made(self._base.sample(size), None)

    def _made(self, block: Block, at: range | None) -> Block:
        new = self._kernel.points(block, self._frame)
        K = self._kernel.tile(new, self._landmarks, self._frame)
        with pinned.calling():
            F = solve_triangular(self._L, K.T, lower=True, check_finite=False).T
        rest = self._kernel.diagonal(new, self._frame) - row_squares(F)
        return np.column_stack([F, np.sqrt(np.maximum(rest, 0.0))])


def decompose_scattered(
    rows: Rows, kernel_of: Callable[..., Kernel], named: Any, width: Any, request: Request, most: int
) -> tuple[KernelFit, float]:
    """Components from at most so many landmarks, for a kernel by that name and gamma as it was asked for; and gamma."""
    with team():
        n, rng, low_high = rows.shape[0], np.random.default_rng(request.seed), _range(rows)
        sample = rows.take(np.sort(rng.choice(n, min(n, max(SAMPLED * most, LEAST)), replace=False)))
        gamma_ = _gamma(rows, width, sample, named)
        kernel = kernel_of(named, gamma=gamma_)
        copy = "X.compute()" if rows.scattered else "X.cpu()"
        check_landmarks(kernel, request.n_components, f"pass a copy on the CPU, such as {copy}, and no n_landmarks")
        plan = _plan(rows, request, most, sample.shape[0])
        frame = kernel.frame_of_range(*low_high, shifted=not rows.sparse)
        points, factor = chosen(kernel, frame, sample, most, rng)
        landmarks, L, p = points[factor.pivots], factor.triangle, len(factor.pivots)
        if p < request.n_components:
            what = "the features of the rows drawn" if p < most else f"the features of n_landmarks={most}"
            raise DataError(
                f"n_components={request.n_components}, but {what} span {p} {plural(p, 'dimension')}",
                f"ask for {p} or fewer" + ", or for more n_landmarks" * (p == most),
            )
        features: Any = Features(rows, kernel, frame, landmarks, L)
        if rows.on_device:
            features = DeviceFeatures(features, rows, kernel, frame, landmarks, L)
        sums = FeatureSums.of(moments(features, scatter=Scatter.FLOAT64))
        A = FeatureScatter(sums, L, kernel, frame, landmarks, features.solving)
        spectrum, _ = solve(A, Gram(), replace(request, solver=Gram()), p, None)
        embedding = _embedding(kernel, frame, landmarks, L, sums.mean, spectrum.vectors[:p])
        whole = float(np.trace(sums.S))
        total = max(whole - A.rounding, 0.0), whole + sums.lacking + A.rounding
        share = sums.lacking / sums.trace if sums.trace else 0.0
        plan = replace(plan, why=f"{plan.why}; {p} landmarks lack {at_most(share)} of the trace")
        return KernelFit(spectrum, embedding, plan, total, share, n_rows=n), gamma_


def _range(rows: Rows) -> tuple[Array, Array]:
    """The least and the largest value of every column, which are finite."""

    def wider(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
        return np.maximum(a[0], b[0]), np.minimum(a[1], b[1])

    high, low = rows.reduce(ends, wider)
    if not np.isfinite(low + high).all():
        check_finite(rows)
    return low, high


def _gamma(rows: Rows, width: Any, sample: Block, named: Any) -> float:
    """gamma as a number: "median" by the sample, "scale" by the variance of all entries."""
    if not (isinstance(width, str) and width == "scale"):
        return distances.resolved(width, sample, named)
    (n, d), found = rows.shape, moments(rows, scatter=Scatter.DIAGONAL)
    variance = float(np.sum(found.diagonal * found.unit**2)) / (n * d) + float(np.var(found.mean))
    return 1 / (d * variance) if variance > 0 else 1 / d


def _plan(rows: Rows, request: Request, most: int, sampled: int) -> plans.Plan:
    where = "on a device" if rows.on_device else "that are scattered"
    why = (
        f"n_landmarks of rows {where}: up to {most} are chosen by randomly pivoted Cholesky among "
        f"{sampled} rows drawn at random, and one pass sums the features of all rows where they lie"
    )
    n, d = rows.shape
    plan = plans.low_rank(Task(n, d, int(request.n_components), request.limit), most, why)
    memory = 8 * (2 * sampled * (most + d) + 6 * most * most)
    if memory > request.limit:
        raise too_small(request.limit, f"{most} landmarks need {format_bytes(memory)} of working memory")
    return replace(plan, passes=2, memory=memory)


def chosen(kernel: Kernel, frame: Frame, sample: Block, most: int, rng: np.random.Generator) -> tuple[Points, Factor]:
    """The sample as points, and which of them are landmarks."""
    points = kernel.points(sample, frame)

    def entries(rows: Any, columns: Any) -> Array:
        return kernel.tile(points[rows], points[columns], frame)

    diagonal = kernel.diagonal(points, frame)
    factor = randomly_pivoted(diagonal, entries, most, rng, error=max(frame.rounding, FLOOR))
    if not len(factor.pivots):
        raise Alike("the rows are all alike to the kernel, so none can serve as a landmark; pass a copy in memory")
    return points, factor


@pinned()
def _embedding(kernel: Kernel, frame: Frame, landmarks: Points, L: Array, mean: Array, V: Array) -> Embedding:
    """Scores are Vᵀ(f(x) − mean): as combinations of kernel values, by L⁻ᵀ."""
    with pinned.calling():
        B = solve_triangular(L.T, np.column_stack([V, mean]), lower=False)
    square = float(mean @ mean)
    return Embedding(kernel, frame, landmarks, B[:, :-1], mean @ V, B[:, -1], centred=False, mean_square=square)

"""Embedding: the immutable model of kernel PCA, from a row to its scores on the components in feature space."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ritz.errors import DataError
from ritz.kernels import Frame, Kernel, Points
from ritz.kernels.matrix import KernelMatrix
from ritz.linalg.arrays import functions_for, in_float64, in_type, namespace
from ritz.linalg.dense import Array
from ritz.linalg.exponents import delivered, narrowed
from ritz.operators import LowRank
from ritz.rows import Rows, check_finite
from ritz.rows.base import Block
from ritz.rows.memory.array import thin_inner
from ritz.runtime.threads import pinned
from ritz.solvers.lowrank import SMALL
from ritz.spectrum.certify import Spectrum

ROWS, COLUMNS = 512, 2048  # of the tiles of kernel values of new rows and the points of the model


@dataclass(frozen=True, eq=False)
class Embedding:
    """y_j = unit·(Σ_i (k(x, x_i)/unit² − c) B_ij − offset_j) over the points x_i of the model, unit that of the frame.

    Attributes
    ----------
    kernel, frame : k, and how rows become points
    points : p of them: all rows of the fit, or its landmarks
    coefficients : (p, k) B
    offset : (k,) what centring in feature space takes off
    mean : (p,) the mean of all features is Σ mean_i φ(x_i), for landmarks its best approximation
    centred : whether the columns of B sum to 0, so that y does not depend on c: one near the values saves their digits
    mean_square : ‖Σ mean_i φ(x_i)‖²/unit², the square of the mean of all features; None in a file that has none
    """

    kernel: Kernel
    frame: Frame
    points: Points
    coefficients: Array
    offset: Array
    mean: Array
    centred: bool
    mean_square: float | None = None

    @property
    def n_components(self) -> int:
        """k."""
        return len(self.offset)

    def first(self, k: int) -> Embedding:
        """The same with the first components alone."""
        return replace(self, coefficients=self.coefficients[:, :k], offset=self.offset[:k])

    def encode(self, rows: Rows, dtype: Any = None) -> Generator[Array, None, None]:
        """The coordinates of every row, block by block; in the precision of the rows unless told."""
        if rows.on_device:
            yield from self._encoded_there(rows, np.dtype(dtype or rows.result_dtype))
            return
        small = rows.limited(max(1, 8 * rows.shape[1] * ROWS))
        for Y in small.each(self._encoded):
            if np.isnan(Y).any():
                raise self._not_finite(rows)
            yield delivered(Y, np.dtype(dtype or rows.result_dtype))

    def _not_finite(self, rows: Rows) -> DataError:
        """Why rows have no finite scores: what they hold, or else the kernel."""
        check_finite(rows)
        return DataError(f"kernel={self.kernel!r} has no finite value for some of these rows: {self.kernel.limit}")

    def _encoded_there(self, rows: Rows, dtype: np.dtype[Any]) -> Generator[Any, None, None]:
        """The same where the rows are, on a device. One look for every block: it waits for the device."""
        wide = max(rows.shape[1], min(len(self.points), COLUMNS))
        small = rows.limited(max(1, rows.most_bytes * rows.shape[1] // wide))
        there = self._beside(rows)

        def encoded(block: Any) -> Any:
            total = there.products(there.kernel.points(block, there.frame), there.coefficients)[0]
            Y = (total - there.offset) * self.frame.unit
            xp = namespace(Y)
            given = xp.all(xp.isfinite(in_float64(block)))
            if bool(given & xp.all(xp.abs(Y) < float(np.finfo(dtype).max))):
                return in_type(Y, dtype)
            if not (bool(given) and bool(xp.all(xp.isfinite(Y)))):
                raise self._not_finite(rows)
            return narrowed(Y, dtype)

        yield from small.each(encoded)

    def _beside(self, rows: Rows) -> Embedding:
        """The same where the blocks of rows are; the coefficients and points go there once."""
        parts = {name: rows.here(np.asarray(getattr(self, name))) for name in ("coefficients", "offset", "mean")}
        return replace(self, frame=self.frame.beside(rows), points=self.points.beside(rows), **parts)

    def _encoded(self, block: Block) -> Array:
        """NaN where the rows hold anything that is not finite, which a kernel may well map to something that is."""
        if not all_finite(block):
            return np.full((block.shape[0], self.n_components), np.nan)
        with np.errstate(over="ignore", invalid="ignore"):
            total = self.products(self.kernel.points(block, self.frame), self.coefficients)[0]
            total -= self.offset
            total *= self.frame.unit
            total[~np.isfinite(total)] = np.nan
            return total

    def products(self, new: Points, C: Array) -> tuple[Array, Array]:  # (m, ·), (p, b) -> (m, b), (m,)
        """Σ_i (k(x, x_i)/unit² − c) C_ij of new points x, and c: the mean of some values where centring allows it."""
        total: Any = 0.0
        level: Any = np.zeros((len(new), 1))
        for start in range(0, len(self.points), COLUMNS):
            part = slice(start, min(start + COLUMNS, len(self.points)))
            values = self.kernel.tile(new, self.points[part], self.frame)
            if self.centred:
                level = level if start else functions_for(values).mean(values, axis=1, keepdims=True)
                values = values - level
            total = total + values @ C[part, :]
        return total, level[:, 0]


def all_finite(block: Block) -> bool:
    """Whether rows hold neither NaN nor infinity."""
    return bool(np.isfinite(block if isinstance(block, np.ndarray) else block.data).all())


def of_all_points(A: KernelMatrix, found: Spectrum, means: Array) -> Embedding:
    """The model whose axes are combinations of all points: B = U/√λ, 0 for axes without variance."""
    B = found.vectors - found.vectors.mean(axis=0)
    B = np.divide(B, np.sqrt(found.values), out=np.zeros_like(B), where=found.values > 0)
    points, mean = A.function.kept(A.points), np.full(A.dim, 1 / A.dim)
    offset, square = (means - means.mean()) @ B, float(means.mean())
    return Embedding(A.function, A.frame, points, B, offset, mean, centred=True, mean_square=square)


def of_landmarks(A: KernelMatrix, pivots: NDArray[np.intp], few: LowRank, found: Spectrum) -> Embedding:
    """The model whose axes U = H F W are combinations of few points: f(x) = L⁻¹ k(x) takes the place of a row of F.

    U lies inside the span of the leading eigenvectors of H F (H F)ᵀ.
    """
    values, V = few.small
    seen = values > SMALL * values[0]
    W = V[:, seen] @ ((V[:, seen].T @ thin_inner(few.F, found.vectors)) / values[seen, None])
    W = W * np.sqrt(found.values)
    with pinned.calling():
        B = solve_triangular(few.triangle.T, np.column_stack([W, few.mean]), lower=False)
    points, square = A.points[pivots], float(few.mean @ few.mean)
    return Embedding(A.function, A.frame, points, B[:, :-1], few.mean @ W, B[:, -1], centred=False, mean_square=square)

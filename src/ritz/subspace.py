"""Subspace: the immutable learned model."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import InitVar, dataclass, field

import numpy as np

from ritz.errors import DataError
from ritz.linalg import Array, orthogonality_defect
from ritz.pinning import pinned
from ritz.preprocessing import Preprocessing
from ritz.rows import Rows, as_rows
from ritz.rows.base import Block, stack
from ritz.rows.finite import check_finite

CANCELS = 1e-4  # share of ‖z‖² below which ‖z‖² − ‖y‖² has lost too many digits


@dataclass(frozen=True, eq=False)
class Subspace:
    """k orthonormal axes with the preprocessing of the data they were learned from.

    Attributes
    ----------
    axes : (d, k), orthonormal columns
    variances : (k,), descending
    mean, scale : (d,) or None for 0 and 1: z = (x − mean)/scale
    left_out : variance outside the subspace
    n_rows, ddof : of the training data; n_rows is None when only a covariance was given

    Examples
    --------
    >>> import numpy as np
    >>> s = Subspace(np.array([[1.0], [0.0]]), np.array([4.0]), mean=np.array([1.0, 1.0]))
    >>> s.encode(np.array([[3.0, 5.0]]))
    array([[2.]])
    >>> s.error(np.array([[3.0, 5.0]]))
    array([16.])
    """

    axes: Array
    variances: Array
    mean: Array | None = None
    scale: Array | None = None
    left_out: float = 0.0
    n_rows: int | None = None
    ddof: int = 1
    orthonormal: InitVar[bool] = False  # whether that is known already
    _weight: Array | None = field(init=False, repr=False, default=None)

    def __post_init__(self, orthonormal: bool) -> None:
        for name in ("axes", "variances", "mean", "scale"):
            part = getattr(self, name)
            if part is not None:  # the model's own copies, so that nobody can change them
                # Memory with gaps, or that runs backwards, would round differently from the same numbers in a file.
                shared = not part.flags.writeable and (part.flags.c_contiguous or part.flags.f_contiguous)
                part = np.array(part, np.float64, copy=None if shared else True)
                part.setflags(write=False)
                object.__setattr__(self, name, part)
        d, k = self.axes.shape
        if self.variances.shape != (k,):
            raise DataError(f"{k} axes need {k} variances, got shape {self.variances.shape}")
        if np.any(self.variances[1:] > self.variances[:-1]) or not np.all(self.variances >= 0):
            raise DataError(f"variances must be descending and not negative, got {self.variances[:5]}")
        defect = 0.0 if orthonormal else orthogonality_defect(self.axes)
        if not defect <= 1e-6 * max(1, k):
            raise DataError(f"axes are not orthonormal: ‖UᵀU − I‖ = {defect:.1e}")
        for name in ("mean", "scale"):
            part = getattr(self, name)
            if part is not None and (part.shape != (d,) or not np.isfinite(part).all()):
                raise DataError(f"{name} must hold {d} finite numbers, one per column, got shape {part.shape}")
        if self.scale is not None:
            if not (self.scale > 0).all():
                raise DataError(f"scale must be positive, got {float(self.scale.min()):g}")
            object.__setattr__(self, "_weight", 1.0 / self.scale)

    def encode(self, X: object) -> Array:  # (n, d) -> (n, k)
        """y = Uᵀ((x − mean)/scale), centred before it is projected."""
        rows = as_rows(X)
        return stack(self.codes(rows), rows.shape[0])

    def codes(self, rows: Rows) -> Generator[Array, None, None]:
        """The same block by block."""
        axes = self.axes.astype(rows.result_dtype)
        return self._each(rows, lambda block, prepare: prepare.times(block, axes))

    @pinned()
    def decode(self, Y: Array) -> Array:  # (n, k) -> (n, d)
        """x̂ = scale ⊙ (U y) + mean."""
        X = Y @ self.axes.T.astype(Y.dtype, copy=False)
        if self.scale is not None:
            X *= self.scale.astype(X.dtype, copy=False)
        if self.mean is not None:
            X += self.mean.astype(X.dtype, copy=False)
        return X

    def project(self, X: object) -> Array:  # (n, d) -> (n, d)
        """The nearest points of the subspace."""
        return self.decode(self.encode(X))

    def error(self, X: object) -> Array:  # (n, d) -> (n,)
        """‖z‖² − ‖Uᵀz‖² of every row, squared and in preprocessed units; where that cancels, by decoding."""
        rows = as_rows(X)
        return stack(self.errors(rows), rows.shape[0])

    def errors(self, rows: Rows) -> Generator[Array, None, None]:
        """The same block by block."""

        def error(block: Block, prepare: Preprocessing) -> Array:
            if isinstance(block, np.ndarray):
                Z = prepare(block, np.empty(block.shape, rows.result_dtype))
                block, prepare = Z.astype(np.float64, copy=False), Preprocessing()
            Y, size = prepare.times(block, self.axes), prepare.sizes(block)
            error = size - np.einsum("ij,ij->i", Y, Y)
            close = np.flatnonzero(error < CANCELS * size)
            if len(close):
                residual = prepare(block[close]) - Y[close] @ self.axes.T
                error[close] = np.einsum("ij,ij->i", residual, residual)
            return np.where(np.isinf(size), np.inf, error)

        return self._each(rows, error)

    @property
    def total_error(self) -> float:
        """Σ over the training rows of their squared error: (n − ddof) times the variance left out."""
        if self.n_rows is None:
            raise DataError("a model made from a covariance does not know how many rows there were; pass n_rows")
        return (self.n_rows - self.ddof) * self.left_out

    def _each(self, rows: Rows, f: Callable[[Block, Preprocessing], Array]) -> Generator[Array, None, None]:
        if rows.shape[1] != len(self.axes):
            raise DataError(f"X has {rows.shape[1]} columns, but the model was learned from {len(self.axes)}")
        prepare = Preprocessing.split(self.mean, self._weight, rows.result_dtype)

        def quietly(block: Block) -> Array:
            with np.errstate(over="ignore", invalid="ignore"):
                return f(block, prepare)

        for out in rows.each(quietly):
            # Any NaN or infinity in a row reaches its result; only then is the data searched for the place.
            if not np.isfinite(out).all():
                check_finite(rows)
            yield out

"""Subspace: the immutable learned model."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import InitVar, dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg.arrays import (
    all_finite,
    beside,
    brought,
    dtype_of,
    in_float64,
    in_type,
    is_device_array,
    namespace,
    on_host,
    taken,
)
from ritz.linalg.dense import Array, in_lines, norm_of, orthogonality_defect, row_squares, times
from ritz.linalg.exponents import (
    Exponents,
    delivered,
    differences,
    narrowed,
    outside_of,
    rows_outside,
    sums,
    times_power,
)
from ritz.moments.preprocessing import FAINT, Preprocessing, less
from ritz.rows import Rows, as_rows, check_finite
from ritz.rows.base import Block, dense, stack
from ritz.runtime.threads import cached_property, pinned, scratch
from ritz.spectrum.sample import Sample

CANCELS = 1e-4  # share of ‖z‖² below which ‖z‖² − ‖y‖² has lost too many digits
# ‖z‖ in deviations of the weakest component, up to which products in float32 err by about 1e-5 of that deviation.
NARROW = 128.0
# ‖mean/scale‖ in the same deviations, up to which Uᵀx − Uᵀmean in float64 errs by about 1e-13 of one.
NEAR = 1024.0
# The same, beyond which sparse rows are centred as dense blocks: 1e5·eps of it is rounding.
FAR = 1e5
FLOAT64 = np.dtype(np.float64)
Part = TypeVar("Part")
COMPUTED = ("_mean_is_small", "_origin", "_mean_may_wait", "_with_mean")  # when they are first asked for
COPIED = 1 << 20  # entries of axes, of which a second copy takes little memory
WIDTH = 4  # columns that BLAS multiplies at a time
SAFELY = 100.0  # times CANCELS, above which few rows have errors that cancel
MODERATE = 1e10  # size of scales, up to which the squares of rows are in range where those of scaled ones are
IN_CACHE = 1 << 16  # entries of rows that are preprocessed at a time, to be used several times
APART = 1 << 20  # entries of rows that are preprocessed in units of their own at a time
# Sizes below which products of numbers in these types have lost digits, and from 1, up to which float32 has room.
LEAST, ROOM = {np.dtype(np.float32): 1e-30, FLOAT64: 1e-280}, 1e18


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
    unit : a power of two near the size of the data, where its squares leave float64, or it has few digits itself; the
        variances are then infinite or 0, and what follows has all digits
    roots : (k,) standard deviations along the axes, in `unit`; None for the roots of the variances
    beyond : root of `left_out`, likewise
    remainder : (d,) or None for 0: what the rounding of the mean left over, in `unit`, which is subtracted too

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
    unit: float = 1.0
    roots: Array | None = None
    beyond: float | None = None
    remainder: Array | None = None
    checked: InitVar[bool] = False  # whether all this is known to fit together
    _weight: Array | None = field(init=False, repr=False, default=None)

    def __post_init__(self, checked: bool) -> None:
        for name in ("axes", "variances", "mean", "scale", "roots", "remainder"):
            part = getattr(self, name)
            if part is not None:  # the model's own copies, so that nobody can change them
                # Memory with gaps, or that runs backwards, would round differently from the same numbers in a file.
                shared = not part.flags.writeable and (part.flags.c_contiguous or part.flags.f_contiguous)
                part = np.array(part, np.float64, copy=None if shared else True)
                part.setflags(write=False)
                object.__setattr__(self, name, part)
        if not checked:
            self._check()
        if self.scale is not None:
            object.__setattr__(self, "_weight", 1.0 / self.scale)

    def _check(self) -> None:
        d, k = self.axes.shape
        if self.variances.shape != (k,):
            raise DataError(f"{k} axes need {k} variances, got shape {self.variances.shape}")
        if np.any(self.variances[1:] > self.variances[:-1]) or not np.all(self.variances >= 0):
            raise DataError(f"variances must be descending and not negative, got {self.variances[:5]}")
        defect = orthogonality_defect(self.axes)
        if not defect <= 1e-6 * max(1, k):
            raise DataError(f"axes are not orthonormal: ‖UᵀU − I‖ = {defect:.1e}")
        for name in ("mean", "scale", "remainder"):
            part = getattr(self, name)
            if part is not None and (part.shape != (d,) or not np.isfinite(part).all()):
                raise DataError(f"{name} must hold {d} finite numbers, one per column, got shape {part.shape}")
        low = self._low
        if low is not None and (self.mean is None or (self.mean + low != self.mean).any()):
            raise DataError("remainder must be what the rounding of the mean left over, at most half of its last digit")
        if self.scale is not None and not (self.scale > 0).all():
            raise DataError(f"scale must be positive, got {float(self.scale.min()):g}")

    @property
    def deviations(self) -> Array:  # (k,)
        """Standard deviations along the axes, in `unit`."""
        return np.sqrt(self.variances) / self.unit if self.roots is None else self.roots

    @property
    def whitening(self) -> Array:  # (k,)
        """What scores in `unit` are multiplied by when whitening: one over the deviations, and 0 for 0."""
        roots = self.deviations
        with np.errstate(over="ignore"):
            return np.divide(1.0, roots, out=np.zeros(len(roots)), where=roots > 0)

    @property
    def outside(self) -> float:
        """Root of the variance outside the subspace, in `unit`."""
        return float(np.sqrt(self.left_out) / self.unit if self.beyond is None else self.beyond)

    @property
    def spare(self) -> int:
        """How many more axes the data may have."""
        d, k = self.axes.shape
        return min(d if self.n_rows is None else self.n_rows, d) - k

    @property
    def sample(self) -> Sample | None:
        """What the rows tell of the error of the sample; None where it is not known how many there were."""
        d, k = self.axes.shape
        if self.n_rows is None:
            return None
        return Sample(self.deviations, self.outside, d - k, self.n_rows, self.scale is not None)

    @property
    def power(self) -> int:
        """The unit is 2 to this power."""
        return math.frexp(self.unit)[1] - 1

    @property
    def faint(self) -> bool:
        """Whether the data is so small that it is divided by `unit` before all else."""
        return self.unit < FAINT

    def encode(self, X: object, dtype: Any = None) -> Array:  # (n, d) -> (n, k)
        """y = Uᵀ((x − mean)/scale), in the precision of the rows unless told.

        Rows are centred before they are projected, unless the mean is so near to 0 that it makes no difference.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA
        >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
        >>> pca = PCA(2, scale=True).fit(X)
        >>> Z = (X - pca.mean_) / pca.scale_
        >>> bool(np.allclose(pca.subspace_.encode(X), Z @ pca.components_.T))
        True
        """
        rows = as_rows(X)
        return stack(self.codes(rows, dtype), rows.shape[0])

    def codes(self, rows: Rows, dtype: Any = None, whiten: bool = False) -> Generator[Array, None, None]:
        """The same block by block; divided by their standard deviations when whitening."""
        wanted = rows.result_dtype if dtype is None else np.dtype(dtype)
        return self._codes(rows, wanted, self.whitening if whiten else None)

    def shares(self, rows: Rows) -> Generator[Array, None, None]:
        """Scores in `unit` block by block, in float64: the part of some columns in the scores."""
        return self._codes(rows, FLOAT64, np.ones(self.axes.shape[1]))

    def _codes(self, rows: Rows, wanted: np.dtype[Any], weight: Array | None) -> Generator[Array, None, None]:
        """Scores in `unit` times a weight; in the unit of the data where there is none."""
        unit, product = self.power, self._product(rows, wanted)
        # Weighted in the unit of what was multiplied, so that ordinary data sees one product and no more.
        here = weight if weight is None or self.faint else times_power(weight, -unit)
        away = 1.0 if here is None else rows.here(here)

        def code(block: Block) -> Array:
            Y = product(block)
            if not isinstance(block, np.ndarray) and is_device_array(block):
                return _as_scores(code, rows, block, Y if here is None else Y * away, wanted)
            far = rows_outside(Y, LEAST[Y.dtype])
            if here is not None:
                Y = np.multiply(Y, here, dtype=np.float64)
            elif self.faint:
                Y = times_power(Y, unit)
            for which, small, powers in self._apart(block, far):
                y, powers = small @ self.axes, powers[:, None]
                Y = Y.astype(np.float64, copy=False)
                Y[which] = times_power(y, powers) if weight is None else times_power(y * weight, powers - unit)
            return Y

        return self._each(rows, code, wanted, columns=self.axes.shape[1])

    def _product(self, rows: Rows, wanted: np.dtype[Any]) -> Callable[[Block], Array]:
        """Uᵀz of a block, in the unit of faint rows; in float32 where that is wanted, and z is not too far away."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._product_by(self.preprocessing(FLOAT64), rows, wanted)

    def _product_by(self, prepare: Preprocessing, rows: Rows, wanted: np.dtype[Any]) -> Callable[[Block], Array]:
        tried = wanted == np.float32 and not rows.sparse and not rows.on_device and self._float32_resolves
        if tried:
            narrow, axes = self.preprocessing(wanted), self.axes.astype(wanted, order="C")
            lacking = narrow.lacking(self.axes)
        most = times_power(NARROW * self.deviations[-1], self.power)
        there = self._product_there(prepare, rows) if rows.on_device else None
        plain = not (tried or self.faint or rows.sparse or rows.on_device) and self._mean_is_small
        if plain:
            weighted, offset = np.ascontiguousarray(prepare.weighted(self.axes)), self._origin

        def product(block: Block) -> Array:
            if there is not None and not isinstance(block, np.ndarray):
                return there(block)
            if plain:
                asis = block.dtype == np.float64 and in_lines(block)
                here = block if asis else Preprocessing().shifted(block, scratch("block", *block.shape))
                return less(times(here, weighted), offset)
            if tried:
                Z = narrow.nearly(block, wanted, scratch("narrow", len(block), block.shape[1], wanted))
                if np.sqrt(np.vecdot(Z, Z).max()) < most:
                    return less(times(Z, axes), lacking)
            ready, how = self._ready(block) if self.faint else (block, prepare)
            return how.times(ready, self.axes)

        return product

    def _product_there(self, prepare: Preprocessing, rows: Rows) -> Callable[[Any], Any]:
        """The same of blocks on a device, to which what they are multiplied by is brought once."""
        ready = Preprocessing(prepare.shift, None, prepare.weight).beside(rows)
        axes, lacking = rows.here(self.axes), rows.here(prepare.lacking(self.axes))
        return lambda block: less(ready.nearly(block, FLOAT64) @ axes, lacking)

    @cached_property
    def _mean_is_small(self) -> bool:
        """Whether the mean is so near to 0 that Uᵀx − Uᵀmean tells the weakest component as well as Uᵀ(x − mean) does,
        which takes a copy of x."""
        with np.errstate(over="ignore", invalid="ignore"):
            center = self.preprocessing(FLOAT64).center
            return center is None or bool(norm_of(center) < times_power(NEAR * self.deviations[-1], self.power))

    @cached_property
    def _origin(self) -> Array:  # (k,)
        """Uᵀ(mean/scale)."""
        with np.errstate(over="ignore", invalid="ignore"), pinned():
            center = self.preprocessing(FLOAT64).center
            return np.zeros(()) if center is None else center @ self.axes

    def __getstate__(self) -> dict[str, Any]:
        """All but what is computed when it is first asked for: a model is the same before and after it is used."""
        return {name: part for name, part in vars(self).items() if name not in COMPUTED}

    @property
    def _float32_resolves(self) -> bool:
        """Whether products in float32 can tell the weakest component."""
        roots = self.deviations
        whole = np.hypot(np.linalg.norm(roots), self.outside)
        return not self.faint and bool(NARROW * roots[-1] > whole) and self._working(np.dtype(np.float32)) == np.float32

    @np.errstate(over="ignore", invalid="ignore")
    def _densely(self) -> bool:
        """Whether sparse rows are centred as dense ones: a difference of products would lose digits of the weakest
        component with variance."""
        center, seen = self.preprocessing(FLOAT64).center, self.deviations[self.deviations > 0]
        if center is None or not center.any() or not len(seen):
            return False
        unit = np.abs(center).max()  # squares may overflow
        return bool(unit * np.linalg.norm(center / unit) > FAR * times_power(seen[-1], self.power))

    @pinned()
    def decode(self, Y: Array, whiten: bool = False) -> Array:  # (n, k) -> (n, d)
        """x̂ = scale ⊙ (U y) + mean, where the sum with a large mean is rounded once; of scores that were divided by
        their standard deviations when whitening.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA
        >>> subspace = PCA(1).fit(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])).subspace_
        >>> subspace.decode(np.array([[0.0], [np.sqrt(2)]])).round(6)  # the mean, and one step on
        array([[2., 2.],
               [3., 3.]])
        """
        if not isinstance(Y, np.ndarray):
            return self._decoded_on_device(Y, whiten)
        dtype, unit = self._working(Y.dtype), self.power
        words = self.preprocessing(dtype)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            undo = self.deviations if self.faint else times_power(self.deviations, unit)
            S = np.multiply(Y, undo, dtype=np.float64).astype(dtype) if whiten else Y.astype(dtype, copy=False)
            far = rows_outside(S, LEAST[dtype], 1 / LEAST[dtype])
            # Where the mean is near to 0, what its rounding left over is less than the rounding of the product.
            small = dtype == np.float64 and self._mean_is_small
            plain = self.scale is None and not (whiten and self.faint)
            if small and plain and words.shift is not None and not len(far):
                return delivered(_affine(S, self.axes, words.shift), Y.dtype)
            X = S @ self.axes.T.astype(dtype, copy=False)
            low = None if small else words.delta
            if whiten and self.faint:
                X, low = times_power(X if self.remainder is None else X + self.remainder, unit), None
            if self.scale is not None:
                X *= self.scale.astype(dtype, copy=False)
            for word in (low, words.shift):
                if word is not None:
                    less(X, -word)
            if len(far):
                X = X.astype(np.float64, copy=False)
                back = (self.deviations, unit) if whiten else (1.0, 0)
                X[far] = sums(Y[far], back[0], self.axes, self.mean, self.scale, back[1])
        return delivered(X, Y.dtype)

    def _decoded_on_device(self, Y: Any, whiten: bool) -> Any:
        """The same where the scores are, in float64; rows that leave its range, on the CPU."""
        words = self.preprocessing(FLOAT64)
        undo = times_power(self.deviations, self.power)
        S = in_float64(Y)
        S = S * beside(undo, S) if whiten else S
        X = S @ beside(self.axes.T, S)
        X = X if self.scale is None else X * beside(self.scale, X)
        for word in (words.delta, words.shift):
            X = X if word is None else X + beside(word, X)
        X = _patched(lambda some: self.decode(some, whiten), Y, X, S)
        return narrowed(X, dtype_of(Y))

    def columns(self, which: slice) -> Subspace:
        """What is known of some of the columns: scores of whole rows are sums over such of all columns."""
        mean, scale, remainder = (
            None if part is None else part[which] for part in (self.mean, self.scale, self.remainder)
        )
        axes = self.axes[which]  # of which only the whole is orthonormal: nobody is to check
        return replace(self, axes=axes, mean=mean, scale=scale, remainder=remainder, checked=True)

    def misfits(self, rows: Rows, Y: Array) -> Array:  # (n, d), (n, k) -> (n,)
        """‖z − U y‖² of rows with these scores, both in `unit`: the part of some columns in the squared error."""
        step, out = rows.block_rows, np.empty(len(Y))
        y = Y if self.faint else times_power(Y, self.power)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for start in range(0, len(Y), step):
                some = slice(start, min(start + step, len(Y)))
                Z, prepare = self._ready(rows.block(some.start, some.stop))
                rest = prepare(Z) - y[some] @ self.axes.T
                out[some] = row_squares(rest if self.faint else rest / self.unit)
        return out

    def error(self, X: object) -> Array:  # (n, d) -> (n,)
        """‖z‖² − ‖Uᵀz‖² of every row, squared and in preprocessed units; where that cancels, by decoding.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA
        >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
        >>> subspace = PCA(2).fit(X).subspace_
        >>> bool(np.isclose(subspace.error(X).sum(), subspace.total_error))
        True
        """
        rows = as_rows(X)
        return stack(self.errors(rows), rows.shape[0])

    def errors(self, rows: Rows) -> Generator[Array, None, None]:
        """The same block by block."""

        def error(block: Block) -> Array:
            _, error, powers = self._parts(block)
            return times_power(error, 2 * powers)

        return self._each(rows, error)

    def parts(self, rows: Rows) -> Generator[tuple[Array, Array, Exponents], None, None]:
        """Scores, squared errors and powers p of every row, block by block: they are in units of 2^p and 4^p."""
        for joined in self._each(rows, lambda block: np.column_stack(self._parts(block))):
            yield joined[:, :-2], joined[:, -2], joined[:, -1].astype(np.int64)

    def placing(self, rows: Rows) -> tuple[Rows, Callable[[Block], Array]]:
        """How a block becomes the scores of its rows, and last their distances ‖z‖ from the mean, (m, k + 1) in `unit`;
        and the rows whose blocks do."""
        densely, unit = rows.sparse and self._densely(), self.power

        def place(block: Block) -> Array:
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                Z, prepare = self._ready(dense(block) if densely else block)
                Y, sizes = brought((prepare.times(Z, self.axes), prepare.sizes(Z)[0]))
                out = np.empty((len(Y), Y.shape[1] + 1))
                out[:, :-1], out[:, -1] = Y, np.sqrt(sizes)
                if unit and not self.faint:
                    out = times_power(out, -unit)
                for which, small, powers in self._apart(block, outside_of(np.sqrt(sizes), LEAST[FLOAT64] ** 0.5)):
                    found = np.column_stack([small @ self.axes, np.sqrt(row_squares(small))])
                    out[which] = times_power(found, powers[:, None] - unit)
            return out

        return rows.on_cpu() if self.faint else rows, place

    def walked(self, rows: Rows, f: Callable[..., Part]) -> Generator[Part, None, None]:
        """f(block, scores, squared errors, powers) of every block, as `parts` has them, in order. f runs where the
        block is, and sees NaN where rows have it."""
        self._check_width(rows)
        densely = rows.sparse and self._densely()

        def quietly(block: Block) -> Part:
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                block = dense(block) if densely else block
                return f(block, *self._parts(block))

        each: Any = (rows.on_cpu() if self.faint else rows).each
        yield from each(quietly)

    def _parts(self, block: Block) -> tuple[Array, Array, Exponents]:
        plain = isinstance(block, np.ndarray) and not self.faint
        Y, error, size = self._split_in_cache(block) if plain else brought(self._split(*self._ready(block)))
        powers = np.full(len(Y), self.power if self.faint else 0)
        far = outside_of(np.sqrt(size), LEAST[FLOAT64] ** 0.5)
        for which, small, some in self._apart(block, far):
            Y[which], error[which], _ = self._split(small, Preprocessing())
            powers[which] = some
        return Y, error, powers

    def _apart(self, block: Any, far: NDArray[np.intp]) -> Iterator[tuple[Exponents, Array, Exponents]]:
        """Rows of a block that leave the range: which, preprocessed in a unit each, and its power."""
        if hasattr(block, "indptr") and self.mean is None:  # rows without entries are 0, whatever the axes
            far = far[np.diff(block.indptr)[far] > 0]
        step = max(1, APART // block.shape[1])
        for which in (far[start : start + step] for start in range(0, len(far), step)):
            some = taken(block, which) if is_device_array(block) else dense(block[which])
            yield which, *differences(some, self.mean, self._low, self.scale)

    def _split_in_cache(self, block: Array) -> tuple[Array, Array, Array]:
        """Scores, squared errors and sizes of dense rows. Where they have to be preprocessed first, so many at a time
        as stay in cache: they are used more than once, and read once."""
        if self._mean_may_wait and block.dtype == np.float64 and in_lines(block):
            return self._as_is(block)
        (m, d), k = block.shape, self.axes.shape[1]
        Y, error, size = np.empty((m, k)), np.empty(m), np.empty(m)
        prepare, step = self.preprocessing(FLOAT64), max(16, IN_CACHE // d)
        if k and self._mean_is_small:  # what its rounding left over is less than that of the rows
            prepare = Preprocessing(prepare.shift, None, prepare.weight)
        for start in range(0, m, step):
            some = slice(start, min(start + step, m))
            Z = prepare(block[some], scratch("parts", some.stop - start, d))
            Y[some], error[some], size[some] = self._split(Z, Preprocessing())
        return Y, error, size

    def _as_is(self, block: Array) -> tuple[Array, Array, Array]:
        """Rows are multiplied as they are, the mean with them: ‖xw − c‖² = ‖xw‖² − 2 xᵀcw + ‖c‖² with weights w."""
        W, center, square = self._with_mean
        k, own = self.axes.shape[1], self._weighted_squares(block)
        product = times(block, W)
        along = product[:, k].copy() if W.shape[1] > k else block @ center
        Y = np.ascontiguousarray(less(product, self._origin_beside)[:, :k])
        size = np.maximum(own - 2 * along + square, 0.0)
        error = size - row_squares(Y)
        close = np.flatnonzero(error < CANCELS * (own + square))
        if len(close):
            error[close] = self._split(self.preprocessing(FLOAT64)(block[close]), Preprocessing())[1]
        return Y, error, size

    def _weighted_squares(self, block: Array) -> Array:  # (m, d) -> (m,)
        """‖xw‖² of rows, so many at a time as stay in cache."""
        if self._weight is None:
            return np.vecdot(block, block)
        (m, d), squares = block.shape, self._weight**2
        own, step = np.empty(m), max(16, IN_CACHE // d)
        for start in range(0, m, step):
            some = block[start : start + step]
            own[start : start + step] = np.square(some, out=scratch("squares", len(some), d)) @ squares
        return own

    @cached_property
    def _mean_may_wait(self) -> bool:
        """Whether squared errors are mostly so large that no digit is lost where the mean is subtracted in the end."""
        if self.faint or not len(self.deviations) or self.axes.size > COPIED:
            return False
        if self.scale is not None and not ((self.scale > 1 / MODERATE) & (self.scale < MODERATE)).all():
            return False  # squares of rows might leave float64 where those of preprocessed ones do not
        if not self._mean_is_small:
            return False
        with np.errstate(over="ignore", invalid="ignore"):
            square, whole = self._with_mean[-1], float(np.sum(self.deviations**2)) + self.outside**2
            return bool(self.outside**2 > SAFELY * CANCELS * (whole + 2 * float(times_power(square, -2 * self.power))))

    @cached_property
    def _with_mean(self) -> tuple[Array, Array, float]:  # (d, k) or more, (d,)
        """The axes, where BLAS has room for more columns with the mean and zeros beside, and the mean, all times the
        weights; and ‖mean‖²."""
        (d, k), prepare = self.axes.shape, self.preprocessing(FLOAT64)
        center = np.zeros(d) if prepare.center is None else prepare.center
        weighted = center if prepare.weight is None else center * prepare.weight
        W = np.zeros((d, -(-k // WIDTH) * WIDTH))
        W[:, :k] = prepare.weighted(self.axes)
        if W.shape[1] > k:
            W[:, k] = weighted
        with pinned():
            return W, weighted, float(center @ center)

    @property
    def _origin_beside(self) -> Array:
        """What products with these columns have too much, as far as they are scores."""
        offset = np.zeros(self._with_mean[0].shape[1])
        offset[: self.axes.shape[1]] = self._origin
        return offset

    def _split(self, Z: Any, prepare: Preprocessing) -> tuple[Array, Array, Array]:
        """Scores, squared errors and sizes."""
        Y, (size, whole) = prepare.times(Z, self.axes), prepare.sizes(Z)
        error = size - row_squares(Y)
        if not isinstance(error, np.ndarray):
            return Y, self._uncancelled(Z, error, whole), size
        close = np.flatnonzero(error < CANCELS * whole)
        if len(close):
            rest = prepare(Z[close])
            residual = rest - (rest @ self.axes) @ self.axes.T
            error[close] = np.einsum("ij,ij->i", residual, residual)
        return Y, error, size

    def _uncancelled(self, Z: Any, error: Any, whole: Any) -> Any:
        """Squared errors on a device; where differences cancel, by decoding."""
        xp = namespace(Z)
        close = error < CANCELS * whole
        if not bool(xp.any(close)):
            return error
        axes = beside(self.axes, Z)
        return xp.where(close, row_squares(Z - (Z @ axes) @ axes.T), error)

    def _working(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """What to compute in: float32 for results of that type, where it has room for all that is multiplied."""
        size = times_power(self.deviations[:1], self.power) if self.scale is None else self.scale
        ordinary = ((size == 0) | ((size > 1 / ROOM) & (size < ROOM))).all()
        return np.dtype(np.float32 if dtype == np.float32 and ordinary else np.float64)

    def _ready(self, block: Block) -> tuple[Any, Preprocessing]:
        """Rows that are preprocessed already, or sparse ones with how that is done, in the unit of faint ones."""
        if not self.faint:
            prepare = self.preprocessing(FLOAT64)
            plain = isinstance(block, np.ndarray) or is_device_array(block)
            return (prepare(block), Preprocessing()) if plain else (block, prepare)
        factor = np.full(len(self.axes), 1 / self.unit)
        if isinstance(block, np.ndarray):
            Z = Preprocessing(self.mean, None, factor)(block)
            return (Z if self.remainder is None else Z - self.remainder), Preprocessing()
        mean = None if self.mean is None else self.mean * factor
        return Preprocessing(None, None, factor).uncentred(block), Preprocessing(mean, self.remainder)

    def preprocessing(self, dtype: np.dtype[Any]) -> Preprocessing:
        """z = (x − mean)/scale for rows that are computed with in that precision."""
        return Preprocessing.split(self.mean, self._low, self._weight, dtype)

    @property
    def _low(self) -> Array | None:
        """The remainder of the mean in the units of the data."""
        return self.remainder if self.remainder is None or self.unit == 1 else self.remainder * self.unit

    @property
    def total_error(self) -> float:
        """Σ over the training rows of their squared error: (n − ddof) times the variance left out."""
        if self.n_rows is None:
            raise DataError("a model made from a covariance does not know how many rows there were; pass n_rows")
        return (self.n_rows - self.ddof) * self.left_out

    def _check_width(self, rows: Rows) -> None:
        if rows.shape[1] != len(self.axes):
            raise DataError(f"X has {rows.shape[1]} columns, but the model was learned from {len(self.axes)}")

    def _each(
        self, rows: Rows, f: Callable[[Block], Array], dtype: np.dtype[Any] = FLOAT64, columns: int | None = None
    ) -> Generator[Array, None, None]:
        self._check_width(rows)
        densely = rows.sparse and self._densely()
        rows = rows.on_cpu() if self.faint else rows

        def quietly(block: Block) -> Array:
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                exact = f(dense(block) if densely else block)
                if not isinstance(exact, np.ndarray):
                    return exact
                out = exact.astype(dtype, copy=False)  # here, so that what waits takes no more memory than it has to
            return out if out is exact or np.isfinite(out).all() else exact

        for out in rows.each(quietly, columns=columns):
            if not isinstance(out, np.ndarray):  # looked at already
                yield out
                continue
            # Any NaN or infinity in a row reaches its result; only then is the data searched for the place.
            if not np.isfinite(out).all():
                check_finite(rows)
            yield delivered(out, dtype)


def _affine(S: Array, axes: Array, mean: Array) -> Array:  # (m, k), (d, k), (d,) -> (m, d)
    """S Uᵀ + mean, the mean as one more axis: to add it afterwards takes half as long as the product."""
    m, k = S.shape
    left, right = np.empty((m, k + 1)), np.empty((k + 1, len(mean)))
    left[:, :k], left[:, k], right[:k], right[k] = S, 1.0, axes.T, mean
    return left @ right


def _as_scores(f: Callable[[Array], Array], rows: Rows, block: Any, found: Any, dtype: np.dtype[Any]) -> Any:
    """Scores of a block on a device in their type. One look at the sizes of all tells whether none leaves the range:
    every look waits for the device."""
    xp = namespace(found)
    sizes = xp.max(xp.abs(found), axis=1)
    if bool(xp.all((sizes > LEAST[FLOAT64]) & (sizes < float(np.finfo(dtype).max)))):
        return in_type(found, dtype)
    exact = _patched(f, block, found)
    if not all_finite(exact):
        check_finite(rows)
    return narrowed(exact, dtype)


def _patched(f: Callable[[Array], Array], block: Any, found: Any, sized: Any = None) -> Any:
    """What was found of a block on a device, with f of those rows on the CPU whose numbers leave the range."""
    xp = namespace(found)
    sizes = xp.max(xp.abs(found if sized is None else sized), axis=1)
    outside = ~((sizes > LEAST[FLOAT64]) & (sizes < (np.inf if sized is None else 1 / LEAST[FLOAT64])))
    if not bool(xp.any(outside)):
        return found
    far, out = np.flatnonzero(on_host(outside)), np.array(on_host(found))
    out[far] = f(taken(block, far))
    return beside(out, found)

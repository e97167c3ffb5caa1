"""Moments: count, mean and scatter of rows in one pass, shifted block by block and mergeable.

Every block is shifted by a provisional mean inside its buffer, so the products never see the offset of the data;
only the small remainder δ between the provisional and the true mean is corrected afterwards. Forming XᵀX − n μμᵀ
instead loses all digits once the offset reaches 10⁸ standard deviations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg import Array, add_squares, add_upper, column_norms, cross, gamma, mirrored, times
from ritz.preprocessing import Preprocessing
from ritz.rows import Rows
from ritz.rows.base import Block
from ritz.rows.finite import check_finite
from ritz.threads import scratch

FILLED = 0.05  # share of entries from which a sparse block is multiplied by itself as a dense one
FAR = 1e30  # times a unit, beyond which a square is not summed in it
SAMPLE = 1024  # rows averaged into the provisional mean, fewer where they are wide
WIDE = 1 << 16  # entries of that sample
# Narrow data is multiplied in float32 where there is much of it and the rows are wide enough to pay for an audit.
NARROW_ENTRIES, NARROW_COLUMNS = 1 << 22, 64
CHAIN = 6  # blocks whose float32 products are summed before they are added to the rest in float64
# For a Gaussian g, ‖E g‖ ≥ |uᵀg| ‖E‖, so that six of them all stay below ‖E‖/8 with probability (0.8/8)⁶ = 1e-6
# (after Halko, Martinsson and Tropp, SIAM Review 53, 2011, §4.3).
PROBES, PROBE_FACTOR = 6, 8.0
# Sums of squares outside these limits are rescaled: eigenvalues, and squares of their errors, must stay in range.
SAFE_SQUARES = {np.dtype(np.float32): (1e-25, 1e35), np.dtype(np.float64): (1e-60, 1e60)}


@dataclass(frozen=True)
class Moments:
    """Count, mean and scatter Σ (x−μ)(x−μ)ᵀ of rows, in units where no square overflows.

    Attributes
    ----------
    count : int
    shift, delta : arrays of length d; the mean is their sum
    scatter : (d, d) array, or (d,) for its diagonal alone
    unit : array of length d, powers of two; the scatter is that of (x − μ)/unit
    sizes : array of length d, Σ (x − shift)² per column: what the rounding errors scale with
    rounding : c, so that the error E of float64 sums obeys ‖W E W‖₂ ≤ c Σ wᵢ² sizesᵢ for every diagonal W
    audit : bound on ‖E‖₂ of float32 products, or on ‖W E W‖₂ with W = 1/√diagonal when scaled, found by multiplying
        random vectors in float64 during the same walk; 0 for float64 products, which have only `rounding`
    scaled : whether `audit` is in those units
    centred : whether the scatter is about the mean; else it is Σ x xᵀ
    rough : whether the scatter, but for its diagonal, is that of float32 products that nobody audited
    """

    count: int
    shift: Array
    delta: Array
    scatter: Array
    unit: Array
    sizes: Array
    rounding: float
    audit: float = 0.0
    scaled: bool = False
    rough: bool = False
    centred: bool = True

    @property
    def mean(self) -> Array:
        return self.shift + self.delta

    @property
    def diagonal(self) -> Array:
        return _diagonal(self.scatter)

    def merge(self, other: Moments) -> Moments:
        """The moments of both sets of rows together (Chan, Golub and LeVeque 1979)."""
        if self.centred != other.centred:
            raise DataError("moments about the mean and about 0 do not add up: center was changed in between")
        count = self.count + other.count
        # The difference of the means, taken word by word: their large parts cancel exactly or nearly so.
        step = (other.shift - self.shift) + (other.delta - self.delta)
        unit = _common_unit(self, other, step)
        ours, theirs = self.rescaled(unit), other.rescaled(unit)
        jump = step / unit * np.sqrt(self.count * other.count / count)
        spread = jump**2 if ours.scatter.ndim == 1 else np.outer(jump, jump)
        return replace(
            ours,
            count=count,
            delta=self.delta + step * (other.count / count),
            scatter=ours.scatter + theirs.scatter + spread,
            sizes=ours.sizes + theirs.sizes + jump**2,
            rounding=max(self.rounding, other.rounding) + gamma(8),
            audit=self.audit + other.audit,
        )

    def rescaled(self, unit: Array) -> Moments:
        """The same moments in other units."""
        ratio = np.minimum(self.unit / unit, FAR)
        sizes = self.sizes * ratio**2
        ratio = np.where(self.diagonal > 0, ratio, 0.0)  # a column without spread has none in any unit
        scatter = self.scatter * (ratio**2 if self.scatter.ndim == 1 else np.outer(ratio, ratio))
        return replace(self, scatter=scatter, sizes=sizes, unit=unit)


def _common_unit(a: Moments, b: Moments, step: Array) -> Array:
    """Units for both: those of columns without spread do not count, and squares of the step must be in range."""
    unit = np.maximum(np.where(a.diagonal > 0, a.unit, 0.0), np.where(b.diagonal > 0, b.unit, 0.0))
    size = np.abs(step)
    power = np.ldexp(1.0, np.clip(np.frexp(size)[1], -1021, 1021))
    far = (size > FAR * unit) & (size > 0) & ((unit > 0) | (size > FAR) | (size < 1 / FAR))
    unit = np.where(far, power, unit)
    known = unit[unit > 0]
    return np.where(unit > 0, unit, 1.0 if not len(known) or (known == 1).any() else known.max())


def moments(
    rows: Rows,
    *,
    center: bool = True,
    full: bool = True,
    scale: bool = False,
    wide: bool = False,
    rough: bool = False,
) -> Moments:
    """Moments of rows in one pass; a second one only where squares would overflow or underflow.

    Parameters
    ----------
    center : subtract the mean; without it the scatter is Σ x xᵀ and the mean is 0
    full : the whole d×d scatter, or its diagonal alone
    scale : columns will be scaled to unit variance, so float32 errors are audited in those units
    wide : float64 products even where the data is float32
    rough : float32 products whatever the data is, to be judged by whoever uses them

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.rows import as_rows
    >>> m = moments(as_rows(1e8 + np.array([[1.0], [2.0], [3.0]])))
    >>> float(m.scatter[0, 0])
    2.0
    """
    dtype = product_dtype(rows) if full and not wide else np.dtype(np.float64)
    if rough:
        dtype = np.dtype(np.float32)
    shift, spread = provisional_mean(rows, dtype)
    if not center or rows.sparse:
        shift = np.zeros(rows.shape[1])
    unit = np.ones(rows.shape[1])
    if scale and not rough and not (spread > 0).all():
        dtype = np.dtype(np.float64)  # the audit needs to know the units beforehand
    none = np.empty((rows.shape[1], 0))
    probes = _probes(spread if scale else unit) if dtype == np.float32 and not rough else none
    sums = _sums(rows, shift, unit, full, probes, rough)
    if not np.isfinite(sums.total).all():
        check_finite(rows)
    peaks = _peaks_of_unsafe(rows, shift, sums, dtype)
    if peaks.any():
        power = np.ldexp(1.0, np.clip(np.frexp(peaks)[1], -1021, 1021))
        unit = np.where(peaks > 0, power, power[peaks > 0].max())  # constant columns must not decide the unit
        probes = none
        sums = _sums(rows, shift, unit, full, probes, rough)
        if not np.isfinite(sums.total).all():
            raise DataError("differences between entries overflow float64; divide the data by its largest entry")
    audit = _audit(sums, probes, spread if scale else None) if probes.size else 0.0
    return replace(_about_the_mean(sums, shift, unit, center), audit=audit, scaled=scale, rough=rough, centred=center)


def provisional_mean(rows: Rows, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Mean and spread of rows taken all over the data; the mean is representable in dtype, so that x − shift is exact.

    Where all the sampled values agree it is that value itself, so that a constant column shifts to exact zeros.
    """
    n, d = rows.shape
    if rows.sparse:
        return np.zeros(d), np.ones(d)
    size = min(n, SAMPLE, max(16, WIDE // d))
    sample = rows.sample(size).astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        mean = np.mean(sample / len(sample), axis=0) * len(sample)
        mean = np.where((sample == sample[0]).all(axis=0), sample[0], mean)
        narrow = rows.dtype if rows.dtype.kind == "f" else dtype
        mean = mean.astype(narrow).astype(np.float64)
        return mean, np.sqrt(np.mean(np.square(sample - mean), axis=0))


@dataclass
class _Sums:
    """Sums over runs of blocks of z = (x − shift)/unit."""

    count: int
    total: Array  # (d,) Σ z
    scatter: Array  # (d, d) or (d,) Σ z zᵀ; of a matrix, the upper triangle
    terms: int  # the longest chain of additions behind an entry of the scatter
    probed: Array  # (d, t) Σ z (zᵀ G), in float64
    squares: Array | float = 0.0  # (d,) Σ z², in float64 beside float32 products

    def add(self, Z: Array) -> None:
        """Count a block and add up its rows."""
        self.count += Z.shape[0]
        self.terms += 1
        self.total += np.ones(Z.shape[0]) @ Z

    def absorb(self, other: _Sums) -> _Sums:
        """Add another run to this one, in place: the scatter may be large."""
        self.count += other.count
        self.total += other.total
        if self.scatter.ndim == 1:
            self.scatter += other.scatter
        else:
            add_upper(other.scatter, self.scatter)
        self.terms = max(self.terms, other.terms) + 1
        self.probed += other.probed
        return self

    @property
    def parts(self) -> tuple[Any, ...]:
        """All fields, as plain values that a journal can keep."""
        return self.count, self.total, self.scatter, self.terms, self.probed, self.squares

    @classmethod
    def absorbed(cls, ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> tuple[Any, ...]:
        return cls(*ours).absorb(cls(*theirs)).parts

    @property
    def diagonal(self) -> Array:
        return _diagonal(self.scatter)


def _diagonal(scatter: Array) -> Array:
    """The diagonal of a scatter, which may be all of it that was kept."""
    return scatter if scatter.ndim == 1 else np.diagonal(scatter)


def product_dtype(rows: Rows) -> np.dtype[Any]:
    """float32 where the data holds no more digits and there is enough of it to matter, else float64."""
    n, d = rows.shape
    pays = n * d >= NARROW_ENTRIES and d > NARROW_COLUMNS and not rows.sparse
    return np.dtype(np.float32 if rows.narrow and pays else np.float64)


def _sums(rows: Rows, shift: Array, unit: Array, full: bool, probes: Array, rough: bool) -> _Sums:
    """Sums over all rows; with probes, products run in float32 and the probes tell what that did."""
    prepare = Preprocessing(shift if shift.any() else None, None, 1 / unit if (unit != 1).any() else None)

    def run(blocks: Iterable[Block]) -> _Sums:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            if not full:
                return _diagonals(blocks, prepare, rows)
            narrow = rough or probes.size
            return _narrow(blocks, prepare, rows, probes) if narrow else _scatters(blocks, prepare, rows)

    sums = _Sums(*rows.reduce(lambda blocks: run(blocks).parts, _Sums.absorbed, thin=not full))
    if full:
        mirrored(sums.scatter)
    return sums


def _diagonals(blocks: Iterable[Block], prepare: Preprocessing, rows: Rows) -> _Sums:
    """Sums of z and of z² over consecutive blocks."""
    step, d = rows.thin_rows, rows.shape[1]
    sums = _Sums(0, np.zeros(d), np.zeros(d), step, np.zeros((d, 0)))
    buffer = scratch("block", 1 if rows.sparse else step, d)
    for block in blocks:
        Z: Any = prepare.uncentred(block) if rows.sparse else prepare(block, buffer)
        sums.add(Z)
        squares = Z.power(2) if rows.sparse else np.square(Z, out=Z)
        sums.scatter += np.ones(Z.shape[0]) @ squares
    return sums


def _scatters(blocks: Iterable[Block], prepare: Preprocessing, rows: Rows) -> _Sums:
    """Sums of z and z zᵀ over consecutive blocks, in float64."""
    step, d = rows.block_rows, rows.shape[1]
    sums = _Sums(0, np.zeros(d), np.zeros((d, d)), step, np.zeros((d, 0)))
    buffer = scratch("block", step, d)
    for block in blocks:
        Z = prepare.uncentred(block) if rows.density < FILLED else prepare(block, buffer)
        sums.add(Z)
        add_squares(Z, sums.scatter)
    return sums


def _narrow(blocks: Iterable[Block], prepare: Preprocessing, rows: Rows, probes: Array) -> _Sums:
    """The same with products in float32 and, beside them in float64, those of the probes and the diagonal."""
    step, d = rows.block_rows, rows.shape[1]
    sums = _Sums(0, np.zeros(d), np.zeros((d, d)), step, np.zeros(probes.shape), np.zeros(d))
    buffer, narrow = scratch("block", step, d), scratch("narrow", step, d, np.float32)
    product, products = scratch("product", d, d, np.float32), 0
    for block in blocks:
        Z = prepare(block, buffer)
        sums.add(Z)
        thin = narrow[: len(Z)]
        thin[...] = Z
        add_squares(thin, product, keep=products > 0)
        products = (products + 1) % CHAIN
        if not products:
            add_upper(product, sums.scatter)
        if probes.size:
            sums.probed += cross(Z, times(Z, probes))
        sums.squares += np.ones(len(Z)) @ np.square(Z, out=Z)
    if products:
        add_upper(product, sums.scatter)
    np.fill_diagonal(sums.scatter, sums.squares)  # the trace is only as good as the diagonal
    return sums


def _probes(spread: Array) -> Array:
    """Gaussian vectors, in units of the columns."""
    return np.random.default_rng(0).standard_normal((len(spread), PROBES)) / spread[:, None]


def _audit(sums: _Sums, probes: Array, spread: Array | None) -> float:
    """Bound on the error of float32 products from what they and float64 say about the same vectors, over all rows."""
    error = sums.scatter @ probes - sums.probed
    if spread is None:
        return float(PROBE_FACTOR * np.max(column_norms(error)))
    deviation = np.sqrt(np.maximum(sums.diagonal, np.finfo(float).tiny))
    # The probes were scaled by the spread of a sample; its ratio to the deviation found carries them over.
    ratio = float(np.max(spread / deviation))
    return float(PROBE_FACTOR * np.max(column_norms(error / deviation[:, None]))) * ratio


def _peaks_of_unsafe(rows: Rows, shift: Array, sums: _Sums, dtype: np.dtype[Any]) -> Array:
    """Largest |x − shift|/2 per column if squares may have overflowed or underflowed, else zeros."""
    low, high = SAFE_SQUARES[dtype]
    diagonal = sums.diagonal
    peaks: Array = np.zeros(len(diagonal))

    def largest(columns: NDArray[np.bool_], blocks: Iterable[Block]) -> Array:
        if rows.sparse:
            return np.max([0.5 * abs(block).max(axis=0).toarray()[columns] for block in blocks], axis=0)
        # Halving first keeps the difference of two huge values finite.
        halves = (block[:, columns].astype(np.float64) * 0.5 - shift[columns] * 0.5 for block in blocks)
        return np.max([np.abs(half).max(axis=0) for half in halves], axis=0)

    small = diagonal < low
    if small.any():  # constant columns land here too; only their own entries are read again
        peaks[small] = rows.reduce(lambda blocks: largest(small, blocks), np.maximum)
    if peaks.any() or not (diagonal < high).all():
        peaks = rows.reduce(lambda blocks: largest(np.ones_like(small), blocks), np.maximum)
    return peaks


def _about_the_mean(sums: _Sums, shift: Array, unit: Array, center: bool) -> Moments:
    """Correct the remainder δ of the shift, and bound what rounding did to the scatter."""
    delta = sums.total / sums.count if center else np.zeros_like(sums.total)
    remainder = delta * np.sqrt(sums.count)
    scatter = sums.scatter
    sizes = sums.diagonal.copy()
    if scatter.ndim == 1:
        scatter -= remainder**2
        np.maximum(scatter, 0.0, out=scatter)
    else:
        scatter -= np.outer(remainder, remainder)
        np.fill_diagonal(scatter, np.maximum(np.diagonal(scatter), 0.0))
    return Moments(sums.count, shift, delta * unit, scatter, unit, sizes, 4 * gamma(sums.terms + 8))

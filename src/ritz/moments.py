"""Moments: count, mean and scatter of rows in one pass, shifted block by block and mergeable.

Every block is shifted by a provisional mean inside its buffer, so the products never see the offset of the data;
only the small remainder δ between the provisional and the true mean is corrected afterwards. Forming XᵀX − n μμᵀ
instead loses all digits once the offset reaches 10⁸ standard deviations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg import Array, gamma, norm_estimate
from ritz.preprocessing import Preprocessing
from ritz.rows import Rows
from ritz.rows.base import Block
from ritz.rows.finite import check_finite

SAMPLE = 1024  # rows averaged into the provisional mean
NARROW = 1 << 22  # entries from which narrow data is multiplied in float32, checked by an audit
AUDITED = 8  # samples of float32 products that are recomputed in float64
SAFETY = 4.0  # how much worse than the audited sample the rest may be
# Sums of squares outside these limits may have lost digits to underflow or overflow.
SAFE_SQUARES = {np.dtype(np.float32): (1e-25, 1e35), np.dtype(np.float64): (1e-240, 1e240)}


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
    rounding : c, so that the scatter's error E obeys ‖W E W‖₂ ≤ c Σ wᵢ² sizesᵢ for W = I and W = 1/σ
    audited : whether that bound rests on recomputed samples (float32 products) instead of a worst case
    """

    count: int
    shift: Array
    delta: Array
    scatter: Array
    unit: Array
    sizes: Array
    rounding: float
    audited: bool = False

    @property
    def mean(self) -> Array:
        return self.shift + self.delta

    @property
    def diagonal(self) -> Array:
        return self.scatter if self.scatter.ndim == 1 else np.diagonal(self.scatter)

    def merge(self, other: Moments) -> Moments:
        """The moments of both sets of rows together (Chan, Golub and LeVeque 1979)."""
        count = self.count + other.count
        unit = np.maximum(self.unit, other.unit)
        ours, theirs = self.rescaled(unit), other.rescaled(unit)
        # The difference of the means, taken word by word: their large parts cancel exactly or nearly so.
        step = (other.shift - self.shift) + (other.delta - self.delta)
        jump = step / unit * np.sqrt(self.count * other.count / count)
        spread = jump**2 if ours.scatter.ndim == 1 else np.outer(jump, jump)
        return replace(
            ours,
            count=count,
            delta=self.delta + step * (other.count / count),
            scatter=ours.scatter + theirs.scatter + spread,
            sizes=ours.sizes + theirs.sizes + jump**2,
            rounding=max(self.rounding, other.rounding) + gamma(8),
            audited=self.audited or other.audited,
        )

    def rescaled(self, unit: Array) -> Moments:
        """The same moments in other units."""
        ratio = self.unit / unit
        scatter = self.scatter * (ratio**2 if self.scatter.ndim == 1 else np.outer(ratio, ratio))
        return replace(self, scatter=scatter, sizes=self.sizes * ratio**2, unit=unit)


def moments(rows: Rows, *, center: bool = True, full: bool = True, wide: bool = False) -> Moments:
    """Moments of rows in one pass; a second one only where squares would overflow or underflow.

    Parameters
    ----------
    center : subtract the mean; without it the scatter is Σ x xᵀ and the mean is 0
    full : the whole d×d scatter, or its diagonal alone
    wide : float64 products even where the data is float32

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.rows import as_rows
    >>> m = moments(as_rows(1e8 + np.array([[1.0], [2.0], [3.0]])))
    >>> float(m.scatter[0, 0])
    2.0
    """
    shift = provisional_mean(rows) if center else np.zeros(rows.shape[1])
    unit = np.ones(rows.shape[1])
    dtype = product_dtype(rows) if full and not wide else np.dtype(np.float64)
    sums = _sums(rows, shift, unit, full, dtype)
    if not np.isfinite(sums.total).all():
        check_finite(rows)
    peaks = _peaks_of_unsafe(rows, shift, sums, dtype)
    if peaks.any():
        unit = np.where(peaks > 0, np.ldexp(1.0, np.clip(np.frexp(peaks)[1], -1021, 1021)), 1.0)
        dtype = np.dtype(np.float64)
        sums = _sums(rows, shift, unit, full, dtype)
        if not np.isfinite(sums.total).all():
            raise DataError("differences between entries overflow float64; divide the data by its largest entry")
    error = _audit(rows, shift) if dtype == np.float32 else 0.0
    return _about_the_mean(sums, shift, unit, center, error)


def provisional_mean(rows: Rows) -> Array:
    """Mean of rows spread over the data, representable in its dtype so that x − shift is (nearly) exact.

    Where all the sampled values agree it is that value itself, so that a constant column shifts to exact zeros.
    """
    n = rows.shape[0]
    sample = rows.take(np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.intp))).astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        mean = np.mean(sample / len(sample), axis=0) * len(sample)
        mean = np.where((sample == sample[0]).all(axis=0), sample[0], mean)
        if rows.dtype.kind == "f":
            mean = mean.astype(rows.dtype).astype(np.float64)
    return mean


@dataclass
class _Sums:
    """Sums over runs of blocks of z = (x − shift)/unit."""

    count: int
    total: Array  # (d,) Σ z
    scatter: Array  # (d, d) or (d,) Σ z zᵀ
    terms: int  # the longest chain of additions behind an entry of the scatter

    def absorb(self, other: _Sums) -> _Sums:
        """Add another run to this one, in place: the scatter may be large."""
        self.count += other.count
        self.total += other.total
        self.scatter += other.scatter
        self.terms = max(self.terms, other.terms) + 1
        return self

    @property
    def diagonal(self) -> Array:
        return self.scatter if self.scatter.ndim == 1 else np.diagonal(self.scatter)


def product_dtype(rows: Rows) -> np.dtype:
    """float32 where the data holds no more digits and there is enough of it to matter, else float64."""
    exact = np.result_type(rows.dtype, np.float32) == np.float32
    return np.dtype(np.float32 if exact and rows.shape[0] * rows.shape[1] >= NARROW else np.float64)


def _sums(rows: Rows, shift: Array, unit: Array, full: bool, dtype: np.dtype) -> _Sums:
    prepare = Preprocessing(shift if shift.any() else None, None, 1 / unit if (unit != 1).any() else None)

    def run(blocks: Iterable[Block]) -> _Sums:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            return _run(blocks, prepare, np.empty((rows.block_rows, rows.shape[1]), dtype), full)

    return rows.reduce(run, _Sums.absorb)


def _run(blocks: Iterable[Block], prepare: Preprocessing, buffer: Array, full: bool) -> _Sums:
    """The sums over consecutive blocks, accumulated in float64."""
    terms, d = buffer.shape
    product = np.empty((d, d), buffer.dtype) if full else None
    count, total, scatter = 0, np.zeros(d), np.zeros((d, d) if full else d)
    for block in blocks:
        Z = prepare(block, buffer)
        if product is None:
            scatter += np.einsum("ij,ij->j", Z, Z)
        else:
            scatter += np.matmul(Z.T, Z, out=product)
        total += column_sums(Z)
        count += len(block)
        terms += 1
    return _Sums(count, total, scatter, terms)


def _audit(rows: Rows, shift: Array) -> float:
    """The relative error of float32 products, from samples recomputed in float64.

    One whole block and a few short ones, about a hundredth of the work. Errors that differ from block to block
    average out in the sum over all blocks, errors that repeat do not: the error of the summed samples tells which.
    """
    n, d = rows.shape
    prepare, count = Preprocessing(shift), int(np.clip((1 << 21) // d**2, 2, AUDITED))
    short = min(rows.block_rows, max(64, min(1024, n // 1600)))
    samples = [
        (0, rows.block_rows),
        *((start, short) for start in np.linspace(0, n - short, count).astype(int)[1:]),
    ]
    error, truth, first = np.zeros((d, d)), np.zeros((d, d)), 0.0
    for start, length in samples:
        block = rows.block(start, start + length)
        narrow, wide = prepare(block, np.empty(block.shape, np.float32)), prepare(block)
        exact = wide.T @ wide
        truth += exact
        exact -= narrow.T @ narrow
        error += exact
        first = first or _relative(error, truth)
    return max(_relative(error, truth), first / np.sqrt(count))


def _relative(error: Array, truth: Array) -> float:
    """Norm of an error relative to the trace, as it is or with unit diagonal, whichever is larger."""
    sizes = np.diagonal(truth)
    scale = 1 / np.sqrt(np.where(sizes > 0, sizes, np.inf))
    scaled = norm_estimate(error * scale * scale[:, None]) / len(sizes)
    return max(norm_estimate(error) / max(float(np.sum(sizes)), 1e-300), scaled)


def column_sums(Z: Array) -> Array:
    """Σ over rows, in float64; float32 sums only ever span 64 rows."""
    if Z.dtype == np.float64:
        return np.ones(len(Z)) @ Z
    whole = len(Z) // 64 * 64
    sums = Z[:whole].reshape(-1, 64, Z.shape[1]).sum(axis=1).sum(axis=0, dtype=np.float64)
    return sums + Z[whole:].sum(axis=0, dtype=np.float64)


def _peaks_of_unsafe(rows: Rows, shift: Array, sums: _Sums, dtype: np.dtype) -> Array:
    """Largest |x − shift|/2 per column if squares may have overflowed or underflowed, else zeros."""
    low, high = SAFE_SQUARES[dtype]
    diagonal = sums.diagonal
    peaks: Array = np.zeros(len(diagonal))

    def largest(columns: NDArray[np.bool_], blocks: Iterable[Block]) -> Array:
        # Halving first keeps the difference of two huge values finite.
        halves = (block[:, columns].astype(np.float64) * 0.5 - shift[columns] * 0.5 for block in blocks)
        return np.max([np.abs(half).max(axis=0) for half in halves], axis=0)

    small = diagonal < low
    if small.any():  # constant columns land here too; only their own entries are read again
        peaks[small] = rows.reduce(lambda blocks: largest(small, blocks), np.maximum)
    if peaks.any() or not (diagonal < high).all():
        peaks = rows.reduce(lambda blocks: largest(np.ones_like(small), blocks), np.maximum)
    return peaks


def _about_the_mean(sums: _Sums, shift: Array, unit: Array, center: bool, error: float) -> Moments:
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
    rounding = 4 * gamma(sums.terms + 8) + SAFETY * error
    return Moments(sums.count, shift, delta * unit, scatter, unit, sizes, rounding, error > 0)

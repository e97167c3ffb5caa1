"""Moments: count, mean and scatter of rows in one pass, shifted block by block and mergeable.

Every block is shifted by a provisional mean inside its buffer, so the products never see the offset of the data;
only the small remainder δ between the provisional and the true mean is corrected afterwards. Forming XᵀX − n μμᵀ
instead loses all digits once the offset reaches 10⁸ standard deviations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg.dense import TILE, Array, column_squares, diagonal_of, gamma, qr_terms, r_factor
from ritz.moments.accumulate import PROBES, Scatter, Sums, audited, scatter_dtype, sums_of
from ritz.moments.preprocessing import (
    SAMPLE,
    SPREAD,
    Preprocessing,
    check_differences,
    coarse,
    few_rows,
    peaks,
    power_near,
    provisional_mean,
    spread_about,
    two_words,
    units,
)
from ritz.rows import Rows, check_finite

FAR = 1e30  # times a unit, beyond which a square is not summed in it
# Sums of squares outside these limits are rescaled: eigenvalues, and squares of their errors, must stay in range.
SAFE_SQUARES = {np.dtype(np.float32): (1e-25, 1e35), np.dtype(np.float64): (1e-60, 1e60)}


@dataclass(frozen=True)
class Moments:
    """Count, mean and scatter Σ (x−μ)(x−μ)ᵀ of rows, in units where no square overflows.

    Attributes
    ----------
    count : int
    shift, delta : arrays of length d; the mean is shift + delta·unit. What lies between float64's numbers is kept in
        units, where it has all its digits even if the mean itself has few
    scatter : (d, d) array, or (d,) for its diagonal alone
    unit : array of length d, powers of two; the scatter is that of (x − μ)/unit
    sizes : array of length d, Σ (x − shift)² per column: what the rounding errors scale with
    rounding : c, so that the error E of float64 sums obeys ‖W E W‖₂ ≤ c Σ wᵢ² sizesᵢ for every diagonal W
    audit : bound on ‖E‖₂ of float32 products, or on ‖W E W‖₂ with W = 1/√diagonal when scaled, found by multiplying
        random vectors in float64 during the same pass; 0 for float64 products, which have only `rounding`
    scaled : whether `audit` is in those units
    centred : whether the scatter is about the mean; else it is Σ x xᵀ
    rough : whether the scatter, but for its diagonal, is that of float32 products that nobody audited
    triangle : (p, d) R factor, RᵀR = the scatter, of which only the diagonal is then kept. It was never squared:
        together with count and mean it is that of rows which differ from the given ones, column by column, by at most
        √sizes·rounding/2
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
    triangle: Array | None = None

    @property
    def mean(self) -> Array:
        return self.shift + self.delta * self.unit

    def mean_and_remainder(self, unit: float) -> tuple[Array, Array]:
        """The mean as a float64, and what it lacks as that, in a unit; it may leave the range of float64 on the way."""
        mean, rest = two_words(self.shift, self.delta, self.unit)
        rest *= self.unit / unit
        if not math.isfinite(rest.dot(rest)):
            rest = np.where(np.isfinite(rest), rest, 0.0)  # of a column that cannot matter in that unit
        return mean, rest

    @property
    def diagonal(self) -> Array:
        return diagonal_of(self.scatter)

    def merge(self, other: Moments) -> Moments:
        """The moments of both sets of rows together (Chan, Golub and LeVeque 1979); R factors if both have them."""
        if self.centred != other.centred:
            raise DataError("moments about the mean and about 0 cannot be merged: center was changed in between")
        if (self.triangle is None) != (other.triangle is None):
            return self.formed().merge(other.formed())
        if other.count > self.count:  # the mean moves by the smaller step, which is rounded less
            return other.merge(self)
        count = self.count + other.count
        unit = _common_unit(self, other)
        ours, theirs = self.rescaled(unit), other.rescaled(unit)
        step = steps(ours, theirs)
        jump = step * np.sqrt(self.count * other.count / count)
        shift, delta = two_words(ours.shift, ours.delta + step * (other.count / count), unit)
        both = replace(
            ours,
            count=count,
            shift=shift,
            delta=delta,
            sizes=ours.sizes + theirs.sizes + jump**2,
            rounding=max(self.rounding, other.rounding) + gamma(8),
            audit=self.audit + other.audit,
        )
        if ours.triangle is None or theirs.triangle is None:
            spread = jump**2 if ours.scatter.ndim == 1 else np.outer(jump, jump)
            return replace(both, scatter=ours.scatter + theirs.scatter + spread)
        # The correction row holds the same spread between the means.
        R = r_factor(ours.triangle, theirs.triangle, *([jump[None]] if self.centred else []))
        rounding = both.rounding + 2 * gamma(qr_terms(2 * len(jump) + 1, len(jump)))
        return replace(both, scatter=column_squares(R), triangle=R, rounding=rounding)

    def rescaled(self, unit: Array) -> Moments:
        """The same moments in other units."""
        with np.errstate(over="ignore", under="ignore"):
            ratio = np.minimum(self.unit / unit, FAR)
            sizes = self.sizes * ratio**2
            near = ratio < FAR  # a larger one is that of a column without spread, whose mean needs one word
            shift, delta = np.where(near, self.shift, self.mean), np.where(near, self.delta * ratio, 0.0)
            ratio = np.where(self.sizes > 0, ratio, 0.0)  # a column without spread has none in any unit
            scatter = self.scatter * (ratio**2 if self.scatter.ndim == 1 else np.outer(ratio, ratio))
            R = None if self.triangle is None else self.triangle * ratio
        return replace(self, shift=shift, delta=delta, scatter=scatter, sizes=sizes, unit=unit, triangle=R)

    def reordered(self, order: NDArray[np.intp]) -> Moments:
        """The same moments of columns in another order."""
        parts = {name: getattr(self, name)[order] for name in ("shift", "delta", "unit", "sizes")}
        scatter = self.scatter[order] if self.scatter.ndim == 1 else self.scatter[np.ix_(order, order)]
        R = None if self.triangle is None else self.triangle[:, order]
        return replace(self, scatter=scatter, triangle=R, **parts)

    def formed(self) -> Moments:
        """The same moments with the whole scatter instead of its R factor."""
        R = self.triangle
        if R is None:
            return self
        return replace(self, scatter=R.T @ R, triangle=None, rounding=self.rounding + gamma(len(self.mean) + 8))


def steps(a: Moments, b: Moments) -> Array:
    """From the mean of one to that of the other, in the units of both, word by word: the large parts cancel exactly or
    nearly so."""
    return (b.shift - a.shift) / a.unit + (b.delta - a.delta)


def _common_unit(a: Moments, b: Moments) -> Array:
    """Units for both: those of columns without spread do not count, and squares of the step must be in range."""
    # By sizes, not by the diagonal: where rounding left a variance of 0, covariances may be well above rounding.
    unit = np.maximum(np.where(a.sizes > 0, a.unit, 0.0), np.where(b.sizes > 0, b.unit, 0.0))
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        size = np.abs((b.shift - a.shift) + (b.delta * b.unit - a.delta * a.unit))
        check_differences(size)
        far = (size > FAR * unit) & ((unit > 0) | (size > FAR) | (size < 1 / FAR))
    unit = np.where(far & (size > 0), power_near(size), unit)
    unit = np.where((unit == 0) & (size > 0), 1.0, unit)
    known = unit[unit > 0]
    return np.where(unit > 0, unit, 1.0 if not len(known) or (known == 1).any() else known.max())


def moments(rows: Rows, *, center: bool = True, scale: bool = False, scatter: Scatter = Scatter.AUDITED) -> Moments:
    """Moments of rows in one pass; a second one only where squares would overflow or underflow.

    Parameters
    ----------
    center : subtract the mean; without it the scatter is Σ x xᵀ and the mean is 0
    scale : columns will be scaled to unit variance, so float32 errors are audited in those units
    scatter : how much of it is summed, and how; AUDITED stands for FLOAT64 where float32 would not pay

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.rows import as_rows
    >>> m = moments(as_rows(1e8 + np.array([[1.0], [2.0], [3.0]])))
    >>> float(m.scatter[0, 0])
    2.0
    """
    audits = scatter is Scatter.AUDITED
    unit: Array = np.ones(rows.shape[1])
    dtype = scatter_dtype(rows) if audits else scatter.dtype
    shift, deviations = _from_sample(rows, dtype, center, scale)
    if audits and (dtype == np.float64 or not (deviations > 0).all()):  # an audit needs to know the units beforehand
        scatter = Scatter.FLOAT64
    probes = none = np.empty((len(unit), 0))
    if scatter is Scatter.AUDITED:  # Gaussian vectors, in units of the columns
        probes = np.random.default_rng(0).standard_normal((len(unit), PROBES)) / deviations[:, None]
    centre = shift if center and not rows.sparse else None
    sums = sums_of(rows, Preprocessing(centre), scatter, probes)
    if not np.isfinite(sums.total).all():
        check_finite(rows)
    unsafe = _peaks_of_unsafe(rows, shift, sums, scatter.dtype)
    if unsafe is not None:
        unit, scatter = units(unsafe), Scatter.FLOAT64 if scatter is Scatter.AUDITED else scatter
        sums = sums_of(rows, Preprocessing(centre, None, 1 / unit), scatter, none)
    audit = audited(sums, probes, deviations if scale else None) if scatter is Scatter.AUDITED else 0.0
    delta, about, sizes = _about_the_mean(sums, center)
    return Moments(
        count=sums.count,
        shift=shift,
        delta=delta,
        scatter=about,
        unit=unit,
        sizes=sizes,
        rounding=4 * gamma(sums.terms + 8),
        audit=audit,
        scaled=scale,
        rough=scatter is Scatter.FLOAT32,
        centred=center,
    )


def _from_sample(rows: Rows, dtype: np.dtype[Any], center: bool, scale: bool) -> tuple[Array, Array]:
    """The shift, and the deviations that columns will be divided by as far as a sample tells them."""
    d = rows.shape[1]
    if rows.sparse or not (center or scale):
        return np.zeros(d), np.ones(d)
    sample = few_rows(rows, SPREAD if scale else SAMPLE)
    mean = provisional_mean(rows, sample, dtype)
    if dtype == np.float32:
        mean = coarse(mean, sample)
    return mean if center else np.zeros(d), spread_about(mean, sample) if scale else np.ones(d)


def _peaks_of_unsafe(rows: Rows, shift: Array, sums: Sums, dtype: np.dtype[Any]) -> Array | None:
    """Largest |x − shift| per column if squares may have overflowed or underflowed, else None."""
    low, high = SAFE_SQUARES[dtype]
    diagonal = diagonal_of(sums.scatter)
    if low <= diagonal.min() and diagonal.max() < high:
        return None
    small = diagonal < low
    # Constant columns land here too; only their own entries are read again.
    if (diagonal < high).all() and not peaks(rows, shift, small).any():
        return None
    return peaks(rows, shift, np.ones_like(small))


def _about_the_mean(sums: Sums, center: bool) -> tuple[Array, Array, Array]:
    """The remainder δ of the shift, the scatter without it, and the sizes that rounding errors scale with."""
    delta = sums.total / sums.count if center else np.zeros_like(sums.total)
    remainder = delta * np.sqrt(sums.count)
    scatter, sizes = sums.scatter, diagonal_of(sums.scatter).copy()
    if scatter.ndim == 1:
        scatter -= remainder**2
        np.maximum(scatter, 0.0, out=scatter)
    else:
        for some in range(0, len(scatter), TILE):  # without a matrix of products beside the scatter
            scatter[some : some + TILE] -= remainder[some : some + TILE, None] * remainder
        diagonal = scatter.reshape(-1)[:: len(scatter) + 1]
        np.maximum(diagonal, 0.0, out=diagonal)
    return delta, scatter, sizes

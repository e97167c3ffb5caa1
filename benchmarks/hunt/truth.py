"""The truth of a fit with its own error, and what of a certificate it contradicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchmarks.hunt.rows import Array
from ritz.operators.gram import ORTHONORMAL
from ritz.spectrum.certificate import Certificate

EPS = float(np.finfo(float).eps)
LONG = float(np.finfo(np.longdouble).eps)


@dataclass(frozen=True)
class Truth:
    """Eigenpairs of C = factorᵀ factor or of the symmetric factor itself, in units of unit².

    roots : singular values of the factor, where it is made of rows
    root_error, errors : how far these, and the values, may be off

    An error of LAPACK is an error of singular values where rows were decomposed, and one of eigenvalues otherwise: a
    small eigenvalue of ZᵀZ is known far better from Z.
    """

    values: Array
    vectors: Array
    errors: Array
    factor: Array
    unit: float
    roots: Array | None = None
    root_error: float = 0.0

    @property
    def largest(self) -> float:
        return float(self.values[0])

    def product(self, U: Array) -> Array:
        """C U."""
        return self.factor @ U if self.roots is None else self.factor.T @ (self.factor @ U)

    def doubt(self, start: int, stop: int) -> float:
        """How far the span of these eigenvectors may itself be off: error over gap."""
        scale, error = (self.values, self.errors[0]) if self.roots is None else (self.roots, self.root_error)
        neighbours = [(start - 1, start)] * (start > 0) + [(stop - 1, stop)] * (stop < len(scale))
        gap = min((scale[i] - scale[j] for i, j in neighbours), default=np.inf)
        return float(10 * error / max(gap, np.finfo(float).tiny))


def of_rows(X: NDArray[np.generic], center: bool, scale: bool, ddof: int) -> Truth:
    """Rows centred and scaled in extended precision, then decomposed by LAPACK."""
    exact = X.astype(np.longdouble)
    Z = exact - exact.mean(axis=0) if center else exact
    if scale:
        Z = Z / np.sqrt((Z**2).sum(axis=0) / (len(Z) - ddof))
    unit = 2.0 ** np.floor(np.log2(float(np.abs(Z).max()))) if Z.any() else 1.0
    Z64 = (Z / unit / np.sqrt(np.longdouble(len(Z) - ddof))).astype(float)
    if scale:
        spread = np.maximum(np.abs(exact - exact.mean(axis=0)).max(axis=0), np.finfo(float).tiny)
        offset = (np.abs(exact).max(axis=0) / spread).max() * 2
    else:
        offset = np.abs(exact).max() / unit
    return of_scaled_rows(Z64, unit, float(offset) * 2 * LONG * np.sqrt(Z64.size))


def of_scaled_rows(Z: Array, unit: float, rounded: float) -> Truth:
    """Eigenpairs of ZᵀZ by the singular values of Z; rounded: how far Z itself is off."""
    n, d = Z.shape
    found, Vt = np.linalg.svd(Z, full_matrices=True)[1:]
    roots = np.zeros(d)
    roots[: len(found)] = found
    error = 4 * EPS * np.sqrt(max(n, d)) * roots[0] + rounded
    return Truth(roots**2, Vt.T, 2 * roots * error + error**2, Z, unit, roots, error)


def of_matrix(A: Array, unit: float = 1.0) -> Truth:
    """Eigenpairs of a symmetric matrix."""
    values, vectors = np.linalg.eigh(A)
    error = 4 * EPS * np.sqrt(len(A)) * np.abs(values).max()
    return Truth(values[::-1], vectors[:, ::-1], np.full(len(A), error), A, unit)


@dataclass(frozen=True)
class Judgement:
    """A certificate of axes U, which are said to be `orthonormal` or not, asked for with tol, beside the truth."""

    certificate: Certificate
    U: Array
    tol: float
    truth: Truth
    total: float | None = None
    left_out: float | None = None
    orthonormal: bool = True

    def violations(self) -> list[str]:
        """Everything claimed that does not hold."""
        if not 0 < self.truth.largest < np.inf:
            return []
        parts = (self._values, self._gap, self._axes, self._residuals, self._angles, self._completeness, self._totals)
        return [claim for part in parts for claim in part()]

    @property
    def k(self) -> int:
        return self.U.shape[1]

    @property
    def slack(self) -> float:
        """Rounding of a residual computed here."""
        return 8 * EPS * np.sqrt(len(self.U)) * self.truth.largest

    @cached_property
    def values(self) -> Array:
        return self.certificate.values / self.truth.unit**2

    @cached_property
    def rounding(self) -> float:
        return self.certificate.rounding / self.truth.unit**2

    @cached_property
    def residuals(self) -> Array:
        return np.linalg.norm(self.truth.product(self.U) - self.U * self.values, axis=0)

    def _values(self) -> Iterator[str]:
        low, high = self.certificate.value_bounds.T / self.truth.unit**2
        largest = self.truth.largest
        for i, (value, error) in enumerate(zip(self.truth.values[: self.k], self.truth.errors, strict=False)):
            room = error + 1e-13 * abs(value)
            if low[i] > value + room or high[i] < value - room:
                yield f"value {i} is {value:.17g}, not in [{low[i]:.17g}, {high[i]:.17g}]"
            faked = (self.k + 30) * (self.rounding + self.certificate.missing / self.truth.unit**2)
            zero = self.values[i] == 0 and not self.certificate.may_have_missed
            if zero and value > faked + error + self.truth.root_error**2:
                yield f"value {i} is called 0 and is {value / largest:.3g} of the largest"

    def _gap(self) -> Iterator[str]:
        """The eigengap after the last component; rows have no more eigenvalues than they have dimensions but 0."""
        if self.certificate.gap_bounds is None:
            return
        low, high = self.certificate.gap_bounds / self.truth.unit**2
        last, following = np.append(self.truth.values, [0.0, 0.0])[self.k - 1 : self.k + 1]
        room = 2 * np.append(self.truth.errors, [0.0, 0.0])[self.k - 1 : self.k + 1].max() + 1e-13 * abs(last)
        if last - following < low - room or last - following > high + room:  # the judge may know no error: NaN
            yield f"the eigengap is {last - following:.17g}, not in [{low:.17g}, {high:.17g}]"

    def _axes(self) -> Iterator[str]:
        off = np.abs(self.U.T @ self.U - np.eye(self.k)).max()
        if self.orthonormal and off > 50 * len(self.U) * EPS + ORTHONORMAL:
            yield f"axes are orthonormal only to {off:.3g}"

    def _residuals(self) -> Iterator[str]:
        claimed = self.certificate.residuals / self.truth.unit**2
        for i in np.flatnonzero(self.residuals > claimed * (1 + 1e-9) + self.rounding + self.slack):
            yield f"residual {i} is {self.residuals[i]:.3g}, not at most {claimed[i]:.3g} + {self.rounding:.3g}"
        if self.certificate.by_singular_values:  # reached speaks of ‖X v − σ u‖ there
            return
        reached = self.residuals.max() - self.slack
        if reached > self.certificate.reached * (1 + 1e-6) * self.truth.largest:
            yield f"reached is {reached / self.truth.largest:.3g}, not {self.certificate.reached:.3g}"
        # tol=0 asks for what rounding allows, of which `reached` speaks.
        if self.tol and self.certificate.satisfied and reached > self.tol * (1 + 1e-6) * self.truth.largest:
            yield f"satisfied at {reached / self.truth.largest:.3g}, and {self.tol:.3g} was asked"

    def _angles(self) -> Iterator[str]:
        for start, stop in self.certificate.groups:
            V, U = self.truth.vectors[:, start:stop], np.linalg.qr(self.U[:, start:stop])[0]
            sine = np.linalg.norm(U - V @ (V.T @ U), 2)
            bound = self.certificate.angle_bounds[start:stop].min()
            if sine > bound * (1 + 1e-6) + self.truth.doubt(start, stop) + 1e-14 * np.sqrt(len(U)):
                yield f"components [{start}, {stop}) are off by {sine:.3g}, not by at most {bound:.3g}"

    def _totals(self) -> Iterator[str]:
        """The total variance and what of it was left out."""
        if self.total is None or self.left_out is None:
            return
        unit, values = self.truth.unit**2, self.truth.values
        missing = self.certificate.missing / unit
        room = (len(values) + 2) * (self.rounding + missing) + float(self.truth.errors.sum()) + 1e-13 * values.sum()
        total, left_out = self.total / unit, self.left_out / unit
        if abs(total - values.sum()) > room:
            yield f"the total variance is {values.sum():.17g}, not {total:.17g}"
        beyond = max(values.sum() - self.values.sum(), 0.0)
        if abs(left_out - beyond) > room:
            yield f"the variance left out is {beyond / values.sum():.3g} of all, not {left_out / values.sum():.3g}"

    def _completeness(self) -> Iterator[str]:
        claim, values, k = self.certificate, self.truth.values, self.k
        if claim.completeness != "not excluded":
            room = max(2 * self.tol * values[0], 40 * self.rounding) + self.residuals.max()
            if values[k - 1] - self.values[k - 1] > room + self.truth.errors[0] + claim.missing / self.truth.unit**2:
                yield f"completeness {claim.completeness}, but the last value is {self.values[k - 1] / values[0]:.3g}"
        told_apart = k < len(values) and values[k - 1] - values[k] > 1e-6 * values[0]
        if told_apart and claim.complete_to and not claim.missing and claim.satisfied and self.tol <= 1e-6:
            V, U = self.truth.vectors[:, :k], self.U[:, : claim.complete_to]
            if np.linalg.norm(U - V @ (V.T @ U), 2) > 0.75:
                yield f"complete to {claim.complete_to}, but one of these is not among the top {k}"

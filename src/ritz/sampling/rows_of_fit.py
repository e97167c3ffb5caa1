"""The rows of a fit, for what asks how far another sample would move it: preprocessed as they were, and checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.fitting.request import Request
from ritz.fitting.solve import data_matrix, preprocessing
from ritz.linalg.dense import Array
from ritz.linalg.exponents import times_power
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import Moments, moments
from ritz.operators.covariance import DataMatrix
from ritz.pca.fitted import rows_of, subspace_of
from ritz.rows import as_rows
from ritz.runtime.threads import team
from ritz.runtime.wording import plural
from ritz.spectrum.sample import Sample
from ritz.spectrum.subspace import Subspace

ALIKE = 1e-3  # of a standard deviation, or of the total variance, by which other rows differ and roundings do not


@dataclass(frozen=True, eq=False)
class RowsOfFit:
    """The model with the rows it was learned from.

    Attributes
    ----------
    subspace : the model
    Z : the preprocessed rows, known by their products
    unit : a power of two that Z is divided by; variances of Z are in units of its square
    groups : ranges of components that rounding cannot tell apart
    """

    subspace: Subspace
    Z: DataMatrix
    unit: float
    groups: tuple[tuple[int, int], ...]

    @property
    def n(self) -> int:
        return self.Z.shape[0]

    @property
    def d(self) -> int:
        return self.Z.shape[1]

    @property
    def k(self) -> int:
        return int(self.subspace.axes.shape[1])

    @property
    def centred(self) -> bool:
        return self.Z.moments.centred

    @property
    def scaled(self) -> bool:
        """Whether columns were divided by their deviations, which every sample has its own of."""
        return self.subspace.scale is not None

    @property
    def values(self) -> Array:  # (k,)
        """Variances in the unit of Z."""
        return np.asarray(times_power(self.subspace.deviations, self.shift), np.float64) ** 2

    @property
    def left_out(self) -> float:
        """The variance outside the subspace, in that unit."""
        return float(times_power(np.array(self.subspace.outside), self.shift)) ** 2

    @property
    def sample(self) -> Sample:
        """What tells the error of the sample by formulas."""
        found = self.subspace.sample
        assert found is not None  # the number of rows is known
        return found

    @property
    def shift(self) -> int:
        """The power of two from the unit of the subspace to that of Z."""
        return self.subspace.power - (int(np.frexp(self.unit)[1]) - 1)


def rows_of_fit(model: Any, X: Any, what: str) -> RowsOfFit:
    """The preprocessed rows of a fitted PCA; an error where X cannot be what it was fitted to."""
    subspace = subspace_of(model, what)
    rows = (as_rows(X) if model is subspace else rows_of(model, X)).on_cpu()
    rows.check_whole(what)
    n, d = rows.shape
    if subspace.n_rows is None:
        raise DataError(f"{what} needs the number of rows of the fit", "pass n_rows to from_covariance")
    if n != subspace.n_rows or d != len(subspace.axes):
        raise DataError(
            f"X has {n} {plural(n, 'row')} of {d} columns, but the model was fitted to {subspace.n_rows} rows of "
            f"{len(subspace.axes)}",
            f"pass those: {what} asks what other samples of the same size would give",
        )
    centred = bool(getattr(model, "center", subspace.mean is not None))
    request = Request(n_components=1, center=centred, scale=subspace.scale is not None, ddof=subspace.ddof)
    with team():
        found = moments(rows, center=centred, scale=request.scale, scatter=Scatter.DIAGONAL)
        prepare, units = preprocessing(found, request, rows.name)
        Z = data_matrix(rows, request, found, prepare, units.unit, min(n - centred, d), 1)
    certificate = getattr(model, "certificate_", None)
    groups = tuple((i, i + 1) for i in range(subspace.axes.shape[1])) if certificate is None else certificate.groups
    fit = RowsOfFit(subspace, Z, units.unit, groups)
    _check(fit, found)
    return fit


def _check(fit: RowsOfFit, found: Moments) -> None:
    """Means, scales and the total variance are those of the model."""
    total = float(fit.values.sum()) + fit.left_out
    alike = abs(fit.Z.trace - total) <= ALIKE * max(total, fit.Z.trace)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        spread = np.sqrt(found.diagonal / max(1, found.count - 1))
        if fit.centred and fit.subspace.mean is not None:
            off = np.abs(found.mean - fit.subspace.mean) / found.unit
            alike &= bool((off <= ALIKE * spread + 1e-6 * np.abs(found.mean / found.unit)).all())
        if fit.subspace.scale is not None:
            ratio = np.sqrt(found.diagonal / (found.count - fit.subspace.ddof)) * (found.unit / fit.subspace.scale)
            alike &= bool((np.abs(ratio - 1.0) <= ALIKE).all())
    if not alike:
        raise DataError(
            "the rows of X are not those of the fit: they have another mean or other variances",
            "pass the rows that the model was fitted to",
        )

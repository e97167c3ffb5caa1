"""The error of the sample by formulas: standard errors of variances, shares and axes, their bias, and what shrinks the
scores of new rows; from the model alone, or with the rows at hand for whatever law they have.

Variances: λ√(2/n) for normal rows (Girshick 1939; Anderson 1963), √(E(y² − λ)²/n) for any (Waternaux 1976; Davis
1977). Axes: `ritz.spectrum.sample`. Where columns were scaled, deviations of the sample move too (Girshick 1939;
Konishi 1979). Bias and shrinkage: the spiked model (Baik and Silverstein 2006; Lee, Zou and Wright 2010).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import Array, squared
from ritz.moments.moments import Moments
from ritz.pca.fitted import subspace_of
from ritz.runtime.tables import Table, Tabled
from ritz.runtime.wording import component, components
from ritz.sampling.errors import Errors, Spectrum, of_any_rows, of_normal_rows, spectrum_of
from ritz.sampling.influence import influence
from ritz.sampling.rows_of_fit import rows_of_fit
from ritz.spectrum.sample import Rest, Sample, axis_angles, population, unbiased
from ritz.spectrum.subspace import Subspace

Groups = tuple[tuple[int, int], ...]
PLENTY = 10  # rows for every column, from which on variances have next to no bias


@dataclass(frozen=True, eq=False)
class Sampling(Tabled):
    """What another sample of as many rows would give, to first order.

    Attributes
    ----------
    variances, variance_errors : (k,) of the fit, and standard errors
    shares, share_errors : (k,) of the total variance
    together, together_errors : (k,) shares of the components up to each
    angles : (k,) root mean square of the angle by which an axis turns, in degrees; of a component that the sample does
        not tell apart from others, out of their span. 90 where the sample does not determine it
    groups : half-open 0-based ranges of components, told apart or not
    corrected : (k,) variances without the bias that other components and many columns give; NaN where noise alone
        reaches them
    shrinkage : (k,) what the scores of new rows are, beside those of rows of the fit; NaN likewise
    noise : mean variance of the directions left out
    n_rows : of the fit
    law : "normal" rows, or "any", of which fourth moments were measured
    notes : what all this rests on

    Examples
    --------
    >>> from ritz import PCA
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> found = PCA(2).fit(X).sampling(X)
    >>> found.variance_errors.round(2), found.angles.round(1)
    (array([0.27, 0.03]), array([1.4, 4.4]))
    >>> found.shrinkage.round(2)  # many rows: nothing to correct
    array([1., 1.])
    """

    variances: Array
    variance_errors: Array
    shares: Array
    share_errors: Array
    together: Array
    together_errors: Array
    angles: Array
    groups: Groups
    corrected: Array
    shrinkage: Array
    noise: float
    n_rows: int
    law: str
    notes: tuple[str, ...] = ()

    @property
    def bias(self) -> Array:
        """What the variances have too much.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA
        >>> X = np.random.default_rng(0).standard_normal((100, 300)) * [5, *[1] * 299]
        >>> float((PCA(1).fit(X).sampling().bias / PCA(1).fit(X).explained_variance_)[0].round(2))
        0.16
        """
        return self.variances - self.corrected

    @property
    def table(self) -> Table:
        names = {i: components(s, e) if e - s > 1 else "" for s, e in self.groups for i in range(s, e)}
        cells: dict[str, Any] = {
            "variance": self.variances,
            "± error": self.variance_errors,
            "corrected": self.corrected,
            "share": self.shares,
            "± share": self.share_errors,
            "axis ±": self.angles,
            "shrinkage": self.shrinkage,
        }
        if any(names.values()):
            cells["group"] = [names[i] for i in range(len(self.variances))]
        percent = dict.fromkeys(("share", "± share"), lambda value: f"{100 * float(value):.1f}%")
        formats = percent | {"axis ±": _degrees, "shrinkage": lambda value: f"{value:.3f}" if value == value else ""}
        index = [component(i) for i in range(len(self.variances))]
        law = "normal rows" if self.law == "normal" else "the fourth moments of the rows"
        head = f"standard errors of {self.n_rows:,} rows, by {law}"
        return Table(cells, index, (head,), self.notes, formats)


def _degrees(value: Any) -> str:
    return "not determined" if not value < 90 else f"{float(value):.2g}°"


def sampling(model: Any, X: Any = None) -> Sampling:
    """How far another sample would move a fitted PCA: from the model alone for normal rows, or with one pass over the
    rows of the fit for rows of any law."""
    subspace = subspace_of(model, "sampling")
    drawn = subspace.sample
    if drawn is None:
        raise DataError("sampling errors need the number of rows of the fit", "pass n_rows to from_covariance")
    own = getattr(model, "_moments", None)
    spectrum = spectrum_of(subspace, own if isinstance(own, Moments) else None, drawn)
    certificate = getattr(model, "certificate_", None)
    following = 0.0 if certificate is None else certificate._following
    if X is None:
        return _result(subspace, drawn, spectrum, following, of_normal_rows(subspace, drawn, spectrum), "normal")
    fit = rows_of_fit(model, X, "sampling")
    first, total = float(fit.values[0]) or 1.0, (fit.Z.trace or 1.0) / (float(fit.values[0]) or 1.0)
    return _result(subspace, drawn, spectrum, following, of_any_rows(influence(fit), drawn, first, total), "any")


def _result(
    subspace: Subspace, drawn: Sample, spectrum: Spectrum, following: float, errors: Errors, law: str
) -> Sampling:
    values, rest, n, groups = drawn.values, drawn.rest, drawn.n, drawn.groups()
    d, total = len(subspace.axes), spectrum.total or 1.0
    notes = list(errors.notes)
    if spectrum.rest is not None and n >= PLENTY * d:
        sines = _by_whole_spectrum(drawn, spectrum.rest, groups, errors.law)
    else:
        following = (
            max(following, float(spectrum.rest[0])) if spectrum.rest is not None and len(spectrum.rest) else following
        )
        sines = axis_angles(values, rest, n, groups, following, errors.law)
        if drawn.directions:
            notes.append(f"the {drawn.directions:,} variances left out are taken as equal, but for the first of them")
    found = population(values, rest, n)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shrinkage = np.where(values > 0, found / values, np.nan)
        ratio = np.where(values > 0, unbiased(values, rest, n, groups) / values, np.nan)
        in_data = np.where(np.isfinite(ratio), subspace.variances * ratio, np.nan)
        noise = float(squared(subspace.outside**2 / max(1, drawn.directions), subspace.unit))
        scaled = subspace.deviations[0] ** 2 * errors.variances
    notes += _remarks(drawn, sines, shrinkage, d)
    return Sampling(
        variances=subspace.variances,
        variance_errors=np.asarray(squared(scaled, subspace.unit)),
        shares=values / total,
        share_errors=errors.shares,
        together=np.cumsum(values) / total,
        together_errors=errors.together,
        angles=np.degrees(np.arcsin(np.minimum(sines, 1.0))),
        groups=groups,
        corrected=in_data,
        shrinkage=shrinkage,
        noise=noise if drawn.directions else 0.0,
        n_rows=n,
        law=law,
        notes=tuple(notes),
    )


def _by_whole_spectrum(drawn: Sample, rest: Array, groups: Groups, law: tuple[Array, Array] | None) -> Array:
    """Angles from all variances, one by one."""
    k, m = len(drawn.deviations), len(rest)
    every = (*groups, *((k + j, k + j + 1) for j in range(m)))
    if law is not None:
        whole = np.ones((k + m, k + m))
        whole[:k, :k], whole[:k, k:] = law[0], law[1][:, None]
        law = whole, np.ones(k + m)
    return axis_angles(np.append(drawn.values, rest), Rest(0.0, 0), drawn.n, every, 0.0, law)[:k]


def _remarks(drawn: Sample, sines: Array, shrinkage: Array, d: int) -> list[str]:
    """What a reader must know before believing the table."""
    notes, n = [], drawn.n
    alike = [components(s, e) for s, e in drawn.groups() if e - s > 1]
    if alike:
        notes.append(f"not told apart: {', '.join(alike)}; angles are those out of the span of a group")
    if n < PLENTY * d and not (shrinkage == 1).all():
        known = shrinkage[np.isfinite(shrinkage)]
        worst = f": by up to {100 * (1 / known.min() - 1):.2g} % here" if len(known) else ""
        notes.append(
            f"{n:,} rows are few for {d:,} columns: variances are too large{worst}, and scores of new rows too small "
            "by the same factor; corrected for noise that is alike in all directions left out"
        )
    return notes

"""The bootstrap of a PCA: how far variances, shares, axes and loadings move when rows are drawn again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ritz.errors import DataError, ParameterError
from ritz.linalg.dense import Array, squared
from ritz.runtime.rules import is_integer, is_share, seed_of
from ritz.runtime.tables import Table, Tabled
from ritz.runtime.threads import team
from ritz.runtime.wording import component, components
from ritz.sampling.followed import Followed, entries, followed
from ritz.sampling.influence import influence
from ritz.sampling.intervals import farther, statistics
from ritz.sampling.matching import Groups
from ritz.sampling.resamples import by_indices, by_weights, drawn
from ritz.sampling.rows_of_fit import rows_of_fit
from ritz.spectrum.sample import unbiased

FEWEST = 3  # rows: of two, all resamples with two different ones are alike
FEW_FOR_EACH = 5  # rows for every column, below which intervals rest on the correction of the bias


@dataclass(frozen=True, eq=False)
class Bootstrap(Tabled):
    """What resamples say of the components of a fit.

    Attributes
    ----------
    variances, shares : (k,) of the fit
    variance_errors, share_errors : (k,) standard errors
    variance_intervals, share_intervals : (k, 2) intervals that hold the true value with probability `level`, about:
        the farther ends of percentiles and of studentised, bias-corrected intervals
    angles, angle_bounds : (k,) median, and quantile at `level`, of the angle between the axis of a resample and that of
        the fit, in degrees; in a group of components that the sample cannot tell apart, of the angle between the two
        spans
    groups : half-open 0-based ranges of components, told apart or not
    subspace_angles : median, and quantile at `level`, of the largest angle between the spans of all components
    bias : (k,) mean of the variances of the resamples less those of the fit: what the fit has too much, to first order
    axis_errors, loading_errors : (d, k) standard errors of the entries of axes, and of loadings
    draws : (B, k) variances of the resamples
    n_resamples, level : B, and the probability of intervals and upper quantiles
    method : "moments" of weighted rows, or "scores" of the Gram matrix
    kind : how resamples were drawn
    notes : what else to know

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> found = ritz.bootstrap(ritz.PCA(2).fit(X), X, n_resamples=200, random_state=0)
    >>> bool((found.variance_intervals[:, 0] < found.variances).all()), found.method
    (True, 'moments')
    >>> bool((found.angle_bounds < 10).all())
    True
    """

    variances: Array
    variance_errors: Array
    variance_intervals: Array
    shares: Array
    share_errors: Array
    share_intervals: Array
    angles: Array
    angle_bounds: Array
    groups: Groups
    subspace_angles: tuple[float, float]
    bias: Array
    axis_errors: Array
    loading_errors: Array
    draws: Array
    n_resamples: int
    level: float
    method: str
    kind: str
    notes: tuple[str, ...] = ()

    @property
    def table(self) -> Table:
        names = {i: components(s, e) if e - s > 1 else "" for s, e in self.groups for i in range(s, e)}
        k, percent = len(self.variances), f"{100 * self.level:g} %"
        cells: dict[str, Any] = {
            "variance": self.variances,
            "± error": self.variance_errors,
            f"{percent} from": self.variance_intervals[:, 0],
            "to": self.variance_intervals[:, 1],
            "share": self.shares,
            "share from": self.share_intervals[:, 0],
            "share to": self.share_intervals[:, 1],
            "angle": self.angles,
            f"angle {percent}": self.angle_bounds,
        }
        if any(names.values()):
            cells["group"] = [names[i] for i in range(k)]
        shares = dict.fromkeys(("share", "share from", "share to"), _percent)
        angles = dict.fromkeys(("angle", f"angle {percent}"), _degrees)
        how = f"{self.n_resamples:,} resamples ({self.kind}), by {self.method}"
        median, bound = self.subspace_angles
        said = f"all {k} together: {_degrees(median)}, at most {_degrees(bound)} in {percent} of the resamples"
        index = [component(i) for i in range(k)]
        part = 1 < k < len(self.axis_errors)  # of all columns, the span is always the same
        return Table(cells, index, (how,), (*([said] if part else []), *self.notes), shares | angles)


def _percent(value: Any) -> str:
    return f"{100 * float(value):.1f}%"


def _degrees(value: Any) -> str:
    return f"{float(value):.2g}°"


def bootstrap(
    model: Any,
    X: Any,
    n_resamples: int = 1000,
    *,
    random_state: Any = None,
    level: float = 0.9,
    indices: Any = None,
    weights: Any = None,
) -> Bootstrap:
    """How far the components of a fitted PCA move when its rows are drawn again, with replacement.

    Few rows are resampled on the side of their inner products, exactly and at a cost that does not grow with the
    columns (Fisher et al. 2016); tall rows by one pass that sums the weighted covariances of all resamples, blocks at a
    time. Centring and scaling are done anew in every resample. Axes are matched to those of the fit by orthogonal
    Procrustes within groups of components that rounding or the sample cannot tell apart.

    Parameters
    ----------
    model : a fitted PCA
    X : the rows that it was fitted to
    n_resamples : how many
    random_state : int, Generator, RandomState or None, which is a fixed seed. Results do not depend on threads, nor on
        how the rows are cut into blocks
    level : probability of intervals, and of upper quantiles of angles
    indices : (B, m) rows of every resample, counted from 0, in place of random ones
    weights : (B, n) weights of the rows in every resample, in place of random ones

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> found = ritz.bootstrap(ritz.PCA(2).fit(X), X)
    >>> found.variance_errors.round(1), found.loading_errors.shape
    (array([0.3, 0. ]), (4, 2))
    """
    if not is_integer(n_resamples) or n_resamples < 2:
        raise ParameterError("n_resamples", n_resamples, "must be an integer of at least 2")
    if not is_share(level):
        raise ParameterError("level", level, "must be strictly between 0 and 1")
    if indices is not None and weights is not None:
        raise ParameterError("weights", "given", "and indices say the same; leave one of them out")
    fit, seed = rows_of_fit(model, X, "bootstrap"), seed_of(random_state)
    n = fit.n
    if n < FEWEST:
        raise DataError(
            f"{n} rows give one resample again and again", f"fit at least {FEWEST}, or see sampling() for formulas"
        )
    if indices is not None:
        draws = by_indices(indices, n)
    elif weights is not None:
        draws = by_weights(weights, n)
    else:
        draws = drawn(n, int(n_resamples), seed)
    if draws.count < 2:
        raise DataError("one resample has no spread", "give at least two lines of indices or weights")
    with team():
        return _result(followed(fit, draws, seed), float(level))


def _result(found: Followed, level: float) -> Bootstrap:
    """Intervals, angles and standard errors, in the units of the data."""
    fit, matched, values = found.fit, found.matched, found.values
    own, total = fit.values, fit.Z.trace
    moved, told = influence(fit), fit.sample
    corrected = unbiased(told.values, told.rest, fit.n, matched.groups) * own[0]
    t = statistics(fit, found.draws)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares, own_shares = np.nan_to_num(values / found.totals[:, None]), np.nan_to_num(own / total)
        error = np.nan_to_num(np.sqrt(moved.second / fit.n) / own)
        share_error = np.nan_to_num(np.sqrt(moved.share / fit.n) / own_shares)
    of_shares = farther(shares, own_shares, corrected / total if total else own_shares, share_error, t, level)
    sines = np.degrees(np.arcsin(np.concatenate(matched.sines)))
    middle, upper = np.quantile(sines, [0.5, level], axis=0)
    where = np.array([g for g, (s, e) in enumerate(matched.groups) for _ in range(s, e)])
    errors, loadings = entries(found, False), entries(found, True)
    with np.errstate(over="ignore", under="ignore"):
        in_data = partial(squared, unit=fit.unit)
        return Bootstrap(
            variances=fit.subspace.variances,
            variance_errors=in_data(values.std(axis=0, ddof=1)),
            variance_intervals=in_data(farther(values, own, corrected, error, t, level)),
            shares=own_shares,
            share_errors=shares.std(axis=0, ddof=1),
            share_intervals=np.minimum(of_shares, 1.0),
            angles=middle[where],
            angle_bounds=upper[where],
            groups=matched.groups,
            subspace_angles=(float(middle[-1]), float(upper[-1])),
            bias=in_data(values.mean(axis=0) - own),
            axis_errors=errors,
            loading_errors=loadings * fit.unit,
            draws=in_data(values),
            n_resamples=found.draws.count,
            level=level,
            method=found.method,
            kind=found.draws.kind,
            notes=(*found.notes, *_remarks(found, corrected)),
        )


def _remarks(found: Followed, corrected: Array) -> list[str]:
    """What a reader must know before believing the table."""
    fit, notes = found.fit, []
    alike = [components(s, e) for s, e in found.matched.groups if e - s > 1]
    if alike:
        notes.append(f"not told apart: {', '.join(alike)}; angles are those of the span of a group")
    if found.draws.redrawn:
        notes.append(f"{found.draws.redrawn} resamples of fewer than two different rows were drawn again")
    noise = [component(int(i)) for i in np.flatnonzero(np.isnan(corrected))]
    if noise:
        notes.append(f"not above noise: {', '.join(noise)}; what is said of their variances is about noise")
    if fit.n < FEW_FOR_EACH * fit.d:
        notes.append(
            f"{fit.n:,} rows are few for {fit.d:,} columns: intervals rest on a correction of the bias for noise that "
            "is alike in all directions left out"
        )
    return notes

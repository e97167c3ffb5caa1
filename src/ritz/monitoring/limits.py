"""Which limit is used for what, and why: a table of methods, each from what the model, or the fit, left.

A limit never depends on the rows that are judged by it, unless these are the rows of the fit. A new method is a
function of `Known` and one line in `METHODS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ritz.linalg.dense import Array
from ritz.monitoring import textbook, uniform
from ritz.monitoring.left_out_row import LeftOut, can_leave_out, left_out
from ritz.monitoring.residual import Residual
from ritz.monitoring.textbook import Freedom

ADVICE = "pass reference=model.monitor(rows of the fit)"
UNKNOWN = "only the sum of the variances outside is known"
APART = 0.5  # standard deviations of a variance by which samples of equal ones differ at least, but for a few
TIED = 1e-6  # relative: variances that no sample of normal rows has so near to each other
SLACK = 1e-9  # relative, by which a statistic may exceed its largest possible value for rounding


@dataclass(frozen=True)
class Limit:
    """One limit. `value` is in the units of its statistic, NaN where there is none."""

    value: float
    method: str
    why: str


@dataclass(frozen=True, eq=False)
class Reference:
    """T² and SPE of the rows of the fit, where these are at hand: SPE in `unit`²."""

    t2: Array
    spe: Array


@dataclass(frozen=True, eq=False)
class Known:
    """What limits follow from.

    Attributes
    ----------
    kept : variances along the axes, in `unit`², as the model divides them
    residual : eigenvalues outside, None where nothing is outside
    floor : an SPE that is told from rounding, in `unit`²
    of : degrees of freedom, None where the number of rows of the fit is unknown
    k : components that T² counts
    of_fit : whether the rows that are judged are those of the fit
    reference : what the rows of the fit came to, where they are at hand
    shares : quantiles of SPE of rows of the fit by their level, as far as they were asked for
    """

    kept: Array
    residual: Residual | None
    floor: float
    of: Freedom | None
    k: int
    of_fit: bool
    reference: Reference | None = None
    shares: dict[float, float] = field(default_factory=dict)
    _draws: dict[int, LeftOut] = field(default_factory=dict, repr=False)

    @property
    def can_draw(self) -> bool:
        """Whether a row can be left out, and something is outside."""
        return self.of is not None and self.residual is not None and self.k > 0 and can_leave_out(self.of)

    @property
    def draws(self) -> LeftOut | None:
        """Simulated rows that are left out; None where that cannot be."""
        return self.drawn(0, self._apart, self.unbiased) if self.can_draw and not self.tied else None

    @property
    def tied(self) -> bool:
        """Whether the last axis is one of several that are as good, as in designs: without any row, the others are
        chosen so that it has no score, and limits by rows that are left out would be 0."""
        assert self.residual is not None  # as `can_draw` says
        return bool(self.kept[-1] - self.residual.values[0] <= TIED * self.kept[-1])

    def drawn(self, which: int, kept: Array, residual: Residual) -> LeftOut:
        """The same for some unbiased eigenvalues; each choice of them is simulated once."""
        assert self.of is not None  # as `can_draw` says
        if which not in self._draws:
            self._draws[which] = left_out(kept, residual, self.of)
        return self._draws[which]

    @property
    def _apart(self) -> Array:
        """Unbiased variances along the axes, none nearer to those outside than samples of equal ones mostly have them:
        the nearer they are, the less of a row that is left out lies along the last axis, whatever other rows do."""
        assert self.of is not None
        outside = float(self.unbiased.values[0])
        return np.maximum(self.inside, outside * (1 + APART * np.sqrt(2 / self.of.m)))

    @property
    def inside(self) -> Array:
        """Variances along the axes with the divisor that makes them unbiased."""
        return self.kept if self.of is None else self.kept * self.of.bias

    @property
    def unbiased(self) -> Residual:
        """Residual eigenvalues with the same."""
        assert self.residual is not None  # `spe_limit` has seen to that
        return self.residual if self.of is None else self.residual.times(self.of.bias)

    @cached_property
    def rows(self) -> str:
        return "rows of the fit" if self.of_fit else "new rows"


Found = Callable[[float, Known], Limit]


def t2_limit(method: str, alpha: float, known: Known) -> Limit:
    """The limit of T² by one of the `METHODS`, for the variances of the model."""
    if known.k == 0:
        return Limit(np.inf, "none", "no component has variance")
    return METHODS[method][0](alpha, known)


def spe_limit(method: str, alpha: float, known: Known) -> Limit:
    """The limit of SPE by one of the `METHODS`, in `unit`²."""
    if known.residual is None:
        return Limit(known.floor, "rounding", "the components leave nothing but rounding")
    return METHODS[method][1](alpha, known)


def _textbook_t2(alpha: float, known: Known) -> Limit:
    of = known.of
    if of is None:
        return Limit(textbook.t2_of_known(alpha, known.k), "χ²", "n_rows is unknown: the covariance counts as exact")
    if known.of_fit:
        only = of.m <= known.k
        why = "every row of the fit has this value" if only else f"exact for normal {known.rows}"
        return Limit(textbook.t2_of_fit(alpha, of) * of.bias * (1 + SLACK), "Beta", why)
    return Limit(textbook.t2_of_new(alpha, of) * of.bias, "F", "takes the axes as given, not as learned")


def _printed_t2(alpha: float, known: Known) -> Limit:
    if known.of is None:
        return _textbook_t2(alpha, known)
    return Limit(textbook.t2_as_printed(alpha, known.of), "k(n−1)/(n−k) F", "as PLS_Toolbox and mdatools print it")


def _sampled_t2(alpha: float, known: Known) -> Limit:
    if known.of is None or known.of_fit:
        return _textbook_t2(alpha, known)
    draws = known.draws
    if draws is None:
        return _textbook_t2(alpha, known)
    told = "" if draws.residual.source else ", the variance outside taken as equal in all directions"
    return Limit(draws.t2_limit(alpha) * known.of.bias, "left-out row", f"axes learned from {known.of.n} rows{told}")


def _sampled_spe(alpha: float, known: Known) -> Limit:
    of, residual = known.of, known.unbiased
    if of is None or not residual.source:
        return _box(alpha, known)
    if known.of_fit:
        if alpha not in known.shares:
            known.shares[alpha] = uniform.quantile(alpha, residual.values, residual.counts, float(of.m))
        value = of.reach * known.shares[alpha]
        return Limit(value * (1 + SLACK), "uniform", "exact for normal rows of the fit")
    draws = known.draws
    if draws is None:
        return _box(alpha, known)
    return Limit(draws.spe_limit(alpha), "left-out row", f"axes learned from {of.n} rows")


def _jackson_mudholkar(alpha: float, known: Known) -> Limit:
    residual = known.unbiased
    if not residual.source:
        return _bound(alpha, known)
    value = textbook.jackson_mudholkar(alpha, residual.theta)
    if value is None:
        found = _box(alpha, known)
        return Limit(found.value, found.method, f"h₀ <= 0, where Jackson–Mudholkar does not hold; {found.why}")
    return Limit(value, "Jackson–Mudholkar", f"by {residual.source}")


def _box(alpha: float, known: Known) -> Limit:
    theta, source = known.unbiased.theta, known.unbiased.source
    if not source:
        return _bound(alpha, known)
    why = f"h = {theta.first**2 / theta.second:.4g}, by {source}"
    return Limit(textbook.box_of(alpha, theta), "Box g χ²(h)", why)


def _bound(alpha: float, known: Known) -> Limit:
    """Where the sum of the residual eigenvalues is known and nothing else: as few and as large ones as there can be
    have the longest tail, and owe most to the sample, and none is larger than the last variance that is kept."""
    equal = known.unbiased
    large = max(float(known.inside[-1]), float(equal.values[0]))
    few = Residual(np.array([large]), np.array([equal.theta.first / large]), "")
    if known.of_fit or not known.can_draw:
        return Limit(textbook.box_of(alpha, few.theta), "upper bound", UNKNOWN)
    return Limit(known.drawn(1, known.inside, few).spe_limit(alpha), "upper bound", UNKNOWN)


def _of_moments(alpha: float, known: Known) -> Limit:
    """Mean and variance of the SPE of the rows of the fit (Nomikos and MacGregor 1995)."""
    if known.reference is None:
        return _absent("the SPE of the rows of the fit")
    spe = known.reference.spe
    mean, variance = float(np.mean(spe)), float(np.var(spe, ddof=1)) if len(spe) > 1 else 0.0
    h = 2 * mean**2 / variance if variance > 0 else np.inf
    return Limit(textbook.box(alpha, mean, variance), "Box g χ²(h)", f"h = {h:.4g} by the SPE of the rows of the fit")


def _empirical(alpha: float, known: Known, which: str) -> Limit:
    if known.reference is None:
        return _absent(f"the {which} of the rows of the fit")
    values: Array = known.reference.t2 if which == "T²" else known.reference.spe
    why = f"of {len(values)} rows of the fit"
    if alpha * len(values) < 5:
        why += ", few of which are beyond"
    return Limit(float(np.quantile(values, 1 - alpha)), "quantile", why)


def _absent(what: str) -> Limit:
    return Limit(np.nan, "none", f"the model does not know {what}")


METHODS: dict[str, tuple[Found, Found]] = {
    "auto": (_sampled_t2, _sampled_spe),
    "jm": (_textbook_t2, _jackson_mudholkar),
    "box": (_textbook_t2, _box),
    "moments": (_textbook_t2, _of_moments),
    "pls_toolbox": (_printed_t2, _jackson_mudholkar),
    "empirical": (lambda a, known: _empirical(a, known, "T²"), lambda a, known: _empirical(a, known, "SPE")),
}

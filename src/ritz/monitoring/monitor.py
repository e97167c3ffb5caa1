"""From a fitted model and rows to odd rows: the pass, the limits, and the tables."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError, ParameterError
from ritz.linalg.dense import Array
from ritz.linalg.exponents import times_power
from ritz.moments.moments import Moments
from ritz.monitoring.contributions import Explained
from ritz.monitoring.limits import METHODS, Known, Limit, Reference, spe_limit, t2_limit
from ritz.monitoring.reading import Farthest, Reading, are_of_fit, read
from ritz.monitoring.residual import Residual, assumed, floor, from_errors, from_moments, is_empty, truncated
from ritz.monitoring.result import Monitoring, summary
from ritz.monitoring.tables import deciding_table, limits_table, notes, odd_table, ratios
from ritz.monitoring.textbook import Freedom, t2_of_fit
from ritz.pca.fitted import column_names, row_names, rows_of, subspace_of
from ritz.rows import Rows
from ritz.rows.write.tables import Results
from ritz.runtime.rules import is_integer, is_number
from ritz.spectrum.subspace import Subspace

LISTED = 30  # odd rows that are listed
LINES = 1 << 16  # that are written at a time
OFTEN = 0.1  # α up to which limits are above the mean


@dataclass(frozen=True)
class Asked:
    """What `monitor` was asked, checked."""

    k: int
    alpha: tuple[float, ...]
    rows: str
    limits: str

    @classmethod
    def of(
        cls, most: int, k: Any, alpha: Any, rows: Any, limits: Any, methods: Sequence[str] = tuple(METHODS)
    ) -> Asked:
        """The parameters by their rules; a model has `most` components, and limits by these `methods`."""
        if k is not None and not (is_integer(k) and 1 <= k <= most):
            raise ParameterError("k", k, f"must be an integer from 1 to {most}, the components of the model, or None")
        several = isinstance(alpha, list | tuple) or (isinstance(alpha, np.ndarray) and alpha.ndim == 1)
        levels = (alpha,) if is_number(alpha) else tuple(alpha) if several else ()
        if not levels or not all(is_number(a) and 0 < a < 0.5 for a in levels) or len(set(levels)) < len(levels):
            raise ParameterError("alpha", alpha, "must be a number between 0 and 0.5, or several, such as (0.05, 0.01)")
        for name, value, known in (("rows", rows, ("auto", "fit", "new")), ("limits", limits, tuple(methods))):
            if not (isinstance(value, str) and value in known):
                raise ParameterError(name, value, f"must be one of {', '.join(map(repr, known))}")
        ordered = tuple(sorted(map(float, levels), reverse=True))
        return cls(most if k is None else int(k), ordered, rows, limits)


@dataclass(frozen=True, eq=False)
class Learned:
    """What limits follow from, of one model and one number of components; it is worked out once.

    Attributes
    ----------
    subspace : of the components with variance, at most as many as were asked for
    asked : components that were asked for
    residual : eigenvalues outside, as the model knows them; `source` is empty where they are assumed to be equal
    """

    subspace: Subspace
    asked: int
    of: Freedom | None
    residual: Residual | None
    reference: Reference | None = None
    shares: dict[float, float] = field(default_factory=dict)
    draws: dict[int, Any] = field(default_factory=dict)

    @property
    def k(self) -> int:
        return int(self.subspace.axes.shape[1])

    def known(self, of_fit: bool) -> Known:
        """The same for limits."""
        kept, least = self.subspace.deviations**2, floor(self.subspace)
        return Known(kept, self.residual, least, self.of, self.k, of_fit, self.reference, self.shares, self.draws)


# What takes long to work out, by subspace; nothing in it refers to the subspace, which would never be let go.
_KNOWN: WeakKeyDictionary[Subspace, dict[Any, tuple[Residual | None, dict[float, float], dict[int, Any]]]]
_KNOWN = WeakKeyDictionary()


def learned(subspace: Subspace, moments: Callable[[], Moments | None], k: int, rank: int, centred: bool) -> Learned:
    """What a model knows of its rows; what takes long is worked out when it is first asked for."""
    some = truncated(subspace, min(k, rank))
    n, count = some.n_rows, some.axes.shape[1]
    of = None if n is None else Freedom(n, count, centred, some.ddof)
    known = _KNOWN.setdefault(subspace, {})
    key = count, centred
    if key not in known:
        known[key] = _residual(some, moments, of), {}, {}
    return Learned(some, k, of, known[key][0], None, *known[key][1:])


def _residual(some: Subspace, moments: Callable[[], Moments | None], of: Freedom | None) -> Residual | None:
    """Eigenvalues outside: by the moments of the rows, or equal ones; None where nothing is outside."""
    if is_empty(some):
        return None
    d, count = some.axes.shape
    found = None if of is None else from_moments(some, moments(), of)
    return found or assumed(some, d - count if of is None else min(d, of.m) - count)


def monitored(
    model: Any,
    X: Any,
    *,
    k: int | None = None,
    alpha: Any = (0.05, 0.01),
    rows: str = "auto",
    limits: str = "auto",
    reference: Monitoring | None = None,
) -> Monitoring:
    """T² and SPE of rows X by a fitted PCA; see `PCA.monitor`.

    Examples
    --------
    >>> from ritz import PCA
    >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
    >>> monitored(PCA(2).fit(X), X).of_fit
    True
    """
    subspace_of(model, "monitor")
    data = rows_of(model, X)
    data.check_whole("monitor")
    found = monitored_rows(model, data, k=k, alpha=alpha, rows=rows, limits=limits, reference=reference)
    return found.named(row_names(X, data))


def monitored_rows(
    model: Any,
    data: Rows,
    *,
    k: Any = None,
    alpha: Any = (0.05, 0.01),
    rows: str = "auto",
    limits: str = "auto",
    reference: Monitoring | None = None,
) -> Monitoring:
    """The same for rows whose columns are the model's."""
    subspace = subspace_of(model, "monitor")
    asked = Asked.of(subspace.axes.shape[1], k, alpha, rows, limits)
    about = learned(subspace, lambda: whole_moments(model), asked.k, model.certificate_.rank, bool(model.center))
    return of_rows(about, data, column_names(model), asked, reference)


def delivered_flags(found: Monitoring) -> Results:
    """A line for every row, as a file has it."""
    n = len(found.t2)
    names = ("T2", "SPE", "leverage", "T2_flag", "SPE_flag")

    def blocks() -> Generator[Array, None, None]:
        for start in range(0, n, LINES):
            some = slice(start, start + LINES)
            t2, flags = found.t2[some], (found.t2_flags[some], found.spe_flags[some])
            leverage = found.leverage_of(t2)
            known = np.full(len(t2), np.nan) if leverage is None else leverage
            yield np.column_stack([t2, found.spe[some], known, *flags]).astype(np.float64)

    return Results(blocks(), n, names, np.dtype(np.float64))


def whole_moments(model: Any) -> Moments | None:
    """The moments that a model carries, where they are whole."""
    state = getattr(model, "_state", None)
    found = getattr(state, "moments", None)
    return found if isinstance(found, Moments) else None


def of_rows(
    about: Learned, data: Rows, names: Sequence[str], asked: Asked, reference: Monitoring | None = None
) -> Monitoring:
    """The same once everything is checked."""
    about = about if reference is None else referred(about, reference)
    found = read(about.subspace, data, Farthest(LISTED, *_floors(about, asked)))
    of_fit = asked.rows == "fit" or (asked.rows == "auto" and _recognised(about, found))
    if of_fit:
        about = completed(about, found.t2, found.spe, about.subspace.axes.shape[0])
    explain = Explained(about.subspace, tuple(names), found.farthest, found.values, data)
    return judged(about, found, asked, of_fit, explain)


def _floors(about: Learned, asked: Asked) -> tuple[float, float]:
    """What T² and SPE of a row that is listed exceed for sure: below half of the least limit, and below the mean."""
    of = about.of
    if of is None or asked.alpha[0] > OFTEN or asked.limits == "empirical":
        return 0.0, 0.0
    return t2_of_fit(asked.alpha[0], of) * of.bias / 2 if of.k else 0.0, about.subspace.outside**2 * of.bias / 2


def _recognised(about: Learned, found: Reading) -> bool:
    return about.of is not None and are_of_fit(about.subspace, found, about.of.centred)


def completed(about: Learned, t2: Array, spe: Array, d: int) -> Learned:
    """With what the rows of the fit tell beside: SPE tells residual eigenvalues where the model has none."""
    residual = about.residual
    if residual is not None and not residual.source and about.of is not None:
        residual = from_errors(about.subspace, spe, about.of, d)
        return replace(about, residual=residual, reference=Reference(t2, spe), shares={}, draws={})
    return replace(about, reference=Reference(t2, spe))


def referred(about: Any, reference: Any) -> Any:
    """With what the rows of the fit told when they were monitored."""
    other = checked_reference(about, reference)
    return replace(about, residual=other.residual, reference=other.reference, shares=other.shares, draws=other.draws)


def checked_reference(about: Any, reference: Any) -> Any:
    """What limits followed from when the rows of the fit were monitored, by the same model."""
    if not isinstance(reference, Monitoring):
        raise ParameterError(
            "reference", type(reference).__name__, "must be what monitor returned for the rows of the fit"
        )
    other = reference._learned
    if not reference.of_fit:
        raise DataError("reference holds new rows; pass what monitor returned for the rows of the fit")
    if not _alike(about.subspace, other.subspace):
        raise DataError("reference comes from another model, or another k; monitor the rows of the fit with this one")
    return other


def _alike(a: Any, b: Any) -> bool:
    """Whether two models are the same, perhaps one of them loaded from a file."""
    if not isinstance(b, type(a)) or a.n_rows != b.n_rows:
        return False
    parts = ("axes", "deviations", "mean", "scale") if hasattr(a, "axes") else ("deviations",)
    return a is b or all(np.array_equal(getattr(a, part), getattr(b, part)) for part in parts)


def judged(about: Any, found: Reading, asked: Asked, of_fit: bool, explain: Explained | None) -> Monitoring:
    """Statistics against limits."""
    known = about.known(of_fit)
    t2_limits = _rising(t2_limit(asked.limits, a, known) for a in asked.alpha)
    spe_limits = _rising(spe_limit(asked.limits, a, known) for a in asked.alpha)
    t2_flags, spe_flags = _flags(found.t2, t2_limits), _flags(found.spe, spe_limits)
    power = 2 * about.subspace.power
    spe = times_power(found.spe, power) if power else found.spe
    shown = [replace(limit, value=float(times_power(np.array([limit.value]), power)[0])) for limit in spe_limits]
    of = about.of
    n = len(found.t2)
    head = summary(of_fit, n, about.k)
    places = found.farthest
    far = np.maximum(ratios(found.t2[places], t2_limits), ratios(found.spe[places], spe_limits))
    beyond = np.maximum(t2_flags[places], spe_flags[places]) > 0
    order = np.argsort(-far, kind="stable")
    chosen = places[order[beyond[order]]][:LISTED]
    return Monitoring(
        found.t2,
        spe,
        t2_flags,
        spe_flags,
        asked.alpha,
        limits_table(head, asked.alpha, (t2_limits, shown), (t2_flags, spe_flags)),
        odd_table(chosen, found, spe, (t2_limits, spe_limits), (t2_flags, spe_flags), explain),
        deciding_table(found, of if of_fit else None),
        of_fit,
        about.k,
        notes=notes(about.k, asked.k, (*t2_limits, *spe_limits)),
        _learned=replace(about, draws=about.draws),
        _explain=explain,
    )


def _rising(limits: Iterable[Limit]) -> list[Limit]:
    """Those of smaller levels are not below those of larger ones, as simulated limits by very few rows may be."""
    found: list[Limit] = []
    for limit in limits:
        low = bool(found) and limit.value < found[-1].value
        found.append(replace(limit, value=found[-1].value) if low else limit)
    return found


def _flags(values: Array, limits: Sequence[Limit]) -> NDArray[np.int8]:
    """How many limits are exceeded; none where there is no limit."""
    found = np.zeros(len(values), np.int8)
    for limit in limits:
        found += values > limit.value
    return found

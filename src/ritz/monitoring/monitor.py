"""From a fitted model and rows to odd rows: the pass, the limits, and the tables."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError, ParameterError
from ritz.linalg.dense import Array
from ritz.linalg.exponents import times_power
from ritz.moments.moments import Moments
from ritz.monitoring.contributions import Contributions, blamed, contributions, parts_of
from ritz.monitoring.limits import ADVICE, METHODS, UNKNOWN, Known, Limit, Reference, spe_limit, t2_limit
from ritz.monitoring.reading import DECIDES, Farthest, Reading, are_of_fit, read
from ritz.monitoring.residual import Residual, assumed, floor, from_errors, from_moments, is_empty, truncated
from ritz.monitoring.result import SPE, T2, Monitoring, level_of, percent, summary
from ritz.monitoring.textbook import Freedom, t2_of_fit
from ritz.pca.fitted import column_names, rows_of, subspace_of
from ritz.rows import Rows
from ritz.rows.base import dense
from ritz.rows.write.tables import Results
from ritz.runtime.rules import is_integer, is_number
from ritz.runtime.tables import Table
from ritz.runtime.wording import component, components, plural
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
        levels = (alpha,) if is_number(alpha) else tuple(alpha) if isinstance(alpha, list | tuple) else ()
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
    return monitored_rows(model, data, k=k, alpha=alpha, rows=rows, limits=limits, reference=reference)


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
    leverage = np.full(n, np.nan) if found.leverage is None else found.leverage
    columns = (found.t2, found.spe, leverage, found.t2_flags, found.spe_flags)
    names = ("T2", "SPE", "leverage", "T2_flag", "SPE_flag")

    def blocks() -> Generator[Array, None, None]:
        for start in range(0, n, LINES):
            yield np.column_stack([part[start : start + LINES] for part in columns]).astype(np.float64)

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


@dataclass(frozen=True, eq=False)
class Explained:
    """The way from rows to the contributions of their columns; rows that are kept are not read again."""

    subspace: Subspace
    columns: tuple[str, ...]
    kept: NDArray[np.intp]
    values: Array
    rows: Rows | None

    def __call__(self, rows: Sequence[int]) -> Contributions:
        return contributions(self.subspace, self.numbers(rows), rows, self.columns)

    def numbers(self, rows: Sequence[int]) -> Array:
        """What stands in these rows."""
        place = {int(row): i for i, row in enumerate(self.kept)}
        absent = sorted({row for row in rows if row not in place})
        if absent and self.rows is None:
            raise DataError(
                f"row {absent[0]} is not among those kept, and a loaded result has no others; monitor X again"
            )
        more = (
            np.asarray(dense(self.rows.on_cpu().take(np.array(absent)))) if absent and self.rows is not None else None
        )
        at = {row: i for i, row in enumerate(absent)}
        width = self.subspace.axes.shape[0]
        found = [self.values[place[row]] if row in place else more[at[row]] for row in rows]  # type: ignore[index]
        return np.array(found).reshape(-1, width)

    def without_rows(self) -> Explained:
        """The same in a file."""
        return replace(self, rows=None)


def judged(about: Any, found: Reading, asked: Asked, of_fit: bool, explain: Explained | None) -> Monitoring:
    """Statistics against limits."""
    known = about.known(of_fit)
    t2_limits = [t2_limit(asked.limits, a, known) for a in asked.alpha]
    spe_limits = [spe_limit(asked.limits, a, known) for a in asked.alpha]
    t2_flags, spe_flags = _flags(found.t2, t2_limits), _flags(found.spe, spe_limits)
    power = 2 * about.subspace.power
    spe = times_power(found.spe, power) if power else found.spe
    shown = [replace(limit, value=float(times_power(np.array([limit.value]), power)[0])) for limit in spe_limits]
    of = about.of
    leverage = None if of is None else found.t2 / (of.n - of.ddof) + (1 / of.n if of.centred else 0.0)
    n = len(found.t2)
    head = summary(of_fit, n, about.k)
    places = found.farthest
    ratios = np.maximum(_ratios(found.t2[places], t2_limits), _ratios(found.spe[places], spe_limits))
    beyond = np.maximum(t2_flags[places], spe_flags[places]) > 0
    order = np.argsort(-ratios, kind="stable")
    chosen = places[order[beyond[order]]][:LISTED]
    return Monitoring(
        found.t2,
        spe,
        leverage,
        t2_flags,
        spe_flags,
        asked.alpha,
        _limits_table(head, asked.alpha, (t2_limits, shown), (t2_flags, spe_flags)),
        _odd_table(chosen, found, spe, (t2_limits, spe_limits), (t2_flags, spe_flags), explain),
        _deciding_table(found, of if of_fit else None),
        of_fit,
        about.k,
        notes=_notes(about, asked, (*t2_limits, *spe_limits)),
        _learned=replace(about, draws=about.draws),
        _explain=explain,
    )


def _flags(values: Array, limits: Sequence[Limit]) -> NDArray[np.int8]:
    """How many limits are exceeded; none where there is no limit."""
    found = np.zeros(len(values), np.int8)
    for limit in limits:
        found += values > limit.value
    return found


def _ratios(values: Array, limits: Sequence[Limit]) -> Array:
    """Statistics over their last limit."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(values / limits[-1].value, nan=0.0, posinf=np.finfo(float).max)


def _limits_table(
    head: str, alpha: Sequence[float], limits: Sequence[Sequence[Limit]], flags: Sequence[NDArray[np.int8]]
) -> Table:
    lines = [
        (name, i, limit, flag)
        for name, some, flag in zip((T2, SPE), limits, flags, strict=True)
        for i, limit in enumerate(some)
    ]
    columns: dict[str, Any] = {
        "level": [percent(alpha[i]) for _, i, _, _ in lines],
        "limit": [limit.value for _, _, limit, _ in lines],
        "rows beyond": [int(np.count_nonzero(flag > i)) for _, i, _, flag in lines],
        "by chance": [alpha[i] * len(flag) for _, i, _, flag in lines],
        "method": [limit.method for _, _, limit, _ in lines],
        "why": [limit.why for _, _, limit, _ in lines],
    }
    return Table(columns, [name for name, *_ in lines], head=(head,))


def _odd_table(
    chosen: NDArray[np.intp],
    found: Reading,
    spe: Array,
    limits: Sequence[Sequence[Limit]],
    flags: Sequence[NDArray[np.int8]],
    explain: Explained | None,
) -> Table:
    count = int(np.count_nonzero(np.maximum(*flags)))
    head = f"{count:,} {plural(count, 'row')} beyond a limit" if count else "no row is beyond a limit"
    head += f", the farthest {len(chosen)} of them" if count > len(chosen) else ""
    farther = _ratios(found.t2[chosen], limits[0]) >= _ratios(found.spe[chosen], limits[1])
    levels = len(limits[0])
    columns: dict[str, Any] = {
        T2: found.t2[chosen],
        SPE: spe[chosen],
        "level": [level_of(int(flag), levels) for flag in np.maximum(*flags)[chosen]],
        "beyond": [
            " and ".join(name for name, flag in zip((T2, SPE), flags, strict=True) if flag[row]) for row in chosen
        ],
    }
    if explain is not None:
        rows = [int(row) for row in chosen]
        Z, t2, residuals, errors = parts_of(explain.subspace, explain.numbers(rows))
        columns["columns to blame"] = [
            blamed(t2[i], Z[i], explain.columns) if inside else blamed(errors[i], residuals[i], explain.columns)
            for i, inside in enumerate(farther)
        ]
    return Table(columns, [int(row) for row in chosen], head=(head,), index_name="row")


def _deciding_table(found: Reading, of: Freedom | None) -> Table:
    """Components of which one row of the fit has more than half of the variance."""
    shares = found.top / (of.n - of.ddof) if of is not None else np.zeros(0)
    which = np.flatnonzero(shares > DECIDES + 1e-9)
    columns = {"row": found.at[which], "share of its variance": shares[which]}
    head = "components that one row decides" if len(which) else "no component is decided by one row"
    formats = {"share of its variance": percent}
    return Table(columns, [component(int(a)) for a in which], head=(head,), formats=formats)


def _notes(about: Learned, asked: Asked, limits: Sequence[Limit]) -> tuple[str, ...]:
    """What the user should know beside the limits."""
    found = []
    if about.k < asked.k:
        one = asked.k - about.k == 1
        what = components(about.k, asked.k)
        found.append(
            f"{what} {'has' if one else 'have'} no variance beyond rounding, and {'is' if one else 'are'} left out"
        )
    found += [f"no limit: {limit.why}" for limit in limits if np.isnan(limit.value)]
    found += [f"limits of SPE are upper bounds: {UNKNOWN}; {ADVICE}" for limit in limits if limit.why == UNKNOWN]
    found += [limit.why for limit in limits if "h₀" in limit.why]
    return tuple(dict.fromkeys(found))

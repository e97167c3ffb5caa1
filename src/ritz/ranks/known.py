"""What a panel knows of the rows: gathered once, in as few passes as possible, for all rules together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from ritz.fitting import costs, signflip_plans
from ritz.fitting.rank import Choice
from ritz.fitting.request import Request, check_count
from ritz.fitting.signflip_plans import Route
from ritz.fitting.signflips import STRIP, Flips, sign_bits
from ritz.fitting.solve import preprocessing
from ritz.linalg.dense import Array, add_squares, eigh_descending, mirrored
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import Moments, moments
from ritz.pca import auto_rank
from ritz.pca.from_rows import from_rows, held
from ritz.ranks.checks import Facts, measured
from ritz.rows import Rows
from ritz.rows.base import Block
from ritz.runtime.threads import scratch, team

WHOLE = 2000  # order up to which the whole spectrum is found
COPIES = 14  # matrices of that order that are in memory at once, in float64
LEADING, BEYOND = 20, 5  # variances that are found where the whole spectrum is too long, and behind those above noise
POSSIBLE = 64  # components of which the columns' parts are known at least, where rows are fewer than columns
COINS = 1000  # the flip whose signs halve rows or columns; copies have smaller numbers
NOTHING = 1e-9  # share of the variance that rounding may lose
NO_COLUMNS = "a kernel has no columns"


@dataclass(frozen=True, eq=False)
class Known:
    """A spectrum, and what else is known of where it comes from.

    Attributes
    ----------
    n, d : rows, less one where they were centred, and columns
    values : eigenvalues of ZᵀZ for the preprocessed rows Z, in some unit, descending; `whole` says whether all
    total : the sum of all of them
    size : what roots of values are to be multiplied by to become deviations, in the unit of the data
    scaled : whether columns were divided by their deviations
    ddof : what was subtracted from the number of rows
    columns : (d,) Σ z² of every column
    parts : (r, d) how much each of the leading components has of them
    halves : (2, m, m) ZᵀZ of two halves of the rows, or Z Zᵀ of two halves of the columns
    matrix : (d, d) ZᵀZ
    choice : the count of sign flips; where there is none, `why_not` says why
    facts : what was measured, where rows were at hand
    passes : over the rows
    kernel : whether values are those of a kernel, with no columns behind them
    """

    n: int
    d: int
    values: Array
    total: float
    size: float
    whole: bool = True
    scaled: bool = False
    ddof: int = 1
    columns: Array | None = None
    parts: Array | None = None
    halves: Array | None = None
    matrix: Array | None = None
    choice: Choice | None = None
    why_not: str = ""
    facts: Facts | None = None
    passes: int = 0
    kernel: bool = False

    @property
    def order(self) -> int:
        """How many eigenvalues there are."""
        return min(self.n, self.d)

    @property
    def shares(self) -> Array:
        """Shares of the variance."""
        return np.asarray(self.values / self.total)

    @property
    def spread(self) -> float:
        """How many times as much the widest column deviates as the narrowest that varies; 1 where that is not known."""
        if self.columns is None:
            return 1.0
        varying = self.columns[self.columns > 0]
        return float(np.sqrt(varying.max() / varying.min()))


def of_rows(rows: Rows, request: Request) -> Known:
    """What the rows tell: the whole spectrum where it is short enough, else its leading values."""
    check_count(rows.shape[0], request)
    with team():
        rows, read = rows.on_cpu(), 0
        if not rows.in_memory and costs.holdable(rows, request.limit):
            size = rows.dtype.itemsize * rows.shape[0] * rows.shape[1]
            request, rows, read = replace(request, limit=request.limit - size), held(rows), 1
        route = signflip_plans.route(rows, request.limit)
        found = _whole(rows, request, route) if _is_short(rows, request.limit) else _leading(rows, request, route)
    return replace(found, passes=read or found.passes)


def _is_short(rows: Rows, limit: int) -> bool:
    """Whether matrices of the smaller order can be formed, and cost little beside the rows."""
    (n, d), order = rows.shape, min(rows.shape)
    wide = d > n and (not rows.in_memory or rows.scattered)
    room = 8 * order * order * (COPIES + 2 * rows.threads) <= limit
    return order <= WHOLE and room and not wide and not (rows.sparse and d > n)


def _whole(rows: Rows, request: Request, route: Route) -> Known:
    """The whole spectrum, from one pass for the means, one for the matrix, and those of the copies."""
    n, d = rows.shape
    kind, order = ("scatter" if d <= n else "gram"), min(n - request.center, d)
    if route.kind != kind:
        route = signflip_plans.by_matrices(kind, rows, request.limit)
    rows = rows.limited(route.cost.block_bytes, route.cost.threads)
    found = moments(rows, center=request.center, scale=request.scale, scatter=Scatter.DIAGONAL)
    flips, unit = auto_rank.prepared(rows, request, found)
    whole, halves = _scatters(flips, request.center) if kind == "scatter" else _grams(flips)
    values, vectors = eigh_descending(whole)
    values, vectors = np.maximum(values[:order], 0.0), vectors[:, :order]
    choice = auto_rank.by_stages(replace(flips, own=whole), unit, request, route)
    above = min(choice.above, order - 1)
    parts = vectors.T * np.sqrt(values)[:, None] if kind == "scatter" else _products(flips, vectors, above)
    axes = np.ascontiguousarray(parts[:above].T) / np.sqrt(values[:above])
    return _known(
        flips,
        unit,
        request,
        values=values,
        parts=np.square(parts),
        halves=halves,
        matrix=whole if kind == "scatter" else None,
        choice=choice,
        facts=measured(flips, axes, values[:above], request.center),
        passes=2 + (kind == "gram") + sum(route.passes_of(copies) for _, copies in choice.stages),
    )


def _leading(rows: Rows, request: Request, route: Route) -> Known:
    """The leading variances alone, by a fit with as many components as may matter."""
    n, d = rows.shape
    found = moments(rows, center=request.center, scale=request.scale, scatter=Scatter.DIAGONAL)
    choice = auto_rank.chosen(rows, request, route, found)
    k = min(n - request.center, d, max(LEADING, choice.above + BEYOND))
    fit = from_rows(rows, replace(request, n_components=k))
    flips, unit = auto_rank.prepared(rows, request, found)
    subspace = fit.subspace
    values = np.square(subspace.deviations * (subspace.unit / unit)) * (n - request.ddof)
    above = min(choice.above, k)
    return _known(
        flips,
        unit,
        request,
        values=values,
        whole=len(values) == min(n - request.center, d),
        parts=np.square(subspace.axes.T) * values[:, None],
        choice=choice,
        facts=measured(flips, subspace.axes[:, :above].astype(float), values[:above], request.center),
        passes=2 + route.followed([copies for _, copies in choice.stages]).cost.passes + (fit.plan.passes or 1),
    )


def _known(flips: Flips, unit: float, request: Request, **rest: Any) -> Known:
    """With what the preprocessed rows, in their unit, tell of themselves."""
    n, d = flips.rows.shape
    return Known(
        n=n - request.center,
        d=d,
        total=float(np.sum(flips.diagonal)),
        size=unit / np.sqrt(n - request.ddof),
        scaled=request.scale,
        ddof=request.ddof,
        columns=flips.diagonal,
        **rest,
    )


def _scatters(flips: Flips, center: bool) -> tuple[Array, Array]:  # -> (d, d), (2, d, d)
    """ZᵀZ of all rows, and of two halves of them drawn by coin, each about its own mean."""
    rows, d = flips.rows, flips.rows.shape[1]

    def run(pairs: Iterable[tuple[Block, range]]) -> tuple[Array, Array, Array]:
        counts, sums, halves = np.zeros(2), np.zeros((2, d)), np.zeros((2, d, d))
        buffer = scratch("block", rows.block_rows, d)
        for block, at in pairs:
            Z = flips.prepare(block, buffer)
            coins = sign_bits(flips.seed, COINS, at, 1)[:, 0]
            for half in (0, 1):
                some = Z[coins == half]
                counts[half] += len(some)
                sums[half] += some.sum(axis=0)
                add_squares(some, halves[half])
        return counts, sums, halves

    def joined(ours: Any, theirs: Any) -> Any:
        for total, part in zip(ours, theirs, strict=True):
            total += part
        return ours

    counts, sums, halves = rows.reduce(run, joined, beside=range(rows.shape[0]))
    halves = np.stack([mirrored(half) for half in halves])
    whole = halves.sum(axis=0)
    if center:
        for half, count, total in zip(halves, counts, sums, strict=True):
            half -= np.outer(total, total) / max(1.0, count)
    return whole, halves


def _grams(flips: Flips) -> tuple[Array, Array]:  # -> (n, n), (2, n, n)
    """Z Zᵀ, and of two halves of the columns drawn by coin."""
    n, d = flips.rows.shape
    coins = sign_bits(flips.seed, COINS, range(1), d)[0]

    def strip(Z: Array, columns: slice) -> Array:  # (width, n)
        halves = np.zeros((2, n, n))
        for half in (0, 1):
            add_squares(np.ascontiguousarray(Z[coins[columns] == half]), halves[half])
        return halves

    halves = np.stack([mirrored(half) for half in reduce(np.add, _strips(flips, strip))])
    return halves.sum(axis=0), halves


def _products(flips: Flips, U: Array, above: int) -> Array:  # -> (r, d)
    """Uᵀ Z for as many leading components as may be subtracted."""
    some = np.ascontiguousarray(U[:, : max(POSSIBLE, above + BEYOND)])
    return np.concatenate([*_strips(flips, lambda Z, columns: (Z @ some).T)], axis=1)


def _strips(flips: Flips, f: Callable[[Array, slice], Array]) -> Iterator[Array]:
    """f of columns of the preprocessed rows, as lines, in strips by all cores, in order; of rows in memory."""
    n, d = flips.rows.shape
    X: Any = flips.rows.block(0, n)

    def strip(ends: tuple[int, int]) -> Array:
        columns, width = slice(*ends), ends[1] - ends[0]
        Z = flips.prepare.columns(columns)(X[:, columns], scratch("block", n, width))
        return f(np.ascontiguousarray(Z.T), columns)

    with closing(flips.rows.in_parallel(strip, list(pairwise([*range(0, d, STRIP), d])))) as parts:
        yield from parts


def of_model(state: Any, request: Request) -> Known:
    """What a fitted model knows without its rows: all of its spectrum where it carries its moments."""
    subspace, found, choice = state.subspace_, state._moments, getattr(state, "rank_choice_", None)
    why = "" if choice is not None else "flips signs of rows: pass X"
    d, n, ddof = len(subspace.axes), subspace.n_rows or 0, subspace.ddof
    rest: dict[str, Any] = {"scaled": subspace.scale is not None, "ddof": ddof, "choice": choice, "why_not": why}
    n_free = max(0, n - (subspace.mean is not None))
    if not isinstance(found, Moments) or d > WHOLE:
        values, size = np.square(subspace.deviations), subspace.unit
        total, whole = float(values.sum() + subspace.outside**2), len(values) == min(n_free or d, d)
        parts = np.square(subspace.axes.T) * values[:, None]
        columns = parts.sum(axis=0) if whole else None
        if n:
            values, total, size = values * (n - ddof), total * (n - ddof), size / np.sqrt(n - ddof)
            columns, parts = None if columns is None else columns * (n - ddof), parts * (n - ddof)
        return Known(n_free, d, values, total, size, whole, columns=columns, parts=parts, **rest)
    found = found.formed()
    prepare, units = preprocessing(found, request)
    factor = found.unit * (1.0 if prepare.weight is None else prepare.weight)
    matrix = found.scatter * np.outer(factor, factor)
    size = float(np.ldexp(1.0, int(np.frexp(np.sqrt(np.trace(matrix)))[1]))) or 1.0
    matrix /= size**2
    with team():
        values, vectors = eigh_descending(matrix)
    values, vectors = np.maximum(values[: min(n_free, d)], 0.0), vectors[:, : min(n_free, d)]
    return Known(
        n_free,
        d,
        values,
        float(np.trace(matrix)),
        units.unit * size / np.sqrt(n - ddof),
        columns=matrix.diagonal().copy(),
        parts=values[:, None] * np.square(vectors.T),
        matrix=matrix,
        **rest,
    )


def of_kernel(model: Any) -> Known:
    """What a fitted KernelPCA knows of its spectrum: relative to the largest of it, and to the trace."""
    shares, first = np.asarray(model.explained_variance_ratio_, dtype=float), float(model.eigenvalues_[0])
    n = len(getattr(model, "eigenvectors_", ())) or int(model.certificate_.n_rows or 0)
    size = float(np.sqrt(first / shares[0])) if first > 0 else 0.0
    whole = bool(n) and (len(shares) >= n - 1 or 1 - float(shares.sum()) <= NOTHING)
    if whole:  # values of 0 are not kept
        shares = np.append(shares, np.zeros(max(0, n - 1 - len(shares))))[: n - 1]
    return Known(max(0, n - 1), max(0, n - 1), shares, 1.0, size, whole, kernel=True, why_not=NO_COLUMNS)

"""From rows to a certified subspace: the path of every fit of PCA to rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ritz.fitting import costs, planning, signflip_plans
from ritz.fitting.planning import Plan
from ritz.fitting.request import Request, check_count, checked_components, is_auto
from ritz.fitting.result import Decomposition
from ritz.fitting.signflip_plans import Route
from ritz.fitting.solve import Attempts, Further, data_matrix, lacking, preprocessing, solve
from ritz.linalg.dense import LARGE
from ritz.moments.accumulate import Scatter
from ritz.moments.by_columns import moments_by_columns
from ritz.moments.moments import Moments, moments
from ritz.moments.tsqr import triangular_moments
from ritz.operators import Covariance, Gram, Operator
from ritz.pca import auto_rank
from ritz.rows import Rows
from ritz.rows.base import Block
from ritz.rows.memory.array import ArrayRows
from ritz.runtime.threads import team
from ritz.runtime.watch import Watch

CARRIED = 256  # columns up to which the whole scatter costs little beside any solver


def from_rows(rows: Rows, request: Request) -> Decomposition:
    """Fit a principal subspace to rows."""
    check_count(rows.shape[0], request)
    limit = planning.within_worker(rows, request.limit)
    asked = request.n_components
    known = asked if is_auto(asked) else checked_components(asked, *rows.shape)
    if known is not asked or limit != request.limit:
        request = replace(request, limit=limit, n_components=known)
    # One team for the whole fit: BLAS threads would spin after every small product and keep the next pass waiting.
    with team():
        return (_as_many_as_stand_above_noise if is_auto(asked) else _decomposed)(rows, request)


def _as_many_as_stand_above_noise(rows: Rows, request: Request) -> Decomposition:
    """n_components="auto": random sign flips decide how many components there are, and then a fit with so many."""
    where = "; signs are flipped on the CPU, to which the rows are copied" if rows.on_device else ""
    flipped = rows.on_cpu()
    if not rows.in_memory and costs.holdable(rows, request.limit):
        request = replace(request, limit=request.limit - rows.dtype.itemsize * rows.shape[0] * rows.shape[1])
        rows = held(rows)
        flipped = rows
    route = signflip_plans.route(flipped, request.limit)
    found = _shared_moments(rows, replace(request, n_components=min(signflip_plans.GUESS, *rows.shape)), route)
    choice = auto_rank.chosen(flipped, request, route, found)
    fit = _decomposed(rows, replace(request, n_components=choice.k), found)
    above = f"{choice.above or 'no'} component{'s' * (choice.above > 1)}"
    how = f"{above} stood above the noise of {choice.compared}{where}"
    plan = planning.counted(fit.plan, route.followed([flips for _, flips in choice.stages]), how)
    return replace(fit, choice=choice, plan=plan)


def _shared_moments(rows: Rows, request: Request, route: Route) -> Moments | None:
    """Moments of an array that serve the count and, most likely, the fit after it; None where they differ."""
    if route.kind != "scatter" or not route.quick or not isinstance(rows, ArrayRows):
        return None
    plan = Attempts.of(rows, request).first
    if not (plan.dense and plan.side == "covariance") or _by_r_factor(plan, rows):
        return None
    return _moments(rows.limited(plan.block_bytes, plan.threads), request, plan)


def _decomposed(rows: Rows, request: Request, known: Moments | None = None) -> Decomposition:
    """The first plan's result, or that of the last further attempt that could improve on it.

    Moments that are known are not computed again where they serve the first plan.
    """
    attempts, given = Attempts.of(rows, request), rows
    rows = _held(rows.at_hand(attempts.first.passes), attempts.first, request.limit)
    rows = rows.limited(attempts.first.block_bytes, attempts.first.threads)
    served = known is not None and known.rough == attempts.first.refined and _serves(known, attempts.first, rows)
    found = known if known is not None and served else _moments(rows, request, attempts.first)
    result = _attempt(rows, request, attempts.first, found, passes=1)
    for further in Further:
        if lacking(result, request, found) is None:
            break
        plan = attempts.next(further, result, found)
        if plan is None:
            continue
        rows, passes = rows.limited(plan.block_bytes, plan.threads), result.certificate.passes
        if not _serves(found, plan, rows):
            found, passes = _moments(rows, request, plan), passes + 1
        result = _attempt(rows, request, plan, found, passes)
    plan = planning.remarked(result.plan, given)
    return result if plan is result.plan else replace(result, plan=plan)


def _held(rows: Rows, plan: Plan, limit: int) -> Rows:
    """Rows that are read more than once, kept in memory where they are few: to parse them again costs more."""
    size = rows.dtype.itemsize * rows.shape[0] * rows.shape[1]
    there = (rows.in_memory and not rows.copied) or rows.sparse or rows.on_device
    if there or plan.passes == 1 or size > costs.HELD or size + plan.memory > limit:
        return rows
    return held(rows)


def held(rows: Rows) -> Rows:
    """The same rows, copied into memory; this copy is not written to the checkpoint.

    Every thread puts down what it has read: fresh pages cost more than copying, and one thread alone would be late.
    """
    out = np.empty(rows.shape, rows.dtype)

    def put(pairs: Iterable[tuple[Block, range]]) -> int:
        for block, places in pairs:
            out[places.start : places.stop] = block
        return 0

    rows.watched(Watch(rows.watch.progress)).reduce(put, max, beside=range(rows.shape[0]))
    array = ArrayRows(out, rows.names)
    array.origin, array.files = rows.origin, rows.files and rows.files.read_whole()
    array.image_shape, array.white, array.kept = rows.image_shape, rows.white, rows.kept
    return array.watched(rows.watch)


def _moments(rows: Rows, request: Request, plan: Plan) -> Moments:
    """The moments that a plan needs, from one pass; all of them for few columns, so that models can be merged."""
    if rows.turned is not None:
        return moments_by_columns(rows, rows.turned, center=request.center, scale=request.scale, ddof=request.ddof)
    if _by_r_factor(plan, rows):
        return triangular_moments(rows, center=request.center, scale=request.scale)
    scatter = Scatter.FLOAT64 if plan.precision == "float64" else Scatter.AUDITED
    if plan.refined:
        scatter = Scatter.FLOAT32
    elif not (plan.dense and plan.side == "covariance") and rows.shape[1] > CARRIED:
        scatter = Scatter.DIAGONAL
    return moments(rows, center=request.center, scale=request.scale, scatter=scatter)


def _by_r_factor(plan: Plan, rows: Rows) -> bool:
    """Whether the factor of the covariance is the R of a QR, which the pass for the moments finds on its way."""
    return plan.solver == "svd" and rows.shape[0] > rows.shape[1]


def _serves(found: Moments, plan: Plan, rows: Rows) -> bool:
    """Whether moments of an earlier attempt are what this one needs."""
    if _by_r_factor(plan, rows):
        return found.triangle is not None
    narrow = found.rough or found.audit > 0
    if plan.dense and plan.side == "covariance":
        return found.scatter.ndim == 2 and not (narrow and plan.precision == "float64")
    return True


def _attempt(rows: Rows, request: Request, plan: Plan, found: Moments, passes: int) -> Decomposition:
    """The result of one plan, from moments that serve it and after so many passes."""
    n, d = rows.shape
    prepare, units = preprocessing(found, request, rows.name)
    bound = min(n - request.center, d)
    Z = data_matrix(rows, request, found, prepare, units.unit, bound, passes)
    A: Operator = Gram(Z) if plan.side == "gram" else Covariance(Z)
    if plan.dense:
        A.form()
    result, total = solve(A, request.chosen(plan.solver), request, min(n, d), n)
    share = request.n_components if isinstance(request.n_components, float) else 0.0
    enough = len(result.values) == min(n, d) or float(result.values.sum()) >= share * total
    # A model carries moments that are whole, not too large, and right in units that do not change: these can be merged.
    whole = (found.scatter.ndim == 2 or found.triangle is not None) and d <= LARGE
    right = not found.rough and not (found.audit and found.scaled)
    return Decomposition.of(result, total, units, plan, enough=enough, moments=found if whole and right else None)

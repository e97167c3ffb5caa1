"""From rows to a certified subspace: the one path that every estimator, command and report takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ritz.fitting import planning, rank
from ritz.fitting.costs import HELD
from ritz.fitting.planning import Plan
from ritz.fitting.request import Decomposition, Request, check_count
from ritz.fitting.solve import in_units_of_data, magnified, preprocessing, solve
from ritz.linalg.dense import LARGE
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import Moments, moments
from ritz.moments.tsqr import triangular_moments
from ritz.operators import Covariance, DataMatrix, Gram, Operator
from ritz.rows import Rows
from ritz.rows.base import Block
from ritz.rows.memory.array import ArrayRows
from ritz.runtime.memory import format_bytes
from ritz.runtime.threads import team
from ritz.runtime.watch import Watch
from ritz.solvers import SVD

PATIENCE = 3.0  # seconds, by the planner's table, that a further attempt may take when accuracy is not at stake
CARRIED = 256  # columns up to which the whole scatter costs little beside any solver


def decompose(rows: Rows, request: Request) -> Decomposition:
    """Fit a principal subspace to rows."""
    # One team for the whole fit: BLAS threads would spin after every small product and keep the next walk waiting.
    with team():
        return _decompose(rows, request)


def _decompose(rows: Rows, request: Request) -> Decomposition:
    n, d = rows.shape
    check_count(n, request)
    request = replace(request, n_components=rank.checked(request.n_components, n, d))
    found: Moments | None = None
    result: Decomposition | None = None
    attempts = _attempts(rows, request)
    rows = _held(rows, attempts[0], request.limit)
    for plan in attempts:
        if result is not None and found is not None and not _helps(plan, result, request, n, found):
            continue
        rows = rows.limited(plan.block_bytes, plan.threads)
        passes = 0 if result is None else result.certificate.passes
        if found is None or not _serves(found, plan, rows):
            found = _walked(rows, request, plan)
            passes += 1
        result = _attempt(rows, request, plan, found, passes)
    assert result is not None  # there is at least one attempt
    return result


def _held(rows: Rows, plan: Plan, limit: int) -> Rows:
    """Rows that are walked more than once, read into memory where they are few: to parse them again costs more."""
    size = rows.dtype.itemsize * rows.shape[0] * rows.shape[1]
    if (rows.in_memory and not rows.copied) or plan.passes == 1 or size > HELD or size + plan.memory > limit:
        return rows
    return held(rows)


def held(rows: Rows) -> Rows:
    """The same rows, in memory. The checkpoint has no room for them.

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
    return array.watched(rows.watch)


def _walked(rows: Rows, request: Request, plan: Plan) -> Moments:
    """The moments that a plan needs, from one pass."""
    if _by_triangle(plan, rows):
        return triangular_moments(rows, center=request.center, scale=request.scale)
    return moments(rows, center=request.center, scale=request.scale, scatter=_scatter(plan, rows))


def _scatter(plan: Plan, rows: Rows) -> Scatter:
    """What has to be summed; models of few columns can be merged, so that they have all of it."""
    if plan.refined:
        return Scatter.FLOAT32
    if not (plan.dense and plan.side == "covariance") and rows.shape[1] > CARRIED:
        return Scatter.DIAGONAL
    return Scatter.FLOAT64 if plan.precision == "float64" else Scatter.AUDITED


def _by_triangle(plan: Plan, rows: Rows) -> bool:
    """Whether the factor of the covariance is a triangle, which the pass for the moments finds on its way."""
    return plan.solver == "svd" and rows.shape[0] > rows.shape[1]


def _serves(found: Moments, plan: Plan, rows: Rows) -> bool:
    """Whether moments of an earlier attempt are what this one needs."""
    if _by_triangle(plan, rows):
        return found.triangle is not None
    narrow = found.rough or found.audit > 0
    if plan.dense and plan.side == "covariance":
        return found.scatter.ndim == 2 and not (narrow and plan.precision == "float64")
    return True


def _helps(plan: Plan, result: Decomposition, request: Request, n: int, found: Moments) -> bool:
    """Whether a further attempt may improve on a result."""
    if not result.certificate.satisfied:
        return True
    if request.name != "auto":
        return False
    certificate = result.spectrum.certificate
    missing = certificate.completeness == "not excluded" and certificate.complete_to < certificate.rank
    if not result.enough or (missing and plan.seconds <= PATIENCE):
        return plan.solver != "svd"
    reachable = min(n - request.center, int(np.count_nonzero(found.diagonal)))
    return plan.solver == "svd" and plan.seconds <= PATIENCE and not _all_seen(result, reachable)


def _all_seen(result: Decomposition, reachable: int) -> bool:
    """Whether every variance that can differ from 0, kept or left out, stands above rounding."""
    certificate = result.spectrum.certificate
    k = len(certificate.values)
    return certificate.rank >= min(k, reachable) and (k >= reachable or result.left_out_seen)


def _attempts(rows: Rows, request: Request) -> list[Plan]:
    """Plans to try in order. Only "auto" goes on to another solver; a named one is at most repeated in float64."""
    k = request.n_components if isinstance(request.n_components, int) else min(rows.shape)
    if request.name != "auto":
        if isinstance(request.n_components, float) and not request.chosen().direct:
            k = min(k, planning.GUESS)  # it grows until the share is reached
        plan = _within(planning.plan_for(rows, request.name, request.chosen(), k, request.limit), request.limit)
        return [plan, replace(plan, precision="float64")] if plan.precision == "float32" else [plan]
    finest = planning.plan_for(rows, "svd", SVD(), k, request.limit)
    if request.tol == 0 and finest.memory <= request.limit:
        return [replace(finest, why="tol=0 asks for the best the arithmetic allows")]
    chosen = _within(planning.choose(rows, request.n_components, request.limit, request.tol), request.limit)
    attempts = [chosen]
    if chosen.precision == "float32":
        why = f"{chosen.why}; float32 products were not enough"
        attempts.append(replace(chosen, precision="float64", refined=False, why=why))
    name = "covariance" if rows.shape[1] <= rows.shape[0] else "gram"
    direct = planning.plan_for(rows, name, request.chosen(name), k, request.limit)
    if chosen.solver == "krylov" and direct.memory <= request.limit:
        why = "the iteration left accuracy or completeness open"
        attempts.append(replace(direct, precision="float64", why=why))
    if chosen.solver != "svd" and finest.memory <= request.limit:
        why = f"the {chosen.solver} route leaves tol, or small variances, below its rounding; svd resolves more"
        attempts.append(replace(finest, why=why))
    return attempts


def _within(plan: Plan, limit: int) -> Plan:
    if plan.memory > limit:
        needed, allowed = format_bytes(plan.memory), format_bytes(limit)
        raise ValueError(f"memory_limit of {allowed} is too small: {plan.solver} needs {needed} beside the data")
    return plan


def _attempt(rows: Rows, request: Request, plan: Plan, found: Moments, passes: int) -> Decomposition:
    prepare, scale, unit = preprocessing(found, request, rows.name)
    bound = min(rows.shape[0] - request.center, rows.shape[1])
    Z = DataMatrix(*magnified(rows, found, prepare, unit), request.ddof, bound, passes)
    A: Operator = Gram(Z) if plan.side == "gram" else Covariance(Z)
    if plan.dense:
        A.dense()
    solver = request.chosen(plan.solver)
    result, total = solve(A, solver, request, min(rows.shape), rows.shape[0])
    mean = found.mean if request.center else None
    about = (mean, scale, rows.shape[0], request.ddof, found.remainder(unit) if request.center else None)
    fit = in_units_of_data(result, total, unit, min(rows.shape), plan, *about)
    share = request.n_components if isinstance(request.n_components, float) else 0.0
    enough = len(result.values) == min(rows.shape) or float(np.sum(result.values)) >= share * total
    return replace(fit, enough=enough, moments=found if _mergeable(found) else None)


def _mergeable(found: Moments) -> bool:
    """Whether a model should carry these moments: whole, not too large, and right in units that do not change."""
    whole = found.scatter.ndim == 2 or found.triangle is not None
    return whole and not found.rough and not (found.audit and found.scaled) and len(found.mean) <= LARGE

"""The planner: which solver, how many passes, how much memory, and why, before anything is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ritz.fitting import costs, rank, signflip_plans
from ritz.fitting.costs import Cost
from ritz.fitting.signflip_plans import Route
from ritz.linalg.products import float32_pays
from ritz.moments.accumulate import scatter_dtype
from ritz.rows import Rows, as_rows
from ritz.runtime.memory import format_bytes, parse_bytes
from ritz.solvers import SVD, Covariance, Gram, Krylov, Solver
from ritz.solvers.krylov import block_width

SMALL = 500  # rows and columns up to which svd, the most accurate solver, costs no noticeable time
QUICK = 0.5  # seconds that full accuracy in small variances may cost where it matters
DENSE = 4096  # order up to which an iterative solver works on the dense operator: one pass instead of many
NARROW_TOL = 5e-7  # accuracy that a subspace found in float32 has
# Memory, as a share of the data, beyond which a float32 copy of the covariance must save so much time.
MODEST, FRUGAL = 0.25, 1.3
GUESS = 64  # components that a share of the variance is expected to take


@dataclass(frozen=True)
class Plan:
    """What a fit will do.

    Attributes
    ----------
    solver : name of the solver
    side : "covariance" (d×d) or "gram" (n×n)
    passes : walks over the data, expected ones where the spectrum decides; None where nothing is expected
    operations : floating-point operations, likewise
    memory : bytes beside the data, at their peak
    why : the reason, in words
    dense : whether the operator is formed as a matrix
    seconds : expected, by the planner's table
    precision : of the products, "float64" or "float32"; sums, residuals and the certificate are float64
    columns : of the block that an iterative solver multiplies at once, None for direct solvers
    block_bytes, threads : the largest block of rows, in float64, and how many threads walk them
    refined : whether a covariance in float32 only finds the subspace, and a pass in float64 finishes it
    """

    solver: str
    side: str
    passes: int | None
    operations: float | None
    memory: int
    why: str
    dense: bool
    seconds: float = np.inf
    precision: str = "float64"
    columns: int | None = None
    block_bytes: int = 1 << 24
    threads: int | None = None
    refined: bool = False

    def __str__(self) -> str:
        where = "" if self.columns is None else f" on the {'dense ' if self.dense else ''}{self.side} side"
        about = "" if self.columns is None or self.dense else "about "
        passes = {None: "as many passes as the spectrum needs", 0: "no pass over all of it", 1: "1 pass"}.get(
            self.passes, f"{self.passes} passes"
        )
        cost = "" if self.operations is None else f", {self.operations:.1e} operations in {self.precision}"
        return f"{self.solver}{where}: {about}{passes}{cost}, {format_bytes(self.memory)} beside the data\n{self.why}"


def plan(X: object, n_components: int | float | str | None = None, memory_limit: int | str | None = None) -> Plan:
    """The plan that `PCA(n_components, memory_limit=memory_limit).fit(X)` would follow, without fitting.

    Examples
    --------
    >>> import numpy as np
    >>> print(plan(np.zeros((1000, 20)), 5))
    covariance: 1 pass, 4.1e+05 operations in float64, ... beside the data
    20 columns are fewer than 1000 rows, so the 20×20 covariance is the smallest matrix that holds the answer
    """
    rows, limit = as_rows(X), parse_bytes(memory_limit)
    rows.check_unchanged()
    asked = rank.checked(n_components, *rows.shape)
    if asked != "auto":
        return choose(rows, asked, limit)
    k = min(signflip_plans.GUESS, *rows.shape)
    how = f"how many components, here taken to be {k}, will be decided by {signflip_plans.COPIES}"
    return counted(choose(rows, k, limit), signflip_plans.route(rows, limit), how)


def counted(plan: Plan, route: Route, how: str) -> Plan:
    """A plan with what it takes to find the number of components beside it, and how that is done in words."""
    more = route.cost
    known = plan.passes is not None and plan.operations is not None
    return replace(
        plan,
        passes=plan.passes + more.passes if known else plan.passes,  # type: ignore[operator]
        operations=plan.operations + more.operations if known else plan.operations,  # type: ignore[operator]
        memory=max(plan.memory, more.memory),
        seconds=plan.seconds + more.seconds,
        why=f"{plan.why}; {how}",
    )


def choose(rows: Rows, asked: int | float | str | None, limit: int, tol: float = 1e-6) -> Plan:
    """The quickest plan that stays within `limit` bytes."""
    n, d = rows.shape
    k = asked if isinstance(asked, int) else min(n, d)
    finest = plan_for(rows, "svd", SVD(), k, limit)
    if max(n, d) <= SMALL and finest.memory <= limit:
        return replace(finest, why=f"{n}×{d} is small, so full accuracy in small variances costs nothing")
    nearly_all = k >= 0.8 * min(n, d) and n < 10 * d  # much taller data has its covariance almost for free
    if nearly_all and finest.seconds <= QUICK and finest.memory <= limit:
        return replace(finest, why="nearly the whole spectrum is asked for, and svd resolves its small end")
    name, solver = ("covariance", Covariance()) if d <= n else ("gram", Gram())
    direct = plan_for(rows, name, solver, k, limit)
    k = min(k, GUESS) if isinstance(asked, float) else k  # an iteration grows until the share is reached
    routes = [replace(direct, why=_smallest(n, d))]
    if asked != "mle":
        found = _krylov_plans(rows, "krylov", k, limit)
        wide = d <= n and float32_pays(n * d, d) and not rows.sparse
        if tol >= NARROW_TOL and wide and isinstance(asked, int):
            found.append(_refined_plan(rows, k, limit))
        routes += [replace(plan, why=_why_krylov(plan, n, d, k)) for plan in found]
    fitting = [plan for plan in routes if plan.memory <= limit]
    if not fitting:
        return min(routes, key=lambda plan: plan.memory)
    modest = MODEST * n * d * rows.dtype.itemsize
    best = min(fitting, key=lambda plan: plan.seconds * (FRUGAL if plan.refined and plan.memory > modest else 1.0))
    if direct.memory > limit:
        needed = f"{format_bytes(direct.memory)} of the {format_bytes(limit)} allowed"
        why = f"the {direct.solver} route would take {needed}, so the rows are walked again and again"
        return replace(best, why=why)
    return best


def _smallest(n: int, d: int) -> str:
    fewer, matrix = (
        (f"{d} columns are fewer than {n} rows", f"{d}×{d} covariance")
        if d <= n
        else (f"{n} rows are fewer than {d} columns", f"{n}×{n} Gram matrix")
    )
    return f"{fewer}, so the {matrix} is the smallest matrix that holds the answer"


def _krylov_plans(rows: Rows, name: str, k: int, limit: int, why: str = "") -> list[Plan]:
    """Block Krylov on the rows and on the smaller dense matrix.

    One pass over dense rows multiplies by Z and by Zᵀ; sparse ones take two products anyway, on the smaller side.
    """
    smaller = "covariance" if rows.shape[1] <= rows.shape[0] else "gram"
    side = smaller if rows.sparse else "covariance"
    return [
        _plan(rows, name, lambda rows: costs.krylov(rows, k, side, False), limit, side, False, why, k),
        _plan(rows, name, lambda rows: costs.krylov(rows, k, smaller, True), limit, smaller, True, why, k),
    ]


def _refined_plan(rows: Rows, k: int, limit: int) -> Plan:
    plan = _plan(rows, "krylov", lambda rows: costs.refined(rows, k), limit, "covariance", True, "", k)
    return replace(plan, precision="float32", refined=True)


def _why_krylov(plan: Plan, n: int, d: int, k: int) -> str:
    if plan.refined:
        return f"{k} of {d} components are found in a float32 covariance, and finished by one pass in float64"
    if plan.dense:
        return f"{k} of {min(n, d)} components take fewer operations by iteration than by a full decomposition"
    return f"products with {plan.columns} columns at a time take less than those of the {n}×{d} rows with themselves"


def plan_for(rows: Rows, name: str, solver: Solver, k: int, limit: int) -> Plan:
    """What a given solver would do."""
    n, d = rows.shape
    why = f"{name} was asked for"
    if isinstance(solver, SVD):
        return _plan(rows, name, costs.svd, limit, "covariance", False, why)
    if isinstance(solver, Krylov):
        plans = _krylov_plans(rows, name, k, limit, why)
        fitting = [plan for plan in plans if plan.memory <= limit]
        return min(fitting, key=lambda plan: plan.seconds) if fitting else min(plans, key=lambda plan: plan.memory)
    side = solver.side if solver.side != "either" else ("gram" if n < d else "covariance")
    if solver.direct:
        cost = costs.gram if side == "gram" else costs.covariance
        return _plan(rows, name, lambda rows: cost(rows, k), limit, side, True, why)
    dense = _plan(rows, name, lambda rows: costs.iterative(rows, k, side, True), limit, side, True, why, k)
    if (n if side == "gram" else d) <= DENSE and dense.memory <= limit:
        return dense
    free = "covariance" if solver.side == "either" else side
    return _plan(rows, name, lambda rows: costs.iterative(rows, k, free, False), limit, free, False, why, k)


def _plan(
    rows: Rows,
    name: str,
    cost: Callable[[Rows], Cost],
    limit: int,
    side: str,
    dense: bool,
    why: str,
    k: int | None = None,
) -> Plan:
    """The plan of a route, in blocks as large as the limit allows, and fewer threads where that is not enough."""
    found, size, threads = costs.within(rows, cost, limit)
    known = np.isfinite(found.seconds)
    narrow = dense and side == "covariance" and scatter_dtype(rows) == np.float32
    return Plan(
        solver=name,
        side=side,
        passes=found.passes if known else (1 if dense and side == "covariance" else None),
        operations=found.operations if known else None,
        memory=found.memory,
        why=why,
        dense=dense,
        seconds=found.seconds,
        precision="float32" if narrow else "float64",
        columns=None if k is None else block_width(k) if name == "krylov" else k,
        block_bytes=size,
        threads=threads,
    )

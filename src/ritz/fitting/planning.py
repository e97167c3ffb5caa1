"""The planner: which solver, how many passes, how much memory, and why, before anything is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ritz.fitting import costs, rank, signflip_plans
from ritz.fitting.costs import Cost, Rates
from ritz.fitting.request import checked_components
from ritz.fitting.signflip_plans import Route
from ritz.linalg.dense import float32_pays
from ritz.moments.accumulate import scatter_dtype
from ritz.rows import Rows, as_rows
from ritz.rows.memory.array import ArrayRows
from ritz.rows.passes import entry_bytes
from ritz.runtime.memory import format_bytes
from ritz.runtime.rules import parse_bytes
from ritz.runtime.wording import plural
from ritz.solvers import SVD, Krylov, Solver
from ritz.solvers.base import block_width
from ritz.solvers.krylov import SPARE

SMALL = 500  # rows and columns up to which svd, the most accurate solver, costs no noticeable time
QUICK = 0.5  # seconds that full accuracy in small variances may cost where it matters
DENSE = 4096  # order up to which an iterative solver works on the dense operator: one pass instead of many
NARROW_TOL = 5e-7  # accuracy that a subspace found in float32 has
# Memory, as a share of the data, beyond which a float32 copy of the covariance must save so much time.
MODEST, FRUGAL = 0.25, 1.3
GUESS = 64  # components that a share of the variance is expected to take
BEST = "tol=0 asks for the best the arithmetic allows"


@dataclass(frozen=True)
class Plan:
    """What a fit will do.

    Attributes
    ----------
    solver : name of the solver
    side : "covariance" (d×d) or "gram" (n×n)
    passes : over the data, expected ones where the spectrum decides; None where nothing is expected
    operations : floating-point operations, likewise
    memory : bytes of working memory at their peak; the data is not counted
    why : the reason, in words
    dense : whether the operator is formed as a matrix
    seconds : expected, by the planner's table
    precision : of the products, "float64" or "float32"; sums, residuals and the certificate are float64
    columns : of the block that an iterative solver multiplies at once, None for direct solvers
    block_bytes, threads : the largest block of rows, in float64, and how many threads read them
    refined : whether a covariance in float32 only finds the subspace, and a pass in float64 finishes it
    workers : of the cluster that the rows lie on, 0 where they are on this machine; memory is then that of each
    moved : bytes between workers in all rounds, at most; a pass is a round

    Examples
    --------
    >>> from ritz import PCA
    >>> found = PCA(5).fit(np.random.default_rng(0).standard_normal((600, 20))).plan_
    >>> found.solver, found.side, found.passes
    ('covariance', 'covariance', 1)
    >>> print(found.why)
    20 columns are fewer than 600 rows, so the 20×20 covariance is the smallest matrix that holds the answer
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
    workers: int = 0
    moved: int | None = None

    def __str__(self) -> str:
        return "\n".join(filter(None, (self.summary, self.travel, self.why)))

    @property
    def travel(self) -> str:
        """What a cluster has to do beside computing, in one line; "" where there is none."""
        if not self.workers:
            return ""
        count, moved = self.passes, self.moved
        rounds = "a round for every pass" if count is None else f"{count} {plural(count, 'round')}"
        between = "" if moved is None else f", at most {format_bytes(moved)} between workers"
        workers = f"{self.workers} {plural(self.workers, 'worker')}"
        return f"on {workers}, each with that memory: {rounds}{between}"

    @property
    def summary(self) -> str:
        """What it does and costs, in one line."""
        told = self.columns is None or self.solver == "dense"  # its name says where
        where = "" if told else f" on the {'dense ' if self.dense else ''}{self.side} side"
        about = "" if self.columns is None or self.dense else "about "
        passes = {None: "as many passes as the spectrum needs", 0: "no pass over the data", 1: "1 pass"}.get(
            self.passes, f"{self.passes} passes"
        )
        cost = "" if self.operations is None else f", {self.operations:.1e} operations in {self.precision}"
        memory = f"{format_bytes(self.memory)} of working memory"
        return f"{self.solver}{where}: {about}{passes}{cost}, {memory}"

    @classmethod
    def of(cls, cost: Cost, solver: str, side: str, *, dense: bool, why: str = "") -> Plan:
        """A plan that costs so much."""
        return cls(solver, side, why=why, dense=dense, **vars(cost))

    @staticmethod
    def cheapest(plans: Sequence[Plan], limit: int, modest: float = np.inf) -> Plan:
        """The quickest plan within `limit` bytes; where none is, the one that takes the least memory.

        A float32 copy of the covariance that takes more than `modest` bytes must save time for it.
        """
        fitting = [plan for plan in plans if plan.memory <= limit]
        if not fitting:
            return min(plans, key=lambda plan: plan.memory)
        return min(fitting, key=lambda p: p.seconds * (FRUGAL if p.refined and p.memory > modest else 1.0))


def plan(X: object, n_components: int | float | str | None = None, memory_limit: int | str | None = None) -> Plan:
    """The plan that `PCA(n_components, memory_limit=memory_limit).fit(X)` would follow, without fitting.

    Examples
    --------
    >>> import numpy as np
    >>> print(plan(np.zeros((1000, 20)), 5))
    covariance: 1 pass, 4.1e+05 operations in float64, ... of working memory
    20 columns are fewer than 1000 rows, so the 20×20 covariance is the smallest matrix that holds the answer
    """
    rows, limit = as_rows(X), parse_bytes(memory_limit)
    limit = within_worker(rows, limit)
    rows.check_unchanged()
    asked = checked_components(n_components, *rows.shape)
    if asked != "auto":
        return remarked(choose(rows, asked, limit), rows)
    k = min(signflip_plans.GUESS, *rows.shape)
    how = f"how many components, here taken to be {k}, will be decided by {rank.copies()}"
    return counted(remarked(choose(rows, k, limit), rows), signflip_plans.route(rows, limit), how)


def within_worker(rows: Rows, limit: int) -> int:
    """The memory that a fit may take: the limit, and no more than a worker has where rows lie on a cluster."""
    memory = None if rows.workers is None else rows.workers.memory
    return limit if memory is None else min(limit, memory)


def remarked(plan: Plan, rows: Rows) -> Plan:
    """A plan that says where rows on a device are computed, if not there."""
    n, d = rows.shape
    remark = rows.remark
    if rows.on_device and plan.solver == "svd" and n <= d:
        remark = f"the {n} rows are copied to the CPU, whose LAPACK decomposes them"
    return replace(plan, why=f"{plan.why}; {remark}") if remark else plan


def counted(plan: Plan, route: Route, how: str) -> Plan:
    """A plan with what it takes to find the number of components beside it, and how that is done in words."""
    more = route.cost
    if plan.passes is not None and plan.operations is not None:
        plan = replace(plan, passes=plan.passes + more.passes, operations=plan.operations + more.operations)
    memory, seconds = max(plan.memory, more.memory), plan.seconds + more.seconds
    return replace(plan, memory=memory, seconds=seconds, why=f"{plan.why}; {how}")


def choose(rows: Rows, asked: int | float | str | None, limit: int, tol: float = 1e-6) -> Plan:
    """The quickest plan that stays within `limit` bytes, or the most accurate one where tol is 0."""
    if tol == 0 and (finest := svd_plan(rows, limit, BEST)).memory <= limit:
        return finest
    (n, d), k = rows.shape, asked if isinstance(asked, int) else min(rows.shape)
    if free := _accurate_for_free(rows, k, limit):
        return free
    direct = direct_plan(rows, k, limit, why=_why_direct(n, d))
    k = min(k, GUESS) if isinstance(asked, float) else k  # an iteration grows until the share is reached
    plans = [] if asked == "mle" else krylov_plans(rows, k, limit)
    much = d <= n and float32_pays(n * d, d) and not (rows.sparse or rows.on_device)
    if tol >= NARROW_TOL and much and isinstance(asked, int):
        known: dict[str, Any] = {"solver": "krylov", "columns": block_width(k), "precision": "float32", "refined": True}
        plans.append(_plan(rows, "covariance", True, limit, partial(costs.refined, k=k), **known))
    best = Plan.cheapest([direct, *plans], limit, MODEST * n * d * rows.dtype.itemsize)
    if best is not direct:
        best = replace(best, why=_why_krylov(best, n, d, k))
    if direct.memory <= limit or best.memory > limit:
        return best
    needed, allowed = format_bytes(direct.memory), format_bytes(limit)
    why = f"{direct.solver} needs {needed}, more than the {allowed} allowed, so the rows are read in several passes"
    return replace(best, why=why)


def cached_choice(rows: Rows, asked: int | float | str | None, limit: int, tol: float) -> Plan:
    """Like `choose`, but remembered for arrays in memory, for which shape and type decide: fits are often repeated."""
    if type(rows) is not ArrayRows:
        return choose(rows, asked, limit, tol)
    about = rows.most_bytes, rows.most_threads, rows.threads, costs.rates()
    return plan_of_array(asked, limit, tol, rows.shape, rows.dtype, *about)


@lru_cache(maxsize=64, typed=True)
def plan_of_array(
    asked: int | float | str | None,
    limit: int,
    tol: float,
    shape: tuple[int, int],
    dtype: np.dtype[Any],
    most_bytes: int,
    most_threads: int,
    threads: int,
    rates: Rates,
) -> Plan:
    """The plan for an array like this. How many threads there are, and the rates, are the same wherever they are asked
    for: another number is another plan."""
    rows = ArrayRows(np.broadcast_to(np.zeros((), dtype), shape))
    return choose(rows.limited(most_bytes, most_threads), asked, limit, tol)


def _accurate_for_free(rows: Rows, k: int, limit: int) -> Plan | None:
    """svd, the most accurate solver, where it costs next to nothing."""
    n, d = rows.shape
    small = max(n, d) <= SMALL
    nearly_all = k >= 0.8 * min(n, d) and n < 10 * d  # much taller data has its covariance almost for free
    if not (small or nearly_all):
        return None
    why = "nearly the whole spectrum is asked for, and svd resolves its small end"
    finest = svd_plan(
        rows, limit, f"{n}×{d} is small, so full accuracy in small variances costs nothing" if small else why
    )
    return finest if finest.memory <= limit and (small or finest.seconds <= QUICK) else None


def _why_direct(n: int, d: int) -> str:
    compared = "as many as" if n == d else "fewer than"
    if d <= n:
        sizes, matrix = f"{d} columns are {compared} {n} rows", f"{d}×{d} covariance"
    else:
        sizes, matrix = f"{n} rows are {compared} {d} columns", f"{n}×{n} Gram matrix"
    return f"{sizes}, so the {matrix} is the smallest matrix that holds the answer"


def _why_krylov(plan: Plan, n: int, d: int, k: int) -> str:
    if plan.refined:
        return f"{k} of {d} components are found in a float32 covariance, and finished by one pass in float64"
    if plan.dense:
        return f"{k} of {min(n, d)} components take fewer operations by iteration than by a full decomposition"
    matrix = "covariance" if d <= n else "Gram matrix"
    return f"block Krylov, {plan.columns} vectors per pass, costs less than forming the {matrix}"


def plan_for(rows: Rows, name: str, solver: Solver, k: int, limit: int) -> Plan:
    """What a given solver would do."""
    side = smaller_side(rows) if solver.side == "either" else solver.side
    if side == "covariance" and not isinstance(solver, SVD):
        rows.check_whole(f"svd_solver={name!r}")
    if isinstance(solver, SVD):
        plan = svd_plan(rows, limit)
    elif isinstance(solver, Krylov):
        plan = Plan.cheapest(krylov_plans(rows, k, limit), limit)
    elif solver.direct:
        plan = direct_plan(rows, k, limit, side)
    else:
        plan = _iterative_plan(rows, k, limit, side, rows.passes.side if solver.side == "either" else side)
    return replace(plan, solver=name, why=f"{name} was asked for")


def smaller_side(rows: Rows) -> str:
    """The side of the smaller matrix: the d×d covariance, or the n×n Gram matrix."""
    return "covariance" if rows.shape[1] <= rows.shape[0] else "gram"


def svd_plan(rows: Rows, limit: int, why: str = "") -> Plan:
    """svd, the most accurate solver."""
    return _plan(rows, "covariance", False, limit, costs.svd, solver="svd", why=why)


def direct_plan(rows: Rows, k: int, limit: int, side: str | None = None, why: str = "") -> Plan:
    """LAPACK on the smaller matrix, or on that of one side."""
    side = side or smaller_side(rows)
    return _plan(rows, side, True, limit, partial(costs.direct, k=k, side=side), k + 1, why=why)


def krylov_plans(rows: Rows, k: int, limit: int) -> list[Plan]:
    """Block Krylov on the rows and on the smaller dense matrix; sparse ones take two products anyway, on its side."""
    smaller = smaller_side(rows)
    ways = ((smaller if rows.sparse else rows.passes.side, False), (smaller, True))
    free = rows.free_columns
    return [
        _plan(
            rows,
            side,
            dense,
            limit,
            partial(costs.krylov, k=k, side=side, dense=dense),
            k + SPARE,
            solver="krylov",
            columns=block_width(k, 1 if dense else free),
        )
        for side, dense in ways
    ]


def _iterative_plan(rows: Rows, k: int, limit: int, side: str, free: str) -> Plan:
    """An iteration of which only the spectrum knows how many steps it takes, on a dense matrix of moderate order."""
    plan = _plan(rows, side, True, limit, partial(costs.iterative, k=k, side=side, dense=True), k + costs.OVERSAMPLED)
    if costs.order_of(rows, side) <= DENSE and plan.memory <= limit:
        return replace(plan, columns=k, passes=1 if side == "covariance" else None, operations=None)
    cost = partial(costs.iterative, k=k, side=free, dense=False)
    return _plan(rows, free, False, limit, cost, k + costs.OVERSAMPLED, columns=k, passes=None, operations=None)


def _plan(
    rows: Rows, side: str, dense: bool, limit: int, cost: Callable[[Rows], Cost], width: int = 0, **known: Any
) -> Plan:
    """In blocks as large as the limit allows, and with fewer threads where that is not enough."""
    narrow = dense and side == "covariance" and scatter_dtype(rows) == np.float32
    about = {"solver": side, "why": "", "precision": "float32" if narrow else "float64", **known}
    plan = Plan(side=side, dense=dense, **{**vars(costs.within(rows, cost, limit)), **about})
    if rows.workers is None:
        return plan
    W = rows.workers.count
    moved = _moved(plan, rows, W) if rows.passes.side == "covariance" else _moved_by_columns(plan, rows, W, width)
    return replace(plan, workers=W, moved=moved)


def _moved_by_columns(plan: Plan, rows: Rows, W: int, width: int) -> int | None:
    """Bytes that travel where parts hold whole columns: what is known of every column, its entries in a basis that goes
    there or back four times at most, and of the matrices of a round a result of each worker and what each must know."""
    (n, d), width = rows.shape, min(width, rows.shape[0])
    if plan.solver == "svd":
        return 8 * d * (rows.passes.known + n)  # all of the data
    if plan.passes is None and not plan.dense:
        return None
    rounds = n * n if plan.dense else (plan.passes or 0) * n * (plan.columns or 1)
    return 8 * (d * (rows.passes.known + 4 * width) + 2 * W * (rounds + 4 * n * width))


def _moved(plan: Plan, rows: Rows, W: int) -> int | None:
    """Bytes that travel between workers: a result of each to the next one, and what all of them must know to each.

    A Gram matrix needs rows of two chunks for every tile of it, so that chunks travel.
    """
    n, d = rows.shape
    if plan.side == "gram":
        return int(2 * W * n * d * entry_bytes(rows))
    once = 2 * W * 8 * d * d if plan.dense or plan.solver == "svd" else 0
    columns = plan.columns or 0
    rounds = None if plan.passes is None else plan.passes - bool(once)
    return None if rounds is None else int(once + 2 * rounds * W * 8 * d * max(columns, 1))

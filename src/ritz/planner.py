"""The planner: which solver, how many passes, how much memory, and why, before anything is computed."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

from ritz import rank
from ritz.rows import Rows, as_rows
from ritz.solvers import SVD, Covariance, Gram, Orthogonal, Solver
from ritz.threads import pinned

SMALL = 500  # rows and columns up to which svd, the most accurate solver, costs no noticeable time
QUICK = 4e9  # operations that take a few tenths of a second
DENSE = 4096  # order up to which an iterative solver works on the dense operator: one pass instead of many


@dataclass(frozen=True)
class Plan:
    """What a fit will do.

    Attributes
    ----------
    solver : name of the solver
    side : "covariance" (d×d) or "gram" (n×n)
    passes : walks over the data, None where the spectrum decides
    operations : floating-point operations, None where the spectrum decides
    memory : bytes beside the data, at their peak
    why : the reason, in words
    dense : whether the operator is formed as a matrix
    """

    solver: str
    side: str
    passes: int | None
    operations: float | None
    memory: int
    why: str
    dense: bool

    def __str__(self) -> str:
        where = "" if self.operations is not None else f" on the {self.side} side"
        passes = {None: "as many passes as the spectrum needs", 1: "1 pass"}.get(self.passes, f"{self.passes} passes")
        cost = "" if self.operations is None else f", {self.operations:.1e} operations"
        return f"{self.solver}{where}: {passes}{cost}, {format_bytes(self.memory)} beside the data\n{self.why}"


def plan(X: object, n_components: int | float | str | None = None, memory_limit: int | str | None = None) -> Plan:
    """The plan that `PCA(n_components, memory_limit=memory_limit).fit(X)` would follow, without fitting.

    Examples
    --------
    >>> import numpy as np
    >>> print(plan(np.zeros((1000, 20)), 5))
    covariance: 1 pass, 4.1e+05 operations, ... beside the data
    20 columns are fewer than 1000 rows, so the 20×20 covariance is the smallest matrix that holds the answer
    """
    rows = as_rows(X)
    asked = rank.checked(n_components, *rows.shape)
    return choose(rows, asked, parse_bytes(memory_limit))


def choose(rows: Rows, asked: int | float | str | None, limit: int) -> Plan:
    """The cheapest plan that stays within `limit` bytes."""
    n, d = rows.shape
    k = asked if isinstance(asked, int) else min(n, d)
    finest = plan_for(rows, "svd", SVD(), k, limit)
    if max(n, d) <= SMALL:
        return replace(finest, why=f"{n}×{d} is small, so full accuracy in small variances costs nothing")
    nearly_all = k >= 0.8 * min(n, d) and n < 10 * d  # much taller data has its covariance almost for free
    if nearly_all and (finest.operations or 0.0) <= QUICK and finest.memory <= limit:
        return replace(finest, why="nearly the whole spectrum is asked for, and svd resolves its small end")
    first, solver, why = (
        ("covariance", Covariance(), f"{d} columns are fewer than {n} rows, so the {d}×{d} covariance")
        if d <= n
        else ("gram", Gram(), f"{n} rows are fewer than {d} columns, so the {n}×{n} Gram matrix")
    )
    best = replace(plan_for(rows, first, solver, k, limit), why=f"{why} is the smallest matrix that holds the answer")
    if best.memory <= limit:
        return best
    return replace(
        plan_for(rows, "orthogonal", Orthogonal(), k, limit),
        why=f"the {first} route would take {format_bytes(best.memory)} of the {format_bytes(limit)} allowed, so the "
        "rows are walked again and again",
    )


def plan_for(rows: Rows, name: str, solver: Solver, k: int, limit: int) -> Plan:
    """What a given solver would do."""
    n, d = rows.shape
    side = solver.side if solver.side != "either" else ("gram" if n < d else "covariance")
    order = n if side == "gram" else d
    workers, small, why = pinned.budget(), min(n, d), f"{name} was asked for"
    walk = 8 * rows.block_rows * d * workers
    block = 8 * (n + d) * (k + 10) * 3
    if isinstance(solver, SVD):
        memory = walk + 8 * (4 * small * small + (3 * n * d if n <= d else 2 * d * d * workers))
        return Plan(name, side, 2, 2.0 * n * d * small + 14.0 * small**3, memory, why, False)
    matrix = 8 * order * order * (3 if side == "gram" else 2 + 2 * workers)
    if not solver.direct:
        dense = order <= DENSE and walk + block + matrix <= limit
        passes = 1 if dense and side == "covariance" else None
        return Plan(name, side, passes, None, walk + block + dense * matrix, why, dense)
    lifted = side == "gram"
    operations = 1.0 * n * d * order + 4.0 / 3 * order**3 + 2.0 * order * order * k + lifted * 8.0 * n * d * k
    return Plan(name, side, 5 if lifted else 1, operations, walk + matrix + lifted * block, why, True)


def parse_bytes(limit: Any) -> int:
    """Bytes from 2e9, "512MB" or "2 GiB"; None stands for the physical memory of this machine.

    Examples
    --------
    >>> parse_bytes("512MB")
    512000000
    """
    if limit is None:
        return _physical_memory()
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)(i?)b?\s*", limit.lower())
        if not match:
            raise ValueError(f"memory_limit={limit!r} is not a size; write for instance '512MB' or '2GiB'")
        number, prefix, binary = match.groups()
        limit = float(number) * (1024 if binary else 1000) ** " kmgt".index(prefix or " ")
    count = float(limit) if isinstance(limit, Real) and not isinstance(limit, bool) else 0.0
    if not count > 0:
        raise ValueError(f"memory_limit={limit!r} must be a positive number of bytes")
    return int(count)


def format_bytes(count: float) -> str:
    """Bytes for people."""
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 100 or unit == "GB":
            break
    return f"{count:.1f} {unit}"


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every platform tells
        return 8 << 30

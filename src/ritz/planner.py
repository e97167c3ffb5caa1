"""The planner: which solver, how many passes, how much memory, and why, before anything is computed."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from ritz.rows import Rows, as_rows
from ritz.threads import pinned

SMALL = 500  # rows and columns up to which svd, the most accurate solver, costs no noticeable time
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
        where = "" if self.solver in ("covariance", "gram", "svd") else f" on the {self.side} side"
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
    n, d = rows.shape
    k = n_components if isinstance(n_components, int) else min(n, d)
    return choose(rows, "auto", k, parse_bytes(memory_limit))


def choose(rows: Rows, solver: str, k: int, limit: int) -> Plan:
    """The plan for a solver by name, or the cheapest one that stays within `limit` bytes for "auto"."""
    if solver != "auto":
        return _plan(rows, solver, k, limit, f"{solver} was asked for")
    n, d = rows.shape
    if max(n, d) <= SMALL:
        return _plan(rows, "svd", k, limit, f"{n}×{d} is small, so full accuracy in small variances costs nothing")
    first, why = (
        (
            "covariance",
            f"{d} columns are fewer than {n} rows, so the {d}×{d} covariance is the smallest matrix",
        )
        if d <= n
        else (
            "gram",
            f"{n} rows are fewer than {d} columns, so the {n}×{n} Gram matrix is the smallest matrix",
        )
    )
    best = _plan(rows, first, k, limit, why + " that holds the answer")
    if best.memory <= limit:
        return best
    return _plan(
        rows,
        "orthogonal",
        k,
        limit,
        f"the {first} route would take {format_bytes(best.memory)} of the {format_bytes(limit)} allowed, so the rows "
        "are walked again and again",
    )


def _plan(rows: Rows, solver: str, k: int, limit: int, why: str) -> Plan:
    n, d = rows.shape
    workers = pinned.budget()
    walk = 8 * rows.block_rows * d * workers
    if solver == "svd":
        small = min(n, d)
        memory = walk + 8 * (3 * small * small + (3 * n * d if n <= d else 2 * d * d * workers))
        return Plan(solver, "covariance", 2, 2.0 * n * d * small + 14.0 * small**3, memory, why, False)
    wide = solver == "gram" or (solver not in ("covariance", "gram") and n < d)
    side, order = ("gram", n) if wide else ("covariance", d)
    matrix = 8 * order * order * (3 if wide else 2 + 2 * workers)
    iterative = solver not in ("covariance", "gram")
    dense = not iterative or (order <= DENSE and walk + matrix <= limit)
    block = 8 * (n + d) * (k + 10) * 3
    if iterative:
        passes = 1 if dense and not wide else None
        return Plan(solver, side, passes, None, walk + block + (matrix if dense else 0), why, dense)
    operations = 1.0 * n * d * order + 4.0 / 3 * order**3 + 2.0 * order * order * k + (8.0 * n * d * k if wide else 0)
    return Plan(solver, side, 5 if wide else 1, operations, walk + matrix + (block if wide else 0), why, True)


def parse_bytes(limit: int | float | str | None) -> int:
    """Bytes from 2e9, "512MB" or "2 GiB"; None stands for the physical memory of this machine.

    Examples
    --------
    >>> parse_bytes("512MB")
    512000000
    """
    if limit is None:
        return _physical_memory()
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9.]+)\s*([kMGT]?)(i?)B?\s*", limit)
        if not match:
            raise ValueError(f"memory_limit={limit!r} is not a size; write for instance '512MB' or '2GiB'")
        number, prefix, binary = match.groups()
        limit = float(number) * (1024 if binary else 1000) ** " kMGT".index(prefix or " ")
    count = limit if isinstance(limit, int | float) and not isinstance(limit, bool) else 0
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

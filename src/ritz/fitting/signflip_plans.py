"""How the spectra of rows with random signs are found: the quickest way that stays within memory, and what it takes.

A cost counts the operations and passes of all copies. What is quickest is judged by the seconds of those that it mostly
takes: as many as `stopping` asks for, or the whole first pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from ritz.fitting import costs
from ritz.fitting.costs import Cost, rates
from ritz.fitting.edges import ITERATED
from ritz.fitting.rank import FLIPS
from ritz.fitting.signflips import STRIP, Flipped, flipping_dtype
from ritz.fitting.stopping import LEAST
from ritz.moments.preprocessing import Preprocessing
from ritz.rows import Rows
from ritz.rows.memory.array import ArrayRows
from ritz.rows.passes import block_memory, entry_bytes
from ritz.runtime.memory import format_bytes, too_small
from ritz.solvers.base import block_width, expected_steps

SPECTRA = FLIPS + 1  # those of the copies, and that of the rows themselves
GUESS = 16  # components that an iteration starts with, until one is not above noise
LITTLE = 1 << 14  # entries in memory of which all copies are made at once: to ask in between takes as long
ROOM = 1 << 30  # bytes for matrices of rows in memory, which may as well be read again
PARSED = 10  # times as long as a pass in memory that one along a file takes
FLAT = 3  # times as many products as usual that an iteration takes where the spectrum is that of noise


@dataclass(frozen=True)
class Route:
    """A way to the spectra of the rows and their flipped copies.

    Attributes
    ----------
    kind : "scatter" (d×d matrices, several from one pass), "gram" (n×n, of rows in memory) or "krylov" (products)
    cost : what it takes
    at_once : spectra from one pass
    first : copies that the first pass makes, beside the spectrum of the rows themselves
    quick : whether a pass takes little time beside a copy, so that a few copies are made at a time
    """

    kind: str
    cost: Cost
    at_once: int
    first: int = 0
    quick: bool = False

    @property
    def groups(self) -> list[list[int | None]]:
        """The flips of every pass, None for the rows themselves: after each it is seen whether more are needed."""
        ends = [0, self.first]
        while (done := ends[-1]) < FLIPS:
            ends.append(min(FLIPS, done + min(self.at_once, LEAST - done if done < LEAST else FLIPS)))
        found: list[list[int | None]] = [list(range(*pair)) for pair in pairwise(ends)]
        return [[None, *found[0]], *found[1:]]

    def followed(self, stages: Sequence[int]) -> Route:
        """The same as far as it was followed: in every stage until so many copies had been compared."""
        share = sum(flips + 1 for flips in stages) / SPECTRA
        passes = round(share * self.cost.passes)
        if self.kind != "krylov":
            passes = 1 + sum(self.passes_of(flips) for flips in stages)
        return replace(self, cost=replace(self.cost, passes=passes, operations=share * self.cost.operations))

    def passes_of(self, flips: int) -> int:
        """Passes of a stage with so many copies."""
        return sum(group[0] is None or group[0] < flips for group in self.groups if group)


def route(rows: Rows, limit: int) -> Route:
    """The quickest route within `limit` bytes."""
    rows.check_whole("n_components='auto'")
    n, d = rows.shape
    found = [_krylov(rows, limit)]
    if d <= n:
        found.append(by_matrices("scatter", rows, limit))
    elif not rows.scattered and (rows.in_memory or costs.holdable(rows, limit)):
        found.append(by_matrices("gram", rows, limit))
    fitting = [one for one in found if one.cost.memory <= limit]
    if not fitting:
        needed = format_bytes(min(one.cost.memory for one in found))
        why = f"copies of the rows with flipped signs need {needed} of working memory"
        advice = "raise it or ask for a number of components"
        raise too_small(limit, why, advice, "memory_of_flips", purpose=" for n_components='auto'")
    return min(fitting, key=lambda one: one.cost.seconds)


def by_matrices(kind: str, rows: Rows, limit: int) -> Route:
    """As many spectra from one pass as leave room, but at least one; in memory, no more than are soon needed."""
    (n, d), order = rows.shape, min(rows.shape)
    room = min(limit, ROOM) if kind == "gram" or rows.in_memory else limit
    quick = _quick(rows)
    most = LEAST if quick and SPECTRA * order**2 > n * d else SPECTRA
    at_once = next((count for count in range(most, 1, -1) if _matrices_cost(rows, kind, count).memory <= room), 1)
    cost = costs.within(rows, partial(_matrices_cost, kind=kind, at_once=at_once), limit)
    return Route(kind, cost, at_once, min(1, at_once - 1) if quick else at_once - 1, quick)


def _quick(rows: Rows) -> bool:
    """Whether a pass takes little beside a copy, and to stop early saves more than it takes to ask."""
    return rows.in_memory and rows.shape[0] * rows.shape[1] > LITTLE


def _krylov(rows: Rows, limit: int) -> Route:
    flipped, k = Flipped(rows, Preprocessing(), 0, 0), min(GUESS, *rows.shape)
    return Route("krylov", costs.within(flipped, partial(_krylov_cost, k=k), limit), 1)


def _matrices_cost(rows: Rows, kind: str, at_once: int) -> Cost:
    """Spectra of d×d scatters, or of n×n inner products by strips of columns of rows in memory, so many from one pass,
    and LAPACK's eigenvalues."""
    (n, d), passes, size = rows.shape, -(-SPECTRA // at_once), flipping_dtype(rows).itemsize
    order, reading = (n, costs.one_pass(rows)) if kind == "gram" else (d, _read(rows))
    quick = _quick(rows)
    operations, seconds = _flipping(rows, order, LEAST if quick else max(LEAST, at_once - 1))
    # Sums in every thread, those that wait and their total; strips, or blocks before and after a flip and the signs.
    memory = size * order * order * at_once * (rows.threads + 3) + 24 * order * order
    memory += 40 * n * min(STRIP, d) * rows.threads if kind == "gram" else int(block_memory(rows, 4))
    if kind == "gram" and not (isinstance(rows, ArrayRows) and rows.in_memory):
        memory += int(entry_bytes(rows) * n * d)  # tables and files become arrays, sparse rows are turned
    return costs.total(costs.diagonal(rows), Cost(operations, passes, passes * reading + seconds, memory))


def _krylov_cost(rows: Rows, k: int) -> Cost:
    """The largest value of all but one of them by iteration, and k of the last; every step makes the signs again."""
    one, own = costs.krylov(rows, 1, "covariance", False), costs.krylov(rows, k, "covariance", False)
    steps = FLAT * (FLIPS * expected_steps(1) + expected_steps(k))
    likely = FLAT * (LEAST * expected_steps(1) + expected_steps(k))
    seconds = FLAT * (LEAST * one.seconds + own.seconds) + likely * (_read(rows) + costs.one_pass(rows))
    operations = FLAT * (FLIPS * one.operations + own.operations)
    return Cost(operations, steps, seconds, own.memory)


def _flipping(rows: Rows, order: int, likely: int) -> tuple[float, float]:
    """Operations of all copies and seconds of so many: signs, products and eigenvalues, but for reading the rows.

    To flip a block takes about as long as to centre it. Of copies the largest eigenvalue is found alone, by iteration
    where the matrix is large.
    """
    (n, d), own, edge, solving = rows.shape, 4 / 3 * order**3, 4 / 3 * order**3, rates().reduction
    if order > ITERATED:
        edge, solving = FLAT * expected_steps(1) * 2.0 * order**2 * block_width(1), rates().thin
    multiplying = rates().narrow if flipping_dtype(rows) == np.float32 else rates().product
    one = 8 * (1.0 * n * d) / rates().walk + 1.0 * n * d * order / multiplying
    operations = SPECTRA * 1.0 * n * d * order + own + FLIPS * edge
    return operations, (likely + 1) * one + own / rates().reduction + likely * edge / solving


def _read(rows: Rows) -> float:
    """Seconds of a pass that may have to parse a file."""
    return (1 if rows.in_memory else PARSED) * costs.one_pass(rows)

"""How the spectra of rows with random signs are found: the quickest way that stays within memory, and what it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ritz.fitting import costs
from ritz.fitting.costs import Cost
from ritz.fitting.signflips import STRIP, Flipped, product_dtype
from ritz.moments.preprocessing import Preprocessing
from ritz.rows import Rows
from ritz.runtime.memory import format_bytes

FLIPS = 19  # copies: what exceeds all of them is a test at 5 %
COPIES = f"{FLIPS} copies of the rows with random signs"
GUESS = 16  # components that an iteration starts with, until one is not above noise
ROOM = 1 << 30  # bytes for matrices of rows in memory, which may as well be walked again


@dataclass(frozen=True)
class Route:
    """A way to the spectra of the rows and their flipped copies.

    Attributes
    ----------
    kind : "scatter" (d×d matrices, several from one pass), "gram" (n×n, of rows in memory) or "krylov" (products)
    cost : what it takes
    at_once : spectra from one pass
    block_bytes, threads : the largest block of rows, in float64, and how many threads walk them
    """

    kind: str
    cost: Cost
    at_once: int
    block_bytes: int
    threads: int


def route(rows: Rows, limit: int) -> Route:
    """The quickest route within `limit` bytes."""
    n, d = rows.shape
    found = [_krylov(rows, limit)]
    if d <= n:
        found.append(_scatter(rows, limit))
    elif rows.in_memory or costs.holdable(rows, limit):
        found.append(_gram(rows, limit))
    fitting = [one for one in found if one.cost.memory <= limit]
    if not fitting:
        needed, allowed = format_bytes(min(one.cost.memory for one in found)), format_bytes(limit)
        raise ValueError(
            f"memory_limit of {allowed} is too small for n_components='auto': copies of the rows with flipped signs "
            f"need {needed} beside the data; raise it or ask for a number of components"
        )
    return min(fitting, key=lambda one: one.cost.seconds)


def _scatter(rows: Rows, limit: int) -> Route:
    dtype, room = product_dtype(rows), min(limit, ROOM) if rows.in_memory else limit
    at_once = _most(lambda count: costs.flipped_scatters(rows, FLIPS + 1, count, dtype), room)
    found = costs.within(rows, lambda rows: costs.flipped_scatters(rows, FLIPS + 1, at_once, dtype), limit)
    return Route("scatter", found[0], at_once, *found[1:])


def _gram(rows: Rows, limit: int) -> Route:
    dtype = product_dtype(rows)
    at_once = _most(lambda count: costs.flipped_grams(rows, FLIPS + 1, count, dtype, STRIP), min(limit, ROOM))
    found = costs.within(rows, lambda rows: costs.flipped_grams(rows, FLIPS + 1, at_once, dtype, STRIP), limit)
    return Route("gram", found[0], at_once, *found[1:])


def _krylov(rows: Rows, limit: int) -> Route:
    flipped, k = Flipped(rows, Preprocessing(), 0, 0), min(GUESS, *rows.shape)
    found = costs.within(flipped, lambda rows: costs.flipped_krylov(rows, FLIPS + 1, k), limit)
    return Route("krylov", found[0], 1, *found[1:])


def _most(cost: Callable[[int], Cost], room: int) -> int:
    """The most spectra at once that leave room, but at least one."""
    return next((count for count in range(FLIPS + 1, 1, -1) if cost(count).memory <= room), 1)

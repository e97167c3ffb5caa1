"""Fits without rows: from moments or a sketch of rows that came in batches, or from a covariance that was given.

Moments of batches are whole where they fit into memory, else a sketch replaces them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ritz.errors import DataError
from ritz.fitting import costs, rank
from ritz.fitting.costs import Cost
from ritz.fitting.planning import Plan
from ritz.fitting.request import Request, check_at_hand, check_count, checked_components
from ritz.fitting.result import Decomposition, Units
from ritz.fitting.solve import preprocessing, solve
from ritz.linalg.dense import THREADED, Array, eigh_descending
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import Moments, moments
from ritz.moments.sketch import BLOCK_BYTES, Stream
from ritz.moments.tsqr import triangular_moments
from ritz.operators import Operator, Sketched, Summed, factored, scale_error
from ritz.rows import Rows
from ritz.runtime.memory import format_bytes, too_small
from ritz.runtime.threads import pinned, team
from ritz.solvers import Gram, Krylov, Orthogonal, Power
from ritz.solvers.base import checked_start

# Rows of a sketch, if memory allows and the components do not ask for more: every entry of the data costs eight times
# as many operations, and twice as many and one are decomposed by one thread, to the same bits on any number of cores.
ROOM = (THREADED - 1) // 2
SPARE = 8  # rows of a sketch beside two for every component


def taken_in(rows: Rows, so_far: Moments | Stream | None, request: Request) -> Moments | Stream:
    """What is known of the rows so far, and of these. It is decided at the first batch whether that is a sketch."""
    d = rows.shape[1]
    checked_components(request.n_components, d, d)  # what no number of rows could give, before any is taken in
    if so_far is None and summing_memory(d) > request.limit:
        _check_sketchable(request)
        so_far = Stream(_room(request, d), request.center)
    if not isinstance(so_far, Stream):
        if isinstance(request.solver, Power | Orthogonal | Krylov) and request.solver.start is not None:
            checked_start(request.solver.start, d)
        batch = summed(rows, request)
        return batch if so_far is None else so_far.merge(batch)
    _check_sketchable(request, so_far)
    with team():
        return so_far.add(rows)


def summed(rows: Rows, request: Request) -> Moments:
    """Moments of a batch, whole and in float64, to be merged with those of other batches; for svd, their R factor."""
    d, by_r_factor = rows.shape[1], request.name == "svd"
    memory = costs.r_factor_memory(rows) if by_r_factor else summing_memory(d)
    if memory > request.limit:
        advice = "raise it, or start a new model with partial_fit, which will sketch the rows"
        raise too_small(request.limit, f"moments of {d} columns take {format_bytes(memory)}", advice)
    with team():
        if by_r_factor:
            return triangular_moments(rows, center=request.center)
        return moments(rows, center=request.center, scatter=Scatter.FLOAT64)


def summing_memory(d: int) -> int:
    """Bytes of whole moments: a sum in every thread, finished ones waiting to be added, the matrix and a copy."""
    return 8 * d * d * (4 + 2 * pinned.budget())


def together(a: Moments | Stream, b: Moments | Stream) -> Moments | Stream:
    """What is known of the rows of two models."""
    if isinstance(a, Moments) and isinstance(b, Moments):
        return a.merge(b)
    if isinstance(a, Stream) and isinstance(b, Stream):
        with team():
            return a.merge(b)
    problem = "one model has the moments of its rows, another a sketch of them"
    raise DataError(f"{problem}; start both again, with the same memory_limit")


def from_moments(found: Moments | Stream, request: Request, name: Callable[[int], str]) -> Decomposition:
    """Fit a principal subspace to rows of which only moments or a sketch are left."""
    if isinstance(found, Stream):
        return _from_sketch(found, request)
    n, d = found.count, len(found.mean)
    if found.centred != request.center:
        raise DataError(f"moments were summed with center={found.centred}; that cannot be changed, start a new model")
    check_count(n, request)
    (prepare, units), bound = preprocessing(found, request, name), min(n - request.center, d)
    why = "the moments of the rows were updated batch by batch"
    if found.triangle is not None and request.name in ("auto", "svd"):
        scaling = scale_error(found) if request.scale else 0.0
        A: Operator = factored(found, prepare, n - request.ddof, scaling, bound)
        why = "the R factor of the rows was updated batch by batch, so small variances keep all their digits"
        request = replace(request, solver="svd")
    else:
        A = Summed(found.formed(), prepare, request.ddof, bound, scaled=request.scale)
        if request.name in ("svd", "gram"):
            why = f"{request.name} needs the rows, but only their moments were kept"
            request = replace(request, solver="covariance")
    return replace(from_covariance(A, units, request, why), moments=found)


def from_covariance(
    A: Operator, units: Units, request: Request, why: str = "the covariance matrix was given"
) -> Decomposition:
    """Fit a principal subspace to a covariance matrix given directly, or by its factor, A·unit²."""
    n_rows, dim = units.n_rows, A.dim
    check_at_hand(request.n_components, "only moments or a covariance are known")
    if request.n_components == "mle" and n_rows is None:
        raise ValueError("n_components='mle' weighs the evidence of the rows; pass n_rows")
    if units.mean is not None and not request.center:
        raise ValueError("center=False, but a mean was given; leave one of them out")
    request = replace(request, n_components=checked_components(request.n_components, n_rows or dim, dim))
    name = "covariance" if request.name == "auto" else request.name
    if name == "gram" or (name == "svd" and A.factor() is None):
        raise ValueError(f"svd_solver={name!r} needs the rows; a covariance is decomposed by 'covariance'")
    found, total = solve(A, request.chosen(name), request, min(n_rows or dim, dim), n_rows)
    by_factor = name == "svd"
    plan = Plan.of(costs.small_matrix(dim, by_factor), name, "covariance", dense=not by_factor, why=why)
    return Decomposition.of(found, total, units, plan)


@team()
def _from_sketch(found: Stream, request: Request) -> Decomposition:
    _check_sketchable(request, found)
    check_at_hand(request.n_components, "only a sketch of them was kept")
    n, d = found.shape
    check_count(n, request)
    asked = checked_components(request.n_components, n, d)
    k = _count(asked, min(n, d), found.room)
    A = Sketched(found.whole(), request.ddof, min(n - request.center, d), k + 1)
    K = A.dense()
    if isinstance(asked, float):
        k = _certified(eigh_descending(K)[0][:k] - A.rounding, float(A.trace or 0.0) + A.rounding, asked)
    spectrum, total = solve(A, Gram(), replace(request, n_components=k), min(n, d), n)
    note = f"a sketch of {found.room} directions replaces {n} rows of {d} columns; a fit on the rows can reach tol"
    # The dual is that of the sketch: no row of it is a row of the data.
    spectrum = replace(spectrum, note=note if A.missing else "", dual=None)
    units = Units(A.unit, n_rows=n, ddof=request.ddof)
    if request.center:
        units = replace(units, mean=A.mean, remainder=A.remainder)
    return replace(Decomposition.of(spectrum, total, units, _plan(found, k)), moments=found)


def _count(asked: int | float | str | None, most: int, room: int) -> int:
    """How many components; for a share of the variance, how many there may be."""
    k = asked if isinstance(asked, int) else most if asked is None else min(most, room)
    if k > room:
        raise DataError(
            f"n_components={asked} asks for {k} components, but the sketch keeps {room} directions, as its first batch "
            f"decided; ask for {room} or fewer with set_params, or start again with a larger memory_limit"
        )
    return k


def _certified(lower: Array, total: float, share: float) -> int:
    """The fewest components of which it is proved that their variance exceeds that share of the total."""
    lower = np.maximum(lower, 0.0)
    if total > 0 and not np.sum(lower) > share * total:
        raise DataError(
            f"n_components={share}, but of the variance in {len(lower)} directions of the sketch only a share of "
            f"{np.sum(lower) / total:.3f} is proved; ask for less, for a number of components, or raise memory_limit"
        )
    return rank.for_share(lower, total, share)


def _check_sketchable(request: Request, found: Stream | None = None) -> None:
    """What a sketch cannot give, and what cannot change after its first rows."""
    if found is not None and found.center != request.center:
        raise DataError(f"rows were sketched with center={found.center}; center was changed, start a new model")
    if request.scale:
        raise ValueError(
            "scale=True divides by deviations that are known only after the last batch, and a sketch cannot be divided "
            "then; divide the batches by known ones and use scale=False, or raise memory_limit"
        )
    if request.n_components == "mle":
        raise ValueError(
            "n_components='mle' weighs the whole spectrum, but memory_limit allows a sketch of it; ask for a number"
        )


def _room(request: Request, d: int) -> int:
    """ℓ: as many rows as memory allows, but no more than are worth their time."""
    asked = checked_components(request.n_components, d, d)
    wanted = 2 * asked + SPARE if isinstance(asked, int) else SPARE
    least, most = min(d, wanted), min(d, max(ROOM, wanted))
    fitting = bisect_right(range(least, most + 1), request.limit, key=lambda room: sketching_memory(room, asked, d))
    if not fitting:
        whole, needed = format_bytes(summing_memory(d)), format_bytes(sketching_memory(least, asked, d))
        why = f"moments of {d} columns take {whole}, and a sketch of {least} directions {needed}"
        raise too_small(request.limit, why, advice="")
    return least + fitting - 1


def sketching_memory(room: int, asked: int | float | str | None, d: int) -> int:
    """Bytes of a sketch at its peak.

    While a batch is taken in: the sketch and the rows that wait, as they were, a block, and the sketch before and after
    it. When axes are asked for: the sketch, the rows that wait, both stacked, and the axes with what they come from.
    Beside them vectors of columns, matrices of the order of the rows, and blocks in every thread.
    """
    k, threads = asked if isinstance(asked, int) else room, pinned.budget()
    tall, order = max(5 * room, 4 * room + 13 * (k + 1)) + 24, 2 * room + k + 2
    blocks = min((threads + 1) * 4 * BLOCK_BYTES, 16 * d * order)
    return 8 * (tall * d + (6 + threads) * order**2) + blocks


def _plan(found: Stream, k: int) -> Plan:
    (n, d), sketch = found.shape, f"a sketch of {found.room} directions was updated batch by batch"
    why = f"moments of {d} columns would take {format_bytes(summing_memory(d))}, so {sketch}"
    cost = Cost(8.0 * n * d * found.room, 1, np.inf, sketching_memory(found.room, k, d))
    return Plan.of(cost, "gram", "gram", dense=True, why=why)

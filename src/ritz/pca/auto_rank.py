"""How many components stand above noise: the rows compared with copies of them that have random signs."""

from __future__ import annotations

from functools import partial
from itertools import islice

import numpy as np

from ritz.fitting import rank
from ritz.fitting.rank import FLIPS, Choice
from ritz.fitting.request import Request
from ritz.fitting.signflip_plans import GUESS, Route
from ritz.fitting.signflips import ITERATED, Flips, edge, flipping_dtype, none_above, spectrum
from ritz.fitting.solve import magnified, preprocessing
from ritz.fitting.stopping import LEAST, PLACES, Comparison
from ritz.linalg.dense import SUBSET, Array, squared
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import Moments, moments
from ritz.moments.preprocessing import Preprocessing
from ritz.rows import Rows
from ritz.runtime.threads import ordered

# What rounding may add to a value, of itself and of the largest: it must not decide between equal ones.
TIE, DUST = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-9}, 1e-13


def chosen(rows: Rows, request: Request, route: Route, found: Moments | None = None) -> Choice:
    """How many components stand above noise, by random sign flips; `found` are the moments of the rows, if known.

    Every value is compared with the largest one of each copy, not with that at its own place: behind r components
    stands the largest of the noise at place r + 1, and the copies have a smaller one there where noise differs by
    column. Centring took 1/n of the noise out of every entry, which the copies get back. Copies that would not change
    the count are not made.
    """
    rows = rows.limited(route.cost.block_bytes, route.cost.threads)
    flips, unit = _flips(rows, request, found)
    n = rows.shape[0]
    seen = Comparison((1 + TIE[flipping_dtype(rows)]) * n / (n - request.center), DUST)
    (_by_products if route.kind == "krylov" else _by_matrices)(flips, route, seen)
    size, above = unit / np.sqrt(n - request.ddof), seen.above
    told, null = squared(seen.values, size), squared(np.full(len(seen.values), seen.bar), size)
    return Choice(
        rule="random sign flips, upper edge",
        seed=request.seed,
        flips=seen.count,
        quantile=rank.QUANTILE,
        values=told,
        null=null,
        k=max(1, above),
        count=None if rank.parallel(told, null[None]) == above else above,
    )


def _flips(rows: Rows, request: Request, found: Moments | None = None) -> tuple[Flips, float]:
    """The rows, centred and scaled as the model is, in a unit near the size of their entries: no square leaves float32.

    The unit is a power of two, so that it costs no rounding.
    """
    if found is None:
        found = moments(rows, center=request.center, scale=request.scale, scatter=Scatter.DIAGONAL)
    prepare, units = preprocessing(found, request, rows.name)
    rows, prepare, found = magnified(rows, found, prepare, units.unit)
    weight = np.ones(rows.shape[1]) if prepare.weight is None else prepare.weight
    factor = found.unit * weight
    squares = found.diagonal * factor**2
    size = float(np.ldexp(1.0, int(np.frexp(np.sqrt(np.mean(squares) / rows.shape[0]))[1])))
    prepare = Preprocessing(prepare.shift, prepare.delta, weight / size)
    factor /= size
    own = found.scatter * np.outer(factor, factor) if found.scatter.ndim == 2 else None
    return Flips(rows, prepare, squares / size**2, request.seed, own), units.unit * size


def _by_matrices(flips: Flips, route: Route, seen: Comparison) -> None:
    """All eigenvalues of the rows beside the largest ones of copies, one pass after the other until they tell."""
    order = min(flips.rows.shape)
    places, workers = min(PLACES, order), flips.rows.threads if SUBSET < order <= ITERATED else 1
    whole = LEAST if len(route.groups) > 1 else 1  # copies of which more than the largest value may be asked
    for group in route.groups:
        if flips.own is not None and route.kind == "scatter" and group[0] is None:
            seen.values, group = spectrum(flips.own), group[1:]
        if not group:
            continue
        matrices = flips.matrices(route.kind, group, len(group))
        if not len(seen.values):
            seen.values = spectrum(next(matrices))
        while some := list(islice(matrices, LEAST if workers > 1 else 1)):
            top = partial(_top, bar=seen.largest if seen.count >= whole else 0.0, places=places)
            for found in ordered(top, some, workers) if workers > 1 else map(top, some):
                seen.add(found)
        if seen.settled:
            return


def _top(K: Array, bar: float, places: int) -> Array | None:
    """The largest eigenvalues; None where a factorisation, which takes less, shows that all are within the bar."""
    return None if bar and none_above(K, bar) else edge(K, places)


def _by_products(flips: Flips, route: Route, seen: Comparison) -> None:
    """The same by iteration, a copy at a time: as many values of the rows as it takes to end the count."""
    most = min(flips.rows.shape)
    places, k = min(PLACES, most), min(GUESS, most)
    for flip in range(FLIPS):
        seen.add(flips.leading(flip, places))
        while len(seen.values) < k and (not len(seen.values) or seen.values[-1] > seen.largest):
            seen.values = flips.leading(None, k)
            k = min(2 * k, most)
        if seen.settled:
            return

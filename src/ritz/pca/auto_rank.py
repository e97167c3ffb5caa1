"""How many components stand above noise: the rows compared with copies of them that have random signs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ritz.fitting import rank
from ritz.fitting.rank import Choice
from ritz.fitting.request import Request
from ritz.fitting.signflip_plans import FLIPS, GUESS, Route
from ritz.fitting.signflips import Flips, edge, flipping_dtype, spectrum
from ritz.fitting.solve import magnified, preprocessing
from ritz.fitting.stopping import PLACES, settled
from ritz.linalg.dense import SUBSET, THREADED, Array, squared
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import moments
from ritz.moments.preprocessing import Preprocessing
from ritz.rows import Rows
from ritz.runtime.threads import ordered

# What rounding may add to a value, of itself and of the largest: it must not decide between equal ones.
TIE, DUST = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-9}, 1e-13


def chosen(rows: Rows, request: Request, route: Route) -> Choice:
    """How many components stand above noise, by random sign flips.

    Every value is compared with the largest one of each copy, not with that at its own place: behind r components
    stands the largest of the noise at place r + 1, and the copies have a smaller one there where noise differs by
    column. Centring took 1/n of the noise out of every entry, which the copies get back. Copies that would not change
    the count are not made.
    """
    rows = rows.limited(route.cost.block_bytes, route.cost.threads)
    flips, unit = _flips(rows, request)
    n, parts = rows.shape[0], []
    more = (1 + TIE[flipping_dtype(rows)]) * n / (n - request.center)
    for values, found in (_by_products if route.kind == "krylov" else _by_matrices)(flips, route):
        parts.append(found * more + DUST * values[0])
        copies = np.concatenate(parts)
        if len(copies) and settled(values, copies):
            break
    null = np.broadcast_to(copies[:, :1], (len(copies), len(values)))
    size = unit / np.sqrt(n - request.ddof)
    above, told, null_told = rank.parallel(values, null), squared(values, size), squared(rank.threshold(null), size)
    return Choice(
        rule="random sign flips, upper edge",
        seed=request.seed,
        flips=len(copies),
        quantile=rank.QUANTILE,
        values=told,
        null=null_told,
        k=max(1, above),
        count=None if rank.parallel(told, null_told[None]) == above else above,
    )


def _flips(rows: Rows, request: Request) -> tuple[Flips, float]:
    """The rows, centred and scaled as the model is, in a unit near the size of their entries: no square leaves float32.

    The unit is a power of two, so that it costs no rounding.
    """
    found = moments(rows, center=request.center, scale=request.scale, scatter=Scatter.DIAGONAL)
    prepare, units = preprocessing(found, request, rows.name)
    rows, prepare, found = magnified(rows, found, prepare, units.unit)
    weight = np.ones(rows.shape[1]) if prepare.weight is None else prepare.weight
    squares = found.diagonal * (found.unit * weight) ** 2
    size = float(np.ldexp(1.0, int(np.frexp(np.sqrt(np.mean(squares) / rows.shape[0]))[1])))
    prepare = Preprocessing(prepare.shift, prepare.delta, weight / size)
    return Flips(rows, prepare, squares / size**2, request.seed), units.unit * size


def _by_matrices(flips: Flips, route: Route) -> Iterator[tuple[Array, Array]]:
    """All eigenvalues of the rows, and the largest ones of the copies of one pass after the other."""
    places, values = min(PLACES, *flips.rows.shape), np.empty(0)

    def of_one(pair: tuple[int | None, Array]) -> Array:
        flip, K = pair
        return spectrum(K) if flip is None else edge(K, places)

    for group in route.groups:
        pairs = zip(group, flips.matrices(route.kind, group, len(group)), strict=True)
        order = min(flips.rows.shape)
        alone = len(group) == 1 or not SUBSET < order <= THREADED  # threads do not help, or LAPACK has its own
        found = list(map(of_one, pairs) if alone else ordered(of_one, pairs, flips.rows.threads))
        if group[0] is None:
            values = found.pop(0)
        yield values, np.array(found).reshape(-1, places)


def _by_products(flips: Flips, route: Route) -> Iterator[tuple[Array, Array]]:
    """The same by iteration, a copy at a time: as many of the rows' own as it takes to end the count."""
    most = min(flips.rows.shape)
    places, k = min(PLACES, most), min(GUESS, most)
    first = flips.leading(0, places)
    while (values := flips.leading(None, k))[-1] > first[0] and k < most:
        k = min(2 * k, most)
    yield values, first[None]
    for flip in range(1, FLIPS):
        yield values, flips.leading(flip, places)[None]

"""How many components stand above noise: the rows compared with copies of them that have random signs."""

from __future__ import annotations

import numpy as np

from ritz.fitting import rank
from ritz.fitting.rank import Choice
from ritz.fitting.request import Request
from ritz.fitting.signflip_plans import FLIPS, GUESS, Route
from ritz.fitting.signflips import Flips, edge, flipping_dtype, spectrum
from ritz.fitting.solve import magnified, preprocessing
from ritz.linalg.dense import Array, squared
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import moments
from ritz.moments.preprocessing import Preprocessing
from ritz.rows import Rows

# What rounding may add to a value, of itself and of the largest: it must not decide between equal ones.
TIE, DUST = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-9}, 1e-13


def chosen(rows: Rows, request: Request, route: Route) -> Choice:
    """How many components stand above noise, by random sign flips.

    Every value is compared with the largest one of each copy, not with that at its own place: behind r components
    stands the largest of the noise at place r + 1, and the copies have a smaller one there where noise differs by
    column. Centring took 1/n of the noise out of every entry, which the copies get back.
    """
    rows = rows.limited(route.cost.block_bytes, route.cost.threads)
    flips, unit = _flips(rows, request)
    values, edges = _leading(flips) if route.kind == "krylov" else _whole(flips, route)
    n = rows.shape[0]
    edges = edges * (1 + TIE[flipping_dtype(rows)]) * n / (n - request.center) + DUST * values[0]
    null = np.broadcast_to(edges[:, None], (FLIPS, len(values)))
    size = unit / np.sqrt(n - request.ddof)
    above, told, null_told = rank.parallel(values, null), squared(values, size), squared(rank.threshold(null), size)
    return Choice(
        rule="random sign flips, upper edge",
        seed=request.seed,
        flips=FLIPS,
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


def _whole(flips: Flips, route: Route) -> tuple[Array, Array]:  # -> (m,), (FLIPS,)
    """All eigenvalues of the rows, and the largest one of every copy."""
    matrices = flips.matrices(route.kind, [None, *range(FLIPS)], route.at_once)
    return spectrum(next(matrices)), np.array([edge(K) for K in matrices])


def _leading(flips: Flips) -> tuple[Array, Array]:
    """The same by iteration: as many of the rows' own as it takes to end the count."""
    edges, most = np.array([flips.leading(flip, 1)[0] for flip in range(FLIPS)]), min(flips.rows.shape)
    k = min(GUESS, most)
    while (values := flips.leading(None, k))[-1] > edges.max() and k < most:
        k = min(2 * k, most)
    return values, edges

"""Fits without rows: from moments of rows that are gone, or from a covariance that was given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ritz.errors import DataError
from ritz.fitting import costs, rank
from ritz.fitting.planning import Plan
from ritz.fitting.request import Decomposition, Request, check_count
from ritz.fitting.solve import in_units_of_data, preprocessing, solve
from ritz.linalg.dense import Array
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import Moments, moments
from ritz.moments.preprocessing import Preprocessing
from ritz.moments.tsqr import triangular_moments
from ritz.operators import Operator, Summed, factored, scale_error
from ritz.rows import Rows
from ritz.runtime.memory import format_bytes
from ritz.runtime.threads import pinned, team


def summed(rows: Rows, request: Request) -> Moments:
    """Moments of a batch, whole and in float64, to be merged with those of other batches; for svd, their triangle."""
    d, by_triangle = rows.shape[1], request.name == "svd"
    memory = costs.triangle_memory(rows) if by_triangle else summing_memory(d)
    if memory > request.limit:
        needed, allowed = format_bytes(memory), format_bytes(request.limit)
        raise ValueError(
            f"memory_limit of {allowed} is too small: moments of {d} columns take {needed}; raise it, or start a new "
            "model with partial_fit, which will sketch the rows"
        )
    with team():
        if by_triangle:
            return triangular_moments(rows, center=request.center)
        return moments(rows, center=request.center, scatter=Scatter.FLOAT64)


def summing_memory(d: int) -> int:
    """Bytes of whole moments: a sum in every thread, finished ones waiting to be added, the matrix and a copy."""
    return 8 * d * d * (4 + 2 * pinned.budget())


def decompose_moments(found: Moments, request: Request, name: Callable[[int], str] = str) -> Decomposition:
    """Fit a principal subspace to rows of which only the moments are left."""
    n, d = found.count, len(found.mean)
    if found.centred != request.center:
        raise DataError(f"rows were summed with center={found.centred}; that cannot be changed, start a new model")
    check_count(n, request)
    prepare, scale, unit = preprocessing(found, request, name)
    mean, why = found.mean if request.center else None, "the rows were summed up as they came"
    if found.triangle is not None and request.name in ("auto", "svd"):
        A: Operator = _kept(found, prepare, request)
        why = "the triangle of the rows was kept up as they came, so small variances have all their digits"
        request = replace(request, solver="svd")
    else:
        A = Summed(found.formed(), prepare, request.ddof, min(n - request.center, d), scaled=request.scale)
        if request.name in ("svd", "gram"):
            why = f"{request.name} needs the rows, but they were summed up as they came"
            request = replace(request, solver="covariance")
    fit = decompose_matrix(A, unit, scale, request, mean, n, why, found.remainder(unit) if request.center else None)
    return replace(fit, moments=found)


def _kept(found: Moments, prepare: Preprocessing, request: Request) -> Operator:
    """The covariance from the triangle of rows that are gone."""
    bound, scaling = min(found.count - request.center, len(found.mean)), scale_error(found) if request.scale else 0.0
    return factored(found, prepare, found.count - request.ddof, scaling, bound)


def decompose_matrix(
    A: Operator,
    unit: float,
    scale: Array | None,
    request: Request,
    mean: Array | None,
    n_rows: int | None,
    why: str = "the covariance matrix was given",
    remainder: Array | None = None,
) -> Decomposition:
    """Fit a principal subspace to a covariance matrix given directly, or by its factor, A·unit²."""
    rank.check_at_hand(request.n_components, "here are only their moments, or a covariance")
    if request.n_components == "mle" and n_rows is None:
        raise ValueError("n_components='mle' weighs the evidence of the rows; pass n_rows")
    if mean is not None and not request.center:
        raise ValueError("center=False, but a mean was given; leave one of them out")
    request = replace(request, n_components=rank.checked(request.n_components, n_rows or A.dim, A.dim))
    name = "covariance" if request.name == "auto" else request.name
    if name == "gram" or (name == "svd" and A.factor() is None):
        raise ValueError(f"svd_solver={name!r} needs the rows; a covariance is decomposed by 'covariance'")
    bound = min(n_rows or A.dim, A.dim)
    found, total = solve(A, request.chosen(name), request, bound, n_rows)
    share, copies, dense = (14.0, 10, False) if name == "svd" else (4.0 / 3, 3, True)
    plan = Plan(name, "covariance", 0, share * A.dim**3, 8 * copies * A.dim**2, why, dense)
    return in_units_of_data(found, total, unit, bound, plan, mean, scale, n_rows, request.ddof, remainder)

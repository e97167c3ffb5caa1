"""Fits without rows: from moments of rows that are gone, or from a covariance that was given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ritz.errors import DataError
from ritz.fitting import costs
from ritz.fitting.planning import Plan
from ritz.fitting.request import Request, check_at_hand, check_count, checked_components
from ritz.fitting.result import Decomposition, Units
from ritz.fitting.solve import preprocessing, solve
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import Moments, moments
from ritz.moments.preprocessing import Preprocessing
from ritz.moments.tsqr import triangular_moments
from ritz.operators import Operator, Summed, factored, scale_error
from ritz.rows import Rows
from ritz.runtime.memory import format_bytes, too_small
from ritz.runtime.threads import pinned, team


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


def from_moments(found: Moments, request: Request, name: Callable[[int], str] = str) -> Decomposition:
    """Fit a principal subspace to rows of which only the moments are left."""
    n, d = found.count, len(found.mean)
    if found.centred != request.center:
        raise DataError(f"moments were summed with center={found.centred}; that cannot be changed, start a new model")
    check_count(n, request)
    prepare, units = preprocessing(found, request, name)
    why = "the moments of the rows were updated batch by batch"
    if found.triangle is not None and request.name in ("auto", "svd"):
        A: Operator = _kept(found, prepare, request)
        why = "the R factor of the rows was updated batch by batch, so small variances keep all their digits"
        request = replace(request, solver="svd")
    else:
        A = Summed(found.formed(), prepare, request.ddof, min(n - request.center, d), scaled=request.scale)
        if request.name in ("svd", "gram"):
            why = f"{request.name} needs the rows, but only their moments were kept"
            request = replace(request, solver="covariance")
    return replace(from_covariance(A, units, request, why), moments=found)


def _kept(found: Moments, prepare: Preprocessing, request: Request) -> Operator:
    """The covariance from the R factor of rows that are gone."""
    bound, scaling = min(found.count - request.center, len(found.mean)), scale_error(found) if request.scale else 0.0
    return factored(found, prepare, found.count - request.ddof, scaling, bound)


def from_covariance(
    A: Operator, units: Units, request: Request, why: str = "the covariance matrix was given"
) -> Decomposition:
    """Fit a principal subspace to a covariance matrix given directly, or by its factor, A·unit²."""
    n_rows, dim = units.n_rows, A.dim
    check_at_hand(request.n_components, "here are only their moments, or a covariance")
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

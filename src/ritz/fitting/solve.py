"""From an operator to a certified spectrum, whatever the operator was made of; and from moments to preprocessing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ritz.errors import DataError, ParameterError
from ritz.fitting import rank
from ritz.fitting.request import Request
from ritz.fitting.result import Units
from ritz.linalg.dense import Array
from ritz.moments.moments import Moments
from ritz.moments.preprocessing import Preprocessing
from ritz.moments.scaling import FAINT
from ritz.operators import Operator
from ritz.rows import Rows
from ritz.rows.memory.scaled import Scaled
from ritz.solvers import SVD, Solver
from ritz.spectrum.certify import Spectrum, certify

FIRST_GUESS = 16  # components an iterative solver starts with when a share of the variance is asked for


def solve(A: Operator, solver: Solver, request: Request, bound: int, n_rows: int | None) -> tuple[Spectrum, float]:
    """The spectrum with as many components as the request means, and the total variance."""
    asked, rng = request.n_components, np.random.default_rng(request.seed)
    if asked == "mle" and not solver.direct:
        given = request.solver if isinstance(request.solver, str) else request.name
        rule = f"cannot be a string with svd_solver={given!r}: it weighs the whole spectrum; use 'auto'"
        plain = f"weighs the whole spectrum, which the solver {given} does not compute; leave the solver to auto"
        raise ParameterError("n_components", asked, rule, plain)
    k = asked if isinstance(asked, int) else bound
    if isinstance(asked, float) and not solver.direct:
        k = min(FIRST_GUESS, bound)
    while True:
        basis = solver.basis(A, k, tol=request.tol, rng=rng)
        pairs = A.ritz(basis.Q, basis.AQ, basis.P, request.tol)
        total = float(np.sum(pairs.values)) if isinstance(solver, SVD) else float(A.trace or 0.0)
        if not isinstance(asked, float) or k == bound or float(np.sum(pairs.values[:k])) > asked * total:
            break
        if request.name == "auto" and 16 * k > bound:  # a direct solver has the whole spectrum for less
            break
        k = min(2 * k, bound)
    if isinstance(asked, float):
        k = rank.for_share(pairs.values[:k], total, asked)
    elif asked == "mle":
        k = rank.minka(pairs.values[:bound], n_rows or bound)
    return certify(A, pairs, basis, k, tol=request.tol, n_rows=n_rows), total


def preprocessing(found: Moments, request: Request, name: Callable[[int], str] = str) -> tuple[Preprocessing, Units]:
    """z = (x − mean)/scale in units where nothing overflows, those of the data when scaled."""
    with np.errstate(under="ignore"):
        shift, delta = (found.shift, found.delta * found.unit) if request.center else (None, None)
    shift = shift if shift is not None and shift.any() else None
    scale = _deviations(found, request, name) if request.scale else None
    unit = float(np.max(found.unit)) if scale is None else 1.0
    weight = None if unit == 1 else np.full(len(found.mean), 1 / unit)
    units = Units(unit, scale=scale, n_rows=found.count, ddof=request.ddof)
    if request.center:
        units = replace(units, mean=found.mean, remainder=found.remainder(unit))
    return Preprocessing(shift, delta, weight if scale is None else 1 / scale), units


def _deviations(found: Moments, request: Request, name: Callable[[int], str]) -> Array:
    """The standard deviations of the columns, or their root mean squares, none of which may be 0."""
    with np.errstate(over="ignore", under="ignore"):
        scale = found.unit * np.sqrt(found.diagonal / (found.count - request.ddof))
    if not np.isfinite(scale).all():
        column = name(int(np.argmin(np.isfinite(scale))))
        problem = f"the standard deviation of column {column} exceeds the range of float64"
        raise DataError(f"scale=True, but {problem}", "divide the column", plain=problem)
    varies = found.diagonal > found.rounding * found.sizes
    tiny = np.flatnonzero((scale < np.finfo(float).tiny) & varies)
    if len(tiny):
        column, size = name(int(tiny[0])), scale[tiny[0]]
        problem = f"the standard deviation of column {column} is {size:.0e}, below the range of float64"
        raise DataError(f"scale=True, but {problem}", "multiply the column", plain=problem)
    flat = (scale <= 2 * np.finfo(float).eps * np.abs(found.mean)) | ~varies
    constant = np.flatnonzero(flat if request.center else scale <= 0)
    if len(constant):
        names = ", ".join(name(int(j)) for j in constant[:5]) + (", …" if len(constant) > 5 else "")
        what = "constant (to rounding)" if request.center else "zero"
        problem = f"{len(constant)} column(s) are {what}: {names}"
        advice = "drop them or use scale=False"
        raise DataError(f"scale=True, but {problem}", advice, "constant columns", f"cannot scale: {problem}")
    return scale


def magnified(rows: Rows, found: Moments, prepare: Preprocessing, unit: float) -> tuple[Rows, Preprocessing, Moments]:
    """The same where numbers have all their digits: rows of faint numbers divided by their unit before all else."""
    if unit >= FAINT:
        return rows, prepare, found
    here = replace(found.rescaled(np.full(len(found.unit), unit)), unit=np.ones(len(found.unit)))
    delta, shift = (None, None) if prepare.delta is None else (here.delta, here.shift)
    if rows.sparse and delta is not None and shift is not None:  # nothing is subtracted from them
        with np.errstate(over="ignore"):
            delta, shift = shift / unit + delta, None
        if not np.isfinite(delta).all():
            column = int(np.argmin(np.isfinite(delta)))
            raise DataError(
                f"column {rows.name(column)} is {here.shift[column]:.0e} everywhere, and no other varies by more than "
                f"{unit:.0e}; drop it, or multiply the others"
            )
    return Scaled(rows, shift, 1 / unit), Preprocessing(None, delta), here

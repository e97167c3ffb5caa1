"""From an operator to a certified spectrum; and, as a table, what is tried next where that falls short."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from ritz.errors import DataError, ParameterError
from ritz.fitting import planning, rank
from ritz.fitting.planning import Plan
from ritz.fitting.request import Request
from ritz.fitting.result import Decomposition, Units
from ritz.linalg.dense import Array
from ritz.moments.by_columns import ColumnPreprocessing
from ritz.moments.moments import Moments
from ritz.moments.preprocessing import FAINT, Preprocessing
from ritz.operators import ColumnMatrix, DataMatrix, Operator
from ritz.rows import Rows
from ritz.rows.memory.computed import Scaled
from ritz.runtime.memory import format_bytes, too_small
from ritz.solvers import SVD, Covariance, Gram, Solver
from ritz.spectrum.certify import Spectrum, certify

FIRST_GUESS = 16  # components an iterative solver starts with when a share of the variance is asked for
EXACT = SVD, Covariance, Gram  # solvers that draw nothing: to make a generator takes a tenth of the smallest fits
PATIENCE = 3.0  # seconds, by the planner's table, that a further attempt may take when accuracy is not at stake
UNSETTLED = "the iteration did not reach tol, or could not exclude that a larger component was missed"
MANY = "the share of the variance takes so many components that a full decomposition costs less than an iteration"


def solve(A: Operator, solver: Solver, request: Request, bound: int, n_rows: int | None) -> tuple[Spectrum, float]:
    """The spectrum with as many components as the request means, and the total variance."""
    asked = request.n_components
    rng: Any = None if type(solver) in EXACT else np.random.default_rng(request.seed)
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
        total = float(pairs.values.sum()) if isinstance(solver, SVD) else float(A.trace or 0.0)
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
    scale = _deviations(found, request, name) if request.scale else None
    unit = float(found.unit.max()) if scale is None else 1.0
    weight = None if unit == 1 else np.full(len(found.unit), 1 / unit)
    shift = delta = mean = remainder = None
    if request.center:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            shift = found.shift if found.shift[0] or found.shift.any() else None
            delta = found.delta * found.unit
            mean, remainder = found.mean_and_remainder(unit)
    units = Units(unit, mean, scale, remainder, found.count, request.ddof)
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
        raise DataError(f"scale=True, but {problem}", advice, "constant_columns", f"cannot scale: {problem}")
    return scale


def magnified(rows: Rows, found: Moments, prepare: Preprocessing, unit: float) -> tuple[Rows, Preprocessing, Moments]:
    """Rows so small that float64 loses digits are divided by `unit` first; others stay as they are."""
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
    return Scaled(rows.on_cpu(), shift, 1 / unit), Preprocessing(None, delta), here


def data_matrix(
    rows: Rows, request: Request, found: Moments, prepare: Preprocessing, unit: float, rank_bound: int, passes: int
) -> DataMatrix:
    """Z of rows, or by their columns where parts hold whole ones, after so many passes."""
    if rows.turned is None:
        return DataMatrix(*magnified(rows, found, prepare, unit), request.ddof, rank_bound, passes)
    columns = ColumnPreprocessing(request.center, request.scale, request.ddof, unit)
    return ColumnMatrix(rows, rows.turned, prepare, found, columns, rank_bound, passes)


class Lack(Enum):
    """What a result lacks, the gravest first."""

    ACCURACY = "a residual is not within tol"
    SHARE = "the share of the variance asked for is not reached"
    COMPLETENESS = "a larger component may have been missed"
    SMALL_VARIANCES = "a variance cannot be told from rounding"


class Further(Enum):
    """What may be tried after the first plan, in this order."""

    FLOAT64 = "the first plan once more, after products in float32"
    DIRECT = "LAPACK on the covariance or Gram matrix, after an iteration"
    SVD = "svd of the rows, after any other solver"


# What the result lacks: what is tried next, and how many seconds it may take by the planner's table.
MENDS = {
    Lack.ACCURACY: ((Further.FLOAT64, Further.DIRECT, Further.SVD), np.inf),
    Lack.SHARE: ((Further.FLOAT64, Further.DIRECT), np.inf),
    Lack.COMPLETENESS: ((Further.FLOAT64, Further.DIRECT), PATIENCE),
    Lack.SMALL_VARIANCES: ((Further.SVD,), PATIENCE),
}


@dataclass(frozen=True, eq=False)
class Attempts:
    """The plans of one fit: the first, and those that may follow it."""

    rows: Rows
    request: Request
    first: Plan

    @classmethod
    def of(cls, rows: Rows, request: Request) -> Attempts:
        """The attempts at a request whose number of components is checked."""
        first = _first(rows, request)
        if first.memory > request.limit:
            raise too_small(request.limit, f"{first.solver} needs {format_bytes(first.memory)} of working memory")
        return cls(rows, request, first)

    def next(self, further: Further, result: Decomposition, found: Moments) -> Plan | None:
        """The plan to try now, None where it does not apply or would not help."""
        lack = lacking(result, self.request, found)
        mends, patience = ((), 0.0) if lack is None else MENDS[lack]
        plan = self._plan(further, MANY if lack is Lack.SHARE else UNSETTLED) if further in mends else None
        return plan if plan is not None and plan.memory <= self.request.limit and plan.seconds <= patience else None

    def _plan(self, further: Further, after_iteration: str) -> Plan | None:
        first, limit, named = self.first, self.request.limit, self.request.name != "auto"
        if further is Further.FLOAT64 and first.precision == "float32":
            why = first.why if named else f"{first.why}; products in float32 were not accurate enough"
            return replace(first, precision="float64", refined=False, why=why)
        if named or first.solver == "svd":
            return None
        if further is Further.DIRECT and first.solver == "krylov":
            direct = planning.direct_plan(self.rows, _most_components(self.rows, self.request), limit)
            return replace(direct, precision="float64", why=after_iteration)
        if further is Further.SVD:
            why = f"rounding of {first.solver} exceeds tol, or hides small variances; svd resolves more"
            return planning.svd_plan(self.rows, limit, why)
        return None


def _first(rows: Rows, request: Request) -> Plan:
    """The plan of the solver that was named, or the planner's."""
    k, limit = _most_components(rows, request), request.limit
    if request.name != "auto":
        if isinstance(request.n_components, float) and not request.chosen().direct:
            k = min(k, planning.GUESS)  # it grows until the share is reached
        return planning.plan_for(rows, request.name, request.chosen(), k, limit)
    return planning.cached_choice(rows, request.n_components, limit, request.tol)


def _most_components(rows: Rows, request: Request) -> int:
    return request.n_components if isinstance(request.n_components, int) else min(rows.shape)


def lacking(result: Decomposition, request: Request, found: Moments) -> Lack | None:
    """What a result lacks, and may be tried again for; of a named solver that is accuracy alone."""
    certificate = result.spectrum.certificate
    if not result.certificate.satisfied:
        return Lack.ACCURACY
    if request.name != "auto":
        return None
    if not result.enough:
        return Lack.SHARE
    if certificate.completeness == "not excluded" and certificate.complete_to < certificate.rank:
        return Lack.COMPLETENESS
    return None if _all_seen(result, request, found) else Lack.SMALL_VARIANCES


def _all_seen(result: Decomposition, request: Request, found: Moments) -> bool:
    """Whether every variance that can differ from 0, kept or left out, stands above rounding."""
    certificate, reachable = result.spectrum.certificate, int(np.count_nonzero(found.diagonal))
    k, reachable = len(certificate.values), min(found.count - request.center, reachable)
    return certificate.rank >= min(k, reachable) and (k >= reachable or result.left_out_seen)

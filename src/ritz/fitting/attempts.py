"""Which plans a fit tries, one after the other: the whole policy of escalation is the table `MENDS` below.

The first plan is the planner's, or that of the solver that was named. With "auto", what its result lacks decides what
is tried next, each at most once and only if it fits into memory; the fit stops where nothing is lacking, or nothing is
left to try. A solver that was named is the only one: where it lacks accuracy after products in float32, it is repeated
in float64.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from ritz.fitting import planning
from ritz.fitting.planning import Plan
from ritz.fitting.request import Request
from ritz.fitting.result import Decomposition
from ritz.moments.moments import Moments
from ritz.rows import Rows
from ritz.runtime.memory import format_bytes, too_small

PATIENCE = 3.0  # seconds, by the planner's table, that a further attempt may take when accuracy is not at stake
UNSETTLED = "the iteration did not reach tol, or could not exclude that a larger component was missed"


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
        plan = self._plan(further) if further in mends else None
        return plan if plan is not None and plan.memory <= self.request.limit and plan.seconds <= patience else None

    def _plan(self, further: Further) -> Plan | None:
        first, limit, named = self.first, self.request.limit, self.request.name != "auto"
        if further is Further.FLOAT64 and first.precision == "float32":
            why = first.why if named else f"{first.why}; products in float32 were not accurate enough"
            return replace(first, precision="float64", refined=False, why=why)
        if named or first.solver == "svd":
            return None
        if further is Further.DIRECT and first.solver == "krylov":
            direct = planning.direct_plan(self.rows, _most_components(self.rows, self.request), limit)
            return replace(direct, precision="float64", why=UNSETTLED)
        if further is Further.SVD:
            why = f"rounding of {first.solver} exceeds tol, or hides small variances; svd resolves more"
            return replace(planning.svd_plan(self.rows, limit), why=why)
        return None


def _first(rows: Rows, request: Request) -> Plan:
    """The plan of the solver that was named, or the planner's."""
    k, limit = _most_components(rows, request), request.limit
    if request.name != "auto":
        if isinstance(request.n_components, float) and not request.chosen().direct:
            k = min(k, planning.GUESS)  # it grows until the share is reached
        return planning.plan_for(rows, request.name, request.chosen(), k, limit)
    if request.tol == 0:
        finest = planning.svd_plan(rows, limit)
        if finest.memory <= limit:
            return replace(finest, why="tol=0 asks for the best the arithmetic allows")
    return planning.choose(rows, request.n_components, limit, request.tol)


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

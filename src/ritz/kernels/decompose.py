"""From rows to certified components in feature space."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.fitting.planning import DENSE, NARROW_TOL, Plan
from ritz.fitting.request import Request
from ritz.fitting.solve import solve
from ritz.kernels import Frame, Kernel, Points, Precomputed, plans
from ritz.kernels.embedding import Embedding, of_all_points, of_landmarks
from ritz.kernels.matrix import KernelMatrix
from ritz.kernels.plans import Task
from ritz.kernels.psd import positive_part, symmetric_values, with_definiteness
from ritz.linalg.dense import Array
from ritz.operators import LowRank
from ritz.operators.pivoted_cholesky import Factor, randomly_pivoted
from ritz.rows.base import Block
from ritz.runtime.threads import cached_property, team
from ritz.runtime.watch import UNWATCHED, Watch
from ritz.runtime.wording import at_most
from ritz.solvers import Basis, Gram, Outside
from ritz.solvers import LowRank as SmallSide
from ritz.solvers.lowrank import SPARE
from ritz.solvers.single import SingleVectors
from ritz.spectrum.certificate import Certificate
from ritz.spectrum.certify import Spectrum, certify

OPEN = 0.1  # share of the last value that landmarks may lack before the components are compared with the matrix itself
LONGEST = 120.0  # seconds by the planner's table that this may take
CHEAP = 20_000  # rows up to which that costs so little that it is always done
NARROW_UNIT, ROUGH = 2.0**-24, 1e-4  # rounding of float32, and the error of a value up to which it is of use


class Alike(DataError):
    """All rows have the same features, so that none is a landmark."""


@dataclass(frozen=True, eq=False)
class KernelFit:
    """A fit: components in feature space, how they were found and how good they are."""

    spectrum: Spectrum  # of the centred kernel matrix, in units of the square of the frame's unit
    embedding: Embedding  # the model for new rows
    plan: Plan
    total: tuple[float, float]  # what the trace of the centred kernel matrix lies between, in the same units
    trace_error: float = 0.0  # share of the trace of the kernel matrix that landmarks lack, 0 where all of it was used
    n_rows: int | None = None  # of the fit, where the spectrum does not tell
    indefinite: float = 0.0  # size of the lowest eigenvalue relative to the largest, where it is tolerated below 0

    @cached_property
    def certificate(self) -> Certificate:
        """That of the spectrum, in the units of the kernel."""
        return replace(self.spectrum.certificate, quantity="eigenvalue").in_units(self.embedding.frame.unit)


@dataclass(frozen=True, eq=False)
class Problem:
    """What a fit starts from: the kernel, the rows as its points, and what is asked."""

    kernel: Kernel
    frame: Frame
    points: Points
    means: Array | None  # of the columns of a matrix that was given, None where they follow from the points
    request: Request
    landmarks: int | float | None  # how many, or the share of the trace that they may lack, None for the solver's own
    watch: Watch

    @property
    def task(self) -> Task:
        """What the cost of the fit depends on; columns are the entries of a row that are stored."""
        n, Z, asked = len(self.points), self.points.Z, self.request.n_components
        may_be_narrow = self.kernel.narrow and self.kernel.positive and not self.frame.exact
        accurate = self.frame.terms * NARROW_UNIT <= ROUGH and self.request.tol >= NARROW_TOL
        return Task(
            n=n,
            d=Z.shape[1] if isinstance(Z, np.ndarray) else max(1, -(-Z.nnz // n)),
            k=asked if isinstance(asked, int) else n if asked is None else min(n, plans.GUESS),
            limit=self.request.limit,
            positive=self.kernel.positive,
            narrow=may_be_narrow and accurate,
            share=isinstance(asked, float),
            tol=self.request.tol,
        )

    def plans(self) -> list[Plan]:
        """Plans to try in order. Both solvers that hand the matrix to LAPACK, gram and covariance, are "dense" here."""
        task, solver = self.task, "dense" if self.request.name in ("gram", "covariance") else self.request.name
        if self.landmarks is None:
            return plans.plans_for(task, solver)
        count = 2 * task.k + SPARE if isinstance(self.landmarks, float) else self.landmarks
        return plans.plans_for(task, "lowrank", count)

    def matrix(self, stored: bool, narrow: bool = False) -> KernelMatrix:
        """The kernel matrix; one that was given is stored already."""
        stored = stored and not isinstance(self.kernel, Precomputed)
        return KernelMatrix(self.kernel, self.frame, self.points, stored=stored, narrow=narrow, watch=self.watch)


def decompose_kernel(
    X: Block, kernel: Kernel, request: Request, landmarks: int | float | None, watch: Watch = UNWATCHED
) -> KernelFit:
    """Fit components to rows in memory."""
    with team():
        frame = kernel.frame(X)
        points, means = kernel.points(X, frame), None
        if isinstance(kernel, Precomputed):
            points, means = symmetric_values(points, frame), points.Z.mean(axis=0)
        problem = Problem(kernel, frame, points, means, request, landmarks, watch)
        for plan in problem.plans():
            if plan.solver == "lowrank":
                return _by_landmarks(problem, plan)
            fit = _exact(problem, plan)
            if fit.certificate.satisfied:
                break
        return fit


def _exact(problem: Problem, plan: Plan) -> KernelFit:
    """Components of the whole kernel matrix, by LAPACK or by products with it."""
    request = problem.request
    A = problem.matrix(stored=plan.dense, narrow=plan.precision == "float32")
    to_check = not problem.kernel.positive and A.dim <= DENSE and 16 * A.dim**2 <= request.limit
    if plan.solver == "dense" or to_check:
        A.dense()
    A = with_definiteness(A, request.n_components)
    if plan.solver == "dense" or (A.indefinite and A.is_dense):  # an iteration may meet eigenvalues below 0
        single = plan.solver == "dense" and plan.columns == 1
        request = replace(request, solver=SingleVectors() if single else Gram())
    elif request.name == "auto":
        request = replace(request, solver=plan.solver)
    bound = _most_components(problem, plan)
    found, total = solve(A, request.chosen(), request, bound, None)
    if problem.task.share:
        plan = _plan_of_share(problem, plan, found, total, bound)
    slack = 2 * A.rounding  # of the diagonal, and of the mean
    if A.indefinite and A.is_dense:
        total, slack = positive_part(A), A.dim * A.rounding
    embedding = of_all_points(A, found, A.means if problem.means is None else problem.means)
    return KernelFit(found, embedding, plan, _between(total, slack, slack), indefinite=A.indefinite)


def _most_components(problem: Problem, plan: Plan) -> int:
    """The most components that a share of the variance may take: all, unless memory does not allow for an iteration."""
    task = problem.task
    if not task.share or plan.solver == "dense":
        return task.n
    counts = np.unique(np.geomspace(1, task.n, 64).astype(int)).tolist()
    return max((k for k in counts if _memory(task, plan, k) <= task.limit), default=1)


def _memory(task: Task, plan: Plan, k: int) -> int:
    """Bytes that an iteration takes for k components, however many its plan was made for."""
    return plans.krylov(replace(task, k=k), plan.precision, plan.dense).memory


def _plan_of_share(problem: Problem, plan: Plan, found: Spectrum, total: float, bound: int) -> Plan:
    """The plan as it turned out, once it is known how many components hold that share of the variance."""
    task, k = problem.task, len(found.values)
    asked, held = problem.request.n_components, float(np.sum(found.values))
    if bound < task.n and not held >= asked * total * (1 - 1e-9):
        raise ValueError(
            f"n_components={asked}, but the {k} components that memory_limit allows hold a share of "
            f"{held / total:.3f}; ask for less, or raise memory_limit"
        )
    grown = 0 if plan.solver == "dense" else _memory(task, plan, min(2 * k, bound))
    return replace(plan, memory=max(plan.memory, grown))


def _between(total: float | None, below: float, above: float) -> tuple[float, float]:
    """What a total lies between that may be off by so much; it is not below 0."""
    return max(float(total or 0.0) - below, 0.0), float(total or 0.0) + above


def _by_landmarks(problem: Problem, plan: Plan) -> KernelFit:
    """Components from few columns; where these lack too much, Rayleigh–Ritz with the whole matrix, once."""
    request, task, rng = problem.request, problem.task, np.random.default_rng(problem.request.seed)
    A, k = problem.matrix(stored=False), request.n_components
    factor = _pivoted(problem, A, rng)
    few, lacking = LowRank(factor), factor.error / factor.trace
    basis = SmallSide().basis(few, k, tol=request.tol, rng=rng)
    pairs = few.ritz(basis.Q)
    why = f"{plan.why}; {len(factor.pivots)} landmarks lack {at_most(lacking)} of the trace"
    plan = plans.low_rank(task, len(factor.pivots), why)
    rough = factor.error > OPEN * float(pairs.values[k - 1])
    if A.dim <= CHEAP or (rough and plans.comparison(task) <= LONGEST):
        # True residuals; and outside lies no more than landmarks leave and lack.
        level = np.inf if basis.outside is None else basis.outside.level + few.missing + few.rounding
        basis = Basis(basis.Q, outside=Outside(level))
        found = certify(A, A.ritz(basis.Q), basis, k, tol=request.tol)
        total = _between(A.trace, 2 * A.rounding, 2 * A.rounding)
        plan = replace(plan, passes=A.passes, why=f"{why}; the components were compared with the whole matrix")
    else:
        found = certify(few, pairs, basis, k, tol=request.tol)
        total = _between(few.trace, factor.error + few.rounding, few.rounding)
    return KernelFit(found, of_landmarks(A, factor.pivots, few, found), plan, total, lacking)


def _pivoted(problem: Problem, A: KernelMatrix, rng: np.random.Generator) -> Factor:
    """A factor of the kernel matrix from its columns at landmarks."""
    most, share = _landmarks(problem)
    enough, least = share * float(np.sum(A.diagonal)), 2 * problem.request.n_components + SPARE
    factor = randomly_pivoted(A.diagonal, A.entries, most, rng, enough, least, A.frame.rounding, problem.watch)
    if not len(factor.pivots):
        raise Alike("the rows are all alike to the kernel, so none can serve as a landmark; try eigen_solver='dense'")
    return factor


def check_landmarks(kernel: Kernel, k: Any, otherwise: str = "use eigen_solver='krylov' and no n_landmarks") -> None:
    """Whether landmarks may stand for the rows, with this kernel and so many components; and what to do otherwise."""
    if not kernel.positive:
        raise ValueError(
            f"landmarks need a kernel that is always positive semidefinite, and {kernel!r} may not be; {otherwise}"
        )
    if not isinstance(k, int):
        raise ValueError(f"n_components={k!r} needs the whole spectrum; landmarks need a number of components")


def _landmarks(problem: Problem) -> tuple[int, float]:
    """How many columns at most, and the share of the trace at which fewer are enough."""
    task, asked, k = problem.task, problem.landmarks, problem.request.n_components
    check_landmarks(problem.kernel, k)
    if isinstance(asked, float):
        return plans.landmarks(task, task.n), asked
    most = plans.landmarks(task, asked)
    if asked is not None and most < asked:
        raise ValueError(f"n_landmarks={asked}, but memory_limit has room for {most}; ask for fewer, or raise it")
    if most <= k and most < task.n:
        raise ValueError(f"n_landmarks={asked} must exceed n_components={k}")
    return most, 0.0 if asked is not None else 0.1 * problem.request.tol

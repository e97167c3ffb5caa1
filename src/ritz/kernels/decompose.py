"""From rows to certified components in feature space."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.fitting.planning import DENSE, NARROW_TOL, Plan
from ritz.fitting.request import Request
from ritz.fitting.solve import solve
from ritz.kernels import Kernel, Points, Precomputed, plans
from ritz.kernels.base import Frame, rounding
from ritz.kernels.embedding import Embedding, of_all_points, of_landmarks
from ritz.kernels.matrix import Kernel as KernelMatrix
from ritz.kernels.psd import checked_positive, positive_part, symmetric_values
from ritz.linalg.dense import Array
from ritz.operators import LowRank
from ritz.operators.pivoted_cholesky import randomly_pivoted
from ritz.rows.base import Block
from ritz.rows.memory.array import thin_inner
from ritz.runtime.threads import team
from ritz.runtime.watch import UNWATCHED, Watch
from ritz.runtime.wording import at_most
from ritz.solvers import Basis, Outside
from ritz.solvers import LowRank as SmallSide
from ritz.solvers.lowrank import SMALL, SPARE
from ritz.spectrum.certificate import Certificate
from ritz.spectrum.certify import Spectrum, certify

OPEN = 0.1  # share of the last value that landmarks may lack before the components are compared with the matrix itself
NARROW_UNIT, ROUGH = 2.0**-24, 1e-4  # rounding of float32, and the error of a value that it may claim to be of use
LONGEST = 120.0  # seconds by the planner's table that this may take
CHEAP = 20_000  # rows up to which that costs so little that it is always done


class Alike(DataError):
    """No row is a landmark."""


@dataclass(frozen=True, eq=False)
class KernelFit:
    """A fit: components in feature space, how they were found and how good they are.

    Attributes
    ----------
    spectrum : of the centred kernel matrix, in units of unit²
    certificate : the same in the units of the kernel
    embedding : the model for new rows
    total : (2,) what the trace of the centred kernel matrix lies between, in units of unit²
    trace_error : share of the trace of the kernel matrix that landmarks lack, 0 where all of it was used
    indefinite : size of the lowest eigenvalue relative to the largest, where it is below 0 and that is tolerated
    """

    spectrum: Spectrum
    certificate: Certificate
    embedding: Embedding
    plan: Plan
    total: tuple[float, float]
    unit: float
    trace_error: float = 0.0
    indefinite: float = 0.0


@dataclass(frozen=True, eq=False)
class Given:
    """What a fit starts from: the kernel and the rows as its points.

    `means` are those of the columns of a matrix that was given, None where they follow from the points.
    """

    kernel: Kernel
    frame: Frame
    points: Points
    means: Array | None = None
    watch: Watch = UNWATCHED

    @classmethod
    def of(cls, X: Block, kernel: Kernel, watch: Watch) -> Given:
        frame = kernel.frame(X)
        points = kernel.points(X, frame)
        if not isinstance(kernel, Precomputed):
            return cls(kernel, frame, points, watch=watch)
        return cls(kernel, frame, symmetric_values(points, frame), points.Z.mean(axis=0), watch)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and the entries of one of them that are stored."""
        n, Z = len(self.points), self.points.Z
        return n, Z.shape[1] if isinstance(Z, np.ndarray) else max(1, -(-Z.nnz // n))

    @property
    def narrow(self) -> bool:
        """Whether values in float32 can find the components."""
        sure = self.kernel.narrow and self.kernel.positive and not self.frame.exact
        return sure and self.frame.terms * NARROW_UNIT <= ROUGH

    def matrix(self, stored: bool, narrow: bool = False) -> KernelMatrix:
        """The kernel matrix; one that was given is stored already."""
        stored = stored and not isinstance(self.kernel, Precomputed)
        return KernelMatrix(self.kernel, self.frame, self.points, stored=stored, narrow=narrow, watch=self.watch)


def decompose_kernel(
    X: Block, kernel: Kernel, request: Request, landmarks: int | float | None, watch: Watch = UNWATCHED
) -> KernelFit:
    """Fit components to rows in memory."""
    with team():
        given = Given.of(X, kernel, watch)
        for plan in _plans(given, request, landmarks):
            if plan.solver == "lowrank":
                return _by_landmarks(given, request, plan, landmarks)
            result = _exact(given, request, plan)
            if result.certificate.satisfied:
                break
        return result


def _plans(given: Given, request: Request, landmarks: int | float | None) -> list[Plan]:
    n, d = given.shape
    asked = request.n_components
    k = asked if isinstance(asked, int) else n if asked is None else min(n, plans.GUESS)
    name = "lowrank" if landmarks is not None else request.name
    wanted = 2 * k + SPARE if isinstance(landmarks, float) else landmarks
    narrow = given.narrow and request.tol >= NARROW_TOL
    return plans.plans_for(
        n, d, k, narrow, given.kernel.positive, name, request.limit, wanted, isinstance(asked, float)
    )


def _exact(given: Given, request: Request, plan: Plan) -> KernelFit:
    A = given.matrix(stored=plan.dense, narrow=plan.precision == "float32")
    whole = plan.solver == "dense"
    if whole or (not given.kernel.positive and A.dim <= DENSE and 16 * A.dim**2 <= request.limit):
        A.dense()
    A = checked_positive(A, request.n_components)
    direct = whole or (A.indefinite > 0 and A.is_dense)  # an iteration may meet what is below 0
    if request.name == "auto" or direct:
        request = replace(request, solver="gram" if direct else plan.solver)
    bound = _bound(given, request, plan)
    found, total = solve(A, request.chosen(), request, bound, None)
    if isinstance(request.n_components, float):
        plan = _for_share(given, request, plan, found, total, bound)
    slack = 2 * A.rounding  # of the diagonal, and of the mean
    if A.indefinite and A.is_dense:
        total, slack = positive_part(A), A.dim * A.rounding
    means = A.means if given.means is None else given.means
    embedding = of_all_points(given.kernel, given.frame, given.points, found.values, found.vectors, means)
    fit = _fit(found, embedding, plan, _between(total, slack, slack), given.frame.unit)
    return replace(fit, indefinite=A.indefinite)


def _bound(given: Given, request: Request, plan: Plan) -> int:
    """The most components that a share of the variance may take: all, unless memory does not allow for an iteration."""
    n, d = given.shape
    if not isinstance(request.n_components, float) or plan.solver == "dense":
        return n
    counts = np.unique(np.geomspace(1, n, 64).astype(int))
    return int(max((k for k in counts if plans.needed(n, d, int(k), plan) <= request.limit), default=1))


def _for_share(given: Given, request: Request, plan: Plan, found: Spectrum, total: float, bound: int) -> Plan:
    """The plan as it turned out, once it is known how many components hold that share of the variance."""
    (n, d), k = given.shape, len(found.values)
    asked, held = request.n_components, float(np.sum(found.values))
    if bound < n and not held >= asked * total * (1 - 1e-9):
        raise ValueError(
            f"n_components={asked}, but the {k} components that memory_limit allows hold a share of "
            f"{held / total:.3f}; ask for less, or raise memory_limit"
        )
    grown = 0 if plan.solver == "dense" else plans.needed(n, d, min(2 * k, bound), plan)
    return replace(plan, memory=max(plan.memory, grown))


def _fit(
    found: Spectrum, embedding: Embedding, plan: Plan, total: tuple[float, float], unit: float, error: float = 0.0
) -> KernelFit:
    certificate = replace(found.certificate, quantity="eigenvalue").in_units(unit)
    return KernelFit(found, certificate, embedding, plan, total, unit, error)


def _by_landmarks(given: Given, request: Request, plan: Plan, landmarks: int | float | None) -> KernelFit:
    """Components from few columns; where these lack too much, compared with the whole matrix once."""
    A, k, rng = given.matrix(stored=False), request.n_components, np.random.default_rng(request.seed)
    size, target = _landmarks(given, A, k, request, landmarks)
    sure = {"enough": target * float(np.sum(A.diagonal)), "least": 2 * k + SPARE, "error": rounding(given.frame)}
    factor = randomly_pivoted(A.diagonal, A.entries, size, rng, watch=given.watch, **sure)
    if not len(factor.pivots):
        raise Alike(
            "the rows are all alike to the kernel, so landmarks have nothing to stand for; try eigen_solver='dense'"
        )
    few = LowRank(factor)
    basis = SmallSide().basis(few, k, tol=request.tol, rng=rng)
    pairs = few.ritz(basis.Q)
    share = factor.error / factor.trace
    why = f"{plan.why}; {len(factor.pivots)} landmarks lack {at_most(share)} of the trace"
    n, d = given.shape
    plan = plans.low_rank(n, d, k, len(factor.pivots), why)
    lacking = factor.error > OPEN * float(pairs.values[k - 1])
    if A.dim <= CHEAP or (lacking and plans.comparison(n, d, k) <= LONGEST):
        found, total = _against_matrix(A, few, basis, k, request.tol), _between(A.trace, 2 * A.rounding, 2 * A.rounding)
        plan = replace(plan, passes=A.passes, why=f"{why}; the components were compared with the whole matrix")
    else:
        found = certify(few, pairs, basis, k, tol=request.tol)
        total = _between(few.trace, factor.error + few.rounding, few.rounding)
    chosen, weights = given.points[factor.pivots], _weights(few, found.vectors)
    embedding = of_landmarks(given.kernel, given.frame, chosen, few.triangle, few.mean, weights, found.values)
    return _fit(found, embedding, plan, total, given.frame.unit, share)


def _against_matrix(A: KernelMatrix, few: LowRank, basis: Basis, k: int, tol: float) -> Spectrum:
    """Rayleigh–Ritz with the matrix itself: true residuals, and outside no more than landmarks leave and lack."""
    level = np.inf if basis.outside is None else basis.outside.level + few.missing + few.rounding
    return certify(A, A.ritz(basis.Q), Basis(basis.Q, outside=Outside(level)), k, tol=tol)


def _between(total: float | None, below: float, above: float) -> tuple[float, float]:
    return max(float(total or 0.0) - below, 0.0), float(total or 0.0) + above


def _landmarks(given: Given, A: KernelMatrix, k: Any, request: Request, landmarks: Any) -> tuple[int, float]:
    """How many columns at most, and the share of the trace at which fewer are enough."""
    if not A.function.positive:
        raise ValueError(
            f"landmarks need a kernel that is surely positive, and {A.function!r} may not be; try eigen_solver='krylov'"
        )
    if not isinstance(k, int):
        raise ValueError(f"n_components={k!r} needs the whole spectrum; landmarks need a number of components")
    if isinstance(landmarks, float):
        return plans.landmarks(*given.shape, k, A.dim, request.limit), landmarks
    size = plans.landmarks(*given.shape, k, landmarks, request.limit)
    if landmarks is not None and size < landmarks:
        raise ValueError(f"n_landmarks={landmarks}, but memory_limit has room for {size}; ask for fewer, or raise it")
    if size <= k and size < A.dim:
        raise ValueError(f"n_landmarks={landmarks} must exceed n_components={k}")
    return size, 0.0 if landmarks is not None else 0.1 * request.tol


def _weights(few: LowRank, U: Array) -> Array:
    """W with U = H F W, for a U inside the span of the leading eigenvectors of H F (H F)ᵀ."""
    values, V = few.small
    seen = values > SMALL * values[0]
    return V[:, seen] @ ((V[:, seen].T @ thin_inner(few.F, U)) / values[seen, None])

"""From rows to certified components in feature space."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz import kernel_plans
from ritz.certificate import Certificate
from ritz.cholesky import randomly_pivoted
from ritz.definite import checked_positive, symmetric_values
from ritz.embedding import Embedding, of_all_points, of_landmarks
from ritz.errors import DataError
from ritz.kernels import Kernel, Points, Precomputed
from ritz.kernels.base import Frame
from ritz.linalg import Array
from ritz.operators import Kernel as KernelMatrix
from ritz.operators import LowRank
from ritz.planner import DENSE, Plan
from ritz.request import Request
from ritz.rows.array import thin_inner
from ritz.rows.base import Block
from ritz.solvers import Basis, Outside
from ritz.solvers import LowRank as SmallSide
from ritz.solvers.lowrank import SMALL
from ritz.solving import solve
from ritz.spectrum import Spectrum, certify
from ritz.threads import team

OPEN = 0.1  # share of the last value that landmarks may lack before the components are compared with the matrix itself
CHEAP = 20_000  # rows up to which that costs so little that it is always done


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


def decompose_kernel(X: Block, kernel: Kernel, request: Request, landmarks: int | float | None) -> KernelFit:
    """Fit components to rows in memory."""
    with team():
        frame = kernel.frame(X)
        points = kernel.points(X, frame)
        means: Array | None = None
        if isinstance(kernel, Precomputed):
            means = points.Z.mean(axis=0)
            points = symmetric_values(points, frame)
        return _decompose(kernel, frame, points, request, landmarks, means)


def _decompose(
    kernel: Kernel, frame: Frame, points: Points, request: Request, landmarks: Any, means: Array | None
) -> KernelFit:
    n, d = points.Z.shape
    k = request.n_components if isinstance(request.n_components, int) else n
    if isinstance(request.n_components, float):
        k = min(n, kernel_plans.GUESS)
    name = "lowrank" if landmarks is not None else request.name
    result = None
    for plan in kernel_plans.plans_for(n, d, k, kernel, name, request.tol, request.limit):
        if plan.solver == "lowrank":
            return _by_landmarks(kernel, frame, points, request, plan, landmarks)
        result = _exact(kernel, frame, points, request, plan, means)
        if result.certificate.satisfied:
            break
    assert result is not None  # there is at least one plan
    return result


def _exact(
    kernel: Kernel, frame: Frame, points: Points, request: Request, plan: Plan, means: Array | None
) -> KernelFit:
    narrow = plan.precision == "float32"
    A = KernelMatrix(kernel, frame, points, stored=plan.dense and not isinstance(kernel, Precomputed), narrow=narrow)
    whole = plan.solver == "dense"
    if whole or (not kernel.positive and A.dim <= DENSE):
        A.dense()
    checked_positive(A, request.n_components)
    if request.name == "auto" or A.indefinite:  # an iteration would meet what is below 0
        request = replace(request, solver="gram" if whole or A.indefinite else plan.solver)
    found, total = solve(A, request.chosen(), request, A.dim, None)
    slack = A.rounding
    means = A.means if means is None else means
    embedding = of_all_points(kernel, frame, points, found.values, found.vectors, means)
    fit = _fit(found, embedding, plan, (max(total - slack, 0.0), total + slack), frame.unit)
    return replace(fit, indefinite=A.indefinite)


def _fit(
    found: Spectrum, embedding: Embedding, plan: Plan, total: tuple[float, float], unit: float, error: float = 0.0
) -> KernelFit:
    certificate = replace(found.certificate, quantity="eigenvalue").in_units(unit)
    return KernelFit(found, certificate, embedding, plan, total, unit, error)


def _by_landmarks(
    kernel: Kernel, frame: Frame, points: Points, request: Request, plan: Plan, landmarks: Any
) -> KernelFit:
    """Components from few columns; where these lack too much, compared with the whole matrix once."""
    A = KernelMatrix(kernel, frame, points, stored=False)
    k, rng = request.n_components, np.random.default_rng(request.seed)
    size, target = _landmarks(A, k, request, landmarks)
    factor = randomly_pivoted(A.diagonal, A.entries, size, rng, target * float(np.sum(A.diagonal)))
    if len(factor.pivots) < 1:
        raise DataError("all rows are alike to the kernel: there is nothing to decompose")
    few = LowRank(factor)
    basis = SmallSide().basis(few, k, tol=request.tol, rng=rng)
    pairs = few.ritz(basis.Q)
    share = factor.error / factor.trace
    plan = replace(plan, why=f"{plan.why}; {len(factor.pivots)} landmarks lack {share:.1e} of the trace")
    trace = float(few.trace or 0.0)
    total = (max(trace - factor.error - few.rounding, 0.0), trace + few.rounding)
    if factor.error > OPEN * float(pairs.values[k - 1]) or A.dim <= CHEAP:
        outside = np.inf if basis.outside is None else basis.outside.level + factor.error + few.rounding
        found = certify(A, A.ritz(basis.Q), Basis(basis.Q, outside=Outside(outside)), k, tol=request.tol)
        slack, trace = A.rounding, float(A.trace or 0.0)
        total = (max(trace - slack, 0.0), trace + slack)
        plan = replace(plan, passes=A.passes, why=f"{plan.why}; the components were compared with the whole matrix")
    else:
        found = certify(few, pairs, basis, k, tol=request.tol)
    weights = _weights(few, found.vectors)
    chosen = points[factor.pivots]
    embedding = of_landmarks(kernel, frame, chosen, few.triangle, few.mean, weights, found.values)
    return _fit(found, embedding, plan, total, frame.unit, share)


def _landmarks(A: KernelMatrix, k: Any, request: Request, landmarks: Any) -> tuple[int, float]:
    """How many columns at most, and the share of the trace at which fewer are enough."""
    if not A.function.positive:
        raise ValueError(
            f"landmarks need a kernel that is surely positive, and {A.function!r} may not be; try eigen_solver='krylov'"
        )
    if not isinstance(k, int):
        raise ValueError(f"n_components={k!r} needs the whole spectrum; landmarks need a number of components")
    if isinstance(landmarks, float):
        return kernel_plans.landmarks(A.dim, k, A.dim, request.limit), landmarks
    size = kernel_plans.landmarks(A.dim, k, landmarks, request.limit)
    if size <= k and size < A.dim:
        raise ValueError(f"n_landmarks={landmarks} must exceed n_components={k}, or memory_limit is too small for more")
    return size, 0.0 if landmarks is not None else 0.1 * request.tol


def _weights(few: LowRank, U: Array) -> Array:
    """W with U = H F W, for a U inside the span of the leading eigenvectors of H F (H F)ᵀ."""
    values, V = few.small
    seen = values > SMALL * values[0]
    return V[:, seen] @ ((V[:, seen].T @ thin_inner(few.F, U)) / values[seen, None])

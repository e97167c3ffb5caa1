"""Whether a kernel matrix is symmetric and positive semidefinite, as a matrix of inner products is."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from ritz.errors import DataError
from ritz.kernels import Frame, Points, Precomputed
from ritz.kernels.matrix import ALIKE, KernelMatrix
from ritz.linalg.dense import THREADED, Array, eigh_descending, gamma, positive_definite
from ritz.operators import Function
from ritz.runtime.threads import pinned
from ritz.solvers import Krylov

GRAINS = 16  # times the precision of given values: what they may be asymmetric, or have eigenvalues below 0, by
MOST = 0.5  # share of the largest eigenvalue that the negative ones of a given matrix may reach
STEPS = 12  # products that look for the lowest eigenvalue of a matrix that is not formed


def symmetric_values(points: Points, frame: Frame) -> Points:
    """The values of a given matrix, made symmetric, after checking that they nearly are.

    Centring takes off whatever is the same along a row or a column, so it is the centred matrix that must be symmetric.
    """
    K = points.Z
    if K.shape[1] != len(K):
        raise DataError(f"kernel='precomputed' expects a square matrix of the kernel's values, got shape {K.shape}")
    lean = K - K.T
    largest = float(np.abs(lean).max(initial=0.0))
    row = lean.mean(axis=1)
    lean -= row[:, None]
    lean += row
    if float(np.abs(lean).max(initial=0.0)) > max(ALIKE, GRAINS * frame.grain) * float(np.abs(K).max(initial=0.0)):
        raise DataError(
            f"the precomputed kernel matrix is not symmetric: max|K - K.T| = {largest * frame.unit**2:.2g}; "
            "pass (K + K.T)/2 if that is intended"
        )
    return Points((K + K.T) / 2 if largest else K, points.sizes)


def with_definiteness(A: KernelMatrix, asked: Any) -> KernelMatrix:
    """The matrix with how far below 0 its eigenvalues may lie; an error where rounding cannot explain those that do.

    A matrix that was given may have some, up to half of its largest eigenvalue in size, as long as none of the
    components asked for is among them: distances along a graph give such matrices. The fit says so.
    """
    if A.function.positive:
        return A
    tolerance = max(A.tolerance, GRAINS * A.frame.grain)
    lowest, largest, above = _extremes(A)
    negativity = max(0.0, -lowest) if A.is_dense else np.inf
    if lowest >= -(tolerance * largest + 10 * A.rounding):
        return A.known_to_be(max(negativity, 10 * A.rounding), tolerance)
    ratio = -lowest / largest if largest > 0 else np.inf
    enough = above is None or (isinstance(asked, int) and asked <= above)
    if not isinstance(A.function, Precomputed) or ratio >= MOST or not enough:
        unit, parameters = A.frame.unit**2, A.function.parameters
        change = f"change {parameters}" if parameters else "pass a positive semidefinite matrix"
        beside = (
            f"in size {ratio:.2g} times the largest, {largest * unit:.3g}"
            if largest > tolerance * -lowest
            else "and none is above 0"
        )
        raise DataError(
            f"There are significant negative eigenvalues: the lowest is {lowest * unit:.3g}, {beside}; "
            f"kernel={A.function!r} is not an inner product on these rows; {change}"
        )
    return A.known_to_be(negativity, tolerance, rank=above, indefinite=ratio)


def positive_part(A: KernelMatrix) -> float:
    """Σ of the eigenvalues above 0, the total that components have shares of; it forms the matrix."""
    values = _eigenvalues(A.dense())
    return float(np.sum(values[values > 0]))


def _extremes(A: KernelMatrix) -> tuple[float, float, int | None]:
    """The lowest and the largest eigenvalue, and how many are above rounding where all are known."""
    if not A.is_dense:
        return *_by_products(A), None
    matrix = A.dense()
    slack = 8 * gamma(A.dim + 8) * float(np.linalg.norm(matrix)) + A.rounding
    shifted = matrix.copy()
    shifted.flat[:: A.dim + 1] += slack
    if positive_definite(shifted):
        return -slack, float(np.linalg.norm(matrix)), None
    values = _eigenvalues(matrix)
    return float(values[0]), float(values[-1]), int(np.count_nonzero(values > slack))


def _eigenvalues(matrix: Array) -> Array:
    with pinned.calling(large=len(matrix) > THREADED):
        return np.asarray(scipy.linalg.eigvalsh(matrix, check_finite=False))


def _by_products(A: KernelMatrix) -> tuple[float, float]:
    """The same by iteration: of A for the largest, then of largest·I − A for the lowest, which may lie below."""
    rng = np.random.default_rng(0)
    top = Krylov(max_iter=STEPS).basis(A, 1, tol=1e-2, rng=rng)
    largest = float(eigh_descending(top.Q.T @ A.apply(top.Q), 1)[0][0])
    flipped = Function(lambda V: largest * V - A.apply(V), A.dim)
    found = Krylov(max_iter=STEPS).basis(flipped, 1, tol=1e-3, rng=rng)
    return float(-eigh_descending(-(found.Q.T @ A.apply(found.Q)), 1)[0][0]), largest

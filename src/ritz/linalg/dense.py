"""Orthonormal bases and factorisations of small dense matrices, and the constants of rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz.runtime.pinning import pinned

Array = NDArray[np.floating]

LARGE = 1000  # order beyond which an iteration, or its probes, take less than a factorisation
THREADED = 1000  # order beyond which LAPACK is worth threads of its own
UNIT = float(np.finfo(np.float64).eps) / 2  # the unit roundoff u of float64


def column_squares(V: Array) -> Array:  # (d, b) -> (b,)
    """Sum of the squares of each column."""
    return np.asarray(np.einsum("ij,ij->j", V, V))


def column_norms(V: Array) -> Array:  # (d, b) -> (b,)
    """Euclidean norm of each column."""
    return np.sqrt(column_squares(V))


def orthonormalise(V: Array) -> Array:  # (d, b) -> (d, b)
    """An orthonormal basis of span(V), orthonormal even where V has lost rank.

    Tall blocks go through Cholesky factorisations of small Gram matrices, at the speed of matrix products; where that
    does not give an orthonormal basis, Householder reflections do.
    """
    d, b = V.shape
    norms = column_norms(V)
    large = norms > 1e-7 * norms.max(initial=0.0)
    if d >= 8 * b and large.any():
        Q = _cholesky_qr(V[:, large] / norms[large])
        if Q is not None and not large.all():
            Q = np.column_stack([Q, outside(Q, V[:, ~large])])
        if Q is not None and orthogonality_defect(Q) <= 1e-13 * b:
            return Q
    return np.linalg.qr(V)[0]


def _cholesky_qr(V: Array) -> Array | None:
    """CholeskyQR2 of a block with unit columns, None where the columns are too dependent for it."""
    for _ in range(2):
        try:
            R = np.linalg.cholesky(V.T @ V, upper=True)
        except np.linalg.LinAlgError:
            return None
        V = V @ np.linalg.inv(R)
    return V


def outside(Q: Array, V: Array) -> Array:
    """Orthonormal columns outside span(Q): the directions of V there, random ones where V has none."""
    W = V / np.maximum(column_norms(V), np.finfo(float).tiny)
    W = W - Q @ (Q.T @ W)
    lost = column_norms(W) < 1e-8
    W[:, lost] = np.random.default_rng(0).standard_normal((len(V), int(lost.sum())))
    for _ in range(2):  # twice is enough (Kahan)
        W = np.linalg.qr(W - Q @ (Q.T @ W))[0]
    return W


def norm_estimate(A: Array, steps: int = 8) -> float:
    """‖A‖₂ of a symmetric matrix from below, by a few steps of orthogonal iteration on four vectors."""
    V = orthonormalise(np.random.default_rng(0).standard_normal((len(A), min(4, len(A)))))
    for _ in range(steps):
        V = orthonormalise(A @ V)
    return float(np.linalg.norm(A @ V, 2))


def orthogonality_defect(U: Array) -> float:
    """‖UᵀU − I‖_F."""
    defect = U.T @ U
    defect.flat[:: len(defect) + 1] -= 1.0
    return float(np.linalg.norm(defect))


def eigh_descending(A: Array, k: int | None = None) -> tuple[Array, Array]:
    """The k largest eigenvalues of a symmetric matrix, descending, with orthonormal eigenvectors.

    Examples
    --------
    >>> import numpy as np
    >>> eigh_descending(np.diag([1.0, 3.0, 2.0]), 2)[0]
    array([3., 2.])
    """
    d = len(A)
    k = d if k is None else min(k, d)
    if d == 1:  # for which some versions of SciPy have no workspace
        return np.array(A[0, :k]), np.ones((1, k))
    with pinned.calling(large=d > THREADED):
        if 4 * k < d:
            values, vectors = scipy.linalg.eigh(A, subset_by_index=[d - k, d - 1], driver="evr", check_finite=False)
            if len(values) == k and orthogonality_defect(vectors) < 1e-10:
                return values[::-1], vectors[:, ::-1]
        # The subset driver may lose orthogonality, or vectors, inside tight clusters; divide and conquer does not.
        values, vectors = scipy.linalg.eigh(A, driver="evd", check_finite=False)
        return values[::-1][:k], vectors[:, ::-1][:, :k]


def svd(F: Array) -> tuple[Array, Array, Array]:
    """Thin SVD F = P diag(s) Vᵀ, returned as P, s, V."""
    with pinned.calling(large=F.size > THREADED**2):
        try:
            P, s, Vt = scipy.linalg.svd(F, full_matrices=False, lapack_driver="gesdd", check_finite=False)
        except np.linalg.LinAlgError:  # divide and conquer fails to converge on rare inputs; QR iteration does not
            P, s, Vt = scipy.linalg.svd(F, full_matrices=False, lapack_driver="gesvd", check_finite=False)
    return P, s, Vt.T


def r_factor(*blocks: Array) -> Array:
    """R of the QR factorisation of the stacked blocks: the step of TSQR."""
    return np.asarray(np.linalg.qr(np.concatenate(blocks) if len(blocks) > 1 else blocks[0], mode="r"))


def positive_definite(A: Array) -> bool:
    """Whether a floating-point Cholesky factorisation of A runs to its end. Overwrites A."""
    with pinned.calling():
        _, info = scipy.linalg.lapack.dpotrf(A, lower=1, overwrite_a=1, clean=0)
    return bool(info == 0)


def gamma(terms: float) -> float:
    """γ_m = m u / (1 − m u): the relative error of a sum of m products (Higham 2002, §3.1)."""
    return terms * UNIT / (1 - terms * UNIT)


def qr_terms(m: int, d: int) -> int:
    """t, so that R of an m×d matrix is that of rows which differ from it, column by column, by t·u of its norm.

    Householder's reflections leave about √(m d) u when rounding errors are random (Connolly and Higham, SIAM J. Matrix
    Anal. Appl. 44, 2023), and 2√(m d) ≤ m + d; sums along m rows never err by more than m u, random or not.
    """
    return m + d + 16


def squared(values: Any, unit: float) -> Any:
    """values·unit², infinite or zero where that leaves the range of float64."""
    with np.errstate(over="ignore", under="ignore"):
        return values * np.float64(unit) * np.float64(unit)


def diagonal_of(scatter: Array) -> Array:
    """The diagonal of a scatter, which may be all of it that was kept."""
    return scatter if scatter.ndim == 1 else np.diagonal(scatter)

"""Eigenpairs of a symmetric positive semidefinite matrix, given directly or as a product."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.linalg import Array, positive_definite
from ritz.operators import Dense, Function, Operator
from ritz.solvers import Solver, by_name
from ritz.spectrum import Spectrum, spectrum


def eigen(
    A: Any,
    k: int,
    solver: str | Solver = "auto",
    tol: float = 1e-6,
    max_iter: int | None = None,
    start: Any = None,
    *,
    dim: int | None = None,
    random_state: int = 0,
) -> Spectrum:
    """The k largest eigenpairs A u = λ u of a symmetric positive semidefinite A, certified.

    Parameters
    ----------
    A : array, scipy LinearOperator, or callable V ↦ A V on (dim, b) blocks
    k : how many
    solver : "auto", "covariance" (dense), "power", "orthogonal", or a solver object
    tol : every residual plus rounding is at most tol·λ₁, or `certificate.satisfied` is False
    max_iter : iterations of an iterative solver, per component for power
    start : (dim,) or (dim, b) array for the iterative solvers
    dim : the order of A, needed for a callable
    random_state : seed of the random start

    Examples
    --------
    >>> import numpy as np
    >>> found = eigen(np.diag([3.0, 2.0, 1.0]), 2)
    >>> found.values
    array([3., 2.])
    >>> found.certificate.completeness
    'proved'
    """
    operator = _operator(A, dim)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= operator.dim:
        raise ValueError(f"k={k!r} must be an integer between 1 and {operator.dim}, the order of the matrix")
    if not 0 <= tol < 1:
        raise ValueError(f"tol={tol!r} must be a number with 0 <= tol < 1")
    chosen = _solver(solver, operator, max_iter, start)
    rng = np.random.default_rng(random_state)
    basis = chosen.basis(operator, int(k), tol=tol, rng=rng)
    return spectrum(operator, basis, int(k), tol=tol)


def _operator(A: Any, dim: int | None) -> Operator:
    if hasattr(A, "matmat") and hasattr(A, "shape"):
        return Function(A.matmat, _square(A.shape))
    if callable(A):
        if dim is None:
            raise ValueError("a callable does not tell its order; pass dim")
        return Function(A, int(dim))
    matrix = np.asarray(A)
    if matrix.dtype.kind not in "biuf":
        raise DataError(f"expected a symmetric matrix of real numbers, got {matrix.dtype}")
    return Dense(check_symmetric(matrix.astype(np.float64)))


def _square(shape: tuple[int, ...]) -> int:
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        raise DataError(f"a symmetric matrix is square and not empty, got shape {shape}")
    return int(shape[0])


def check_symmetric(A: Array) -> Array:
    """A itself, after checking that it is finite, symmetric and positive semidefinite to rounding."""
    _square(A.shape)
    if not np.isfinite(A).all():
        row, column = np.argwhere(~np.isfinite(A))[0]
        raise DataError(f"the matrix holds NaN or infinity, first at row {row}, column {column}")
    size = float(np.abs(A).max())
    asymmetry = float(np.abs(A - A.T).max())
    if asymmetry > 1e-8 * size:
        raise DataError(f"the matrix is not symmetric: max|A - A.T| = {asymmetry:.2g}; pass (A + A.T)/2 if meant so")
    A = (A + A.T) / 2
    slack = 1e-10 * size * len(A)
    if size and not positive_definite(A + slack * np.eye(len(A))):
        lowest = float(np.linalg.eigvalsh(A)[0])
        if lowest < -slack:
            raise DataError(f"the matrix has eigenvalue {lowest:.2g}; a covariance has none below 0")
    return A


def _solver(solver: str | Solver, A: Operator, max_iter: int | None, start: Any) -> Solver:
    if solver == "auto":
        solver = "covariance" if A.is_dense and start is None else "orthogonal"
    if isinstance(solver, str):
        if solver in ("gram", "svd", "full"):
            raise ValueError(f"solver={solver!r} needs rows; a matrix is decomposed by 'covariance' or iteratively")
        return by_name(solver, max_iter=max_iter, start=start)
    given = {"max_iter": max_iter, "start": start}
    return replace(solver, **{k: v for k, v in given.items() if v is not None})  # type: ignore[type-var]

"""Eigenpairs of a symmetric positive semidefinite matrix, given directly or as a product."""

from __future__ import annotations

import warnings
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ritz.errors import AccuracyWarning, DataError
from ritz.linalg.dense import LARGE, Array, gamma, positive_definite
from ritz.operators import Dense, Function, Operator
from ritz.rows import check_exact
from ritz.runtime.rules import TOL
from ritz.solvers import Solver, by_name
from ritz.spectrum.certify import Spectrum, certify

FEW = 20  # one in so many components of a large matrix takes less by iteration than by LAPACK
INDEFINITE = 1e-8  # share of the largest eigenvalue that a matrix known to few digits may lie below 0


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
    solver : "auto", "covariance" (dense), "krylov", "power", "orthogonal", or a solver object
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
    TOL.check("tol", tol)
    operator, unit = _operator(A, dim)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= operator.dim:
        raise ValueError(f"k={k!r} must be an integer between 1 and {operator.dim}, the order of the matrix")
    chosen = _solver(solver, operator, int(k), {"max_iter": max_iter, "start": start})
    basis = chosen.basis(operator, int(k), tol=tol, rng=np.random.default_rng(random_state))
    pairs = operator.ritz(basis.Q, basis.AQ)
    found = certify(operator, pairs, basis, int(k), tol=tol).in_units(unit)
    found = replace(found, certificate=replace(found.certificate, quantity="eigenvalue"))
    if not found.certificate.satisfied:
        why = f"; {found.note}" if found.note else ""
        warning = AccuracyWarning(f"did not converge to tol={tol:g}: {found.certificate.accuracy()}{why}")
        warning.diagnostic = found.certificate.diagnostics()[0]  # not_converged, the gravest, comes first
        warning.code = warning.diagnostic.code
        warnings.warn(warning, stacklevel=2)
    return found


def _operator(A: Any, dim: int | None) -> tuple[Operator, float]:
    """The operator A/unit²."""
    if hasattr(A, "toarray"):
        raise TypeError(f"A is a sparse {type(A).__name__}, not supported yet; pass aslinearoperator(A) or A.toarray()")
    if hasattr(A, "matmat") and hasattr(A, "shape"):
        return _function(A.matmat, _square(A.shape))
    if callable(A):
        if dim is None:
            raise ValueError("the order of the matrix behind a callable is not known; pass dim")
        return _function(A, int(dim))
    matrix = np.asarray(A)
    if matrix.dtype.kind not in "biuf":
        raise DataError(f"expected a symmetric matrix of real numbers, got {matrix.dtype}")
    _square(matrix.shape)
    check_exact(A)
    return symmetric(matrix)


def _function(product: Any, dim: int) -> tuple[Operator, float]:
    """A product scaled to ordinary sizes, which one trial tells."""
    trial = Function(product, dim).apply(np.random.default_rng(0).standard_normal((dim, 1)))
    unit = _unit(float(np.abs(trial).max()))
    return Function(product, dim, unit**2), unit


def _unit(size: float) -> float:
    """A power of two whose square is near `size`, so that nothing squared leaves the range of float64."""
    return float(np.ldexp(1.0, int(np.frexp(size)[1]) // 2)) if size else 1.0


def _square(shape: tuple[int, ...]) -> int:
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        raise DataError(f"a symmetric matrix is square and not empty, got shape {shape}")
    return int(shape[0])


def symmetric(A: Array) -> tuple[Dense, float]:
    """The matrix A/unit² as an operator, after checking that it is finite, symmetric and positive semidefinite."""
    d = _square(A.shape)
    A = A.astype(np.float64)
    if not np.isfinite(A).all():
        row, column = np.argwhere(~np.isfinite(A))[0]
        raise DataError(f"the matrix holds NaN or infinity, first at row {row}, column {column}")
    size = float(np.abs(A).max())
    unit = _unit(size)
    A = A / unit / unit
    asymmetry = float(np.abs(A - A.T).max())
    if asymmetry > 1e-8 * float(np.abs(A).max()):
        raise DataError(
            f"the matrix is not symmetric: max|A - A.T| = {asymmetry * unit * unit:.2g}; pass (A + A.T)/2 if meant so"
        )
    A = (A + A.T) / 2
    slack = 8 * gamma(d + 8) * float(np.linalg.norm(A))
    if size and not positive_definite(A + slack * np.eye(d)):
        lowest = float(np.linalg.eigvalsh(A)[0])
        slack += max(0.0, -lowest)
        if -lowest > INDEFINITE * float(np.linalg.norm(A)):
            raise DataError(f"the matrix has eigenvalue {lowest * unit * unit:.2g}; a covariance has none below 0")
    return Dense(A, negativity=2 * slack), unit


def _solver(solver: str | Solver, A: Operator, k: int, options: dict[str, Any]) -> Solver:
    """The solver with those options that were given; one that it does not have is an error."""
    if isinstance(solver, str):
        if solver == "auto":
            direct = A.is_dense and all(value is None for value in options.values())
            solver = "covariance" if direct and (A.dim <= LARGE or FEW * k > A.dim) else "krylov"
        if solver in ("gram", "svd", "full"):
            raise ValueError(f"solver={solver!r} needs rows; a matrix is decomposed by 'covariance' or iteratively")
        solver = by_name(solver)
    given = {name: value for name, value in options.items() if value is not None}
    unknown = sorted(set(given) - {field.name for field in fields(solver)})  # type: ignore[arg-type]
    if unknown:
        raise ValueError(f"{type(solver).__name__} has no option {', '.join(unknown)}; it does not iterate")
    return replace(solver, **given)  # type: ignore[type-var]

"""Eigenpairs of a symmetric matrix, given directly, sparse or as a product."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ritz.errors import AccuracyWarning, DataError
from ritz.linalg.arrays import on_host
from ritz.linalg.dense import LARGE, Array, gamma, positive_definite, squared
from ritz.operators import Dense, Function, Operator, SparseMatrix
from ritz.operators.base import Indefinite, indefinite
from ritz.rows import as_rows, check_exact
from ritz.runtime.memory import PHYSICAL, format_bytes
from ritz.runtime.rules import TOL, integer, or_else
from ritz.solvers import Covariance, Solver, by_name
from ritz.solvers.base import check_object
from ritz.spectrum.certify import Spectrum, certify

FEW = 20  # one in so many components of a large matrix takes less by iteration than by LAPACK
INDEFINITE = 1e-8  # share of its norm that eigenvalues of a matrix known to few digits may lie below 0
ASYMMETRY = 1e-8  # share of the largest entry by which a symmetric matrix may differ from its transpose
ORDER = integer(1, ", the order of the matrix")
SEED = or_else(None, integer(0), "must be an integer >= 0, or None, which is 0")
TAKES = "solver='power' takes such matrices, and finds the eigenvalues of largest magnitude"


def eigen(
    A: Any,
    k: int,
    solver: str | Solver = "auto",
    tol: float | None = 1e-6,
    max_iter: int | None = None,
    start: Any = None,
    *,
    dim: int | None = None,
    random_state: int | None = 0,
) -> Spectrum:
    """The k largest eigenpairs A u = λ u of a symmetric positive semidefinite A, certified.

    "power" takes matrices with negative eigenvalues too, and finds the k of largest magnitude, with their signs.

    Parameters
    ----------
    A : array, SciPy sparse matrix or array of any format, scipy LinearOperator, or callable V ↦ A V on (dim, b) blocks.
        A sparse matrix of up to 1000 rows is made dense, which lets the certificate prove more
    k : how many
    solver : "auto", "covariance" (dense), "krylov", "power", "orthogonal", or a solver object
    tol : every residual plus rounding is at most tol·λ₁, or `certificate.satisfied` is False. None asks for no
        residual: power and orthogonal then stop on the relative change of the eigenvalue alone (their option `change`),
        which leaves residuals near λ√change, and the certificate says what was reached
    max_iter : iterations of an iterative solver, per component for power
    start : (dim,) or (dim, b) array for the iterative solvers
    dim : the order of A, needed for a callable
    random_state : seed of the random start; None is 0, so that the same matrix gives the same answer

    Examples
    --------
    >>> import numpy as np
    >>> found = eigen(np.diag([3.0, 2.0, 1.0]), 2)
    >>> found.values
    array([3., 2.])
    >>> found.certificate.completeness
    'proved'

    The eigenvalue of largest magnitude, by power iteration as textbooks stop it:

    >>> found = eigen(np.diag([2.0, -3.0, 1.0]), 1, "power", tol=None)
    >>> found.values.round(6), found.certificate.tol, found.certificate.satisfied
    (array([-3.]), None, True)
    >>> print(found.certificate.verdict)
    no accuracy was asked for: residual of every component at most 2.8e-05 of the largest magnitude
    """
    if tol is not None:
        TOL.check("tol", tol)
    SEED.check("random_state", random_state)
    named = _named(solver)
    operator, unit = _operator(on_host(A), dim, named)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= operator.dim:
        raise ValueError(f"k={k!r} must be an integer between 1 and {operator.dim}, the order of the matrix")
    chosen = _solver(named, operator, int(k), {"max_iter": max_iter, "start": start})
    _check_rule(chosen, tol)
    basis = chosen.basis(operator, int(k), tol=tol, rng=np.random.default_rng(random_state or 0))
    with _in_units(unit):
        pairs = operator.ritz(basis.Q, basis.AQ)
    found = _within_range(certify(operator, pairs, basis, int(k), tol=tol).in_units(unit))
    found = replace(found, solver=chosen, certificate=replace(found.certificate, quantity="eigenvalue"))
    if not found.certificate.satisfied:
        why = f"; {found.note}" if found.note else ""
        asked = "" if tol is None else f" to tol={tol:g}"
        warning = AccuracyWarning(f"did not converge{asked}: {found.certificate.accuracy()}{why}")
        warning.diagnostic = found.certificate.diagnostics()[0]  # not_converged, the gravest, comes first
        warning.code = warning.diagnostic.code
        warnings.warn(warning, stacklevel=2)
    return found


def _named(solver: str | Solver) -> str | Solver:
    """The solver object, or "auto", which depends on the matrix."""
    check_object("solver", solver)
    if not isinstance(solver, str) or solver == "auto":
        return solver
    if solver in ("gram", "svd", "full"):
        raise ValueError(f"solver={solver!r} needs rows; a matrix is decomposed by 'covariance' or iteratively")
    return by_name(solver)


@contextmanager
def _in_units(unit: float) -> Iterator[None]:
    """Errors about eigenvalues below 0 of A/unit² speak of A, and say who takes it."""
    try:
        yield
    except Indefinite as error:
        raise indefinite(float(squared(error.lowest, unit)), TAKES) from None


def _within_range(found: Spectrum) -> Spectrum:
    """Refuse eigenvalues beyond the range of float64, which a matrix with entries inside it can have."""
    if not np.isfinite(found.values).all():
        raise DataError(
            "the largest eigenvalue is beyond 1.8e308, the range of float64", "divide the matrix by a number"
        )
    return found


def _operator(A: Any, dim: int | None, solver: str | Solver) -> tuple[Operator, float]:
    """The operator A/unit², signed where the solver finds magnitudes and none can be sure that A has one sign."""
    signed = bool(getattr(solver, "signed", False))
    if hasattr(A, "toarray") and hasattr(A, "nnz"):
        return _sparse(A, solver, signed)
    if hasattr(A, "matmat") and hasattr(A, "shape"):
        return _function(A.matmat, _square(A.shape), signed)
    if callable(A):
        if dim is None:
            raise ValueError("the order of the matrix behind a callable is not known; pass dim")
        ORDER.check("dim", dim)
        return _function(A, int(dim), signed)
    try:
        matrix = np.asarray(A)
    except ValueError:
        raise DataError("expected a square matrix, got rows of different lengths") from None
    if matrix.dtype.kind not in "biuf":
        raise DataError(f"expected a symmetric matrix of real numbers, got {matrix.dtype}")
    _square(matrix.shape)
    check_exact(A)
    with _in_units(1.0):
        return symmetric(matrix, signed)


def _function(product: Any, dim: int, signed: bool) -> tuple[Operator, float]:
    """A product scaled to ordinary sizes, which one trial tells; and whether it is that of a symmetric matrix."""
    G = np.random.default_rng(0).standard_normal((dim, 2))
    trial = Function(product, dim)
    AG = trial.apply(G)
    unit = _unit(float(np.abs(AG).max()))
    AG = AG / unit / unit
    H, size = G.T @ AG, float(np.linalg.norm(G, axis=0) @ np.linalg.norm(AG, axis=0))
    lean = abs(float(H[0, 1] - H[1, 0]))
    if lean > ASYMMETRY * size + 4 * float(np.linalg.norm(G)) * (trial.rounding / unit / unit):
        raise DataError(
            f"the operator is not symmetric: x·Ay and y·Ax of two random vectors differ by {lean / size:.2g} of "
            "|x||Ay|; pass a symmetric one"
        )
    return Function(product, dim, unit**2, signed), unit


def _unit(size: float) -> float:
    """A power of two whose square is near `size`, so that nothing squared leaves the range of float64."""
    return float(np.ldexp(1.0, int(np.frexp(size)[1]) // 2)) if size else 1.0


def _square(shape: tuple[int, ...]) -> int:
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        raise DataError(f"a symmetric matrix is square and not empty, got shape {shape}")
    return int(shape[0])


def _sparse(A: Any, solver: str | Solver, signed: bool) -> tuple[Operator, float]:
    """A sparse matrix: dense where it is small, or where the solver needs all of it."""
    d = _square(A.shape)
    rows = as_rows(A)
    entries: Any = rows.exact(rows.block(0, d))
    if d <= LARGE or isinstance(solver, Covariance):
        if 8 * d * d > PHYSICAL // 4:
            size = format_bytes(8 * d * d)
            raise DataError(f"solver='covariance' makes the sparse matrix dense, which takes {size}; use 'krylov'")
        with _in_units(1.0):
            return symmetric(entries.toarray(), signed)
    data = entries.data.astype(np.float64)
    if not np.isfinite(data).all():
        place = int(np.argmin(np.isfinite(data)))
        row = int(np.searchsorted(entries.indptr, place, side="right")) - 1
        raise _not_finite(row, int(entries.indices[place]))
    unit = _unit(float(np.abs(data).max(initial=0.0)))
    scaled = type(entries)((data / unit / unit, entries.indices, entries.indptr), shape=entries.shape)
    lean = abs(scaled - scaled.T).max()
    _check_symmetric(float(lean), float(np.abs(scaled.data).max(initial=0.0)), unit)
    operator = SparseMatrix(((scaled + scaled.T) / 2).tocsr() if lean else scaled, signed)
    lowest = 0.0 if signed else operator.lowest_of_two()
    if -lowest > INDEFINITE * operator.most:
        raise indefinite(float(squared(lowest, unit)), TAKES)
    return operator, unit


def symmetric(A: Array, signed: bool = False) -> tuple[Dense, float]:
    """The matrix A/unit² as an operator, after checking that it is finite, symmetric and positive semidefinite.

    Eigenvalues below 0 are allowed where they are ordered by magnitude, `signed`.
    """
    d = _square(A.shape)
    A = A.astype(np.float64)
    if not np.isfinite(A).all():
        row, column = np.argwhere(~np.isfinite(A))[0]
        raise _not_finite(row, column)
    size = float(np.abs(A).max())
    unit = _unit(size)
    A = A / unit / unit
    _check_symmetric(float(np.abs(A - A.T).max()), float(np.abs(A).max()), unit)
    A = (A + A.T) / 2
    slack = 8 * gamma(d + 8) * float(np.linalg.norm(A))
    if size and not positive_definite(A + slack * np.eye(d)):
        lowest = float(np.linalg.eigvalsh(A)[0])
        slack += max(0.0, -lowest)
        if -lowest > INDEFINITE * float(np.linalg.norm(A)):
            if signed:
                return Dense(A, negativity=2 * slack, signed=True), unit
            raise indefinite(float(squared(lowest, unit)))
    return Dense(A, negativity=2 * slack), unit


def _not_finite(row: int, column: int) -> DataError:
    return DataError(f"the matrix holds NaN or infinity, first at row {row}, column {column}")


def _check_symmetric(asymmetry: float, largest: float, unit: float) -> None:
    if asymmetry > ASYMMETRY * largest:
        raise DataError(
            f"the matrix is not symmetric: max|A - A.T| = {asymmetry * unit * unit:.2g}; pass (A + A.T)/2 if meant so"
        )


def _check_rule(solver: Solver, tol: float | None) -> None:
    """Without a tol, an iteration needs a rule of its own."""
    if tol is None and not hasattr(solver, "change"):
        raise ValueError(
            f"tol=None stops on the change of the eigenvalue alone, a rule that {type(solver).__name__} does not have; "
            "use solver='power' or 'orthogonal', or give a tol"
        )


def _solver(solver: str | Solver, A: Operator, k: int, options: dict[str, Any]) -> Solver:
    """The solver with those options that were given; one that it does not have is an error."""
    if isinstance(solver, str):
        direct = A.is_dense and all(value is None for value in options.values())
        solver = by_name("covariance" if direct and (A.dim <= LARGE or FEW * k > A.dim) else "krylov")
    given = {name: value for name, value in options.items() if value is not None}
    unknown = sorted(set(given) - {field.name for field in fields(solver)})  # type: ignore[arg-type]
    if unknown:
        raise ValueError(f"{type(solver).__name__} has no option {', '.join(unknown)}; it does not iterate")
    return replace(solver, **given)  # type: ignore[type-var]

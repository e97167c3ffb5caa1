"""Linear maps of many rows at once: from coefficients to signals, from signals to measurements, or any given matrix."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ritz.errors import AccuracyWarning, DataError
from ritz.linalg.dense import Array
from ritz.rows import check_exact
from ritz.runtime import threads
from ritz.runtime.rules import integer
from ritz.runtime.threads import cached_property
from ritz.solvers import Power
from ritz.spectrum.eigen_pairs import eigen

Places = NDArray[np.intp]

SLACK = 1.5  # margin on the largest eigenvalue found, where no bound of it is known
SMALL = 4096  # rows or columns for which an eigenvalue is found with a bound
POWERS = 50  # iterations
BLOCK = 1 << 20  # entries of a block of rows
ADJOINT = 1e-6  # relative departure from a transpose that operators in float32 may have


class Map(ABC):
    """A matrix M known by its products with rows: y = M x, and back z = Mᵀ y."""

    shape: tuple[int, int]
    isometry: bool = False  # whether MᵀM = I, so that lengths are kept
    random: bool = False  # whether its entries are random, so that columns are dependent only by chance
    generic: bool = False  # whether their distribution has a density, so that the chance is 0
    independent_rows: bool = False  # whether rows are sure to be linearly independent

    @abstractmethod
    def apply(self, X: Array) -> Array:  # (b, n) -> (b, m), M of shape (m, n)
        """M x of every row."""

    @abstractmethod
    def adjoint(self, Y: Array) -> Array:  # (b, m) -> (b, n)
        """Mᵀ y of every row."""

    def synthesis(self, C: Any) -> Array:  # (b, p) -> (b, N)
        """Signals x = Ψc of coefficients, one a row, for a basis Ψ: `apply`, of anything that makes an array."""
        return self.apply(_as_rows(C, self.shape[1], "coefficients"))

    def analysis(self, X: Any) -> Array:  # (b, N) -> (b, p)
        """Coefficients c with Ψc = x of signals, one a row, for a basis Ψ.

        They are Ψᵀx where basis vectors are orthonormal, up to the rounding of the tables of wavelets (1e-9 at most),
        and Ψ⁻¹x for biorthogonal wavelets, where Ψᵀx is something else. Of a matrix with more columns than rows they
        are the c of least length; of one with fewer, Ψc is the signal nearest to x that the columns can make.

        Examples
        --------
        >>> Psi = Matrix(np.array([[1.0, 1.0], [0.0, 2.0]]))
        >>> Psi.analysis([[3.0, 2.0]])
        array([[2., 1.]])
        >>> Psi.adjoint(np.array([[3.0, 2.0]]))
        array([[3., 7.]])
        """
        rows = _as_rows(X, self.shape[0], "signals")
        return self.adjoint(rows) if self.isometry else self.inverse(rows)

    def approximate(self, X: Any, n_coefficients: int) -> Array:  # (b, N) -> (b, N)
        """Signals made of the n_coefficients largest coefficients of each: a hard threshold.

        Where basis vectors are orthonormal no other choice of so many is nearer to the signal. For biorthogonal
        wavelets the choice is nearly as good as the vectors are nearly orthonormal.
        """
        integer(1).check("n_coefficients", n_coefficients)
        codes = self.analysis(X)
        small = np.argsort(-np.abs(codes), axis=1, kind="stable")[:, int(n_coefficients) :]
        np.put_along_axis(codes, small, 0.0, axis=1)
        return self.apply(codes)

    def inverse(self, X: Array) -> Array:  # (b, m) -> (b, n)
        """M⁺ x of every row, where M is no isometry."""
        raise DataError(
            "this basis is known by its products alone, and the coefficients of a signal would take a solve for each; "
            "pass it as an array (.toarray() of a sparse matrix), which has `analysis`"
        )

    def some_rows(self, which: Places) -> Array:
        """Rows of M."""
        return self.adjoint(ones_at(which, self.shape[0]))

    def some_columns(self, which: Places) -> Array:
        """Columns of M, each as a row."""
        return self.apply(ones_at(which, self.shape[1]))

    def row_blocks(self) -> Iterator[Array]:
        """All rows of M, some at a time."""
        step = max(1, BLOCK // max(self.shape))
        for start in range(0, self.shape[0], step):
            yield self.some_rows(np.arange(start, min(start + step, self.shape[0])))

    @cached_property
    def norm(self) -> float:
        """An upper bound of ‖M‖; for a large M, an estimate by power iteration, with a margin."""
        if self.isometry:
            return 1.0
        m, n = self.shape

        def normal(V: Array) -> Array:  # the smaller one of M Mᵀ and MᵀM
            return (self.apply(self.adjoint(V.T)) if m <= n else self.adjoint(self.apply(V.T))).T

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)  # a few per cent are enough
            solver = "auto" if min(m, n) <= SMALL else Power(max_iter=POWERS)  # which keeps two vectors
            found = eigen(normal, 1, solver, tol=1e-2, dim=min(m, n))
        bound = float(found.certificate.value_bounds[0, 1])
        return float(np.sqrt(bound if np.isfinite(bound) else SLACK * found.values[0]))


class Matrix(Map):
    """A matrix held in memory."""

    def __init__(self, entries: Array, random: bool = False) -> None:
        self.entries, self.random = entries, random
        self.shape = entries.shape
        signs = float(np.ptp(np.abs(entries[0]))) == 0  # all of one size: a matrix read from a file shows it as well
        self.generic = self.independent_rows = random and not signs

    def apply(self, X: Array) -> Array:
        return X @ self.entries.T

    def adjoint(self, Y: Array) -> Array:
        return Y @ self.entries

    def inverse(self, X: Array) -> Array:
        with threads.pinned():
            return np.ascontiguousarray(np.linalg.lstsq(self.entries, X.T)[0].T)

    def some_rows(self, which: Places) -> Array:
        return self.entries[which]

    def some_columns(self, which: Places) -> Array:
        return self._transposed[which]

    @cached_property
    def factors(self) -> tuple[Array, Array]:
        """Q and R of M = QR."""
        Q, R = np.linalg.qr(self.entries)
        return Q, R

    @cached_property
    def _transposed(self) -> Array:
        return np.ascontiguousarray(self.entries.T)


class Operator(Map):
    """A scipy LinearOperator, or a sparse matrix."""

    def __init__(self, operator: Any) -> None:
        self.operator = operator
        self.shape = (int(operator.shape[0]), int(operator.shape[1]))

    def apply(self, X: Array) -> Array:
        return np.ascontiguousarray((self.operator @ X.T).T)

    def adjoint(self, Y: Array) -> Array:
        return np.ascontiguousarray((self.operator.T @ Y.T).T)


def _as_rows(given: Any, n: int, what: str) -> Array:  # (b, n)
    """Finite real numbers in float64, n in a row."""
    rows = np.asarray(given)
    if rows.ndim != 2 or rows.shape[1] != n or rows.dtype.kind not in "biuf":
        raise DataError(f"{what} must be rows of {n} numbers, found an array of {rows.dtype} with shape {rows.shape}")
    _check_numbers(rows, what)
    return np.array(rows, dtype=np.float64)


def ones_at(which: Places, n: int) -> Array:  # (b,) -> (b, n)
    """Unit vectors, one a row."""
    units = np.zeros((len(which), n))
    units[np.arange(len(which)), which] = 1.0
    return units


def as_map(given: Any, name: str) -> Map:
    """A matrix, sparse or dense, or a LinearOperator, with finite real entries as far as they can be checked."""
    if scipy.sparse.issparse(given):
        _check_numbers(given.data, name)
        check_exact(given)
        return Operator(given.tocsr(copy=True))
    if hasattr(given, "matmat") and hasattr(given, "shape"):
        return _checked(Operator(given), name)
    try:
        entries = np.asarray(given)
    except ValueError as error:
        raise DataError(f"{name} is not a matrix: {error}") from None
    if entries.ndim != 2 or not entries.size or entries.dtype.kind not in "biuf":
        raise DataError(
            f"{name} must be a matrix of real numbers or a LinearOperator, found an array of {entries.dtype} with "
            f"shape {entries.shape}"
        )
    check_exact(given)
    entries = entries.astype(np.float64)
    _check_numbers(entries, name)
    return Matrix(entries)


def _checked(operator: Operator, name: str) -> Operator:
    """A LinearOperator whose rmatvec is its transpose: ⟨M x, y⟩ = ⟨x, Mᵀ y⟩ for random x and y."""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((1, size)) for size in operator.shape[::-1])
    try:
        forth, back = operator.apply(x), operator.adjoint(y)
    except (NotImplementedError, TypeError, AttributeError) as error:
        raise DataError(
            f"{name} must have products with vectors (matvec) and with its transpose (rmatvec); one fails: {error}"
        ) from None
    _check_numbers(forth, name)
    _check_numbers(back, name)
    apart = abs(float(np.vdot(forth, y) - np.vdot(x, back)))
    if apart > ADJOINT * float(np.linalg.norm(forth) * np.linalg.norm(y) + np.linalg.norm(x) * np.linalg.norm(back)):
        raise DataError(f"{name} has an rmatvec that is not the transpose of its matvec: ⟨Mx, y⟩ ≠ ⟨x, Mᵀy⟩")
    return operator


def _check_numbers(entries: Any, name: str) -> None:
    if np.dtype(entries.dtype).kind not in "biuf" or not np.isfinite(entries).all():
        raise DataError(f"{name} holds NaN, infinity or complex numbers; it must be finite and real")

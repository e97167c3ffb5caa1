"""Dense matrices: sums, factorisations, and products in pieces of the size at which BLAS is fastest.

What "in pieces" rests on: to split the first axis of an array, (m, d) into (m/step, step, d), is a view whatever the
strides are. So nothing is copied, and a product that is written into pieces of `out` is written into `out` itself.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz.linalg.arrays import beside, is_device_array, namespace, r_of, stacked
from ritz.runtime.threads import pinned

Array = NDArray[np.floating]
LARGE = 1000  # order beyond which an iteration, or its probes, take less than a factorisation
THREADED = 1000  # order beyond which LAPACK is worth threads of its own
SUBSET = 80  # order beyond which some eigenpairs take less time than all of them
UNIT = float(np.finfo(np.float64).eps) / 2  # the unit roundoff u of float64
# Multiplications up to which OpenBLAS has kernels, on some processors, that do not first copy their operands into
# panels. Against few columns that copy costs as much as the product: pieces of this size run two to three times as
# fast, at the machine's peak. Where there are no such kernels, every piece would be copied: nothing is cut there.
PIECE, WHOLE = 1_000_000, 1 << 40
WITH_SMALL_KERNELS = frozenset({"SkylakeX", "Cooperlake", "SapphireRapids"})
LITTLE = 1 << 13  # entries of a matrix whose factorisation takes no longer than to call NumPy's
FEW = 6  # one in so many vectors of a tridiagonal matrix takes less one by one than all of them together
BLOCK = 64  # columns that LAPACK works on at a time
BY_PLACE = 2  # how dstemr calls a choice of eigenvalues by their places
LOST, SLIGHT = 1e-10, 1e-13  # ‖VᵀV − I‖ beyond which vectors are not those of a subset, or are made orthonormal
CACHED = 1 << 15  # entries of a piece that stays in cache
STRIP = 16  # columns of a narrow matrix that are multiplied at a time by those on their right
SHORT_BYTES = 640  # of a row, up to which NumPy's own symmetric product is the faster one
TILE = 256  # rows of a symmetric matrix that are handled at a time
PANEL = 128  # rows that BLAS sums up at least before it adds to a total; most libraries take 256 or more
LONG, LONGEST = 64, 8192  # entries of rows whose squares BLAS sums up to twice as fast, and with one thread
SKINNY = 160  # columns beyond which a product is worth its panels
# Data is multiplied in float32 where there is much of it and the rows are wide enough to pay for an audit.
NARROW_ENTRIES, NARROW_COLUMNS = 1 << 22, 64
_ROUTINES = {np.dtype(np.float32): ("ssyrk", ctypes.c_float), np.dtype(np.float64): ("dsyrk", ctypes.c_double)}


def column_squares(V: Array) -> Array:  # (d, b) -> (b,)
    """Sum of the squares of each column."""
    return np.asarray(np.einsum("ij,ij->j", V, V))


def column_sums(Z: Any) -> Any:  # (m, d) -> (d,)
    """Sum of each column; Z may be sparse, or on a device."""
    if not isinstance(Z, np.ndarray) and is_device_array(Z):
        return namespace(Z).sum(Z, axis=0)
    return np.ones(Z.shape[0]) @ Z


def row_squares(Z: Any) -> Any:  # (m, d) -> (m,)
    """Sum of the squares of each row; Z may be on a device."""
    if not isinstance(Z, np.ndarray):
        return namespace(Z).sum(Z * Z, axis=1)
    blas = LONG <= Z.shape[1] <= LONGEST and Z.flags.c_contiguous
    return np.vecdot(Z, Z) if blas else np.einsum("ij,ij->i", Z, Z)


def column_norms(V: Array) -> Array:  # (d, b) -> (b,)
    """Euclidean norm of each column."""
    return np.sqrt(column_squares(V))


def residual_norms(AU: Array, U: Array, values: Array) -> Array:  # (d, b), (d, b), (b,) -> (b,)
    """‖A u − λ u‖ of each column, in pieces of rows that stay in cache: fresh memory costs more than the arithmetic."""
    squares = np.zeros(U.shape[1])
    step = max(1, CACHED // max(1, U.shape[1]))
    for start in range(0, len(U), step):
        part = U[start : start + step] * values
        np.subtract(AU[start : start + step], part, out=part)
        squares += column_squares(part)
    return np.sqrt(squares)


def subtract_outer(V: Array, u: Array, w: Array) -> None:  # (d, b), (d,), (b,)
    """V −= u wᵀ, by BLAS where it can write to V: NumPy would begin a loop of a few numbers for every row."""
    if V.flags.c_contiguous and V.dtype == np.float64 and V.size:
        with pinned.calling():
            scipy.linalg.blas.dger(-1.0, w, u, a=V.T, overwrite_a=1)
    else:
        V -= u[:, None] * w


def norm_of(V: Array) -> float:
    """Euclidean norm of a vector, or the Frobenius norm of a matrix: NumPy's own takes longer to start."""
    flat = V.ravel(order="K")
    return math.sqrt(float(flat.dot(flat)))


def orthogonality_defect(U: Array) -> float:
    """‖UᵀU − I‖_F."""
    defect = U.T @ U
    defect.flat[:: len(defect) + 1] -= 1.0
    return norm_of(defect)


def eigh_descending(A: Array, k: int | None = None, overwrite: bool = False) -> tuple[Array, Array]:
    """The k largest eigenvalues of a symmetric matrix, descending, with orthonormal eigenvectors.

    LAPACK may have the memory of the matrix with `overwrite`.

    Examples
    --------
    >>> import numpy as np
    >>> eigh_descending(np.diag([1.0, 3.0, 2.0]), 2)[0]
    array([3., 2.])
    """
    d = len(A)
    k = d if k is None else min(k, d)
    if d <= SUBSET:  # NumPy takes the least on its way to LAPACK
        with pinned():
            values, vectors = np.linalg.eigh(A)
        return values[::-1][:k], np.ascontiguousarray(vectors[:, ::-1][:, :k])
    with pinned.calling(large=d > THREADED):
        if d <= THREADED and k < d and hasattr(scipy.linalg.lapack, "dstevd"):  # since SciPy 1.16
            return _some(A, k, overwrite)
        if 4 * k < d:
            values, vectors = scipy.linalg.eigh(A, subset_by_index=[d - k, d - 1], driver="evr", check_finite=False)
            if len(values) == k and orthogonality_defect(vectors) < LOST:
                return values[::-1], vectors[:, ::-1]
        # The subset drivers may lose orthogonality, or vectors, inside tight clusters; divide and conquer does not.
        # LAPACK takes columns, which the rows of a symmetric matrix are, too.
        values, vectors = scipy.linalg.eigh(A.T, driver="evd", check_finite=False, overwrite_a=overwrite)
        return values[::-1][:k], vectors[:, ::-1][:, :k]


def _some(A: Array, k: int, overwrite: bool) -> tuple[Array, Array]:
    """The k largest eigenpairs of a matrix of moderate order: it is made tridiagonal, and only the k vectors asked for
    are transformed back. LAPACK's drivers transform all of them, or look for some by bisection: both take longer."""
    d = len(A)
    reflectors, diagonal, off_diagonal, tau, _ = scipy.linalg.lapack.dsytrd(
        A.T, lower=1, lwork=BLOCK * d, overwrite_a=overwrite
    )
    found = few_of_tridiagonal(diagonal, off_diagonal, k) if FEW * k <= d else None
    if found is None:
        values, vectors, info = scipy.linalg.lapack.dstevd(diagonal, off_diagonal)
        if info:
            raise np.linalg.LinAlgError(f"LAPACK found no eigenvalues of a matrix of order {d}")
        found = values[d - k :], np.asfortranarray(vectors[:, d - k :])
    values, vectors = found
    # The reflectors are those of a QR factorisation of all rows but the first.
    size = BLOCK * (k + BLOCK + 1)
    vectors[1:] = scipy.linalg.lapack.dormqr("L", "N", reflectors[1:, :-1], tau, vectors[1:], size)[0]
    return values[::-1], vectors[:, ::-1]


def few_of_tridiagonal(diagonal: Array, off_diagonal: Array, k: int) -> tuple[Array, Array] | None:
    """The k largest eigenvalues, ascending, and vectors of a tridiagonal matrix; None where those are not orthonormal,
    as inside tight clusters, or where the matrix falls into parts, of which LAPACK may take the wrong ones."""
    d = len(diagonal)
    sizes = np.abs(off_diagonal)
    if sizes.min(initial=np.inf) <= 4 * d * UNIT * max(np.abs(diagonal).max(), sizes.max(initial=0.0)):
        return None
    count, values, vectors, info = scipy.linalg.lapack.dstemr(
        diagonal, np.append(off_diagonal, 0.0), BY_PLACE, 0.0, 0.0, d - k + 1, d
    )
    vectors = np.asfortranarray(vectors[:, :k])
    defect = np.inf if info or count != k else orthogonality_defect(vectors)
    if not defect <= LOST:
        return None
    return values[:k], np.asfortranarray(np.linalg.qr(vectors)[0]) if defect > SLIGHT else vectors


def svd(F: Array) -> tuple[Array, Array, Array]:
    """Thin SVD F = P diag(s) Vᵀ, returned as P, s, V."""
    if 0 < F.size <= SUBSET**2:  # without what SciPy has around it
        with pinned.calling():
            P, s, Vt, info = scipy.linalg.lapack.dgesdd(F, full_matrices=0)
        if not info:
            return P, s, Vt.T
    with pinned.calling(large=F.size > THREADED**2):
        try:
            P, s, Vt = scipy.linalg.svd(F, full_matrices=False, lapack_driver="gesdd", check_finite=False)
        except np.linalg.LinAlgError:  # divide and conquer fails to converge on rare inputs; QR iteration does not
            P, s, Vt = scipy.linalg.svd(F, full_matrices=False, lapack_driver="gesvd", check_finite=False)
    return P, s, Vt.T


def r_factor(*blocks: Array) -> Array:
    """R of the QR factorisation of the stacked blocks: the step of TSQR."""
    if not isinstance(blocks[-1], np.ndarray):
        return r_of(stacked([beside(block, blocks[-1]) for block in blocks]))
    A = np.concatenate(blocks) if len(blocks) > 1 else blocks[0]
    if not 0 < A.size <= LITTLE:  # SciPy keeps the interpreter's lock meanwhile, NumPy takes longer on its way there
        return np.asarray(np.linalg.qr(A, mode="r"))
    with pinned.calling():
        R = scipy.linalg.lapack.dgeqrf(A)[0][: A.shape[1]]
    return np.where(_below(*R.shape), 0.0, R)


def positive_definite(A: Array) -> bool:
    """Whether a floating-point Cholesky factorisation of A runs to its end. Overwrites A."""
    with pinned.calling():
        _, info = scipy.linalg.lapack.dpotrf(A, lower=1, overwrite_a=1, clean=0)
    return bool(info == 0)


def gamma(terms: float) -> float:
    """γ_m = m u / (1 − m u): the relative error of a sum of m products (Higham 2002, §3.1)."""
    return terms * UNIT / (1 - terms * UNIT)


def terms_of_sum(some: int, others: int, joining: int = 1) -> int:
    """m, so that γ_m bounds the error of the sum of two results, of which each has so many terms behind it.

    A sum of m rows has m. To join two of them takes one more addition, or as many as `joining` says: whoever sums over
    rows counts as it goes, because no source says beforehand how many blocks its rows come in.
    """
    return max(some, others) + joining


def joined(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Partial sums with those over other rows added to them, in place, and the terms behind them, which come last."""
    for total, part in zip(ours[:-1], theirs[:-1], strict=True):
        total += part
    return *ours[:-1], terms_of_sum(ours[-1], theirs[-1])


def panels(m: int) -> int:
    """How many additions to a total BLAS makes of a product along m rows: it sums up a panel of them at a time."""
    return -(-m // PANEL)


def qr_terms(m: int, d: int) -> int:
    """t, so that R of an m×d matrix is that of rows which differ from it, column by column, by t·u of its norm.

    Householder's reflections leave about √(m d) u when rounding errors are random (Connolly and Higham, SIAM J. Matrix
    Anal. Appl. 44, 2023), and 2√(m d) ≤ m + d; sums along m rows never err by more than m u, random or not.
    """
    return m + d + 16


def squared(values: Any, unit: float) -> Any:
    """values·unit², infinite or zero where that leaves the range of float64."""
    if unit == 1:
        return values
    with np.errstate(over="ignore", under="ignore"):
        return values * np.float64(unit) * np.float64(unit)


def diagonal_of(scatter: Array) -> Array:
    """The diagonal of a scatter, which may be all of it that was kept."""
    return scatter if scatter.ndim == 1 else scatter.diagonal()


def float32_pays(entries: int, columns: int) -> bool:
    """Whether a matrix is large enough that its products in float32 save more than it takes to judge them."""
    return entries >= NARROW_ENTRIES and columns > NARROW_COLUMNS


@cache
def piece() -> int:
    """Multiplications of one product with few columns."""
    return PIECE if pinned.architectures() <= WITH_SMALL_KERNELS else WHOLE


def times(Z: Array, Q: Array) -> Array:  # (m, d), (d, b) -> (m, b)
    """Z Q for a matrix with few columns, in pieces of rows; Z may be sparse."""
    (m, d), b = Z.shape, Q.shape[1]
    if not isinstance(Z, np.ndarray):
        return Z @ beside(Q, Z)
    if not 0 < b <= SKINNY or piece() == WHOLE:
        return Z @ Q
    out = np.empty((m, b), np.result_type(Z, Q))
    width = min(d, piece() // (12 * b))  # the kernels like a dozen rows
    for left in range(0, d, width):
        strip, coefficients = Z[:, left : left + width], Q[left : left + width]
        step = max(12, piece() // (strip.shape[1] * b) // 12 * 12)
        if not left:
            _multiply(strip, coefficients, step, out)
        else:
            out += _multiply(strip, coefficients, step, np.empty_like(out))
    return out


def in_lines(Z: Array) -> bool:
    """Whether the rows of Z lie one after the other, with gaps or without, as BLAS takes them."""
    size, (along, apart) = Z.itemsize, (Z.strides[1], Z.strides[0])
    return along == size and apart >= size * Z.shape[1] and apart % size == 0 and Z.flags.aligned


def cross(Z: Array, Y: Array, out: Array | None = None) -> Array:  # (m, d), (m, b) -> (d, b)
    """Zᵀ Y for a matrix with few columns, in pieces of columns of Z, in `out` where it is of use; Z may be sparse."""
    if not isinstance(Z, np.ndarray):
        return Z.T @ beside(Y, Z)
    (m, d), b = Z.shape, Y.shape[1]
    step = piece() // max(1, m * b) // 16 * 16
    if b > SKINNY or not step:
        return (Y.T @ Z).T
    dtype = np.result_type(Z, Y)
    return _multiply(Z.T, Y, step, np.empty((d, b), dtype) if out is None or out.dtype != dtype else out)


def _multiply(A: Array, B: Array, step: int, out: Array) -> Array:  # (m, d), (d, b) -> (m, b)
    """out = A B, one product for every `step` rows of A and one for the rows that are left."""
    whole = len(A) // step * step
    if whole:
        np.matmul(_split(A[:whole], step), B, out=_split(out[:whole], step))
    if whole < len(A):
        np.matmul(A[whole:], B, out=out[whole:])
    return out


def _split(A: Array, step: int) -> Array:  # (m, d) -> (m / step, step, d)
    """A view of A as a stack of pieces of `step` rows, which must divide m."""
    return A.reshape(len(A) // step, step, A.shape[1])


def add_squares(Z: Array, total: Array, keep: bool = True) -> Array:  # (m, d) -> (d, d)
    """total += ZᵀZ on and above the diagonal, or total = ZᵀZ there, to be `mirrored`: what lies below is nobody's.

    Arrays on a device, some of which cannot be written to, are added as a whole: what is returned is the total.

    A narrow matrix goes strip by strip where pieces are fast: they beat the symmetric product of BLAS there. One of
    very short rows is multiplied by NumPy, which takes less on its way to BLAS. Z may be sparse.
    """
    if not isinstance(Z, np.ndarray):
        if is_device_array(Z):
            total += Z.T @ Z
            return total
        squares = (Z.T @ Z).tocoo()  # sorted and without duplicates, so that every entry is added once
        total[squares.coords] += squares.data
        return total
    d = Z.shape[1]
    if piece() == WHOLE and d * Z.itemsize <= SHORT_BYTES:
        np.add(total if keep else 0.0, Z.T @ Z, out=total)
        return total
    if d > SKINNY or piece() == WHOLE:
        add_upper_squares(np.ascontiguousarray(Z), total, keep)
        return total
    for left in range(0, d, STRIP):
        part = _inner(Z[:, left : left + STRIP], Z[:, left:])
        upper = total[left : left + STRIP, left:]
        np.add(upper if keep else 0.0, part, out=upper)
    return total


def _inner(A: Array, B: Array) -> Array:  # (m, a), (m, b) -> (a, b)
    """AᵀB, the sum over pieces of equally many rows and over the few that are left."""
    pieces = max(1, -(-len(A) * A.shape[1] * B.shape[1] // piece()))
    step = max(1, len(A) // pieces)
    whole = step * pieces
    total: Array = (_split(A[:whole], step).transpose(0, 2, 1) @ _split(B[:whole], step)).sum(axis=0)
    if whole < len(A):
        total += A[whole:].T @ B[whole:]
    return total


def add_upper(part: Array, total: Array) -> None:  # (d, d)
    """total += part on and above the diagonal; below it, tiles on the diagonal add what they find there."""
    for left in range(0, len(total), TILE):
        total[left : left + TILE, left:] += part[left : left + TILE, left:]


@lru_cache(maxsize=16)
def _below(rows: int, columns: int) -> NDArray[np.bool_]:
    """Where entries stand below the diagonal of a small matrix."""
    return np.tri(rows, columns, k=-1, dtype=bool)


def mirrored(total: Array) -> Array:
    """The symmetric matrix with this upper triangle. Overwrites the lower one."""
    for left in range(0, len(total), TILE):
        right = left + TILE
        corner = total[left:right, left:right]
        np.copyto(corner, corner.T, where=_below(*corner.shape))
        total[right:, left:right] = total[left:right, right:].T
    return total


def add_upper_squares(Z: NDArray[Any], total: NDArray[Any], keep: bool, sign: float = 1.0) -> None:  # (m, d) -> (d, d)
    """total += ±ZᵀZ on and above the diagonal, or total = ±ZᵀZ there; what lies below is nobody's."""
    alike = Z.ndim == 2 and Z.dtype == total.dtype and Z.dtype in _ROUTINES and total.shape == (Z.shape[1],) * 2
    if not (alike and Z.flags.c_contiguous and total.flags.c_contiguous and total.flags.writeable):
        raise ValueError(f"cannot add squares of {Z.dtype} {Z.shape} to {total.dtype} {total.shape} in place")
    name, real = _ROUTINES[Z.dtype]
    syrk = _routine(name)
    if syrk is None:
        np.add(total if keep else 0.0, sign * (Z.T @ Z), out=total)
        return
    m, d = (ctypes.byref(ctypes.c_int(size)) for size in Z.shape)
    alpha, beta = ctypes.byref(real(sign)), ctypes.byref(real(float(keep)))
    # To BLAS, which counts by columns, Z is its transpose and the upper triangle is the lower one.
    with pinned.calling():
        syrk(b"L", b"N", d, m, alpha, Z.ctypes.data, d, beta, total.ctypes.data, d)


@cache
def _routine(name: str) -> Callable[..., None] | None:
    """A routine from the table that scipy.linalg.cython_blas exports, None where it is not what we know it to be.

    ctypes releases the interpreter's lock around it.
    """
    from scipy.linalg import cython_blas

    capsule = getattr(cython_blas, "__pyx_capi__", {}).get(name)
    if capsule is None:
        return None
    signature_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    signature = signature_of(capsule)
    if not signature.startswith(b"void (char *, char *, int *, int *, "):  # integers of another width, for instance
        return None
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 10)(pointer_of(capsule, signature))

"""Matrices with a known answer, and independent ways to know it."""

from __future__ import annotations

import ctypes
import inspect
from functools import lru_cache

import numpy as np
import scipy.sparse
from threadpoolctl import threadpool_info

from ritz.fitting.request import Request
from ritz.fitting.solve import preprocessing
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import moments
from ritz.operators import Covariance, DataMatrix
from ritz.rows import as_rows

SPECTRA = {
    "gapped": lambda m: np.r_[10.0, 5.0, 2.0, 0.5 * 0.5 ** np.arange(m - 3)][:m],
    "slow": lambda m: 1.0 / np.arange(1, m + 1),
    "flat": lambda m: np.ones(m),
    "tied": lambda m: np.r_[4.0, 3.0, 3.0, 3.0, np.ones(m - 4)][:m],
    "clustered": lambda m: np.r_[2.0, 1 + 1e-8 * np.arange(m - 1)[::-1]],
    "rank deficient": lambda m: np.r_[3.0, 2.0, 1.0, np.zeros(m - 3)],
    "zero": lambda m: np.zeros(m),
    # LAPACK's test modes (LAWN 9): one large, one small, geometric, arithmetic, log-uniform random.
    "mode 1": lambda m: np.r_[1.0, np.full(m - 1, 1e-8)],
    "mode 2": lambda m: np.r_[np.ones(m - 1), 1e-8],
    "mode 3": lambda m: 1e-10 ** (np.arange(m) / (m - 1)),
    "mode 4": lambda m: 1 - np.arange(m) / (m - 1) * (1 - 1e-6),
    "mode 5": lambda m: np.sort(np.exp(np.random.default_rng(5).uniform(np.log(1e-8), 0, m)))[::-1],
}

SHAPES = {"tall": (60, 12), "wide": (12, 60), "square": (25, 25)}


def promised(shape: tuple[int, int], dtype=np.float64) -> float:
    """How far a solver that does not iterate may be off: this share of σ₁ (svd) or of tr C (covariance, gram)."""
    return 50 * max(shape) * float(np.finfo(dtype).eps)


def random_orthonormal(rows: int, columns: int, rng, centred: bool = False) -> np.ndarray:
    G = rng.standard_normal((rows, columns))
    if centred:
        G -= G.mean(axis=0)
    return np.linalg.qr(G)[0]


def with_spectrum(n: int, d: int, sigma, rng, offset: float = 0.0) -> np.ndarray:
    """n×d data whose centred part has exactly the singular values sigma, with a mean of that offset."""
    m = min(n - 1, d)
    sigma = np.asarray(sigma)[:m]
    U = random_orthonormal(n, m, rng, centred=True)
    V = random_orthonormal(d, m, rng)
    return (U * sigma) @ V.T + offset * rng.standard_normal(d)


def random_array(shape, rng, **options):
    """A sparse array of SciPy with random entries, whatever its version calls the generator."""
    keyword = "rng" if "rng" in inspect.signature(scipy.sparse.random_array).parameters else "random_state"
    return scipy.sparse.random_array(shape, **options, **{keyword: rng})


def with_eigenvalues(values, rng) -> tuple[np.ndarray, np.ndarray]:
    """A symmetric matrix with those eigenvalues, and its eigenvectors."""
    Q = random_orthonormal(len(values), len(values), rng)
    A = (Q * np.asarray(values)) @ Q.T
    return (A + A.T) / 2, Q


def covariance_of(X, center=True, scale=False, ddof=1, full=False) -> tuple[Covariance, float]:
    """The covariance of X as an operator that walks the rows, or with the matrix at hand; and its unit."""
    rows = as_rows(X)
    found = moments(rows, center=center, scale=scale, scatter=Scatter.AUDITED if full else Scatter.DIAGONAL)
    prepare, units = preprocessing(found, Request(center=center, scale=scale, ddof=ddof))
    return Covariance(DataMatrix(rows, prepare, found, ddof, min(X.shape))), units.unit


def blas_limits() -> list[int]:
    """How many threads each BLAS library of this process may use now, as it says itself."""
    return [_threads_of(ctypes.CDLL(path)) for path in blas_paths()]


def blas_paths() -> list[str]:
    """The BLAS libraries of this process."""
    return sorted(library["filepath"] for library in threadpool_info() if library["user_api"] == "blas")


def _threads_of(library) -> int:
    names = [f"{a}openblas_get_num_threads{b}" for a in ("", "scipy_") for b in ("", "64_", "_64")]
    return next(getattr(library, name) for name in [*names, "MKL_Get_Max_Threads"] if hasattr(library, name))()


def preprocess(X, center=True, scale=False, ddof=1):
    """Z in extended precision, rounded once."""
    Z = X.astype(np.longdouble)
    if center:
        Z = Z - Z.mean(axis=0)
    if scale:
        Z = Z / np.sqrt((Z**2).sum(axis=0) / (len(Z) - ddof))
    return Z


def sine(A, B) -> float:
    """Sine of the largest angle from a direction of span(A) to span(B), by projectors; columns orthonormal."""
    return float(np.linalg.norm(np.asarray(A - B @ (B.T @ A), dtype=np.float64), 2))


def eigenpairs(A) -> tuple[np.ndarray, np.ndarray]:
    """LAPACK's eigenvalues and vectors, largest first; many fits of one matrix are judged by the same ones."""
    A = np.ascontiguousarray(A)
    return _eigenpairs(A.tobytes(), A.dtype.str, len(A))


@lru_cache(4)
def _eigenpairs(entries: bytes, dtype: str, dim: int) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = np.linalg.eigh(np.frombuffer(entries, dtype).reshape(dim, dim))
    return values[::-1], vectors[:, ::-1]


def broken_claims(certificate, U, A, slack: float) -> list[str]:
    """What a certificate says about the vectors U that is not so, by LAPACK's eigenpairs of A, right to `slack`."""
    truth, vectors = eigenpairs(A)
    k, (low, high) = len(certificate.values), certificate.value_bounds.T
    broken = []
    if (low > truth[:k] + slack).any() or (high < truth[:k] - slack).any():
        broken.append(f"values {truth[:k]} outside {certificate.value_bounds.tolist()}")
    for s, e in certificate.groups:
        bound = certificate.angle_bounds[s]
        gap = min(truth[s - 1] - truth[s] if s else np.inf, truth[e - 1] - truth[e] if e < len(A) else np.inf)
        judge = slack / max(gap, 1e-300) + 50 * len(A) * np.finfo(float).eps  # the judge's error, and T1's of U
        if bound < 1 and (measured := sine(U[:, s:e], vectors[:, s:e])) > bound + judge:
            broken.append(f"angle of group {s}-{e}: {measured} > {bound}")
    residual = np.linalg.norm(A @ U - U * certificate.values, axis=0)
    zeroed = np.where(certificate.values > 0, 0.0, high)  # a variance below the floor is reported as 0
    if (residual > certificate.residuals + certificate.rounding + zeroed + slack).any():
        broken.append(f"residuals {residual} > {certificate.residuals}")
    if certificate.satisfied and certificate.tol and residual.max() > certificate.tol * truth[0] + slack:
        broken.append(f"satisfied with residual {residual.max()}")
    m = certificate.complete_to
    if m and k < len(A) and np.linalg.norm(U[:, :m].T @ vectors[:, k:], 2) > 0.9:
        broken.append(f"complete_to={m}, but one of them is not among the top {k}")
    if certificate.completeness != "not excluded" and k < len(A):
        hidden = np.linalg.eigvalsh(A - U @ (U.T @ A) - (A @ U) @ U.T + U @ (U.T @ A @ U) @ U.T)[-1]
        if hidden > truth[k - 1] + max(certificate.tol * truth[0], 16 * certificate.rounding) + slack:
            broken.append(f"{certificate.completeness} complete, but {hidden} was missed beside {truth[k - 1]}")
    return broken


def broken_signed_claims(certificate, U, A, slack: float) -> list[str]:
    """The same of a certificate by magnitude: values of either sign, each held against the end it counts from."""
    truth, vectors = eigenpairs(A)
    sizes, negative = np.sort(np.abs(truth))[::-1], certificate.values < 0
    meant = np.where(negative, len(A) - np.cumsum(negative), np.cumsum(~negative) - 1)  # places among all, descending
    (low, high), known, broken = certificate.value_bounds.T, certificate.values != 0, []
    if ((low > truth[meant] + slack) | (high < truth[meant] - slack))[known].any():
        broken.append(f"values {truth[meant]} outside {certificate.value_bounds.tolist()}")
    for s, e in certificate.groups:
        bound, here = certificate.angle_bounds[s], meant[s:e]
        gap = np.abs(truth[here][:, None] - np.delete(truth, here)).min(initial=np.inf)
        judge = slack / max(gap, 1e-300) + 50 * len(A) * np.finfo(float).eps
        if known[s:e].all() and bound < 1 and (measured := sine(U[:, s:e], vectors[:, here])) > bound + judge:
            broken.append(f"angle of group {s}-{e}: {measured} > {bound}")
    residual = np.linalg.norm(A @ U - U * certificate.values, axis=0)
    if (residual > certificate.residuals + certificate.rounding + slack).any():
        broken.append(f"residuals {residual} > {certificate.residuals}")
    if residual.max() > certificate.reached * sizes[0] * (1 + 1e-9) + slack:
        broken.append(f"reached {certificate.reached} with residual {residual.max()}")
    return broken + _broken_by_what_is_left(certificate, U, A, slack)


def _broken_by_what_is_left(certificate, U, A, slack: float) -> list[str]:
    """The claims about eigenvalues that were left out, by their magnitude."""
    truth, vectors = eigenpairs(A)
    k, broken, order = len(certificate.values), [], np.argsort(-np.abs(truth), kind="stable")
    if k == len(A):
        claimed = certificate.gap_bounds is not None or certificate.tie_at_k or certificate.complete_to < k
        return ["something is said to follow the last eigenvalue"] if claimed else []
    sizes, m = np.abs(truth)[order], certificate.complete_to
    low, high = certificate.gap_bounds
    if not low - slack <= sizes[k - 1] - sizes[k] <= high + slack:
        broken.append(f"eigengap {sizes[k - 1] - sizes[k]} outside {certificate.gap_bounds}")
    if m and np.linalg.norm(U[:, :m].T @ vectors[:, order[k:]], 2) > 0.9:
        broken.append(f"complete_to={m}, but one of them is not among the top {k}")
    outside = np.eye(len(A)) - U @ U.T
    hidden = np.linalg.norm(outside @ A @ outside, 2)
    allowed = max((certificate.tol or 0.0) * sizes[0], 16 * certificate.rounding) + slack
    if certificate.completeness == "proved" and hidden > sizes[k - 1] + allowed:
        broken.append(f"proved complete, but {hidden} was missed beside {sizes[k - 1]}")
    return broken


def jacobi(F) -> tuple[np.ndarray, np.ndarray]:
    """Singular values and right vectors of F in extended precision, descending (one-sided Jacobi).

    F is never squared, so that the judge sees further than any solver it judges.
    """
    F = np.array(F, dtype=np.longdouble)
    d = F.shape[1]
    V = np.eye(d, dtype=np.longdouble)
    for _ in range(40):
        rotated = False
        for p in range(d - 1):
            for q in range(p + 1, d):
                a, b, c = F[:, p] @ F[:, p], F[:, q] @ F[:, q], F[:, p] @ F[:, q]
                if abs(c) <= 1e-19 * np.sqrt(a * b):
                    continue
                rotated = True
                zeta = (b - a) / (2 * c)
                t = (1 if zeta >= 0 else -1) / (abs(zeta) + np.hypot(zeta, np.longdouble(1)))
                cosine = 1 / np.sqrt(t * t + 1)
                turn = np.array([[cosine, t * cosine], [-t * cosine, cosine]], dtype=np.longdouble)
                F[:, [p, q]] = F[:, [p, q]] @ turn
                V[:, [p, q]] = V[:, [p, q]] @ turn
        if not rotated:
            break
    sigma = np.sqrt((F**2).sum(axis=0))
    order = np.argsort(-sigma, kind="stable")
    return sigma[order], V[:, order]

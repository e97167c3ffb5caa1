"""Kernels and centred kernel matrices in extended precision, by their formulas alone."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.linalg import eigh

WIDE = np.longdouble

# The same rows in many guises.
FORMS = {
    "dense": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "int": lambda X: np.rint(3 * X).astype(np.int64),
    "uint8": lambda X: np.rint(20 * np.abs(X)).astype(np.uint8),
    "int8": lambda X: np.clip(np.rint(60 * X), -128, 127).astype(np.int8),
    "bool": lambda X: X > 0.3,
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=0)[::-2],
    "sparse": lambda X: scipy.sparse.csr_array(np.where(np.abs(X) > 1, X, 0)),
    "sparse float32": lambda X: scipy.sparse.csr_array(np.where(np.abs(X) > 1, X, 0).astype(np.float32)),
    "sparse uint8": lambda X: scipy.sparse.csr_matrix(np.rint(20 * np.maximum(X, 0)).astype(np.uint8)),
    "sparse full": scipy.sparse.csr_array,
}


def wide(X) -> np.ndarray:
    """Dense rows in extended precision."""
    return (X.toarray() if scipy.sparse.issparse(X) else np.asarray(X)).astype(WIDE)


def kernel_value(name, X, Y, *, gamma=1.0, degree=3.0, coef0=1.0, origin=None) -> np.ndarray:
    """k(x, y) of all pairs; rows of the linear kernel may be moved by an origin, which centring takes off again."""
    X, Y, gamma, degree, coef0 = wide(X), wide(Y), WIDE(gamma), WIDE(degree), WIDE(coef0)
    if origin is not None:
        X, Y = X - origin.astype(WIDE), Y - origin.astype(WIDE)
    if name == "rbf":
        return np.exp(-gamma * ((X[:, None] - Y) ** 2).sum(axis=2))
    if name == "laplacian":
        return np.exp(-gamma * np.abs(X[:, None] - Y).sum(axis=2))
    if name == "cosine":
        X, Y = _directions(X), _directions(Y)
    product = X @ Y.T
    if name == "poly":
        return (gamma * product + coef0) ** degree
    return np.tanh(gamma * product + coef0) if name == "sigmoid" else product


def feature_squares(name, X, *, gamma=1.0, degree=3.0, coef0=1.0, origin=None) -> np.ndarray:
    """‖φ(x)‖² of every row, or for kernels that are no inner product what takes its place in error bounds."""
    if name in ("rbf", "laplacian", "sigmoid"):
        return np.ones(X.shape[0], WIDE)
    Z = wide(X) if origin is None else wide(X) - origin.astype(WIDE)
    if name == "cosine":
        return (Z != 0).any(axis=1).astype(WIDE)
    squares = (Z**2).sum(axis=1)
    return (WIDE(gamma) * squares + abs(WIDE(coef0))) ** WIDE(degree) if name == "poly" else squares


def centred(K) -> np.ndarray:
    """H K H, in the precision of K."""
    A = K - K.mean(axis=0)
    A = A - A.mean(axis=1)[:, None]
    return (A + A.T) / 2


def eigen_descending(A) -> tuple[np.ndarray, np.ndarray]:
    """LAPACK's eigenvalues and vectors, largest first."""
    values, vectors = eigh(np.asarray(A, dtype=np.float64))
    return values[::-1], vectors[:, ::-1]


def _directions(X) -> np.ndarray:
    lengths = np.sqrt((X**2).sum(axis=1))[:, None]
    return np.divide(X, lengths, out=np.zeros_like(X), where=lengths > 0)

"""Students: data for exercises, and solutions by plain NumPy, right or wrong."""

from __future__ import annotations

from functools import cache

import numpy as np

from helpers.matrices import with_spectrum


@cache
def data(name):
    """Data of different shapes and spectra, with a mean that is not 0."""
    from sklearn.datasets import load_iris, load_wine

    rng = np.random.default_rng(7)
    if name == "iris":
        return load_iris().data
    if name == "wine":
        return load_wine().data[::3]
    if name == "wide":
        return with_spectrum(12, 30, 9.0 * 0.8 ** np.arange(11), rng, offset=1.0)
    if name == "plane":
        return rng.standard_normal((40, 2)) @ np.array([[3.0, 1.0], [0.0, 0.7]]) + [5.0, -2.0]
    if name == "hot plane":
        return rng.standard_normal((25, 2)) @ np.array([[0.4, 1.9], [0.5, 0.2]]) + [1.0, 8.0]
    if name == "tied":
        return with_spectrum(30, 6, [8.0, 5.0, 5.0, 2.0, 1.0, 0.5], rng, offset=2.0)
    if name == "square":
        return with_spectrum(9, 9, [9.0, 7.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.5], rng, offset=3.0)
    return with_spectrum(20, 5, [10.0, 6.0, 3.0, 2.0, 1.0], rng, offset=4.0)  # "gapped"


class Student:
    """Solves an exercise with NumPy, right or wrong."""

    def __init__(self, name, center=True, scale=False, ddof=1):
        self.X = data(name)
        self.n, self.d = self.X.shape
        self.Z = self.X - self.X.mean(axis=0) if center else self.X
        if scale:
            self.Z = self.Z / np.sqrt((self.Z**2).sum(axis=0) / (self.n - ddof))
        self.P, self.s, Vt = np.linalg.svd(self.Z, full_matrices=False)
        r = int((self.s > 1e-12 * self.s[0]).sum())
        self.P, self.s, self.V = self.P[:, :r], self.s[:r], Vt[:r].T
        self.values = self.s**2 / (self.n - ddof)
        self.C = self.Z.T @ self.Z / (self.n - ddof)

    def alpha(self, k):
        return self.P[:, :k] / self.s[:k]


def covariance(C, k=None):
    """Eigenpairs in descending order."""
    values, vectors = np.linalg.eigh(C)
    return values[::-1][:k], vectors[:, ::-1][:, :k]


def power(name, steps, k):
    """Power iteration with deflation that stops after so many steps."""
    A, found = Student(name).C.copy(), []
    for _ in range(k):
        v = np.ones(len(A))
        for _ in range(steps):
            v = A @ v
            v /= np.linalg.norm(v)
        found.append(v)
        A -= (v @ A @ v) * np.outer(v, v)
    return np.array(found).T


def rbf(X, gamma):
    """exp(−γ‖x − y‖²)."""
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def kernel_pairs(K, k):
    """Eigenpairs of the centred kernel matrix."""
    H = np.eye(len(K)) - 1 / len(K)
    return covariance(H @ K @ H, k)

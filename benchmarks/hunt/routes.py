"""The routes by which rows or matrices become certified subspaces, each as one function."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.hunt import truth
from benchmarks.hunt.rows import Array, Draw, any_rows, low_rank, orthonormal, spectrum
from ritz import PCA, KernelPCA, eigen, merge, solvers
from ritz.spectrum.certificate import Certificate

TOLERANCES = [0, 1e-12, 1e-9, 1e-6, 1e-6, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1]


@dataclass(frozen=True)
class Fit:
    """What a route gives to be judged, and the words by which it is known again."""

    what: str
    certificate: Certificate
    U: Array
    tol: float
    truth: truth.Truth
    total: float | None = None
    left_out: float | None = None
    orthonormal: bool = True

    def violations(self) -> list[str]:
        """Everything claimed that does not hold."""
        claims = (self.certificate, self.U, self.tol, self.truth, self.total, self.left_out, self.orthonormal)
        return truth.Judgement(*claims).violations()


def iteration(draw: Draw) -> Any:
    """A solver by name, or one that is stopped early."""
    few = int(draw.integers(1, 30))
    return [
        *("auto", "auto", "covariance", "krylov", "krylov", "orthogonal", "power"),
        solvers.Krylov(max_iter=few),
        solvers.Krylov(max_iter=min(few, 9), oversample=int(draw.integers(3, 14))),
        solvers.Orthogonal(max_iter=few, oversample=int(draw.integers(0, 12))),
        solvers.Orthogonal(max_iter=few, oversample=0),
        solvers.Power(max_iter=2 * few),
    ][draw.integers(12)]


def solver(draw: Draw) -> Any:
    """Any solver of rows: the two that need rows as well."""
    return iteration(draw) if draw.random() < 0.85 else str(draw.choice(["gram", "svd"]))


def asked(draw: Draw, X: NDArray[np.generic]) -> dict[str, Any]:
    """Parameters of PCA."""
    most = min(X.shape)
    k = draw.integers(1, most + 1) if draw.random() < 0.5 else min(most, draw.integers(1, 8))
    return {
        "n_components": int(k) if draw.random() < 0.9 else float(draw.uniform(0.05, 0.95)),
        "center": bool(draw.random() < 0.8),
        "scale": bool(draw.random() < 0.25),
        "ddof": int(draw.integers(0, 2)) if len(X) > 2 else 0,
        "tol": float(draw.choice(TOLERANCES)),
        "svd_solver": solver(draw),
        "random_state": int(draw.integers(0, 100)),
    }


def judged(what: str, X: NDArray[np.generic], model: PCA) -> Fit | None:
    """A fitted PCA beside the truth of its rows; None where squares of the rows leave the range of this judge."""
    known = truth.of_rows(X, model.center, model.scale, model.ddof)
    certificate = model.certificate_
    if not 1e-140 < known.unit < 1e140 or not np.isfinite(certificate.values).all():
        return None
    what = f"{what} of {X.dtype} {X.shape} in {certificate.passes} passes, {' '.join(str(model).split())}"
    fitted = model.subspace_
    return Fit(what, certificate, fitted.axes, model.tol, known, model.total_variance_, fitted.left_out)


def dense(draw: Draw) -> Fit | None:
    X = any_rows(draw)
    held = X if draw.random() < 0.7 else np.asfortranarray(X)
    return judged("dense", X, PCA(**asked(draw, X)).fit(held))


def storable(X: NDArray[np.generic]) -> NDArray[np.generic]:
    """The same rows in a dtype of scipy.sparse."""
    return X.astype("f4") if X.dtype == "f2" else X


def sparse(draw: Draw) -> Fit | None:
    X = storable(any_rows(draw))
    if draw.random() < 0.7:
        X = X * (draw.random(X.shape) > draw.uniform(0.3, 0.95))
    kind = str(draw.choice(["csr_array", "csc_array", "coo_array", "csr_matrix", "csc_matrix", "coo_matrix"]))
    return judged(kind, X, PCA(**asked(draw, X)).fit(getattr(sp, kind)(X)))


def file(draw: Draw) -> Fit | None:
    X = any_rows(draw)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.npy")
        np.save(path, X)
        return judged("file", X, PCA(**asked(draw, X)).fit(path))


def stream(draw: Draw) -> Fit | None:
    X = any_rows(draw)
    model = PCA(**asked(draw, X))
    whole = draw.random() < 0.7
    for part in np.split(X, np.sort(draw.integers(0, len(X) + 1, draw.integers(0, 4)))):
        if len(part):
            model.partial_fit(part if whole else sp.csr_array(storable(part)))
    return judged("stream" if whole else "sparse stream", X, model)


def merged(draw: Draw) -> Fit | None:
    X = any_rows(draw)
    if len(X) < 5:
        return None
    cut = int(draw.integers(2, len(X) - 1))
    parts = [X[:cut], X[cut:]]
    settings = asked(draw, parts[int(cut > len(X) / 2)])
    settings |= {"n_components": max(1, int(settings["n_components"])), "svd_solver": str(draw.choice(["auto", "svd"]))}
    return judged("merge", X, merge([PCA(**settings).fit(part) for part in parts]))


def sketch(draw: Draw) -> Fit | None:
    n, d = int(draw.integers(20, 500)), int(draw.integers(150, 300))
    X = low_rank(draw, n, d) * 10.0 ** draw.integers(-3, 3)
    if draw.random() < 0.5:
        X = X + draw.standard_normal(d) * np.abs(X).max()
    settings = asked(draw, X) | {"n_components": int(draw.integers(1, 6)), "scale": False, "svd_solver": "auto"}
    model = PCA(memory_limit=int(8 * d * d * draw.uniform(0.8, 6)), **settings)
    for part in np.array_split(X, int(draw.integers(1, 6))):
        model.partial_fit(part)
    return judged("sketch", X, model)


KERNELS: dict[str, Callable[[NDArray[np.longdouble], np.longdouble], NDArray[np.longdouble]]] = {
    "linear": lambda X, gamma: X @ X.T,
    "rbf": lambda X, gamma: np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=-1)),
    "laplacian": lambda X, gamma: np.exp(-gamma * np.abs(X[:, None] - X[None]).sum(axis=-1)),
    "poly": lambda X, gamma: (gamma * (X @ X.T) + 1) ** 3,
    "cosine": lambda X, gamma: X @ X.T / np.outer(np.sqrt((X**2).sum(axis=1)), np.sqrt((X**2).sum(axis=1))),
    "sigmoid": lambda X, gamma: np.tanh(gamma * (X @ X.T) + 1),
}


def kernel_truth(X: NDArray[np.floating], kernel: str, gamma: float) -> truth.Truth:
    """The centred kernel matrix in extended precision."""
    K = KERNELS[kernel](X.astype(np.longdouble), np.longdouble(gamma))
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    unit = 2.0 ** np.floor(np.log2(float(np.abs(K).max() or 1)) / 2)
    K64 = (K / unit**2).astype(float)
    return truth.of_matrix((K64 + K64.T) / 2, unit)


def kernel(draw: Draw) -> Fit | None:
    X = draw.standard_normal((int(draw.integers(3, 60)), int(draw.integers(1, 6)))) * 10.0 ** draw.integers(-1, 2)
    if draw.random() < 0.2:
        X[: len(X) // 2] = X[len(X) // 2 : len(X) // 2 * 2]
    name = str(draw.choice(list(KERNELS)))
    gamma = 1e-3 if name == "sigmoid" else float(10.0 ** draw.uniform(-3, 1))
    named = ["auto", "dense", "krylov", "arpack", "randomized", "orthogonal", "power"]
    few = None if draw.random() < 0.6 else int(draw.integers(1, 20))
    settings = {"eigen_solver": str(draw.choice(named)), "max_iter": few, "tol": float(draw.choice(TOLERANCES))}
    k = int(draw.integers(1, min(len(X) - 1, 12) + 1) if draw.random() < 0.7 else draw.integers(1, len(X)))
    known = kernel_truth(X, name, gamma)
    if name == "sigmoid" and known.values[-1] < -1e-9:  # not positive semidefinite: refused or cut
        return None
    model = KernelPCA(k, kernel=name, gamma=gamma, random_state=0, **settings).fit(X)
    what = f"{name} kernel of {X.shape}, gamma={gamma:.3g}, k={k}, {settings}"
    return Fit(what, model.certificate_, model.eigenvectors_, settings["tol"], known)


def landmarks(draw: Draw) -> Fit | None:
    n, name, gamma = int(draw.integers(60, 250)), str(draw.choice(["rbf", "laplacian", "linear"])), 0.3
    X = draw.standard_normal((n, int(draw.integers(1, 6)))) * 10.0 ** draw.integers(-1, 2)
    k, tol = int(draw.integers(1, 13)), float(draw.choice(TOLERANCES))
    some = int(draw.integers(k + 1, n + 1))
    model = KernelPCA(k, kernel=name, gamma=gamma, n_landmarks=some, tol=tol, random_state=0).fit(X)
    what = f"{name} kernel of {X.shape}, k={k}, {some} landmarks, tol={tol}"
    return Fit(what, model.certificate_, model.eigenvectors_, tol, kernel_truth(X, name, gamma))


def symmetric(draw: Draw) -> Array:
    """A positive semidefinite matrix of any spectrum."""
    m = int(draw.integers(1, 50))
    Q = orthonormal(draw, m, m)
    A = (Q * spectrum(draw, m) ** 2) @ Q.T
    return (A + A.T) / 2 * 10.0 ** draw.integers(-3, 4)


def matrix(draw: Draw) -> Fit | None:
    A = symmetric(draw)
    k, tol, by = int(draw.integers(1, len(A) + 1)), float(draw.choice(TOLERANCES)), iteration(draw)
    found = eigen(A, k, solver=by, tol=tol)
    what = f"eigen of order {len(A)}, k={k}, tol={tol}, {by}"
    return Fit(what, found.certificate, found.vectors, tol, truth.of_matrix(A))


def covariance(draw: Draw) -> Fit | None:
    C = symmetric(draw)
    k, tol, by = int(draw.integers(1, len(C) + 1)), float(draw.choice(TOLERANCES)), iteration(draw)
    model = PCA.from_covariance(C, n_components=k, tol=tol, svd_solver=by)
    what = f"from_covariance of order {len(C)}, k={k}, tol={tol}, {by}"
    return Fit(what, model.certificate_, model.subspace_.axes, tol, truth.of_matrix(C))


ROUTES = (
    *[dense] * 9,
    *[sparse] * 3,
    *[file] * 2,
    *[stream] * 3,
    *[merged] * 2,
    *[sketch] * 1,
    *[kernel] * 4,
    *[landmarks] * 1,
    *[matrix] * 2,
    *[covariance] * 1,
)

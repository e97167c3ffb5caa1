"""Who is measured, and how."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg

Result = tuple[np.ndarray, np.ndarray]  # variances, (k, d) axes


def bare(X: np.ndarray, k: int) -> Result:
    """What no exact PCA can avoid: a product and a small eigenproblem; the centring is left out, so it is wrong."""
    d = X.shape[1]
    values, vectors = scipy.linalg.eigh(X.T @ X / (len(X) - 1), subset_by_index=[d - k, d - 1])
    return values[::-1], vectors[:, ::-1].T


def ritz(X: np.ndarray, k: int) -> Result:
    from ritz import PCA

    pca = PCA(k).fit(X)
    assert pca.certificate_.satisfied
    return pca.explained_variance_, pca.components_


def scikit_learn(solver: str) -> Callable[[np.ndarray, int], Result]:
    def fit(X: np.ndarray, k: int) -> Result:
        from sklearn.decomposition import PCA

        pca = PCA(k, svd_solver=solver, random_state=0).fit(X)
        return pca.explained_variance_, pca.components_

    return fit


CONTENDERS: dict[str, Callable[[np.ndarray, int], Result]] = {
    "bare X.T @ X, eigh": bare,
    "ritz": ritz,
    "scikit-learn auto": scikit_learn("auto"),
    "scikit-learn covariance_eigh": scikit_learn("covariance_eigh"),
    "scikit-learn arpack": scikit_learn("arpack"),
    "scikit-learn randomized": scikit_learn("randomized"),
}


def data(shape: str, dtype: str) -> np.ndarray:
    """σ_i = i^-0.5 in a random basis, with an offset of 3."""
    n, d = (int(part) for part in shape.split("x"))
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0] / np.sqrt(np.arange(1, d + 1))[:, None]
    X = np.empty((n, d), dtype)
    for start in range(0, n, 20_000):
        part = X[start : start + 20_000]
        part[...] = rng.standard_normal(part.shape) @ turn + 3
    return X


def truth(X: np.ndarray, k: int) -> Result:
    mean = X.mean(axis=0, dtype=np.float64)
    C = np.zeros((X.shape[1], X.shape[1]))
    for start in range(0, len(X), 20_000):
        Z = X[start : start + 20_000] - mean
        C += Z.T @ Z
    values, vectors = np.linalg.eigh(C / (len(X) - 1))
    return values[::-1][:k], vectors[:, ::-1][:, :k].T


def measure(contender: str, shape: str, dtype: str, k: int, repeat: int) -> dict[str, Any]:
    """Best time, peak memory beside the data, and errors of one contender."""
    X, fit = data(shape, dtype), CONTENDERS[contender]
    fit(X[: 2 * max(k, X.shape[1])], k)  # imports and first-call costs
    before, peak = _resident(), _Peak()
    with peak:
        values, axes = fit(X, k)
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        fit(X, k)
        times.append(time.perf_counter() - start)
    right, true_axes = truth(X, k)
    outside = axes.T - true_axes.T @ (true_axes @ axes.T)
    return {
        "seconds": min(times),
        "memory": max(0, peak.bytes - before) / X.nbytes,
        "variance": float(np.max(np.abs(values - right) / right)),
        "subspace": float(np.linalg.norm(outside, 2)),
    }


def certificate_share(shape: str, dtype: str, k: int, repeat: int) -> float:
    """The part of a Ritz fit that goes into residuals, bounds and the proof of completeness; the best of several."""
    import ritz.decomposition as path
    from ritz import PCA

    X, spent, shares, certify = data(shape, dtype), [0.0], [], path.certify

    def timed(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        found = certify(*args, **kwargs)
        spent[0] += time.perf_counter() - start
        return found

    path.certify = timed
    for _ in range(repeat):
        spent[0], start = 0.0, time.perf_counter()
        PCA(k).fit(X)
        shares.append(spent[0] / (time.perf_counter() - start))
    path.certify = certify
    return min(shares)


def import_ratio(repeat: int = 7) -> float:
    """Time of `import ritz` relative to `import numpy, scipy.linalg`, each in a fresh process."""

    def best(code: str) -> float:
        times = []
        for _ in range(repeat):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - start)
        return min(times)

    return best("import ritz") / best("import numpy, scipy.linalg")


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class _Peak:
    """The largest resident size while the block runs, sampled every half millisecond."""

    bytes = 0

    def __enter__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(0.0005):
            self.bytes = max(self.bytes, _resident())

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

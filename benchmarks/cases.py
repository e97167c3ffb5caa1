"""What is measured: the table of cases, their data and the truth about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.files import read

SYNTHETIC = "synthetic"


@dataclass(frozen=True)
class Case:
    """k components of n rows and d columns, made here or read from a file."""

    n: int
    d: int
    dtype: str
    k: int
    source: str = SYNTHETIC
    transpose: bool = False

    @classmethod
    def of(cls, shape: str, dtype: str, k: int) -> Case:
        """From a shape such as 200000x100."""
        n, d = (int(part) for part in shape.lower().replace("×", "x").split("x"))
        return cls(n, d, dtype, k)

    @property
    def data(self) -> tuple[str, int, int, str, bool]:
        """What cases that share their data have in common."""
        return self.source, self.n, self.d, self.dtype, self.transpose

    @property
    def title(self) -> str:
        name = "" if self.source == SYNTHETIC else f"{Path(self.source).name}, "
        return f"{name}{self.n}×{self.d} {self.dtype}, k={self.k}"


CASES = [
    Case.of("200000x100", "float64", 10),
    Case.of("1000000x50", "float32", 10),
    Case.of("100000x784", "float64", 50),
    Case.of("100000x768", "float32", 256),
    Case.of("20000x2000", "float64", 10),
    Case.of("20000x2000", "float64", 50),
    Case.of("5000x5000", "float64", 20),
    Case.of("5000x5000", "float64", 100),
    Case.of("500x20000", "float64", 10),
    Case.of("500x20000", "float64", 499),
]


def prepare(folder: str, source: str, n: int, d: int, dtype: str, k: int, transpose: bool) -> dict[str, int]:
    """Write X.npy and, for k > 0, the first k true variances and axes beside it; the shape of X."""
    here = Path(folder)
    if source == SYNTHETIC:
        synthetic(here / "X.npy", n, d, dtype)
    else:
        np.save(here / "X.npy", read(Path(source), dtype, transpose))
    X = np.load(here / "X.npy", mmap_mode="r")
    n, d = X.shape
    if k > min(n - 1, d):
        raise ValueError(f"k={k} but {n} centred rows of {d} columns span at most {min(n - 1, d)} dimensions")
    if k > 0:
        variances, axes = truth(X, k)
        np.save(here / "variances.npy", variances)
        np.save(here / "axes.npy", axes)
    return {"n": n, "d": d}


def synthetic(path: Path, n: int, d: int, dtype: str) -> None:
    """X = G diag(i^-½) Vᵀ + 3 with G standard normal, V orthonormal, i up to min(n, d)."""
    rng, r = np.random.default_rng(0), min(n, d)
    V = np.linalg.qr(rng.standard_normal((d, r)))[0]
    spread = (V / np.sqrt(np.arange(1, r + 1))).T
    X = np.lib.format.open_memmap(path, "w+", dtype, (n, d))
    for part in blocks(X):
        part[...] = rng.standard_normal((len(part), r)) @ spread + 3
    X.flush()


def truth(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Variances and (k, d) axes by LAPACK, on data centred in float64."""
    n, d = X.shape
    mean = X.mean(axis=0, dtype=np.float64)
    if n < d:  # nearly all components may be asked for, and eigenvalues of the Gram matrix blur the small ones
        _, s, axes = np.linalg.svd(X - mean, full_matrices=False)
        return s[:k] ** 2 / (n - 1), axes[:k]
    S = np.zeros((d, d))
    for part in blocks(X):
        Z = part - mean
        S += Z.T @ Z
    values, vectors = np.linalg.eigh(S)
    return values[::-1][:k] / (n - 1), vectors[:, ::-1][:, :k].T


def blocks(X: np.ndarray, entries: int = 1 << 24) -> Iterator[np.ndarray]:
    """Consecutive rows of X, so that nothing beside them needs much memory."""
    step = max(1, entries // X.shape[1])
    for start in range(0, len(X), step):
        yield X[start : start + step]

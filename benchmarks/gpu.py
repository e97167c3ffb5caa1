"""Ritz on a GPU beside scikit-learn on the same tensors: time, its ratio to what is compared with, error, peak memory.

    python -m benchmarks gpu                                      one data-centre GPU, the sizes that are published
    python -m benchmarks gpu --device cpu --scale 0.001           the same cases, small, to see that they work

Every case is made on the device, once. Times are the best of several fits, with the device waited for before and after.
The truth is a float64 covariance of the same rows, shifted by their mean, summed block by block on the device and
decomposed by LAPACK; where that is too large, block Krylov to 1e-12. Errors are the largest relative error of a
variance and the sine of the largest angle between the subspaces. scikit-learn needs SCIPY_ARRAY_API=1 in the
environment.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.harness import Settings

DENSE = 4096  # columns up to which the truth is LAPACK's
BLOCK = 1 << 27  # entries that are made or summed at a time


@dataclass(frozen=True)
class Tall:
    """n rows of d columns in float32, whose deviations decay like 1/√i, at an offset."""

    n: int
    d: int
    k: int
    asked: str

    def scaled(self, scale: float) -> Tall:
        """A smaller one of the same kind: rows and columns shrink alike."""
        if scale == 1:
            return self
        root = scale**0.5
        d = max(2 * self.k, round(self.d * root))
        return Tall(max(4 * d, round(self.n * root)), d, self.k, self.asked)

    @property
    def title(self) -> str:
        return f"{self.n:,}×{self.d:,} float32, k={self.k}"


CASES = (
    Tall(1_000_000, 1024, 50, "at most 1.3 times a bare X.T @ X, at 1e-10"),
    Tall(200_000, 8192, 50, "at most 1/8 of scikit-learn's time, at 1e-5"),
    Tall(4_000_000, 256, 10, "at most 1.2 times scikit-learn's time, at 1e-8"),
)
KERNEL_ROWS, KERNEL_COLUMNS = 100_000, 64
RESERVED = 8 << 30  # bytes of the device that the file is twice as large as


def run(device: str, scale: float, only: list[str], settings: Settings) -> None:
    """Print all cases, or those with one of these words in their names."""
    if not os.environ.get("SCIPY_ARRAY_API"):
        raise SystemExit("scikit-learn takes tensors where SCIPY_ARRAY_API=1 is set in the environment; set it")
    parts = {"product": 0, "krylov": 1, "narrow": 2}
    for name, i in parts.items():
        if not only or any(word in name for word in only):
            compare(CASES[i].scaled(scale), device, settings)
    if not only or any(word in "kernel" for word in only):
        kernel(device, scale, settings)
    if not only or any(word in "file" for word in only):
        file(device, scale, settings)


def compare(case: Tall, device: str, settings: Settings) -> None:
    """A bare product, scikit-learn and Ritz on the same tensor."""
    X = made(case, device)
    print(f"\n{case.title} on {device} ({case.asked})")
    variances, axes = truth(X, case.k)
    bare, memory = best(lambda: X.T @ X, device, settings)
    row("bare X.T @ X", bare, bare, memory)
    for name, fit in (("scikit-learn", _scikit_learn), ("ritz", _ritz)):
        seconds, memory = best(lambda fit=fit: fit(X, case.k), device, settings)
        model = fit(X, case.k)
        found, V = (np.asarray(part, np.float64) for part in _answer(model))
        error = float(np.max(np.abs(found / variances - 1)))
        angle = float(np.linalg.norm(V.T - axes @ (axes.T @ V.T), 2))
        row(name, seconds, bare, memory, f"variances {error:.0e}, sine {angle:.0e}")
        if name == "ritz":
            print(f"    {model.plan_.summary}; satisfied: {model.certificate_.satisfied}")


def _scikit_learn(X: Any, k: int) -> Any:
    """On the tensor, by the array API; covariance_eigh is what "auto" takes for tall data."""
    import sklearn
    from sklearn.decomposition import PCA

    solver = "covariance_eigh" if X.shape[1] <= 1024 else "randomized"
    how = {"power_iteration_normalizer": "QR", "random_state": 0} if solver == "randomized" else {}
    with sklearn.config_context(array_api_dispatch=True):
        return PCA(k, svd_solver=solver, **how).fit(X)


def _ritz(X: Any, k: int) -> Any:
    """A tensor on the CPU takes the way of one on a GPU, so that the way is seen to work."""
    import ritz
    from ritz.rows.memory.device import DeviceRows

    return ritz.PCA(k).fit(X if X.is_cuda else DeviceRows(X))


def _answer(model: Any) -> tuple[Any, Any]:
    """Variances and axes; in float64, where the model has them."""
    if hasattr(model, "subspace_"):
        return model.subspace_.variances, model.subspace_.axes.T
    return model.explained_variance_.cpu(), model.components_.cpu()


def kernel(device: str, scale: float, settings: Settings) -> None:
    """KernelPCA, which computes on the CPU: with the copy that it asks for."""
    import ritz

    n = max(200, round(KERNEL_ROWS * scale))
    X = made(Tall(n, KERNEL_COLUMNS, 10, ""), device)
    model = ritz.KernelPCA(10, kernel="rbf", gamma="median")
    seconds, memory = best(lambda: model.fit(X.cpu()), device, Settings(1, settings.budget, settings.limit))
    print(f"\nKernelPCA of {n:,}×{KERNEL_COLUMNS} on a copy on the CPU")
    row("ritz", seconds, seconds, memory, f"{model.plan_.solver}, reached {model.certificate_.reached:.0e}")


def file(device: str, scale: float, settings: Settings) -> None:
    """A file of twice the memory that is set aside on the device, streamed."""
    import ritz
    from ritz.rows.memory import upload

    d = 1024 if scale == 1 else 64
    n = max(1000, round(2 * RESERVED * scale / (4 * d)))
    upload.KEPT_ON_CPU, upload.KEPT = 0, 1 << 40  # as if it did not fit
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        out = np.lib.format.open_memmap(path, "w+", np.float32, (n, d))
        for start, block in blocks(Tall(n, d, 10, ""), "cpu"):
            out[start : start + len(block)] = block.numpy()
        out.flush()
        once = Settings(min(2, settings.repeat), settings.budget, settings.limit)
        print(f"\na file of {n:,}×{d} float32, {path.stat().st_size / 1e9:.2f} GB")
        cpu, memory = best(lambda: ritz.PCA(10).fit(path), device, once)
        row("ritz on the CPU", cpu, cpu, memory)
        seconds, memory = best(lambda: ritz.PCA(10).fit(ritz.read(path, device=device)), device, once)
        row(f"ritz on {device}", seconds, cpu, memory)


def made(case: Tall, device: str) -> Any:
    """The rows, on the device."""
    import torch

    X = torch.empty((case.n, case.d), dtype=torch.float32, device=device)
    for start, block in blocks(case, device):
        X[start : start + len(block)] = block
    return X


def blocks(case: Tall, device: str) -> Iterator[tuple[int, Any]]:
    import torch

    generator = torch.Generator(device).manual_seed(0)
    spread = 1 / torch.arange(1, case.d + 1, device=device) ** 0.5
    step = max(1, BLOCK // case.d)
    for start in range(0, case.n, step):
        rows = min(step, case.n - start)
        yield start, torch.randn((rows, case.d), generator=generator, device=device) * spread + 3


def truth(X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Variances and axes of the rows as they are, in float64."""
    import ritz

    n, d = X.shape
    if d > DENSE:
        found = ritz.PCA(k, tol=1e-12, svd_solver="krylov").fit(X).subspace_
        return found.variances, found.axes
    step, mean = max(1, BLOCK // d), 0.0
    for start in range(0, n, step):
        mean = mean + X[start : start + step].double().sum(dim=0) / n
    C = 0.0
    for start in range(0, n, step):
        Z = X[start : start + step].double() - mean
        C = C + Z.T @ Z / (n - 1)
    values, vectors = np.linalg.eigh(np.asarray(C.cpu()))
    return values[::-1][:k], vectors[:, ::-1][:, :k]


def best(work: Callable[[], Any], device: str, settings: Settings) -> tuple[float, int]:
    """Seconds of the best of several runs after a first one, and the most memory of the device beside the data."""
    import torch

    on_gpu = device.startswith("cuda")
    wait = torch.cuda.synchronize if on_gpu else lambda: None
    work()
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
        held = torch.cuda.memory_allocated()
    times: list[float] = []
    while len(times) < settings.repeat and sum(times) <= settings.budget:
        wait()
        start = time.perf_counter()
        work()
        wait()
        times.append(time.perf_counter() - start)
    return min(times), torch.cuda.max_memory_allocated() - held if on_gpu else 0


def row(name: str, seconds: float, beside: float, memory: int, more: str = "") -> None:
    used = f"{memory / 1e9:6.2f} GB" if memory else "        —"
    print(f"  {name:16} {1000 * seconds:10.1f} ms  {seconds / beside:7.2f}×  {used}  {more}")

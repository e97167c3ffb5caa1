"""How it is measured, inside a process of its own: time, memory beside the data, errors, and the machine itself."""

from __future__ import annotations

import ctypes
import importlib.metadata
import os
import platform
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contenders import Fit, by_name, cores

PACKAGES = [
    *("ritz", "numpy", "scipy", "scikit-learn", "scikit-learn-intelex"),
    *("fbpca", "prince", "torch", "pandas", "matplotlib"),
]


def measure(contender: str, folder: str, k: int, repeat: int, budget: float) -> dict[str, Any]:
    """A contender of the table on the data in `folder`."""
    return measure_fit(by_name(contender).fit, Path(folder), k, repeat, budget)


def measure_fit(fit: Fit, folder: Path, k: int, repeat: int, budget: float) -> dict[str, Any]:
    """What k components of the data in `folder` cost, and how far they are from the truth beside it."""
    X = np.load(folder / "X.npy")
    fit(_small(X, k), k)
    (variances, axes, notes), cost = repeated(lambda: fit(X, k), repeat, budget)
    if not (np.isfinite(variances).all() and np.isfinite(axes).all()):
        raise ValueError("the answer has values that are not finite")
    return {**cost, "nbytes": X.nbytes, **errors(variances, axes, folder, k), "notes": notes}


def repeated(fit: Callable[[], Any], repeat: int, budget: float) -> tuple[Any, dict[str, Any]]:
    """The last of at most `repeat` answers, none begun after `budget` seconds; best time, memory of the first."""
    peak, times = _Peak(), []
    while len(times) < repeat and sum(times) <= budget:
        with peak if not times else nullcontext():
            start = time.perf_counter()
            answer = fit()
            times.append(time.perf_counter() - start)
    return answer, {"seconds": min(times), "times": times, "memory": peak.extra}


def peak_of(work: Callable[[], Any]) -> int:
    """Bytes by which the memory of this process rises while it works."""
    peak = _Peak()
    with peak:
        work()
    return peak.extra


def _small(X: np.ndarray, k: int) -> np.ndarray:
    """Normal data just large enough for k components: imports and first calls are paid for on it.

    Not a corner of X, which may well be constant: the first pixels of every image are black.
    """
    shape = [min(length, 2 * k + 50) for length in X.shape]
    return np.random.default_rng(0).standard_normal(shape).astype(X.dtype)


def errors(variances: np.ndarray, axes: np.ndarray, folder: Path, k: int) -> dict[str, float]:
    """The largest relative error of a variance, and the sine of the largest angle from the true subspace."""
    if not (folder / "axes.npy").exists():
        return {}
    right, true_axes = np.load(folder / "variances.npy")[:k], np.load(folder / "axes.npy")[:k]
    seen = right.clip(min=np.finfo(float).eps * right[0])  # a variance of 0 is right when it is 0 to rounding
    basis = np.linalg.qr(np.asarray(axes, np.float64).T)[0]
    missed = true_axes.T - basis @ (basis.T @ true_axes.T)
    return {
        "variance": float(np.max(np.abs(np.asarray(variances, np.float64) - right) / seen)),
        "subspace": float(min(1.0, np.linalg.norm(missed, 2))),
    }


class _Peak:
    """How far the resident size rises above its start while the block runs.

    The kernel keeps the exact maximum where it lets us reset it; elsewhere a thread looks every half millisecond.
    """

    extra = 0

    def __enter__(self) -> None:
        _release()
        self._before, self._sampled, self._stop = _resident(), 0, threading.Event()
        self._exact = _reset_high_water()
        self._thread = threading.Thread(target=self._watch)
        if not self._exact:
            self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(0.0005):
            self._sampled = max(self._sampled, _resident())

    def __exit__(self, *_: object) -> None:
        if not self._exact:
            self._stop.set()
            self._thread.join()
        self.extra = max(0, (_high_water() if self._exact else self._sampled) - self._before)


def _release() -> None:
    """Give back what was freed: else the next one to ask would get it without a trace."""
    with suppress(OSError, AttributeError):  # there is none but in glibc
        ctypes.CDLL(None).malloc_trim(0)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _reset_high_water() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _high_water() -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def machine() -> dict[str, Any]:
    """What this machine is, and what it can do: products per second, bytes read per second."""
    from threadpoolctl import threadpool_info

    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0  # before the rates below add to it
    blas = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {
        "date": date.today().isoformat(),
        "cpu": _cpu_model(),
        "cores": cores(),
        "load": load,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "blas": ", ".join(sorted({f"{pool['internal_api']} {pool['version']}" for pool in blas})),
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
        "gemm": {dtype: gemm_rate(dtype) for dtype in ("float64", "float32")},
        "bandwidth": bandwidth(),
    }


def gemm_rate(dtype: str, order: int = 2048, repeat: int = 5) -> float:
    """Operations per second of a square product, 2 m³ of them."""
    A = np.random.default_rng(0).standard_normal((order, order)).astype(dtype)
    return 2.0 * order**3 / min(_seconds(lambda: A @ A) for _ in range(repeat))


def bandwidth(nbytes: int = 1 << 30, repeat: int = 7) -> float:
    """Bytes per second of summing an array that no cache holds, every core a part."""
    parts = np.array_split(np.ones(nbytes // 8), cores())
    with ThreadPoolExecutor(len(parts)) as pool:
        return nbytes / min(_seconds(lambda: list(pool.map(np.sum, parts))) for _ in range(repeat))


def _seconds(action) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""

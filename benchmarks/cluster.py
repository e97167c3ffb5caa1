"""A Dask cluster on this machine: Ritz beside dask-ml, a bare product, and one process that reads a file."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

QUICK = 0.01  # share of the rows, to see that it works


@dataclass(frozen=True)
class Case:
    n: int
    d: int
    dtype: str
    k: int = 10

    @property
    def rows(self) -> int:
        """Of a chunk of 16 MB."""
        return max(1, (1 << 24) // (self.d * np.dtype(self.dtype).itemsize))

    def data(self) -> Any:
        """Gaussian rows with a mean of 3, whose standard deviations fall as 10/√i: the gap at k is a tenth."""
        import dask.array as da

        noise = da.random.default_rng(0).standard_normal((self.n, self.d), chunks=(self.rows, self.d), dtype=self.dtype)
        return (noise * (10 / np.sqrt(np.arange(1, self.d + 1))).astype(self.dtype) + 3).astype(self.dtype)


CASES = [Case(2_000_000, 200, "float32"), Case(100_000, 5000, "float64")]
LARGE = 1000  # columns beyond which a bare product makes a matrix per chunk that fills the memory


@dataclass
class Result:
    seconds: float
    moved: int
    memory: int
    error: float | None
    note: str = ""


def by_ritz(x: Any, k: int) -> tuple[Any, str]:
    from ritz import PCA

    pca = PCA(k).fit(x)
    b = pca.plan_.columns or x.shape[1]
    rounds = pca.certificate_.passes
    return pca.components_, f"{pca.plan_.solver}, {rounds} rounds, block of {b}"


def by_dask_ml(x: Any, k: int) -> tuple[Any, str]:
    from dask_ml.decomposition import PCA

    return PCA(k, svd_solver="randomized", iterated_power=4, random_state=0).fit(x).components_, ""


def bare(x: Any, k: int) -> tuple[Any, str]:
    (x.T @ x).compute()
    return None, "X.T @ X, to the client"


CONTENDERS: dict[str, Callable[[Any, int], tuple[Any, str]]] = {
    "ritz": by_ritz,
    "dask-ml": by_dask_ml,
    "bare product": bare,
}


def moved(client: Any) -> int:
    """Bytes that workers have sent to each other, and to whoever gathered from them."""
    return int(sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values()))


def measured(client: Any, run: Callable[[], tuple[Any, str]], truth: Any) -> Result:
    """Once: time, bytes between workers, memory of the cluster at its peak beyond what it was, error."""
    from distributed.diagnostics import MemorySampler

    sampler, before = MemorySampler(), moved(client)
    with sampler.sample("run", interval=0.05):
        begun = time.perf_counter()
        components, note = run()
        seconds = time.perf_counter() - begun
    seen = sampler.to_pandas()["run"]
    error = None if components is None else sine(np.asarray(components, np.float64), truth)
    return Result(seconds, moved(client) - before, int(seen.max() - seen.iloc[0]), error, note)


def sine(components: Any, truth: Any) -> float:
    """Of the largest angle between the subspaces."""
    U = np.linalg.qr(components.T)[0]
    return float(np.linalg.norm(U - truth @ (truth.T @ U), 2))


def true_axes(x: Any, k: int) -> Any:
    """From the covariance of rows centred in float64."""
    import scipy.linalg

    mean, C = x.mean(axis=0, dtype=np.float64).compute(), np.zeros((x.shape[1],) * 2)
    for i in range(x.numblocks[0]):
        Z = x.blocks[i].compute().astype(np.float64) - mean
        C += Z.T @ Z
    return scipy.linalg.eigh(C, subset_by_index=[len(C) - k, len(C) - 1])[1]


def compare(case: Case, workers: int, repeat: int, only: list[str]) -> None:
    from distributed import Client, LocalCluster, wait

    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50)
    with cluster, Client(cluster) as client:
        x = case.data().persist()
        wait(x)
        truth = true_axes(x, case.k)
        chosen = {name: run for name, run in CONTENDERS.items() if not only or any(part in name for part in only)}
        if case.d > LARGE:
            chosen.pop("bare product", None)
        found: dict[str, Result] = {}
        for _ in range(repeat):
            for name, run in chosen.items():
                try:
                    result = measured(client, lambda run=run: run(x, case.k), truth)
                except ImportError as error:
                    print(f"  {name}: {error}")
                    continue
                if name not in found or result.seconds < found[name].seconds:
                    found[name] = result
        table(f"{case.n}×{case.d} {case.dtype}, k={case.k}, {workers} workers × 1 thread", found)


def one_machine(case: Case, repeat: int) -> None:
    """The same data as one file, read by one process with all cores."""
    from ritz import PCA

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        out = np.lib.format.open_memmap(path, "w+", case.dtype, (case.n, case.d))
        x = case.data()
        for i in range(x.numblocks[0]):
            out[i * case.rows : (i + 1) * case.rows] = x.blocks[i].compute()
        out.flush()
        best = np.inf
        for _ in range(repeat):
            begun = time.perf_counter()
            PCA(case.k).fit(path)
            best = min(best, time.perf_counter() - begun)
        print(f"  one process, .npy in the cache of the disk: {best:.2f} s\n")


def table(title: str, found: dict[str, Result]) -> None:
    print(title)
    unit = found["ritz"].seconds if "ritz" in found else 1.0
    for name, r in found.items():
        error = "" if r.error is None else f"sine {r.error:.1e}"
        print(
            f"  {name:13} {r.seconds:8.2f} s  ×{r.seconds / unit:6.2f}  {r.moved / 1e6:10.2f} MB moved  "
            f"{r.memory / 1e6:8.0f} MB more  {error:13} {r.note}"
        )


def run(quick: bool, only: list[str], repeat: int) -> None:
    for case in CASES:
        case = replace(case, n=int(case.n * QUICK)) if quick else case
        compare(case, 2, repeat, only)
        compare(case, 1, repeat, ["ritz", "bare"])
        one_machine(case, repeat)

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
        path = written(case, Path(folder))
        print(f"  one process, .npy in the cache of the disk: {best_of(lambda: PCA(case.k).fit(path), repeat):.2f} s\n")


def written(case: Case, folder: Path) -> Path:
    """The rows of a case as a file."""
    path = folder / f"rows-{case.n}.npy"
    out = np.lib.format.open_memmap(path, "w+", case.dtype, (case.n, case.d))
    x = case.data()
    for i in range(x.numblocks[0]):
        out[i * case.rows : (i + 1) * case.rows] = x.blocks[i].compute(scheduler="threads")
    out.flush()
    return path


def table(title: str, found: dict[str, Result]) -> None:
    print(title)
    unit = found["ritz"].seconds if "ritz" in found else 1.0
    for name, r in found.items():
        error = "" if r.error is None else f"sine {r.error:.1e}"
        print(
            f"  {name:13} {r.seconds:8.2f} s  ×{r.seconds / unit:6.2f}  {r.moved / 1e6:10.2f} MB moved  "
            f"{r.memory / 1e6:8.0f} MB more  {error:13} {r.note}"
        )


def growth(quick: bool) -> None:
    """Memory of a worker as the rows grow, which are made anew in every round."""
    import dask.array as da
    from distributed import Client, LocalCluster
    from distributed.diagnostics import MemorySampler

    from ritz import PCA

    d, most = 100, 5e5 if quick else 6.4e7
    print(f"memory of 2 workers beyond what they had, rows of {d} columns in float32 that are made in every round")
    for n in (int(most / 64), int(most / 16), int(most / 4), int(most)):
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
            Client(cluster) as client,
        ):
            spread = np.linspace(3, 1, d, dtype="float32")
            x = da.random.default_rng(0).standard_normal((n, d), chunks=(40_000, d), dtype="float32") * spread
            PCA(10).fit(x[:80_000])  # what is imported and kept in any case
            sampler = MemorySampler()
            with sampler.sample("fit", interval=0.05):
                pca = PCA(10).fit(x)
            seen = sampler.to_pandas()["fit"]
            moved = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
            print(
                f"  {n:>12,} rows, {4e-9 * n * d:6.2f} GB: {(seen.max() - seen.iloc[0]) / 2e6:6.0f} MB each, "
                f"{sum(moved.values()) / 1e6:.2f} MB moved, {pca.plan_.solver}"
            )
    print()


def crossover(quick: bool, repeat: int) -> None:
    """From which size on two workers are faster than one process, each of them with one core: a file of .npy."""
    from distributed import Client, LocalCluster

    begun = time.perf_counter()
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50)
    with tempfile.TemporaryDirectory() as folder, cluster, Client(cluster) as client:
        print(f"a file of 200 columns in float32, k=10; to start 2 workers took {time.perf_counter() - begun:.1f} s")
        for megabytes in (1, 4) if quick else (4, 16, 64, 256, 1024, 4096):
            case = Case(int(megabytes * 1e6 / 800), 200, "float32")
            path = written(case, Path(folder))
            here = best_of(lambda path=path: on_one_core(path), repeat)
            there = best_of(lambda path=path: by_workers(path, client), repeat)
            print(f"  {megabytes:>6} MB: one core {here:7.3f} s, two workers {there:7.3f} s, ×{here / there:.2f}")
            path.unlink()
    print()


def on_one_core(path: Path) -> None:
    """In this process, as on a machine with one core."""
    from threadpoolctl import threadpool_limits

    from ritz import PCA

    with threadpool_limits(1):
        PCA(10).fit(path)


def by_workers(path: Path, client: Any) -> None:
    import ritz

    ritz.PCA(10).fit(ritz.read(path, dask=client))


def best_of(work: Callable[[], object], repeat: int) -> float:
    best = np.inf
    for _ in range(repeat):
        begun = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begun)
    return best


def run(quick: bool, only: list[str], repeat: int) -> None:
    """The parts asked for: contenders by their names, "growth" of the memory, "crossover" to one machine; or all."""
    contenders = [name for name in only if name not in ("growth", "crossover")]
    for case in CASES if contenders or not only else ():
        case = replace(case, n=int(case.n * QUICK)) if quick else case
        compare(case, 2, repeat, contenders)
        compare(case, 1, repeat, ["ritz", "bare"])
        one_machine(case, repeat)
    if "growth" in only or not only:
        growth(quick)
    if "crossover" in only or not only:
        crossover(quick, repeat)

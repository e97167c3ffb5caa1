"""Sparse matrices, memory maps and files: Ritz beside what people use for them today, and beside reading alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.cases import synthetic, truth
from benchmarks.harness import Settings, ask, demand
from benchmarks.measure import errors, repeated

LIMIT = "512MB"  # of memory beside the file
COLUMNS = 200

Load, Fit = Callable[[str], Any], Callable[[Any, int], Any]


# Who reads: how the data is loaded, which is not timed, and what is done with it.


def itself(path: str) -> str:
    return path


def mapped(path: str) -> Any:
    return np.load(path, mmap_mode="r")


def sparse(path: str) -> Any:
    import scipy.sparse

    return scipy.sparse.load_npz(path)


def ritz(X: Any, k: int) -> Any:
    from ritz import PCA

    return PCA(k, memory_limit=LIMIT if isinstance(X, str) else None).fit(X)


def ritz_without_numba(X: Any, k: int) -> Any:
    from ritz.linalg import sparse as gather

    gather.COMPILE = 1 << 62
    return ritz(X, k)


def arpack(X: Any, k: int) -> Any:
    from sklearn.decomposition import PCA

    return PCA(k, svd_solver="arpack", random_state=0).fit(X)


def in_memory(X: Any, k: int) -> Any:
    from sklearn.decomposition import PCA

    return PCA(k, random_state=0).fit(X)


def incremental(X: Any, k: int) -> Any:
    from sklearn.decomposition import IncrementalPCA

    return IncrementalPCA(k).fit(X)


def parse_csv(path: str, k: int) -> None:
    from pyarrow import csv

    with closing(csv.open_csv(path)) as reader:  # in order, so that memory stays bounded
        for _ in reader:
            pass


def parse_csv_at_once(path: str, k: int) -> None:
    from pyarrow import csv

    csv.read_csv(path)


def parse_parquet(path: str, k: int) -> None:
    from pyarrow import parquet

    parquet.read_table(path)


def read_bytes(path: str, k: int) -> None:
    """Every byte once, by all cores, from wherever the system keeps it."""
    from ritz.rows import as_rows

    as_rows(np.load(path, mmap_mode="r")).reduce(lambda blocks: sum(float(b.sum()) for b in blocks), lambda a, b: a + b)


READERS: dict[str, tuple[Load, Fit]] = {
    "ritz": (itself, ritz),
    "ritz, sparse": (sparse, ritz),
    "ritz without numba, sparse": (sparse, ritz_without_numba),
    "scikit-learn arpack, sparse": (sparse, arpack),
    "scikit-learn in memory": (np.load, in_memory),
    "scikit-learn IncrementalPCA": (mapped, incremental),
    "pyarrow alone, streaming": (itself, parse_csv),
    "pyarrow alone": (itself, parse_csv_at_once),
    "pyarrow alone, Parquet": (itself, parse_parquet),
    "reading alone": (itself, read_bytes),
}


def read_and_fit(reader: str, path: str, k: int, repeat: int, budget: float) -> dict[str, Any]:
    """Best time, memory beside the data, and the answer where there is one."""
    warnings.simplefilter("ignore")
    load, fit = READERS[reader]
    _warm_up(reader)
    X = load(path)
    model, cost = repeated(lambda: fit(X, k), repeat, budget)
    answer = {} if model is None else errors(model.explained_variance_, model.components_, Path(path).parent, k)
    return {**cost, **answer}


def _warm_up(reader: str) -> None:
    """Imports and first calls."""
    import scipy.sparse

    load, fit = READERS[reader]
    with TemporaryDirectory() as folder:
        path = f"{folder}/x.npy"
        X = np.random.default_rng(0).standard_normal((3000, 1500 if load is sparse else 20))
        if load is sparse:
            path = f"{folder}/x.npz"
            scipy.sparse.save_npz(path, scipy.sparse.csr_array(np.where(X > 0.8, X, 0)))
        elif "pyarrow" in reader:
            return
        else:
            np.save(path, X)
        fit(load(path), 3)


# What is read


def sparse_counts(path: str) -> None:
    """50,000 × 20,000 with 30 million entries: gamma values, and eight classes that differ in every column."""
    import scipy.sparse

    rng = np.random.default_rng(0)
    X = scipy.sparse.random(50_000, 20_000, 0.03, format="csr", random_state=0, data_rvs=lambda m: rng.gamma(1, 1, m))
    profiles = np.exp(0.7 * rng.standard_normal((8, 20_000)))
    rows = np.repeat(rng.integers(0, 8, 50_000), np.diff(X.indptr))
    X.data *= profiles[rows, X.indices]
    scipy.sparse.save_npz(path, X, compressed=False)


def log_normalised(path: str, source: str) -> None:
    """Counts of cells, as they are prepared for PCA: ten thousand for every cell, and the logarithm."""
    import scipy.sparse

    X = scipy.sparse.load_npz(source).astype(np.float64).tocsr()
    X = (scipy.sparse.diags_array(1e4 / np.asarray(X.sum(axis=1)).ravel()) @ X).tocsr()
    X.data = np.log1p(X.data)
    scipy.sparse.save_npz(path, X, compressed=False)


def dense_file(path: str, n: int, exact: int = 0) -> None:
    """n rows of normal data with decaying variances in the format of the name, and the truth for so many axes."""
    ending, folder = Path(path).suffix, Path(path).parent
    synthetic(folder / "X.npy", n, COLUMNS, "float32")
    X = np.load(folder / "X.npy", mmap_mode="r")
    if exact:
        for name, values in zip(("variances", "axes"), truth(X, exact), strict=True):
            np.save(folder / f"{name}.npy", values)
    if ending != ".npy":
        WRITERS[ending](X, path)
        (folder / "X.npy").unlink()
    else:
        (folder / "X.npy").rename(path)


def _parts(X: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    for start in range(0, len(X), 1 << 16):
        yield start, X[start : start + (1 << 16)]


def _tables(X: np.ndarray) -> Iterator[Any]:
    import pyarrow as pa

    names = [f"c{j}" for j in range(X.shape[1])]
    for _, part in _parts(X):
        yield pa.table([np.ascontiguousarray(column) for column in part.T], names=names)


def _write_csv(X: np.ndarray, path: str) -> None:
    from pyarrow import csv

    _write_tables(X, lambda schema: csv.CSVWriter(path, schema))


def _write_parquet(X: np.ndarray, path: str) -> None:
    from pyarrow import parquet

    _write_tables(X, lambda schema: parquet.ParquetWriter(path, schema))


def _write_tables(X: np.ndarray, opened: Callable[[Any], Any]) -> None:
    tables = _tables(X)
    first = next(tables)
    with opened(first.schema) as writer:
        for table in chain([first], tables):
            writer.write(table)


def _write_hdf5(X: np.ndarray, path: str) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        out = file.create_dataset("X", X.shape, X.dtype, chunks=(4096, X.shape[1]))
        for start, part in _parts(X):
            out[start : start + len(part)] = part


def _write_zarr(X: np.ndarray, path: str) -> None:
    import zarr

    out = zarr.create_array(path, shape=X.shape, dtype=X.dtype, chunks=(16384, X.shape[1]))
    for start, part in _parts(X):
        out[start : start + len(part)] = part


WRITERS = {".csv": _write_csv, ".parquet": _write_parquet, ".h5": _write_hdf5, ".zarr": _write_zarr}


# The tables


def run(gigabytes: float, data: Path | None, only: list[str], settings: Settings) -> None:
    """Print all of it, or what is asked for, or only the sparse matrix in `data`."""
    if data is not None:
        with TemporaryDirectory() as folder:
            path = f"{folder}/x.npz"
            demand("log_normalised", path=path, source=str(data.resolve()))
            _compare(f"{data.name}, log-normalised, k=50", path, 50, _SPARSE, settings)
        return
    tables: dict[str, Callable[[str], None]] = {"sparse": lambda folder: _compare_sparse(folder, settings)}
    tables["memory map"] = lambda folder: _compare_mapped(folder, settings)
    for ending in _ALONE:
        tables[ending] = lambda folder, ending=ending: _compare_file(folder, ending, gigabytes, settings)
    for name, table in tables.items():
        if not only or any(part in name for part in only):
            with TemporaryDirectory() as folder:
                table(folder)


def _compare_sparse(folder: str, settings: Settings) -> None:
    path = f"{folder}/x.npz"
    demand("sparse_counts", path=path)
    _compare("sparse 50000×20000, 30 million entries, k=50", path, 50, _SPARSE, settings)


def _compare_mapped(folder: str, settings: Settings) -> None:
    path = f"{folder}/x.npy"
    demand("dense_file", path=path, n=400_000, exact=10)
    readers = ("ritz", "reading alone", "scikit-learn in memory", "scikit-learn IncrementalPCA")
    _compare(f"float32 400000×{COLUMNS} in a file, k=10", path, 10, readers, settings)


def _compare_file(folder: str, ending: str, gigabytes: float, settings: Settings) -> None:
    path, per_row = f"{folder}/x{ending}", COLUMNS * (10.5 if ending == ".csv" else 4)
    demand("dense_file", path=path, n=int(gigabytes * 1e9 / per_row))
    title = f"{_size(Path(path)) / 1e9:.1f} GB of {ending}, k=10, memory_limit={LIMIT}"
    _compare(title, path, 10, ("ritz", *_ALONE[ending]), settings)


_SPARSE = ("ritz, sparse", "ritz without numba, sparse", "scikit-learn arpack, sparse")
_ALONE = {
    ".npy": ("reading alone",),
    ".parquet": ("pyarrow alone, Parquet",),
    ".csv": ("pyarrow alone", "pyarrow alone, streaming"),
    ".h5": (),
    ".zarr": (),
}


def _compare(title: str, path: str, k: int, readers: tuple[str, ...], settings: Settings) -> None:
    more = {"path": path, "k": k, "repeat": settings.repeat, "budget": settings.budget}
    report.compare(title, ((reader, ask("read_and_fit", settings.limit, reader=reader, **more)) for reader in readers))


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*")) if path.is_dir() else path.stat().st_size

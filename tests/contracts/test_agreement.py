"""One answer: any source, chunking, split into batches, order of merging and number of threads agrees with the fit in
memory, with the same signs.

A new source is one line in `SOURCES`: how the matrix X is given, in a folder that may be written to.
"""

import gzip
import os
from functools import cache
from itertools import pairwise, product

import anndata as ad
import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp
import zarr
from threadpoolctl import threadpool_limits

from helpers.counts import usually
from helpers.files import write_idx
from helpers.matrices import broken_claims, promised, sine, with_spectrum
from ritz import PCA, merge
from ritz.fitting.planning import choose, plan_for
from ritz.rows import as_rows, passes
from ritz.rows.base import dense
from ritz.rows.formats import chunked
from ritz.runtime.threads import pinned
from ritz.solvers import by_name

N, D, K, TOL = 1200, 24, 5, 1e-6
SOLVERS = ("covariance", "svd", "gram", "krylov", "auto")
NAMES = [f"column {j}" for j in range(D)]


def decaying() -> np.ndarray:
    """A spectrum that decays, a mean that is not 0, and a quarter of the entries 0."""
    rng = np.random.default_rng(0)
    data = with_spectrum(N, D, 500 * 0.75 ** np.arange(D), rng, offset=4.0)
    data[rng.random((N, D)) < 0.25] = 0.0
    return data


X = decaying()
CSR, FRAME = sp.csr_array(X), pd.DataFrame(X, columns=NAMES)
TABLE, CELLS = pa.Table.from_pandas(FRAME), ad.AnnData(X)


def file(name, write):
    """A source that `write` puts under a path."""

    def given(folder):
        write(folder / name)
        return folder / name

    return given


def parts(folder):
    folder.mkdir()
    for i, cut in enumerate(np.split(np.arange(N), [7, 500, 501])):
        pq.write_table(TABLE.take(cut), folder / f"{i}.parquet")


def hdf5(path):
    with h5py.File(path, "w") as out:
        out.create_dataset("x", data=X, chunks=(37, 5), compression="gzip")


def market(path):
    scipy.io.mmwrite(path, CSR, precision=17)


def pipeline_output(folder):
    """Genes by cells, as 10x pipelines write them."""
    folder.mkdir()
    scipy.io.mmwrite(folder / "m.mtx", CSR.T, precision=17)
    with gzip.open(folder / "matrix.mtx.gz", "wb") as out:
        out.write((folder / "m.mtx").read_bytes())
    (folder / "m.mtx").unlink()
    (folder / "genes.tsv").write_text("".join(f"ENSG{j}\t{name}\n" for j, name in enumerate(NAMES)))


def as_text(path, separator, opened=open):
    with opened(path, "wt") as out:
        out.write(separator.join(NAMES) + "\n")
        np.savetxt(out, X, fmt="%.17g", delimiter=separator)


def mapped(folder):
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r")


def backed(matrix):
    def given(folder):
        ad.AnnData(matrix).write_h5ad(folder / "x.h5ad")
        return ad.read_h5ad(folder / "x.h5ad", backed="r")

    return given


SOURCES = {
    "C order": lambda folder: X,
    "Fortran order": lambda folder: np.asfortranarray(X),
    "strided": lambda folder: np.repeat(np.repeat(X, 3, axis=0), 2, axis=1)[::3, ::2],
    "reversed": lambda folder: X[::-1, ::-1].copy()[::-1, ::-1],
    "big-endian": lambda folder: X.astype(">f8"),
    "memory map": mapped,
    ".npy": file("x.npy", lambda path: np.save(path, X)),
    ".npy, Fortran order": file("x.npy", lambda path: np.save(path, np.asfortranarray(X))),
    ".npz": file("x.npz", lambda path: np.savez_compressed(path, X)),
    "CSR": lambda folder: CSR,
    "CSC": lambda folder: CSR.tocsc(),
    "COO": lambda folder: CSR.tocoo(),
    "sparse .npz": file("x.npz", lambda path: sp.save_npz(path, CSR)),
    "sparse .npz by columns": file("x.npz", lambda path: sp.save_npz(path, CSR.tocsc())),
    "Parquet": file("x.parquet", lambda path: pq.write_table(TABLE, path)),
    "Parquet in row groups": file("x.parquet", lambda path: pq.write_table(TABLE, path, row_group_size=101)),
    "Parquet of vectors": file("x.parquet", lambda path: pq.write_table(pa.table({"v": list(X)}), path)),
    "Arrow": file("x.arrow", lambda path: feather.write_feather(TABLE, str(path), chunksize=101)),
    "folder of Parquet": file("parts", parts),
    "CSV": file("x.csv", lambda path: as_text(path, ",")),
    "TSV, gzip": file("x.tsv.gz", lambda path: as_text(path, "\t", gzip.open)),
    "text without header": file("x.txt", lambda path: np.savetxt(path, X, fmt="%.17g")),
    "HDF5": file("x.h5", hdf5),
    "h5ad": file("x.h5ad", lambda path: CELLS.copy().write_h5ad(path)),
    "h5ad, CSR": file("x.h5ad", lambda path: ad.AnnData(CSR).write_h5ad(path)),
    "h5ad, CSC": file("x.h5ad", lambda path: ad.AnnData(CSR.tocsc()).write_h5ad(path)),
    "Zarr": file("x.zarr", lambda path: zarr.create_array(str(path), data=X, chunks=(100, 10))),
    "IDX": file("x-idx2-double", lambda path: write_idx(path, X)),
    "Matrix Market": file("x.mtx", market),
    "10x folder": file("filtered", pipeline_output),
    "pandas": lambda folder: FRAME,
    "polars": lambda folder: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda folder: TABLE,
    "AnnData": lambda folder: CELLS.copy(),
    "AnnData, CSR": lambda folder: ad.AnnData(CSR),
    "AnnData, CSC": lambda folder: ad.AnnData(CSR.tocsc()),
    "backed AnnData": backed(X),
    "backed AnnData, CSR": backed(CSR),
}
FEW = ("C order", "CSR", "Parquet in row groups", "HDF5", "backed AnnData, CSR")  # one of every way of walking
few_sources = pytest.mark.parametrize("source", FEW)
every_solver = pytest.mark.parametrize("solver", SOLVERS)


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A source by its name, written once however often it is read."""

    @cache
    def written(name):
        return SOURCES[name](tmp_path_factory.mktemp("source"))

    yield written
    written.cache_clear()


@cache
def truth() -> tuple[np.ndarray, np.ndarray]:
    """Singular values and covariance of the rows, centred in extended precision."""
    Z = (X - X.astype(np.longdouble).mean(axis=0)).astype(np.float64)
    return np.linalg.svd(Z, compute_uv=False), Z.T @ Z / (N - 1)


@cache
def in_memory(solver) -> PCA:
    return PCA(K, svd_solver=solver, tol=TOL).fit(X)


def agree(found, solver):
    """Values to what the solver promises, axes within their certificates, and signs as those of the in-memory fit."""
    expected, (sigma, C) = in_memory(solver), truth()
    values, eps = sigma[:K] ** 2 / (N - 1), promised(X.shape)
    if found.plan_.solver == "svd":
        np.testing.assert_allclose(found.singular_values_, sigma[:K], rtol=0, atol=eps * sigma[0])
    else:
        allowed = TOL * values[0] if found.plan_.solver == "krylov" else eps * np.trace(C)
        np.testing.assert_allclose(found.explained_variance_, values, rtol=0, atol=allowed)
    np.testing.assert_allclose(found.mean_, X.mean(axis=0), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(found.total_variance_, np.trace(C), rtol=eps)
    assert found.certificate_.satisfied
    assert broken_claims(found.certificate_, found.subspace_.axes, C, slack=1e-13 * np.trace(C)) == []
    angles = found.certificate_.angle_bounds + expected.certificate_.angle_bounds
    assert angles.max() < 0.01  # else the lines below would say little
    assert sine(found.components_.T, expected.components_.T) <= angles.max()
    assert (np.linalg.norm(found.components_ - expected.components_, axis=1) <= 1.01 * angles).all()


@pytest.fixture
def many_blocks(monkeypatch):
    """Blocks of 100 rows at most, in runs of their own, walked by threads although there is little to do."""
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * D * 100 // 2)
    monkeypatch.setattr(passes, "THIN_BYTES", 8 * D * 50)
    monkeypatch.setattr(passes, "BLOCK_ROWS", 1)
    monkeypatch.setattr(passes, "THIN_ROWS", 1)
    monkeypatch.setattr(passes, "RUN_ROWS", 64)
    monkeypatch.setattr(passes, "RUN_WORK", 1)
    monkeypatch.setattr(passes, "SERIAL", 0)
    monkeypatch.setattr(chunked, "PART_BYTES", 8 * D * 111)


@every_solver
def test_the_in_memory_fit_is_right(solver):
    agree(in_memory(solver), solver)


@pytest.mark.parametrize("source", SOURCES)
def test_sources_hold_the_same_numbers(source, given):
    np.testing.assert_array_equal(as_rows(given(source)).map(lambda block: np.array(dense(block))), X)


def paired(sources, solvers):
    """Every source with two solvers in turn: one of every way of walking, `FEW`, meets all of them below."""
    turns = [solvers[i % len(solvers) :] + solvers[: i % len(solvers)] for i in range(len(sources))]
    return [(source, solver) for source, turn in zip(sources, turns, strict=True) for solver in turn[:2]]


@pytest.mark.parametrize(
    ("source", "solver"), usually(paired(SOURCES, SOLVERS), thorough=list(product(SOURCES, SOLVERS)))
)
def test_any_source(source, solver, given):
    agree(PCA(K, svd_solver=solver, tol=TOL).fit(given(source)), solver)


@every_solver
@pytest.mark.parametrize("count", usually([1, 3], thorough=[1, 2, 3]))
@few_sources
def test_any_number_of_threads(source, count, solver, given, many_blocks, monkeypatch, blas_as_it_is):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(8), raising=False)
    data = given(source)
    with threadpool_limits(count, user_api="blas"):
        assert pinned.budget() == count
        agree(PCA(K, svd_solver=solver, tol=TOL).fit(data), solver)


@every_solver
@pytest.mark.parametrize("room", usually([0.0, 0.5], thorough=[0.0, 0.3, 0.5, 0.9]))
@few_sources
def test_any_size_of_blocks(source, room, solver, given):
    rows = as_rows(given(source))

    def planned(limit):
        return choose(rows, K, limit) if solver == "auto" else plan_for(rows, solver, by_name(solver), K, limit)

    least, most = planned(1).memory, planned(1 << 62).memory
    pca = PCA(K, svd_solver=solver, tol=TOL, memory_limit=int(least + room * (most - least))).fit(rows)
    # No block is held of a matrix that is there anyway.
    assert pca.plan_.block_bytes < passes.MOST_BYTES or least == most
    agree(pca, solver)


SPLITS = {
    "1": usually(range(1, 200), thorough=range(1, N)),
    "7": range(7, N, 7),
    "600": [600],
    "random": [*np.sort(np.random.default_rng(1).integers(1, N, 30)), N],  # the last one has no rows
}


@every_solver
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_any_batches(kind, split, solver):
    ends = [0, *SPLITS[split], N]
    pca, data = PCA(K, svd_solver=solver, tol=TOL), kind(X)
    for start, stop in pairwise(ends):
        if stop:  # a first batch without rows has no columns to learn
            pca.partial_fit(data[start:stop])
    assert pca.n_samples_seen_ == N
    agree(pca, solver)


ORDERS = {
    "as they come": lambda models: merge(models),
    "reversed": lambda models: merge(models[::-1]),
    "shuffled": lambda models: merge([models[i] for i in (3, 0, 4, 2, 1)]),
    "one by one": lambda models: merge([merge([merge([merge(models[:2]), models[2]]), models[3]]), models[4]]),
    "in pairs": lambda models: merge([merge(models[3:]), merge([models[2], merge(models[:2])])]),
}


@every_solver
@pytest.mark.parametrize("order", ORDERS)
def test_any_order_of_merging(order, solver):
    sources = [np.asarray, sp.csr_array, np.asfortranarray, sp.coo_array, lambda part: part.astype(">f8")]
    cuts = np.split(X, [30, 130, 131 + K, 900])
    models = [PCA(K, svd_solver=solver, tol=TOL).fit(kind(part)) for kind, part in zip(sources, cuts, strict=True)]
    agree(ORDERS[order](models), solver)

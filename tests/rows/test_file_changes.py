"""A file that changes while it is read gives an error that says so: never a mixture, never a signal."""

import gc
import gzip
import os
import subprocess
import sys
import warnings

import anndata as ad
import h5py
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp
import zarr
from pyarrow import ipc

from helpers.files import SPARSE, X, table, write_idx
from ritz import PCA, CompressedSensing, DataError, KernelPCA, plan, read
from ritz.rows import as_rows
from ritz.rows.file_changes import Files
from ritz.rows.formats.read import opened
from ritz.rows.select import select
from ritz.rows.write.png import png
from ritz.runtime.watch import Watch


def as_arrow(path, new):
    with new(str(path), table().schema) as writer:
        writer.write_table(table(), 50)


def as_hdf5(path):
    with h5py.File(path, "w") as file:
        file["x"] = X


def pipeline_output(folder):
    folder.mkdir()
    scipy.io.mmwrite(folder / "matrix.mtx", SPARSE.T)
    (folder / "barcodes.tsv").write_text("".join(f"cell{i}\n" for i in range(30)))


def parts(folder):
    folder.mkdir()
    for i in range(2):
        pq.write_table(table(X[150 * i : 150 * (i + 1)]), folder / f"{i}.parquet", row_group_size=40)


def pictures(folder):
    folder.mkdir()
    for i, row in enumerate((20 * X[:40] % 255).astype(np.uint8)):
        (folder / f"{i}.png").write_bytes(png(row[None]))


def text(path, opens=open):
    with opens(path, "wt") as file:
        np.savetxt(file, X, delimiter=",")


FORMATS = {
    "x.npy": lambda path: np.save(path, X),
    "fortran.npy": lambda path: np.save(path, np.asfortranarray(X)),
    "x.npz": lambda path: np.savez(path, X),
    "sparse.npz": lambda path: sp.save_npz(path, SPARSE),
    "x.csv": text,
    "x.csv.gz": lambda path: text(path, gzip.open),
    "x.parquet": lambda path: pq.write_table(table(), path, row_group_size=50),
    "parts": parts,
    "x.arrow": lambda path: as_arrow(path, ipc.new_file),
    "x.arrows": lambda path: as_arrow(path, ipc.new_stream),
    "x.h5": as_hdf5,
    "x.h5ad": lambda path: ad.AnnData(X).write_h5ad(path),
    "sparse.h5ad": lambda path: ad.AnnData(SPARSE).write_h5ad(path),
    "x.zarr": lambda path: zarr.create_array(str(path), data=X, chunks=(50, 7)),
    "x.mtx": lambda path: scipy.io.mmwrite(path, SPARSE),
    "filtered": pipeline_output,
    "x.idx2-double": lambda path: write_idx(path, X),
    "x.idx2-double.gz": lambda path: write_idx(path, X, gzip.open),
    "pictures": pictures,
}


def inside(path):
    """The file itself, or one of a folder."""
    return path if path.is_file() else max((file for file in path.rglob("*") if file.is_file()), key=os.path.getsize)


def written(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    with file.open("r+b") as stream:
        stream.write(content)


def put_in_place(file):
    new = file.with_name("new~")
    new.write_bytes(file.read_bytes())
    os.replace(new, file)


CHANGES = {
    "it was written to": written,
    "bytes and has": lambda file: os.truncate(file, file.stat().st_size // 2),
    r"bytes and has\b": lambda file: os.truncate(file, file.stat().st_size + 100),
    "gone": lambda file: file.unlink(),
    "another file": put_in_place,
    "or touched": lambda file: os.utime(file, (1, 1)),
}
changes = pytest.mark.parametrize("what", CHANGES)
formats = pytest.mark.parametrize("name", FORMATS)


@pytest.fixture
def path(tmp_path, name):
    path = tmp_path / name
    FORMATS[name](path)
    return path


class Meanwhile:
    """Changes a file once, while rows are seen."""

    def __init__(self, change, path):
        self.change, self.file = change, inside(path)

    def begin(self, *_):
        pass

    def advance(self, _):
        if self.change is not None:
            change, self.change = self.change, None
            change(self.file)


def while_walked(rows, change, path):
    return rows.watched(Watch(Meanwhile(change, path)))


def refused(path, what):
    return pytest.raises(DataError, match=rf"{inside(path).name} changed while .*{what}.*copy it first")


WHOLE = {"x.npz", "sparse.npz", "sparse.h5ad", "x.mtx", "filtered", "x.idx2-double.gz"}  # are read when they are opened


@formats
@changes
def test_a_file_that_changes_during_a_fit(path, what):
    if what == "gone" and path.name in WHOLE:
        assert PCA(2).fit(while_walked(read(path), CHANGES[what], path)).n_components_ == 2
        return
    known = PCA(2).fit(X)
    before = {name: np.copy(value) for name, value in vars(known).items() if isinstance(value, np.ndarray)}
    with refused(path, what):
        known.fit(while_walked(read(path), CHANGES[what], path))
    assert all(np.array_equal(vars(known)[name], value) for name, value in before.items())
    assert known.n_samples_ == 300


@formats
@pytest.mark.parametrize("what", ["it was written to", "gone"])
def test_a_file_that_changes_between_opening_and_reading(path, what):
    rows = read(path)
    file = inside(path)
    CHANGES[what](file)
    if what == "gone" and path.name in WHOLE:
        assert PCA(2).fit(rows).n_components_ == 2
        return
    for use in (PCA(2).fit, lambda rows: plan(rows, 2), lambda rows: rows.sample(5), lambda rows: rows.block(0, 3)):
        with pytest.raises(DataError, match=rf"{file.name} changed while .*{what}"):
            use(rows)


@pytest.mark.parametrize("name", ["x.npy", "x.csv", "x.parquet", "x.arrow", "x.h5", "x.zarr"])
def test_every_use_of_a_file_that_changes(path, tmp_path):
    models = [PCA(2).fit(X), KernelPCA(2, kernel="rbf", gamma=0.01).fit(X), CompressedSensing(4, random_state=0).fit(X)]
    for model in models:
        with refused(path, "written"):
            model.transform(while_walked(read(path), written, path))
    with refused(path, "written"):
        models[0].transform(while_walked(read(path), written, path), out=tmp_path / "scores.npy")
    assert not (tmp_path / "scores.npy").exists()
    for use in (
        PCA(2, svd_solver="svd").fit,
        PCA(2, svd_solver="gram").fit,
        PCA("auto").fit,
        PCA(2).partial_fit,
        KernelPCA(2, kernel="rbf").fit,
        KernelPCA(2, kernel="rbf", n_landmarks=20).fit,
        models[0].reconstruction_error,
        models[0].score,
        lambda rows: rows.map(np.copy),
        lambda rows: list(rows.each(np.copy)),
    ):
        with refused(path, "written"):
            use(while_walked(read(path), written, path))


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.npy"])
def test_missing_values_of_a_file_that_changes(path):
    rows = opened(path)
    written(path)
    for missing in ("drop", "mean"):
        with refused(path, "written"):
            select(rows, None, None, missing)


def test_what_stands_beside_a_matrix(tmp_path):
    pipeline_output(tmp_path / "filtered")
    adata = ad.AnnData(X, obs=pd.DataFrame({"kind": ["a", "b"] * 150}, index=[str(i) for i in range(300)]))
    adata.write_h5ad(tmp_path / "x.h5ad")
    rows, cells = opened(tmp_path / "filtered"), read(tmp_path / "x.h5ad", label="kind")
    assert rows.row_names[0] == "cell0"
    assert cells.labels[1] == "b"
    written(tmp_path / "filtered" / "barcodes.tsv")
    written(tmp_path / "x.h5ad")
    with pytest.raises(DataError, match=r"barcodes\.tsv changed"):
        rows.row_names  # noqa: B018
    with pytest.raises(DataError, match=r"x\.h5ad changed"):
        cells.labels  # noqa: B018


@pytest.mark.parametrize("name", ["parts", "x.zarr"])
def test_a_folder_in_which_files_come_to_be(path):
    rows = read(path)
    (path / "results-ritz").mkdir()
    (path / "notes.txt").write_text("of no concern to a table")
    if path.name == "parts":
        assert PCA(2).fit(rows).n_samples_ == 300
        pq.write_table(table(), path / "2.parquet")
    with pytest.raises(DataError, match="it did not exist before"):
        PCA(2).fit(rows)


@pytest.mark.parametrize("matrix", [X, SPARSE])
def test_backed_objects(tmp_path, matrix):
    ad.AnnData(matrix).write_h5ad(tmp_path / "x.h5ad")
    adata = ad.read_h5ad(tmp_path / "x.h5ad", backed="r")
    with refused(tmp_path / "x.h5ad", "touched"):
        PCA(2).fit(while_walked(as_rows(adata), CHANGES["or touched"], tmp_path / "x.h5ad"))


def test_matrices_that_are_kept_in_other_files(tmp_path):
    """HDF5 knows links to other files, matrices put together from several, and such that lie outside."""
    np.save(tmp_path / "part.npy", X)
    with h5py.File(tmp_path / "part.h5", "w") as file:
        file["x"] = X
    layout = h5py.VirtualLayout(X.shape, X.dtype)
    layout[:] = h5py.VirtualSource(tmp_path / "part.h5", "x", X.shape)
    with h5py.File(tmp_path / "virtual.h5", "w") as file:
        file.create_virtual_dataset("x", layout)
    with h5py.File(tmp_path / "outside.h5", "w") as file:
        raw = [(str(tmp_path / "part.npy"), (tmp_path / "part.npy").stat().st_size - X.nbytes, X.nbytes)]
        file.create_dataset("x", X.shape, X.dtype, external=raw)
    with h5py.File(tmp_path / "linked.h5ad", "w") as file:
        file["X"] = h5py.ExternalLink("part.h5", "x")
    for name, part in (("virtual.h5", "part.h5"), ("outside.h5", "part.npy"), ("linked.h5ad", "part.h5")):
        rows = read(tmp_path / name)
        np.testing.assert_array_equal(rows.block(0, 300), X)
        os.utime(tmp_path / part, (1, 1))
        with pytest.raises(DataError, match=rf"{part} changed"):
            rows.block(0, 300)


VIEWS = {
    "all": lambda m: m,
    "an array": np.asarray,
    "some rows": lambda m: m[10:200],
    "reversed": lambda m: m[::-1, ::-1],
    "strided": lambda m: m[1::3, ::2],
    "few rows": lambda m: m[::50],
    "turned": lambda m: m[:7].T,
    "some columns": lambda m: m[:, 2:5],
}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("view", VIEWS)
def test_maps_are_read_from_their_file(tmp_path, order, view):
    given = np.memmap(tmp_path / "x.bin", np.float64, "w+", 24, X.shape, order)
    given[:] = X
    part = VIEWS[view](given)
    rows, expected = as_rows(part), np.array(part)
    assert rows.files is not None
    np.testing.assert_array_equal(rows.block(0, len(part)), expected)
    np.testing.assert_array_equal(rows.block(3, 5), expected[3:5])
    for indices in ([4, 0, 4, 2], [], [len(part) - 1]):
        np.testing.assert_array_equal(rows.take(np.array(indices, int)), expected[np.array(indices, int)])
    np.testing.assert_array_equal(PCA(2).fit(part).components_, PCA(2).fit(expected).components_)
    with refused(tmp_path / "x.bin", "bytes and has"):
        PCA(2).fit(while_walked(rows, CHANGES["bytes and has"], tmp_path / "x.bin"))


def test_maps_that_are_no_files(tmp_path):
    """Private ones hold what nobody else sees, and those whose file is gone or was replaced hold the old one."""
    path = tmp_path / "x.npy"
    np.save(path, X)
    private = np.load(path, mmap_mode="c")
    private[:] = 2 * X
    np.testing.assert_array_equal(as_rows(private).block(0, 300), 2 * X)
    shared = np.load(path, mmap_mode="r")
    np.save(tmp_path / "new.npy", 3 * X)
    os.replace(tmp_path / "new.npy", path)
    np.testing.assert_array_equal(as_rows(shared).block(0, 300), X)
    path.unlink()
    np.testing.assert_array_equal(PCA(2).fit(shared).components_, PCA(2).fit(X).components_)


def test_frames_of_a_map(tmp_path):
    np.save(tmp_path / "x.npy", X)
    frame = pd.DataFrame(np.load(tmp_path / "x.npy", mmap_mode="r"), columns=list("abcdefg"), copy=False)
    rows = as_rows(frame)
    np.testing.assert_array_equal(rows.block(1, 4), X[1:4])
    assert rows.names == tuple("abcdefg")
    if rows.files is not None:  # some versions of pandas copy
        with refused(tmp_path / "x.npy", "bytes and has"):
            PCA(2).fit(while_walked(rows, CHANGES["bytes and has"], tmp_path / "x.npy"))


def test_two_writes_within_a_tick_of_the_clock(tmp_path, monkeypatch):
    """Small files that were written just now are known by what they hold, large ones are waited for."""
    waited = []
    monkeypatch.setattr("ritz.rows.file_changes.time.sleep", waited.append)
    path = tmp_path / "x.bin"
    path.write_bytes(b"old")
    at = path.stat()
    monkeypatch.setattr("ritz.rows.file_changes.time.time_ns", lambda: at.st_ctime_ns + 1000)
    monkeypatch.setattr("ritz.rows.file_changes._stat", lambda _: at)
    files = Files.at(path)
    files.check()
    path.write_bytes(b"new")
    with pytest.raises(DataError, match="was written to"):
        files.check()
    monkeypatch.setattr("ritz.rows.file_changes.SMALL", 2)
    Files.at(path).check()
    assert waited == [pytest.approx(0.012 - 1e-6)]


SHRINKING = """
import os, sys, threading, time
import numpy as np, pyarrow as pa, pyarrow.feather as feather
from ritz import PCA, DataError, read
folder = sys.argv[1]
X = np.random.default_rng(0).standard_normal((5_000, 40))
def fit(name, rows):
    try:
        PCA(3, svd_solver="krylov", memory_limit="9MB").fit(rows)
    except DataError as error:
        words = "is truncated" if name == "map.npy" and "is truncated" in str(error) else "changed while it was in use"
        assert words in str(error), error
        return True
    return False
for name in ("x.npy", "x.feather", "map.npy"):
    path = os.path.join(folder, name)
    if name == "x.feather":
        feather.write_feather(pa.table({f"c{j}": X[:, j] for j in range(40)}), path, compression="uncompressed")
    else:
        np.save(path, X)
    rows = np.load(path, mmap_mode="r") if name == "map.npy" else read(path)
    shrink = threading.Timer(0.05, os.truncate, (path, 5000))
    shrink.start()
    while not fit(name, rows):
        pass
    shrink.join()
print("alive")
"""


def test_files_that_shrink_end_no_process(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SHRINKING, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "alive"), done.stderr[-2000:]


@formats
def test_files_are_closed(path):
    gc.freeze()  # what was there before has nothing to do with it
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        PCA(2).fit(path)
        gc.collect()
    gc.unfreeze()
    assert not [warning for warning in told if issubclass(warning.category, ResourceWarning)]

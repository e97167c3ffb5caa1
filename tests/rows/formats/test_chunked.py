"""HDF5, h5ad and Zarr give what their arrays hold; damaged and hostile ones give errors."""

import json
import pickle

import h5py
import numpy as np
import pytest
import scipy.sparse as sp
import zarr

from helpers.files import SPARSE, WORDS, Trap, X, write_h5ad
from helpers.matrices import random_array
from ritz import PCA, DataError, read
from ritz.rows.formats import chunked
from ritz.runtime import memory


@pytest.fixture
def h5(tmp_path):
    return tmp_path / "x.h5"


@pytest.mark.parametrize("chunks", [None, (13, 7), (300, 2), (1, 7)])
@pytest.mark.parametrize("library", ["hdf5", "zarr"])
def test_stored_arrays_equal_their_arrays(tmp_path, library, chunks, monkeypatch):
    monkeypatch.setattr(chunked, "PART_BYTES", 40 * 56)
    narrow = X.astype(np.float32)
    if library == "hdf5":
        path = tmp_path / "x.h5"
        with h5py.File(path, "w") as file:
            file.create_dataset("deep/matrix", data=narrow, chunks=chunks, compression="gzip" if chunks else None)
            file["label"] = np.arange(300)
    else:
        path = tmp_path / "x.zarr"
        zarr.create_array(str(path), data=narrow, chunks=chunks or (300, 7))
    rows = read(path)
    assert rows.shape == (300, 7)
    np.testing.assert_array_equal(rows.block(5, 250), narrow[5:250])
    np.testing.assert_array_equal(rows.take(np.array([299, 0, 120])), narrow[[299, 0, 120]])
    np.testing.assert_array_equal(rows.map(lambda block: block * 2), narrow * 2)
    found, expected = PCA(3).fit(path), PCA(3).fit(narrow)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-6)
    np.testing.assert_allclose(found.explained_variance_, expected.explained_variance_, rtol=1e-6)
    np.testing.assert_allclose(found.transform(path), found.transform(narrow), atol=1e-5)
    assert read(path, columns=[1, 2]).shape == (300, 2)


def test_h5ad_dense_and_sparse(tmp_path):
    path = tmp_path / "cells.h5ad"
    S = random_array((80, 12), density=0.3, format="csr", rng=np.random.default_rng(0))
    for X_of in (S, S.tocsc(), S.toarray()):
        with h5py.File(path, "w") as file:
            if sp.issparse(X_of):
                group = file.create_group("X")
                group.attrs["encoding-type"], group.attrs["shape"] = f"{X_of.format}_matrix", X_of.shape
                for name in ("data", "indices", "indptr"):
                    group[name] = getattr(X_of, name)
            else:
                file["X"] = X_of
            file.create_group("obs")
            var = file.create_group("var")
            var.attrs["_index"] = "gene"
            var["gene"] = [f"G{i}" for i in range(12)]
        rows = read(path)
        assert rows.sparse == sp.issparse(X_of)
        assert rows.names[:2] == ("G0", "G1")
        np.testing.assert_allclose(PCA(3).fit(path).components_, PCA(3).fit(S.toarray()).components_, atol=1e-9)


@pytest.mark.parametrize(
    ("index", "names"),
    [
        (WORDS, ("G0", "G1", "G2", "G3", "G4", "G5", "G6")),
        (np.arange(10, 17), ("10", "11", "12", "13", "14", "15", "16")),
        (
            {"categories": WORDS[:3], "codes": np.int8([2, 1, 0, 0, -1, 1, 2])},
            ("G2", "G1", "G0", "G0", "4", "G1", "G2"),
        ),
        ({"values": WORDS, "mask": np.arange(7) == 2}, ("G0", "G1", "2", "G3", "G4", "G5", "G6")),
        (h5py.SoftLink("/nowhere"), None),
        (None, None),
    ],
)
def test_names_of_the_variables_however_they_are_stored(tmp_path, index, names):
    for name, matrix in (("dense.h5ad", X), ("sparse.h5ad", sp.csc_array(X))):
        rows = read(write_h5ad(tmp_path / name, matrix, index))
        assert rows.names == names
        assert rows.shape == (300, 7)


def test_names_of_the_variables_in_a_compound_table(tmp_path):
    with h5py.File(tmp_path / "old.h5ad", "w") as file:
        file["X"] = X
        file["var"] = np.array([(i, name) for i, name in enumerate(WORDS)], [("n", "i4"), ("index", "S2")])
    assert read(tmp_path / "old.h5ad").names == ("G0", "G1", "G2", "G3", "G4", "G5", "G6")


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (WORDS[:3], "names 3 variables, but X has 7 columns"),
        (np.zeros((7, 2)), r"/var/gene .*shape \(7, 2\), but must be a list"),
        ({"categories": WORDS[:3], "codes": np.int8([0, 1, 2, 3, 0, 0, 0])}, "is damaged"),
        ({"categories": WORDS[:3]}, "is damaged"),
    ],
)
def test_names_of_the_variables_that_are_damaged(tmp_path, index, message):
    with pytest.raises(DataError, match=message) as caught:
        read(write_h5ad(tmp_path / "x.h5ad", X, index))
    assert "x.h5ad" in str(caught.value)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (X[0], r"X of .*shape \(7,\); a matrix has rows and columns"),
        (X[None], r"X of .*shape \(1, 300, 7\)"),
        (h5py.Empty("f"), "X of .*shape None"),
        (X[:0], r"0 sample\(s\) \(shape=\(0, 7\)\)"),
        (X[:, :0], r"0 feature\(s\)"),
        (X + 0j, "complex128 values, not real numbers"),
        (h5py.SoftLink("/nowhere"), "its X is a link to /nowhere, where nothing is"),
        (h5py.ExternalLink("gone.h5", "/x"), r"its X is a link to gone\.h5/x, where nothing is"),
        (None, "has no X, where an h5ad file keeps its matrix$"),
    ],
)
def test_h5ad_without_a_matrix(tmp_path, matrix, message):
    with pytest.raises(DataError, match=message) as caught:
        read(write_h5ad(tmp_path / "x.h5ad", matrix))
    assert "x.h5ad" in str(caught.value)


def test_h5ad_with_only_raw_counts_and_groups_without_a_matrix(tmp_path):
    path = write_h5ad(tmp_path / "x.h5ad", None)
    with h5py.File(path, "a") as file:
        file["raw/X"] = X
    with pytest.raises(DataError, match=r"raw/X is there: write adata\.raw\.to_adata\(\)"):
        read(path)
    with h5py.File(path, "a") as file:
        file.create_group("X")
    with pytest.raises(DataError, match="is a group, but not a sparse matrix"):
        read(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": (10**12, 7)}, "and 1000000000001 index pointers"),
        ({"shape": (30, 10**12)}, "names 7 variables, but X has 1000000000000 columns"),
        ({"shape": (-30, 7)}, "and -29 index pointers"),
        ({"shape": (30,)}, "not a sparse matrix with a known format and shape"),
        ({"shape": np.array([30.0, np.nan])}, "not a sparse matrix with a known format and shape"),
        ({"format": "coo"}, "not a sparse matrix with a known format and shape"),
        ({"format": "csc_matrix"}, "and 8 index pointers"),
        ({"data": None}, r"found the shapes None, \(84,\)"),
        ({"indptr": SPARSE.indptr[:-2]}, r"\(29,\)"),
        ({"indptr": SPARSE.indptr[::-1].copy()}, "damaged"),
        ({"indices": SPARSE.indices + 99}, "has column index"),
        ({"indices": SPARSE.indices * 1.0}, "indices must be integers"),
        ({"data": SPARSE.data[:3]}, r"found the shapes \(3,\)"),
        ({"data": SPARSE.data.reshape(2, -1)}, r"found the shapes \(2, 42\)"),
        ({"data": np.array([b"a"] * SPARSE.nnz)}, "expected numbers"),
    ],
)
def test_sparse_h5ad_that_is_damaged(tmp_path, change, message):
    with pytest.raises(DataError, match=message) as caught:
        read(write_h5ad(tmp_path / "x.h5ad", SPARSE, WORDS, **change))
    assert "x.h5ad" in str(caught.value)


def test_sparse_h5ad_of_small_types_and_another_byte_order(tmp_path):
    for change in (
        {"data": np.float16(SPARSE.data)},
        {"data": SPARSE.data.astype(">f4"), "indices": SPARSE.indices.astype(">i8")},
    ):
        rows = read(write_h5ad(tmp_path / "x.h5ad", SPARSE, WORDS, **change))
        assert rows.dtype == np.float32
        twin = sp.csr_array((change["data"].astype(float), SPARSE.indices, SPARSE.indptr), shape=SPARSE.shape)
        np.testing.assert_array_equal(rows.block(0, 30).toarray(), twin.toarray())


def test_stored_arrays_that_claim_more_than_there_is(tmp_path, h5, monkeypatch):
    with h5py.File(h5, "w") as file:
        file.create_dataset("m", (10**13, 5), "f8", chunks=(10**4, 5))
    with pytest.raises(DataError, match=r"/m of .*x\.h5 has shape \(10000000000000, 5\), but was never written"):
        read(h5)
    with h5py.File(h5, "w") as file:
        file.create_dataset("m", (10**17, 5), "f8", chunks=(10**4, 5))[0] = 1.0
    with pytest.raises(DataError, match=r"claims the shape \(100000000000000000, 5\)"):
        read(h5)
    path = tmp_path / "x.h5ad"
    with h5py.File(write_h5ad(path, SPARSE, data=None, indices=None), "a") as file:
        for name, kind in (("data", "f8"), ("indices", "i4")):
            file["X"].create_dataset(name, (10**13,), kind, chunks=(10**6,))
    with pytest.raises(DataError, match=r"the sparse matrix X of .* would take 120000\.0 GB of memory"):
        read(path)
    monkeypatch.setattr(memory, "PHYSICAL", 17_920)
    with h5py.File(h5, "w") as file:
        file.create_dataset("m", data=X, chunks=(300, 7), compression="gzip")
    rows = read(h5)
    assert np.diff(rows.edges).max() == 32  # less than a chunk, which is a tenth of the memory here
    np.testing.assert_array_equal(rows.map(lambda block: block), X)


def test_stored_longdoubles_are_read_as_float64(h5):
    with h5py.File(h5, "w") as file:
        file["m"] = X.astype(np.longdouble)
    with pytest.warns(UserWarning, match="computed in float64"):
        rows = read(h5)
    assert rows.block(0, 300).dtype == np.float64
    np.testing.assert_array_equal(rows.block(0, 300), X)


@pytest.mark.parametrize("place", ["filters", "compressor"])
def test_pickles_in_zarr_are_never_opened(tmp_path, place):
    path = tmp_path / "x.zarr"
    path.mkdir()
    codec = {"id": "pickle", "protocol": 4}
    form = {"zarr_format": 2, "shape": [4, 2], "chunks": [4, 2], "dtype": "<f8", "fill_value": 0, "order": "C"}
    codecs = {"filters": None, "compressor": None} | {place: [codec] if place == "filters" else codec}
    (path / ".zarray").write_text(json.dumps(form | codecs))
    (path / "0.0").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(DataError, match=r"x\.zarr"):
        PCA(1).fit(path)


def test_stored_files_that_are_damaged_or_unclear(tmp_path, h5):
    with h5py.File(h5, "w") as file:
        file["a"], file["b"] = X, X
    with pytest.raises(DataError, match=r"2 matrices of numbers \('a' \(300, 7\), 'b'"):
        read(h5)
    whole = h5.read_bytes()
    for cut in (0, 100, len(whole) // 2):
        h5.write_bytes(whole[:cut])
        with pytest.raises(DataError, match="not a valid HDF5 file"):
            read(h5)
    with h5py.File(h5, "w") as file:
        file["text"] = ["a", "b"]
    with pytest.raises(DataError, match="0 matrices"):
        read(h5)
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file["Y"] = X
    with pytest.raises(DataError, match="has no X"):
        read(tmp_path / "x.h5ad")
    (tmp_path / "x.zarr").mkdir()
    with pytest.raises(DataError, match="not a Zarr array or group"):
        read(tmp_path / "x.zarr")
    zarr.create_array(str(tmp_path / "y.zarr"), data=X, chunks=(100, 7))
    chunk = next(path for path in (tmp_path / "y.zarr").rglob("*") if path.is_file() and "json" not in path.name)
    chunk.write_bytes(b"nonsense")
    with pytest.raises(DataError, match="cannot be read"):
        PCA(2).fit(tmp_path / "y.zarr")

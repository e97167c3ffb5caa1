"""Files give what their arrays give; damaged and hostile ones give errors."""

import contextlib
import gzip
import io
import os
import re
import warnings
import zipfile

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp
from pyarrow import ipc

import ritz
from helpers.counts import usually
from helpers.files import SPARSE, WORDS, Trap, X, table, write_h5ad
from helpers.matrices import random_array
from helpers.memory import traced
from ritz import PCA, DataError, read
from ritz.rows.base import dense
from ritz.runtime import memory


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, X)
    return path


@pytest.mark.parametrize(
    "make", [lambda a: a, np.asfortranarray, lambda a: a.astype(">f4"), lambda a: a.astype(np.int16)]
)
def test_npy_equals_its_array(tmp_path, make):
    path, data = tmp_path / "x.npy", make(X)
    np.save(path, data)
    for source in (path, str(path), read(path)):
        found, expected = PCA(3).fit(source), PCA(3).fit(data)
        np.testing.assert_array_equal(found.components_, expected.components_)
        np.testing.assert_array_equal(found.transform(source), expected.transform(data))
    assert found.components_.dtype == expected.components_.dtype
    assert found.n_features_in_ == 7


def test_npy_is_walked_not_held(tmp_path):
    path = tmp_path / "x.npy"
    np.lib.format.open_memmap(path, "w+", np.float32, (400_000, 50))[:] = 1.0
    PCA(2).fit(X)
    with traced() as taken:
        rows = read(path)
        rows.reduce(lambda run: sum(float(block[0, 0]) for block in run), float.__add__)
    assert taken.peak < 12e6  # blocks of 80 MB, of which every thread has one, and one more while it reads


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("compressed", [True, False])
def test_npz_with_a_sparse_matrix(tmp_path, kind, compressed):
    S = random_array((200, 30), density=0.2, format=kind, rng=np.random.default_rng(1))
    sp.save_npz(tmp_path / "s.npz", S, compressed=compressed)
    assert read(tmp_path / "s.npz").sparse
    found, expected = PCA(3).fit(tmp_path / "s.npz"), PCA(3).fit(S)
    np.testing.assert_array_equal(found.components_, expected.components_)
    flipped = PCA(3).fit(read(tmp_path / "s.npz", transpose=True))
    np.testing.assert_allclose(flipped.explained_variance_, PCA(3).fit(S.T).explained_variance_, rtol=1e-10)


def test_npz_with_one_array_or_more(tmp_path):
    np.savez(tmp_path / "one.npz", X)
    np.testing.assert_array_equal(PCA(2).fit(tmp_path / "one.npz").components_, PCA(2).fit(X).components_)
    np.savez(tmp_path / "two.npz", a=X, b=X)
    with pytest.raises(DataError, match="2 arrays \\('a', 'b'\\)"):
        read(tmp_path / "two.npz")
    np.savez(tmp_path / "none.npz")
    with pytest.raises(DataError, match="0 arrays"):
        read(tmp_path / "none.npz")


def test_columns_label_and_transpose(saved):
    for columns, label, picked in (
        ([2, 0], None, [2, 0]),
        (None, 3, [0, 1, 2, 4, 5, 6]),
        ([0, 1, -1], 1, [0, 6]),
        (range(7), None, range(7)),
    ):
        rows = read(saved, columns=columns, label=label)
        found, expected = PCA(2).fit(rows), PCA(2).fit(X[:, list(picked)])
        np.testing.assert_allclose(found.components_, expected.components_, atol=1e-12)
        np.testing.assert_array_equal(rows.take(np.array([5, 2])), X[[5, 2]][:, list(picked)])
    np.testing.assert_array_equal(read(saved, transpose=True).block(0, 7), X.T)
    with pytest.raises(DataError, match="no column 7; there are 7"):
        read(saved, columns=[7])
    with pytest.raises(DataError, match="no column 'age'"):
        read(saved, label="age")
    with pytest.raises(DataError, match="no column is left"):
        read(saved, columns=[1], label=1)


def test_missing_values(tmp_path):
    data = X.copy()
    data[3, 2] = data[3, 5] = data[200, 0] = np.nan
    np.save(tmp_path / "m.npy", data)
    with pytest.raises(DataError, match="3 NaN, first at row 3, column 2"):
        PCA(2).fit(tmp_path / "m.npy")
    dropped = PCA(2).fit(read(tmp_path / "m.npy", missing="drop"))
    np.testing.assert_allclose(dropped.components_, PCA(2).fit(np.delete(data, [3, 200], 0)).components_, atol=1e-12)
    filled = np.where(np.isnan(data), np.nanmean(data, axis=0), data)
    meant = PCA(2).fit(read(tmp_path / "m.npy", missing="mean"))
    np.testing.assert_allclose(meant.components_, PCA(2).fit(filled).components_, atol=1e-12)
    assert read(tmp_path / "m.npy", columns=[1, 3], missing="drop").shape == (300, 2)  # nothing is missing there
    with pytest.raises(ValueError, match="missing='zero' must be"):
        read(tmp_path / "m.npy", missing="zero")
    data[:, 4] = np.nan
    np.save(tmp_path / "m.npy", data)
    with pytest.raises(DataError, match="drop all 300 rows"):
        read(tmp_path / "m.npy", missing="drop")
    with pytest.raises(DataError, match="column 4 has no value"):
        read(tmp_path / "m.npy", missing="mean")


@pytest.mark.parametrize("cut", [0, 3, 20, 100, 1000, -1])
def test_truncated_files(saved, tmp_path, cut):
    whole = saved.read_bytes()
    saved.write_bytes(whole[:cut])
    with pytest.raises(DataError, match=r"is truncated|not a valid"):
        read(saved)
    np.savez(tmp_path / "x.npz", X)
    whole = (tmp_path / "x.npz").read_bytes()
    (tmp_path / "x.npz").write_bytes(whole[:cut])
    with pytest.raises(DataError, match="not a valid"):
        read(tmp_path / "x.npz")


def test_pickles_are_never_opened(tmp_path):
    np.save(tmp_path / "p.npy", np.array([[Trap(), 1]], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="Python objects"):
        read(tmp_path / "p.npy")
    np.savez(tmp_path / "p.npz", np.array([[Trap(), 1]], dtype=object))
    with pytest.raises(DataError, match="plain numbers"):
        read(tmp_path / "p.npz")
    with zipfile.ZipFile(tmp_path / "q.npz", "w") as archive:
        archive.writestr("data.pkl", b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(DataError, match=r"'data.pkl' in .* is not a valid .npy file"):
        read(tmp_path / "q.npz")


def test_archives_that_unpack_to_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "PHYSICAL", 500_000)
    np.savez_compressed(tmp_path / "bomb.npz", np.zeros((1000, 100)))
    with pytest.raises(DataError, match=r"unpacked, would take 0.8 MB of memory, 0.4 MB are allowed"):
        read(tmp_path / "bomb.npz")
    np.savez_compressed(tmp_path / "small.npz", np.zeros((400, 100)))
    assert read(tmp_path / "small.npz").shape == (400, 100)
    header = b"%%MatrixMarket matrix coordinate real general\n"
    (tmp_path / "bomb.mtx.gz").write_bytes(gzip.compress(header + b"% nothing\n" * 100_000 + b"2 2 1\n1 1 1\n"))
    with pytest.raises(DataError, match=r"bomb\.mtx\.gz unpacks to more than the 0.4 MB allowed"):
        read(tmp_path / "bomb.mtx.gz")


def test_lines_without_an_end(tmp_path):
    path = tmp_path / "line.mtx.gz"
    for start in ("%", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1"):
        path.write_bytes(gzip.compress(start.encode() + b"0" * 2_000_000))
        with pytest.raises(DataError, match=r"line\.mtx\.gz has a line of more than 1048576 characters"):
            read(path)


@pytest.mark.parametrize("place", [0, 30, 55, 60, 64, -1])
def test_matrix_market_with_zero_bytes(tmp_path, place):
    """SciPy's parser alone ends the process."""
    text = bytearray(b"%%MatrixMarket matrix coordinate real general\n20 20 2\n12 12 1.25\n14 15 2.5\n")
    text[place] = 0
    (tmp_path / "z.mtx").write_bytes(text)
    with pytest.raises(DataError, match=r"z\.mtx is not text"):
        read(tmp_path / "z.mtx")


def test_sparse_archives_that_are_damaged(tmp_path):
    S = random_array((20, 10), density=0.3, format="csr", rng=np.random.default_rng(0))
    parts = {"format": np.array("csr"), "shape": S.shape, "data": S.data, "indices": S.indices, "indptr": S.indptr}
    np.savez(tmp_path / "s.npz", **parts | {"indices": S.indices + 100})
    with pytest.raises(DataError, match="damaged"):
        PCA(2).fit(tmp_path / "s.npz")
    np.savez(tmp_path / "s.npz", **parts | {"indptr": S.indptr[:-3]})
    with pytest.raises(DataError, match="damaged"):
        PCA(2).fit(tmp_path / "s.npz")
    np.savez(tmp_path / "s.npz", **parts | {"format": np.array("xyz")})
    with pytest.raises(DataError, match="format 'xyz'"):
        read(tmp_path / "s.npz")


@pytest.mark.parametrize(
    "change",
    [
        {"shape": np.array(4)},
        {"shape": np.array([50.0, 8.0])},
        {"shape": np.array([-1, 8])},
        {"shape": np.array([10**14, 8])},
        {"row": np.zeros(3)},
        {"row": np.zeros((3, 1), int)},
        {"row": np.zeros(2, int)},
        {"row": np.full(3, 2**63, np.uint64)},
        {"data": np.array(["a", "b", "c"])},
        {"format": np.array(["coo", "csr"])},
        {"format": np.array(3)},
    ],
)
def test_sparse_archives_with_parts_of_other_kinds(tmp_path, change):
    whole = {"format": np.array("coo"), "shape": np.array([50, 8]), "data": np.ones(3)}
    places = {"row": np.array([0, 4, 2]), "col": np.array([1, 2, 7])}
    np.savez(tmp_path / "whole.npz", **whole, **places)
    assert read(tmp_path / "whole.npz").block(0, 50).sum() == 3
    np.savez(tmp_path / "bad.npz", **whole | places | change)
    with pytest.raises(DataError, match=r"bad\.npz"):
        read(tmp_path / "bad.npz")


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float16, np.float32, ">f8"])
def test_sparse_archives_add_up_duplicates_as_numbers(tmp_path, dtype):
    rng = np.random.default_rng(4)
    row, col = rng.integers(40, size=900), rng.integers(9, size=900)
    data = rng.integers(1, 2 if dtype is bool else 250, size=900).astype(dtype)
    D = np.zeros((40, 9))
    np.add.at(D, (row, col), data.astype(float))  # beyond what uint8 holds
    np.savez(tmp_path / "d.npz", format=np.array("coo"), shape=np.array(D.shape), data=data, row=row, col=col)
    np.testing.assert_array_equal(read(tmp_path / "d.npz").block(0, 40).toarray(), D)
    order = np.argsort(row, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=40))])
    parts = {"data": data[order], "indices": col[order], "indptr": ends}
    np.savez(tmp_path / "r.npz", format=np.array("csr"), shape=np.array(D.shape), **parts)
    np.testing.assert_array_equal(read(tmp_path / "r.npz").block(0, 40).toarray(), D)


def test_archives_are_read_to_their_checksum(tmp_path):
    np.savez(tmp_path / "x.npz", X)
    whole = bytearray((tmp_path / "x.npz").read_bytes())
    for place in (1000, 16_000):
        broken = whole.copy()
        broken[place] ^= 1
        (tmp_path / "x.npz").write_bytes(broken)
        with pytest.raises(DataError, match="Bad CRC"):
            read(tmp_path / "x.npz")


def test_what_cannot_be_read_says_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file"):
        PCA(2).fit(tmp_path / "absent.npy")
    for name, advice in (("a.xlsx", "save the sheet as CSV"), ("a.foo", r"\.npy")):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(DataError, match=advice):
            read(tmp_path / name)
    assert ritz.read is read


@pytest.mark.parametrize("shape", [(), (5,), (0, 4), (4, 0), (0, 4, 4), (4, 0, 4)])
def test_arrays_of_other_shapes(tmp_path, shape):
    np.save(tmp_path / "s.npy", np.ones(shape))
    np.savez(tmp_path / "s.npz", np.ones(shape))
    for name in ("s.npy", "s.npz"):
        with pytest.raises(DataError, match=rf"{name}: (Expected 2D array.* of shape|Found array with 0 )"):
            read(tmp_path / name)


def test_folders_and_pipes_called_like_files(tmp_path):
    for name in ("x.npy", "x.npz", "x.h5", "x.h5ad", "x.mtx", "x.mtx.gz"):
        (tmp_path / name).mkdir()
        with pytest.raises(DataError, match=rf"{name}' is a folder"):
            read(tmp_path / name)
    for name in ("x.parquet", "x.pq", "x.zarr"):
        (tmp_path / name).mkdir()
        said = rf"{name}' has no \.parquet or \.pq file|not a Zarr array.*{name}|{name} is not a Zarr"
        with pytest.raises(DataError, match=said):
            read(tmp_path / name)
    os.mkfifo(tmp_path / "pipe.npy")
    with pytest.raises(DataError, match="neither a file nor a folder"):
        read(tmp_path / "pipe.npy")


def test_matrix_market_and_10x_folders(tmp_path):
    S = random_array((12, 80), density=0.3, format="coo", rng=np.random.default_rng(0))
    scipy.io.mmwrite(tmp_path / "x.mtx", S)
    expected = PCA(3).fit(S.T.toarray())
    found = PCA(3).fit(read(tmp_path / "x.mtx", transpose=True))
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-8)
    folder = tmp_path / "filtered"
    folder.mkdir()
    with gzip.open(folder / "matrix.mtx.gz", "wb") as file:
        file.write((tmp_path / "x.mtx").read_bytes())
    (folder / "genes.tsv").write_text("".join(f"ENSG{i}\tGene {i}\n" for i in range(12)))
    rows = read(folder)
    assert rows.shape == (80, 12)
    assert rows.names[:2] == ("Gene 0", "Gene 1")
    found = PCA(3).fit(folder)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-8)
    assert found.feature_names_in_[3] == "Gene 3"
    np.testing.assert_allclose(
        PCA(2).fit(read(folder, columns=["Gene 3", "Gene 5"])).explained_variance_,
        PCA(2).fit(S.T.toarray()[:, [3, 5]]).explained_variance_,
        rtol=1e-10,
    )
    (folder / "genes.tsv").write_text("".join(f"ENSG{i}\tsame\n" for i in range(12)))
    assert read(folder).names[0] == "ENSG0"
    (folder / "genes.tsv").write_text("ENSG0\tone\n")
    with pytest.raises(DataError, match=r"names 1 genes, .* has 12 rows"):
        read(folder)
    for cut in (0, 30, 200):
        (tmp_path / "x.mtx").write_bytes((tmp_path / "x.mtx").read_bytes()[:cut] if cut else b"")
        with pytest.raises(DataError, match="not a valid Matrix Market file"):
            read(tmp_path / "x.mtx")


def write_hdf5(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("m", data=X[:60], chunks=(13, 7), compression="gzip", fletcher32=True)


def write_market(path, matrix):
    text = io.BytesIO()
    scipy.io.mmwrite(text, matrix)
    path.write_bytes(gzip.compress(text.getvalue()) if path.suffix == ".gz" else text.getvalue())


def write_arrow(path, new):
    with new(str(path), table().schema) as writer:
        writer.write_table(table(X[:60]), max_chunksize=25)


WRITERS = {
    "x.npy": lambda path: np.save(path, X[:60]),
    "x.npz": lambda path: np.savez_compressed(path, X[:60]),
    "rows.npz": lambda path: sp.save_npz(path, SPARSE),
    "places.npz": lambda path: sp.save_npz(path, SPARSE.tocoo(), compressed=False),
    "dense.mtx": lambda path: write_market(path, X[:60]),
    "sparse.mtx": lambda path: write_market(path, SPARSE.tocoo()),
    "sparse.mtx.gz": lambda path: write_market(path, SPARSE.tocoo()),
    "x.parquet": lambda path: pq.write_table(table(X[:60]), path, row_group_size=25, write_page_checksum=True),
    "v.parquet": lambda path: pq.write_table(pa.table({"v": list(X[:60])}), path, write_page_checksum=True),
    "x.arrow": lambda path: write_arrow(path, ipc.new_file),
    "s.arrow": lambda path: write_arrow(path, ipc.new_stream),
    "x.h5": write_hdf5,
    "x.h5ad": lambda path: write_h5ad(path, SPARSE, WORDS),
}
CHECKED = ("x.npz", "rows.npz", "places.npz", "sparse.mtx.gz", "x.parquet", "v.parquet")  # by checksums


def contents(path):
    rows = read(path)
    return dense(rows.block(0, rows.shape[0]))


@pytest.mark.parametrize("name", WRITERS)
def test_files_that_are_cut_anywhere(tmp_path, name):
    WRITERS[name](tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    for part in range(20):
        cut = tmp_path / f"{part}_{name}"
        cut.write_bytes(whole[: len(whole) * part // 20])
        with pytest.raises(DataError, match=re.escape(cut.name)):
            contents(cut)


@pytest.mark.parametrize("name", [name for name in WRITERS if ".h5" not in name])
def test_files_with_changed_bytes(tmp_path, name):
    """What is wrong is told in our words, and where there is a checksum nothing else comes out than what went in."""
    path, rng = tmp_path / name, np.random.default_rng(0)
    WRITERS[name](path)
    whole, expected = path.read_bytes(), contents(path)
    for _ in range(usually(100, thorough=300)):
        broken = bytearray(whole)
        for place in rng.integers(len(whole), size=rng.integers(1, 4)):
            broken[place] = rng.choice([0, 255, broken[place] ^ 1, rng.integers(256)])
        path.write_bytes(broken)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = contents(path)
            except DataError as error:
                assert name in str(error)
                continue
        if name in CHECKED:
            np.testing.assert_array_equal(found, expected)


def test_stored_chunks_with_changed_bytes(tmp_path):
    write_hdf5(tmp_path / "x.h5")
    with h5py.File(tmp_path / "x.h5") as file:
        chunks = [file["m"].id.get_chunk_info(i) for i in range(file["m"].id.get_num_chunks())]
    whole = (tmp_path / "x.h5").read_bytes()
    for i, chunk in enumerate(chunks):
        broken = bytearray(whole)
        broken[chunk.byte_offset + chunk.size // 2] ^= 1
        (tmp_path / f"{i}.h5").write_bytes(broken)
        with pytest.raises(DataError, match=rf"rows 0 to 60 of .*{i}\.h5 cannot be read"):
            contents(tmp_path / f"{i}.h5")


def test_archives_whose_headers_lie(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**13, 4)})
    with zipfile.ZipFile(tmp_path / "lie.npz", "w") as archive:
        archive.writestr("x.npy", header.getvalue())
    with pytest.raises(DataError, match="too short"):
        read(tmp_path / "lie.npz")


MARKET = "%%MatrixMarket matrix"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("coordinate real general\n5 5 100000000000\n1 1 1.0\n", "claims 100000000000 entries"),
        ("coordinate real general\n100000000000 5 1\n1 1 1.0\n", r"shape \(100000000000, 5\) would take 800.0 GB"),
        ("coordinate real general\n5 100000000000 1\n1 1 1.0\n", r"shape \(5, 100000000000\) would take 800.0 GB"),
        ("array real general\n1000000 1000000\n1.0\n", "claims 1000000000000 entries"),
        ("array real general\n4294967296 4294967296\n1.0\n", "claims 18446744073709551616 entries"),
        ("array real symmetric\n2 3\n1\n2\n3\n4\n5\n6\n", r"claims to be symmetric, but its shape is \(2, 3\)"),
    ],
)
def test_matrix_market_whose_header_lies(tmp_path, text, message):
    """Refused before anything is allocated; SciPy would write the last one beyond its memory."""
    (tmp_path / "l.mtx").write_text(f"{MARKET} {text}")
    (tmp_path / "l.mtx.gz").write_bytes(gzip.compress(f"{MARKET} {text}".encode()))
    for name in ("l.mtx", "l.mtx.gz"):
        with pytest.raises(DataError, match=f"{name}.* {message}"):
            read(tmp_path / name)


@pytest.mark.parametrize("values", [1.0 * X[:20], np.arange(140).reshape(20, 7)])
def test_matrix_market_of_dense_matrices(tmp_path, values):
    (tmp_path / "folder").mkdir()
    scipy.io.mmwrite(tmp_path / "folder" / "matrix.mtx", values, precision=17)
    np.testing.assert_array_equal(read(tmp_path / "folder" / "matrix.mtx").block(0, 20), values)
    (tmp_path / "folder" / "genes.tsv").write_text("".join(f"ENSG{i}\tGene {i}\n" for i in range(20)))
    rows = read(tmp_path / "folder")
    np.testing.assert_array_equal(rows.block(0, 7), values.T)
    assert rows.names[:2] == ("Gene 0", "Gene 1")
    product = values.T.astype(float) @ values
    symmetric = np.tril(product) + np.tril(product, -1).T  # BLAS may round the two halves differently
    scipy.io.mmwrite(tmp_path / "s.mtx", symmetric, symmetry="symmetric", precision=17)
    np.testing.assert_array_equal(read(tmp_path / "s.mtx").block(0, 7), symmetric)


GZIPPED = gzip.compress(b"G0\n" * 12)


@pytest.mark.parametrize("damage", [b"\xff\xfe", GZIPPED[:-4], GZIPPED[:15]], ids=["no text", "cut", "header only"])
def test_lists_of_genes_that_are_damaged(tmp_path, damage):
    scipy.io.mmwrite(tmp_path / "matrix.mtx", random_array((12, 8), density=0.3, rng=np.random.default_rng(0)))
    name = "features.tsv.gz" if damage[0] == 0x1F else "features.tsv"
    (tmp_path / name).write_bytes(damage)
    with pytest.raises(DataError, match=f"{name} is not a valid list of genes"):
        read(tmp_path)


@pytest.mark.parametrize("end", ["3E", "3", "3.", "-", ""])
def test_matrix_market_that_ends_inside_a_number(tmp_path, end):
    path = tmp_path / "t.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n1 2 {end}")
    with contextlib.suppress(DataError):
        assert read(path).shape == (2, 2)
    with gzip.open(tmp_path / "t.mtx.gz", "wt") as file:
        file.write(path.read_text())
    with contextlib.suppress(DataError):
        assert read(tmp_path / "t.mtx.gz").shape == (2, 2)


def test_labels_of_sparse_files_follow_the_rows_that_are_kept(tmp_path):
    X = random_array((10, 4), density=0.9, rng=np.random.default_rng(0)).tolil()
    X[3, 2] = np.nan
    sp.save_npz(tmp_path / "s.npz", X.tocsr())
    rows = read(tmp_path / "s.npz", label=0, missing="drop")
    np.testing.assert_array_equal(rows.labels, np.delete(X.toarray()[:, 0], 3))


def test_columns_are_known_by_name_or_position(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(12.0).reshape(4, 3))
    assert read(tmp_path / "x.npy", columns=1).shape == (4, 1)
    for wrong in ({"columns": [[0]]}, {"label": [0]}):
        with pytest.raises(TypeError, match="column"):
            read(tmp_path / "x.npy", **wrong)

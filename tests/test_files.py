"""Files give what their arrays give; damaged and hostile ones give errors."""

import contextlib
import gzip
import io
import json
import os
import pickle
import re
import warnings
import zipfile
from decimal import Decimal

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp
import zarr

import ritz
from ritz import PCA, ColumnWarning, DataError, memory, read
from ritz.rows import stored
from ritz.rows.base import dense

X = np.random.default_rng(0).standard_normal((300, 7)) * [7, 6, 5, 4, 3, 2, 1] + 3.0


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


def test_npy_is_mapped_not_read(tmp_path):
    import tracemalloc

    path = tmp_path / "x.npy"
    np.lib.format.open_memmap(path, "w+", np.float32, (400_000, 50))[:] = 1.0
    PCA(2).fit(X)
    tracemalloc.start()
    rows = read(path)
    rows.reduce(lambda run: sum(float(block[0, 0]) for block in run), float.__add__)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e6


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("compressed", [True, False])
def test_npz_with_a_sparse_matrix(tmp_path, kind, compressed):
    S = sp.random_array((200, 30), density=0.2, format=kind, rng=np.random.default_rng(1))
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
    with pytest.raises(DataError, match=r"cut short|no whole"):
        read(saved)
    np.savez(tmp_path / "x.npz", X)
    whole = (tmp_path / "x.npz").read_bytes()
    (tmp_path / "x.npz").write_bytes(whole[:cut])
    with pytest.raises(DataError, match="no whole"):
        read(tmp_path / "x.npz")


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("the pickle was opened",))


def test_pickles_are_never_opened(tmp_path):
    np.save(tmp_path / "p.npy", np.array([[Trap(), 1]], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="Python objects"):
        read(tmp_path / "p.npy")
    np.savez(tmp_path / "p.npz", np.array([[Trap(), 1]], dtype=object))
    with pytest.raises(DataError, match="plain numbers"):
        read(tmp_path / "p.npz")
    with zipfile.ZipFile(tmp_path / "q.npz", "w") as archive:
        archive.writestr("data.pkl", b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(DataError, match=r"'data.pkl' in .* is no whole .npy file"):
        read(tmp_path / "q.npz")


def test_archives_that_unpack_to_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "physical", lambda: 500_000)
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
    with pytest.raises(DataError, match=r"z\.mtx is no text"):
        read(tmp_path / "z.mtx")


def test_sparse_archives_that_are_damaged(tmp_path):
    S = sp.random_array((20, 10), density=0.3, format="csr", rng=np.random.default_rng(0))
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


@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 4), (0, 4), (4, 0)])
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
        with pytest.raises(DataError, match=rf"no (\.parquet or \.pq file|Zarr array).*{name}|{name} is no Zarr"):
            read(tmp_path / name)
    os.mkfifo(tmp_path / "pipe.npy")
    with pytest.raises(DataError, match="neither a file nor a folder"):
        read(tmp_path / "pipe.npy")


NAMES = list("abcdefg")


def table(data=X, **more):
    return pa.table({name: data[:, j] for j, name in enumerate(NAMES)} | more)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("group", [1, 7, 100, 1000])
def test_parquet_equals_its_table(tmp_path, group):
    path = tmp_path / "x.parquet"
    pq.write_table(table(), path, row_group_size=group)
    expected = PCA(3).fit(X)
    rows = read(path)
    assert rows.names == tuple(NAMES)
    np.testing.assert_array_equal(rows.block(5, 250), X[5:250])
    np.testing.assert_array_equal(rows.take(np.array([299, 0, 120])), X[[299, 0, 120]])
    np.testing.assert_array_equal(rows.map(lambda block: block * 2), X * 2)
    for solver in ("auto", "covariance", "gram", "svd", "krylov"):
        found = PCA(3, svd_solver=solver).fit(path)
        np.testing.assert_allclose(found.components_, expected.components_, atol=1e-5 if solver == "krylov" else 1e-11)
        np.testing.assert_allclose(found.transform(path), found.transform(X), atol=1e-12)
        np.testing.assert_allclose(found.reconstruction_error(path), found.reconstruction_error(X), atol=1e-12)
    assert list(found.feature_names_in_) == NAMES
    part = read(path, columns=["f", "b"])
    np.testing.assert_allclose(PCA(2).fit(part).components_, PCA(2).fit(X[:, [5, 1]]).components_, atol=1e-11)
    with pytest.raises(DataError, match="not those the model"):
        found.transform(read(path, columns=NAMES[::-1]))


def test_parquet_of_vectors_and_folders(tmp_path):
    narrow = X.astype(np.float32)
    for kind in (pa.list_(pa.float32()), pa.list_(pa.float32(), 7), pa.large_list(pa.float32())):
        vectors = pa.array(list(narrow), kind)
        pq.write_table(pa.table({"id": np.arange(300), "v": vectors}), tmp_path / "v.parquet", row_group_size=64)
        with pytest.warns(ColumnWarning, match="columns left out: 'id' .beside vectors."):
            rows = read(tmp_path / "v.parquet")
        assert rows.dtype == np.float32
        assert rows.names[:2] == ("v_0", "v_1")
        np.testing.assert_array_equal(rows.block(0, 300), narrow)
    folder = tmp_path / "parts"
    folder.mkdir()
    with pytest.raises(DataError, match=r"no \.parquet or \.pq file"):
        read(folder)
    for i, part in enumerate(np.split(X, [100, 130])):
        pq.write_table(table(part), folder / f"{i}.parquet")
    np.testing.assert_allclose(PCA(3).fit(folder).components_, PCA(3).fit(X).components_, atol=1e-11)
    pq.write_table(table().drop_columns("a"), folder / "9.parquet")
    with pytest.raises(DataError, match="are not those of"):
        read(folder)


def test_parquet_types_gaps_and_text(tmp_path):
    path = tmp_path / "x.parquet"
    word = pa.array(["yes", "no", None] * 100)
    gaps = pa.array([None if i in (5, 99) else i for i in range(300)], pa.int32())
    pq.write_table(table(word=word, gaps=gaps, flag=np.arange(300) % 3 == 0), path, row_group_size=90)
    with pytest.warns(ColumnWarning, match="columns left out: 'word' .string.; only numbers"):
        rows = read(path)
    assert rows.names == (*NAMES, "gaps", "flag")
    with pytest.raises(DataError, match="2 NaN, first at row 5, column 'gaps'"):
        PCA(2).fit(rows)
    with pytest.warns(ColumnWarning):
        kept = read(path, missing="drop")
    full = np.column_stack([X, np.arange(300.0), np.arange(300) % 3 == 0])
    whole = np.delete(full, [5, 99], 0)
    assert kept.shape == (298, 9)
    np.testing.assert_array_equal(kept.map(lambda block: block), whole)
    np.testing.assert_allclose(PCA(2).fit(kept).components_, PCA(2).fit(whole).components_, atol=1e-11)
    V = np.ones((298, 2))
    sums = kept.reduce(lambda pairs: sum(b.T @ v for b, v in pairs), np.add, beside=V)
    np.testing.assert_allclose(sums, whole.T @ V, rtol=1e-12)
    with pytest.warns(ColumnWarning):
        meant = read(path, missing="mean", label="flag")
    full[[5, 99], 7] = np.delete(np.arange(300.0), [5, 99]).mean()
    np.testing.assert_allclose(PCA(2).fit(meant).components_, PCA(2).fit(full[:, :8]).components_, atol=1e-11)
    pq.write_table(pa.table({"word": word}), path)
    with pytest.raises(DataError, match="no column holds numbers"):
        read(path)


def test_parquet_of_large_integers(tmp_path):
    B = 2**60 + np.round(np.random.default_rng(0).standard_normal((300, 5)) * [500, 400, 300, 200, 100]).astype("i8")
    path = tmp_path / "b.parquet"
    pq.write_table(pa.table({f"c{i}": B[:, i] for i in range(5)}), path)
    np.testing.assert_array_equal(PCA(2).fit(path).explained_variance_, PCA(2).fit(B).explained_variance_)


def test_parquet_of_integers_that_are_missing(tmp_path):
    values = np.arange(600).reshape(200, 3) % 97
    columns = {name: values[:, j].tolist() for j, name in enumerate("abc")}
    for name, row in (("b", 120), ("a", 130), ("c", 199)):
        columns[name][row] = None
    path = tmp_path / "i.parquet"
    pq.write_table(
        pa.table({name: pa.array(part, pa.int32()) for name, part in columns.items()}), path, row_group_size=50
    )
    with pytest.raises(DataError, match="missing values, 2 here and maybe more, first at row 120, column 'b'"):
        PCA(2).fit(path)
    kept = read(path, missing="drop")
    np.testing.assert_array_equal(kept.map(lambda block: block), np.delete(values, [120, 130, 199], 0))
    filled = values.astype(float)
    for j, row in ((1, 120), (0, 130), (2, 199)):
        filled[row, j] = np.delete(values[:, j], row).mean()
    np.testing.assert_allclose(read(path, missing="mean").map(lambda block: block), filled, rtol=1e-15)
    np.testing.assert_array_equal(read(path).block(0, 100), values[:100])


def test_parquet_columns_called_like_the_fields_of_a_struct(tmp_path):
    """pyarrow takes "a.b" for both."""
    large = 2**60 + np.arange(30)
    struct = pa.array([None if i == 3 else {"b": float(i), "c": "x"} for i in range(30)])
    columns = {"a": struct, "a.b": large, "list": pa.array([[{"x": 1}]] * 30), "a.c": large + 7}
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=10)
    with pytest.warns(ColumnWarning, match=r"columns left out: 'a' \(struct.*, 'list'"):
        rows = read(path)
    assert rows.names == ("a.b", "a.c")
    assert rows.dtype == np.int64
    np.testing.assert_array_equal(rows.block(0, 30), np.column_stack([large, large + 7]))
    vectors = pa.array([[float(i), 1.0] for i in range(30)])
    pq.write_table(pa.table({"v.x": vectors, "v": struct}), path)
    with pytest.warns(ColumnWarning, match="columns left out: 'v'"):
        np.testing.assert_array_equal(read(path).block(0, 30), [[i, 1.0] for i in range(30)])


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float64(), 3), pa.large_list(pa.int16())])
def test_parquet_vectors_that_are_missing(tmp_path, kind):
    full = np.round(10 * X[:, :3]).astype(kind.value_type.to_pandas_dtype())
    vectors = [list(row) for row in full.tolist()]
    for i in (*range(100), 150, 299):
        vectors[i] = None
    vectors[200][1] = None
    path = tmp_path / "v.parquet"
    pq.write_table(pa.table({"v": pa.array(vectors, kind)}), path, row_group_size=40)
    expected = full.astype(np.float32 if kind.value_type == pa.float32() else np.float64)
    expected[[*range(100), 150, 299]], expected[200, 1] = np.nan, np.nan
    rows = read(path)
    assert rows.dtype == expected.dtype
    np.testing.assert_array_equal(rows.block(0, 300), expected)
    with pytest.raises(DataError, match="307 NaN, first at row 0, column 'v_0'"):
        PCA(2).fit(path)
    whole = np.delete(expected, [*range(100), 150, 200, 299], 0)
    np.testing.assert_array_equal(read(path, missing="drop").map(lambda block: block), whole)
    filled = np.where(np.isnan(expected), np.nanmean(expected, axis=0, dtype=float), expected)
    np.testing.assert_allclose(read(path, missing="mean").map(lambda block: block), filled, rtol=1e-6)


def test_parquet_without_any_vector_or_row(tmp_path):
    path = tmp_path / "v.parquet"
    pq.write_table(pa.table({"v": pa.array([None] * 5, pa.list_(pa.float64()))}), path)
    with pytest.raises(DataError, match="column 'v' has no vector in any of its 5 rows"):
        read(path)
    for column in (pa.array([], pa.list_(pa.float64())), pa.array([], pa.float64())):
        pq.write_table(pa.table({"v": column}), path)
        with pytest.raises(DataError, match=r"v\.parquet: Found array with 0 sample"):
            read(path)


def test_parquet_of_decimals_and_booleans(tmp_path):
    words = ["0.10", "3.30", "-17.05", None, "123456789012345678901234.99"]
    money = [None if word is None else Decimal(word) for word in words]
    truth = [np.nan if word is None else float(word) for word in words]
    path = tmp_path / "d.parquet"
    columns = {"a": pa.array(money, pa.decimal128(38, 2)), "b": pa.array(money, pa.decimal256(60, 9))}
    flags = pa.array([True, None, False, True, True])
    pq.write_table(pa.table(columns | {"flag": flags}), path)
    expected = np.column_stack([truth, truth, [1, np.nan, 0, 1, 1]])
    np.testing.assert_array_equal(read(path).block(0, 5), expected)
    np.testing.assert_array_equal(read(path, missing="drop").block(0, 3), expected[[0, 2, 4]])
    pq.write_table(pa.table({"v": pa.array([[m, m] for m in money], pa.list_(pa.decimal128(38, 2)))}), path)
    np.testing.assert_array_equal(read(path).block(0, 5), expected[:, :2])


def test_parquet_folders_as_pipelines_leave_them(tmp_path):
    folder = tmp_path / "out.parquet"
    (folder / "year=2024").mkdir(parents=True)
    (folder / "_temporary").mkdir()
    pq.write_table(table(X[:100]), folder / "a.pq")
    pq.write_table(table(X[100:]), folder / "year=2024" / "b.PARQUET")
    for name in ("_SUCCESS", "_metadata", ".a.pq.crc", "_temporary/c.parquet", ".d.parquet", "_e.parquet", "notes.txt"):
        (folder / name).write_bytes(b"nonsense")
    np.testing.assert_array_equal(read(folder).block(0, 300), X)
    (folder / "bad.parquet").write_bytes((folder / "a.pq").read_bytes()[:-300])
    with pytest.raises(DataError, match=r"out\.parquet/bad\.parquet is no whole Parquet file"):
        read(folder)


def test_parquet_whose_footer_contradicts_itself(tmp_path):
    """Statistics, lengths of row groups and names, none of which has a checksum, with one byte changed."""
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({name: np.arange(60) for name in "abc"}), path, write_page_checksum=True)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    for place in rng.integers(len(whole) - 1200, len(whole), 300):
        broken = bytearray(whole)
        broken[place] ^= 1 << rng.integers(8)
        path.write_bytes(broken)
        with contextlib.suppress(DataError):
            rows = read(path)
            np.testing.assert_array_equal(rows.block(0, rows.shape[0]), np.repeat(np.arange(60), 3).reshape(60, 3))


def test_parquet_that_is_damaged(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(table(), path, write_page_checksum=True)
    whole = path.read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(DataError, match="no whole Parquet file"):
            read(path)
    middle = bytearray(whole)
    middle[200:2000] = bytes(1800)
    path.write_bytes(middle)
    with pytest.raises(DataError, match=r"row group 0 of .* is damaged"):
        PCA(2).fit(path)
    vectors = pa.array([[1.0, 2.0], [3.0, 4.0, 5.0]] * 5)
    pq.write_table(pa.table({"v": vectors}), path)
    with pytest.raises(DataError, match="in row 1 of column 'v' has 3 numbers, the first one has 2"):
        PCA(1).fit(path)
    pq.write_table(pa.table({"v": pa.array([[1.0, 2.0], None] * 5)}), path)
    with pytest.raises(DataError, match="10 NaN, first at row 1, column 'v_0'"):
        PCA(1).fit(path)
    assert read(path, transpose=True).shape == (2, 10)


@pytest.fixture
def h5(tmp_path):
    return tmp_path / "x.h5"


@pytest.mark.parametrize("chunks", [None, (13, 7), (300, 2), (1, 7)])
@pytest.mark.parametrize("library", ["hdf5", "zarr"])
def test_stored_arrays_equal_their_arrays(tmp_path, library, chunks, monkeypatch):
    monkeypatch.setattr(stored, "PART_BYTES", 40 * 56)
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
    S = sp.random_array((80, 12), density=0.3, format="csr", rng=np.random.default_rng(0))
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


def write_h5ad(path, matrix, index=None, **changes):
    """An h5ad file; parts of a sparse matrix are replaced by `changes`, or left out where those are None."""
    with h5py.File(path, "w") as file:
        if sp.issparse(matrix):
            group = file.create_group("X")
            group.attrs["encoding-type"] = changes.pop("format", f"{matrix.format}_matrix")
            group.attrs["shape"] = changes.pop("shape", matrix.shape)
            parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")} | changes
            for name, part in parts.items():
                if part is not None:
                    group[name] = part
        elif matrix is not None:
            file["X"] = matrix
        file.create_group("obs")
        var = file.create_group("var")
        var.attrs["_index"] = "gene"
        if isinstance(index, dict):
            for name, part in index.items():
                var[f"gene/{name}"] = part
        elif index is not None:
            var["gene"] = index
    return path


WORDS = [b"G0", b"G1", b"G2", b"G3", b"G4", b"G5", b"G6"]


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
    with pytest.raises(DataError, match="is a group, but no sparse matrix"):
        read(path)


SPARSE = sp.random_array((30, 7), density=0.4, format="csr", rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": (10**12, 7)}, "and 1000000000001 index pointers"),
        ({"shape": (30, 10**12)}, "names 7 variables, but X has 1000000000000 columns"),
        ({"shape": (-30, 7)}, "and -29 index pointers"),
        ({"shape": (30,)}, "no sparse matrix with its format and its shape"),
        ({"shape": np.array([30.0, np.nan])}, "no sparse matrix with its format and its shape"),
        ({"format": "coo"}, "no sparse matrix with its format and its shape"),
        ({"format": "csc_matrix"}, "and 8 index pointers"),
        ({"data": None}, r"found the shapes None, \(84,\)"),
        ({"indptr": SPARSE.indptr[:-2]}, r"\(29,\)"),
        ({"indptr": SPARSE.indptr[::-1].copy()}, "damaged"),
        ({"indices": SPARSE.indices + 99}, "stands in column"),
        ({"indices": SPARSE.indices * 1.0}, "places must be integers"),
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
    monkeypatch.setattr(memory, "physical", lambda: 17_920)
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
        with pytest.raises(DataError, match="no whole HDF5 file"):
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
    with pytest.raises(DataError, match="no Zarr array or group"):
        read(tmp_path / "x.zarr")
    zarr.create_array(str(tmp_path / "y.zarr"), data=X, chunks=(100, 7))
    chunk = next(path for path in (tmp_path / "y.zarr").rglob("*") if path.is_file() and "json" not in path.name)
    chunk.write_bytes(b"nonsense")
    with pytest.raises(DataError, match="cannot be read"):
        PCA(2).fit(tmp_path / "y.zarr")


def test_matrix_market_and_10x_folders(tmp_path):
    S = sp.random_array((12, 80), density=0.3, format="coo", rng=np.random.default_rng(0))
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
        with pytest.raises(DataError, match="no whole Matrix Market file"):
            read(tmp_path / "x.mtx")


def write_hdf5(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("m", data=X[:60], chunks=(13, 7), compression="gzip", fletcher32=True)


def write_market(path, matrix):
    text = io.BytesIO()
    scipy.io.mmwrite(text, matrix)
    path.write_bytes(gzip.compress(text.getvalue()) if path.suffix == ".gz" else text.getvalue())


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
    for _ in range(300):
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
    symmetric = values.T.astype(float) @ values
    scipy.io.mmwrite(tmp_path / "s.mtx", symmetric, symmetry="symmetric", precision=17)
    np.testing.assert_array_equal(read(tmp_path / "s.mtx").block(0, 7), symmetric)


GZIPPED = gzip.compress(b"G0\n" * 12)


@pytest.mark.parametrize("damage", [b"\xff\xfe", GZIPPED[:-4], GZIPPED[:15]], ids=["no text", "cut", "header only"])
def test_lists_of_genes_that_are_damaged(tmp_path, damage):
    scipy.io.mmwrite(tmp_path / "matrix.mtx", sp.random_array((12, 8), density=0.3, rng=np.random.default_rng(0)))
    name = "features.tsv.gz" if damage[0] == 0x1F else "features.tsv"
    (tmp_path / name).write_bytes(damage)
    with pytest.raises(DataError, match=f"{name} is no whole list of genes"):
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


def test_labels_of_parquet_are_what_the_file_holds(tmp_path):
    ids = [2**53 + 1, 2**53 + 3, 7]
    columns = {"id": ids, "flag": [True, False, True], "x": [0.5, 1.5, 2.5], "y": [1, None, 3], "w": ["a", "b", None]}
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table(columns), path)
    assert read(path, columns=["x"], label="id").labels.tolist() == ids
    assert read(path, columns=["x"], label="flag").labels.tolist() == [True, False, True]
    assert read(path, columns=["x", "y"], label="w", missing="drop").labels.tolist() == ["a", None]
    assert PCA(1).fit(read(path, columns=["x", "id"])).n_samples_ == 3  # the gap in y is nobody's concern


def test_labels_of_sparse_files_follow_the_rows_that_are_kept(tmp_path):
    X = sp.random_array((10, 4), density=0.9, rng=np.random.default_rng(0)).tolil()
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

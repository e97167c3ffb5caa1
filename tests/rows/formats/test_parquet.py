"""Parquet: columns, vectors and folders give what their tables hold; damaged ones give errors."""

import contextlib
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.files import NAMES, X, table
from ritz import PCA, ColumnWarning, DataError, read
from ritz.rows.formats import parquet
from ritz.runtime.threads import ordered, team


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


@pytest.mark.parametrize("most_bytes", [1 << 24, 2000, 64])  # whole row groups, few columns at a time; batches of rows
def test_parquet_in_whole_row_groups_and_in_batches(tmp_path, monkeypatch, most_bytes):
    """Every kind of column, whatever is unpacked at once."""
    path, rng = tmp_path / "x.parquet", np.random.default_rng(0)
    wide = {f"w{j}": rng.standard_normal(500) for j in range(20)}
    flag, count = rng.random(500) > 0.5, rng.integers(0, 9, 500)
    gaps = np.where(rng.random(500) > 0.9, np.nan, rng.standard_normal(500)).astype(np.float32)
    price = [Decimal(int(i)) / 4 for i in count]
    columns = {**wide, "flag": flag, "count": count, "gaps": pa.array(gaps, from_pandas=True), "price": price}
    pq.write_table(pa.table(columns), path, row_group_size=128)
    monkeypatch.setattr(parquet, "CACHED", 3000)
    expected = np.column_stack([*wide.values(), flag, count, gaps, count / 4])
    rows = read(path).limited(most_bytes)
    np.testing.assert_array_equal(rows.block(0, 500), expected)
    np.testing.assert_array_equal(rows.take(np.array([499, 128, 127])), expected[[499, 128, 127]])
    blocks = rows.reduce(lambda blocks: [block.copy() for block in blocks], lambda a, b: a + b)
    np.testing.assert_array_equal(np.concatenate(blocks), expected)


def test_two_readers_of_a_thread_take_turns(tmp_path):
    """The memory that one of them unpacks into is not the other's."""
    pq.write_table(table(), tmp_path / "x.parquet", row_group_size=100)
    pq.write_table(table(-X), tmp_path / "y.parquet", row_group_size=100)
    first, second = read(tmp_path / "x.parquet"), read(tmp_path / "y.parquet")

    def both(_):
        return [(a.copy(), b.copy()) for a, b in zip(first.stream(0, 9), second.stream(0, 9), strict=True)]

    with team():
        for pairs in ordered(both, range(3), 2):
            assert all(np.array_equal(a, -b) for a, b in pairs)
            np.testing.assert_array_equal(np.concatenate([a for a, _ in pairs]), X[:100])


def test_parquet_of_vectors_and_folders(tmp_path):
    narrow = X.astype(np.float32)
    for kind in (pa.list_(pa.float32()), pa.list_(pa.float32(), 7), pa.large_list(pa.float32())):
        vectors = pa.array(list(narrow), kind)
        pq.write_table(pa.table({"id": np.arange(300), "v": vectors}), tmp_path / "v.parquet", row_group_size=64)
        with pytest.warns(ColumnWarning, match="columns left out: 'id' .next to vectors."):
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
    with pytest.raises(DataError, match="differ from those of"):
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
    B = np.round(np.random.default_rng(0).standard_normal((300, 5)) * [500, 400, 300, 200, 100]).astype("i8")
    B = 2**60 + 256 * B  # which float64 holds
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
    words = ["0.10", "3.30", "-17.05", None, "123456789012345.99"]
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
    with pytest.raises(DataError, match=r"out\.parquet/bad\.parquet is not a valid Parquet file"):
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
        with pytest.raises(DataError, match="not a valid Parquet file"):
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


def test_labels_of_parquet_are_what_the_file_holds(tmp_path):
    ids = [2**53 + 1, 2**53 + 3, 7]
    columns = {"id": ids, "flag": [True, False, True], "x": [0.5, 1.5, 2.5], "y": [1, None, 3], "w": ["a", "b", None]}
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table(columns), path)
    assert read(path, columns=["x"], label="id").labels.tolist() == ids
    assert read(path, columns=["x"], label="flag").labels.tolist() == [True, False, True]
    assert read(path, columns=["x", "y"], label="w", missing="drop").labels.tolist() == ["a", None]
    assert PCA(1).fit(read(path, columns=["x", "flag"])).n_samples_ == 3  # the gap in y is nobody's concern


def test_an_error_names_the_file_though_a_column_has_its_name(tmp_path):
    pq.write_table(pa.table({"x.parquet": ["a", "b"]}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match=r"x\.parquet: no column holds numbers") as found:
        read(tmp_path / "x.parquet")
    assert found.value.file == str(tmp_path / "x.parquet")

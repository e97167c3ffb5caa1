"""Arrow files and streams: columns and vectors give what their tables hold; damaged ones give errors."""

import contextlib
import struct

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pytest
from pyarrow import ipc

from helpers.counts import usually
from helpers.files import NAMES, X, table
from helpers.memory import traced
from ritz import PCA, ColumnWarning, DataError, read
from ritz.rows.formats import arrow
from ritz.rows.formats.read import opened

KINDS = [(new, packed) for new in (ipc.new_file, ipc.new_stream) for packed in (None, "lz4", "zstd")]
kinds = pytest.mark.parametrize(("new", "packed"), KINDS)


def write(path, data, new=ipc.new_file, packed=None, batch=64):
    with new(str(path), data.schema, options=ipc.IpcWriteOptions(compression=packed)) as writer:
        writer.write_table(data, max_chunksize=batch)
    return path


def values(rows):
    return rows.map(lambda block: block.copy())


@kinds
@pytest.mark.parametrize("batch", [1, 64, 1000])
@pytest.mark.parametrize("size", [500, 1 << 22])
def test_arrow_equals_its_table(tmp_path, monkeypatch, new, packed, batch, size):
    """Also where a batch is cut into slices, as those are that could not be read by all cores otherwise."""
    monkeypatch.setattr(arrow, "SLICE_BYTES", size)
    rows = read(write(tmp_path / "x.arrow", table(), new, packed, batch))
    assert (rows.names, rows.dtype) == (tuple(NAMES), np.float64)
    assert (len(rows.edges) - 1 > -(-300 // batch)) == (size == 500 and batch > 1 and packed is None)
    np.testing.assert_array_equal(rows.block(5, 250), X[5:250])
    np.testing.assert_array_equal(rows.take(np.array([299, 0, 120])), X[[299, 0, 120]])
    np.testing.assert_array_equal(rows.map(lambda block: block * 2), X * 2)
    np.testing.assert_allclose(PCA(3).fit(rows).components_, PCA(3).fit(X).components_, atol=1e-11)


@pytest.mark.parametrize("name", ["x.arrow", "x.feather", "x.ipc"])
def test_arrow_as_others_write_it(tmp_path, name):
    path = tmp_path / name
    word = ["yes", "no", None] * 100
    frame = pl.DataFrame(dict(zip(NAMES, X.T, strict=True)) | {"word": word})
    for make in (
        lambda: feather.write_feather(table(word=word), str(path)),
        lambda: frame.write_ipc(path),
        lambda: frame.write_ipc(path, compression="zstd", record_batch_size=70),
        lambda: frame.write_ipc_stream(path),
        lambda: frame.with_columns(pl.col("word").cast(pl.Categorical)).write_ipc(path),
    ):
        make()
        with pytest.warns(ColumnWarning, match=r"columns left out: 'word' \(string\)"):
            np.testing.assert_array_equal(values(read(path)), X)
        assert read(path, label="word").labels.tolist() == word


@kinds
@pytest.mark.parametrize("size", [500, 1 << 22])
@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float64(), 3), pa.large_list(pa.int16())])
def test_arrow_of_vectors_that_may_be_missing(tmp_path, monkeypatch, new, packed, size, kind):
    monkeypatch.setattr(arrow, "SLICE_BYTES", size)
    full = np.round(10 * X[:, :3]).astype(kind.value_type.to_pandas_dtype())
    vectors = [list(row) for row in full.tolist()]
    for i in (*range(100), 150, 299):
        vectors[i] = None
    vectors[200][1] = None
    data = pa.table({"id": np.arange(300) % 7, "v": pa.array(vectors, kind)})
    expected = full.astype(np.float32 if kind.value_type == pa.float32() else np.float64)
    expected[[*range(100), 150, 299]], expected[200, 1] = np.nan, np.nan
    path = write(tmp_path / "v.arrow", data, new, packed, 110)
    with pytest.warns(ColumnWarning, match="columns left out: 'id' .next to vectors."):
        rows = read(path)
    assert (rows.dtype, rows.names) == (expected.dtype, ("v_0", "v_1", "v_2"))
    np.testing.assert_array_equal(rows.block(0, 300), expected)
    np.testing.assert_array_equal(rows.cells(["id", "v_1"])["v_1"], expected[:, 1])
    whole = np.delete(expected, [*range(100), 150, 200, 299], 0)
    kept = read(path, missing="drop", label="id")
    np.testing.assert_array_equal(values(kept), whole)
    assert kept.labels.tolist() == np.delete(np.arange(300) % 7, [*range(100), 150, 200, 299]).tolist()


@kinds
def test_arrow_types_gaps_and_text(tmp_path, new, packed):
    word = pa.array(["yes", "no", None] * 100).dictionary_encode()
    nested = pa.array([["a"], ["b", "a"]] * 150, pa.list_(pa.dictionary(pa.int8(), pa.string())))
    gaps = pa.array([None if i in (5, 99) else i for i in range(300)], pa.int32())
    data = table(word=word, nested=nested, gaps=gaps, flag=np.arange(300) % 3 == 0)
    path = write(tmp_path / "x.arrow", data, new, packed, 90)
    with pytest.warns(ColumnWarning, match="columns left out: 'word' .string., 'nested'"):
        rows = read(path)
    assert rows.names == (*NAMES, "gaps", "flag")
    with pytest.raises(DataError, match="2 NaN, first at row 5, column 'gaps'"):
        PCA(2).fit(rows)
    full = np.column_stack([X, np.arange(300.0), np.arange(300) % 3 == 0])
    np.testing.assert_array_equal(
        values(read(path, columns=[*NAMES, "gaps", "flag"], missing="drop")), np.delete(full, [5, 99], 0)
    )
    assert read(path, columns=["gaps"]).dtype == np.int32
    with pytest.raises(DataError, match="missing values, 1 here and maybe more, first at row 5, column 'gaps'"):
        PCA(1).fit(read(path, columns=["gaps"]))
    found = rows.cells(["word", "flag", "gaps"])
    assert found["word"].tolist() == word.to_pylist()
    np.testing.assert_array_equal(found["gaps"], [np.nan if i in (5, 99) else i for i in range(300)])
    with pytest.raises(DataError, match="no column holds numbers"):
        read(write(path, pa.table({"word": word}), new, packed))
    with pytest.raises(DataError, match=r"x\.arrow: Found array with 0 sample"):
        read(write(path, pa.table({"a": pa.array([], pa.float64())}), new, packed))


@kinds
def test_arrow_that_is_cut_anywhere(tmp_path, new, packed):
    data = pa.table({"a": X[:20, 0], "w": pa.array(["x", "y"] * 10).dictionary_encode()})
    whole = write(tmp_path / "x.arrow", data, new, packed, 7).read_bytes()
    for size in range(0, len(whole), usually(3, thorough=1)):
        (tmp_path / "x.arrow").write_bytes(whole[:size])
        with pytest.raises(DataError, match=r"x\.arrow"):
            opened(tmp_path / "x.arrow")
    (tmp_path / "x.arrow").write_bytes(2 * whole)
    if new is ipc.new_stream:
        with pytest.raises(DataError, match=r"goes on for .* bytes after the end"):
            opened(tmp_path / "x.arrow")


@kinds
@pytest.mark.parametrize("kind", [pa.float64(), pa.list_(pa.float64()), pa.list_(pa.float64(), 2), pa.int8()])
def test_arrow_with_changed_bytes(tmp_path, new, packed, kind):
    """Nothing protects what it says but its form; whatever it says then, the process lives and the error is ours."""
    cells = [[i, 2 * i] for i in range(40)] if pa.types.is_nested(kind) else list(range(40))
    data = pa.table({"a": pa.array(cells, kind), "w": ["x", None] * 20})
    path, rng = tmp_path / "x.arrow", np.random.default_rng(0)
    whole = write(path, data, new, packed, 15).read_bytes()
    for _ in range(usually(40, thorough=100)):
        broken = bytearray(whole)
        for place in rng.integers(len(whole), size=rng.integers(1, 4)):
            broken[place] = rng.choice([0, 255, broken[place] ^ 1, rng.integers(256)])
        path.write_bytes(broken)
        with contextlib.suppress(DataError):
            rows = opened(path)
            rows.block(0, rows.shape[0])
            rows.cells(rows.left_out)


def test_arrow_that_claims_more_rows_than_it_has(tmp_path):
    path = write(tmp_path / "x.arrow", pa.table({"a": np.arange(77.0)}), ipc.new_stream, None, 1000)
    whole = path.read_bytes()
    assert whole.count(struct.pack("<q", 77)) == 2  # of the batch, and of its column
    path.write_bytes(whole.replace(struct.pack("<q", 77), struct.pack("<q", 10**15)))
    with pytest.raises(DataError, match=r"record batch 0 of .* claims 1000000000000000 rows in 616 bytes"):
        opened(path)


def test_what_is_no_arrow(tmp_path):
    path = tmp_path / "x.feather"
    for text, message in ((b"a,b\n1,2\n", "begins with b'a,b"), (b"", "begins with b''"), (b"FEA1....", "version 1")):
        path.write_bytes(text)
        with pytest.raises(DataError, match=rf"x\.feather is .*{message}"):
            opened(path)


def test_arrow_is_walked_not_held(tmp_path):
    data = pa.table({f"c{j}": np.zeros(400_000) + j for j in range(10)})
    path = write(tmp_path / "x.arrow", data, batch=1 << 20)
    before, rows = pa.total_allocated_bytes(), opened(path)
    with traced() as taken:
        total = rows.reduce(lambda run: sum(block.sum(axis=0) for block in run), np.add)
    assert pa.total_allocated_bytes() - before < 1e6
    assert taken.peak < 16e6
    np.testing.assert_allclose(total, 400_000 * np.arange(10.0))
    assert len(rows.edges) > 5


def test_arrow_of_wide_batches_is_read_by_columns(tmp_path):
    """Of a large batch only those bytes are read that hold the columns and the rows of a part."""
    data = pa.table({"a": np.arange(2_000_000.0), "v": pa.array([[1, 2]] * 2_000_000, pa.list_(pa.int8(), 2))})
    with ipc.new_file(str(tmp_path / "x.arrow"), data.schema) as writer:
        writer.write_table(data)
    rows = opened(tmp_path / "x.arrow")
    assert len(rows.edges) > 3
    np.testing.assert_array_equal(rows.block(1_999_990, 2_000_000), [[1, 2]] * 10)

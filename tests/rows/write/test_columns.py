"""Results with labels beside them: what was written is what is read, in files and in streams, and runs nowhere."""

import csv
import datetime
import io
import os
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

from ritz import DataError, read
from ritz.rows.formats.read import opened
from ritz.rows.formats.signatures import spooled
from ritz.rows.write.columns import as_column
from ritz.rows.write.tables import STREAMS, Results, deliver, pour

N = 1000
Y = np.random.default_rng(0).standard_normal((N, 3)) * 10.0 ** np.arange(-150, 150, 100)
WORDS = ["plain", "größe 日本", 'with "quotes"', "a, b; c\td", "two\nlines", "it's"]
HOSTILE = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "  =1",
    "\u00a0=1",
    "＝1",
    "－x",
    "\u200b=1",
]
HARMLESS = ["-5", "+3.2e4", "-.5E-7", "a=b", "1+1", "5 - 3", "", "x@y.org"]
LABELS = {
    "id": np.arange(N) + 2**53,
    "who": np.array([WORDS[i % 6] if i % 7 else None for i in range(N)], object),
    "born": np.datetime64("1950-03-01") + np.arange(N) * np.timedelta64(1, "D"),
    "size": np.where(np.arange(N) % 5 == 0, np.nan, np.arange(N) / 8),
    "flag": np.arange(N) % 2 == 0,
}
TABULAR = (".parquet", ".arrow", ".feather", ".csv", ".tsv")


def results(beside, Y=Y, cuts=(0, 10, 400), names=("pca0", "pca1", "pca2")):
    blocks = (block for block in np.split(Y, cuts))
    return Results(blocks, len(Y), names, Y.dtype, beside)


def cells_of(data, separator=","):
    """All cells as the csv module finds them."""
    return list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter=separator))


@pytest.mark.parametrize("ending", TABULAR)
def test_labels_and_numbers_come_back(tmp_path, ending):
    path = tmp_path / f"scores{ending}"
    deliver(results(LABELS), path)
    rows = read(path, columns=["pca0", "pca1", "pca2"])
    assert rows.keys == (*LABELS, "pca0", "pca1", "pca2")
    np.testing.assert_array_equal(rows.map(lambda block: block.copy()), Y)
    found = rows.cells(LABELS)
    missing = "" if ending in (".csv", ".tsv") else None
    assert found["who"].tolist() == [missing if word is None else word for word in LABELS["who"]]
    assert list(map(str, found["born"])) == list(map(str, LABELS["born"]))
    np.testing.assert_array_equal(found["size"], LABELS["size"])
    assert [str(flag).lower() for flag in found["flag"]] == [str(flag).lower() for flag in LABELS["flag"]]
    np.testing.assert_array_equal(found["id"].astype(np.float64), LABELS["id"].astype(np.float64))


@pytest.mark.parametrize("ending", TABULAR)
def test_nothing_beside_and_nothing_at_all(tmp_path, ending):
    path = tmp_path / f"y{ending}"
    deliver(results({}), path)
    assert read(path).names == ("pca0", "pca1", "pca2")
    deliver(results({"w": np.array([], object)}, Y[:0], ()), path)
    with pytest.raises(DataError, match=r"0 sample|no rows"):
        read(path)
    deliver(Results((part for part in ()), 0, ("a",), np.dtype(float)), path)
    assert path.stat().st_size > 0
    deliver(Results((part for part in ()), 0, ("a",), np.dtype(float)), tmp_path / "y.npy")
    assert np.load(tmp_path / "y.npy").shape == (0, 1)


@pytest.mark.parametrize(("ending", "separator"), [(".csv", ","), (".tsv", "\t")])
def test_no_cell_is_a_formula(tmp_path, ending, separator):
    words = np.array(HOSTILE + HARMLESS + WORDS, object)
    few, path = Y[: len(words)], tmp_path / f"y{ending}"
    deliver(results({"=who": words, "n": -np.arange(1.0, len(words) + 1)}, few, (), ("-x", "y", "@z")), path)
    header, *rows = cells_of(path.read_bytes(), separator)
    assert header == ["'=who", "n", "'-x", "y", "'@z"]
    assert [row[0] for row in rows] == [f"'{word}" for word in HOSTILE] + HARMLESS + WORDS
    assert [float(cell) for row in rows for cell in row[1:]] == [
        float(cell) for i, row in enumerate(few) for cell in (-i - 1, *row)
    ]
    np.testing.assert_array_equal(read(path, columns=[2, 3, 4]).block(0, len(few)), few)
    deliver(results({"=who": words}, few, ()), tmp_path / "y.parquet")  # no spreadsheet runs that
    assert pq.read_table(tmp_path / "y.parquet").column("=who").to_pylist() == words.tolist()


def test_gaps_are_empty_cells_and_numbers_keep_their_digits(tmp_path):
    numbers = np.array([[0.1, np.nan], [1 / 3, -np.inf], [5e-324, 1.7976931348623157e308]])
    words = np.array(["x", np.nan, None], object)
    deliver(results({"w": words}, numbers, (), ("a", "b")), tmp_path / "y.csv")
    rows = cells_of((tmp_path / "y.csv").read_bytes())[1:]
    assert [row[0] for row in rows] == ["x", "", ""]
    assert [[cell and float(cell) for cell in row[1:]] for row in rows] == [[0.1, ""], *numbers[1:].tolist()]


@pytest.mark.parametrize("ending", TABULAR)
def test_names_that_repeat_are_told_apart(tmp_path, ending):
    path = tmp_path / f"y{ending}"
    deliver(results({"pca0": np.arange(N) % 3, "": np.arange(N) % 4, "a": np.arange(N) % 5}), path)
    names = opened(path).keys
    assert (len(set(names)), names[0], names[2:]) == (6, "pca0_2", ("a", "pca0", "pca1", "pca2"))


def test_npy_holds_numbers_alone(tmp_path):
    with pytest.raises(DataError, match=r"\.npy files hold numbers only, but 'id', .* write \.parquet, \.arrow"):
        deliver(results(LABELS), tmp_path / "y.npy")
    with pytest.raises(DataError, match=r"column 'who' next to the results has shape \(3,\), not \(1000,\)"):
        results({"who": np.arange(3)})
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("ending", TABULAR)
def test_results_that_are_too_few_leave_no_file(tmp_path, ending):
    short = Results((part for part in [Y[:10]]), N, ("a", "b", "c"), Y.dtype, LABELS)
    with pytest.raises(DataError, match="1000 rows should have been written, there were 10"):
        deliver(short, tmp_path / f"y{ending}")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("kind", STREAMS)
def test_streams_hold_what_files_hold(tmp_path, kind):
    stream = io.BytesIO()
    pour(results(LABELS), stream, kind)
    assert not stream.closed
    stream.seek(0)
    rows = read(spooled(stream, tmp_path), columns=["pca0", "pca1", "pca2"])
    np.testing.assert_array_equal(rows.block(0, N), Y)
    assert rows.column("who")[:3].tolist()[1:] == WORDS[1:3]
    if kind != "arrow":
        deliver(results(LABELS), tmp_path / f"y.{kind}")
        assert (tmp_path / f"y.{kind}").read_bytes() == stream.getvalue()


def test_streams_of_other_kinds():
    with pytest.raises(DataError, match="cannot write 'npy' into a stream; known formats: arrow, csv, tsv, parquet"):
        pour(results({}), io.BytesIO(), "npy")


@pytest.mark.parametrize("kind", STREAMS)
def test_a_pipe_that_is_closed_is_told_as_such(kind):
    """A million rows to someone who reads ten bytes."""
    code = (
        "import sys, numpy as np\nfrom ritz.rows.write.tables import Results, pour\n"
        "blocks = (np.ones((1000, 5)) for _ in range(1000))\n"
        f"try: pour(Results(blocks, 10**6, tuple('abcde'), np.dtype(float)), sys.stdout.buffer, {kind!r})\n"
        "except BrokenPipeError: sys.stderr.write('closed'); sys.stdout = None; import os; os._exit(0)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b"closed"


def test_parquet_and_arrow_can_be_read_by_all_cores(tmp_path):
    n = 600_000
    for name in ("y.parquet", "y.arrow"):
        blocks = (np.full((1000, 2), float(i)) for i in range(n // 1000))
        deliver(Results(blocks, n, ("a", "b"), np.dtype(float), {"i": np.arange(n)}), tmp_path / name)
    groups = pq.ParquetFile(tmp_path / "y.parquet").metadata.num_row_groups
    assert groups == ipc.open_file(tmp_path / "y.arrow").num_record_batches == 5


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a", 1, None, 2.5], ["a", "1", None, "2.5"]),
        ([b"ab", b"\xff", None], ["ab", "\ufffd", None]),
        ([1.5, "nan", np.nan], ["1.5", "nan", None]),
        ([Decimal("1.50"), None], ["1.50", None]),
        (["\ud800x", "y"], ["?x", "y"]),
        ([{"a": 1}, [2]], ["{'a': 1}", "[2]"]),
        ([datetime.date(2020, 1, 2), None], [datetime.date(2020, 1, 2), None]),
        ([np.datetime64("2020-01-02"), None], ["2020-01-02", None]),
        ([None, None], [None, None]),
        ([2**70, 1], [str(2**70), "1"]),
        ([True, None], [True, None]),
    ],
)
def test_columns_of_anything(values, expected):
    array = np.empty(len(values), object)
    array[:] = values
    assert as_column(array).to_pylist() == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array(["2020-01-02T03", "NaT"], "M8[h]"), [datetime.datetime(2020, 1, 2, 3), None]),
        (np.array([60, "NaT"], "m8[s]"), ["0:01:00", None]),
        (np.array([1.0, np.nan], np.float32), [1.0, None]),
        (np.array(["a", "ß"]), ["a", "ß"]),
        (np.array([1 + 2j]), ["(1+2j)"]),
    ],
)
def test_columns_of_one_kind(values, expected):
    assert as_column(values).to_pylist() == expected
    assert pa.table({"x": as_column(values)}).num_rows == len(values)

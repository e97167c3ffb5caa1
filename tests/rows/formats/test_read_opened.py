"""Files looked at before anything is chosen from them, and columns read beside the numbers."""

import gzip
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from ritz import ColumnWarning, DataError, read
from ritz.rows.formats.read import opened
from ritz.rows.select import select
from ritz.rows.text import lines

HEAD = "id,who,a,a,born\n"
LINES = [f"{i},no {i},{i / 8},{i * i if i != 3 else 'NA'},{1900 + i}-01-01\n" for i in range(50)]


@pytest.fixture
def table(tmp_path):
    (tmp_path / "x.csv").write_text(HEAD + "".join(LINES))
    return tmp_path / "x.csv"


def values(rows):
    return rows.map(lambda block: block.copy())


def test_a_file_is_opened_without_a_word(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = opened(table)
    assert rows.names == ("id", "a", "a_2")
    assert rows.keys == ("id", "who", "a", "a_2", "born")
    assert dict(rows.left_out) == {"who": "text", "born": "text"}
    assert rows.renamed == (("a", "a_2"),)
    assert "commas" in rows.about
    assert rows.origin.files[0][:2] == (str(table), table.stat().st_size)


def test_selecting_from_an_opened_file_is_reading_it(table):
    asked = {"columns": ["a", "a_2"], "label": "who", "missing": "drop"}
    with pytest.warns(ColumnWarning, match="'a' is now 'a_2'"):
        found = select(opened(table), **asked)
    with pytest.warns(ColumnWarning, match="'a' is now 'a_2'"):
        expected = read(table, **asked)
    np.testing.assert_array_equal(values(found), values(expected))
    assert found.labels.tolist() == expected.labels.tolist() == [f"no {i}" for i in range(50) if i != 3]
    with pytest.warns(ColumnWarning) as told:
        select(opened(table), None, None, "error")
    assert [str(w.message).split(":")[0] for w in told] == [
        "column names repeat or are empty",
        "columns left out",
    ]


@pytest.mark.filterwarnings("ignore::ritz.errors.ColumnWarning")
@pytest.mark.parametrize("missing", ["error", "drop", "mean"])
@pytest.mark.parametrize("columns", [None, ["a_2"]])
def test_what_is_known_of_a_file_survives_the_choice(table, missing, columns):
    source, chosen = opened(table), read(table, columns=columns, missing=missing)
    for name in ("keys", "left_out", "about", "renamed"):
        assert getattr(chosen, name) == getattr(source, name)
    kept = np.delete(np.arange(50), 3) if missing == "drop" else None
    assert (chosen.kept is None) if kept is None else np.array_equal(chosen.kept, kept)
    assert chosen.cells(["who"])["who"].tolist() == [f"no {i}" for i in range(50)]
    np.testing.assert_array_equal(chosen.column("id"), np.arange(50))


def test_rows_that_were_kept_of_rows_that_were_kept(tmp_path):
    X = np.arange(40.0).reshape(10, 4)
    X[2, 0] = X[5, 3] = X[7, 3] = np.nan
    np.save(tmp_path / "x.npy", X)
    first = select(opened(tmp_path / "x.npy"), [0, 1], None, "drop")
    assert first.kept.tolist() == [0, 1, 3, 4, 5, 6, 7, 8, 9]
    again = select(first, [1], None, "drop")
    assert again.kept.tolist() == first.kept.tolist()
    sp.save_npz(tmp_path / "s.npz", sp.csr_array(X))
    assert select(read(tmp_path / "s.npz", missing="drop"), [1], None, "error").kept.tolist() == [0, 1, 3, 4, 6, 8, 9]


def test_a_transposed_file_says_how_it_was_read(table):
    assert "commas" in opened(table, transpose=True).about


@pytest.mark.parametrize("size", [100, 1 << 22])
@pytest.mark.parametrize("packed", [False, True])
def test_several_columns_in_one_reading_of_a_text(table, monkeypatch, size, packed):
    monkeypatch.setattr(lines, "PART_BYTES", size)
    if packed:
        (table.parent / "x.csv.gz").write_bytes(gzip.compress(table.read_bytes()))
    rows, read_ = opened(table.parent / ("x.csv.gz" if packed else "x.csv")), []
    pieces = type(rows._lines).pieces
    monkeypatch.setattr(type(rows._lines), "pieces", lambda self: read_.append(1) or pieces(self))
    found = rows.cells(["born", "a_2", "who", 0, -1])
    assert len(read_) == 1
    assert list(found) == ["born", "a_2", "who", 0, -1]
    assert found["born"].tolist() == found[-1].tolist() == [f"{1900 + i}-01-01" for i in range(50)]
    np.testing.assert_array_equal(found["a_2"], [np.nan if i == 3 else i * i for i in range(50)])
    assert found["who"].tolist() == [f"no {i}" for i in range(50)]
    np.testing.assert_array_equal(found[0], np.arange(50))
    assert rows.cells([]) == {}
    with pytest.raises(DataError, match="no column 'age'"):
        rows.cells(["who", "age"])


def test_few_columns_of_many(tmp_path):
    """Parsed by columns, where the others are passed over, unless a gap is made of blanks."""
    X = np.random.default_rng(0).standard_normal((200, 40))
    cells = [[repr(value) for value in row] for row in X.tolist()]
    cells[100][3], cells[101][3], cells[102][7] = "  ", " NA ", "oops"
    path = tmp_path / "x.csv"
    path.write_text("\n".join(",".join(row) for row in cells))
    X[100:102, 3] = np.nan
    np.testing.assert_array_equal(values(read(path, columns=[3, 20])), X[:, [3, 20]])
    with pytest.raises(DataError, match=r"line 103 of .*, column 7: 'oops' is not a number"):
        read(path, columns=[7]).column(7)
    cells[150].append("1")
    path.write_text("\n".join(",".join(row) for row in cells))
    for broken in (lambda: values(read(path, columns=[3])), lambda: opened(path).cells([3, 20])):
        with pytest.raises(DataError, match=r"line 151 of .* has 41 cells, not 40"):
            broken()


def test_a_file_that_changes_while_it_is_read(table):
    rows = opened(table)
    table.write_text((HEAD + "".join(LINES)).replace("no 7,", "no\n7"))
    with pytest.raises(DataError, match="it had 1463 bytes and has 1462"):
        rows.cells(["who"])


def test_several_columns_of_parquet(tmp_path):
    ids = [2**53 + 1, 7, 8]
    columns = {"id": ids, "w": ["a", None, "c"], "x": [0.5, 1.5, 2.5], "v": [1, None, 3]}
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    rows = opened(tmp_path / "x.parquet")
    found = rows.cells(["w", "id", 3])
    assert (found["w"].tolist(), found["id"].tolist()) == (["a", None, "c"], ids)
    np.testing.assert_array_equal(found[3], [1, np.nan, 3])
    assert rows.some(np.array([1])).cells(["id"])["id"].tolist() == ids
    with pytest.raises(DataError, match="no column 'age'"):
        rows.cells(["age"])

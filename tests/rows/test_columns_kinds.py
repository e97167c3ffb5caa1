"""What a column of a table holds: true and false are numbers everywhere, and a word among numbers is named."""

import gzip
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from helpers.commands import answer, run
from ritz import PCA, KernelPCA, load, read
from ritz.errors import ColumnWarning, DataError

N = 24
RNG = np.random.default_rng(0)
FLAGS = RNG.random(N) > 0.5
NUMBERS = np.column_stack([RNG.standard_normal(N).round(6), FLAGS, RNG.standard_normal(N).round(6)])
FRAME = pd.DataFrame({"a": NUMBERS[:, 0], "flag": FLAGS, "b": NUMBERS[:, 2]})


def lines(cells, header="a,b"):
    return header + "\n" + "".join(f"{i}.5,{cell}\n" for i, cell in enumerate(cells))


@pytest.fixture
def table(tmp_path):
    def write(text, name="x.csv"):
        (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return tmp_path / name

    return write


def heard(path, **given):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rows = read(path, **given)
    return rows, [str(warning.message) for warning in told if issubclass(warning.category, ColumnWarning)]


@pytest.mark.parametrize("words", [("true", "false"), ("True", "False"), ("TRUE", "FALSE"), (" TRUE ", "False")])
@pytest.mark.parametrize(("sep", "decimal"), [(",", "."), (";", ","), ("\t", ".")])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("quoting", [0, 1])
def test_true_and_false_are_one_and_zero_in_text(table, words, sep, decimal, header, quoting):
    frame = FRAME.assign(flag=np.where(FLAGS, *words))
    text = frame.to_csv(index=False, sep=sep, decimal=decimal, header=header, quoting=quoting)
    for path in (table(text), table(text, "x.csv.gz")):
        rows, told = heard(path)
        assert (rows.shape, told) == ((N, 3), [])
        assert np.array_equal(rows.block(0, N), NUMBERS)


def test_every_source_and_command_agrees_about_true_and_false(tmp_path):
    FRAME.to_csv(tmp_path / "x.csv", index=False)
    FRAME.to_parquet(tmp_path / "x.parquet")
    FRAME.to_feather(tmp_path / "x.feather")
    files = [tmp_path / f"x.{ending}" for ending in ("csv", "parquet", "feather")]
    frames = [FRAME, FRAME.astype({"flag": "boolean"}), FRAME.astype({"flag": object}), pl.from_pandas(FRAME)]
    truth = PCA().fit(NUMBERS)
    for source in (*files, *frames, pa.Table.from_pandas(FRAME)):
        model = PCA().fit(source)
        assert np.allclose(model.explained_variance_, truth.explained_variance_, rtol=1e-12)
        assert list(model.feature_names_in_) == ["a", "flag", "b"]
        for path in files:
            assert np.allclose(model.transform(path), truth.transform(NUMBERS), atol=1e-12)
    codes = [KernelPCA(2, kernel="rbf").fit_transform(path) for path in files]
    assert np.allclose(codes[0], codes[1])
    for path in files:
        told = answer("info", path)
        assert (told["columns"], told["left_out"]) == (3, {})
        told = answer("fit", path, "-o", tmp_path / "m", "--force")
        assert told["left_out"] == {}
        model = tmp_path / "m" / "model.safetensors"
        assert answer("transform", model, files[0], "-o", tmp_path / "s.csv", "--force")["rows"] == N
    assert [read(path, label="flag").labels.tolist() for path in files] == [FLAGS.tolist()] * 3


def test_gaps_between_true_and_false(table, tmp_path):
    frame = FRAME.astype({"flag": "boolean"})
    frame.loc[3, "flag"] = pd.NA
    frame.to_parquet(tmp_path / "x.parquet")
    for path in (table(frame.to_csv(index=False, na_rep="NA")), tmp_path / "x.parquet"):
        with pytest.raises(DataError, match="1 NaN, first at row 3, column 'flag'"):
            PCA().fit(read(path))
        assert read(path, missing="drop").shape == (N - 1, 3)
        assert read(path, label="flag").labels.tolist() == [*FLAGS[:3], None, *FLAGS[4:]]


def test_only_true_and_false(table):
    """In a table of nothing else, the first line is a row if it says true or false itself."""
    X = RNG.random((9, 3)) > 0.5
    frame = pd.DataFrame(X, columns=["p", "q", "r"])
    for text, names in [
        (frame.to_csv(index=False), ("p", "q", "r")),
        (frame.to_csv(index=False, header=False), None),
        (frame.set_axis(range(3), axis=1).to_csv(index=False), ("0", "1", "2")),
        (frame.set_axis(range(3), axis=1).to_csv(), ("0", "1", "2")),
    ]:
        rows, told = heard(table(text))
        assert rows.names == names
        assert np.array_equal(rows.block(0, 9), X)
        assert any("true and false stand below" in word for word in told) == (names == ("0", "1", "2"))


@pytest.mark.parametrize("cell", ["0", "2.5", "yes", "tru"])
def test_a_cell_that_is_neither_true_nor_false_is_named(table, cell):
    path = table(lines([*["True", "False"] * 200, cell]))
    with pytest.raises(DataError, match=rf"line 402 of .*, column 'b': '{cell}' is neither true nor false, unlike"):
        PCA().fit(read(path))
    assert read(path, columns=["a"]).shape == (401, 1)


def test_words_among_which_are_true_and_false_are_text(table):
    rows, told = heard(table(lines(["true", "false", "half-true", "true", "pants-fire", "false", "mostly-true"])))
    assert (rows.names, dict(rows.left_out)) == (("a",), {"b": "text"})
    assert told == ["columns left out: 'b' (text); only numbers are decomposed"]


@pytest.mark.parametrize("cell", ["abc", '"1,5"', "1.2.3", "<0.1"])
@pytest.mark.parametrize("count", [2, 3, 4, 19])
def test_a_word_among_few_numbers_is_named_with_its_line(table, tmp_path, count, cell):
    path = table(lines(["7", cell, *map(str, range(count - 1))]))
    shown = cell.strip('"')
    with pytest.raises(
        DataError, match=rf"line 3 of .*, column 'b': '{shown}' is not a number, unlike .*; pass columns="
    ):
        read(path)
    assert "leave it out with --drop, or mark missing values as NA" in run("info", path, code=3).stderr
    # and the advice can be followed
    assert read(path, columns=["a"]).shape == (count + 1, 1)
    assert read(path, label="b").labels.tolist() == ["7", shown, *map(str, range(count - 1))]
    assert answer("fit", path, "--drop", "b", "-o", tmp_path / "m")["left_out"] == {"b": "asked for"}
    assert read(table(lines(["7", "NA", *map(str, range(count))])), missing="drop").shape[1] == 2


def test_a_word_among_numbers_of_a_frame_is_named_with_its_row():
    frame = pd.DataFrame({"a": np.arange(4.0), "b": pd.Series([1, "abc", 2.5, 3], dtype=object)})
    with pytest.raises(DataError, match="column 'b' holds 'abc' in row 1, which is not a number"):
        PCA().fit(frame)


def test_a_word_for_what_is_missing_may_stand_often(table):
    path = table(lines(["7", "unknown", "8", "unknown", "5", "unknown", "9"]))
    with pytest.raises(DataError, match=r"line 3 of .*, column 'b': 'unknown' is not a number"):
        read(path)


def test_codes_some_of_which_are_numbers_are_left_out_and_named(table, tmp_path):
    path = table(lines(["113803", "A/5 21171", "373450", "PC 17599", "330877", "17463", "STON 31", "349909"]))
    rows, told = heard(path)
    assert rows.names == ("a",)
    assert "'b' (text and numbers, such as 'A/5 21171' in line 3; codes are not decomposed; if it should" in told[0]
    assert "hold numbers, correct such cells or mark them as NA" in told[0]
    for command in (("info", path), ("fit", path, "-o", tmp_path / "m")):
        why = answer(*command)["left_out"]["b"]
        assert why.startswith("identifies rows; text and numbers, such as 'A/5 21171' in line 3")
    with pytest.raises(DataError, match="column 'b' holds text and numbers, such as 'A/5 21171' in line 3"):
        read(path, columns=["a", "b"])
    assert read(path, label="b").labels[1] == "A/5 21171"


@pytest.mark.parametrize("cells", [["A12", "B7", "A9"], ["2020-01-01", "2020-02-01", "2020-03-01"], ["x", "y", "7"]])
def test_text_is_text(table, cells):
    assert dict(heard(table(lines(cells)))[0].left_out) == {"b": "text"}


def test_the_line_is_right_behind_blank_lines_and_line_ends_in_quotes(table):
    text = 'a,w,c\n1,"x\ny",2\n\n2,z,n1\n3,z,n2\n4,z,5\n5,z,6\n'
    assert "'c' (text and numbers, such as 'n1' in line 5;" in heard(table(text))[1][0]


def test_a_word_in_the_first_row_without_a_header_is_said(table):
    text = "-0.64,abc,1.02\n0.5,0.1,0.3\n-0.2,0.7,0.4\n0.9,0.8,-1\n"
    rows, told = heard(table(text))
    assert rows.shape == (3, 3)
    assert "the first line (-0.64, abc, 1.02) was taken for names of columns, because 'abc' stands above" in told[0]
    with pytest.raises(DataError, match=r"line 1 of .*, column 1: 'abc' is not a number"):
        read(table(text), header=False)
    assert heard(table("x,1952,1957\n1,0.5,0.1\n2,0.7,0.3\n4,0.1,0.2\n"))[1] == []


@pytest.mark.parametrize("words", [["1", "2", "3", "x1", "x2"], ["true", "false", "True", "False", "TRUE"]])
def test_words_of_vectors_are_words(table, words):
    rows, _ = heard(table("5 2\n" + "".join(f"{word} {i}.5 0.1\n" for i, word in enumerate(words)), "x.vec"))
    assert (rows.shape, dict(rows.left_out), rows.row_names.tolist()) == ((5, 2), {}, words)


def test_the_only_column_is_not_called_text_for_one_word(table):
    with pytest.raises(DataError, match="holds only numbers; column 'x' also holds 'abc'"):
        read(table("x\n1\nabc\n"))


@pytest.fixture(params=["x.csv", "x.csv.gz"])
def late(request, table, monkeypatch):
    """A table whose second column holds nothing in the lines looked at, read in small pieces."""
    monkeypatch.setattr("ritz.rows.text.lines.PART_BYTES", 500)

    def write(cells, header="a,b", gap=""):
        return table(lines([gap] * 250 + cells, header), request.param)

    return write


@pytest.mark.parametrize("gap", ["", "NA", " "])
def test_a_column_that_begins_late_may_hold_true_and_false(late, gap):
    rows = read(late(["True", "False"] * 50 + [""] * 200 + ["True"], gap=gap), missing="mean")
    assert (rows.names, rows.shape) == (("a", "b"), (551, 2))
    assert rows.block(0, 551)[[250, 251, 550], 1].tolist() == [1, 0, 1]
    path = late(["True", "False"] * 150 + ["maybe"])
    with pytest.raises(DataError, match=r"line 552 of .*, column 'b': 'maybe' is neither true nor false, unlike"):
        PCA().fit(read(path, missing="mean"))


def test_a_column_that_begins_late_may_hold_text(late):
    rows, told = heard(late([f"seen by {i % 9}" for i in range(40)]))
    assert (rows.names, dict(rows.left_out)) == (("a",), {"b": "text"})
    assert told == ["columns left out: 'b' (text); only numbers are decomposed"]
    _, told = heard(late(["113803", "A/5 21171", "373450", "PC 17599", "330877"]))
    assert "'b' (text and numbers, such as 'A/5 21171'" in told[0]
    assert "; codes are not decomposed; if it should hold numbers" in told[0]


def test_a_column_that_begins_late_may_hold_numbers(late):
    path = late([*map(str, range(300)), "x"])
    with pytest.raises(
        DataError, match=r"line 552 of .*, column 'b': 'x' is not a number, unlike the other cells of that column"
    ):
        PCA().fit(read(path, missing="mean"))
    text = late([*map(str, range(9))], header="1.5,2.5")
    assert read(text, header=False, missing="mean").shape == (260, 2)


def test_a_row_of_another_length_is_named_where_a_column_begins_late(late):
    with pytest.raises(DataError, match=r"line 252 of .* has 3 cells, not 2: '250\.5,1,2'"):
        read(late(["1,2"]))


def test_a_last_column_that_begins_late_leaves_names_where_they_are(table):
    for gap, cells in (("NA", []), ("", ["7.5"])):  # R leaves the names of rows unnamed, and writes gaps
        text = "a,b\n" + "".join(f"r{i},{i}.5,{cell}\n" for i, cell in enumerate([gap] * 250 + cells))
        rows = read(table(text), columns=["a"], label="b")
        assert rows.block(0, 3)[:, 0].tolist() == [0.5, 1.5, 2.5]


@pytest.mark.parametrize("gap", [pd.NA, pd.NaT, None])
def test_what_is_missing_for_pandas_is_missing_in_columns_of_objects(gap):
    frame = pd.DataFrame({"a": np.arange(4.0), "b": pd.Series([1, gap, 2.5, True], dtype=object)})
    for X in (frame, frame.to_numpy(), frame.to_numpy().tolist()):
        with pytest.raises(DataError, match=r"NaN|missing"):
            PCA().fit(X)


@pytest.fixture
def model(table, tmp_path):
    run("fit", table("x,y\n1,2\n2,1\n3,5\n4,3\n"), "-q", "-o", tmp_path / "m")
    return tmp_path / "m" / "model.safetensors"


@pytest.mark.parametrize(
    ("text", "line", "cell"),
    [
        ("x,y\n1,abc\n", 2, "abc"),
        ("y,x\nabc,def\n", 2, "def"),
        ("id,x,y\nr1,1,2\nr2,2,ab\nr3,3,cd\n", 3, "ab"),
        ("x,y\n1,2\n2,3\n3,4\n4,bad\n5,6\n", 5, "bad"),
    ],
)
def test_a_cell_that_a_model_needs_is_named_with_advice_that_works(table, model, tmp_path, text, line, cell):
    path = table(text, "new.csv")
    where = rf"line {line} of .*new.csv, column '[xy]': '{cell}' is not a number, and the model needs that column"
    for command in (("transform", model, path, "--to", "csv"), ("report", model, path, "-o", tmp_path / "r.html")):
        told = run(*command, code=3).stderr
        assert re.search(f"{where}; correct the cell, or mark it as NA", told)
        assert "--drop" not in told
    with pytest.raises(DataError, match=f"{where}; correct the cell$"):
        load(model).transform(path)
    table(re.sub("abc|def|ab|cd|bad", "NA", text), "new.csv")
    assert answer("transform", model, path, "-o", tmp_path / "s.csv")["without_scores"]


@pytest.mark.parametrize("text", ["PC1,PC2\n1,a\n", "id,pca0,pca1\nr,1,a\n", "PC1,PC2\n1,a\n2,3\n3,4\n"])
def test_a_cell_among_scores_is_named(table, model, text):
    told = run("inverse", model, table(text, "s.csv"), "--to", "csv", code=3).stderr
    assert re.search(r"line 2 of .*s.csv, column '(PC2|pca1)': 'a' is not a number, .*; correct the cell\n", told)


@pytest.mark.parametrize("cells", ["abcd", ["1", "x", "2", "y"]])
def test_a_column_that_is_kept_holds_numbers(table, tmp_path, cells):
    path = table("x,y,z\n" + "".join(f"{i}.5,{cell},{i * i}\n" for i, cell in enumerate(cells)))
    with pytest.raises(DataError, match="column 'y' holds") as caught:
        read(path, columns=["x", "y"])
    for command in (("info", path), ("fit", path, "-o", tmp_path / "m")):
        assert str(caught.value) in run(*command, "--keep", "y", code=3).stderr
    assert run("fit", path, "-o", tmp_path / "m", "-k", 1, "--keep", "z", "-q")


def test_places_that_a_model_needs_leave_out_what_stands_beside_them(table, tmp_path):
    run("fit", table("1,2\n2,1\n3,5\n4,3\n"), "--no-header", "-q", "-k", 1, "-o", tmp_path / "m")
    model = tmp_path / "m" / "model.safetensors"
    told = run("transform", model, table("1,a\n2,b\n3,4\n", "n.csv"), "--no-header", "--to", "csv", code=3).stderr
    assert "column 1: 'a' is not a number" in told
    back = run("inverse", model, table("id,score\nr1,0.5\nr2,0.7\n", "s.csv"), "--to", "csv")
    assert len(back.stdout.splitlines()) == 3

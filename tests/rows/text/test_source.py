"""CSV and its relatives: every dialect gives the numbers that were written, every flaw an error with its line."""

import bz2
import codecs
import csv
import gzip
import io
import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from helpers.counts import usually
from helpers.memory import traced
from ritz import PCA, read
from ritz.errors import ColumnWarning, DataError
from ritz.rows.text import lines, parsing, reader

TABLE = [[1.5, -2.0, 3e-7], [0.0, 5.25, 6e20], [-7.125, 8.0, 9.0]]


def written(path, text, encoding="utf-8"):
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


@pytest.fixture(params=[parsing.LONG, 1])
def either_way(request, monkeypatch):
    """Parts of few rows are parsed cell by cell, those of many column by column."""
    monkeypatch.setattr(parsing, "LONG", request.param)


def values(rows):
    return rows.map(lambda block: block.copy())


def table(separator=",", decimal=".", header="a{0}b{0}c", newline="\n"):
    rows = [separator.join(repr(cell).replace(".", decimal) for cell in row) for row in TABLE]
    return newline.join([*([header.format(separator)] if header else []), *rows, ""])


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("separator", "decimal"), [(",", "."), (";", "."), (";", ","), ("\t", "."), ("|", ","), (" ", ".")]
)
@pytest.mark.parametrize("header", ["a{0}b{0}c", '"a"{0}"b"{0}"c"', None])
def test_separator_decimal_sign_line_end_and_header_are_found(tmp_path, newline, separator, decimal, header):
    rows = read(written(tmp_path / "x.csv", table(separator, decimal, header, newline)))
    assert np.array_equal(values(rows), TABLE)
    assert rows.names == (None if header is None else ("a", "b", "c"))
    assert (("decimal comma" in repr(rows)), ("no header" in repr(rows))) == (decimal == ",", header is None)


@pytest.mark.parametrize(
    ("encoding", "mark", "found"),
    [
        ("utf-8", b"", "utf-8>"),
        ("utf-8", codecs.BOM_UTF8, "utf-8 with a byte-order mark"),
        ("utf-16-le", codecs.BOM_UTF16_LE, "utf-16-le with a byte-order mark"),
        ("utf-16-be", codecs.BOM_UTF16_BE, "utf-16-be with a byte-order mark"),
        ("cp1252", b"", "cp1252"),
    ],
)
def test_encodings_are_found_and_reported(tmp_path, encoding, mark, found):
    text = "größe,länge\n1.5,2\n3,4\n"
    rows = read(written(tmp_path / "x.csv", mark + text.encode(encoding)))
    assert rows.names == ("größe", "länge")
    assert np.array_equal(values(rows), [[1.5, 2], [3, 4]])
    assert found in repr(rows)


@pytest.mark.parametrize("name", ["x.csv.gz", "x.tsv.zst", "x.csv.bz2", "x.csv"])
@pytest.mark.parametrize("quotes", [False, True])
def test_large_files_plain_and_compressed(tmp_path, monkeypatch, name, quotes):
    monkeypatch.setattr(lines, "PART_BYTES", 10_000)
    X = np.random.default_rng(0).standard_normal((3000, 5))
    separator = "\t" if "tsv" in name else ","
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=separator, lineterminator="\n")
    writer.writerow(["who", *"abcde"])
    for i, row in enumerate(X):
        writer.writerow([f'no. {i}, "the\n{i}th"' if quotes else f"no {i}", *row])
        if i % 700 == 0:
            buffer.write("\n" * (i // 700))
    text = buffer.getvalue().encode()
    pack = {
        ".gz": gzip.compress,
        ".bz2": bz2.compress,
        ".zst": lambda text: pa.compress(text, codec="zstd", asbytes=True),
    }
    rows = read(
        written(tmp_path / name, pack.get(name[-4:].lstrip("v"), pack.get(name[-3:], bytes))(text)), label="who"
    )
    assert np.array_equal(values(rows), X)
    assert np.array_equal(rows.take(np.array([2999, 0, 1500])), X[[2999, 0, 1500]])
    assert rows.labels[1234] == ('no. 1234, "the\n1234th"' if quotes else "no 1234")
    model = PCA(2).fit(rows)
    assert np.allclose(model.explained_variance_, PCA(2).fit(X).explained_variance_, rtol=1e-12)


@settings(max_examples=usually(80, thorough=200), deadline=None)
@given(
    cells=st.lists(
        st.lists(
            st.one_of(st.floats(allow_nan=False, allow_infinity=False, width=64), st.none()), min_size=3, max_size=3
        ),
        min_size=3,
        max_size=30,
    ),
    words=st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8), min_size=30, max_size=30
    ),
    separator=st.sampled_from(",;\t|"),
    size=st.sampled_from([1, 7, 100, 1 << 22]),
)
def test_any_table_comes_back(tmp_path_factory, cells, words, separator, size):
    """Numbers, gaps and words that need quotes, in parts of any size: what the csv module writes is what is read."""
    cells = [[1.5, 2.5, 3.5], *cells]  # enough to tell separators apart
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=separator, lineterminator="\n")
    writer.writerow(["x", "w", "y", "z"])
    for row, word in zip(cells, ["word", *words], strict=False):
        writer.writerow([row[0], f"{word}x", *row[1:]])
    path = written(tmp_path_factory.mktemp("t") / "x.csv", buffer.getvalue())
    expected = np.array([[np.nan if cell is None else cell for cell in row] for row in cells])
    before, lines.PART_BYTES = lines.PART_BYTES, size
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ColumnWarning)
            rows = read(path, label="w")
            assert np.array_equal(values(rows), expected, equal_nan=True)
            assert list(rows.labels) == [f"{word}x".strip() for word in ["word", *words][: len(cells)]]
    finally:
        lines.PART_BYTES = before


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3\n5,6\n", "line 3 of .* has 1 cells, not 2: '3'"),
        ("a,b\n" + "1,2\n" * 500 + "3,4,5\n1,2\n", "line 502 of .* has 3 cells, not 2: '3,4,5'"),
        (
            "a,b\n" + "1,2\n\n" * 500 + "3,four\n1,2\n",
            "line 1002 of .*, column 'b': 'four' is not a number",
        ),
        ("# x\n\na,b\n" + "1,2\n" * 500 + "3,1e5x\n", "line 504 of .*, column 'b': '1e5x' is not a number"),
        ('a,b\n"1",2\n' + "1,2\n" * 500 + '"3",four\n', "line 503 of .*, column 'b': 'four' is not a number"),
        (
            "a,b,w\n" + "1,2,x\n" * 500 + '3,?,"x\ny,z"\n4,0x10,w\n',
            "line 504 of .*, column 'b': '0x10' is not a number",
        ),
        ('a,b\n1,"2\n3,4\n', "line 2 of .* has a quote that does not open a cell or is never closed"),
        ("", "holds no rows"),
        ("a,b\n", "holds a header and no rows"),
        ("x,y\nfoo,bar\n", "no column .* holds numbers; the text was read as separated by commas"),
        (b"\x00\x01\x02", "zero bytes"),
        ("a,b\n1,2,3,4\n5,6,7,8\n", "2 names in its header, but 4 cells"),
    ],
)
def test_errors_name_the_line(tmp_path, text, message):
    path = written(tmp_path / "x.csv", text)
    with pytest.raises(DataError, match=f"(?s){message}"):
        values(read(path))


def test_a_compressed_file_that_is_cut_short(tmp_path):
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 10_000)
    with pytest.raises(DataError, match=r"x\.csv\.gz cannot be read to its end"):
        read(written(tmp_path / "x.csv.gz", whole[:-20]))


@pytest.mark.usefixtures("either_way")
def test_missing_words_are_gaps(tmp_path):
    text = "a,b,c\n1,NA,3\n?,5,-\n7,8,9\nN/A,null,#DIV/0!\n2, ,4\n"
    path = written(tmp_path / "x.csv", text)
    with pytest.raises(DataError, match="7 NaN, first at row 0, column 'b'"):
        PCA().fit(path)
    assert np.array_equal(values(read(path, missing="drop")), [[7, 8, 9]])
    assert np.allclose(values(read(path, missing="mean"))[1], [10 / 3, 5, 16 / 3])


@pytest.mark.usefixtures("either_way")
def test_text_is_left_out_or_kept_aside(tmp_path):
    iris = load_iris()
    lines_ = [",".join([*map(str, row), iris.target_names[t]]) for row, t in zip(iris.data, iris.target, strict=True)]
    header = "sepal length,sepal width,petal length,petal width,species"
    path = written(tmp_path / "iris.csv", "\n".join([header, *lines_]))
    with pytest.warns(ColumnWarning, match=r"columns left out: 'species' \(text\)"):
        model = PCA(2).fit(path)
    assert np.allclose(model.explained_variance_, PCA(2).fit(iris.data).explained_variance_, rtol=1e-12)
    assert list(model.feature_names_in_) == header.split(",")[:4]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = read(path, label="species")
        assert list(rows.labels) == list(iris.target_names[iris.target])
        assert read(path, columns=["petal width"]).shape == (150, 1)
    with pytest.raises(DataError, match=r"column 'species' holds no numbers \(text\)"):
        read(path, columns=["species"])
    bare = written(tmp_path / "bare.csv", "\n".join(lines_))
    assert list(read(bare, label=4).labels[:2]) == ["setosa", "setosa"]
    assert np.array_equal(read(bare, label=4, columns=[1]).column(1), iris.data[:, 1])


def test_labels_follow_the_rows_that_are_kept(tmp_path):
    path = written(tmp_path / "x.csv", "w,a,b\nx,1,2\ny,,3\nz,4,5\n")
    assert list(read(path, label="w", missing="drop").labels) == ["x", "z"]


def test_names_that_repeat_are_told_apart(tmp_path):
    path = written(tmp_path / "x.csv", "a,a,,ä\n1,2,3,4\n5,6,7,9\n")
    with pytest.warns(ColumnWarning, match="'a' is now 'a_2', '' is now 'unnamed_2'"):
        assert read(path).names == ("a", "a_2", "unnamed_2", "ä")


def test_row_names_as_r_and_pandas_write_them(tmp_path):
    path = written(tmp_path / "r.txt", '"x" "y"\n"s1" 1 2\n"s2" 3 4\n')
    with pytest.warns(ColumnWarning, match="left out"):
        assert read(path).names == ("x", "y")
    path = written(tmp_path / "x.csv", "id,x\n" + "".join(f"{i + 7},{i * i % 11}\n" for i in range(50)))
    with pytest.warns(ColumnWarning, match=r"columns left out: 'id' \(row numbers\).*; name them in columns="):
        assert read(path).names == ("x",)
    panel = written(tmp_path / "p.csv", "year,x\n" + "".join(f"{1960 + i % 40},{i % 7}\n" for i in range(100)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(panel)


def test_lines_before_the_table(tmp_path):
    for before in ("# made by a machine\n\n", "sep=;\n", "% one\n% two\n"):
        rows = read(written(tmp_path / "x.csv", before + "a;b\n1;2\n3;4\n"))
        assert (rows.names, rows.shape) == (("a", "b"), (2, 2))


def test_aligned_columns(tmp_path):
    rows = read(written(tmp_path / "x.txt", "  1.0   2.0\n 30.0  -4.5\n  5.0   6.0\n"))
    assert np.array_equal(values(rows), [[1, 2], [30, -4.5], [5, 6]])


def test_a_late_value_is_as_exact_as_an_early_one(tmp_path):
    """Types are forced: integers in the first lines do not make a column of integers."""
    text = "a,b\n" + "1,2\n" * 300 + "0.1,9007199254740994\n"
    assert values(read(written(tmp_path / "x.csv", text)))[-1].tolist() == [0.1, 9007199254740994.0]


def test_tens_of_thousands_of_columns(tmp_path):
    d = usually(10_000, thorough=50_000)
    X = np.random.default_rng(0).integers(0, 100, (20, d))
    header = ",".join(f"g{j}" for j in range(X.shape[1]))
    body = "\n".join(f"cell {i}," + ",".join(map(str, row)) for i, row in enumerate(X))
    path = written(tmp_path / "wide.csv", f"name,{header}\n{body}\n")
    with traced() as taken:
        rows = read(path, label="name")
        assert np.array_equal(values(rows), X)
    assert taken.peak < 3000 * d
    assert (rows.names[-1], rows.labels[-1]) == (f"g{d - 1}", "cell 19")


def test_genes_by_samples(tmp_path):
    """Transposed while it is read; the first column of text names the columns."""
    path = written(tmp_path / "x.csv", "gene,s1,s2,s3\nTP53,1,2,3\nMYC,4,5,6\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = read(path, transpose=True)
    assert rows.names == ("TP53", "MYC")
    assert np.array_equal(values(rows), [[1, 4], [2, 5], [3, 6]])


def test_a_small_file_is_parsed_once_however_often_it_is_walked(tmp_path, monkeypatch):
    X = np.random.default_rng(0).standard_normal((60, 700))
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", fmt="%.17g")
    rows, parsed = read(tmp_path / "x.csv"), []
    whole = reader.Reader.values
    monkeypatch.setattr(reader.Reader, "values", lambda self, *args: parsed.append(args) or whole(self, *args))
    model = PCA(3, svd_solver="gram").fit(rows)
    assert model.certificate_.passes > 1
    assert len(parsed) == 1
    assert np.allclose(model.explained_variance_, PCA(3).fit(X).explained_variance_, rtol=1e-12)


@pytest.mark.usefixtures("either_way")
def test_a_broken_column_that_is_not_asked_for_does_no_harm(tmp_path):
    path = written(tmp_path / "x.csv", "a,b,c\n" + "1,2,3\n4,5,7\n" * 500 + "7,eight,9\n")
    with pytest.raises(DataError, match=r"line 1002 of .*, column 'b': 'eight'"):
        values(read(path))
    assert np.array_equal(values(read(path, columns=["c", "a"]))[-2:], [[7, 4], [9, 7]])


@pytest.mark.usefixtures("either_way")
def test_one_wrong_cell_among_numbers_is_a_mistake_and_not_a_reason_to_leave_them_out(tmp_path):
    path = written(tmp_path / "x.csv", "size,weight\n" + "1.5,70\n" * 10 + "1.6,7O\n")
    with pytest.raises(
        DataError, match=r"line 12 of .*, column 'weight': '7O' is not a number, unlike the other cells"
    ):
        values(read(path))


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('t,a,b\nx,1,2\n5" pipe,3,4\n7in,5,7\n', "line 3 of .* has a quote that does not open a cell"),
        ("t,a\n" + "".join(f'{i}" pipe,{i}\n' for i in range(9)), "line 2 of .* has a quote"),
        ("a,b\r\r\n1,2\r\r\n3,4\r\r\n5,7\r\r\n", "cannot be read as a table|carriage return"),
        ("a,b\n" + "1,2\n" * 300 + "1\r5,2\n3\r6,4\n7,8\n9,10\n", "line 302 of .* has a carriage return inside"),
        ("a,b\n1,2\n" + "x" * 140_000 + ",4\n", "cannot be read as a table|holds"),
    ],
)
@pytest.mark.filterwarnings("ignore::ritz.errors.ColumnWarning")
def test_what_could_be_read_wrongly_is_not_read(tmp_path, text, message):
    path = written(tmp_path / "x.csv", text)
    with pytest.raises(DataError, match=f"(?s){message}"):
        values(read(path))


@pytest.mark.filterwarnings("ignore::ritz.errors.ColumnWarning")
@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("name;city;n;val\nA;X;1;1,5\nB;Y;2;2,7\nC;Z;4;3,9\n", ("n", "val"), [[1, 1.5], [2, 2.7], [4, 3.9]]),
        ("name\tcity\tval\nA\tX\t1,5\nB\tY\t2,7\n", ("val",), [[1.5], [2.7]]),
        ("A;X;1,5\nB;Y;2,7\n", (2,), [[1.5], [2.7]]),
        ("d;a\n01.02.2020;1,5\n02.02.2020;2,5\n", ("a",), [[1.5], [2.5]]),
        ("0,1,2\n0.5,1.5,2\n1,2,3.5\n", ("0", "1", "2"), [[0.5, 1.5, 2], [1, 2, 3.5]]),
        ("country,1990,1991,1992\nA,1.5,2,3\nB,2.5,3,4\n", ("1990", "1991", "1992"), [[1.5, 2, 3], [2.5, 3, 4]]),
        ('"","1990","1992"\nA,1,2\nB,2,3\n', ("1990", "1992"), [[1, 2], [2, 3]]),
        ("name,2019,2020\nA,1.5,2.5\nB,3.5,4.5\n", ("2019", "2020"), [[1.5, 2.5], [3.5, 4.5]]),
        ("2000,2005,2010\n1.5,2.5,3\n3.5,4.5,4\n", ("2000", "2005", "2010"), [[1.5, 2.5, 3], [3.5, 4.5, 4]]),
        ("1,5;2,5\n66;3\n5;4\n47;7\n", None, [[1.5, 2.5], [66, 3], [5, 4], [47, 7]]),
        ("a,b\n1,2\n3,4\n  \n", ("a", "b"), [[1, 2], [3, 4]]),
        (" 1.0  2.0\r 3.0  4.0\r", None, [[1, 2], [3, 4]]),
        ("1,2,3\n2,1,3\n3,1,2\n", None, [[1, 2, 3], [2, 1, 3], [3, 1, 2]]),
        ("a,b\n1,2,\n3,4,\n", ("a", "b"), [[1, 2], [3, 4]]),
        ("x\n1,5\n2,5\n", ("x",), [[1.5], [2.5]]),
        ("a,b\r1, NA \r3,4", ("a", "b"), [[1, np.nan], [3, 4]]),
        ("sep=^\na^b\n1^2\n3^4\n", ("a", "b"), [[1, 2], [3, 4]]),
        ('"New  York" 1.5 2.5\n"Rome" 2 3\n', (1, 2), [[1.5, 2.5], [2, 3]]),
        (" 1.0  2.0\n 3.0  4.0\n   \n", None, [[1, 2], [3, 4]]),
        ("# made by x, y\na,b\n1,2\n3,4\n", ("a", "b"), [[1, 2], [3, 4]]),
        ("#a,b\n1,2\n3,4\n", ("#a", "b"), [[1, 2], [3, 4]]),
    ],
)
def test_tables_as_people_write_them(tmp_path, text, names, expected):
    rows = read(written(tmp_path / "x.csv", text))
    assert rows.names == names
    assert np.array_equal(values(rows), expected, equal_nan=True)


def test_utf16_without_a_last_line_end(tmp_path):
    rows = read(written(tmp_path / "x.csv", "a;b\n1,5;2", "utf-16"))
    assert np.array_equal(values(rows), [[1.5, 2]])


def test_positions_count_the_columns_of_the_file(tmp_path):
    bare = written(tmp_path / "bare.csv", "5.1,3.5,a\n4.9,3.0,b\n6.1,2.0,a\n")
    rows = read(bare, label=-1)
    assert (rows.shape, list(rows.labels)) == ((3, 2), ["a", "b", "a"])
    named = written(tmp_path / "named.csv", "n,a,b\nA,1,2\nB,3,4\n")
    assert list(read(named, label=0).labels) == ["A", "B"]
    assert read(named, columns=[1]).names == ("a",)
    with pytest.raises(DataError, match="'n' holds no numbers"):
        read(named, columns=[0])


def test_blanks_inside_quotes_are_kept(tmp_path):
    for text in ('t a b\n"p  q" 1.5 2.5\n"r" 3.5 4.5\n', 't  a b\n"p  q"  1.5 2.5\n"r" 3.5  4.5\n'):
        rows = read(written(tmp_path / "x.txt", text), label="t")
        assert list(rows.labels) == ["p  q", "r"]
        assert np.array_equal(values(rows), [[1.5, 2.5], [3.5, 4.5]])


def test_labels_with_gaps_and_of_another_encoding(tmp_path):
    path = written(tmp_path / "x.csv", "g,a\n" + " NA ,2\n1,3\n" * 3)
    assert np.array_equal(read(path, label="g").labels, [np.nan, 1.0] * 3, equal_nan=True)
    text = b"w,a\n" + b"x,1\n" * 400_000 + "Müller,2\n".encode("latin-1")
    assert read(written(tmp_path / "y.csv", text), label="w").labels[-1] == "Müller"

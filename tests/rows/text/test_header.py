"""The first line of a text: names or a row, said where it may be either; encodings; vectors of words."""

import csv
import gzip
import warnings

import numpy as np
import pytest

from helpers.commands import answer, run
from ritz import PCA, read
from ritz.errors import ColumnWarning, DataError
from ritz.rows.text.header import judge_header

INDEXED = ",0,1,2\n0,5,3,9\n1,7,7,7\n2,8,1,3\n"
TEN = ",".join(map(str, range(10))) + "\n" + "7,3,9,1,4,4,8,2,2,6\n5,5,1,9,2,8,3,1,7,7\n"
COUNTRIES = "country,1952,1957,1962,1967,1972\n" + "".join(
    f"c{i},{779.4 + 500 * i},{820.8 + i},853.1,{836.2 + i},739.9\n" for i in range(6)
)
POPULATIONS = "country,1990,2000,2010\nA,4511,90210,3500000\nB,1200,1990,2000\nC,1300000000,7,88\n"
SERIES = ",".join(map(str, range(1990, 1998))) + "\n" + "512,1990,80000,7,1999,2,61,5\n" * 2 + "9,8,7,6,5,4,3,2000\n"
SPANS = "name,2001,2002,2003\nAnna,1999,2004,2010\nBert,1987,1990,2000\n"
DOUBTFUL = {
    "rows of years": ("1900,1950,2000\n1905,1955,2010\n1910,1960,1990\n", False),
    "rows of years with decimals": ("1900,1950,2000\n1901.5,1950.2,2003.7\n1899.2,1940.1,1999.5\n", False),
    "rows of smaller numbers": ("1900,1950,2000\n1700.5,1750.2,1800.1\n1720.3,1760.7,1790.2\n", False),
    "counts over counts": ("1,2,3\n4,5,6\n7,8,10\n", False),
    "counts over decimals": ("1,2,3\n1.5,2.5,3.7\n0.9,2.1,3.3\n", False),
    "a table that counts": ("\n".join(",".join(str(10 * i + j) for j in range(10)) for i in range(5)) + "\n", False),
    "a word and counts": ("A,1,2\nB,3,4\nC,5,9\n", False),
    "a year alone": ("city,2020\nBerlin,3.6\nParis,2.1\n", False),
    "pandas, decimals": ("0,1,2\n0.5,1.7,2.5\n0.9,2.1,3.3\n", True),
    "pandas, with its index": (INDEXED, True),
    "pandas, many integers": (TEN, True),
    "years over measurements": ("1990,1991,1992\n1.5,2.5,3.5\n0.3,0.2,0.1\n", True),
    "years over small counts": ("1990,1991,1992\n1,2,3\n5,4,9\n", True),
    "years that fall": ("2020,2019,2018\n1.5,2.5,3.5\n0.3,0.2,0.1\n", True),
    "years over incomes": (COUNTRIES, True),
    "years over populations": (POPULATIONS, True),
    "many years over counts of all sizes": (SERIES, True),
    "years over years": (SPANS, False),
    "wavelengths": ("1100.5,1102.5,1104.5,1106.5,1108.5\n0.1,0.2,0.3,0.2,0.1\n0.3,0.1,0.2,0.4,0.5\n", True),
    "quoted": ('"1","2","3"\n4,5,6\n7,8,9\n', True),
}
CERTAIN = {
    "text over numbers": ("a,1\n1,2\n3,4\n", True),
    "decimals": ("0.3,-0.2,0.7\n0.1,0.2,0.3\n0.5,0.4,0.2\n", False),
    "a word that comes again": ("5.1,3.5,1.4,setosa\n4.9,3.0,1.4,setosa\n6.1,3.0,4.4,other\n", False),
    "names that would repeat": ("0,0,5\n1,2,3\n4,5,6\n", False),
}


@pytest.fixture
def table(tmp_path):
    def write(text, name="x.csv"):
        data = text if isinstance(text, bytes) else text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return tmp_path / name

    return write


def remarks(path, **given):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rows = read(path, **given)
    return rows, [str(warning.message) for warning in told if "first line" in str(warning.message)]


def has_names(rows):
    return any(isinstance(name, str) for name in rows.names or ())


@pytest.mark.parametrize("name", DOUBTFUL)
def test_a_first_line_of_numbers_is_never_taken_without_a_word(table, name):
    text, header = DOUBTFUL[name]
    rows, told = remarks(table(text))
    assert has_names(rows) == header
    assert rows.shape[0] == text.count("\n") - header
    assert len(told) == 1
    assert ("taken for names of columns" if header else "taken for a row") in told[0]
    assert "header=True" in told[0]
    assert "header=False" in told[0]
    assert "were taken for" in repr(rows)
    for given in (True, False):
        rows, told = remarks(table(text), header=given)
        assert (rows.shape[0], has_names(rows), told) == (text.count("\n") - given, given, [])


@pytest.mark.parametrize("name", CERTAIN)
def test_no_word_where_there_is_no_doubt(table, name):
    text, header = CERTAIN[name]
    rows, told = remarks(table(text))
    assert (has_names(rows), told, "taken" in repr(rows)) == (header, [], False)


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.txt", "x.csv.gz"])
@pytest.mark.parametrize("transpose", [False, True])
def test_every_kind_of_text_says_it(table, name, transpose):
    text = DOUBTFUL["rows of years"][0].replace(",", "\t" if "tsv" in name else " " if "txt" in name else ",")
    rows, told = remarks(table(text, name), transpose=transpose)
    assert (rows.shape, len(told)) == ((3, 3), 1)
    rows, told = remarks(table(text, name), transpose=transpose, header=True)
    assert (rows.shape, told) == ((3, 2) if transpose else (2, 3), [])


def test_a_header_is_true_false_or_to_be_found(table):
    with pytest.raises(TypeError, match="header='yes' must be True, False, or None"):
        read(table("a,b\n1,2\n"), header="yes")
    assert read(table("# a,b\n1.5,2\n3,4.5\n"), header=False).shape == (2, 2)


def test_commands_say_it_and_can_be_told(table, tmp_path):
    path = table(DOUBTFUL["rows of years"][0])
    for command in (("info", path), ("fit", path, "-o", tmp_path / "m")):
        told = answer(*command)
        assert told["rows"] == 3
        assert any(
            "taken for a row" in word and "--header" in word and "--no-header" in word for word in told["warnings"]
        )
    model = tmp_path / "m" / "model.safetensors"
    assert answer("info", path, "--header")["rows"] == 2
    assert "--header" in run("info", path, "--header").stdout
    assert answer("fit", path, "--no-header", "-o", tmp_path / "n")["warnings"] == []
    assert answer("transform", model, path, "-o", tmp_path / "s.csv")["rows"] == 3
    assert answer("transform", model, path, "--header", "-o", tmp_path / "s.npy")["rows"] == 2
    run("report", model, path, "--no-header", "--force")
    (tmp_path / "bare.csv").write_text("1,2\n3,4\n5,9\n")
    assert answer("inverse", model, tmp_path / "bare.csv", "-o", tmp_path / "r.csv")["rows"] == 3
    assert answer("inverse", model, tmp_path / "bare.csv", "--header", "-o", tmp_path / "q.csv")["rows"] == 2
    assert "taken for a row" in run("info", "-", input=path.read_bytes()).stderr


@pytest.mark.filterwarnings("ignore::ritz.errors.ColumnWarning")
def test_a_model_knows_whether_its_columns_have_names(table, tmp_path):
    """Names of numbers are found again, and rows that look like names are rows to a model without any."""
    named = table("0.5,0.1,0.7\n1,2,3\n4,5,7\n5,1,2\n", "named.csv")
    run("fit", named, "--header", "-k", 1, "-o", tmp_path / "m", "-q")
    assert answer("transform", tmp_path / "m" / "model.safetensors", named, "-o", tmp_path / "a.npy")["rows"] == 3
    assert len(PCA(1).fit(read(named, header=True)).transform(named)) == 3
    years = table(DOUBTFUL["years over measurements"][0], "years.csv")
    run("fit", years, "--no-header", "-k", 1, "-o", tmp_path / "n", "-q")
    assert answer("transform", tmp_path / "n" / "model.safetensors", years, "-o", tmp_path / "b.npy")["rows"] == 3
    rows = read(years, header=False)
    assert len(PCA(1).fit(rows).transform(rows)) == 3
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((9, 3)))
    pandas = table(DOUBTFUL["pandas, decimals"][0], "pandas.csv")
    assert len(PCA(1).fit(tmp_path / "x.npy").transform(pandas)) == 2


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
def test_wide_encodings_are_read_and_called_by_their_names(table, encoding, mark, name):
    rows = read(table(f"{mark}größe,b\n1,2\n3,4.5\n".encode(encoding), name))
    assert rows.names == ("größe", "b")
    assert np.array_equal(rows.block(0, 2), [[1, 2], [3, 4.5]])
    assert f"{encoding}{' with a byte-order mark' if mark else ''}>" in repr(rows)


def test_bytes_that_are_no_text_say_what_to_do(table):
    with pytest.raises(DataError, match=r"zero bytes, but is neither UTF-16 nor UTF-32.*iconv"):
        read(table(b"\x00\x01\x02\x00\x00\x07" * 9))


WORDS = ["the", ",", ".", "of", '"', "'s", "king", "1990", "null"]
VECTORS = np.random.default_rng(0).standard_normal((len(WORDS), 5)).round(4)
LINES = "".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in zip(WORDS, VECTORS, strict=True))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (LINES, None),
        (f"9 5\n{LINES}", r"the first line \(9 5\).* was skipped$"),
        (f"9 5\n{LINES}".replace("\n", " \n"), r"the first line \(9 5\).* was skipped$"),
        (f"10 5\n{LINES}", "skipped; it says 10 words, but there are 9"),
    ],
    ids=["GloVe", "word2vec", "blanks at the end", "cut off"],
)
def test_vectors_of_words(table, tmp_path, text, told):
    path = table(text, "v.txt")
    if told is None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rows = read(path)
    else:
        with pytest.warns(ColumnWarning, match=told):
            rows = read(path)
        assert "skipped" in repr(rows)
    assert np.array_equal(rows.block(0, 9), VECTORS)
    assert rows.row_names.tolist() == WORDS
    assert answer("fit", path, "-o", tmp_path / "m")["left_out"] == {"word": "identifies rows"}
    run("transform", tmp_path / "m" / "model.safetensors", path, "-o", tmp_path / "s.csv")
    written = (tmp_path / "s.csv").read_text()
    assert written == (tmp_path / "m" / "scores.csv").read_text()
    assert [cells[0] for cells in csv.reader(written.splitlines()[1:])] == WORDS


@pytest.mark.parametrize("name", ["wiki.vec", "wiki.VEC", "wiki.vec.gz"])
def test_vectors_of_fasttext_are_known_by_their_ending(table, tmp_path, name):
    path = table(f"9 5\n{LINES}".replace("\n", " \n"), name.replace(".VEC", "")).rename(tmp_path / name)
    with pytest.warns(ColumnWarning, match=r"the first line \(9 5\).* was skipped$"):
        rows = read(path)
    assert np.array_equal(rows.block(0, 9), VECTORS)
    assert rows.row_names.tolist() == WORDS
    assert f"NEW{name.lower().removeprefix('wiki')} -o" in run("fit", path, "-o", tmp_path / "m").stdout


@pytest.mark.parametrize("name", ["v.vec", "v.vec.gz"])
def test_vectors_of_one_number_are_known_by_their_ending(table, name):
    with pytest.warns(ColumnWarning, match=r"the first line \(3 1\).* was skipped$"):
        rows = read(table("3 1\na 1\nb 2\nc 5\n", name))
    assert rows.block(0, 3).tolist() == [[1], [2], [5]]
    assert rows.row_names.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (range(4000, 3980, -4), "it falls in equal steps, far"),
        (range(4000, 4020, 4), "it rises in equal steps, far"),
        ([4000 - i**2 for i in range(10)], "it falls from cell to cell, far"),
    ],
)
def test_the_way_of_a_header_of_numbers_is_told(table, names, words):
    rows = [",".join(f"0.{(3 * i + j) % 9 + 1}" for j in range(len(names))) for i in range(4)]
    assert words in remarks(table("\n".join([",".join(map(str, names)), *rows]) + "\n"))[1][0]


def test_a_quote_is_a_word_of_short_vectors_too(table):
    rows = read(table('the 0.5 0.25\n" 0.75 1.5\nof 2.5 0.5\n', "v.txt"))
    assert rows.row_names.tolist() == ["the", '"', "of"]


def test_names_of_rows_as_r_leaves_them_unnamed(table):
    rows, told = remarks(table("1990 1991\nA 1.5 2.5\nB 2 3\n", "x.txt"))
    assert (rows.names, rows.shape) == (("1990", "1991"), (2, 2))
    assert "one cell fewer" in told[0]


def test_names_of_years_between_blanks_are_no_vector(table):
    rows, told = remarks(table("country 1990 1991 1992 1993\nA 1.5 2 3 4\nB 2.5 3 4 7\n", "x.txt"))
    assert rows.names == ("1990", "1991", "1992", "1993")
    assert len(told) == 1


def test_columns_are_numbered_from_0_or_1_and_fewer_of_them_beside_text():
    rows = [[f"{i + more}.5" for i in range(5, 13)] for more in (0, 1, 4)]
    assert not judge_header([[str(i) for i in range(5, 13)], *rows], ".", False)[0]
    assert judge_header([[str(i) for i in range(1, 9)], *rows], ".", False)[0]
    numbers = [["0", "1"], ["0.5", "0.7"], ["1.5", "0.2"]]
    assert not judge_header(numbers, ".", False)[0]
    assert judge_header([[name, *row] for name, row in zip(("name", "a", "b"), numbers, strict=True)], ".", False)[0]

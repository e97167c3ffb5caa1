"""Tables of words: separators, headers and gaps, in every encoding and compression that tables of numbers have."""

import gzip

import pytest

from ritz import DataError
from ritz.rows.text.words import columns_of_words

LABELS = ["red wine", "white wine", "red wine", "", "NA", "white wine"]
CLEAN = ["red wine", "white wine", "red wine", None, None, "white wine"]


def read(path, text, encoding="utf-8", **given):
    data = text.encode(encoding)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return {key: cells.tolist() for key, cells in columns_of_words(path, **given).items()}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_two_columns(tmp_path, separator, name, encoding):
    text = "\n".join(separator.join([f"W-{i}", label]) for i, label in enumerate(LABELS))
    found = read(tmp_path / name, f"bottle{separator}kind of wine\n{text}\n", encoding)
    assert found == {"bottle": [f"W-{i}" for i in range(6)], "kind of wine": CLEAN}


@pytest.mark.parametrize(
    ("text", "given", "found"),
    [
        ("a b\nc\nd\n", {"n": 3}, {0: ["a b", "c", "d"]}),
        ("a b\nc\nd\n", {"n": 2}, {"a b": ["c", "d"]}),
        ("kind\n1\n2\n2\n", {"n": 4}, {"kind": ["1", "2", "2"]}),
        ("kind\n" + "u\nv\n" * 6, {"n": 13}, {"kind": ["u", "v"] * 6}),
        ("u\n" + "u\nv\n" * 6, {"n": 13}, {0: ["u"] + ["u", "v"] * 6}),
        ("id,k\nA,u\nB,v\n", {"known": "id"}, {"id": ["A", "B"], "k": ["u", "v"]}),
        ('id,k\n"A,1",u\nB,v\n', {"known": "id"}, {"id": ["A,1", "B"], "k": ["u", "v"]}),
        ("one\n", {}, {0: ["one"]}),
        ("k,k\nu,1\nv,2\n", {}, {"k": ["u", "v"], "k_2": ["1", "2"]}),
    ],
)
def test_headers(tmp_path, text, given, found):
    assert read(tmp_path / "x.txt", text, **given) == found


@pytest.mark.parametrize(
    ("text", "words"), [("", "holds no rows"), ("a,b\n1,2\n3\n", "row 3 of .* has 1 cells, not 2"), ('"a\n', "a table")]
)
def test_what_is_no_table_is_refused(tmp_path, text, words):
    with pytest.raises(DataError, match=words):
        read(tmp_path / "x.csv", text)

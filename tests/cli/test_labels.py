"""Labels from another file: by the names of the rows where both files have them, else by order; never shifted."""

import numpy as np
import pandas as pd
import pyarrow.csv
import pytest

from helpers.commands import all_said, answer, run
from helpers.files import write_idx

N = 40
RNG = np.random.default_rng(0)
NAMES = [f"W-{i:02}" for i in range(N)]
KINDS = [f"kind {i % 3}" for i in range(N)]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(RNG.normal(size=(N, 3)).round(4), columns=["a", "b", "c"])
    frame.to_csv("plain.csv", index=False)
    np.save("plain.npy", frame.to_numpy())
    frame.insert(0, "bottle", NAMES)
    frame.to_csv("x.csv", index=False)
    frame.to_parquet("x.parquet")
    return tmp_path


def labels_of(folder, column):
    return pyarrow.csv.read_csv(f"{folder}/scores.csv")[column].to_pylist()


def test_by_name_whatever_the_order(here):
    order = RNG.permutation(N)
    pd.DataFrame({"bottle": NAMES, "kind": KINDS}).iloc[order].to_csv("labels.csv", index=False)
    told = answer("fit", "x.csv", "-k", 2, "--labels", "labels.csv")
    assert told["label"] == "kind"
    assert told["facts"]["labels"] == "'kind' of labels.csv, matched by the names of the rows in 'bottle'"
    assert labels_of("x-ritz", "kind") == KINDS
    assert "kind 2" in (here / "x-ritz" / "report.html").read_text("utf-8")
    assert answer("info", "x.csv", "--labels", "labels.csv")["label"] == "kind"


def test_by_name_under_another_name_and_with_more_rows(here):
    more = [f"V-{i}" for i in range(5)]
    pd.DataFrame({"id": [*more, *NAMES], "kind": ["other"] * 5 + KINDS}).to_parquet("labels.parquet")
    run("fit", "x.csv", "-k", 2, "--labels", "labels.parquet")
    assert labels_of("x-ritz", "kind") == KINDS


def test_one_column_of_several(here):
    table = pd.DataFrame({"bottle": NAMES, "kind": KINDS, "year": range(2000, 2000 + N)})
    table.to_csv("labels.csv", index=False)
    assert "name that of the labels: labels.csv:COL" in all_said("fit", "x.csv", "--labels", "labels.csv", code=3)
    run("fit", "x.csv", "-k", 2, "--labels", "labels.csv:kind")
    assert labels_of("x-ritz", "kind") == KINDS
    said = all_said("fit", "x.csv", "--labels", "labels.csv:knd", "--force", code=3)
    assert "there is no column 'knd' (did you mean 'kind'?)" in said


WRITERS = {
    "words.txt": lambda path: path.write_text("\n".join(KINDS) + "\n"),
    "named.csv": lambda path: path.write_text("\n".join(["sort", *KINDS]) + "\n"),
    "numbers.csv": lambda path: path.write_text("\n".join(map(str, [i % 3 for i in range(N)])) + "\n"),
    "kinds.npy": lambda path: np.save(path, np.array(KINDS)),
    "kinds.parquet": lambda path: pd.DataFrame({"k": pd.Categorical(KINDS)}).to_parquet(path),
    "kinds-idx1-ubyte": lambda path: write_idx(path, np.arange(N, dtype=np.uint8) % 3),
    "kinds.csv.gz": lambda path: pd.DataFrame({"k": KINDS}).to_csv(path, index=False),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("data", ["plain.csv", "plain.npy"])
def test_by_order(here, name, data):
    WRITERS[name](here / name)
    told = answer("fit", data, "-k", 2, "--labels", name)
    assert told["facts"]["labels"].endswith("in the order of the rows")
    found = told["recognition"]
    assert found is not None
    assert told["rows"] == N
    if data == "plain.csv":
        labels = labels_of("plain-ritz", told["label"])
        assert [str(label).removeprefix("kind ").removesuffix(".0") for label in labels] == [
            kind.removeprefix("kind ") for kind in KINDS
        ]


def test_gaps_are_a_group_of_their_own(here):
    cells = [kind if i % 4 else "" for i, kind in enumerate(KINDS)]
    pd.DataFrame({"bottle": NAMES, "kind": cells}).to_csv("labels.csv", index=False)
    told = answer("fit", "x.csv", "-k", 2, "--labels", "labels.csv")
    assert told["facts"]["labels"].endswith("; 10 rows without a label")
    page = (here / "x-ritz" / "report.html").read_text("utf-8")
    assert "missing" in page


def test_rows_that_are_dropped_take_their_labels_with_them(here):
    frame = pd.read_csv("x.csv")
    frame.loc[[3, 8], "b"] = np.nan
    frame.to_csv("gaps.csv", index=False)
    pd.DataFrame({"bottle": NAMES[::-1], "kind": KINDS[::-1]}).to_csv("labels.csv", index=False)
    run("fit", "gaps.csv", "-k", 2, "--labels", "labels.csv", "--missing", "drop")
    assert labels_of("gaps-ritz", "kind") == [kind for i, kind in enumerate(KINDS) if i not in (3, 8)]


def test_labels_of_differences_are_those_of_later_rows(here):
    (here / "k.txt").write_text("\n".join(KINDS) + "\n")
    run("fit", "plain.csv", "-k", 2, "--labels", "k.txt", "--diff")
    assert labels_of("plain-ritz", "k") == KINDS[1:]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("k\n" + "\n".join(KINDS[:-1]), "has 39 labels under the name 'k', but plain.csv has 40 rows"),
        ("k\n" + "\n".join([*KINDS, "u", "v"]), "has 42 labels under the name 'k', but plain.csv has 40 rows"),
    ],
)
def test_other_counts_are_refused(here, text, words):
    (here / "k.csv").write_text(text + "\n")
    assert words in all_said("fit", "plain.csv", "--labels", "k.csv", code=3)


def test_names_that_do_not_match_are_counted_and_shown(here):
    pd.DataFrame({"bottle": NAMES[4:], "kind": KINDS[4:]}).to_csv("few.csv", index=False)
    said = all_said("fit", "x.csv", "--labels", "few.csv", code=3)
    assert "4 of 40 rows of x.csv are not in few.csv, such as 'W-00', 'W-01', 'W-02', …; add them there" in said
    pd.DataFrame({"bottle": [*NAMES, "W-07"], "kind": [*KINDS, "u"]}).to_csv("twice.csv", index=False)
    assert "names 1 row more than once, such as 'W-07'; leave one line of each" in all_said(
        "fit", "x.csv", "--labels", "twice.csv", code=3
    )


def test_report_takes_them_too(here):
    pd.DataFrame({"bottle": NAMES, "kind": KINDS}).to_csv("labels.csv", index=False)
    run("fit", "x.csv", "-k", 2)
    run("report", "x-ritz/model.safetensors", "x.csv", "--labels", "labels.csv", "-o", "page.html")
    assert "kind 2" in (here / "page.html").read_text("utf-8")


def test_wrong_usage(here):
    assert "leave one of them out" in all_said("fit", "x.csv", "--label", "a", "--labels", "plain.csv:a", code=2)
    assert "leave one of them out" in all_said("info", "x.csv", "--label", "a", "--labels", "plain.csv:a", code=2)
    assert "there is no file 'nothing.csv'" in all_said("fit", "x.csv", "--labels", "nothing.csv", code=2)

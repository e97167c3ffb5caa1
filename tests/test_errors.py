"""Errors in the data say what is wrong apart from what to do, so that programs can word the next step themselves."""

import pickle

import numpy as np
import pytest

from ritz import PCA, DataError, read
from ritz.errors import FILE, NotYetError


def test_a_problem_and_its_advice_make_the_message():
    error = DataError("row 3 is missing", "drop it", "missing")
    assert (str(error), error.problem, error.advice, error.code) == (
        "row 3 is missing; drop it",
        "row 3 is missing",
        "drop it",
        "missing",
    )
    plain = DataError("row 3; it is missing")
    assert (str(plain), plain.problem, plain.advice, plain.code) == (str(plain), str(plain), "", "")


@pytest.mark.parametrize("kind", [DataError, NotYetError])
def test_the_same_error_in_other_words_is_of_the_same_kind(kind):
    error = kind(f"{FILE} is empty", file="x.csv").in_file("standard input")
    assert (type(error), str(error), error.code) == (kind, "standard input is empty", "")


def test_other_words_keep_advice_and_code():
    error = DataError(f"{FILE} is empty", "fill it", "empty", file="x.csv").in_file("standard input")
    assert str(error) == "standard input is empty; fill it"
    assert (error.problem, error.code) == ("standard input is empty", "empty")


def test_an_error_survives_a_process():
    error = pickle.loads(pickle.dumps(DataError("row 3 is missing", "drop it", "missing")))
    assert (str(error), error.problem, error.code) == ("row 3 is missing; drop it", "row 3 is missing", "missing")


@pytest.mark.parametrize(("cell", "code"), [("nan", "missing"), ("inf", "infinite"), ("x", "not_a_number")])
def test_errors_of_a_file_have_codes(tmp_path, cell, code):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1,2\n3,5\n" * 10 + f"4,{cell}\n")
    with pytest.raises(DataError) as found:
        PCA(1).fit(read(path))
    assert found.value.code == code


def test_an_error_of_a_file_that_only_knows_its_contents_keeps_its_code(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[1, 2**53 + 1], [3, 4]]))
    with pytest.raises(DataError) as found:
        PCA(1).fit(tmp_path / "x.npy")
    assert found.value.code == "large_integer"

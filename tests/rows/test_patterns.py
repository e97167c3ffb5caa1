"""Columns as they are typed: a name first, whatever it looks like, then lists, patterns and ranges."""

import pytest

from ritz import DataError
from ritz.rows.patterns import matching

NAMES = ["id", "x1", "x2", "x10", "a,b", "c*", "3-4", "weight [kg]", " padded "]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (["x2"], ["x2"]),
        (["x*"], ["x1", "x2", "x10"]),
        (["x?"], ["x1", "x2"]),
        (["x[12]"], ["x1", "x2"]),
        (["x10,x1"], ["x10", "x1"]),
        (["x10, x1"], ["x10", "x1"]),
        (["a,b"], ["a,b"]),
        (['"a,b",x1'], ["a,b", "x1"]),
        (["c*"], ["c*"]),
        (["weight [kg]"], ["weight [kg]"]),
        (["3-4"], ["3-4"]),
        (["1-3"], ["x1", "x2", "x10"]),
        (["x1", "x*"], ["x1", "x2", "x10"]),
        ([" padded "], [" padded "]),
        (["x1,1-2,i*"], ["x1", "x2", "id"]),
        ([], []),
    ],
)
def test_what_is_meant(asked, found):
    assert matching(NAMES, asked) == found


def test_columns_without_names_are_known_by_place():
    assert matching(range(12), ["3", "5-7", "1?"]) == [3, 5, 6, 7, 10, 11]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("weihgt", "no column 'weihgt' "),
        ("X1", "did you mean 'x1'"),
        ("y*", "no column fits 'y*'"),
        ("x1,nobody", "there is no column 'nobody'; there are 9"),
        ("5-99", "there is no column '5-99'"),
        ("4-2", "there is no column '4-2'"),
    ],
)
def test_what_nothing_fits_is_an_error_that_shows_what_is_near(asked, words):
    with pytest.raises(DataError) as told:
        matching([*NAMES, "weight"], [asked])
    assert words in str(told.value).replace("10: ", "9: ").replace("there are 10", "there are 9")

"""What may stand beside rows, however it is kept."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ritz import DataError
from ritz.interpretation.given import Given, categories

NUMBERS, TEXT, FLAGS = [1.0, 2.5, 4.0], ["x", "y", "x"], [True, False, True]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"n": NUMBERS, "t": TEXT, "f": FLAGS}),
        pl.DataFrame({"n": NUMBERS, "t": TEXT, "f": FLAGS}),
        pa.table({"n": NUMBERS, "t": TEXT, "f": FLAGS}),
        {"n": NUMBERS, "t": TEXT, "f": FLAGS},
        {"n": np.array(NUMBERS), "t": np.array(TEXT), "f": np.array(FLAGS)},
        {"n": pd.Series(NUMBERS), "t": pd.Series(TEXT, dtype="category"), "f": pl.Series(FLAGS)},
    ],
    ids=["pandas", "polars", "arrow", "lists", "arrays", "series"],
)
def test_tables_of_any_kind(table):
    found = Given.of(table, None, None, 3)
    assert found.names == ("n",)
    assert found.values[:, 0].tolist() == NUMBERS
    assert [kind.column for kind in found.categories] == ["t", "f"]
    assert found.categories[0].names == ("x", "y")
    assert found.categories[0].codes.tolist() == [0, 1, 0]
    assert found.categories[1].names == ("False", "True")


def test_columns_of_the_same_name_are_told_apart():
    table = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["n", "n"])
    found = Given.of(table, None, None, 2)
    assert found.names == ("n", "n_2")
    assert found.values.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_arrays_have_names_by_position():
    assert Given.of(np.ones((4, 2)) * np.arange(4)[:, None], None, None, 4).names == ("s1", "s2")
    assert Given.of(np.arange(4), None, None, 4).names == ("s1",)
    with pytest.raises(DataError, match="3 axes"):
        Given.of(np.ones((2, 2, 2)), None, None, 2)


def test_numbers_are_categories_where_they_are_labels():
    found = Given.of(None, np.array([2.0, np.nan, 10.0, 2.0]), None, 4).categories[0]
    assert found.names == ("2", "10")  # by size, and whole numbers look whole
    assert found.codes.tolist() == [0, 2, 1, 0]
    assert found.gaps


@pytest.mark.parametrize("gap", [None, np.nan, "", "  ", pd.NA, pd.NaT])
def test_what_is_missing(gap):
    found = categories("c", ["a", gap, "missing"], 3)
    assert found.names == ("a", "missing")
    assert found.codes.tolist() == [0, 2, 1]
    assert found.titles == ["c=a", "c=missing", "c (missing)"]


def test_categories_keep_an_order_that_was_given():
    sizes = pd.Series(pd.Categorical(["small", "large", "small"], categories=["small", "middle", "large"]))
    found = Given.of({"size": sizes}, None, None, 3).categories[0]
    assert found.names == ("small", "large")


def test_numbers_with_gaps_that_came_as_objects():
    found = Given.of({"n": [1, None, 3]}, None, None, 3)
    assert found.names == ("n",)
    assert np.isnan(found.values[1, 0])
    nullable = Given.of({"n": pd.Series([1, None, 3], dtype="Int64")}, None, None, 3)
    assert nullable.values[[0, 2], 0].tolist() == [1.0, 3.0]
    assert np.isnan(nullable.values[1, 0])


@pytest.mark.parametrize("values", [[1.0, 2.0], np.ones((3, 2)), pd.Series([1.0] * 4)])
def test_a_value_for_each_row(values):
    with pytest.raises(DataError, match=r"'n' has .*, but X has 3 rows; give one value for each row"):
        Given.of({"n": values}, None, None, 3)


def test_values_that_are_equal_and_not_the_same():
    """1, True and 1.0 are one key of a dictionary; lists are none."""
    found = categories("c", [1, True, "1", 1.0, np.nan, float("nan")], 6)
    assert found.names == ("1", "True")
    assert found.codes.tolist() == [0, 1, 0, 0, 2, 2]
    assert categories("c", [1, True], 2).names == ("1", "True")
    assert categories("c", [["a"], ["b"], ["a"]], 3).codes.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "cells",
    [
        np.array(["", "b", "10", "9", "größer", " "])[np.arange(12_000) % 6],
        np.array([b"x", b"y"])[np.arange(12_000) % 2],
        np.array([3, -1, 2**60])[np.arange(12_000) % 3],
        np.array([0.0, -0.0, np.nan, -np.nan, 2.0, 2.5])[np.arange(12_000) % 6],
        np.array([True, False])[np.arange(24_000) % 2][::2],
        np.array([3, 7, 5], np.int8)[np.arange(36_000) % 3][::-2],
    ],
    ids=["text", "bytes", "integers", "floats", "flags", "strides"],
)
def test_many_cells_are_the_categories_that_few_are(cells):
    """Many are told apart by their bytes."""
    many, few = categories("c", cells, len(cells)), categories("c", cells.tolist(), len(cells))
    assert (many.names, many.gaps) == (few.names, few.gaps)
    assert np.array_equal(many.codes, few.codes)
    assert [categories("c", cells[i : i + 1], 1).names[:1] for i in range(6)] == [
        () if many.codes[i] == len(many.names) else (many.names[many.codes[i]],) for i in range(6)
    ]


def test_more_categories_than_a_byte_counts():
    cells = [f"{i % 700}" for i in range(2000)]
    found = categories("c", cells, 2000)
    assert [found.names[code] for code in found.codes] == cells

"""Tables print what they hold, harmlessly, and become frames."""

import sys

import numpy as np
import pytest

from ritz.errors import MissingPackageError
from ritz.runtime.tables import Table, written

TABLE = Table({"value": np.array([1.5, np.nan]), "word": ["a", "b"]}, ["PC1", "PC2"], ("head",), ("note",))


def test_lines_are_aligned_between_head_and_notes():
    lines = str(TABLE).splitlines()
    assert lines == ["head", "     value  word", "PC1    1.5  a", "PC2         b", "note"]


def test_long_tables_say_how_much_they_leave_out():
    lines = Table({"i": range(100)}, range(100)).lines(most=3)
    assert len(lines) == 5
    assert lines[-1] == "… and 97 more rows"


def test_text_of_the_data_is_made_harmless():
    said = str(Table({"\x1b[31mred": ["a\nb"]}, ["x" * 1000]))
    assert "\x1b" not in said
    assert max(map(len, said.splitlines())) < 100
    assert len(said.splitlines()) == 2


def test_frames_have_the_names_of_rows_and_columns():
    pd = pytest.importorskip("pandas")
    frame = TABLE.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.index) == ["PC1", "PC2"]
    assert list(frame.columns) == ["value", "word"]
    assert frame.loc["PC1", "value"] == 1.5


def test_polars_where_there_is_no_pandas(monkeypatch):
    pl = pytest.importorskip("polars")
    monkeypatch.setitem(sys.modules, "pandas", None)
    frame = TABLE.to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame["name"].to_list() == ["PC1", "PC2"]
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingPackageError, match="pip install pandas"):
        TABLE.to_frame()


def test_columns_must_have_a_cell_for_every_row():
    with pytest.raises(ValueError, match="'a' has 1 cells for 2 rows"):
        Table({"a": [1]}, ["x", "y"])


@pytest.mark.parametrize(("value", "text"), [(None, ""), (np.bool_(False), "no"), (123456.0, "123456"), (1e9, "1e+09")])
def test_cells(value, text):
    assert written(value) == text

"""Missing and infinite cells, columns of nothing, and columns that do not vary."""

import numpy as np
import pytest

import ritz

RNG = np.random.default_rng(0)
NAMES = list("abcd")


def table(n=400):
    return RNG.normal(size=(n, 4))


@pytest.mark.parametrize("sample", [None, 5000])
def test_gaps_are_counted(sample):
    X = table()
    X[:30, 1], X[10:15, 2] = np.nan, np.nan
    finding = ritz.inspect(X, names=NAMES, sample=sample)["missing"]
    assert (finding.severity, finding.columns) == ("error", ("b", "c"))
    assert (finding.evidence["counts"], finding.evidence["rows"]) == ([30, 5], 30)
    assert finding.rows == (0, 1, 2, 3, 4)
    assert "together in 'b', 'c' 5 times" in finding.sentence


def test_gaps_of_all_rows_in_memory(monkeypatch):
    monkeypatch.setattr("ritz.inspection.sample.LOOKED_BYTES", 8 * 4 * 200)
    X = table(9000)
    X[8990, 3], X[8991, 0] = np.nan, -np.inf
    found = ritz.inspect(X, names=NAMES)
    assert (found["missing"].columns, found["missing"].evidence["counts"]) == (("d",), [1])
    assert (found["infinite"].columns, found["infinite"].evidence["counts"]) == (("a",), [1])


def test_what_it_says_about_infinities_can_be_done():
    X = table()
    X[3, 2], X[5, 2] = np.inf, -np.inf
    finding = ritz.inspect(X, names=NAMES)["infinite"]
    assert (finding.severity, finding.columns, finding.rows) == ("error", ("c",), (3, 5))
    rows = ritz.read(X, na=[float("inf"), float("-inf")], missing="mean")
    assert rows.n_filled == 2
    ritz.PCA(2).fit(rows)


def test_columns_of_hardly_anything():
    X = table()
    X[5:, 0], X[:, 3] = np.nan, np.nan
    assert ritz.inspect(X, names=NAMES)["nearly_empty"].columns == ("a", "d")


def test_constant_and_nearly_constant_columns():
    X = table()
    X[:, 0], X[:, 1] = 7.0, 7.0
    X[[3, 8], 1] = 9.0
    found = ritz.inspect(X, names=NAMES)
    assert (found["constant"].columns, found["constant"].option) == (("a",), "--drop-constant")
    assert (found["nearly_constant"].columns, found["nearly_constant"].rows) == (("b",), (3, 8))
    assert "nearly_constant" not in ritz.inspect(np.eye(5)[RNG.integers(0, 5, 1000)])


def test_a_column_without_any_value_is_left_out_before_rows_are():
    X = RNG.normal(size=(50, 3))
    X[:, 1] = np.nan
    assert ritz.inspect(X)["missing"].option == "--drop 1"
    X[4, 0] = np.nan
    assert ritz.inspect(X)["missing"].option == "--drop 1 --missing drop"

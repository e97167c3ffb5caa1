"""Rows and columns that are there twice: all of them are counted, and none is found where chance explains it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ritz
from ritz.inspection.duplicates import hashes, repeats

RNG = np.random.default_rng(0)


@given(st.lists(st.lists(st.sampled_from([0.0, -0.0, 1.0, float("nan"), 5e-324, 1e300]), min_size=2, max_size=2)))
def test_equal_rows_have_equal_hashes_and_others_do_not(rows):
    X = np.array(rows, float).reshape(-1, 2)
    keys = [tuple("nan" if x != x else x + 0.0 for x in row) for row in X.tolist()]
    first = {key: keys.index(key) for key in keys}
    later = [i for i, key in enumerate(keys) if first[key] != i]
    count, pair = repeats(hashes(X), np.arange(len(X)), X.shape[1])
    assert count == len(later)
    assert pair == ((first[keys[later[0]]], later[0]) if later else None)


@pytest.mark.parametrize("count", [1, 7, 60])
def test_duplicate_rows_are_counted(count):
    X = RNG.normal(size=(500, 3))
    X[500 - count :] = X[:count]
    finding = ritz.inspect(X)["duplicate_rows"]
    assert finding.evidence["count"] == count
    assert finding.rows == (0, 500 - count)
    assert finding.severity == ("warning" if count > 25 else "note")


def test_of_rows_in_memory_all_are_compared(monkeypatch):
    monkeypatch.setattr("ritz.inspection.sample.LOOKED_BYTES", 8 * 3 * 200)
    X = RNG.normal(size=(9000, 3))
    X[8123] = X[77]
    finding = ritz.inspect(X)["duplicate_rows"]
    assert (finding.rows, finding.evidence) == ((77, 8123), {"count": 1, "rows": 9000, "exact": True})


def test_iris_has_one():
    from sklearn.datasets import load_iris

    finding = ritz.inspect(load_iris().data)["duplicate_rows"]
    assert (finding.rows, finding.severity) == ((101, 142), "note")


def test_a_few_answers_repeat_by_themselves():
    for d in (1, 3, 5):
        assert "duplicate_rows" not in ritz.inspect(RNG.integers(1, 6, (400, d)))


COPIES = {
    "equal": lambda x: x,
    "inches": lambda x: x / 2.54,
    "fahrenheit": lambda x: 1.8 * x + 32,
    "negative": lambda x: -x,
    "far": lambda x: 1e-6 * x + 5,
}


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [30, 2000])
def test_columns_in_another_unit(name, dtype, n):
    X = RNG.normal(100, 10, (n, 5))
    X[:, 3] = COPIES[name](X[:, 1])
    found = ritz.inspect(X.astype(dtype), names=list("abcde"))
    if name == "far" and dtype is np.float32:  # 5 + 1e-4 has but two digits of the other column there
        return
    finding = found["duplicate_columns"]
    assert (finding.columns, finding.evidence["of"]) == (("d",), ["b"])
    assert finding.evidence["signs"] == [-1.0 if name == "negative" else 1.0]
    assert finding.option == "--drop d"


def test_columns_that_are_only_close_are_none():
    x = RNG.normal(100, 10, 1000)
    assert "duplicate_columns" not in ritz.inspect(np.column_stack([x, x + 1e-4 * RNG.normal(size=1000)]))


def test_few_rows_and_few_values_agree_by_chance():
    for n in (2, 3, 5):
        assert "duplicate_columns" not in ritz.inspect(RNG.normal(size=(n, 6)))
    for _ in range(20):
        assert "duplicate_columns" not in ritz.inspect(RNG.integers(0, 2, (15, 30)))


def test_many_columns():
    X = RNG.normal(size=(60, 3000))
    X[:, 2999], X[:, 1500] = 2 * X[:, 4], X[:, 4]
    finding = ritz.inspect(X)["duplicate_columns"]
    assert (sorted(finding.columns), set(finding.evidence["of"])) == ([1500, 2999], {4})


def test_rows_without_any_value_are_no_measurement_that_is_there_twice():
    X = RNG.normal(size=(200, 3))
    X[[3, 50, 51]] = np.nan
    assert "duplicate_rows" not in ritz.inspect(X)
    X[9] = X[4] = [1.0, np.nan, 2.0]
    assert ritz.inspect(X)["duplicate_rows"].rows == (4, 9)

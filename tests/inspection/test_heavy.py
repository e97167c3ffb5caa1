"""Cells, and few rows, that have most of the variance of their column."""

import numpy as np
import pytest

import ritz

RNG = np.random.default_rng(0)


def skewed(n, seed=0):
    return np.random.default_rng(seed).lognormal(0, 0.5, (n, 5))


@pytest.mark.parametrize("n", [12, 30, 60, 100, 150])
def test_a_cell_that_decides_a_component_is_named(n):
    """Whether or not tails so heavy are a mistake: here a row is 500 times as large as is usual in a skewed column."""
    X = skewed(n)
    X[7, 2] = 500.0
    finding = ritz.inspect(X)["heavy_cell"]
    without = np.delete(X[:, 2], 7)
    share = 1 - np.square(without - without.mean()).sum() / np.square(X[:, 2] - X[:, 2].mean()).sum()
    assert (finding.severity, finding.rows, finding.columns) == ("warning", (7,), (2,))
    assert finding.evidence["shares"][0] == pytest.approx(share, rel=0.01)
    assert "500 in row 7, column 2" in finding.sentence
    assert "np.log" in finding.python


def test_of_tables_that_are_sampled_too(monkeypatch):
    monkeypatch.setattr("ritz.inspection.sample.LOOKED_BYTES", 8 * 5 * 1000)
    X = RNG.lognormal(0, 2, (30_000, 5))
    X[23_456, 2] = 1e6
    assert [23_456, 2, 1e6] in ritz.inspect(X)["heavy_cell"].evidence["cells"]


def test_it_is_told_once():
    X = RNG.normal(100, 10, (300, 3))
    X[7, 1] = 9000.0
    assert [one.code for one in ritz.inspect(X)] == ["far_cell"]
    X = skewed(100)
    X[7, 1] = 500.0
    assert [one.code for one in ritz.inspect(X)] == ["heavy_cell"]


def test_it_is_so_where_it_is_said():
    """The share is what a direct computation gives, in columns of tails as heavy as there are."""
    for seed in range(20):
        X = np.random.default_rng(seed).standard_cauchy((200, 3))
        squares = np.square(X - X.mean(axis=0))
        share = squares.max(axis=0) / squares.sum(axis=0)
        found = ritz.inspect(X)
        told = {j for code in ("far_cell", "heavy_cell") if code in found for j in found[code].columns}
        assert {j for j in range(3) if share[j] > 0.6} <= told


def test_heavy_tails():
    X = RNG.normal(size=(2000, 3))
    X[:, 1] = RNG.lognormal(0, 2, 2000)
    finding = ritz.inspect(X)["heavy_tails"]
    assert finding.columns == (1,)
    squares = np.sort(np.square(X[:, 1] - X[:, 1].mean()))
    assert finding.evidence["shares"] == [pytest.approx(squares[-20:].sum() / squares.sum())]
    assert "logarithms" in finding.python
    assert "heavy_tails" not in ritz.inspect(RNG.normal(size=(2000, 3)))

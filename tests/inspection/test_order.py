"""Series in time are told from rows without an order, and from rows that are sorted."""

import numpy as np
import pytest

import ritz

RNG = np.random.default_rng(0)


def autoregressive(rho, n, d=4):
    noise, X = RNG.normal(size=(n, d)), np.zeros((n, d))
    X[0] = noise[0]
    for t in range(1, n):
        X[t] = rho * X[t - 1] + noise[t]
    return X


SERIES = {
    "random walk": lambda n: np.cumsum(RNG.normal(size=(n, 4)), axis=0) + 100,
    "slow": lambda n: autoregressive(0.95, n),
    "smooth": lambda n: np.sin(np.arange(n)[:, None] / [9.0, 14.0, 20.0, 11.0]) + 0.01 * RNG.normal(size=(n, 4)),
}


@pytest.mark.parametrize("name", SERIES)
@pytest.mark.parametrize("n", [150, 2000])
def test_series(name, n):
    for _ in range(5):
        finding = ritz.inspect(SERIES[name](n))["ordered_rows"]
        assert finding.option == "--diff"
        assert min(finding.evidence["correlations"]) > 0.6
        assert finding.evidence["pairs"] == n - 1


def test_correlations_are_those_of_neighbours():
    X = autoregressive(0.9, 4000)
    found = ritz.inspect(X)["ordered_rows"].evidence["correlations"]
    truth = [np.corrcoef(X[1:, j], X[:-1, j])[0, 1] for j in range(4)]
    assert np.allclose(found, truth, atol=0.01)


def test_series_larger_than_the_sample(monkeypatch):
    monkeypatch.setattr("ritz.inspection.sample.LOOKED_BYTES", 8 * 4 * 1000)
    assert "ordered_rows" in ritz.inspect(SERIES["random walk"](30_000))
    assert "ordered_rows" not in ritz.inspect(RNG.normal(size=(30_000, 4)))


NOT_SERIES = {
    "no order": lambda n: RNG.normal(size=(n, 4)),
    "sorted by group": lambda n: np.sort(RNG.integers(0, 3, n))[:, None] * [9.0, -7, 8, 6] + RNG.normal(size=(n, 4)),
    "sorted by a column": lambda n: _sorted(RNG.normal(size=(n, 4))),
    "numbered": lambda n: np.column_stack([np.arange(n), RNG.normal(size=(n, 3))]),
    "a little": lambda n: autoregressive(0.3, n),
    "differences": lambda n: np.diff(SERIES["random walk"](n + 1), axis=0),
}


def _sorted(X):
    return X[np.argsort(X[:, 0])]


@pytest.mark.parametrize("name", NOT_SERIES)
@pytest.mark.parametrize("n", [30, 150, 1500])
def test_rows_that_are_no_series(name, n):
    for _ in range(10):
        assert "ordered_rows" not in ritz.inspect(NOT_SERIES[name](n))


def test_tables_sorted_by_kind():
    from sklearn.datasets import load_iris, load_wine

    for load in (load_iris, load_wine):
        assert "ordered_rows" not in ritz.inspect(load().data)


def test_running_totals_are_a_series():
    totals = np.cumsum(np.random.default_rng(0).poisson(20, (300, 3)), axis=0)
    assert ritz.inspect(totals)["ordered_rows"].columns == (0, 1, 2)
    key = np.sort(np.random.default_rng(0).normal(size=300))
    assert "ordered_rows" not in ritz.inspect(np.column_stack([key, np.random.default_rng(1).normal(size=(300, 2))]))

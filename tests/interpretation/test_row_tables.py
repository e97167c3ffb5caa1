"""Rows in blocks say what they say at once, and nothing is read before it is asked for."""

import numpy as np
import pytest

from ritz import PCA, interpret
from ritz.rows import Rows


class Counted(Rows):
    """Rows that count how often they are read."""

    dtype = np.dtype(float)
    in_memory = False

    def __init__(self, X):
        self.X, self.shape, self.entries = X, X.shape, 0

    def read(self, start, stop):
        self.entries += (stop - start) * self.shape[1]
        return self.X[start:stop]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return rng.standard_normal((40_000, 20)) * np.linspace(3, 1, 20) + 2


def test_rows_are_read_when_they_are_asked_for(table):
    rows, passes = Counted(table), []
    pca = PCA(3).fit(rows)

    def note():
        passes.append(rows.entries / table.size)
        rows.entries = 0

    note()
    found = interpret(pca, rows)
    str(found), found.describe(), found.columns
    note()
    found.rows.to_frames(), found.rows.leading()
    note()
    beside = interpret(pca, rows, supplementary=table[:, 0] ** 2, labels=table[:, 1] > 2)
    note()
    str(beside), beside.describe(), beside.rows.to_frames()
    note()
    beside.categories.to_frames()
    note()
    assert passes[1:] == [0.0, 1.0, 1.0, 1.0, 1.0]


def test_blocks_are_the_rows_in_their_order(table):
    found = interpret(PCA(3).fit(table), table).rows
    for name in ("coordinates", "distances", "contributions", "cos2"):
        whole = getattr(found, name)
        parts = [getattr(block, name) for block in interpret(PCA(3).fit(table), table).rows.blocks()]
        assert len(parts) > 1
        assert [i for part in parts for i in part.index] == list(whole.index)
        for column in whole.columns:
            assert np.array_equal(np.concatenate([part[column] for part in parts]), whole[column])


def test_leading_rows_are_those_that_contribute_most(table):
    X = table.copy()
    X[1234] += 500.0
    pca = PCA(2).fit(X)
    found = interpret(pca, X).rows
    Y = pca.transform(X)
    for i, best in enumerate(found.leading(7).values()):
        order = np.argsort(-np.abs(Y[:, i]))[:7]
        assert list(best.index) == list(order)
        assert np.allclose(best["coordinate"], Y[order, i])
        assert np.allclose(best["contribution %"], 100 * Y[order, i] ** 2 / (Y[:, i] ** 2).sum())
    assert found.leading(1)["PC1"].index == [1234]


def test_leading_rows_beside_the_fit_are_those_that_are_shown_best(table):
    pca = PCA(1).fit(table[:1000])
    others = interpret(pca, table[:1000], supplementary_rows=table[1000:1100]).supplementary_rows
    Z = table[1000:1100] - pca.mean_
    cos2 = (Z @ pca.components_[0]) ** 2 / (Z**2).sum(axis=1)
    assert list(others.leading(4)["PC1"].index) == list(np.argsort(-cos2)[:4])


def test_a_row_in_the_centre_is_shown_by_no_component():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0], [0.0, 0.5], [0.0, -0.5]])
    found = interpret(PCA(2).fit(X), X).rows
    assert found.cos2["PC1"][2] == found.cos2["PC2"][2] == 0.0
    assert found.distances["distance"][2] < 1e-15


@pytest.mark.parametrize("factor", [1e-250, 1e-160, 1e160, 1e250])
def test_rows_of_any_size_have_cos2(factor):
    X = np.random.default_rng(1).standard_normal((30, 3)) * [3, 2, 1]
    pca = PCA(2, center=False).fit(X)
    found = interpret(pca, X, supplementary_rows=X * factor).supplementary_rows
    plain = (X @ pca.components_.T) ** 2 / (X**2).sum(axis=1)[:, None]
    assert np.allclose(found.cos2["PC1"], plain[:, 0])
    assert np.allclose(found.cos2["PC2"], plain[:, 1])
    assert np.allclose(found.distances["distance"] / factor, np.linalg.norm(X, axis=1))

"""Runs of neighbours from all over the data, with their numbers, from every kind of source."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import ritz
from ritz.rows import as_rows
from ritz.rows.base import dense, runs_from_all_over
from ritz.rows.text import lines

N = 3000
X = np.column_stack([np.arange(N), np.arange(N) % 7]).astype(float)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("glimpse")
    frame = pd.DataFrame(X + 0.5, columns=["a", "b"])
    frame.to_csv(folder / "x.csv", index=False)
    frame.to_csv(folder / "x.csv.gz", index=False)
    frame.to_parquet(folder / "x.parquet", row_group_size=100)
    np.save(folder / "x.npy", X + 0.5)
    (folder / "parts").mkdir()
    for i in range(5):
        frame[600 * i : 600 * (i + 1)].to_csv(folder / "parts" / f"{i}.csv", index=False)
    return folder


SOURCES = {
    "array": lambda folder: as_rows(X + 0.5),
    "frame": lambda folder: as_rows(pd.DataFrame(X + 0.5)),
    "sparse": lambda folder: as_rows(sp.csr_array(X + 0.5)),
    "a choice": lambda folder: ritz.read(pd.DataFrame(X + 0.5, columns=["a", "b"]), columns=["a"]),
    **{
        name: lambda folder, name=name: ritz.read(folder / name)
        for name in ("x.csv", "x.csv.gz", "x.parquet", "x.npy", "parts")
    },
}


@pytest.mark.parametrize("name", SOURCES)
def test_rows_are_those_of_the_numbers(folder, monkeypatch, name):
    monkeypatch.setattr(lines, "PART_BYTES", 2000)
    rows = SOURCES[name](folder)
    at, block = rows.glimpse(400, np.random.default_rng(0))
    assert np.array_equal(dense(block)[:, 0], at + 0.5)
    assert 250 <= len(at) <= 600
    assert (np.diff(at) > 0).all()
    assert (np.diff(at) == 1).mean() > 0.7
    assert at.min() < N / 4
    assert at.max() > 3 * N / 4


@pytest.mark.parametrize("name", SOURCES)
def test_all_rows_where_so_many_are_asked_for(folder, name):
    at, block = SOURCES[name](folder).glimpse(N + 5, np.random.default_rng(0))
    assert np.array_equal(at, np.arange(N))
    assert len(dense(block)) == N


@pytest.mark.parametrize(("n", "size"), [(1, 1), (17, 3), (100, 16), (100, 99), (1000, 40)])
def test_runs_are_inside(n, size):
    for seed in range(20):
        at = runs_from_all_over(n, size, np.random.default_rng(seed))
        assert len(set(at.tolist())) == len(at) <= size
        assert 0 <= at.min() <= at.max() < n

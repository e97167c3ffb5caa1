"""Differences of neighbours, block by block: what np.diff gives for the whole array, with the places of later rows."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import ritz
from ritz import PCA, DataError
from ritz.rows import as_rows
from ritz.rows.memory.coded import coded
from ritz.rows.memory.computed import choose
from ritz.rows.memory.differenced import differenced
from ritz.rows.text import lines

RNG = np.random.default_rng(0)
X = np.cumsum(RNG.normal(size=(600, 3)), axis=0) + 1e6
TRUTH = np.diff(X, axis=0)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("differenced")
    frame = pd.DataFrame(X, columns=list("abc"))
    frame.to_csv(folder / "x.csv", index=False)
    frame.to_csv(folder / "x.csv.gz", index=False)
    frame.to_parquet(folder / "x.parquet", row_group_size=70)
    np.save(folder / "x.npy", X)
    (folder / "parts").mkdir()
    for i, part in enumerate(np.array_split(X, 7)):
        np.save(folder / "parts" / f"{i}.npy", part)
    return folder


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.parquet", "x.npy", "parts"])
@pytest.mark.parametrize("size", [8 * 3, 8 * 3 * 31, 1 << 24])
def test_files_in_blocks(sources, monkeypatch, name, size):
    monkeypatch.setattr(lines, "PART_BYTES", 3000)
    rows = differenced(ritz.read(sources / name)).limited(size)
    assert rows.shape == (599, 3)
    assert np.array_equal(rows.map(np.copy), TRUTH)
    assert np.array_equal(np.vstack(rows.reduce(list, list.__add__)), TRUTH)
    beside = rows.reduce(lambda pairs: [(len(block), list(at)) for block, at in pairs], list.__add__, range(599))
    assert [i for _, at in beside for i in at] == list(range(599))
    assert all(count == len(at) for count, at in beside)
    assert np.array_equal(rows.block(100, 350), TRUTH[100:350])
    assert np.array_equal(rows.take(np.array([598, 0, 69, 70])), TRUTH[[598, 0, 69, 70]])
    at, block = rows.glimpse(80, np.random.default_rng(0))
    assert np.array_equal(block, TRUTH[at])
    assert len(rows.sample(40)) >= 30
    assert np.array_equal(rows.kept, np.arange(1, 600))


@pytest.mark.parametrize("solver", ["covariance", "svd", "krylov"])
def test_a_fit_out_of_core(sources, solver):
    found = PCA(2, svd_solver=solver, memory_limit="30MB").fit(differenced(ritz.read(sources / "x.parquet")))
    assert np.allclose(found.explained_variance_, PCA(2).fit(TRUTH).explained_variance_, rtol=1e-9)


@settings(max_examples=60)
@given(
    arrays(
        st.sampled_from([np.float64, np.float32, np.int64, np.uint8, np.bool_]),
        st.tuples(st.integers(2, 12), st.integers(1, 4)),
        elements=st.integers(0, 1),
    ),
    st.integers(1, 5),
)
def test_any_array_as_numpy_does_it(A, rows_of_block):
    rows = differenced(as_rows(A)).limited(8 * A.shape[1] * rows_of_block)
    truth = np.diff(A.astype(float), axis=0)
    assert np.array_equal(rows.map(np.copy), truth)
    assert rows.dtype == (A.dtype if A.dtype.kind == "f" else np.float64)


@settings(max_examples=60)
@given(
    arrays(np.float64, st.tuples(st.integers(3, 14), st.integers(1, 3)), elements=st.integers(0, 4)),
    st.integers(1, 5),
)
def test_no_difference_spans_a_row_that_is_not_there(A, rows_of_block):
    """Codes first, then differences, then the gaps: a row that lacks a value takes two differences with it."""
    gone = np.where(A == 4, np.nan, A)
    truth = np.diff(gone, axis=0)
    kept = ~np.isnan(truth).any(axis=1)
    rows = differenced(coded(as_rows(A), 4)).limited(8 * A.shape[1] * rows_of_block)
    assert np.array_equal(rows.map(np.copy), truth, equal_nan=True)
    if kept.any():
        dropped = choose(rows, None, [], "drop")
        assert np.array_equal(dropped.map(np.copy), truth[kept])
        places = np.arange(1, len(A)) if dropped.kept is None else dropped.kept
        assert np.array_equal(places, np.flatnonzero(kept) + 1)


def test_differences_of_differences():
    rows = differenced(differenced(as_rows(X)))
    assert np.array_equal(rows.map(np.copy), np.diff(X, 2, axis=0))
    assert rows.kept.tolist() == list(range(2, 600))


def test_sparse_rows_stay_sparse():
    A = sp.random(90, 7, 0.3, random_state=0, format="csr")
    rows = differenced(as_rows(A))
    assert rows.sparse
    assert np.allclose(rows.map(lambda block: block.toarray()), np.diff(A.toarray(), axis=0))
    truth = PCA(2).fit(np.diff(A.toarray(), axis=0)).explained_variance_
    assert np.allclose(PCA(2).fit(rows).explained_variance_, truth, rtol=1e-9)


def test_labels_are_those_of_later_rows():
    frame = pd.DataFrame({"day": list("mtwtf"), "a": [1.0, 4, 9, 16, 25], "b": [0.0, 1, 0, 2, 0]})
    rows = differenced(ritz.read(frame, label="day"))
    assert rows.labels.tolist() == ["t", "w", "t", "f"]
    assert rows.place(0) == "row 1"


def test_integers_do_not_wrap():
    assert differenced(as_rows(np.array([[200], [3]], np.uint8))).block(0, 1).tolist() == [[-197.0]]
    with pytest.raises(DataError):
        differenced(as_rows(np.array([[2**53 + 1], [3], [5]]))).map(np.copy)


def test_one_row_has_none():
    with pytest.raises(DataError, match="at least 2 rows"):
        differenced(as_rows([[1.0, 2.0]]))
    assert PCA(1).fit(differenced(as_rows([[1.0, 2.0], [2.0, 5.0], [4.0, 4.0]]))).n_samples_ == 2


def test_a_cluster_is_refused():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ritz.ParameterError, match="Dask cluster"):
        differenced(as_rows(da.from_array(X, chunks=(100, 3))))

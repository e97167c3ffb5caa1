"""Rows of Dask collections are the rows of the array that they stand for."""

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from ritz import PCA, DataError, read
from ritz.rows import as_rows
from ritz.rows.dask.known import LOOKED_AT
from ritz.rows.passes import Cut

pytestmark = pytest.mark.usefixtures("by_threads")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((203, 6)) * [9, 7, 5, 3, 2, 1] + 50
SPARSE = scipy.sparse.csr_array(RNG.poisson(0.3, (203, 6)) * [9.0, 7, 5, 3, 2, 1])


def sparse_chunks(x):
    return da.from_array(x.toarray(), chunks=(50, 6)).map_blocks(scipy.sparse.csr_array)


def of_unknown_size():
    x = da.from_array(np.column_stack([X, np.arange(203)]), chunks=(50, 7))
    return x[x[:, 6] >= 0][:, :6]


SOURCES = {
    "even": (da.from_array(X, chunks=(29, 6)), X),
    "uneven": (da.from_array(X, chunks=((1, 100, 2, 100), 6)), X),
    "one chunk": (da.from_array(X, chunks=(203, 6)), X),
    "unknown": (of_unknown_size(), X),
    "float32": (da.from_array(X.astype(np.float32), chunks=(50, 6)), X.astype(np.float32)),
    "integers": (da.from_array(X.astype(int), chunks=(50, 6)), X.astype(int)),
    "sparse": (sparse_chunks(SPARSE), SPARSE),
    "far from 0": (da.from_array(X + 1e8, chunks=(50, 6)), X + 1e8),
}


@pytest.mark.parametrize("name", SOURCES)
def test_the_verbs_are_those_of_the_array(name):
    x, whole = SOURCES[name]
    rows, expected = as_rows(x), whole.toarray() if scipy.sparse.issparse(whole) else whole
    assert rows.shape == (203, 6)
    assert rows.sparse == scipy.sparse.issparse(whole)

    def plain(block):
        return block.toarray() if scipy.sparse.issparse(block) else np.asarray(block)

    assert np.array_equal(rows.map(plain), expected)
    order = np.array([202, 0, 57, 57, 3])
    assert np.array_equal(plain(rows.take(order)), expected[order])
    assert np.array_equal(plain(rows.read(49, 151)), expected[49:151])
    total = rows.reduce(lambda blocks: sum(plain(b).sum(axis=0, dtype=float) for b in blocks), np.add)
    assert np.allclose(total, expected.sum(axis=0, dtype=float), rtol=1e-12)
    K = rows.pairs(lambda a, b: plain(a).astype(float) @ plain(b).astype(float).T)
    assert np.allclose(K, expected.astype(float) @ expected.astype(float).T, rtol=1e-12)
    sample = plain(rows.sample(20))
    assert len(sample) == 20
    assert all((sample[i] == expected).all(axis=1).any() for i in range(20))
    beside = rows.reduce(
        lambda pairs: sum(plain(b).astype(float).T @ v for b, v in pairs), np.add, np.eye(203), Cut.THIN
    )
    assert np.allclose(beside, expected.T, rtol=1e-12)


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("solver", ["auto", "covariance", "gram", "svd", "krylov", "orthogonal", "power"])
def test_a_fit_is_that_of_the_array(name, solver):
    x, whole = SOURCES[name]
    ours, theirs = (PCA(2, svd_solver=solver, tol=1e-9).fit(data) for data in (x, whole))
    # An iteration ends where the residual is small enough, which is not the same vector for another order of sums.
    exact = solver in ("auto", "covariance", "gram", "svd")
    far, narrow = name == "far from 0", whole.dtype == np.float32
    limit = 1e-6 if narrow else 1e-6 if not exact else 1e-7 if far else 1e-11
    assert np.allclose(ours.explained_variance_, theirs.explained_variance_, rtol=limit)
    assert np.allclose(ours.components_, theirs.components_, atol=limit * 10)  # signs too
    assert np.allclose(ours.mean_, theirs.mean_, rtol=1e-14)
    assert ours.certificate_.satisfied


def test_a_frame_has_names_and_sizes_that_are_found():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    dd = pytest.importorskip("dask.dataframe")
    pca = PCA(2).fit(dd.from_pandas(frame, npartitions=4))
    assert list(pca.feature_names_in_) == list("abcdef")
    assert np.allclose(pca.components_, PCA(2).fit(frame).components_, atol=1e-12)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (da.from_array(X, chunks=(50, 3)), r"columns are cut into 2 chunks.*x\.rechunk\(\{0: \"auto\", 1: -1\}\)"),
        (da.from_array(X[:, 0], chunks=50), "rows and columns, got a dask Array of dimension 1"),
        (da.from_array(X, chunks=(50, 6))[:0], "no rows"),
    ],
    ids=["columns", "a vector", "empty"],
)
def test_what_is_no_table_of_rows_is_an_error(x, words):
    with pytest.raises(DataError, match=words):
        PCA(1).fit(x)


def test_the_place_of_a_missing_value_names_the_chunk():
    broken = X.copy()
    broken[120, 4] = np.nan
    with pytest.raises(DataError, match=r"1 NaN, first at row 120 \(row 20 of chunk 2\), column 4"):
        PCA(1).fit(da.from_array(broken, chunks=(50, 6)))


def test_a_scheduler_that_is_asked_for_is_used():
    with dask.config.set(scheduler="synchronous"):
        assert as_rows(SOURCES["even"][0]).cluster is None


def test_few_chunks_are_read_to_say_what_rows_are():
    made = []
    x = da.zeros((203, 6), chunks=(7, 6)).map_blocks(lambda chunk: made.append(1) or chunk, meta=np.empty((0, 0)))
    assert "203 rows, 6 columns" in repr(read(x))
    assert len(made) <= LOOKED_AT < x.npartitions

"""What is wrong with a chunk is said with the chunk, its cause and the next step."""

import pickle
import sys
import types

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from helpers.arrays import strict
from ritz import PCA, DataError
from ritz.errors import ChunkError
from ritz.rows import as_rows, is_dask

pytestmark = pytest.mark.usefixtures("by_threads")

X = np.random.default_rng(0).standard_normal((60, 3))


def changed(change, which=1, X=X, size=20):
    """Chunks of so many rows, of which one is something else."""

    def block(chunk, block_id=None):
        return change(chunk) if block_id[0] == which else chunk

    return da.from_array(X, chunks=(size, 3)).map_blocks(block, dtype=X.dtype, meta=np.empty((0, 0), X.dtype))


def fails(chunk):
    raise ZeroDivisionError("division by zero")


def with_nan(chunk):
    chunk = chunk.copy()
    chunk[3, 2] = np.nan
    return chunk


def of_other_package(chunk):
    module = types.ModuleType("sparse")
    return type("COO", (), {"__module__": module.__name__, "shape": chunk.shape})()


def on_gpu(chunk):
    return strict(chunk, "device1")


TABLE = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": ["x", "y", "z"]})
TWICE = pd.DataFrame(X, columns=["a", "a", "b"])
HUGE = np.full((60, 3), 2**60 + 1)
BAD = {
    "failing": (lambda: changed(fails), r"chunk 1 cannot be computed: ZeroDivisionError: .*; x\.blocks\[1\]\.compute"),
    "NaN": (lambda: changed(with_nan), r"1 NaN, first at row 23 \(row 3 of chunk 1\), column 2; drop or impute"),
    "masked": (
        lambda: changed(lambda chunk: np.ma.masked_greater(chunk, 1.0)),
        "chunk 1: .* masked entries, .*; fill or drop",
    ),
    "wider type in a chunk that nobody looked at": (
        lambda: changed(lambda chunk: chunk.astype(float), 2, X.astype(np.float32), 5),
        r"chunk 2 holds float64, others hold float32, which has fewer digits; pass .*astype",
    ),
    "sparse": (lambda: changed(sp.csr_array), "chunk 1 is sparse, others are dense; make all alike"),
    "another package": (lambda: changed(of_other_package, 0), r"chunk 0 is a COO of the package sparse, .*tocsr\(\)"),
    "on a device": (lambda: changed(on_gpu, 0), r"chunk 0 is an array of array_api_strict on .*device1.*asnumpy"),
    "fewer rows": (
        lambda: changed(lambda chunk: chunk[:5]),
        "chunk 1 has 5 rows, but 20 were announced; x.compute",
    ),
    "fewer columns": (lambda: changed(lambda chunk: chunk[:, :2]), "chunk 1 has 2 columns, others have 3; give all"),
    "huge integers": (lambda: da.from_array(HUGE, chunks=(20, 3)), "float64 cannot hold"),
    "column chunks": (lambda: da.from_array(X, chunks=(20, 2)), r'2 chunks, .*pass x\.rechunk\(\{0: "auto", 1: -1\}\)'),
    "other columns than announced": (
        lambda: changed(lambda chunk: chunk[:, :2], 0, X[:20]),
        "chunk 0 has 2 columns, but 3 were announced",
    ),
    "nothing": (lambda: changed(lambda chunk: None, 0), "chunk 0: cannot read rows from a NoneType"),
    "no rows": (lambda: da.from_array(X[:0], chunks=(20, 3)), "every chunk is empty"),
    "one axis": (lambda: da.from_array(X[0], chunks=3), "a dask Array of dimension 1; reshape"),
    "one column": (lambda: dd.from_pandas(TABLE, npartitions=2)["a"], "a dask Series of dimension 1; reshape"),
    "text": (lambda: dd.from_pandas(TABLE, npartitions=2), "column 'b' holds .* not numbers; convert or drop"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_chunks(kind):
    given, words = BAD[kind]
    with pytest.raises(DataError, match=f"(?s){words}"):
        PCA(1).fit(given())


def test_chunks_on_a_device_are_refused_when_results_are_computed():
    scores = PCA(1).fit(X).transform(changed(on_gpu))
    with pytest.raises(DataError, match=r"chunk 1, from row 20 on is .*device1.*chunk\.cpu\(\)\.numpy"):
        scores.compute()


def test_arrays_of_other_libraries_in_memory_are_chunks_like_all_others():
    model, expected = PCA(1).fit(changed(strict, 0)), PCA(1).fit(X)
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-12)
    np.testing.assert_allclose(model.transform(changed(strict)).compute(), expected.transform(X), atol=1e-12)


def test_the_cause_of_a_failing_chunk_is_kept_between_processes():
    with pytest.raises(ChunkError) as caught:
        PCA(1).fit(changed(fails))
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert isinstance(error.__cause__, ZeroDivisionError)
        assert error.code == "failing_chunk"


def test_other_collections():
    with pytest.raises(TypeError, match=r"cannot read rows from a dask Delayed.*; pass a dask array or dataframe"):
        PCA(1).fit(dask.delayed(X))


def test_names_that_repeat_are_told_apart_by_position():
    with pytest.warns(UserWarning, match="more than once"):
        model = PCA(1).fit(dd.from_pandas(TWICE, npartitions=2))
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_allclose(model.components_, PCA(1).fit(X).components_, atol=1e-12)


def test_dask_is_imported_only_by_whoever_has_a_collection(monkeypatch):
    assert is_dask(da.ones(3))
    assert is_dask(dask.delayed(1))
    assert not is_dask(X)
    monkeypatch.setitem(sys.modules, "dask", None)  # as if it were not installed
    assert as_rows(TABLE[["a"]]).shape == (3, 1)

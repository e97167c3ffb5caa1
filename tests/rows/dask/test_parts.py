"""A part carries what it needs and no more."""

import dask
import dask.array as da
import numpy as np
import pytest

from ritz import PCA, DataError
from ritz.rows.dask.parts import chunks_of, must_persist

pytestmark = pytest.mark.usefixtures("by_threads")
X = np.random.default_rng(0).standard_normal((100, 3))


def test_a_chunk_has_no_more_of_the_graph_than_it_needs():
    x = da.from_array(X, chunks=(30, 3)) + 1
    for i, chunk in enumerate(chunks_of(x, [30, 30, 30, 10])):
        assert len(chunk.graph) <= 3
        assert np.array_equal(chunk.opened({}).block(0, chunk.rows), X[30 * i : 30 * i + chunk.rows] + 1)


@pytest.mark.parametrize(
    ("x", "shared"),
    [
        (da.from_array(X, chunks=(30, 3)), False),
        (da.random.default_rng(0).standard_normal((100, 3), chunks=(30, 3)) * 2, False),
        (da.from_array(X, chunks=(30, 3)) - da.from_array(X, chunks=(30, 3)).mean(axis=0), True),
        (da.random.default_rng(0).random((100, 3), chunks=(100, 1)).rechunk((30, 3)), True),
        (da.from_array(np.ones((100, 20_000)), chunks=(50, 20_000)), True),  # would travel with every task
    ],
    ids=["from an array", "made by tasks", "centred", "rechunked", "large"],
)
def test_what_chunks_share_is_computed_once(x, shared):
    assert must_persist(chunks_of(x, list(x.chunks[0]))) is shared


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda block: block[:-1], "has 29 rows, but 30 were announced"),
        (lambda block: block[:, :2], "has 2 columns, others have 3"),
    ],
)
def test_a_chunk_that_is_not_what_was_announced_is_named(change, words):
    blocks = [dask.delayed(change if i == 2 else np.array)(X[30 * i : 30 * i + 30]) for i in range(3)]
    x = da.concatenate([da.from_delayed(block, (30, 3), float) for block in blocks])
    with pytest.raises(DataError, match=f"chunk 2 {words}"):
        PCA(1).fit(x)

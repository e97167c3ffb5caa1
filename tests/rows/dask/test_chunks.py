"""The chunks of a collection: each carries what it needs and no more, and what they share is computed once."""

import dask
import dask.array as da
import numpy as np
import pytest

from ritz import PCA
from ritz.errors import ChunkError, ClusterError
from ritz.rows import as_rows
from ritz.rows.dask import chunks, groups
from ritz.rows.dask.chunks import chunks_of

X = np.random.default_rng(0).standard_normal((100, 3)) + 7
CALLS = []


@pytest.fixture
def client(dask_client, monkeypatch):
    """Workers in this process; many groups for little data."""
    monkeypatch.setattr(groups, "GROUP_BYTES", 400)
    with dask_client.as_current(), dask.config.set(scheduler=None):
        yield dask_client


def noted(block):
    CALLS.append(len(block))
    return block


def centred():
    """x − mean(x), of which every chunk that is made is noted."""
    x = da.from_array(X, chunks=(10, 3)).map_blocks(noted, dtype=float, meta=np.empty((0, 0)))
    return x - x.mean(axis=0)


def test_a_chunk_has_no_more_of_the_graph_than_it_needs(by_threads):
    x = da.from_array(X, chunks=(30, 3)) + 1
    for i, chunk in enumerate(chunks_of(x, [30, 30, 30, 10])[0]):
        assert len(chunk.graph) <= 3
        assert np.array_equal(chunk.opened({}).block(0, chunk.rows), X[30 * i : 30 * i + chunk.rows] + 1)


def test_threads_compute_what_chunks_share_once(by_threads):
    x = centred()
    CALLS.clear()
    rows = as_rows(x)
    looked_at = len(CALLS) - 10  # once for the mean, and again for chunks that were looked at
    assert 0 < looked_at <= 8
    CALLS.clear()
    total = rows.reduce(lambda blocks: sum(block.sum(axis=0) for block in blocks), np.add)
    assert len(CALLS) == 10
    np.testing.assert_allclose(total, 0, atol=1e-10)


def test_a_cluster_keeps_what_chunks_share_and_not_the_rows(client):
    x = centred()
    rows = as_rows(x)
    (mean,) = {key for part in rows.known.parts for key in part.needs}
    assert "mean" in str(mean)
    assert not any(group.is_anchored for group in rows.groups)
    assert all(group.is_anchored for group in rows.at_hand(5).groups)  # which the mean was given to
    CALLS.clear()
    pca = PCA(2, svd_solver="covariance").fit(x)
    assert len(CALLS) <= 10 + 8 + 10  # for the mean, the looks and the pass
    with dask.config.set(scheduler="threads"):
        assert np.array_equal(PCA(2, svd_solver="covariance").fit(x).components_, pca.components_)


def test_data_inside_a_graph_is_sent_once_and_grouped_by_the_order_of_its_rows(client, monkeypatch):
    monkeypatch.setattr(chunks, "HEAVY", 100)
    x = da.from_array(X, chunks=(10, 3))
    rows = as_rows(x)
    assert all(part.placed and part.anchor in part.needs for part in rows.known.parts)
    assert all(group.home == "" for group in rows.groups)
    found = PCA(2, svd_solver="covariance").fit(x)
    with dask.config.set(scheduler="threads"):
        assert np.array_equal(PCA(2, svd_solver="covariance").fit(x).components_, found.components_)


def test_what_is_shared_and_fails_is_said_with_a_chunk(by_threads):
    def fails(*_, **__):
        raise ZeroDivisionError("division by zero")

    x = da.from_array(X, chunks=(10, 3))
    broken = da.reduction(x, fails, fails, axis=0, dtype=float, meta=np.empty(0))
    with pytest.raises(ChunkError, match="chunk 10 cannot be computed: ZeroDivisionError"):
        PCA(1).fit(da.concatenate([x - x.mean(axis=0), x - broken]))  # of which the first ten are sound


def test_persisted_chunks_that_are_gone(client):
    x = da.from_array(X, chunks=(10, 3)).persist()
    client.cancel(x)
    with pytest.raises(ClusterError, match=r"persisted chunks do not lie on .*; persist the collection again"):
        PCA(1).fit(x)


def test_chunks_on_a_cluster_that_is_not_asked(client):
    x = da.from_array(X, chunks=(10, 3)).persist()
    with dask.config.set(scheduler="threads"), pytest.raises(ClusterError, match="chunk 0 lies on a Dask cluster"):
        PCA(1).fit(x)

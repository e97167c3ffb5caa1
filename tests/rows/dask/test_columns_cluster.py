"""Columns on a cluster: the bits of threads, and no chunk travels."""

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import wait

from ritz import PCA, plan
from ritz.errors import ChunkError
from ritz.rows.dask import cluster, groups, source

N, D, WIDE = 100, 8000, 500


@pytest.fixture
def client(dask_client, monkeypatch):
    """Workers in this process, and two chunks to a group."""
    monkeypatch.setattr(groups, "GROUP_BYTES", 2 * N * WIDE * 8)
    with dask_client.as_current(), dask.config.set(scheduler=None):
        yield dask_client


def made(rows=N):
    return da.random.default_rng(0).standard_normal((N, D), chunks=(rows, WIDE)) * np.linspace(3, 1, D) + 5


def same(a, b):
    return np.array_equal(a.components_, b.components_) and np.array_equal(a.explained_variance_, b.explained_variance_)


def sent(client):
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


@pytest.mark.parametrize("rows", [N, 40], ids=["columns cut", "both cut"])
@pytest.mark.parametrize("solver", ["gram", "orthogonal"])
def test_a_cluster_gives_the_bits_of_threads(client, solver, rows):
    x = made(rows)
    ours = PCA(3, svd_solver=solver, scale=True, tol=1e-2).fit(x)
    with dask.config.set(scheduler="threads"):
        assert same(ours, PCA(3, svd_solver=solver, scale=True, tol=1e-2).fit(x))


def test_no_chunk_travels(client):
    x = made().persist()
    wait(x)
    before = sent(client)
    pca = PCA(2).fit(x)
    moved, model = sent(client) - before, 8 * D * (2 + 6)  # axes, mean and what else is known of every column
    assert pca.plan_.side == "gram"
    assert moved - model <= pca.plan_.moved < x.nbytes / 3
    assert "on 2 workers, each with that memory: 3 rounds" in str(plan(x, 2))


def test_chunks_are_joined_where_rows_are_cut_and_there_is_room(client, monkeypatch):
    """Nothing is copied otherwise, or for a plan; and the bits are those of threads."""
    joined, keep = [], cluster.Cluster.keep
    monkeypatch.setattr(cluster.Cluster, "keep", lambda c, parts, homes: joined.extend(parts) or keep(c, parts, homes))
    whole, cut = made().persist(), made(40).persist()
    whole /= whole.std()  # a number that all chunks need
    with dask.config.set(scheduler="threads"):
        expected = PCA(2).fit(made(40))
    for x, room, count in ((whole, 0.4, 0), (cut, 0.4, D // WIDE), (cut, 0, 0)):
        monkeypatch.setattr(source, "ROOM", room)
        plan(x, 2)
        assert not joined
        found = PCA(2).fit(x)
        assert len(joined) == count
        assert x is whole or same(found, expected)
        joined.clear()


def test_a_chunk_that_failed_before_the_fit_is_named(client):
    def fails(block, block_info=None):
        if block_info[0]["chunk-location"] == (0, 3):
            raise OSError("no such disk")
        return block

    x = made().map_blocks(fails, dtype=float, meta=np.empty((0, 0))).persist()
    with pytest.raises(ChunkError, match=r"chunk \[:, 3\] cannot be computed: OSError: no such disk"):
        PCA(2).fit(x)

"""Passes on a cluster: the same bits as by threads, nothing large on the way, and nothing lost with a worker."""

import os
import signal
import threading
import time
from concurrent.futures import CancelledError

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster, wait

from ritz import PCA, DataError, plan
from ritz.errors import ClusterError
from ritz.rows import as_rows
from ritz.rows.dask import groups
from ritz.rows.dask.cluster import Cluster
from ritz.rows.dask.tasks import Lost

N, D = 4000, 40
SPREAD = np.linspace(9, 1, D)


def lazy(seconds=0.0, chunks=250):
    def made(block):
        time.sleep(seconds)
        return block * SPREAD + 5

    return da.random.default_rng(0).standard_normal((N, D), chunks=(chunks, D)).map_blocks(made, dtype=float)


@pytest.fixture(scope="module")
def workers():
    """Two workers that are processes, as in life."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def client(workers):
    with workers.as_current(), dask.config.set(scheduler=None):
        yield workers


@pytest.fixture
def small_groups(monkeypatch):
    """Many groups for little data: of two chunks each."""
    monkeypatch.setattr(groups, "GROUP_BYTES", 2 * 250 * D * 8)


def same(a, b):
    return np.array_equal(a.components_, b.components_) and np.array_equal(a.explained_variance_, b.explained_variance_)


def sent(client):
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


@pytest.mark.parametrize("solver", ["covariance", "svd", "orthogonal"])
def test_a_cluster_gives_the_bits_of_threads(client, small_groups, solver):
    x = lazy()
    ours = PCA(3, svd_solver=solver).fit(x)
    with client.as_current(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("ritz.rows.dask.source.cluster_of", lambda collection: None)
        assert same(ours, PCA(3, svd_solver=solver).fit(x))


def test_little_travels_between_workers(client, small_groups):
    x = lazy().persist()
    wait(x)
    PCA(3).fit(x)
    before = sent(client)
    pca = PCA(3, svd_solver="covariance").fit(x)
    moved = sent(client) - before
    looked_at = as_rows(x).sample(1024).nbytes  # rows that whoever fits was sent
    assert moved - looked_at <= 2 * 1 * 2 * D * D * 8  # 2 · rounds · workers · d · d · itemsize
    assert pca.plan_.workers == 2
    assert pca.plan_.moved <= 2 * 2 * D * D * 8
    assert "on 2 workers" in str(plan(x, 3))


@pytest.mark.parametrize("persisted", [False, True], ids=["made again", "persisted"])
def test_a_worker_that_is_killed_changes_no_bit(client, small_groups, persisted):
    x = lazy(0.05)
    if persisted:
        x = x.persist()
        wait(x)
    expected = PCA(3, svd_solver="krylov", tol=1e-9).fit(x)
    killed = []

    def kill():
        killed.append(os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL))

    timer = threading.Timer(0.15, kill)
    timer.start()
    found = PCA(3, svd_solver="krylov", tol=1e-9).fit(x)
    timer.join()
    assert killed
    assert same(found, expected)
    client.wait_for_workers(2)


def test_a_fit_right_after_a_worker_was_killed(client, small_groups):
    x = lazy().persist()
    wait(x)
    expected = PCA(3).fit(x)
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    np.testing.assert_allclose(PCA(3).fit(x).explained_variance_, expected.explained_variance_, rtol=1e-12)
    client.wait_for_workers(2)


def test_an_error_about_the_data_is_that_of_one_machine(client):
    with pytest.raises(DataError, match=r"first at row 300 \(row 50 of chunk 1\), column 7"):
        PCA(1).fit(lazy().map_blocks(with_a_gap, dtype=float, meta=np.empty((0, 0))))


def test_rows_that_are_read_again_are_kept_in_the_memory_of_the_cluster(client, small_groups):
    rows = as_rows(lazy())
    assert rows.at_hand(1) is rows
    kept = rows.at_hand(5)
    assert all(group.needs for group in kept.groups)
    assert [group.ranges for group in kept.groups] == [group.ranges for group in rows.groups]
    assert np.array_equal(kept.reduce(total, np.add), rows.reduce(total, np.add))


class FetchedTooLate:
    """A result that went with the worker that had it."""

    status = "finished"

    def done(self):
        return True

    def result(self, timeout):
        raise TimeoutError


def test_a_result_that_is_lost_before_it_is_fetched_is_not_waited_for(client):
    cluster = Cluster(client)
    cluster._bound.add("tcp://gone")
    with pytest.raises(Lost, match="tcp://gone is gone"):
        cluster.result(FetchedTooLate())


class Persisted:
    """What Dask says of a chunk."""

    def __init__(self, status):
        self.status = status


def test_chunks_that_are_computed_again_are_waited_for(client):
    cluster = Cluster(client)
    cluster.check_there([Persisted("finished"), Persisted("pending"), Persisted("lost")])
    with pytest.raises(ClusterError, match="persist the collection again"):
        cluster.check_there([Persisted("cancelled")])


def test_scattered_chunks_that_go_during_a_fit(client, monkeypatch):
    cluster, there, gone = Cluster(client), client.scatter(1, hash=False), "scattered-and-gone"
    assert cluster.holders([there.key])[there.key]
    assert not cluster.holders([gone])[gone]

    def attempt():
        raise Lost("a worker is gone")

    with pytest.raises(ClusterError, match="lost 4 workers: a worker is gone"):
        cluster.again(attempt, [there.key])
    with pytest.raises(ClusterError, match="persist the collection again"):
        cluster.again(attempt, [gone])
    monkeypatch.setattr(client, "who_has", lambda futures: (_ for _ in ()).throw(CancelledError))
    assert cluster.holders([gone]) == {}  # where the client has heard of it already
    with pytest.raises(ClusterError, match="persist the collection again"):
        cluster.again(attempt, [gone])


def test_workers_that_are_not_back_yet(client, monkeypatch):
    known, answers = client.nthreads(), [{}, {}]
    monkeypatch.setattr(client, "nthreads", lambda: answers.pop() if answers else known)
    assert Cluster(client).threads == known


def with_a_gap(block, block_info=None):
    gap = block.copy()
    if block_info[0]["chunk-location"][0] == 1:
        gap[50, 7] = np.nan
    return gap


def total(blocks):
    return sum(block.sum(axis=0) for block in blocks)


def test_a_scheduler_that_goes_away_is_said_to_be_gone():
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    client = Client(cluster, set_as_default=False)
    pca = PCA(1)
    threading.Timer(0.5, cluster.close).start()
    with (
        client.as_current(),
        dask.config.set(scheduler=None),
        pytest.raises(ClusterError, match=r"connection to the Dask scheduler at .* was lost"),
    ):
        pca.fit(lazy(0.05))
    assert not hasattr(pca, "components_")
    client.close()
    cluster.close()

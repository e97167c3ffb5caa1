"""A fit that a worker leads: what is shown of it, and how it is given up."""

import threading
import time

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, KilledWorker, LocalCluster

from ritz import PCA
from ritz.errors import ChunkError, ClusterError
from ritz.rows import as_rows
from ritz.rows.base import Workers
from ritz.rows.dask import groups, tasks
from ritz.rows.dask.cluster import Cluster
from ritz.rows.dask.parts import Chunk
from ritz.rows.dask.tasks import Lost
from ritz.rows.memory.computed import Scaled
from ritz.runtime import watch
from ritz.runtime.threads import GivenUp
from ritz.runtime.watch import Progress, Watch


@pytest.fixture
def client(dask_client):
    """Workers in this process."""
    with dask_client.as_current(), dask.config.set(scheduler=None):
        yield dask_client


def slow(seconds):
    def made(block):
        time.sleep(seconds)
        return block

    return da.random.default_rng(0).standard_normal((4000, 5), chunks=(100, 5)).map_blocks(made, dtype=float)


def test_passes_are_shown_where_the_fit_was_asked_for(client, monkeypatch, capsys):
    monkeypatch.setattr(watch, "FIRST", 0.0)
    monkeypatch.setattr(groups, "GROUP_BYTES", 8000)  # many groups for little data
    PCA(2, verbose=True).fit(slow(0.02))
    shown = capsys.readouterr().err
    assert "of 4000 rows" in shown
    assert "accurate as asked" in shown


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl-C, while this thread waits for a fit that a worker leads."""
    wait = Cluster._result

    def waiting(self, future, bound):
        if threading.current_thread() is threading.main_thread() and not bound:
            time.sleep(0.3)
            raise KeyboardInterrupt
        return wait(self, future, bound)

    monkeypatch.setattr(Cluster, "_result", waiting)


def test_ctrl_c_ends_the_tasks_and_changes_no_model(client, interrupted):
    pca = PCA(1).fit(np.diag([3.0, 2, 1, 1, 1]))
    before = pca.components_
    with pytest.raises(KeyboardInterrupt):
        pca.fit(slow(0.05))
    assert pca.components_ is before
    for _ in range(200):
        left = [key for key, task in client.cluster.scheduler.tasks.items() if task.state == "processing"]
        if not left:
            return
        time.sleep(0.05)
    pytest.fail(f"still at work: {left}")


def test_a_plan_depends_on_the_workers_of_the_time_when_rows_were_opened(client, monkeypatch):
    """Also that of a leader which begins anew after others were lost."""
    rows = as_rows(slow(0))
    one = Workers(count=1, threads=1, total_threads=1, memory=10**6, total_memory=10**6)
    monkeypatch.setattr(Cluster, "workers", one)
    assert rows.near(lambda there: (there.workers, there.threads)) == (rows.workers, 1)
    assert rows.workers.count == 2
    assert Scaled(rows, None, 2.0).workers == rows.workers
    assert Scaled(rows, None, 2.0).latency == rows.latency > 0


class Counted(Progress):
    def __init__(self):
        super().__init__(quiet=True)
        self.total = 0

    def advance(self, rows):
        self.total += rows


def test_rows_are_counted_once_though_a_worker_is_lost(client, monkeypatch):
    progress, result, lost = Counted(), Cluster.result, []

    def once(self, future, bound=True):
        found = result(self, future, bound)
        if not lost:
            lost.append(future)
            raise Lost("a worker is gone")
        return found

    rows = as_rows(slow(0)).watched(Watch(progress))
    monkeypatch.setattr(Cluster, "result", once)
    total = rows.reduce(lambda blocks: sum(len(block) for block in blocks), lambda a, b: a + b)
    assert total == progress.total == 4000
    assert lost
    assert rows.cluster.losses == 1


def test_tasks_that_end_their_workers_are_an_error_that_says_so(client, monkeypatch):
    def ends(self, future, bound):
        raise KilledWorker("ritz-rows-1", "tcp://somewhere", 3)

    monkeypatch.setattr(Cluster, "_result", ends)
    with pytest.raises(ClusterError, match=r"lost 4 workers: .*ritz-rows-1; give them more memory"):
        PCA(1).fit(slow(0))


def test_no_checkpoint_is_kept_on_a_cluster(client, tmp_path):
    with pytest.raises(ValueError, match="leave it out for Dask"):
        PCA(1).fit(slow(0), checkpoint=tmp_path / "fit")


def test_a_fit_inside_a_task_leaves_its_thread_to_others(client):
    """Each of two workers has one thread; both fit at once."""
    x = da.random.default_rng(0).standard_normal((400, 5), chunks=(100, 5))

    def fit(seed):
        return PCA(2, random_state=seed).fit(x).explained_variance_

    for found in client.gather(client.map(fit, range(2), pure=False)):
        np.testing.assert_allclose(found, PCA(2).fit(x.compute()).explained_variance_, rtol=1e-12)


def test_what_is_loaded_for_a_fit_that_nobody_waits_for_is_cancelled(client, monkeypatch):
    def wanted():
        raise GivenUp

    cancelled = []
    monkeypatch.setattr(client, "cancel", cancelled.append)
    parts = as_rows(slow(0.01)).known.parts
    with pytest.raises(GivenUp):
        Cluster(client, wanted).keep(parts)
    assert [len(some) for some in cancelled] == [len(parts)]


HELD = threading.Event()


def hold():
    HELD.wait()


def fail():
    raise ZeroDivisionError


def test_a_chunk_that_failed_is_named_though_others_take_long(client, monkeypatch):
    monkeypatch.setattr(tasks, "SETTLED", 0.1)
    held, failed = client.submit(hold, pure=False), client.submit(fail, pure=False)
    failed.exception()
    parts = [Chunk(f"chunk {i}", 1, task.key, needs=(task.key,)) for i, task in enumerate((held, failed))]
    try:
        words = "chunk 1 cannot be computed: ZeroDivisionError"
        with pytest.raises(ChunkError, match=words), Cluster(client).naming(parts):
            fail()
    finally:
        HELD.set()


def test_a_cluster_without_workers(monkeypatch):
    monkeypatch.setattr(tasks, "WORKERS", 0.1)
    x = da.random.default_rng(0).standard_normal((40, 5), chunks=(10, 5))
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0", silence_logs=50) as none,
        Client(none, set_as_default=False) as client,
        client.as_current(),
        dask.config.set(scheduler=None),
    ):
        for collection in (x, x - x.mean(axis=0)):
            with pytest.raises(ClusterError, match="has no workers; start some"):
                PCA(1).fit(collection)

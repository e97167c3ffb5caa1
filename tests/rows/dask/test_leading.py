"""A fit that a worker leads: what is shown of it, and how it is given up."""

import threading
import time

import dask
import dask.array as da
import numpy as np
import pytest

from ritz import PCA
from ritz.rows.dask.cluster import Cluster
from ritz.runtime import watch


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

"""Clusters by what users call them, and what is said where there is none."""

import sys

import distributed
import pytest
from distributed.comm import CommClosedError

from ritz.errors import ClusterError, MissingPackageError, ParameterError
from ritz.rows.dask import connecting
from ritz.rows.dask.connecting import connected, joined


def test_an_address_is_joined_and_left(dask_client):
    address = dask_client.scheduler.address
    with connected(address) as cluster:
        assert sorted(cluster.threads.values()) == [1, 1]
        mine = cluster.client
    assert mine.status == "closed"
    assert dask_client.status == "running"


def test_the_active_client_stays(dask_client):
    with dask_client.as_current(), connected(True) as cluster:
        assert cluster.client is dask_client
    assert dask_client.status == "running"
    assert joined(dask_client).client is dask_client


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (True, "needs an active client"),
        (3, "must be True for the active"),
        ("", "must be True for the active"),
        ("nowhere", "is not the address of a scheduler"),
    ],
)
def test_what_names_no_cluster(asked, words, monkeypatch):
    def none():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed.Client, "current", none)  # workers that are threads have one of their own
    with pytest.raises(ParameterError, match=words):
        joined(asked)


def test_a_scheduler_that_does_not_answer(monkeypatch):
    monkeypatch.setattr(connecting, "ANSWERS", 0.2)
    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9.*start one"):
        joined("tcp://127.0.0.1:9")


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingPackageError, match=r'pip install "ritz\[dask\]"'):
        joined("local")


def test_workers_without_ritz(dask_client, monkeypatch):
    def run(function):
        raise ModuleNotFoundError("No module named 'ritz'")

    monkeypatch.setattr(dask_client, "run", run)
    with pytest.raises(ClusterError, match="lack a package: No module named 'ritz'; install the same version"):
        joined(dask_client)


def test_workers_that_someone_closed_are_started_again(monkeypatch):
    class Started:
        status = "running"

    connecting._kept_workers.cache_clear()
    monkeypatch.setattr(connecting, "_started", lambda silenced: Started())
    first = connecting._workers_of_this_machine()
    assert connecting._workers_of_this_machine() is first
    first.status = "closed"
    assert connecting._workers_of_this_machine() is not first
    connecting._kept_workers.cache_clear()


def test_a_scheduler_that_is_lost(dask_client):
    def lose():
        with connected(dask_client):
            raise CommClosedError("Stream is closed")

    with pytest.raises(ClusterError, match=r"connection to the Dask scheduler at inproc://.* was lost; start again"):
        lose()

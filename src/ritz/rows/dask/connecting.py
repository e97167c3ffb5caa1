"""A Dask cluster by what a user calls it: the active client, an address, or the cores of this machine."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import cache
from typing import Any

from ritz.errors import ClusterError, MissingPackageError, ParameterError

LOCAL = "local"  # one worker for every core of this machine
ANSWERS = 10  # seconds that a scheduler is given to answer
RULE = 'must be True for the active dask.distributed.Client, a Client, the address of a scheduler, or "local"'


@contextmanager
def connected(asked: Any) -> Iterator[Any]:
    """A cluster for as long as it is needed; what was started for it is shut down, whatever happens."""
    client = _client(asked, started=_quiet_workers)
    from distributed.comm import CommClosedError

    from ritz.rows.dask.tasks import lost_scheduler

    address = client.scheduler.address
    with _silenced():
        try:
            yield _cluster(client)
        except (CommClosedError, CancelledError) as error:
            raise lost_scheduler(address) from error
        finally:
            if client is not asked and asked is not True:
                _close(client, with_workers=asked == LOCAL)


@contextmanager
def _silenced() -> Iterator[None]:
    """Dask's own log says nothing meanwhile: what goes wrong is raised."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in levels:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def joined(asked: Any) -> Any:
    """A cluster that stays; workers that were started for it end with this process."""
    return _cluster(_client(asked, started=_workers_of_this_machine))


def _client(asked: Any, started: Any) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingPackageError('a Dask cluster needs dask and distributed: pip install "ritz[dask]"') from error
    if isinstance(asked, Client):
        return asked
    if asked is True:
        try:
            return Client.current()
        except ValueError:
            raise ParameterError("dask", True, "needs an active client; make one first: Client(address)") from None
    if not isinstance(asked, str) or not asked:
        raise ParameterError("dask", asked, RULE)
    return started() if asked == LOCAL else _at(asked)


def _at(address: str) -> Any:
    from distributed import Client

    _check_address(address)
    try:
        return Client(address, timeout=ANSWERS, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address} within {ANSWERS} seconds",
            "start one with dask scheduler, or check the address that it prints",
        ) from error


def _check_address(address: str) -> None:
    """A client that was given something else would wait for it."""
    from distributed.comm.addressing import parse_address, parse_host_port

    scheme, place = parse_address(address)
    try:
        if scheme in ("tcp", "tls"):
            parse_host_port(place)
    except ValueError as error:
        rule = f"is not the address of a scheduler, such as tcp://host:8786 ({error})"
        raise ParameterError("dask", address, rule) from error


def _quiet_workers() -> Any:
    """Workers of this machine for a program in a terminal, to which they write nothing: errors are raised here."""
    with _interrupted_later(), _unheard():
        return _started(logging.CRITICAL)


def _workers_of_this_machine() -> Any:
    """Started once in a process, however often they are asked for; again where someone has closed them."""
    if _kept_workers().status != "running":
        _kept_workers.cache_clear()
    return _kept_workers()


@cache
def _kept_workers() -> Any:
    return _started(logging.WARNING)


def _started(silenced: int) -> Any:
    """One worker for every core, of one thread each."""
    from distributed import Client, LocalCluster

    any_port = ":0"
    workers = LocalCluster(
        n_workers=_cores(), threads_per_worker=1, silence_logs=silenced, dashboard_address=any_port
    )  # fmt: skip
    return Client(workers, set_as_default=False)


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """Ctrl-C waits until workers are started: Dask cannot shut down what is half there."""
    if threading.current_thread() is not threading.main_thread():  # others have no say in this
        yield
        return
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if heard:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _unheard() -> Iterator[None]:
    """Processes that are started meanwhile have no stderr: of Ctrl-C, which a terminal sends to all of them, each would
    say where it was."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _close(client: Any, with_workers: bool) -> None:
    workers = client.cluster if with_workers else None
    client.close()
    if workers is not None:
        workers.close()


def _cluster(client: Any) -> Any:
    """The cluster, if its workers have what their tasks need."""
    from ritz.rows.dask.cluster import Cluster

    cluster = Cluster(client)
    try:
        client.run(_is_there)
    except ModuleNotFoundError as error:
        advice = 'install the same version there: pip install "ritz[dask]"'
        raise ClusterError(
            f"workers of the Dask cluster at {cluster.address} lack a package: {error}", advice
        ) from error
    return cluster


def _is_there() -> bool:
    """Asked of every worker, which must import Ritz to answer."""
    return True

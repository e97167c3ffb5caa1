"""A fit that a worker leads: small matrices stay on the cluster, and whoever asked for it gets the result alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import uuid4

from distributed import Client, Future, get_worker, worker_client

from ritz.errors import ClusterError
from ritz.rows.dask.cluster import Cluster
from ritz.rows.dask.known import Known
from ritz.rows.dask.source import DaskRows
from ritz.runtime.threads import GivenUp
from ritz.runtime.watch import Progress, Watch


def led_by_a_worker(rows: DaskRows, f: Callable[..., Any], args: Any) -> Any:
    """f(rows, *args), run as a task of the cluster that gives others their tasks."""
    cluster, progress, topic = rows.cluster, rows.watch.progress, f"ritz-{uuid4().hex[:8]}"
    client: Client = cluster.client
    keys = {key for part in rows.known.parts for key in part.needs}
    needed: list[Future[Any]] = [Future(key, client) for key in keys]
    with _shown(client, topic, progress):
        shown = None if progress is None else topic
        fit = client.submit(_lead, rows.known, f, args, shown, key=f"ritz-fit-{topic[5:]}", pure=False)
        try:
            found = cluster.result(fit, bound=False)
        except CancelledError as error:
            problem = f"the fit was cancelled on the Dask cluster at {cluster.address}, and no model changed"
            raise ClusterError(problem, "fit again") from error
        except BaseException:  # Ctrl-C as well: nobody waits for it any more
            if client.status == "running":
                client.cancel([fit], force=True)
            raise
        finally:
            del needed  # which were kept until now
    if isinstance(found, Failure):
        raise found.error
    return found


def _lead(found: Known, f: Callable[..., Any], args: Any, topic: str | None) -> Any:
    """The task: it waits for others most of the time, and gives its place among the threads of the worker to them."""
    worker = get_worker()
    key = worker.get_current_task()

    def wanted() -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state in ("cancelled", "forgotten"):
            raise GivenUp

    with worker_client() as client:
        progress = None if topic is None else RemoteProgress(worker, topic)
        try:
            return f(DaskRows.of(found, Cluster(client, wanted)).watched(Watch(progress)), *args)
        except (ValueError, TypeError) as error:
            return Failure(error)


class Failure(NamedTuple):
    """An error about the data or the parameters: a result for the cluster, which logs others as errors of its own."""

    error: Exception


class RemoteProgress(Progress):
    """Passes over rows, shown where the fit was asked for."""

    def __init__(self, worker: Any, topic: str) -> None:
        super().__init__(quiet=True)
        self._worker, self._topic = worker, topic

    def begin(self, total: int, seen: int = 0, what: str = "rows") -> None:
        self._worker.log_event(self._topic, ["begin", total, seen, what])

    def advance(self, rows: int) -> None:
        self._worker.log_event(self._topic, ["advance", rows])


@contextmanager
def _shown(client: Client, topic: str, progress: Progress | None) -> Iterator[None]:
    """What workers tell of the passes of a fit, shown here while it runs."""
    if progress is None:
        yield
        return

    def show(event: tuple[float, list[Any]]) -> None:
        verb, *values = event[1]
        getattr(progress, verb)(*values)

    client.subscribe_topic(topic, show)
    try:
        yield
    finally:
        client.unsubscribe_topic(topic)

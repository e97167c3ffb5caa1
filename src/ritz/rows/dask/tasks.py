"""Tasks of a Dask cluster, whose results come although workers go away."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any

from distributed import Client, Future, KilledWorker, get_worker, secede
from distributed import wait as wait_for
from distributed.comm import CommClosedError

from ritz.errors import ClusterError, DataError
from ritz.rows.dask.graphs import Key
from ritz.rows.dask.parts import Part, failed
from ritz.runtime.threads import GivenUp, cached_property

TRIES = 4  # of what was lost with the workers that had it
TICK = 0.5  # seconds between two looks at whether anyone still waits for a fit
SETTLED = 10  # seconds in which a cluster says which chunk has failed, or gives a result that it has
WORKERS = 30  # seconds that a cluster without workers is given to get some


class Lost(Exception):
    """A worker that tasks were bound to is gone."""


LOST = (Lost, CancelledError, CommClosedError)  # what is seen of a worker that goes away, by who waits for what


class Tasks:
    """Those that a client gives to the workers of a cluster.

    `wanted` is asked now and then, and raises where nobody waits for the result any more. `losses` counts how often
    workers were lost: what was known of where things lie holds no longer.
    """

    def __init__(self, client: Client, wanted: Callable[[], None] = lambda: None) -> None:
        self.client, self._wanted, self.losses = client, wanted, 0
        self.address = str(getattr(client.scheduler, "address", "?"))  # known also when it is gone
        self._bound: set[str] = set()  # workers that tasks are bound to
        _give_way()

    @cached_property
    def threads(self) -> dict[str, int]:
        """How many threads each worker has, by its address; where there is none, some are waited for."""
        deadline = time.monotonic() + WORKERS
        while not (there := self._there()):  # wait_for_workers asks the client, which hears of losses late
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"the Dask cluster at {self.address} has no workers", "start some, with dask worker ADDRESS"
                )
            time.sleep(TICK / 5)
        return dict(sorted(there.items()))

    def _there(self) -> dict[str, int]:
        """The threads of the workers that are there now."""
        if self.client.status != "running":
            raise lost_scheduler(self.address)
        return dict(self.client.nthreads())

    def submit(self, f: Callable[..., Any], *args: Any, name: str, home: str = "") -> Future:
        """A task under a name that people can read, bound to a worker where one is its home."""
        if not home:
            return self.client.submit(f, *args, key=name, pure=False)
        self._bound.add(home)
        return self.client.submit(f, *args, key=name, workers=[home], pure=False)

    def shared(self, value: Any) -> Future:
        """A function, and all that it knows, on a worker, from which every other one takes it once.

        Not by broadcast=True: Dask then waits for workers that went away a moment ago.
        """
        return self.sent([value])[0]

    def sent(self, values: Sequence[Any]) -> list[Future]:
        """Values on the cluster."""
        try:
            return self.client.scatter(values, hash=False)
        except (ValueError, KeyError, OSError) as error:  # what Dask meets with when a worker goes meanwhile
            raise Lost(str(error)) from error

    def future(self, key: Key) -> Future:
        """What lies on the cluster under a key."""
        return Future(key, self.client)

    def holders(self, keys: Iterable[Key]) -> dict[Key, Sequence[str]]:
        """The workers that have what lies under each key; nothing at all where any of it is known to be gone."""
        try:
            return dict(self.client.who_has([self.future(key) for key in keys]))
        except CancelledError:
            return {}

    # Results.

    def again(self, attempt: Callable[[], Any], needed: Iterable[Key] = ()) -> Any:
        """The result of an attempt, which is repeated when a worker is lost: groups and tree stay what they are, and so
        does the result. `needed` is what has to lie on the cluster for it."""
        for _ in range(TRIES):
            try:
                return attempt()
            except (*LOST, OSError) as error:
                if self.client.status != "running":
                    raise lost_scheduler(self.address) from error
                if not isinstance(error, LOST):
                    raise
                self._wanted()
                self.losses += 1
                self._bound.clear()
                for name in ("threads", "_limits"):
                    self.__dict__.pop(name, None)
                reason = str(error) if isinstance(error, Lost) else "tasks were cancelled with them"
        raise self._gone(needed) or self._many_lost(reason)

    def result(self, future: Future, bound: bool = True) -> Any:
        """What a task came to, while someone still waits for it and, if it is bound to workers, those are there."""
        try:
            return self._result(future, bound)
        except KilledWorker as error:
            raise self._many_lost(f"each ended while it computed {error.task}") from error
        except (CancelledError, OSError) as error:
            if self.client.status == "running":
                raise
            raise lost_scheduler(self.address) from error

    def _result(self, future: Future, bound: bool) -> Any:
        while not future.done():
            with suppress(TimeoutError):
                self._wait([future], TICK)
                break
            self._check_waiting(bound)
        seconds = SETTLED
        while True:  # a result may be lost before it is fetched, and nobody else may compute what is bound to a worker
            try:
                return future.result(timeout=seconds)
            except TimeoutError:
                if future.status == "error":  # of the task itself
                    raise
                self._check_waiting(bound)
                seconds *= 2  # a large result takes its time

    def _check_waiting(self, bound: bool) -> None:
        """Raise where nobody waits for a task any more, or no worker is there, or one that it is bound to is not."""
        self._wanted()
        there = self._there()
        if bound and (lost := self._bound - there.keys()):
            raise Lost(f"{min(lost)} is gone")
        if not there:
            self.__dict__.pop("threads", None)
            _ = self.threads  # which waits for some, and says so where none come

    def _gone(self, needed: Iterable[Key]) -> ClusterError | None:
        """What to say where data that someone else put on the cluster is not there any more."""
        keys = list(needed)
        there = self.holders(keys) if keys else {}
        return None if all(there.get(key) for key in keys) else chunks_gone(self.address)

    def _many_lost(self, reason: str) -> ClusterError:
        """Most likely they ran out of memory: workers that are lost for other reasons are rarely lost again at once."""
        advice = "give them more memory or the collection smaller chunks, and look into their logs"
        return ClusterError(
            f"the Dask cluster at {self.address} lost {TRIES} workers: {reason}", advice, "workers_lost"
        )

    @contextmanager
    def naming(self, parts: Iterable[Part]) -> Iterator[None]:
        """An error of a task whose result was to lie on the cluster is raised with the name of the chunk."""
        try:
            yield
        except (*LOST, GivenUp, DataError, ClusterError):
            raise
        except Exception as error:  # of the user's own task, whatever it may be
            needed = [(part, self.future(key)) for part in parts for key in part.needs]
            with suppress(TimeoutError, CancelledError):  # others may take long, or be lost
                self._wait([future for _, future in needed], SETTLED)
            for part, future in needed:
                if future.status == "error":
                    raise failed(part.place, error) from error
            raise

    def settled(self, futures: list[Future]) -> list[Future]:
        """Futures, once all are computed or have failed; cancelled where nobody waits for them any more."""
        left = futures
        try:
            while left:
                with suppress(TimeoutError):
                    self._wait(left, TICK)
                self._check_waiting(bound=False)
                left = [future for future in left if not future.done()]
        except BaseException:  # whoever keeps the error keeps the futures too
            if self.client.status == "running":
                self.client.cancel(futures)
            raise
        return futures

    def _wait(self, futures: list[Future], seconds: float) -> None:
        """Until all is computed; Dask would ask the client that is active, which may be another one."""
        if futures:
            with self.client.as_current():
                wait_for(futures, timeout=seconds)


def chunks_gone(address: str) -> ClusterError:
    """What to say where persisted chunks are not on the cluster."""
    return ClusterError(
        f"persisted chunks do not lie on the Dask cluster at {address}: it was restarted, lost the workers that had "
        "them, or is another one",
        "persist the collection again, or make its own client active with client.as_current()",
        "chunks_gone",
    )


def lost_scheduler(address: str) -> ClusterError:
    """What to say where nobody answers any more."""
    advice = "start again when it is back"
    return ClusterError(f"the connection to the Dask scheduler at {address} was lost", advice, "scheduler_lost")


def _give_way() -> None:
    """Whoever fits inside a task of a cluster waits for other tasks, which need its place among the threads."""
    with suppress(ValueError, KeyError, AttributeError):  # in no task, or it has made way before
        get_worker()
        secede()

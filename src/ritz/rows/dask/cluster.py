"""A Dask cluster: who works there, and tasks whose results come although workers go away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any
from uuid import uuid4

from distributed import Client, Future, KilledWorker, get_worker, secede
from distributed import wait as wait_for
from distributed.comm import CommClosedError

from ritz.errors import ClusterError, DataError
from ritz.rows.base import Workers
from ritz.rows.dask.graphs import Graph, Key
from ritz.rows.dask.parts import Part, failed
from ritz.runtime.threads import GivenUp, alone, cached_property

TRIES = 4  # of what was lost with the workers that had it
TICK = 0.5  # seconds between two looks at whether anyone still waits for a fit
SETTLED = 10  # seconds in which a cluster says which chunk has failed, or gives a result that it has
AHEAD = 4  # tasks for every thread of a worker that are given before results are taken
WORKERS = 30  # seconds that a cluster without workers is given to get some
SHARE = 0.5  # of the memory of a worker, for what a fit works with


class Lost(Exception):
    """A worker that tasks were bound to is gone."""


LOST = (Lost, CancelledError, CommClosedError)  # what is seen of a worker that goes away, by who waits for what


class Cluster:
    """The workers that rows lie on, and how they are given tasks.

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
        """How many threads each worker has, by its address."""
        try:
            self.client.wait_for_workers(1, timeout=WORKERS)
        except TimeoutError:
            raise ClusterError(
                f"the Dask cluster at {self.address} has no workers", "start some, with dask worker ADDRESS"
            ) from None
        return dict(sorted(self.client.nthreads().items()))

    @property
    def slots(self) -> list[str]:
        """The address of every worker, as often as it has threads."""
        return [worker for worker, count in self.threads.items() for _ in range(count)]

    def spread(self, count: int) -> list[str]:
        """Workers for so many things of about equal size, of which neighbours go to the same one."""
        slots = self.slots
        return [slots[i * len(slots) // count] for i in range(count)]

    @cached_property
    def _limits(self) -> list[int]:
        """The memory limit of each worker in bytes; none where no limit is set."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return [int(info["memory_limit"]) for info in workers.values() if info["memory_limit"]]

    @property
    def total_memory(self) -> int:
        """Bytes that all workers may use together, 0 where no limit is set."""
        return sum(self._limits)

    @property
    def workers(self) -> Workers:
        """What a plan depends on."""
        threads, limits = self.threads.values(), self._limits
        memory = int(SHARE * min(limits)) if limits else None
        return Workers(len(threads), max(threads), sum(threads), memory, sum(limits))

    # Data on the workers.

    def check_there(self, futures: Iterable[Future]) -> None:
        """Refuse what was persisted on another cluster, or is cancelled."""
        for future in futures:
            owner = getattr(getattr(future, "client", None), "scheduler", None)
            elsewhere = owner is not None and getattr(owner, "address", self.address) != self.address
            if elsewhere or future.status in ("cancelled", "lost"):
                raise chunks_gone(self.address)

    def computed(self, graph: Graph, keys: list[Key]) -> Any:
        """Results of these tasks in the memory of the cluster, as long as what is returned is kept."""
        if not keys:
            return []
        tasks, needed = graph.behind(keys)
        return self.again(lambda: self._settled(self.client.get(tasks, keys, sync=False)), needed)

    def placed(self, tasks: Mapping[Key, Any]) -> Any:
        """The same of data, of which neighbours lie on the same worker."""
        shares: dict[str, list[Key]] = {}
        for key, home in zip(tasks, self.spread(len(tasks)), strict=True):
            shares.setdefault(home, []).append(key)
        kept: list[Future] = []
        for home, some in shares.items():
            here = {key: tasks[key] for key in some}
            kept += self.client.get(here, some, workers=[home], allow_other_workers=True, sync=False)
        return self._settled(kept)

    def keep(self, parts: Sequence[Part], homes: Sequence[str] = ()) -> list[Future]:
        """Rows of parts in the memory of the workers, as long as the futures are kept: neighbours on the same one,
        unless each has a home."""
        return self.again(lambda: self._kept(parts, homes or self.spread(len(parts))), keys_of(parts))

    def _kept(self, parts: Sequence[Part], homes: Sequence[str]) -> list[Future]:
        token = uuid4().hex[:8]
        kept = [
            self.client.submit(
                _of_parts, _block, part, part.needs, *map(self.future, part.needs),
                key=f"ritz-keep-{token}-{i}", workers=[home], allow_other_workers=True, pure=False,
            )
            for i, (part, home) in enumerate(zip(parts, homes, strict=True))
        ]  # fmt: skip
        for part, future in zip(parts, self._settled(kept), strict=True):
            if future.status != "finished":
                with self.naming([part]):
                    self.result(future, bound=False)  # raises what went wrong
        return kept

    def homes(self, parts: Sequence[Part]) -> list[str]:
        """The worker that has what each part is read next to; "" where it may be read anywhere."""
        keys = {part.anchor for part in parts if part.anchor is not None}
        if not keys:
            return [""] * len(parts)
        has = self.client.who_has([self.future(key) for key in keys])
        where = {key: min(has.get(key) or ("",)) for key in keys}
        return ["" if part.anchor is None else where[part.anchor] for part in parts]

    # Tasks.

    def in_order(self, f: Callable[[Any, Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        """f of every item, which is or holds parts, and of the results that these need, in order, as they come."""
        # Tasks, with what they need: of a result that has failed, a client that let go of it hears no more.
        futures: dict[int, tuple[Future, list[Future]]] = {}
        common: dict[str, Any] = {}  # what tasks share, until a worker is lost

        def submit(i: int) -> tuple[Future, list[Future]]:
            if not common:
                common["homes"] = self.homes([_parts_in(item)[0] for item in items])
                common["function"], common["name"] = self.shared(f), f"ritz-part-{uuid4().hex[:8]}"
            keys = keys_of(_parts_in(items[i]))
            needed, home = [self.future(key) for key in keys], common["homes"][i]
            name = f"{common['name']}-{i}"
            return self.submit(_of_parts, common["function"], items[i], keys, *needed, name=name, home=home), needed

        def one(i: int) -> Any:
            # Few wait here, or on the workers: results may be as many as the rows, and whoever takes them slow.
            try:
                for j in range(i, min(i + AHEAD * len(self.slots), len(items))):
                    if j not in futures:
                        futures[j] = submit(j)
                task, _needed = futures.pop(i)
                with self.naming(_parts_in(items[i])):
                    return self.result(task)
            except LOST:
                futures.clear()
                common.clear()
                raise

        for i in range(len(items)):
            yield self.again(partial(one, i), keys_of(_parts_in(items[i])))

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
        there = self.client.nthreads()
        if bound and (lost := self._bound - there.keys()):
            raise Lost(f"{min(lost)} is gone")
        if not there:
            self.__dict__.pop("threads", None)
            _ = self.threads  # which waits for some, and says so where none come

    def _gone(self, needed: Iterable[Key]) -> ClusterError | None:
        """What to say where data that someone else put on the cluster is not there any more."""
        if not (keys := list(needed)) or all(self.client.who_has([self.future(key) for key in keys]).values()):
            return None
        return chunks_gone(self.address)

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

    def _settled(self, futures: list[Future]) -> list[Future]:
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


def keys_of(parts: Iterable[Part]) -> tuple[Key, ...]:
    """What parts need, each once."""
    return tuple(dict.fromkeys(key for part in parts for key in part.needs))


def _block(part: Part, needed: Mapping[Key, Any]) -> Any:
    """All rows of a part, as they are."""
    rows = part.opened(needed)
    return rows.block(0, rows.shape[0])


def _of_parts(f: Callable[[Any, Any], Any], item: Any, keys: Sequence[Key], *results: Any) -> Any:
    with alone():
        return f(item, dict(zip(keys, results, strict=True)))


def _parts_in(item: Any) -> list[Part]:
    """The parts that an item is, or holds; a group is one of several."""
    found = [part for part in (item if isinstance(item, tuple) else (item,)) if hasattr(part, "needs")]
    return [part for some in found for part in getattr(some, "parts", (some,))]

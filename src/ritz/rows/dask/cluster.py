"""Passes on a Dask cluster: one task per group of parts, and a fixed tree of merges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple
from uuid import uuid4

from distributed import Client, Future
from distributed import wait as wait_for
from distributed.comm import CommClosedError

from ritz.errors import ClusterError, DataError
from ritz.rows.dask.groups import Group, Pass, besides, bundles, folded
from ritz.rows.dask.parts import Part, failed
from ritz.rows.dask.source import DaskRows
from ritz.runtime.threads import GivenUp, alone, cached_property

TRIES = 4  # of a pass whose shared data went away with the workers that had it
TICK = 0.5  # seconds between two looks at whether anyone still waits for a fit
SETTLED = 10  # seconds in which a cluster says which chunk has failed
AHEAD = 4  # tasks for every thread of a worker that are given before results are taken
WORKERS = 30  # seconds that a cluster without workers is given to get some


class Cluster:
    """What rows know of the workers that they lie on.

    `wanted` is asked now and then, and raises where nobody waits for the result any more.
    """

    def __init__(self, client: Client, wanted: Callable[[], None] = lambda: None) -> None:
        self.client, self._wanted = client, wanted
        self.address = str(getattr(client.scheduler, "address", "?"))  # known also when it is gone
        self._bound: set[str] = set()  # workers that tasks are bound to
        # Groups that the workers know, by the identity of the list that they are kept in.
        self._opened: dict[int, tuple[Any, list[Opened]]] = {}

    @cached_property
    def workers(self) -> dict[str, int]:
        """Addresses of the workers, and how many threads each has."""
        try:
            self.client.wait_for_workers(1, timeout=WORKERS)
        except TimeoutError:
            raise ClusterError(
                f"the Dask cluster at {self.address} has no workers", "start some, with dask worker ADDRESS"
            ) from None
        return dict(sorted(self.client.nthreads().items()))

    @property
    def threads_of_a_worker(self) -> int:
        return max(self.workers.values())

    @cached_property
    def memory(self) -> dict[str, int]:
        """Bytes that every worker may use; none where nobody has said."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return {address: int(info["memory_limit"]) for address, info in workers.items() if info["memory_limit"]}

    def persist(self, collection: Any) -> Any:
        """The collection with its chunks in the memory of the cluster."""
        kept = self.client.persist(collection)
        self._wait(kept)
        return kept

    def homes(self, parts: Sequence[Part]) -> list[str]:
        """The worker that has the chunks which a part is made from; "" where it is made from none."""
        keys = {key for part in parts for key in part.needs}
        if not keys:
            return [""] * len(parts)
        has = self.client.who_has([self._future(key) for key in keys])
        where = {key: min(has.get(key) or ("",)) for key in keys}
        return [where[part.needs[0]] if part.needs else "" for part in parts]

    def reduce(self, rows: DaskRows, job: Pass, beside: Any) -> Any:
        """The result of a pass: combine over f of every group, along a binary tree."""
        return self._again(lambda: self._reduced(rows, job, beside))

    def _again(self, attempt: Callable[[], Any]) -> Any:
        """The result of an attempt, which is repeated when a worker is lost: groups and tree stay what they are, and so
        does the result."""
        for _ in range(TRIES):
            try:
                return attempt()
            except (*LOST, OSError) as error:
                if self.client.status != "running":
                    raise lost_scheduler(self.address) from error
                if not isinstance(error, LOST):
                    raise
                self._wanted()
                self._opened.clear()
                self._bound.clear()
                self.__dict__.pop("workers", None)
                reason = error
        raise ClusterError(f"workers of the Dask cluster at {self.address} were lost {TRIES} times: {reason}")

    def _reduced(self, rows: DaskRows, job: Pass, beside: Any) -> Any:
        shared, token = self._shared(job), uuid4().hex[:8]
        homes: dict[str, list[Placed]] = {}
        for i, (group, (home, opened, needed)) in enumerate(zip(rows.groups, self._groups(rows), strict=True)):
            values = besides(group, beside)
            values = values if values is None or isinstance(beside, range) else self.client.scatter(values, hash=False)
            # Chunks are large, and Dask would move them to any worker that has less to do at the moment.
            bound = home if needed else ""
            part = self._submit(_partial, opened, shared, values, *needed, name=f"ritz-rows-{token}-{i}", home=bound)
            if rows.watch.progress is not None:
                part.add_done_callback(lambda _, count=group.rows: rows.watch.advance(count))
            homes.setdefault(group.home, []).append(Placed(part, bound))
        # First those of the same worker, so that one result of each travels.
        name, size = f"ritz-merge-{token}", job.bundle
        tops = [self._merged(some, shared, f"{name}-{i}", size) for i, some in enumerate(homes.values())]
        with self._naming(part for group in rows.groups for part in group.parts):
            return self.result(self._merged(tops, shared, name, size).future)

    def _merged(self, level: list[Placed], shared: Future, name: str, size: int) -> Placed:
        """One of many, by a binary tree, of which a task does a bundle, on the worker that has the first of it."""
        height = 0
        while len(level) > 1:
            some, level, height = list(bundles(level, size)), [], height + 1
            for i, parts in enumerate(some):
                home, futures = parts[0].home, [part.future for part in parts]
                if len(parts) > 1:
                    task = self._submit(_merge, shared, *futures, name=f"{name}-{height}-{i}", home=home)
                    level.append(Placed(task, home))
                else:
                    level.append(parts[0])
        return level[0]

    def load(self, rows: DaskRows) -> list[Future]:
        """The parts of all groups in the memory of the workers that are to read them."""
        homes = [home for group, home in zip(rows.groups, self._spread(rows), strict=True) for _ in group.parts]
        return self.keep([part for group in rows.groups for part in group.parts], homes)

    def in_order(self, f: Callable[[Any, Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        """f of what is about parts, and of the chunks that these need, in order, as they come."""
        futures: dict[int, Future] = {}
        common: dict[str, Any] = {}  # what tasks share, until a worker is lost

        def submit(i: int) -> Future:
            if not common:
                common["homes"] = self.homes([_about(item)[0] for item in items])
                common["function"], common["name"] = self._shared(f), f"ritz-part-{uuid4().hex[:8]}"
            keys = tuple(dict.fromkeys(key for part in _about(items[i]) for key in part.needs))
            needed, home = [self._future(key) for key in keys], common["homes"][i]
            name = f"{common['name']}-{i}"
            return self._submit(_of_parts, common["function"], items[i], keys, *needed, name=name, home=home)

        def one(i: int) -> Any:
            # Few wait here, or on the workers: results may be as many as the rows, and whoever takes them slow.
            for j in range(i, min(i + AHEAD * sum(self.workers.values()), len(items))):
                if j not in futures:
                    futures[j] = submit(j)
            try:
                with self._naming(_about(items[i])):
                    return self.result(futures.pop(i))
            except LOST:
                futures.clear()
                common.clear()
                raise

        for i in range(len(items)):
            yield self._again(partial(one, i))

    def keep(self, parts: Sequence[Part], homes: Sequence[str] = ()) -> list[Future]:
        """Rows of parts in the memory of the workers, as long as the futures are kept: neighbours on the same one,
        unless each has a home."""
        slots, token = [*self.workers], uuid4().hex[:8]
        homes = homes or [slots[i * len(slots) // len(parts)] for i in range(len(parts))]
        kept = [
            self.client.submit(
                _load, part, key=f"ritz-keep-{token}-{i}", workers=[home], allow_other_workers=True, pure=False
            )
            for i, (part, home) in enumerate(zip(parts, homes, strict=True))
        ]
        self._wait(kept)
        for future in kept:
            if future.status != "finished":
                future.result()  # raises what went wrong
        return kept

    @contextmanager
    def _naming(self, parts: Iterable[Any]) -> Iterator[None]:
        """An error of a chunk that was to lie on the cluster is raised with the name of that chunk."""
        try:
            yield
        except (*LOST, GivenUp, DataError):
            raise
        except Exception as error:  # of the user's own task, whatever it may be
            needed = [(part, self._future(key)) for part in parts for key in part.needs]
            if needed:
                self._wait([future for _, future in needed], SETTLED)
            for part, future in needed:
                if future.status == "error":
                    raise failed(part.place, error) from error
            raise

    def _submit(self, f: Callable[..., Any], *args: Any, name: str, home: str = "") -> Future:
        """A task under a name that people can read, bound to a worker where one is its home."""
        if not home:
            return self.client.submit(f, *args, key=name, pure=False)
        self._bound.add(home)
        return self.client.submit(f, *args, key=name, workers=[home], pure=False)

    def _shared(self, job: Any) -> Future:
        """A function, and all that it knows, on every worker: sent once, not with every task."""
        try:
            return self.client.scatter([job], broadcast=True, hash=False)[0]
        except (ValueError, KeyError, OSError) as error:  # what Dask meets with when a worker goes meanwhile
            raise Lost(str(error)) from error

    def _groups(self, rows: DaskRows) -> list[Opened]:
        """The groups on the workers that are to read them: neighbours on the same one, so that merges stay there."""
        known = self._opened.get(id(rows.groups))
        if known is not None:
            return known[1]
        token = uuid4().hex[:8]
        homes = self._spread(rows)
        opened = [
            Opened(
                home,
                self._submit(_identity, group, name=f"ritz-open-{token}-{i}", home=home),
                [self._future(key) for key in group.needs],
            )
            for i, (group, home) in enumerate(zip(rows.groups, homes, strict=True))
        ]
        self._opened[id(rows.groups)] = rows.groups, opened
        return opened

    def _spread(self, rows: DaskRows) -> list[str]:
        """Which worker reads each group: the one that has it, or each its share of neighbours."""
        groups = rows.groups
        homes = self.homes([group.parts[0] for group in groups])
        slots = [worker for worker, count in self.workers.items() for _ in range(count)]
        return [home or slots[i * len(slots) // len(groups)] for i, home in enumerate(homes)]

    def _future(self, key: Any) -> Future:
        return Future(key, self.client)

    def _wait(self, what: Any, seconds: float | None = None) -> None:
        """Until all is computed; Dask would ask the client that is active, which may be another one."""
        with self.client.as_current():
            wait_for(what, timeout=seconds)

    def result(self, future: Future, bound: bool = True) -> Any:
        """What a task came to, while someone still waits for it and, if it is bound to workers, those are there."""
        try:
            return self._result(future, bound)
        except (CancelledError, OSError) as error:
            if self.client.status == "running":
                raise
            raise lost_scheduler(self.address) from error

    def _result(self, future: Future, bound: bool) -> Any:
        while not future.done():
            self._wanted()
            with suppress(TimeoutError):
                self._wait([future], TICK)
                break
            if bound and (lost := self._bound - self.client.nthreads().keys()):
                raise Lost(f"{min(lost)} is gone")
        return future.result()


class Opened(NamedTuple):
    """A group that a worker knows, and the chunks that it needs: to ask for them in every pass would cost as much."""

    home: str
    group: Future
    needed: list[Future]


class Placed(NamedTuple):
    """A result to come, and the worker that it is bound to, "" for none."""

    future: Future
    home: str


def lost_scheduler(address: str) -> ClusterError:
    """What to say where nobody answers any more."""
    advice = "start again when it is back"
    return ClusterError(f"the connection to the Dask scheduler at {address} was lost", advice, "scheduler_lost")


class Lost(Exception):
    """A worker that tasks were bound to is gone."""


LOST = (Lost, CancelledError, CommClosedError)  # what is seen of a worker that goes away, by who waits for what


def _identity(group: Group) -> Group:
    return group


def _load(part: Part) -> Any:
    """All rows of a part that needs no other, as they are."""
    with alone():
        rows = part.opened({})
        return rows.block(0, rows.shape[0])


def _partial(group: Group, job: Pass, beside: Any, *chunks: Any) -> Any:
    return job(group, dict(zip(group.needs, chunks, strict=True)), beside)


def _merge(job: Pass, *partials: Any) -> Any:
    """Into copies: a task that is repeated must find what it was given."""
    with alone():
        return folded(job.combine, (deepcopy(partial) for partial in partials))


def _of_parts(f: Callable[[Any, Any], Any], item: Any, keys: Sequence[Any], *chunks: Any) -> Any:
    with alone():
        return f(item, dict(zip(keys, chunks, strict=True)))


def _about(item: Any) -> list[Any]:
    """The parts that an item is, or is about, or that are in it."""
    found = [part for part in (item if isinstance(item, tuple) else (item,)) if hasattr(part, "needs")]
    return [part for some in found for part in getattr(some, "parts", (some,))]

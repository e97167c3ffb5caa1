"""Passes on a Dask cluster: one task per group of parts, and a fixed tree of merges."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from copy import deepcopy
from itertools import groupby, islice
from operator import itemgetter
from typing import Any
from uuid import uuid4

from distributed import Client, Future
from distributed import wait as wait_for

from ritz.errors import ClusterError
from ritz.rows.dask.groups import Group, Pass, besides, pairs_of
from ritz.rows.dask.parts import Part
from ritz.rows.dask.source import DaskRows
from ritz.runtime.threads import alone, cached_property

TRIES = 4  # of a pass whose shared data went away with the workers that had it
TICK = 0.5  # seconds between two looks at whether anyone still waits for a fit
AHEAD = 4  # tasks for every thread of a worker that are given before results are taken
WORKERS = 30  # seconds that a cluster without workers is given to get some


class Cluster:
    """What rows know of the workers that they lie on.

    `wanted` is asked now and then, and raises where nobody waits for the result any more.
    """

    def __init__(self, client: Client, wanted: Callable[[], None] = lambda: None) -> None:
        self.client, self._wanted = client, wanted
        self._opened: dict[
            int, tuple[Any, list[tuple[str, Future]]]
        ] = {}  # groups that are known to the workers, by identity

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
    def address(self) -> str:
        return str(getattr(self.client.scheduler, "address", "?"))

    @property
    def threads_of_a_worker(self) -> int:
        return max(self.workers.values())

    @cached_property
    def memory(self) -> int:
        """Bytes that the smallest worker may use, 0 where nobody has said."""
        limits = [info["memory_limit"] for info in self.client.scheduler_info(n_workers=-1)["workers"].values()]
        return min(limits, default=0)

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
        """What is computed for nothing when a worker goes away is computed again; its groups stay what they are."""
        for _ in range(TRIES):
            try:
                return attempt()
            except (Lost, CancelledError) as error:
                self._opened.clear()
                self.__dict__.pop("workers", None)
                reason = error
        raise ClusterError(f"workers of the Dask cluster at {self.address} were lost {TRIES} times: {reason}")

    def _reduced(self, rows: DaskRows, job: Pass, beside: Any) -> Any:
        shared, token = self._shared(job), uuid4().hex[:8]
        partials = []
        for i, (group, (home, opened)) in enumerate(zip(rows.groups, self._groups(rows), strict=True)):
            values = besides(group, beside)
            values = values if values is None or isinstance(beside, range) else self.client.scatter(values, hash=False)
            needed = [self._future(key) for key in group.needs]
            # Chunks are large, and Dask would move them to any worker that has less to do at the moment.
            bound = home if needed else ""
            part = self._submit(_partial, opened, shared, values, *needed, name=f"ritz-rows-{token}-{i}", home=bound)
            part.add_done_callback(lambda _, count=group.rows: rows.watch.advance(count))
            partials.append((home if needed else "", part))
        # First those of the same worker, so that a result travels once.
        homes = [(home, [part for _, part in some]) for home, some in groupby(partials, itemgetter(0))]
        tops = [self._merged(some, shared, f"ritz-merge-{token}-{i}", home) for i, (home, some) in enumerate(homes)]
        return self.result(self._merged(tops, shared, f"ritz-merge-{token}", ""))

    def _merged(self, level: list[Future], shared: Future, name: str, home: str) -> Future:
        """One of many, by a binary tree; the tasks are bound to a worker that has them all."""
        height = 0
        while len(level) > 1:
            pairs, height = list(enumerate(pairs_of(level))), height + 1
            level = [
                a if b is None else self._submit(_merge, a, b, shared, name=f"{name}-{height}-{i}", home=home)
                for i, (a, b) in pairs
            ]
        return level[0]

    def in_order(self, f: Callable[[Any, Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        """f of parts, or of what is about them, in order, as they come."""
        shared, token = self._shared(f), uuid4().hex[:8]
        homes = self.homes([_about(item)[0] for item in items])

        def submit(i: int, home: str) -> Future:
            keys = tuple(dict.fromkeys(key for part in _about(items[i]) for key in part.needs))
            needed = [self._future(key) for key in keys]
            return self._submit(_of_parts, shared, items[i], keys, *needed, name=f"ritz-part-{token}-{i}", home=home)

        # Few wait here, or on the workers: results may be as many as the rows, and whoever takes them slow.
        tasks = (submit(i, home) for i, home in enumerate(homes))
        waiting = deque(islice(tasks, AHEAD * sum(self.workers.values())))
        while waiting:
            yield self.result(waiting.popleft())
            waiting.extend(islice(tasks, 1))

    def keep(self, f: Callable[[Part], Any], parts: Sequence[Part]) -> list[Future]:
        """f of parts in the memory of the workers, neighbours on the same one, as long as the futures are kept."""
        slots, token = [*self.workers], uuid4().hex[:8]
        homes = [slots[i * len(slots) // len(parts)] for i in range(len(parts))]
        kept = [
            self.client.submit(
                f, part, key=f"ritz-keep-{token}-{i}", workers=[home], allow_other_workers=True, pure=False
            )
            for i, (part, home) in enumerate(zip(parts, homes, strict=True))
        ]
        self._wait(kept)
        for future in kept:
            if future.status != "finished":
                future.result()  # raises what went wrong
        return kept

    def _submit(self, f: Callable[..., Any], *args: Any, name: str, home: str = "") -> Future:
        return self.client.submit(f, *args, key=name, workers=[home] if home else None, pure=False)

    def _shared(self, job: Any) -> Future:
        """A function, and all that it knows, on every worker: sent once, not with every task."""
        return self.client.scatter([job], broadcast=True, hash=False)[0]

    def _groups(self, rows: DaskRows) -> list[tuple[str, Future]]:
        """The groups on the workers that are to read them: neighbours on the same one, so that merges stay there."""
        known = self._opened.get(id(rows.groups))
        if known is not None:
            return known[1]
        token = uuid4().hex[:8]
        homes = self._spread(rows)
        opened = [
            (home, self._submit(_identity, group, name=f"ritz-open-{token}-{i}", home=home))
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

    def result(self, future: Future) -> Any:
        """What a task came to, while someone still waits for it and all workers are there."""
        try:
            return self._result(future)
        except (CancelledError, OSError) as error:
            if self.client.status == "running":
                raise
            raise lost_scheduler(self.address) from error

    def _result(self, future: Future) -> Any:
        while not future.done():
            self._wanted()
            with suppress(TimeoutError):
                self._wait([future], TICK)
                break
            lost = self.workers.keys() - self.client.nthreads().keys()
            if lost:
                raise Lost(f"{min(lost)} is gone")
        return future.result()


def lost_scheduler(address: str) -> ClusterError:
    """What to say where nobody answers any more."""
    advice = "start again when it is back"
    return ClusterError(f"the connection to the Dask scheduler at {address} was lost", advice)


class Lost(Exception):
    """A worker that tasks were bound to is gone."""


def _identity(group: Group) -> Group:
    return group


def _partial(group: Group, job: Pass, beside: Any, *chunks: Any) -> Any:
    return job(group, dict(zip(group.needs, chunks, strict=True)), beside)


def _merge(a: Any, b: Any, job: Pass) -> Any:
    """Into a copy: a task that is repeated must find what it was given."""
    with alone():
        return job.combine(deepcopy(a), b)


def _of_parts(f: Callable[[Any, Any], Any], item: Any, keys: Sequence[Any], *chunks: Any) -> Any:
    with alone():
        return f(item, dict(zip(keys, chunks, strict=True)))


def _about(item: Any) -> list[Any]:
    """The parts, or groups of them, that an item is, or is about."""
    return [part for part in (item if isinstance(item, tuple) else (item,)) if hasattr(part, "needs")]

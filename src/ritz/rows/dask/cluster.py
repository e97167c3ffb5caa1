"""A Dask cluster: who works there, what lies there, and functions of parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

from distributed import Future

from ritz.rows.base import Workers
from ritz.rows.dask.graphs import Graph, Key
from ritz.rows.dask.parts import Part
from ritz.rows.dask.tasks import LOST, Tasks, chunks_gone
from ritz.runtime.threads import alone, cached_property

AHEAD = 4  # tasks for every thread of a worker that are given before results are taken
SHARE = 0.5  # of the memory of a worker, for what a fit works with


class Cluster(Tasks):
    """The workers that rows lie on, and what is put there."""

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
            if elsewhere or future.status == "cancelled":  # "lost" is what is being computed again
                raise chunks_gone(self.address)

    def computed(self, graph: Graph, keys: list[Key]) -> Any:
        """Results of these tasks in the memory of the cluster, as long as what is returned is kept."""
        if not keys:
            return []
        tasks, needed = graph.behind(keys)
        return self.again(lambda: self.settled(self.client.get(tasks, keys, sync=False)), needed)

    def placed(self, tasks: Mapping[Key, Any]) -> Any:
        """The same of data, of which neighbours lie on the same worker."""
        shares: dict[str, list[Key]] = {}
        for key, home in zip(tasks, self.spread(len(tasks)), strict=True):
            shares.setdefault(home, []).append(key)
        kept: list[Future] = []
        for home, some in shares.items():
            here = {key: tasks[key] for key in some}
            kept += self.client.get(here, some, workers=[home], allow_other_workers=True, sync=False)
        return self.settled(kept)

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
        for part, future in zip(parts, self.settled(kept), strict=True):
            if future.status != "finished":
                with self.naming([part]):
                    self.result(future, bound=False)  # raises what went wrong
        return kept

    def homes(self, parts: Sequence[Part]) -> list[str]:
        """The worker that has what each part is read next to; "" where it may be read anywhere."""
        keys = {part.anchor for part in parts if part.anchor is not None}
        if not keys:
            return [""] * len(parts)
        has = self.holders(keys)
        where = {key: min(has.get(key) or ("",)) for key in keys}
        return ["" if part.anchor is None else where[part.anchor] for part in parts]

    # Functions of parts.

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

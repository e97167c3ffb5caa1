"""Graphs of Dask collections: the tasks that make each chunk, and the results that several chunks need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

from ritz.runtime.threads import cached_property

Key = Any  # of a task in a graph of Dask
MANY = -1  # chunks that need a task, instead of the number of the only one
FEW = 4  # tasks that may compute the same input again where there is no room to keep it


@dataclass(frozen=True, eq=False)
class Graph:
    """Tasks by their keys, and the keys of the chunks that they make."""

    tasks: Mapping[Key, Any]
    chunks: Sequence[Key]

    @classmethod
    def of(cls, collection: Any) -> Graph:
        """The graph of a collection, with few tasks, in which what lies on a cluster already is a Future."""
        from dask.core import flatten

        futures = {key: task for key, task in dict(collection.__dask_graph__()).items() if is_future(task)}
        collection = optimized(collection)  # which leaves out what is on a cluster already
        chunks = list(flatten(collection.__dask_keys__()))
        return cls({**dict(collection.__dask_graph__()), **futures}, chunks)

    @cached_property
    def inputs(self) -> dict[Key, list[Key]]:
        """The tasks that each task needs."""
        from dask.core import get_dependencies

        return {
            key: [] if is_future(task) else list(get_dependencies(self.tasks, key)) for key, task in self.tasks.items()
        }

    def shared(self, least: int = 2) -> list[Key]:
        """Results that several chunks need, to be computed once: those that at least so many tasks ask for.

        Of x − mean(x) that is the mean alone. The chunks of x, which the mean needs too, are made again for each
        chunk of the difference: to keep them would be to keep all the data.
        """
        owner: dict[Key, int] = {}
        asking: Counter[Key] = Counter()
        found = []
        for i, key in enumerate(self.chunks):
            owner[key] = MANY if key in owner else i
        for key in reversed(list(TopologicalSorter(self.inputs).static_order())):  # tasks before their inputs
            mine = owner.get(key)
            if mine is None:  # only what is shared needs it
                continue
            if mine == MANY and asking[key] >= least and not self._is_given(key):
                found.append(key)
                continue
            for need in self.inputs[key]:
                asking[need] += 1
                owner[need] = mine if owner.get(need, mine) == mine else MANY
        return sorted(found, key=str)

    def behind(self, keys: Iterable[Key], ends: Collection[Key] = ()) -> tuple[dict[Key, Any], list[Key]]:
        """The tasks that make these keys from what is given, from Futures and from `ends`; and which of those."""
        tasks: dict[Key, Any] = {}
        needed, waiting = set(), list(keys)
        while waiting:
            key = waiting.pop()
            if key in ends or is_future(self.tasks[key]):
                needed.add(key)
            elif key not in tasks:
                tasks[key] = self.tasks[key]
                waiting += self.inputs[key]
        return tasks, sorted(needed, key=str)  # a set has another order in every process

    def heavy(self, size: int) -> list[Key]:
        """Data inside the graph of more than so many bytes."""
        return sorted((key for key in self.tasks if self._size(key) > size), key=str)

    def _is_given(self, key: Key) -> bool:
        """Whether nothing needs to be computed for a key: it is data, or lies on a cluster."""
        from dask.core import istask

        task = self.tasks[key]
        return not self.inputs[key] and not istask(task) and not callable(getattr(task, "func", None))

    def _size(self, key: Key) -> int:
        """Bytes of the data that a key stands for."""
        task = self.tasks[key]
        if is_future(task) or not self._is_given(key):
            return 0
        from dask.sizeof import sizeof

        return int(sizeof(getattr(task, "value", task)))


class Given:
    """A value as a task of a graph, whatever it looks like: Dask would take some tuples and strings for tasks."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self) -> Any:
        return self.value


def given(values: Mapping[Key, Any]) -> dict[Key, Any]:
    """Tasks that return these values."""
    return {key: (Given(value),) for key, value in values.items()}


def optimized(collection: Any) -> Any:
    """The same collection, with a graph of the fewest tasks, whose keys are those that the collection has now.

    A dataframe is an expression that optimises itself: what dask.optimize makes of it has other keys than its graph.
    """
    import dask

    return collection.optimize() if hasattr(type(collection), "columns") else dask.optimize(collection)[0]


def is_future(task: Any) -> bool:
    """Whether a task of a graph is a result that lies on a cluster."""
    return hasattr(task, "key") and hasattr(task, "client") and hasattr(task, "status")

"""Parts of rows, each read in one piece wherever it is needed: a chunk of a Dask collection, or a slice of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import dask
from dask.optimization import cull

from ritz.errors import DataError
from ritz.rows import Rows, as_rows
from ritz.runtime.wording import plural

Key = Any  # of a task in a graph of Dask
UNKNOWN = -1  # rows of a chunk that nobody has counted yet
HEAVY = 1 << 20  # bytes inside a graph that are not sent along with every task


class Part(Protocol):
    """Consecutive rows that are read in one piece."""

    @property
    def place(self) -> str:
        """What to call it, or what it is a part of, in a message."""

    @property
    def start(self) -> int:
        """The number of its first row in what `place` names."""

    @property
    def rows(self) -> int: ...

    @property
    def needs(self) -> tuple[Key, ...]:
        """Chunks in the memory of the cluster that it is made from."""

    def opened(self, needed: Mapping[Key, Any]) -> Rows:
        """Its rows, from the chunks that it needs."""

    def count(self, needed: Mapping[Key, Any]) -> int:
        """How many rows it has, found by making it."""

    def counted(self, rows: int) -> Part:
        """The same, knowing that."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """A chunk of a Dask collection: what of its graph makes it."""

    place: str
    rows: int
    key: Key
    graph: Mapping[Key, Any] = field(default_factory=dict)
    needs: tuple[Key, ...] = ()
    start: int = 0

    def opened(self, needed: Mapping[Key, Any]) -> Rows:
        return as_rows(self._value(needed))

    def count(self, needed: Mapping[Key, Any]) -> int:
        return int(self._value(needed).shape[0])

    def _value(self, needed: Mapping[Key, Any]) -> Any:
        known = {key: needed[key] for key in self.needs}
        return known[self.key] if self.key in known else dask.get({**self.graph, **known}, self.key)

    def counted(self, rows: int) -> Chunk:
        return replace(self, rows=rows)


def chunks_of(collection: Any, rows: list[int]) -> list[Chunk]:
    """The chunks of a collection, each with no more of the graph than it needs."""
    from dask.core import flatten

    futures = {key: node for key, node in dict(collection.__dask_graph__()).items() if is_future(node)}
    collection = dask.optimize(collection)[0]  # which leaves out what is on a cluster already
    graph, found = {**dict(collection.__dask_graph__()), **futures}, []
    for i, (key, count) in enumerate(zip(flatten(collection.__dask_keys__()), rows, strict=True)):
        own, _ = cull(graph, [key])
        needs = tuple(k for k, node in own.items() if is_future(node))
        found.append(Chunk(f"chunk {i}", count, key, {k: v for k, v in own.items() if k not in needs}, needs))
    return found


def is_future(node: Any) -> bool:
    """Whether a node of a graph is a result that lies on a cluster."""
    return hasattr(node, "key") and hasattr(node, "client") and hasattr(node, "status")


def must_persist(chunks: Sequence[Chunk]) -> bool:
    """Whether chunks depend on each other, or on data that is not on the cluster yet.

    Such a graph does not fall into parts: what two chunks share would be computed for each of them, in every pass.
    """
    seen: set[Key] = set()
    for chunk in chunks:
        for key, node in chunk.graph.items():
            if _size(node) > HEAVY or (key in seen and not _is_data(node)):
                return True
            seen.add(key)
    return False


def _is_data(node: Any) -> bool:
    return not getattr(node, "dependencies", ()) and not callable(getattr(node, "func", None))


def _size(node: Any) -> int:
    """Bytes of data that a node of a graph holds."""
    if not _is_data(node):
        return 0
    from dask.sizeof import sizeof

    return int(sizeof(getattr(node, "value", node)))


def check_like(rows: Rows, part: Part, whole: Rows) -> Rows:
    """The rows of a part, which must be as many as were announced and have the columns of the whole."""
    d, names = whole.shape[1], whole.names
    if rows.shape[1] != d:
        raise DataError(
            f"{part.place} has {rows.shape[1]} {plural(rows.shape[1], 'column')}, others have {d}; give all the same"
        )
    if part.rows != rows.shape[0]:
        raise DataError(
            f"{part.place} has {rows.shape[0]} {plural(rows.shape[0], 'row')}, but {part.rows} were announced",
            "x.compute_chunk_sizes() corrects the sizes of a dask array; a file must not change meanwhile",
        )
    if names is not None and rows.names is not None and tuple(rows.names) != tuple(names):
        j = next(j for j, (ours, theirs) in enumerate(zip(names, rows.names, strict=True)) if ours != theirs)
        raise DataError(f"column {j} of {part.place} is {rows.names[j]!r}, that of the others is {names[j]!r}")
    return rows

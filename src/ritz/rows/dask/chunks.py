"""The chunks of a Dask collection, each with the tasks that make it; what several of them need is computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ritz.errors import ClusterError
from ritz.rows.dask.graphs import FEW, Graph, Key, given, is_future
from ritz.rows.dask.parts import UNKNOWN, Chunk, failed
from ritz.runtime.memory import PHYSICAL

ROOM = 0.4  # of the memory of this machine or of a cluster, for rows and results that are computed again otherwise
HEAVY = 1 << 20  # bytes of data inside a graph beyond which they are sent to the cluster once, and not with every task


def chunks_of(collection: Any, rows: Sequence[int], cluster: Any = None) -> tuple[list[Chunk], Any]:
    """The chunks of a collection, and what must be kept as long as they are needed.

    A dataframe does not know how many rows they have, and may read several of its partitions as one.
    """
    graph = Graph.of(collection)
    counts = rows if len(rows) == len(graph.chunks) else [UNKNOWN] * len(graph.chunks)
    shared = _shared(graph, _bytes_of_chunk(collection), PHYSICAL if cluster is None else cluster.total_memory)
    if cluster is None:
        values = _computed(graph, shared)
        return [_with_values(graph, i, count, values) for i, count in enumerate(counts)], None
    cluster.check_there(task for task in graph.tasks.values() if is_future(task))
    heavy = graph.heavy(HEAVY)
    kept = cluster.computed(graph, shared), cluster.placed({key: graph.tasks[key] for key in heavy})
    ends = {*shared, *heavy}
    return [_on_cluster(graph, i, count, ends, set(heavy)) for i, count in enumerate(counts)], kept


def _bytes_of_chunk(collection: Any) -> float:
    """Bytes of a chunk on average, 0 where the collection does not know."""
    size = float(getattr(collection, "nbytes", np.nan)) if hasattr(collection, "chunks") else np.nan
    return 0.0 if np.isnan(size) else size / max(1, collection.npartitions)


def _shared(graph: Graph, chunk_bytes: float, memory: int) -> list[Key]:
    """What chunks share, taken to be as large as chunks; less of it where that may not fit into memory."""
    every = graph.shared()
    return every if len(every) * chunk_bytes <= ROOM * memory else graph.shared(FEW + 1)


def _computed(graph: Graph, keys: list[Key]) -> dict[Key, Any]:
    """These results in the memory of this process."""
    if not keys:
        return {}
    from dask.threaded import get

    with suppress(Exception):  # of the user's own tasks, whatever it may be; below it is found of which
        return dict(zip(keys, get(graph.behind(keys)[0], keys), strict=True))
    values = {}
    for key in keys:
        try:
            values[key] = get(graph.behind([key])[0], key)
        except Exception as error:  # as above
            raise failed(f"chunk {_first_with(graph, key)}", error) from error
    return values


def _first_with(graph: Graph, key: Key) -> int:
    """The first chunk that needs a result."""
    return next(i for i, chunk in enumerate(graph.chunks) if graph.behind([chunk], {key})[1])


def _with_values(graph: Graph, i: int, count: int, values: Mapping[Key, Any]) -> Chunk:
    """A chunk whose graph holds the results that it needs."""
    tasks, needs = graph.behind([graph.chunks[i]], values)
    if any(key not in values for key in needs):
        raise ClusterError(
            f"chunk {i} lies on a Dask cluster, and its client is closed or not the active one",
            "make it active with client.as_current(), or compute the collection again",
        )
    return Chunk(f"chunk {i}", count, graph.chunks[i], {**tasks, **given({key: values[key] for key in needs})})


def _on_cluster(graph: Graph, i: int, count: int, ends: set[Key], heavy: set[Key]) -> Chunk:
    """A chunk that is read next to data that it is made from, if any lies on the cluster."""
    tasks, needs = graph.behind([graph.chunks[i]], ends)
    found = next((key for key in needs if is_future(graph.tasks[key])), None)
    anchor = next((key for key in needs if key in heavy), None) if found is None else found
    return Chunk(
        f"chunk {i}", count, graph.chunks[i], tasks, tuple(needs), anchor=anchor, placed=found is None
    )  # fmt: skip

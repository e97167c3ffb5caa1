"""Rows of a Dask collection or of many files: known by their parts, read where the parts are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.rows import is_dask
from ritz.rows.base import Block, Rows
from ritz.rows.dask.chunks import ROOM, chunks_of
from ritz.rows.dask.groups import Group, Pass, beside_parts, folded
from ritz.rows.dask.known import Known, in_order, known
from ritz.rows.dask.parts import UNKNOWN, Chunk, Part, check_like, loaded
from ritz.rows.formats.stacked import Asked, by_owner, piled
from ritz.rows.passes import ENTRY_BYTES, Cut, Run
from ritz.runtime.wording import plural

Partial = TypeVar("Partial")
BUNDLE, SMALL = 8, 1 << 22  # partial results that a task combines, and bytes of one beyond which it is two
ROUND = 0.03  # seconds that the tasks of a pass wait for each other
MAKING = 3e8  # bytes of a chunk that a thread makes or reads in a second


class DaskRows(Rows):
    """A dask array or dataframe, or many files.

    A pass is one task per group of parts and a fixed tree of merges, by threads, or by the workers of a cluster where
    there is one (`ritz.rows.dask.cluster`). Parts stay where they are.
    """

    scattered = True
    _kept: Any = None  # what lies on the cluster as long as these rows are
    _announced: int | None = None  # columns that the collection says it has

    def __init__(self, collection: Any) -> None:
        cluster = cluster_of(collection)
        chunks, names, self._kept = self._chunks(collection, cluster)
        self._adopt(known(chunks, names, cluster), cluster)
        if self._announced not in (None, d := self.shape[1]):
            raise DataError(
                f"{self.known.parts[0].place} has {d} {plural(d, 'column')}, but {self._announced} were announced",
                "x.map_blocks(…, chunks=(x.chunks[0], (d,))) announces d columns",
            )

    def _chunks(self, collection: Any, cluster: Any) -> tuple[list[Chunk], tuple[Any, ...] | None, Any]:
        """The chunks as parts of rows, the names of the columns, and what must be kept meanwhile."""
        rows, names = _announced(collection)
        if are_columns_cut(collection):
            check_whole(collection, "an array with at least as many rows as columns")
        self._announced = None if np.isnan(collection.shape[1]) else int(collection.shape[1])
        chunks, kept = chunks_of(collection, rows, cluster)
        return chunks, names, kept

    @classmethod
    def of(cls, found: Known, cluster: Any) -> Self:
        """Rows of parts that someone has looked at already."""
        rows = cls.__new__(cls)
        rows._adopt(found, cluster)
        return rows

    @classmethod
    def opens(cls, source: object) -> bool:
        return is_dask(source)

    def _adopt(self, found: Known, cluster: Any) -> None:
        self.known, self.cluster, self.names = found, cluster, found.names
        self.shape = (found.starts[-1], found.looks[0].columns)
        self.dtype, self.sparse = np.result_type(*(look.dtype for look in found.looks)), found.looks[0].sparse
        self.density = float(np.mean([look.density for look in found.looks])) if self.sparse else 1.0
        self.in_memory, self.workers = cluster is not None, found.workers
        self.groups: Sequence[Group] = found.groups
        self.opened: dict[int, Any] = {}  # groups that workers know, see `rounds`

    def __reduce__(self) -> Any:
        """A function of blocks that knows these rows takes a description along, not the rows."""
        about = {name: getattr(self, name) for name in ("shape", "dtype", "names", "sparse", "density", "most_bytes")}
        return _described, (about,)

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    # Passes.

    def reduce(
        self,
        f: Callable[[Iterable[Any]], Partial],
        combine: Callable[[Partial, Partial], Partial],
        beside: Block | range | None = None,
        cut: Cut = Cut.SQUARE,
        least: int = 1,
    ) -> Partial:
        small = cut is Cut.THIN or 8 * self.shape[1] ** 2 <= SMALL
        job = Pass(f, combine, self.cut(cut, least)[0], self, BUNDLE if small else 2)
        self.watch.begin([(0, self.shape[0])])
        if self.cluster is not None:
            from ritz.rows.dask.rounds import reduced

            return reduced(self, job, beside)
        partials = in_order(self.groups, lambda group, _: job(group, {}, beside_parts(group, beside)), None)
        return folded(combine, partials)

    def each(
        self, f: Callable[[Block], Block], exact: bool = True, columns: int | None = None
    ) -> Generator[Block, None, None]:
        def blocks(group: Group, needed: Any) -> list[Block]:
            return [f(block) for block in group.blocks(needed, self.block_rows, self, exact)]

        self.watch.begin([(0, self.shape[0])])
        groups = self._in_order()  # of one part each: results are wanted in the order of the rows
        for group, results in zip(groups, in_order(groups, blocks, self.cluster), strict=True):
            yield from results
            self.watch.advance(group.rows)

    def _in_order(self) -> list[Group]:
        """The parts, read where they lie now, in the order of the rows."""
        parts = {start: part for group in self.groups for start, part in zip(group.starts, group.parts, strict=True)}
        return [Group((parts[start],), (start,)) for start in sorted(parts)]

    def _pairs(self, f: Callable[[Block, Block], Block]) -> Block:
        n, parts, starts = self.shape[0], self.known.parts, self.known.starts
        corners = [(i, j) for i in range(len(parts)) for j in range(i, len(parts))]
        out = np.empty((n, n))

        def tile(corner: tuple[Part, Part], needed: Any) -> Block:
            A, B = (self.exact(rows.block(0, rows.shape[0])) for rows in _opened(corner, needed, self))
            return f(A, A if corner[0] is corner[1] else B)

        tiles = in_order([(parts[i], parts[j]) for i, j in corners], tile, self.cluster)
        for (i, j), part in zip(corners, tiles, strict=True):
            rows, columns = (slice(starts[k], starts[k + 1]) for k in (i, j))
            out[rows, columns] = part
            out[columns, rows] = part.T
        return out

    def take(self, indices: NDArray[np.integer]) -> Block:
        def some(asked: tuple[Part, Any], needed: Any) -> Block:
            part, which = asked
            return next(_opened([part], needed, self)).take(which)

        def taken(asked: Asked) -> Iterator[Block]:
            return in_order([(self.known.parts[i], which) for i, which in asked], some, self.cluster)

        return by_owner(indices, self.known.starts, taken)

    def sample(self, size: int) -> Block:
        """From the parts that were looked at."""
        some = piled([look.some for look in self.known.looks])
        return some[np.unique(np.linspace(0, some.shape[0] - 1, size).astype(np.intp))]

    def read(self, start: int, stop: int) -> Block:
        return self.take(np.arange(start, stop))

    def _runs(self, step: int, least: int, most: int) -> list[Run]:
        return [(0, self.shape[0])]  # groups take their place

    # Where they are.

    def near(self, f: Callable[..., Any], *args: Any) -> Any:
        if self.cluster is None:
            return f(self, *args)
        from ritz.rows.dask.leading import led_by_a_worker

        return led_by_a_worker(self, f, args)

    def place(self, row: int) -> str:
        i = int(np.searchsorted(self.known.starts, row, side="right")) - 1
        part = self.known.parts[i]
        return f"row {row} (row {part.start + row - self.known.starts[i]} of {part.place})"

    def at_hand(self, passes: int | None) -> Self:
        """In the memory of the cluster, if they are read more than once, are not there, and there is room for them."""
        if self.cluster is None or passes == 1 or self._loaded or not self._fits:
            return self
        from ritz.rows.dask.rounds import load

        twin, futures = copy(self), load(self)
        twin._kept, keys, twin.opened = (self._kept, futures), iter([future.key for future in futures]), {}
        twin.groups = [
            replace(group, parts=tuple(loaded(part, next(keys)) for part in group.parts)) for group in self.groups
        ]
        return twin

    @property
    def _loaded(self) -> bool:
        """Whether every group has parts that lie in the memory of the cluster."""
        return all(group.is_anchored for group in self.groups)

    @property
    def _bytes(self) -> float:
        n, d = self.shape
        return (ENTRY_BYTES * self.density if self.sparse else self.dtype.itemsize) * n * d

    @property
    def _fits(self) -> bool:
        return self.workers is not None and self._bytes <= ROOM * self.workers.total_memory

    @property
    def threads(self) -> int:
        return super().threads if self.workers is None else self.workers.threads

    @property
    def latency(self) -> float:
        if self.workers is None:
            return 0.0
        again = self._bytes / (MAKING * self.workers.total_threads)
        return ROUND + (0.0 if self._loaded or self._fits else again)


class Description(Rows):
    """What is known of rows that lie elsewhere: all that functions of blocks see of them on a worker."""

    def read(self, start: int, stop: int) -> Block:
        raise RuntimeError("a function of blocks is given its rows")


def _described(about: dict[str, Any]) -> Description:
    rows = Description()
    rows.__dict__.update(about)
    return rows


def _opened(parts: Iterable[Part], needed: Any, whole: Rows) -> Iterator[Rows]:
    return (check_like(part.opened(needed), part, whole) for part in parts)


def _announced(collection: Any) -> tuple[list[int], tuple[Any, ...] | None]:
    """Rows of every chunk, as far as the collection knows, and the names of the columns."""
    kind = type(collection)  # asked of the class: a delayed object says yes to everything
    if not hasattr(kind, "chunks") and not hasattr(kind, "columns"):
        raise TypeError(f"cannot read rows from a dask {kind.__name__}; pass a dask array or dataframe")
    if collection.ndim != 2:
        raise DataError(
            f"expected rows and columns, got a dask {kind.__name__} of dimension {collection.ndim}; reshape it"
        )
    if hasattr(kind, "columns"):
        return [UNKNOWN] * collection.npartitions, tuple(collection.columns)
    return [UNKNOWN if np.isnan(count) else int(count) for count in collection.chunks[0]], None


def are_columns_cut(collection: Any) -> bool:
    """Whether it is a matrix whose chunks hold no whole rows."""
    return hasattr(type(collection), "chunks") and collection.ndim == 2 and len(collection.chunks[1]) > 1


def check_whole(collection: Any, what: str) -> None:
    """Refuse what needs whole rows, where chunks do not hold them."""
    if are_columns_cut(collection):
        raise no_whole_rows(len(collection.chunks[1]), what)


def no_whole_rows(chunks: int, what: str) -> DataError:
    """What to say where columns are cut into so many chunks."""
    problem = f"the columns are cut into {chunks} chunks, and {what} needs chunks of whole rows"
    return DataError(problem, 'pass x.rechunk({0: "auto", 1: -1})', "column_chunks")


def described(collection: Any) -> Rows:
    """What a collection says of its rows: nothing is computed, counted or looked at; 0 rows where it does not know."""
    counts, names = _announced(collection)
    d = collection.shape[1] if names is None else len(names)
    if np.isnan(d):
        raise DataError("the number of columns of the dask array is not known", "call x.compute_chunk_sizes() first")
    kinds = [collection.dtype] if names is None else list(collection.dtypes)
    narrow = all(str(kind).lower() in ("float16", "float32") for kind in kinds)
    return _described(
        {
            "shape": (0 if UNKNOWN in counts else sum(counts), int(d)),
            "dtype": np.dtype(np.float32 if narrow else np.float64),
            "names": names,
        }
    )


def cluster_of(collection: Any) -> Any:
    """The cluster that Dask would compute a collection on, None where threads would."""
    if "distributed" not in sys.modules:
        return None
    from dask.base import get_scheduler

    try:
        client: Any = getattr(get_scheduler(collections=[collection]), "__self__", None)
    except RuntimeError:  # the last client is gone, but Dask still asks for one
        return None
    if not hasattr(client, "scheduler_info") or client.status in ("closed", "closing"):
        return None
    from ritz.rows.dask.cluster import Cluster

    return Cluster(client)

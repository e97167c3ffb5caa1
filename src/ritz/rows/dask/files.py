"""Files that the workers of a cluster open by themselves, every one under the same absolute path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ritz.errors import ClusterError, ParameterError
from ritz.rows.base import Rows
from ritz.rows.dask.connecting import joined
from ritz.rows.dask.graphs import Key
from ritz.rows.dask.groups import GROUP_BYTES
from ritz.rows.dask.known import known
from ritz.rows.dask.parts import Part, loaded
from ritz.rows.dask.source import DaskRows
from ritz.rows.file_changes import Origin, check_state
from ritz.rows.formats.members import Like, Member, Slice, fitted
from ritz.rows.formats.parquet import listed
from ritz.rows.formats.several import several
from ritz.rows.formats.stacked import Stacked, together
from ritz.rows.select import select

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]

HELD = 0.25  # of the memory of all workers, that numbers from texts may take to be parsed only once
OPEN = 8  # files that a worker keeps open


def read_by_workers(
    source: Any,
    dask: Any,
    columns: list[Any] | None = None,
    label: Any = None,
    transpose: bool = False,
    missing: str = "error",
    header: bool | None = None,
    size: tuple[int, int] | None = None,
    grey: bool | None = None,
) -> DaskFiles:
    """`ritz.read` where `dask` names a cluster."""
    if missing != "error":
        raise ParameterError("missing", missing, "must be 'error' on a Dask cluster; read without dask=, or mend them")
    cluster = joined(dask)
    for_one = {"transpose": transpose or None, "size": size, "grey": grey}
    raw = opened_by(cluster, source, header, for_one)
    chosen: Any = select(raw, columns, raw.labelled_by if label is None else label, missing)
    chosen.origin = Origin(chosen.files.origin, columns, label, header=header)
    return DaskFiles(chosen, cluster)


def opened_by(cluster: Any, source: Paths, header: bool | None = None, for_one: Any = None) -> Stacked:
    """One file or many as they are, looked at by the workers; the first one is also opened here."""
    paths = several(source) or _single(Path(cast(str, source)))

    def over(look: Any, items: Sequence[Path]) -> Iterator[Any]:
        return cluster.in_order(partial(_there, look), [Unopened(path) for path in items])

    return together(paths, header, for_one=for_one or {}, over=over)


def _single(path: Path) -> list[Path]:
    """A file, or the Parquet files of a folder."""
    return listed(path) or [path]


@dataclass(frozen=True, eq=False)
class Unopened:
    """A file of which nothing is known."""

    path: Path
    needs: tuple[Key, ...] = ()
    anchor: None = None


def _there(look: Any, file: Unopened, needed: Mapping[Key, Any]) -> Any:
    with seen_from_here(file.path):
        return look(file.path)


@dataclass(frozen=True, eq=False)
class FileSlice:
    """Some rows of a file, and of its columns those at these places."""

    member: Member
    start: int
    rows: int
    places: NDArray[np.intp] | None
    dtype: np.dtype[Any]
    needs: tuple[Key, ...] = ()
    anchor: None = None
    placed: bool = True

    @property
    def place(self) -> str:
        return self.member.path.name

    def opened(self, needed: Mapping[Key, Any]) -> Rows:
        path, state = self.member.path, self.member.state
        with seen_from_here(path):
            check_state(path, state)
            file = _opened(path, state, self.member.like)
        return Slice(fitted(file, self.places, False), self.start, self.start + self.rows, self.dtype)

    def count(self, needed: Mapping[Key, Any]) -> int:
        return self.rows

    def counted(self, rows: int) -> FileSlice:
        return replace(self, rows=rows)


@lru_cache(OPEN)
def _opened(path: Path, state: tuple[int, int], like: Like) -> Rows:
    """A file that was opened by a worker, for its other slices and the next pass."""
    return like.opened(path)


@contextmanager
def seen_from_here(path: Path) -> Iterator[None]:
    """A file that is not where a worker looks for it is an error that says which worker it was."""
    try:
        yield
    except OSError as error:
        from distributed import get_worker

        try:
            where = f"the worker {get_worker().address}"
        except ValueError:  # no worker, but this process
            where = "this machine"
        advice = "put the files where all workers can read them, under the same path"
        raise ClusterError(f"{where} cannot read {str(path)!r}: {error.strerror or error}", advice) from error


class DaskFiles(DaskRows):
    """Files that workers read; what is asked of single columns is read here."""

    def __init__(self, base: Stacked, cluster: Any) -> None:
        self.base = base
        parts = list(slices(base))
        size = base.dtype.itemsize * base.density * base.shape[0] * base.shape[1]
        parsed = any(member.about.from_beginning for member in base.members)
        if parsed and size <= HELD * cluster.total_memory:
            self._kept, parts = in_memory(parts, cluster)
        self._adopt(known(parts, base.names, cluster), cluster)
        self.inherit(base)
        self.names, self.origin, self._labels = base.names, base.origin, base._labels
        self.density = base.density

    def some(self, columns: NDArray[np.intp]) -> DaskFiles:
        return DaskFiles(self.base.some(columns), self.cluster).watched(self.watch)

    def column(self, key: Any) -> NDArray[Any]:
        return self.base.column(key)

    def cells(self, keys: Any) -> dict[Any, NDArray[Any]]:
        return self.base.cells(keys)

    def raw_cells(self, keys: Any) -> dict[Any, NDArray[Any]]:
        return self.base.raw_cells(keys)

    def peek(self, keys: Any, count: int) -> dict[Any, NDArray[Any]]:
        return self.base.peek(keys, count)


def slices(base: Stacked) -> Iterator[FileSlice]:
    """Files, or slices of large ones that can be read from the middle, as parts for tasks."""
    row_bytes = max(1.0, base.dtype.itemsize * base.density * base.shape[1])
    for member in base.members:
        cuts = np.array(member.about.cuts)
        count = 1 if member.about.from_beginning else max(1, int(row_bytes * member.rows / GROUP_BYTES))
        wanted = np.linspace(0, member.rows, count + 1)
        ends = np.unique(cuts[np.searchsorted(cuts, wanted)])
        for start, stop in pairwise(ends.tolist()):
            yield FileSlice(member, start, stop - start, base.places, base.dtype)


def in_memory(parts: Sequence[Part], cluster: Any) -> tuple[list[Any], list[Any]]:
    """The futures of parts that workers read once and keep, and these parts: to parse texts again costs more."""
    futures = cluster.keep(parts)
    return futures, [loaded(part, future.key) for part, future in zip(parts, futures, strict=True)]

"""Many files as one source of rows: one below the other, with the same columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError, ParameterError
from ritz.rows.base import Block, Rows
from ritz.rows.columns import shown
from ritz.rows.file_changes import Files, Origin, state_of
from ritz.rows.formats.members import Described, Like, Member, Slice, described, fitted
from ritz.rows.formats.read import opened
from ritz.rows.formats.streamed import Streamed
from ritz.rows.pictures import check_like
from ritz.runtime import threads
from ritz.runtime.wording import plural

OPEN = 64  # files that are open at the same time

Over = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]  # a function of all items, in order


class Stacked(Streamed):
    """The rows of many files. A file is opened when it is needed, and few are open at the same time."""

    def __init__(self, first: Rows, members: Sequence[Member], files: Files) -> None:
        self.inherit(first)
        self.members, self.files = [member for member in members if member.rows], files
        self.places: NDArray[np.intp] | None = None  # of the columns that were chosen
        self._with_gaps = False
        self.starts = np.concatenate([[0], np.cumsum([member.rows for member in self.members])]).astype(np.int64)
        self._parts = [(i, *ends) for i, member in enumerate(self.members) for ends in pairwise(member.about.cuts)]
        self.edges = np.concatenate([[0], np.cumsum([stop - start for _, start, stop in self._parts])]).astype(np.int64)
        self.shape, self.names = (int(self.starts[-1]), first.shape[1]), first.names
        self.dtype, self.sparse = np.result_type(*(member.about.dtype for member in self.members)), first.sparse
        shares = [member.about.density for member in self.members]
        self.density = float(np.average(shares, weights=np.diff(self.starts)))
        if isinstance(first, Streamed):
            self.tabular, self.vectors, self.index = first.tabular, first.vectors, first.index
        self.remarks, self._gaps_dtype = first.remarks, first.with_gaps().dtype
        self.about = f"{len(members)} {plural(len(members), 'file')}" + (f", {first.about}" if first.about else "")
        self.others = {key: partial(self._beside, key) for key in first.others}
        self._kept = lru_cache(OPEN)(Member.opened)

    # Rows.

    def slice_of(self, member: Member, start: int, stop: int) -> Slice:
        """Some rows of a file, as these rows are."""
        file = fitted(self._kept(member), self.places, self._with_gaps)
        return Slice(file, start, stop, self.dtype).limited(self.most_bytes)

    def stream(self, part: int, step: int) -> Iterator[Block]:
        i, start, stop = self._parts[part]
        return self.slice_of(self.members[i], start, stop)._blocks(0, stop - start, step)

    def read(self, start: int, stop: int) -> Block:
        found = list(self._blocks(start, stop, max(1, stop - start)))
        return piled(found) if found else np.empty((0, self.shape[1]), self.dtype)

    def take(self, indices: NDArray[np.integer]) -> Block:
        def from_file(i: int, places: NDArray[np.intp]) -> Block:
            member = self.members[i]
            return self.slice_of(member, 0, member.rows).take(places)

        return by_owner(indices, self.starts, lambda asked: [from_file(*one) for one in asked])

    def sample(self, size: int) -> Block:
        """From the beginnings of some parts, of more where they are short."""
        count = len(self.edges) - 1
        wanted = min(count, OPEN, max(3, -(-2 * size * count // self.shape[0])))
        parts = np.unique(np.linspace(0, count - 1, wanted).astype(int)).tolist()
        return piled([self.head(part, -(-size // len(parts))) for part in parts])

    def spread(self, size: int) -> Block:
        return self.sample(size) if self.sparse else super().spread(size)

    def glimpse(self, size: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], Block]:
        return Rows.glimpse(self, size, rng) if self.sparse else super().glimpse(size, rng)

    @property
    def reading(self) -> int:
        return self.slice_of(self.members[0], 0, self.members[0].rows).reading

    @property
    def some_files(self) -> list[Rows]:
        return [fitted(self._kept(member), self.places, self._with_gaps) for member in self._some_members]

    @property
    def _some_members(self) -> list[Member]:
        return [self.members[i] for i in sorted({0, len(self.members) // 2, len(self.members) - 1})]

    def place(self, row: int) -> str:
        i = int(np.searchsorted(self.starts, row, side="right")) - 1
        return f"row {row} (row {row - int(self.starts[i])} of {self.members[i].path.name})"

    # Columns.

    def some(self, columns: NDArray[np.intp]) -> Stacked:
        some = copy(self)
        some.places = columns if self.places is None else self.places[columns]
        some.names = None if self.names is None else tuple(self.names[j] for j in columns)
        some.shape = (self.shape[0], len(columns))
        if len(columns) != self.shape[1]:
            some.image_shape = some.white = None
        return some

    def with_gaps(self) -> Stacked:
        widened = copy(self)
        widened._with_gaps, widened.dtype = True, np.result_type(self.dtype, self._gaps_dtype)
        return widened

    def column(self, key: Any) -> NDArray[Any]:
        return self.cells([key])[key]

    def cells(self, keys: Iterable[Any]) -> dict[Any, NDArray[Any]]:
        return self._of_each(self.members, list(keys), lambda rows, asked: rows.cells(asked))

    def raw_cells(self, keys: Iterable[Any]) -> dict[Any, NDArray[Any]]:
        return self._of_each(self.members, list(keys), lambda rows, asked: rows.raw_cells(asked))

    def as_labels(self, key: Any) -> NDArray[Any]:
        return self._of_each(self.members, [key], lambda rows, asked: {asked[0]: rows.as_labels(asked[0])})[key]

    def peek(self, keys: Iterable[Any], count: int) -> dict[Any, NDArray[Any]]:
        some = self._some_members
        return self._of_each(some, list(keys), lambda rows, asked: rows.peek(asked, -(-count // len(some))))

    def _of_each(
        self, members: Sequence[Member], keys: list[Any], read: Callable[[Rows, list[Any]], dict[Any, NDArray[Any]]]
    ) -> dict[Any, NDArray[Any]]:
        """Columns of some files, one below the other; they are known by what they are called in all."""
        known = {key: self._known(key) for key in keys}
        if not known:
            return {}
        parts = [read(fitted(self._kept(member), None, self._with_gaps), list(known.values())) for member in members]
        return {key: np.concatenate([part[name] for part in parts]) for key, name in known.items()}

    def _known(self, key: Any) -> Any:
        """A column that was chosen, by its place among those of a file."""
        key = self.resolved(key)
        if self.places is None or self.names is None or self.is_aside(key) or key in self.names:
            return key
        return int(self.places[self.position(key)])

    def _beside(self, key: Any, count: int | None) -> NDArray[Any]:
        """The first so many values of a column beside the matrices, or all of them."""
        found: list[NDArray[Any]] = []
        for member in self.members:
            left = None if count is None else count - sum(map(len, found))
            if left is not None and left <= 0:
                break
            rows = self._kept(member)
            if key not in rows.others:
                there = shown(list(rows.others), 8) or "none"
                raise DataError(f"{member.path.name} has no column {key!r} beside its matrix, only {there}")
            found.append(np.asarray(rows.others[key](left)))
        return np.concatenate(found)


def together(
    paths: Sequence[Path],
    header: bool | None = None,
    expected: Collection[str] | None = None,
    needed: Collection[Any] | None = None,
    image_shape: tuple[int, ...] | None = None,
    for_one: Mapping[str, Any] = MappingProxyType({}),
    over: Over | None = None,
) -> Stacked:
    """Files as one source, in this order; the parameters are those of `opened`.

    Values that are given `for_one` file or folder are refused. `over` looks at all files but the first somewhere else.
    """
    for name, value in for_one.items():
        if value is not None:
            raise ParameterError(name, value, "is for one file or folder, and these are many files")
    paths = [path.absolute() for path in paths]
    files = Files.at(*paths)
    first = opened(paths[0], header=header, expected=expected, needed=needed)
    like = Like.of(paths[0], first, header, needed)
    abouts = [Described.of(first), *(over or _by_threads)(partial(described, like), paths[1:])]
    members = [Member(path, state_of(path), like, about) for path, about in zip(paths, abouts, strict=True)]
    rows = Stacked(first, members, files)
    if image_shape is not None:
        check_like(rows, image_shape)
    files.check()
    rows.origin = Origin(files.origin, header=header)
    return rows


def _by_threads(f: Callable[[Any], Any], items: Sequence[Any]) -> Iterable[Any]:
    def task(item: Any) -> Any:
        with threads.alone():
            return f(item)

    return threads.ordered(task, items, threads.pinned.budget())


Asked = list[tuple[int, NDArray[np.intp]]]  # a part, and which of its own rows


def by_owner(
    indices: NDArray[np.integer], starts: Sequence[int] | NDArray[Any], taken: Callable[[Asked], Iterable[Block]]
) -> Block:
    """Rows at these indices, in their order, where every part takes those that are its own.

    `starts` are the numbers of the first rows of all parts, and of all rows at the end.
    """
    order = np.asarray(indices, np.intp)
    owners = np.searchsorted(starts, order, side="right") - 1
    which = [np.flatnonzero(owners == i) for i in np.unique(owners)]
    asked = [(int(owners[places[0]]), order[places] - starts[owners[places[0]]]) for places in which]
    return piled(list(taken(asked)))[np.argsort(np.concatenate(which), kind="stable")]


def piled(blocks: Sequence[Block]) -> Block:
    """Blocks one below the other, sparse if they are."""
    if all(isinstance(block, np.ndarray) for block in blocks):
        return np.concatenate(blocks)
    import scipy.sparse

    return scipy.sparse.vstack([scipy.sparse.csr_array(block) for block in blocks], format="csr")

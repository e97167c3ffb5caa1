"""One of many files that are read as one: what it must have in common with the others, and some of its rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.rows.base import Block, Rows
from ritz.rows.file_changes import check_state
from ritz.rows.formats.read import opened
from ritz.rows.formats.streamed import Streamed
from ritz.rows.memory.array import ArrayRows
from ritz.rows.memory.computed import Subset
from ritz.rows.memory.sparse import Sparse
from ritz.runtime.wording import plural

SLICE_BYTES = 1 << 24  # that are read at a time of a file whose rows can be read from anywhere
SAME = "files that are read together need the same columns, in the same order"


class Described(NamedTuple):
    """What is known of a file that was opened once: its rows, where they can be cut, and what they are stored as."""

    cuts: tuple[int, ...]
    dtype: np.dtype[Any]
    density: float
    from_beginning: bool  # whether all of a file is read for any row of it

    @classmethod
    def of(cls, rows: Rows) -> Described:
        n, d = rows.shape
        whole = isinstance(rows, ArrayRows | Sparse)
        row_bytes = max(1, int(rows.dtype.itemsize * rows.density * d))
        step = n if whole else max(1, SLICE_BYTES // row_bytes)
        cuts = rows.edges.tolist() if isinstance(rows, Streamed) else [*range(0, n, step), n]
        return cls(tuple(cuts), rows.dtype, rows.density, whole or hasattr(rows, "dialect"))


@dataclass(frozen=True)
class Like:
    """What all files must have in common with the first of them.

    Attributes
    ----------
    first : its name
    header : whether first lines are names, None where that is no question
    columns : of numbers
    names, keys : of these, and of all; None for none
    sparse, image_shape : as of all rows
    needed : columns that a model needs, if any
    """

    first: str
    header: bool | None
    columns: int
    names: tuple[Any, ...] | None
    keys: tuple[Any, ...] | None
    sparse: bool
    image_shape: tuple[int, ...] | None
    needed: tuple[Any, ...] | None

    @classmethod
    def of(cls, path: Path, rows: Rows, header: bool | None, needed: Collection[Any] | None = None) -> Like:
        dialect = getattr(rows, "dialect", None)
        known = header if dialect is None or dialect.vectors else dialect.names is not None
        columns = rows.shape[1], rows.names, rows.keys
        return cls(path.name, known, *columns, rows.sparse, rows.image_shape, None if needed is None else tuple(needed))

    def opened(self, path: Path) -> Rows:
        """Another file, with the columns of numbers that the first one has."""
        rows = opened(path, header=self.header, needed=self.needed)
        self._check_columns(path.name, rows)
        self._check_kind(path.name, rows)
        if self.names is None or rows.names is None or rows.names == self.names:
            return rows
        places = np.array(rows.positions(self.names), np.intp)  # without what is text in the first one alone
        return rows.some(places) or Subset(rows, places)

    def _check_columns(self, name: str, rows: Rows) -> None:
        ours, theirs = self.keys or self.names or (), rows.keys or rows.names or ()
        for j, (one, other) in enumerate(zip(ours, theirs, strict=False)):
            if one != other:
                raise DataError(f"column {j} of {name} is {other!r}, that of {self.first} is {one!r}", SAME)
        for key in self.names or ():
            if key in rows.left_out:
                what = rows.mixed.get(key) or rows.left_out[key]
                raise DataError(f"column {key!r} of {name} holds no numbers ({what}), that of {self.first} does", SAME)
        named = ours and theirs
        one, other = (len(ours), len(theirs)) if named else (self.columns, rows.shape[1])
        if one != other:
            raise DataError(f"{name} has {other} {plural(other, 'column')}, {self.first} has {one}", SAME)

    def _check_kind(self, name: str, rows: Rows) -> None:
        if rows.sparse != self.sparse:
            one, other = ("sparse" if sparse else "dense" for sparse in (self.sparse, rows.sparse))
            raise DataError(f"{name} is {other}, {self.first} is {one}", "store them in the same way")
        if rows.image_shape != self.image_shape:
            shapes = f"pictures of {name} have the shape {rows.image_shape}, those of {self.first} {self.image_shape}"
            raise DataError(shapes, "bring them to one size")


@dataclass(frozen=True, eq=False)
class Member:
    """One of the files, known well enough to be opened anywhere; what it was then is compared with what it is."""

    path: Path
    state: tuple[int, int]  # size and time of change
    like: Like
    about: Described

    @property
    def rows(self) -> int:
        return self.about.cuts[-1]

    def opened(self) -> Rows:
        check_state(self.path, self.state)
        return self.like.opened(self.path)


class Slice(Rows):
    """Consecutive rows of others, in a type that holds those of all files."""

    def __init__(self, base: Rows, start: int, stop: int, dtype: np.dtype[Any] | None = None) -> None:
        self._base, self._start = base, start
        self.shape, self.dtype, self.names = (stop - start, base.shape[1]), dtype or base.dtype, base.names
        self.sparse, self.density, self.files = base.sparse, base.density, base.files
        self.most_bytes, self.in_memory = base.most_bytes, base.in_memory

    def limited(self, most_bytes: int, most_threads: int | None = None) -> Self:
        limited = super().limited(most_bytes, most_threads)
        limited._base = self._base.limited(most_bytes, most_threads)
        return limited

    @property
    def reading(self) -> int:
        return self._base.reading

    def read(self, start: int, stop: int) -> Block:
        return self._of_all(self._base.read(self._start + start, self._start + stop))

    def take(self, indices: NDArray[np.integer]) -> Block:
        return self._of_all(self._base.take(np.asarray(indices, np.intp) + self._start))

    def sample(self, size: int) -> Block:
        whole = self.shape[0] == self._base.shape[0]
        return self._of_all(self._base.sample(size)) if whole else super().sample(size)

    def _blocks(self, start: int, stop: int, step: int) -> Iterator[Block]:
        yield from map(self._of_all, self._base._blocks(self._start + start, self._start + stop, step))
        self.check_unchanged()

    def _of_all(self, block: Block) -> Block:
        return block if block.dtype == self.dtype else self._base.exact(block).astype(self.dtype)


def fitted(rows: Rows, places: NDArray[np.intp] | None, with_gaps: bool) -> Rows:
    """The rows of a file, with the columns that were chosen, in a type that can say what is missing if asked."""
    rows = rows.with_gaps() if with_gaps else rows
    return rows if places is None else rows.some(places) or Subset(rows, places)


def described(like: Like, path: Path) -> Described:
    """What is known of a file once it was opened."""
    return Described.of(like.opened(path))

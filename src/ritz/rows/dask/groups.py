"""Groups of parts: what one task of a pass takes, with one partial result for all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeVar

from ritz.rows.base import Block, Rows
from ritz.rows.dask.graphs import Key
from ritz.rows.dask.parts import Part, check_like
from ritz.runtime.threads import alone

Partial = TypeVar("Partial")
GROUP_BYTES = 1 << 27  # of rows that a task takes at least: starting one and merging its result cost some milliseconds
MOST = 4096  # groups, however much data there is


@dataclass(frozen=True, eq=False)
class Group:
    """Parts with the numbers of their first rows, in the order of the rows; not every row between them is theirs.

    `home` is the worker on which all of them were found, "" where Ritz places them itself.
    """

    parts: tuple[Part, ...]
    starts: tuple[int, ...]
    home: str = ""

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def needs(self) -> tuple[Key, ...]:
        """Results in the memory of the cluster that its parts are made from."""
        return tuple(dict.fromkeys(key for part in self.parts for key in part.needs))

    @property
    def is_anchored(self) -> bool:
        """Whether parts of it lie in the memory of a worker."""
        return any(part.anchor is not None for part in self.parts)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Rows of the parts."""
        return [(start, start + part.rows) for start, part in zip(self.starts, self.parts, strict=True)]

    def blocks(self, needed: Mapping[Key, Any], step: int, whole: Rows, exact: bool = True) -> Iterator[Block]:
        """Blocks of at most `step` rows, part by part: no more than one part is made at a time."""
        for part in self.parts:
            rows = check_like(part.opened(needed), part, whole).limited(whole.most_bytes)
            blocks = rows._blocks(0, rows.shape[0], step)
            yield from map(whole.exact, blocks) if exact else blocks


@dataclass(frozen=True, eq=False)
class Pass:
    """What the tasks of one pass do: f of runs of blocks of at most `step` rows, and how its results are combined.

    `bundle` is how many results a task combines, which changes no bit: a power of two.
    """

    f: Callable[[Iterable[Any]], Any]
    combine: Callable[[Any, Any], Any]
    step: int
    rows: Rows
    bundle: int = 2

    def __call__(self, group: Group, needed: Mapping[Key, Any], beside: Sequence[Any] | None) -> Any:
        blocks = self.rows.watch.seen(group.blocks(needed, self.step, self.rows))
        with alone():
            return self.f(blocks if beside is None else _with(blocks, group, beside))


def beside_parts(group: Group, beside: Block | range | None) -> list[Any] | None:
    """What stands beside the rows of a group, part by part."""
    return None if beside is None else [beside[start:stop] for start, stop in group.ranges]


def _with(blocks: Iterator[Block], group: Group, beside: Sequence[Any]) -> Iterator[tuple[Block, Any]]:
    """Blocks with what stands beside them; no block has rows of two parts."""
    for part, values in zip(group.parts, beside, strict=True):
        at = 0
        while at < part.rows:
            block = next(blocks)
            yield block, values[at : at + block.shape[0]]
            at += block.shape[0]


def cut(parts: Sequence[Part], starts: Sequence[int], row_bytes: float, homes: Sequence[str]) -> list[Group]:
    """Groups of parts that were found on the same worker, in order; of neighbours where that is "".

    They depend on the parts and on where they were found, never on how many workers there are or how fast those work.
    """
    most = max(GROUP_BYTES, int(row_bytes * sum(part.rows for part in parts)) // MOST)
    groups: list[tuple[str, list[int]]] = []
    for home in dict.fromkeys(homes):
        size = most  # so that every worker begins a group of its own
        for i in (i for i, other in enumerate(homes) if other == home):
            if size >= most:
                groups.append((home, []))
                size = 0
            groups[-1][1].append(i)
            size += int(row_bytes * parts[i].rows)
    return [Group(tuple(parts[i] for i in some), tuple(starts[i] for i in some), home) for home, some in groups]


def starts_of(parts: Iterable[Part]) -> list[int]:
    """The numbers of the first rows, and how many rows there are at the end."""
    return [0, *accumulate(part.rows for part in parts)]


def bundles(items: Sequence[Partial], size: int) -> Iterator[Sequence[Partial]]:
    """Neighbours, so many at a time, and those that are left.

    Where the size is a power of two, a tree over trees of bundles is the tree over all.
    """
    return (items[i : i + size] for i in range(0, len(items), size))


def folded(combine: Any, partials: Iterable[Partial]) -> Partial:
    """Partial results combined along a binary tree that depends on their number alone; few of them wait at a time.

    Examples
    --------
    >>> folded("({}{})".format, "abcde")
    '(((ab)(cd))e)'
    """
    waiting: list[tuple[int, Any]] = []  # how many levels of the tree are behind each, falling from left to right
    for partial in partials:
        level = 0
        while waiting and waiting[-1][0] == level:
            partial, level = combine(waiting.pop()[1], partial), level + 1
        waiting.append((level, partial))
    while len(waiting) > 1:
        (_, right), (level, left) = waiting.pop(), waiting.pop()
        waiting.append((level, combine(left, right)))
    return waiting[0][1]

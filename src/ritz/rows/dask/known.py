"""What has to be known of parts before a pass: how many rows each has, and what some of them are like."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ritz.errors import DataError
from ritz.rows.base import Block, Workers
from ritz.rows.dask.groups import Group, cut, starts_of
from ritz.rows.dask.parts import UNKNOWN, Part, check_columns
from ritz.rows.passes import ENTRY_BYTES
from ritz.runtime.threads import alone, ordered, pinned

LOOKED_AT = 8  # parts that tell what all are like, and that the provisional mean is taken from
SAMPLED, WIDE = 1024, 1 << 16  # rows of them in all, and their entries where rows are long


class Look(NamedTuple):
    """What was seen of a part: its columns, the share of entries that are stored, its type and kind, and some rows."""

    columns: int
    density: float
    dtype: np.dtype[Any]
    sparse: bool
    names: tuple[Any, ...] | None
    some: Block

    @property
    def row_bytes(self) -> float:
        """Of a row, on average."""
        return self.columns * (ENTRY_BYTES * self.density if self.sparse else self.dtype.itemsize)


@dataclass(frozen=True, eq=False)
class Known:
    """Parts with at least a row each, the numbers of their first rows, the names of the columns, and looks at some.

    `groups` and `workers` are those of the time when the parts were opened: a plan, and every bit of a fit, is the same
    wherever parts and workers go meanwhile.
    """

    parts: Sequence[Part]
    starts: Sequence[int]
    groups: Sequence[Group]
    names: tuple[Any, ...] | None
    looks: Sequence[Look]
    workers: Workers | None


def known(parts: Sequence[Part], names: tuple[Any, ...] | None, cluster: Any) -> Known:
    """Parts whose rows are counted, where nobody knows how many there are, and of which some are looked at."""
    if any(part.rows == UNKNOWN for part in parts):
        counts = in_order(parts, _count, cluster)
        parts = [part.counted(count) for part, count in zip(parts, counts, strict=True)]
    parts = [part for part in parts if part.rows]
    if not parts:
        raise DataError("there are no rows: every chunk is empty", code="no_rows")
    found = [""] * len(parts) if cluster is None else cluster.homes(parts)
    homes = ["" if part.placed else home for part, home in zip(parts, found, strict=True)]
    which = np.unique(np.linspace(0, len(parts) - 1, LOOKED_AT).astype(int))
    looks = list(in_order([parts[i] for i in which], _look, cluster))
    for i, look in zip(which, looks, strict=True):
        check_columns(look.columns, parts[i], looks[0].columns)
    starts, row_bytes = starts_of(parts), float(np.mean([look.row_bytes for look in looks]))
    groups, names = cut(parts, starts, row_bytes, homes), looks[0].names if names is None else names
    return Known(parts, starts, groups, names, looks, None if cluster is None else cluster.workers)


def in_order(items: Sequence[Any], f: Callable[[Any, Any], Any], cluster: Any) -> Iterator[Any]:
    """f of every item, which is or holds parts, and of the results that these need: by threads, or by workers."""
    if cluster is not None:
        return cluster.in_order(f, items)

    def task(item: Any) -> Any:
        with alone():
            return f(item, {})

    return ordered(task, items, min(pinned.budget(), max(1, len(items))))


def _count(part: Part, needed: Any) -> int:
    return part.count(needed)


def _look(part: Part, needed: Any) -> Look:
    rows = part.opened(needed)
    n, d = rows.shape
    size = min(n, max(2, min(SAMPLED, WIDE // d) // LOOKED_AT))
    return Look(d, rows.density, rows.dtype, rows.sparse, rows.names, rows.sample(size))

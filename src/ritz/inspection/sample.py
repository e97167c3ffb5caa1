"""Rows from all over the data, and what every check asks of them: sorted columns, counts, units, neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError, ParameterError
from ritz.linalg.arrays import on_host
from ritz.linalg.dense import Array
from ritz.rows import Rows
from ritz.rows.base import dense
from ritz.rows.profile import LOOKED_AT, LOOKED_BYTES, Profile
from ritz.runtime.rules import seed_of
from ritz.runtime.threads import cached_property

FEWEST = 20  # rows that are looked at, however long they are


@dataclass(frozen=True, eq=False)
class Sample:
    """Some of n rows, or all, as float64.

    Attributes
    ----------
    values : (m, d), NaN where a value is missing
    at : (m,) the numbers of these rows, in order
    n : rows in all
    names : of the columns, or their positions
    sparse, pictures : what the rows are: zeros are natural, columns are pixels
    precision : the unit roundoff of the data
    known : what a pass over all rows tells, where there was one
    """

    values: Array
    at: NDArray[np.intp]
    n: int
    names: tuple[Any, ...]
    sparse: bool = False
    pictures: bool = False
    precision: float = 2.0**-53
    known: Any = None
    memo: dict[str, Any] = field(default_factory=dict)  # what one check found that another one needs

    @property
    def m(self) -> int:
        """Rows that were looked at."""
        return len(self.values)

    @property
    def d(self) -> int:
        return self.values.shape[1]

    @property
    def whole(self) -> bool:
        """Whether these are all rows."""
        return self.m == self.n

    def of_rows(self, count: int, exact: bool = False) -> str:
        """So many of the rows that were looked at, in words."""
        if self.whole or exact:
            return f"{count:,} of {self.n:,} rows"
        return f"{count:,} of a sample of {self.m:,} of {self.n:,} rows"

    @property
    def where(self) -> str:
        """Where something was seen, in words; nothing where all rows were looked at."""
        return "" if self.whole else f", in a sample of {self.m:,} of {self.n:,} rows"

    def once(self, what: str, find: Callable[[Sample], Any]) -> Any:
        """What a function finds in the sample, found only once."""
        if what not in self.memo:
            self.memo[what] = find(self)
        return self.memo[what]

    def called(self, columns: Any) -> tuple[Any, ...]:
        """The names of columns by their positions."""
        return tuple(self.names[int(j)] for j in columns)

    @cached_property
    def finite(self) -> NDArray[np.bool_]:
        return np.isfinite(self.values)

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """(d,) finite cells of every column."""
        found: NDArray[np.intp] = self.finite.sum(axis=0)
        return found

    @cached_property
    def unit(self) -> Array:
        """(d,) a power of two at the largest magnitude of a column, 1 of a column without any: nothing overflows."""
        largest = np.max(np.abs(self.values), axis=0, where=self.finite, initial=0.0)
        return np.ldexp(1.0, np.minimum(np.frexp(largest)[1], 1023)) * (largest > 0) + (largest == 0)

    @cached_property
    def scaled(self) -> Array:
        """(m, d) the finite values in their units, NaN elsewhere."""
        with np.errstate(invalid="ignore", over="ignore"):
            return np.where(self.finite, self.values / self.unit, np.nan)

    @cached_property
    def ordered(self) -> Array:
        """(m, d) the same, every column in order, NaN at its end."""
        return np.sort(self.scaled, axis=0)

    def rank(self, place: Array | NDArray[np.intp]) -> Array:
        """(d,) of every ordered column what stands at its own place, the nearest there is."""
        last = np.maximum(self.counts - 1, 0)
        places = np.clip(np.asarray(place), 0, last).astype(np.intp)
        return self.ordered[places, np.arange(self.d)]

    @cached_property
    def median(self) -> Array:
        return (self.rank((self.counts - 1) // 2) + self.rank(self.counts // 2)) / 2

    @cached_property
    def distinct(self) -> NDArray[np.intp]:
        """(d,) different finite values of every column."""
        changes = (self.ordered[1:] != self.ordered[:-1]) & ~np.isnan(self.ordered[1:])
        found: NDArray[np.intp] = changes.sum(axis=0) + (self.counts > 0)
        return found

    @cached_property
    def integral(self) -> NDArray[np.bool_]:
        """(d,) whether all finite values of a column are whole numbers."""
        with np.errstate(invalid="ignore"):
            return np.all((np.floor(self.values) == self.values) | ~self.finite, axis=0) & (self.counts > 0)

    @cached_property
    def step(self) -> Array:
        """(d,) the least difference of two values of a column, in its unit; 0 where all are alike."""
        steps = np.diff(self.ordered, axis=0)
        found = np.min(steps, axis=0, where=steps > 0, initial=np.inf)
        return np.where(np.isfinite(found), found, 0.0)

    @cached_property
    def mean(self) -> Array:
        return np.nansum(self.scaled, axis=0) / np.maximum(self.counts, 1)

    @cached_property
    def deviation(self) -> Array:
        """(d,) standard deviations in the units of the columns."""
        centred = np.where(self.finite, self.scaled - self.mean, 0.0)
        return np.sqrt(np.square(centred).sum(axis=0) / np.maximum(self.counts - 1, 1))

    @cached_property
    def varies(self) -> NDArray[np.bool_]:
        """(d,) whether a column has two values that differ."""
        return self.distinct > 1

    @cached_property
    def profile(self) -> Profile:
        return Profile.of_block(self.values, self.n, tuple(map(_as_profile_names, self.names)))

    @cached_property
    def natural_zeros(self) -> bool:
        """Whether 0 is what most of this table is made of, as in counts, pixels and indicators."""
        if self.sparse or self.pictures:
            return True
        return bool(np.count_nonzero(self.values == 0) > 0.3 * self.values.size)

    @cached_property
    def alike(self) -> bool:
        """Whether the columns are many of one kind, with one range: pixels, indicators, words."""
        if self.pictures or self.sparse:
            return True
        low, high = self.rank(np.zeros(self.d)) * self.unit, self.rank(self.counts) * self.unit
        used = self.counts > 0
        if self.d < 16 or not used.any():
            return False
        low, high = low[used], high[used]
        bottom, top = low.min(), high.max()
        counted = self.integral.all() and (low == 0).mean() > 0.9 and np.median(high) > 0.2 * top
        return bool(counted or ((low == bottom).mean() > 0.8 and (high == top).mean() > 0.5))


def _as_profile_names(name: Any) -> str:
    return str(name) if isinstance(name, int) else repr(name)


def rows_to_look_at(rows: Rows, asked: int | None) -> int:
    """How many: as asked, or all where they take little memory, else some from all over."""
    n, d = rows.shape
    most = max(FEWEST, LOOKED_BYTES // (8 * d))
    if asked is not None:
        return min(n, asked, most)
    return n if n <= most else min(LOOKED_AT, most)


def sampled(rows: Rows, size: int, rng: np.random.Generator, names: tuple[Any, ...], known: Any = None) -> Sample:
    """So many rows from all over, in runs; all of them where that is how many there are."""
    n, rows = rows.shape[0], rows.with_gaps()
    at, block = (np.arange(n), rows.block(0, n)) if size >= n else rows.glimpse(size, rng)
    block = dense(on_host(block))
    precision = float(np.finfo(block.dtype).eps) / 2 if block.dtype.kind == "f" else 2.0**-53
    pictures = rows.image_shape is not None
    return Sample(block.astype(np.float64), at, n, names, rows.sparse, pictures, precision, known)


def names_of(rows: Rows, given: Any) -> tuple[Any, ...]:
    """What the columns are called: as given, as the data has it, or by position."""
    d = rows.shape[1]
    if given is None:
        return tuple(range(d)) if rows.names is None else tuple(rows.names)
    found = tuple(given)
    if isinstance(given, str) or len(found) != d:
        raise ParameterError("names", given, f"must be {d} names, one for every column")
    return found


def generator(random_state: Any) -> np.random.Generator:
    """Random numbers from what random_state may be; None is a fixed seed, so that the same data gives the same answer.

    Examples
    --------
    >>> generator(None).random() == generator(0).random()
    True
    """
    given = isinstance(random_state, np.random.Generator)
    return random_state if given else np.random.default_rng(seed_of(random_state))


def check_rows(rows: Rows) -> None:
    """Refuse what has no row or no column to look at."""
    if not all(rows.shape):
        raise DataError(f"there is nothing to look at in rows of shape {rows.shape}")

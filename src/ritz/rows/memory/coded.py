"""Rows in which some values are codes for what is missing: −999, or a 0 where nothing can be 0. They become NaN."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError, ParameterError
from ritz.rows.base import Block, Rows
from ritz.rows.memory.computed import Computed
from ritz.rows.memory.sparse import Sparse
from ritz.rows.patterns import found_by

RULE = "must be a number, several of them, or a dictionary of such by the columns that they are for"


class Code(NamedTuple):
    """A value that says that there is none, in some columns, known by name or position, or in all."""

    value: float
    columns: tuple[Any, ...] | None = None


def codes_of(na: Any) -> tuple[Code, ...]:
    """The codes that a user names: a number, several, or a dictionary by column; None for none.

    Examples
    --------
    >>> codes_of(-999)
    (Code(value=-999, columns=None),)
    >>> codes_of({"glucose": 0, "bmi": [0, 99]})
    (Code(value=0, columns=('glucose',)), Code(value=0, columns=('bmi',)), Code(value=99, columns=('bmi',)))
    """
    if na is None:
        return ()
    if isinstance(na, Mapping):
        return tuple(Code(value, (column,)) for column, values in na.items() for value in _values(values))
    if isinstance(na, list | tuple) and na and all(isinstance(code, Code) for code in na):
        return tuple(na)
    return tuple(map(Code, _values(na)))


def _values(given: Any) -> tuple[float, ...]:
    found = tuple(given) if isinstance(given, list | tuple | set | np.ndarray) else (given,)
    for value in found:
        if not isinstance(value, Real) or isinstance(value, bool) or math.isnan(value):
            raise ParameterError("na", given, RULE)
    return found


def coded(rows: Rows, na: Any) -> Rows:
    """The rows with NaN where a code stands; integers become float64.

    Examples
    --------
    >>> from ritz.rows import as_rows
    >>> coded(as_rows([[1, -9], [0, 5]]), {1: -9}).block(0, 2)
    array([[ 1., nan],
           [ 0.,  5.]])
    """
    codes = codes_of(na)
    if not codes:
        return rows
    if rows.on_device:
        raise ParameterError("na", na, "is for data on the CPU; pass a copy there")
    places = _places(rows, codes)
    if rows.sparse and any(value == 0 for value, _ in places):
        raise DataError("0 cannot be a code for a missing value in sparse data: it is what is not stored")
    if isinstance(rows, Sparse):
        return _coded_sparse(rows, places)
    return Coded(rows, places)


Places = tuple[tuple[float, NDArray[np.intp] | None], ...]  # a code, and where its columns stand


def _places(rows: Rows, codes: Iterable[Code]) -> Places:
    places: dict[float, NDArray[np.intp] | None] = {}
    for value, columns in codes:
        there = None if columns is None else np.array(rows.positions(found_by(rows, columns)), np.intp)
        known = places.get(value, there)
        places[value] = None if there is None or known is None else np.union1d(known, there)
    return tuple(places.items())


class Coded(Computed):
    """The same rows with NaN in place of codes: block by block, when they are read."""

    def __init__(self, base: Rows, places: Places) -> None:
        super().__init__(base)
        self._places = places
        self.dtype = base.dtype if base.dtype.kind == "f" else np.dtype(np.float64)
        self.sparse, self.density, self.copied = base.sparse, base.density, base.copied
        self.inherit(base)
        self._labels = base._labels
        view = f"{base.origin.view}na{[(value, _listed(columns)) for value, columns in places]}" if base.origin else ""
        self.origin = base.origin and base.origin._replace(view=view)

    def read(self, start: int, stop: int) -> Block:
        return self._without_codes(self._base.read(start, stop))

    def take(self, indices: NDArray[np.integer]) -> Block:
        return self._without_codes(self._base.take(indices))

    def sample(self, size: int) -> Block:
        return self._without_codes(self._base.sample(size))

    def spread(self, size: int) -> Block:
        return self._without_codes(self._base.spread(size))

    def glimpse(self, size: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], Block]:
        at, block = self._base.glimpse(size, rng)
        return at, self._without_codes(block)

    def some(self, columns: NDArray[np.intp]) -> Coded | None:
        base = self._base.some(columns)
        if base is None:
            return None
        places = tuple(
            (value, there if there is None else np.flatnonzero(np.isin(columns, there)))
            for value, there in self._places
        )
        return Coded(base, places)

    def with_gaps(self) -> Coded:
        return Coded(self._base.with_gaps(), self._places)

    def column(self, key: Any) -> NDArray[Any]:
        """A column as the source has it, whether it is among these or not."""
        return self._base.column(key)

    def cells(self, keys: Iterable[Any]) -> dict[Any, NDArray[Any]]:
        return self._base.cells(keys)

    def raw_cells(self, keys: Iterable[Any]) -> dict[Any, NDArray[Any]]:
        return self._base.raw_cells(keys)

    @property
    def thin_rows(self) -> int:
        return self._base.thin_rows

    def _made(self, block: Block, at: range | None) -> Block:
        return self._without_codes(block)

    def _blocks(self, start: int, stop: int, step: int) -> Iterator[Block]:
        return map(self._without_codes, self._base._blocks(start, stop, step))

    def _without_codes(self, block: Any) -> Any:
        if self.sparse:
            return without_codes_in_sparse(block, self._places)
        return without_codes(self._base.exact(block), self._places)


def without_codes(block: Block, places: Places) -> Block:
    """A block with NaN in place of codes; itself, where it is of floats and there are none."""
    found = None if block.dtype.kind == "f" else block.astype(np.float64)
    for value, columns in places:
        if not _may_hold(block.dtype, value):
            continue
        seen = block if columns is None else block[:, columns]
        hits = seen == block.dtype.type(value)
        if hits.any():
            found = block.copy() if found is None else found
            rows, at = np.nonzero(hits)
            found[rows, at if columns is None else columns[at]] = np.nan
    return block if found is None else found


def _may_hold(dtype: np.dtype[Any], value: float) -> bool:
    """Whether an array of this type may hold a value, as it is or rounded to fewer digits."""
    if dtype.kind == "f":
        return math.isinf(value) or abs(value) <= float(np.finfo(dtype).max)
    if dtype.kind == "b":
        return value in (0, 1)
    return math.isfinite(value) and value == int(value) and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max


def without_codes_in_sparse(block: Any, places: Places) -> Any:
    """The same of a sparse block, whose stored entries alone may be codes."""
    values = block.data
    found = values.astype(values.dtype if values.dtype.kind == "f" else np.float64)
    for value, columns in places:
        if _may_hold(values.dtype, value):
            here = values == values.dtype.type(value)
            found[here if columns is None else here & np.isin(block.indices, columns)] = np.nan
    return type(block)((found, block.indices, block.indptr), shape=block.shape)


def _coded_sparse(rows: Sparse, places: Places) -> Sparse:
    made = rows._of_these(without_codes_in_sparse(rows.exact(rows._X), places), rows.names)
    made._labels = rows._labels
    return made


def _listed(columns: NDArray[np.intp] | None) -> list[int] | None:
    return None if columns is None else columns.tolist()

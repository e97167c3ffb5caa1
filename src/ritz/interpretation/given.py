"""What stands beside the rows of a fit: columns of numbers and of categories, one value for each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from os import PathLike
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg.arrays import on_host
from ritz.linalg.dense import Array
from ritz.rows import Rows, as_rows
from ritz.rows.columns import is_missing, unique_names
from ritz.rows.memory.frame import columns as columns_of
from ritz.runtime.wording import label_text, natural_order

MISSING = "missing"
MANY = 10_000  # cells from which on arrow is worth its import


@dataclass(frozen=True, eq=False)
class Categories:
    """A column of categories: `codes` number the names; rows without one are a group of their own, the last.

    Attributes
    ----------
    column : what the column is called
    names : categories in their order, without the missing ones
    gaps : whether some rows have no category; their code is len(names)
    """

    column: str
    codes: NDArray[np.intp]
    names: tuple[str, ...]
    gaps: bool

    @property
    def count(self) -> int:
        """Groups of rows."""
        return len(self.names) + self.gaps

    @property
    def titles(self) -> list[str]:
        """What groups are called among those of other columns: column=category, or column (missing).

        Examples
        --------
        >>> categories("sex", ["f", None, "m"], 3).titles
        ['sex=f', 'sex=m', 'sex (missing)']
        """
        return [f"{self.column}={name}" for name in self.names] + ([f"{self.column} ({MISSING})"] if self.gaps else [])


@dataclass(frozen=True, eq=False)
class Given:
    """Supplementary columns.

    Attributes
    ----------
    names, values : columns of numbers, (n, q) in float64 with NaN where there is none
    categories : columns of categories
    """

    names: tuple[str, ...]
    values: Array
    categories: tuple[Categories, ...]

    @classmethod
    def of(cls, supplementary: Any, labels: Any, X: Any, n: int) -> Given:
        """From whatever was given beside the n rows of X."""
        pairs = [] if supplementary is None else list(_columns(supplementary, X))
        if labels is not None:
            pairs.append((*_labelled(labels, X), True))
        names = unique_names([str(name) for name, _, _ in pairs])
        numbers: dict[str, Array] = {}
        kinds: list[Categories] = []
        for name, (_, values, label) in zip(names, pairs, strict=True):
            found = _cells(name, values, n)
            if found.dtype.kind in "iuf" and not label:
                numbers[name] = _numbers(name, found)
            else:
                order = getattr(getattr(values, "cat", None), "categories", None)
                kinds.append(categories(name, found, n, None if order is None else list(order)))
        table = np.array(list(numbers.values())).T if numbers else np.empty((n, 0))
        return cls(tuple(numbers), table, tuple(kinds))


def categories(column: str, cells: Sequence[Any] | NDArray[Any], n: int, order: list[Any] | None = None) -> Categories:
    """Text, flags or numbers as categories, in their natural order or in a given one; None, NaN and empty text are
    missing.

    Examples
    --------
    >>> found = categories("size", ["10", "9", None, "missing", "10"], 5)
    >>> found.names, found.codes
    (('9', '10', 'missing'), array([1, 0, 3, 2, 1]))
    """
    if len(cells) != n:
        raise DataError(f"{column!r} has {len(cells)} values, but X has {n} rows", "give one value for each row")
    distinct, places = _distinct(cells)
    known = [_named(cell) for cell in distinct]
    there = {text for text in known if text is not None}
    names = sorted(there, key=natural_order)
    if order is not None:
        names = [text for text in map(label_text, order) if text in there]
    code: dict[str | None, int] = {name: i for i, name in enumerate(names)} | {None: len(names)}
    codes = np.array([code[text] for text in known], np.intp)[places]
    return Categories(column, codes, tuple(names), None in known)


def _distinct(cells: Sequence[Any] | NDArray[Any]) -> tuple[Sequence[Any], NDArray[Any]]:
    """Values that are there, each at least once, and the place of every cell among them: each is looked at once."""
    if isinstance(cells, np.ndarray):
        if cells.dtype.kind in "USbiuf" and len(cells) > MANY:
            return _distinct_bytes(cells)
        cells = list(cells.tolist())
    if len(_types(cells) - {str}) > 1:  # values that are told apart may be equal, as 1 and True are
        return cells, np.arange(len(cells))
    try:
        place = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
    except TypeError:  # no hash
        return cells, np.arange(len(cells))
    kind = np.uint8 if len(place) <= 256 else np.intp  # conversion to bytes is faster
    return list(place), np.fromiter(map(place.__getitem__, cells), kind, len(cells))


def _distinct_bytes(cells: NDArray[Any]) -> tuple[list[Any], NDArray[Any]]:
    """The same of cells of equal size, by their bytes."""
    import pyarrow as pa

    cells = np.ascontiguousarray(cells)
    kind = pa.binary(cells.dtype.itemsize)
    found = pa.FixedSizeBinaryArray.from_buffers(kind, len(cells), [None, pa.py_buffer(cells)]).dictionary_encode()
    return np.frombuffer(b"".join(found.dictionary.to_pylist()), cells.dtype).tolist(), found.indices.to_numpy()


def _types(cells: Sequence[Any]) -> set[type]:
    """Of what is there."""
    return set(map(type, cells)) - {type(None)}


def _columns(given: Any, X: Any) -> Iterator[tuple[Any, Any, bool]]:
    """Name, values, and whether they are categories whatever they are, column by column."""
    if isinstance(given, str) or (isinstance(given, list | tuple) and given and all(isinstance(c, str) for c in given)):
        source = _source(X, given)
        yield from ((name, source.column(name), False) for name in ([given] if isinstance(given, str) else given))
    elif isinstance(given, Mapping):
        yield from ((name, values, False) for name, values in given.items())
    elif nw.dependencies.is_into_series(given) and not isinstance(given, np.ndarray):
        yield _title(given, "supplementary"), given, False
    elif nw.dependencies.is_into_dataframe(given):
        yield from _of_frame(given)
    else:
        values = np.asarray(on_host(given))
        if values.ndim not in (1, 2):
            raise DataError(
                f"supplementary columns have {values.ndim} axes", "pass a table, a dict of columns, or (n, q)"
            )
        table = values[:, None] if values.ndim == 1 else values
        yield from ((f"s{j + 1}", column, False) for j, column in enumerate(table.T))


def _of_frame(table: Any) -> Iterator[tuple[Any, Any, bool]]:
    kind = type(table)
    names = list(table.column_names if hasattr(kind, "column_names") else table.columns)
    for name, column in zip(names, columns_of(table), strict=True):
        yield name, column.to_native(), False


def _labelled(labels: Any, X: Any) -> tuple[Any, Any]:
    """The name and the values of one column of categories."""
    if isinstance(labels, str):
        return labels, _source(X, labels).column(labels)
    return _title(labels, "label"), labels


def _source(X: Any, given: Any) -> Rows:
    """The rows of a file, which has other columns too."""
    if not isinstance(X, str | PathLike | Rows):
        raise DataError(
            f"{given!r} names a column of a file, but X is {type(X).__name__!r}",
            "pass the values themselves, such as a table of them",
        )
    return as_rows(X)


def _title(values: Any, otherwise: str) -> str:
    name = getattr(values, "name", None)
    return otherwise if name is None or callable(name) or str(name) == "" else str(name)


def _cells(name: str, values: Any, n: int) -> NDArray[Any]:
    """Values of one column as an array: numbers, or objects."""
    if nw.dependencies.is_into_series(values) and not isinstance(values, np.ndarray):
        series = nw.from_native(values, series_only=True)
        if series.dtype.is_temporal():
            raise DataError(f"supplementary column {name!r} holds dates", "turn them into numbers or into text")
        if series.dtype.is_numeric():
            found = series.cast(nw.Float64).to_numpy() if series.null_count() else series.to_numpy()
        else:
            found = np.empty(len(series), dtype=object)
            found[:] = series.to_list()
    elif isinstance(values, list | tuple):
        there = values if _types(values) <= {str} else [None if is_missing(value) else value for value in values]
        found = np.array(there, dtype=object)
    else:
        found = np.asarray(on_host(values))
    if found.shape != (n,):
        have = f"{len(found)} values" if found.ndim == 1 else f"the shape {found.shape}"
        raise DataError(f"{name!r} has {have}, but X has {n} rows", "give one value for each row")
    if found.dtype.kind in "mM":
        raise DataError(f"supplementary column {name!r} holds dates", "turn them into numbers or into text")
    return _of_objects(found) if found.dtype.kind == "O" else found


def _of_objects(found: NDArray[Any]) -> NDArray[Any]:
    """Numbers where all objects that are there are numbers."""
    if _types(found.tolist()) <= {str}:
        return found
    there = [value for value in found.tolist() if not is_missing(value)]
    if not there or not all(isinstance(value, Real) and not isinstance(value, bool | np.bool_) for value in there):
        return found
    return np.array([np.nan if is_missing(value) else float(value) for value in found.tolist()])


def _numbers(name: str, values: NDArray[Any]) -> Array:
    found = values.astype(np.float64)
    if np.isinf(found).any():
        raise DataError(f"supplementary column {name!r} is infinite at row {int(np.argmax(np.isinf(found)))}")
    if np.isnan(found).all():
        raise DataError(f"supplementary column {name!r} has no value at all", "leave it out")
    return found


def _named(cell: Any) -> str | None:
    return None if is_missing(cell) else label_text(cell)

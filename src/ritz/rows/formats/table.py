"""Tables as Arrow describes them: numbers in columns, or vectors in one column, whatever the file they come from."""

from __future__ import annotations

import json
import struct
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.rows.base import Block
from ritz.rows.columns import shown
from ritz.rows.formats.damage import damage
from ritz.rows.formats.streamed import Streamed
from ritz.rows.large_integers import Where, check_integers, check_numbers
from ritz.rows.memory.array import check_shape
from ritz.runtime import threads

TEXT = "string"  # as Arrow calls it
FEW = 64  # rows that are read to see how long vectors are
PAGE, LINE = 4096, 64  # bytes, of memory and of the cache


class Table(Streamed):
    """A source gives the schema, how many rows every part has, and batches of them; the numbers follow."""

    tabular = True
    turned_bytes = 1 << 21  # of columns that are made rows of at once
    _schema: Any
    _picked: tuple[str, ...]

    @abstractmethod
    def _batches(self, part: int, rows: int) -> Iterator[Any]:
        """The picked columns of a part, in batches of about so many rows."""

    @abstractmethod
    def _whole(self, names: list[str]) -> Any:
        """A pyarrow table of some columns with all rows."""

    @abstractmethod
    def _where(self, part: int) -> tuple[str, Path]:
        """How messages call a part, and its file."""

    def _describe(self, counts: Iterable[int]) -> None:
        """Shape, names and type, from the schema and the rows of every part."""
        self.edges = np.concatenate([[0], np.cumsum(list(counts))]).astype(np.int64)
        self._picked, self.vectors, self.left_out = _select_numbers(self._schema)
        self.text_columns = tuple(name for name, kind in self.left_out.items() if kind == TEXT)
        self.keys, self.index = None if self.vectors else tuple(self._schema.names), _index_columns(self._schema)
        d = self._vector_width() if self.vectors else len(self._picked)
        self.shape = (int(self.edges[-1]), d)
        check_shape(self.shape)
        self.names = tuple(f"{self._picked[0]}_{i}" for i in range(d)) if self.vectors else self._picked
        self.dtype = self._common_dtype(self._picked)

    def stream(self, part: int, step: int) -> Iterator[Block]:
        # As many rows at a time as memory allows, since every batch of a column costs a call.
        rows = max(step, self.most_bytes // (self.dtype.itemsize * self.shape[1]))
        at, end = int(self.edges[part]), int(self.edges[part + 1])
        for batch in self._batches(part, rows):
            for block in self._numbers(batch, at, step, exact=True):
                yield block
                at += len(block)
        if at != end:
            where, file = self._where(part)
            raise DataError(f"{where} should end at row {end}, it ends at {at}", file=file)

    def head(self, part: int, count: int) -> Block:
        batch = next(self._batches(part, count), None)
        if batch is None:
            where, file = self._where(part)
            raise DataError(f"{where} is damaged: it holds no rows", file=file)
        return next(self._numbers(batch, int(self.edges[part]), count))

    def some(self, columns: NDArray[np.intp]) -> Table | None:
        if self.vectors:
            return None
        some = copy(self)
        some._picked = some.names = tuple(self._picked[j] for j in columns)
        some.shape = (self.shape[0], len(columns))
        widened = self.dtype != self._common_dtype(self._picked)  # for gaps
        some.dtype = self.dtype if widened else self._common_dtype(some._picked)
        return some

    def with_gaps(self) -> Table:
        widened = copy(self)
        widened.dtype = np.result_type(self.dtype, np.float64) if self.dtype.kind in "iu" else self.dtype
        return widened

    def column(self, key: Any) -> NDArray[Any]:
        return self.cells([key])[key]

    def cells(self, keys: Iterable[Any]) -> dict[Any, NDArray[Any]]:
        return self._found(keys, self._whole)

    def _found(self, keys: Iterable[Any], table_of: Callable[[list[str]], Any]) -> dict[Any, NDArray[Any]]:
        """Columns out of a table that holds them under the names they are stored by."""
        names = {key: self._stored(key) for key in keys}
        asked = sorted({name for name in names.values() if name is not None})
        table: Any = table_of(asked) if asked else None
        return {
            key: super(Table, self).column(key) if name is None else as_array(table.column(name))
            for key, name in names.items()
        }

    def _stored(self, key: Any) -> str | None:
        """What the file calls a column, chosen or not; None for a number of a vector."""
        key = self.resolved(key)
        if isinstance(key, str) and key in self._schema.names and not (self.vectors and key in self._picked):
            return key
        place = self.position(key)
        return None if self.vectors else self._picked[place]

    def _numbers(self, batch: Any, first: int, step: int, exact: bool = False) -> Iterator[Block]:
        """A batch as arrays; missing values become NaN, which every pass reports with their place.

        Where it should be `exact`, what would be rounded to become float64 is refused.
        """
        # By name: asked for "a" or "a.b", pyarrow also gives the fields of a struct called "a".
        picked = [batch.column(name) for name in self._picked]
        if self.vectors:
            vectors = self._vectors(picked[0], first, exact)
            yield from (vectors[start : start + step] for start in range(0, len(vectors), step))
            return
        if self.dtype.kind in "iu":
            self._check_gaps(picked, first)
        found = list(map(partial(self._column, exact=exact), self._picked, picked))
        some = self.turned_bytes // (self.dtype.itemsize * len(found))
        some = some // step * step or max(1, some)
        for start in range(0, batch.num_rows, some):
            with columns_of(len(found), min(some, batch.num_rows - start), self.dtype) as columns:
                for j, values in enumerate(found):
                    columns[j] = values[start : start + some]
                yield from row_blocks(columns, step)

    def _column(self, name: str, column: Any, exact: bool) -> NDArray[Any]:
        """The numbers of a picked column."""
        values: NDArray[Any] = _values(column)
        if exact and self.dtype.kind == "f":
            _check_exact(values, column, f"column {name!r}")
        return values

    def _check_gaps(self, columns: list[Any], first: int) -> None:
        """Integers cannot say what is missing; statistics could, but damaged ones make pyarrow end the process."""
        broken = {name: column for name, column in zip(self._picked, columns, strict=True) if column.null_count}
        if broken:
            gaps = np.column_stack([column.is_null().to_numpy(zero_copy_only=False) for column in broken.values()])
            row, j = np.argwhere(gaps)[0]
            place = f"first at row {first + row}, column {list(broken)[j]!r}"
            found = f"contains missing values, {gaps.sum()} here and maybe more, {place}"
            advice = "read it with missing='drop' or missing='mean'"
            raise DataError(f"Input X {found}", advice, "missing", f"the data {found}")

    def _vectors(self, column: Any, first: int, exact: bool) -> Block:
        """Vectors as rows; one that is missing is a row of NaN."""
        import pyarrow.compute as pc

        d = self.shape[1]
        lengths = pc.list_value_length(column).fill_null(d).to_numpy(zero_copy_only=False)
        wrong = np.flatnonzero(lengths != d)
        if len(wrong):
            place = f"in row {first + wrong[0]} of column {self._picked[0]!r}"
            raise DataError(f"the vector {place} has {lengths[wrong[0]]} numbers, the first one has {d}")
        present = column.drop_null() if column.null_count else column
        values = _values(present.flatten())
        if exact:
            _check_exact(values, present.flatten(), lambda i: f"column {self.name(i % d)}")
        vectors = np.asarray(values.reshape(len(present), d), self.dtype)
        if not column.null_count:
            return vectors
        rows = np.full((len(column), d), np.nan, self.dtype)
        rows[column.is_valid().to_numpy(zero_copy_only=False)] = vectors
        return rows

    def _common_dtype(self, names: tuple[str, ...]) -> np.dtype[Any]:
        """float32 where no column holds more digits, integers where all are; else float64."""
        kinds = [self._schema.field(name).type for name in names]
        kinds = [kind.value_type for kind in kinds] if self.vectors else kinds
        if all(str(kind).startswith(("int", "uint")) for kind in kinds) and not self.vectors:
            return np.result_type(*(kind.to_pandas_dtype() for kind in kinds))
        return np.dtype(np.float32 if all(str(kind) in ("float", "halffloat") for kind in kinds) else np.float64)

    def _vector_width(self) -> int:
        """Numbers in the first vector there is."""
        for part in range(len(self.edges) - 1):
            for batch in self._batches(part, FEW):
                vectors = batch.column(self._picked[0]).drop_null()
                if len(vectors):
                    return len(vectors[0])
        if not self.edges[-1]:
            return 0
        raise DataError(f"column {self._picked[0]!r} has no vector in any of its {self.edges[-1]} rows")


@contextmanager
def columns_of(d: int, m: int, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:  # (d, m)
    """Memory for columns, which each have their numbers in one piece."""
    # Columns a multiple of a page apart would drive the numbers of a row out of each other's place in the cache.
    width = -(-m * dtype.itemsize // PAGE) * PAGE + LINE
    with threads.lent("columns", d * width) as memory:
        yield memory.view(dtype).reshape(d, width // dtype.itemsize)[:, :m]


def row_blocks(columns: NDArray[Any], step: int) -> Iterator[Block]:  # (d, m)
    """Columns as blocks of at most `step` rows: the numbers of all columns in one go, which takes less than one by one
    where threads wait for each other between any two calls."""
    for start in range(0, columns.shape[1], step):
        yield columns[:, start : start + step].T.copy()


def as_array(column: Any) -> NDArray[Any]:
    """A column of anything as NumPy has it."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column.to_numpy()
    parts = []
    for chunk in column.chunks:
        words = np.array([*chunk.dictionary.to_pylist(), None], object)
        parts.append(words[chunk.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)])
    return np.concatenate(parts)


def arrow_damage(what: str, file: object = "") -> AbstractContextManager[None]:
    """What pyarrow says of bytes that make no sense, as an error in the data."""
    from pyarrow import ArrowException

    return damage(what, (ArrowException, OSError, EOFError, struct.error, UnicodeDecodeError), file)


def _check_exact(values: NDArray[Any], column: Any, where: Where) -> None:
    """Refuse integers and decimals that float64 cannot hold; those with gaps between them are floats already."""
    import pyarrow.types as types

    check_integers(values, where)
    if values.dtype.kind == "f" and not types.is_floating(column.type):
        check_numbers(values, lambda i: column[i].as_py(), where)


def _values(column: Any) -> Any:
    """A column as NumPy's numbers; decimals and booleans, which could not say what is missing, as float64."""
    import pyarrow as pa

    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())  # pyarrow's own way to float64 misses the last digit: 3.3 becomes 3.30…03
    if pa.types.is_string(column.type) or pa.types.is_boolean(column.type):
        column = column.cast(pa.float64())
    return column.to_numpy(zero_copy_only=False)


def _select_numbers(schema: Any) -> tuple[tuple[str, ...], bool, dict[str, str]]:
    """The columns of numbers, or of vectors, and whether of vectors; the others, and what they hold."""
    names = schema.names
    repeated = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if repeated:
        raise DataError(f"column names appear more than once: {shown(repeated, 5)}; rename them")
    vectors = [field.name for field in schema if _is_vector(field.type)]
    if len(vectors) > 1:
        raise DataError(f"several columns hold vectors ({shown(vectors)}); keep one of them in the file")
    picked = vectors or [field.name for field in schema if _is_number(field.type)]
    if not picked:
        raise DataError(f"no column holds numbers; there are {shown(names, 8) or 'no columns'}")
    chosen = set(picked)
    kinds = {field.name: _told(field.type) for field in schema if field.name not in chosen}
    return tuple(picked), bool(vectors), dict.fromkeys(kinds, "next to vectors") if vectors else kinds


def _index_columns(schema: Any) -> tuple[str, ...]:
    """Columns that were the index of a table of pandas, which says so beside the schema."""
    try:
        told = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        return tuple(name for name in told.get("index_columns", ()) if isinstance(name, str))
    except (ValueError, AttributeError, TypeError):  # whoever wrote it meant something else
        return ()


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(is_kind(kind) for is_kind in kinds)


def _is_vector(kind: Any) -> bool:
    import pyarrow.types as types

    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(is_kind(kind) for is_kind in lists) and _is_number(kind.value_type)


def _told(kind: Any) -> str:
    """What a column without numbers holds; text is text, however it is stored."""
    import pyarrow.types as types

    value = kind.value_type if types.is_dictionary(kind) else kind
    return TEXT if str(value) in (TEXT, "large_string", "string_view") else str(kind)

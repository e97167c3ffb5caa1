"""Parquet: a file or a folder of them, numeric columns or one column of vectors. Row groups are read by all cores."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.rows.array import check_shape
from ritz.rows.base import Block
from ritz.rows.streamed import Streamed

FEW = 64  # rows that are read to see how long vectors are

PAGE_BYTES = 3.0 * (1 << 20)  # of a column: a page as most writers cut them, packed and unpacked, and its dictionary
POOL_BYTES = 1 << 24  # that pyarrow does not give back at once
BUFFER_BYTES = 1 << 16  # read at a time; without it all of a column would be


def open_parquet(path: Path) -> Parquet:
    """The rows of a Parquet file, or of all Parquet files in a folder in the order of their names."""
    return Parquet(path)


class Parquet(Streamed):
    """One part per row group."""

    tabular = True

    def __init__(self, path: Path) -> None:
        self._metadata = {file: _metadata(file) for file in _files(path)}
        self._schema = self._common_schema()
        self._vector, self._picked = self._columns()
        self._groups = [(file, i) for file, meta in self._metadata.items() for i in range(meta.num_row_groups)]
        counts = [self._metadata[file].row_group(i).num_rows for file, i in self._groups]
        self._groups = [group for group, count in zip(self._groups, counts, strict=True) if count]
        self.edges = np.concatenate([[0], np.cumsum([count for count in counts if count])]).astype(np.int64)
        self._width = self._vector_width() if self._vector else len(self._picked)
        self.shape = (int(self.edges[-1]), self._width)
        check_shape(self.shape)
        self.names = tuple(f"{self._picked[0]}_{i}" for i in range(self._width)) if self._vector else self._picked
        self.dtype = self._common_dtype()

    @classmethod
    def opens(cls, source: object) -> bool:
        return False  # opened by the name of the file

    def stream(self, part: int, step: int) -> Iterator[Block]:
        # As many rows at a time as memory allows, since every batch of a column costs a call.
        rows = max(step, self.most_bytes // (self.dtype.itemsize * self._width))
        at, end = int(self.edges[part]), int(self.edges[part + 1])
        for batch in self._batches(part, rows):
            for block in self._numbers(batch, at, step):
                yield block
                at += len(block)
        if at != end:
            file, group = self._groups[part]
            raise DataError(f"row group {group} of {file} should end at row {end}, it ends at {at}")

    @property
    def reading(self) -> int:
        """Batches, and of every column a page as it is stored and as it was, and its dictionary."""
        pages = 0.0
        for file, i in self._groups:
            group = self._metadata[file].row_group(i)
            chunks = (group.column(j) for j in range(group.num_columns))
            pages = max(pages, sum(min(2 * chunk.total_uncompressed_size, PAGE_BYTES) for chunk in chunks))
        batches = 6 * min(self.most_bytes, self.dtype.itemsize * self.shape[0] * self._width)
        return batches + int(pages) + min(POOL_BYTES, int(4 * pages))

    def head(self, part: int, count: int) -> Block:
        return next(self._numbers(self._first(part, count), int(self.edges[part]), count))

    def some(self, columns: NDArray[np.intp]) -> Parquet | None:
        if self._vector:
            return None
        some = copy(self)
        some._picked = some.names = tuple(self._picked[j] for j in columns)
        some._width, some.shape = len(columns), (self.shape[0], len(columns))
        widened = self.dtype.kind == "f" and self._common_dtype().kind != "f"  # to say what is missing
        some.dtype = np.dtype(np.float64) if widened else some._common_dtype()
        return some

    def column(self, key: Any) -> NDArray[Any]:
        import pyarrow.parquet as pq

        if self._vector and key not in self.left_out:
            return super().column(key)
        key = self.resolved(key)
        name = key if key in self.left_out else self._picked[self.position(key)]
        parts = [pq.read_table(file, columns=[name]).column(name).to_numpy() for file in self._metadata]
        return np.concatenate(parts)

    def _first(self, part: int, count: int) -> Any:
        batch = next(self._batches(part, count), None)
        if batch is None:
            file, group = self._groups[part]
            raise DataError(f"row group {group} of {file} is damaged: it holds no rows")
        return batch

    def _batches(self, part: int, rows: int) -> Iterator[Any]:
        from pyarrow import ArrowException

        file, group = self._groups[part]
        reader = _opened(file, self._metadata[file])
        try:
            yield from reader.iter_batches(rows, [group], list(self._picked), use_threads=False)
        except (ArrowException, OSError) as error:
            raise DataError(f"row group {group} of {file} is damaged: {error}") from error

    def _numbers(self, batch: Any, first: int, step: int) -> Iterator[Block]:
        """A batch as arrays; missing values become NaN, which the walk reports with their place."""
        # By name: asked for "a" or "a.b", pyarrow also gives the fields of a struct called "a".
        picked = [batch.column(name) for name in self._picked]
        if self._vector:
            vectors = self._vectors(picked[0], first)
            yield from (vectors[start : start + step] for start in range(0, len(vectors), step))
            return
        if self.dtype.kind in "iu":
            self._check_gaps(picked, first)
        columns = [_values(column) for column in picked]
        for start in range(0, batch.num_rows, step):
            block = np.empty((min(step, batch.num_rows - start), self._width), self.dtype)
            for j, column in enumerate(columns):
                block[:, j] = column[start : start + step]
            yield block

    def _check_gaps(self, columns: list[Any], first: int) -> None:
        """Integers cannot say what is missing; statistics could, but damaged ones make pyarrow end the process."""
        broken = {name: column for name, column in zip(self._picked, columns, strict=True) if column.null_count}
        if broken:
            gaps = np.column_stack([column.is_null().to_numpy(zero_copy_only=False) for column in broken.values()])
            row, j = np.argwhere(gaps)[0]
            raise DataError(
                f"Input X contains missing values, {gaps.sum()} here and maybe more, first at row {first + row}, "
                f"column {list(broken)[j]!r}; read it with missing='drop' or missing='mean'"
            )

    def with_gaps(self) -> Parquet:
        widened = copy(self)
        widened.dtype = np.result_type(self.dtype, np.float64) if self.dtype.kind in "iu" else self.dtype
        return widened

    def _vectors(self, column: Any, first: int) -> Block:
        """Vectors as rows; one that is missing is a row of NaN."""
        import pyarrow.compute as pc

        lengths = pc.list_value_length(column).fill_null(self._width).to_numpy(zero_copy_only=False)
        given = column.is_valid().to_numpy(zero_copy_only=False)
        wrong = given & (lengths != self._width)
        if wrong.any():
            row = int(np.argmax(wrong))
            place = f"in row {first + row} of column {self._picked[0]!r}"
            raise DataError(f"the vector {place} has {lengths[row]} numbers, the first one has {self._width}")
        present = column.drop_null() if column.null_count else column
        vectors = np.asarray(_values(present.flatten()).reshape(len(present), self._width), self.dtype)
        if not column.null_count:
            return vectors
        rows = np.full((len(column), self._width), np.nan, self.dtype)
        rows[given] = vectors
        return rows

    def _common_schema(self) -> Any:
        (first, metadata), *others = self._metadata.items()
        schema = metadata.schema.to_arrow_schema()
        for file, other in others:
            if not other.schema.to_arrow_schema().equals(schema):
                raise DataError(f"the columns of {file} are not those of {first}, but a folder is read as one table")
        return schema

    def _columns(self) -> tuple[bool, tuple[str, ...]]:
        """Whether the rows are vectors in one column, and the columns that hold numbers."""
        import pyarrow.types as types

        names = self._schema.names
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise DataError(f"column names appear more than once: {', '.join(map(repr, repeated[:5]))}; rename them")
        numeric = [f.name for f in self._schema if _is_number(f.type)]
        lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
        vectors = [
            f.name for f in self._schema if any(kind(f.type) for kind in lists) and _is_number(f.type.value_type)
        ]
        if len(vectors) > 1:
            raise DataError(
                f"several columns hold vectors ({', '.join(map(repr, vectors))}); keep one of them in the file"
            )
        picked = vectors or numeric
        if not picked:
            raise DataError(f"no column holds numbers; there are {', '.join(map(repr, names[:8])) or 'no columns'}")
        kinds = {f.name: "beside vectors" if vectors else str(f.type) for f in self._schema if f.name not in picked}
        self.left_out, self.keys = kinds, None if vectors else tuple(names)
        return bool(vectors), tuple(picked)

    def _vector_width(self) -> int:
        """Numbers in the first vector there is."""
        for part in range(len(self._groups)):
            for batch in self._batches(part, FEW):
                vectors = batch.column(self._picked[0]).drop_null()
                if len(vectors):
                    return len(vectors[0])
        if not self._groups:
            return 0
        raise DataError(f"column {self._picked[0]!r} has no vector in any of its {self.edges[-1]} rows")

    def _common_dtype(self) -> np.dtype[Any]:
        """float32 where no column holds more digits, integers where all are; else float64."""
        kinds = [self._schema.field(name).type for name in self._picked]
        kinds = [kind.value_type if self._vector else kind for kind in kinds]
        if all(str(kind).startswith(("int", "uint")) for kind in kinds) and not self._vector:
            return np.result_type(*(kind.to_pandas_dtype() for kind in kinds))
        return np.dtype(np.float32 if all(str(kind) in ("float", "halffloat") for kind in kinds) else np.float64)


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(is_kind(kind) for is_kind in kinds)


def _values(column: Any) -> Any:
    """A column as NumPy's numbers; decimals and booleans, which could not say what is missing, as float64."""
    import pyarrow as pa

    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())  # pyarrow's own way to float64 misses the last digit: 3.3 becomes 3.30…03
    if pa.types.is_string(column.type) or pa.types.is_boolean(column.type):
        column = column.cast(pa.float64())
    return column.to_numpy(zero_copy_only=False)


def _files(path: Path) -> list[Path]:
    """The file, or all in a folder in the order of their names, without what pipelines hide between them."""
    if not path.is_dir():
        return [path]
    found = (file for file in path.rglob("*") if file.suffix.lower() in (".parquet", ".pq") and file.is_file())
    hidden = ("_", ".")  # as in _temporary, _metadata, .part.parquet.crc
    files = sorted(file for file in found if not any(p.startswith(hidden) for p in file.relative_to(path).parts))
    if not files:
        raise DataError(f"there is no .parquet or .pq file in the folder {str(path)!r}")
    return files


def _metadata(file: Path) -> Any:
    """The footer of a file, which is all that is read of it for now."""
    metadata = _opened(file).metadata
    counts = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    if min(counts, default=0) < 0 or sum(counts) != metadata.num_rows:  # nothing else protects these numbers
        raise DataError(f"{file} is damaged: it claims {metadata.num_rows} rows, and {sum(counts)} in its row groups")
    return metadata


def _opened(file: Path, metadata: Any = None) -> Any:
    import pyarrow.parquet as pq
    from pyarrow import ArrowException

    try:
        return pq.ParquetFile(
            file, metadata=metadata, buffer_size=BUFFER_BYTES, pre_buffer=False, page_checksum_verification=True
        )
    except (ArrowException, OSError, UnicodeDecodeError) as error:  # the last one from names of columns
        raise DataError(f"{file} is no whole Parquet file: {error}") from error

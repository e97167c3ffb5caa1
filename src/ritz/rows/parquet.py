"""Parquet: a file or a folder of them, numeric columns or one column of vectors. Row groups are read by all cores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.rows.array import check_shape
from ritz.rows.base import Block
from ritz.rows.streamed import Streamed


def open_parquet(path: Path) -> Parquet:
    """The rows of a Parquet file, or of all Parquet files in a folder in the order of their names."""
    return Parquet(path)


class Parquet(Streamed):
    """One part per row group."""

    tabular = True

    def __init__(self, path: Path) -> None:
        files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
        if not files:
            raise DataError(f"there is no .parquet file in the folder {str(path)!r}")
        self._metadata = {file: _metadata(file) for file in files}
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
        """Batches, and the pages of a row group: pyarrow decodes those of all columns side by side."""
        return 3 * self.most_bytes + 4 * max(
            self._metadata[file].row_group(i).total_byte_size for file, i in self._groups
        )

    def head(self, part: int, count: int) -> Block:
        return next(self._numbers(self._first(part, count), int(self.edges[part]), count))

    def column(self, key: Any) -> NDArray[Any]:
        if key not in self.left_out:
            return super().column(key)
        import pyarrow.parquet as pq

        parts = [pq.read_table(file, columns=[key]).column(0).to_numpy() for file in self._metadata]
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
        if self._vector:
            vectors = self._vectors(batch.column(0), first)
            yield from (vectors[start : start + step] for start in range(0, len(vectors), step))
            return
        columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
        for start in range(0, batch.num_rows, step):
            block = np.empty((min(step, batch.num_rows - start), self._width), self.dtype)
            for j, column in enumerate(columns):
                block[:, j] = column[start : start + step]
            yield block

    def _vectors(self, column: Any, first: int) -> Block:
        import pyarrow.compute as pc

        if column.null_count:
            row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise DataError(f"column {self._picked[0]!r} has no vector in row {first + row}; drop such rows first")
        lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
        if (lengths != self._width).any():
            row = int(np.argmax(lengths != self._width))
            place = f"in row {first + row} of column {self._picked[0]!r}"
            raise DataError(f"the vector {place} has {lengths[row]} numbers, the first one has {self._width}")
        values = column.flatten().to_numpy(zero_copy_only=False)
        return np.asarray(values.reshape(len(column), self._width).astype(self.dtype, copy=False))

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
        self.left_out = kinds
        return bool(vectors), tuple(picked)

    def _vector_width(self) -> int:
        vector = self._first(0, 1).column(0)[0].as_py()
        return len(vector) if vector is not None else 0

    def _complete(self) -> bool:
        """Whether the statistics of every row group say that nothing is missing."""
        for file, i in self._groups:
            group = self._metadata[file].row_group(i)
            columns = (group.column(j) for j in range(group.num_columns))
            known = [column.statistics for column in columns if column.path_in_schema in self._picked]
            if not all(found is not None and found.has_null_count and not found.null_count for found in known):
                return False
        return True

    def _common_dtype(self) -> np.dtype[Any]:
        """float32 where no column holds more digits, integers where none is missing, which only floats can say."""
        kinds = [self._schema.field(name).type for name in self._picked]
        kinds = [kind.value_type if self._vector else kind for kind in kinds]
        if all(str(kind).startswith(("int", "uint")) for kind in kinds) and not self._vector and self._complete():
            return np.result_type(*(kind.to_pandas_dtype() for kind in kinds))
        return np.dtype(np.float32 if all(str(kind) in ("float", "halffloat") for kind in kinds) else np.float64)


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _metadata(file: Path) -> Any:
    """The footer of a file, which is all that is read of it for now."""
    return _opened(file).metadata


def _opened(file: Path, metadata: Any = None) -> Any:
    import pyarrow.parquet as pq
    from pyarrow import ArrowException

    try:
        return pq.ParquetFile(file, metadata=metadata, memory_map=True, page_checksum_verification=True)
    except (ArrowException, OSError) as error:
        raise DataError(f"{file} is no whole Parquet file: {error}") from error

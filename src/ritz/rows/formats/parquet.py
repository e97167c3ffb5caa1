"""Parquet: a file or a folder of them, numeric columns or one column of vectors. Row groups are read by all cores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import FILE, DataError
from ritz.rows.base import Block
from ritz.rows.columns import shown
from ritz.rows.formats.table import Table, arrow_damage, columns_of, row_blocks
from ritz.rows.passes import MOST_BYTES
from ritz.rows.text.lines import pyarrow_file
from ritz.runtime import threads

PAGE_BYTES = 3.0 * (1 << 20)  # of a column: a page as most writers cut them, packed and unpacked, and its dictionary
POOL_BYTES = 1 << 24  # that pyarrow does not give back at once
UNPACKED = 8  # times the bytes of a block, that a row group may have to be unpacked at once
CACHED = 1 << 20  # bytes of columns that are unpacked together, so that they stay in cache
BUFFER_BYTES = 1 << 16  # read at a time; without it all of a column would be


class Parquet(Table):
    """A Parquet file, or all of them in a folder in the order of their names; one part per row group."""

    turned_bytes = MOST_BYTES  # all of a batch

    def __init__(self, path: Path) -> None:
        files = listed(path)
        if not files:
            raise DataError(f"there is no .parquet or .pq file in the folder {str(path)!r}")
        self._metadata = {file: _metadata(file) for file in files}
        self._schema = self._common_schema()
        groups = [(file, i) for file, meta in self._metadata.items() for i in range(meta.num_row_groups)]
        counts = {group: self._metadata[group[0]].row_group(group[1]).num_rows for group in groups}
        self._groups = [group for group in groups if counts[group]]
        self._describe(counts[group] for group in self._groups)

    @property
    def reading(self) -> int:
        """What is unpacked at once, and of its columns a page each as it is stored and as it was, and a dictionary."""
        group = self.dtype.itemsize * self.shape[1] * int(np.diff(self.edges).max(initial=0))
        if self._fits(group):
            column = group // self.shape[1]
            pages, numbers = (
                min(1, columns_at_once(column) / self.shape[1]) * self._pages,
                group + 6 * max(CACHED, column),
            )
        else:
            pages, numbers = self._pages, 6 * min(self.most_bytes, self.dtype.itemsize * self.shape[0] * self.shape[1])
        return numbers + int(pages) + min(POOL_BYTES, int(4 * pages))

    @threads.cached_property
    def _pages(self) -> float:
        """Bytes of a page of every column, and of its dictionary."""
        pages = 0.0
        for file, i in self._groups:
            group = self._metadata[file].row_group(i)
            chunks = (group.column(j) for j in range(group.num_columns))
            pages = max(pages, sum(min(2 * chunk.total_uncompressed_size, PAGE_BYTES) for chunk in chunks))
        return pages

    def _fits(self, size: int) -> bool:
        """Whether a row group of so many bytes is unpacked whole."""
        return not self.vectors and size <= UNPACKED * self.most_bytes

    def stream(self, part: int, step: int) -> Iterator[Block]:
        """A row group that fits comes column by column: in batches of rows, every column would have to wait for all
        others, and its page and its dictionary would have left the cache meanwhile."""
        d, m = self.shape[1], int(self.edges[part + 1] - self.edges[part])
        if not self._fits(self.dtype.itemsize * d * m):
            yield from super().stream(part, step)
            return
        with columns_of(d, m, self.dtype) as columns:
            complete = self._unpack(part, columns)
            if complete:
                yield from row_blocks(columns, step)
        if not complete:
            yield from super().stream(part, step)

    def _unpack(self, part: int, columns: NDArray[Any]) -> bool:  # (d, m)
        """A row group, some columns at a time; False where integers lack a value, or columns some rows."""
        file, group = self._groups[part]
        reader, (d, m) = _opened(file, self._metadata[file]), columns.shape
        count = columns_at_once(self.dtype.itemsize * m)
        with arrow_damage(f"row group {group} of {FILE} is damaged", file):
            for first in range(0, d, count):
                names, at = list(self._picked[first : first + count]), 0
                for batch in reader.iter_batches(m, [group], names, use_threads=False):
                    picked, end = [batch.column(name) for name in names], at + batch.num_rows
                    gaps = self.dtype.kind in "iu" and any(column.null_count for column in picked)
                    if gaps or end > m:
                        return False
                    for j, (name, column) in enumerate(zip(names, picked, strict=True), first):
                        columns[j, at:end] = self._column(name, column, exact=True)
                    at = end
                if at < m:
                    return False
        return True

    def _where(self, part: int) -> tuple[str, Path]:
        file, group = self._groups[part]
        return f"row group {group} of {FILE}", file

    def _whole(self, names: list[str]) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with arrow_damage(f"columns {shown(names, 5)} cannot be read"):
            # Names of folders are no columns; "a.b" may also stand for a field of a struct "a", hence `select`.
            files = map(pyarrow_file, self._metadata)
            tables = [pq.read_table(file, columns=names, partitioning=None).select(names) for file in files]
            return pa.concat_tables(tables)

    def peek(self, keys: Iterable[Any], count: int) -> dict[Any, NDArray[Any]]:
        import pyarrow as pa

        def beginning(names: list[str]) -> Any:
            some, batches, rows = copy(self), list[Any](), 0
            some._picked = tuple(names)
            for part in dict.fromkeys((*self.some_parts, *range(len(self.edges) - 1))):
                if rows < count:
                    batches.append(next(some._batches(part, count)))
                    rows += batches[-1].num_rows
            return pa.Table.from_batches(batches).select(names)

        return self._found(keys, beginning)

    def _batches(self, part: int, rows: int) -> Iterator[Any]:
        file, group = self._groups[part]
        reader = _opened(file, self._metadata[file])
        with arrow_damage(f"row group {group} of {FILE} is damaged", file):
            yield from reader.iter_batches(rows, [group], list(self._picked), use_threads=False)

    def _common_schema(self) -> Any:
        (first, metadata), *others = self._metadata.items()
        schema = metadata.schema.to_arrow_schema()
        for file, other in others:
            if not other.schema.to_arrow_schema().equals(schema):
                problem = f"the columns of {FILE} differ from those of {first}"
                raise DataError(problem, "all files of a folder make one table", file=file)
        return schema


def columns_at_once(size: int) -> int:
    """How many columns of so many bytes are unpacked together."""
    return max(1, CACHED // size)


def listed(path: Path) -> list[Path]:
    """The file, or all in a folder in the order of their names, without what pipelines hide between them."""
    if not path.is_dir():
        return [path]
    found = (file for file in path.rglob("*") if file.suffix.lower() in (".parquet", ".pq") and file.is_file())
    return sorted(file for file in found if not any(map(_is_hidden, file.relative_to(path).parts)))


def _is_hidden(name: str) -> bool:
    """As _temporary, _metadata, .part.parquet.crc are, and the results of `ritz fit`, whose scores are no rows."""
    return name.startswith(("_", ".")) or name.endswith("-ritz")


def _metadata(file: Path) -> Any:
    """The footer of a file, which is all that is read of it for now."""
    metadata = _opened(file).metadata
    counts = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    if min(counts, default=0) < 0 or sum(counts) != metadata.num_rows:  # nothing else protects these numbers
        problem = f"{FILE} is damaged: it claims {metadata.num_rows} rows, and {sum(counts)} in its row groups"
        raise DataError(problem, file=file)
    return metadata


def _opened(file: Path, metadata: Any = None) -> Any:
    import pyarrow.parquet as pq

    with arrow_damage(f"{FILE} is not a valid Parquet file (truncated or corrupt)", file):
        source = pyarrow_file(file)
        return pq.ParquetFile(
            source, metadata=metadata, buffer_size=BUFFER_BYTES, pre_buffer=False, page_checksum_verification=True
        )

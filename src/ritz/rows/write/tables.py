"""Blocks of numbers, and columns beside them, into a file or a stream. A new format is a function and one line in the
tables below."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.rows.base import Block
from ritz.rows.columns import shown, unique_names
from ritz.rows.write.columns import as_column, escape_formulas
from ritz.runtime import threads
from ritz.runtime.atomic import writing

Out = str | os.PathLike[str] | Callable[[Block], object]
# Written at a time: fewer calls than block by block, and enough row groups for all cores of a reader.
MOST_BYTES, MOST_ROWS = 1 << 23, 1 << 17
TEXT_BYTES = 1 << 20  # that become text at a time: it takes up to three times as many, and fresh memory where large


@dataclass(frozen=True)
class Results:
    """Blocks that are yet to be computed, and what they will stack to.

    Attributes
    ----------
    blocks : of numbers, in order
    n : rows of all blocks
    names, dtype : of the numbers
    beside : columns of n values, text, numbers or dates, None where one is missing; they stand before the numbers
    """

    blocks: Generator[Block, None, None]
    n: int
    names: tuple[str, ...]
    dtype: np.dtype[Any]
    beside: Mapping[Any, NDArray[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, values in self.beside.items():
            if np.shape(values) != (self.n,):
                raise DataError(f"column {name!r} next to the results has shape {np.shape(values)}, not ({self.n},)")


def deliver(results: Results, out: Out, sources: Iterable[str] = ()) -> None:
    """Every block to `out`: a file by the end of its name, or a function that is given one block after another."""
    with closing(results.blocks):  # whatever goes wrong, the pass ends here
        if callable(out):
            for block in results.blocks:
                out(block)
            return
        path = Path(out)
        write = FORMATS.get(path.suffix.lower())
        if write is None:
            raise DataError(f"cannot write {path.name!r}: unknown extension; known formats: {', '.join(FORMATS)}")
        check_target(path, sources)
        with writing(path) as new:
            write(results, new)


def pour(results: Results, stream: BinaryIO, kind: str) -> None:
    """Every block into a binary stream such as ``sys.stdout.buffer``, which stays open.

    Examples
    --------
    >>> blocks = (np.full((1, 2), x) for x in (0.5, 1.5))
    >>> stream = io.BytesIO()
    >>> pour(Results(blocks, 2, ("x", "y"), np.dtype(float), {"who": np.array(["=a", "b"])}), stream, "csv")
    >>> print(stream.getvalue().decode())
    "who","x","y"
    "'=a",0.5,0.5
    "b",1.5,1.5
    <BLANKLINE>
    """
    write = STREAMS.get(kind)
    if write is None:
        raise DataError(f"cannot write {kind!r} into a stream; known formats: {', '.join(STREAMS)}")
    with closing(results.blocks):
        write(results, _Sink(stream))
        stream.flush()


class _Sink(io.RawIOBase):
    """A stream that counts what it is given, since a pipe cannot tell, and stays open when its writer is done."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._written = stream, 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(data)
        self._written += len(data)
        return len(data)

    def tell(self) -> int:
        return self._written


def check_target(path: Path, sources: Iterable[str] = ()) -> None:
    """A file may be written where there is a folder for it, and where it is none of those that are read."""
    if os.path.realpath(path) in map(os.path.realpath, sources):
        raise DataError(f"{str(path)!r} is the file that is read; give the result another name")
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path.parent)!r} to write into")


def _write_npy(results: Results, path: Path) -> None:
    if results.beside:
        others = ", ".join(ending for ending in FORMATS if ending != ".npy")
        columns = shown(list(results.beside), 5)
        raise DataError(f".npy files hold numbers only, but {columns} should be written too; write {others}")
    first = next(results.blocks, np.empty((0, len(results.names)), results.dtype))
    shape, descr = (results.n, *first.shape[1:]), npy.dtype_to_descr(results.dtype)
    with path.open("wb") as file:
        npy.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
        for block in chain([first], results.blocks):
            file.write(np.ascontiguousarray(block, results.dtype).data)


def _write_tables(results: Results, sink: Path | _Sink, writer: str, **options: Any) -> None:
    """All rows by a writer of pyarrow, into a file by its true name: as text it would have to be UTF-8."""
    import pyarrow as pa

    schema, tables = _tables(results)
    native = pa.OSFile(os.fsencode(sink), "wb") if isinstance(sink, Path) else nullcontext(sink)
    with native as stream, resolve_name(writer)(stream, schema, **options) as opened:
        for table in tables:
            opened.write_table(table)


def _write_parquet(results: Results, sink: Path | _Sink) -> None:
    """Numbers as they are: hardly any repeats, so that a dictionary of them takes time, and more room than they do."""
    beside = _names(results)[: len(results.beside)]
    _write_tables(results, sink, "pyarrow.parquet:ParquetWriter", use_dictionary=beside)


def _write_csv(results: Results, sink: Path | _Sink, separator: str = ",") -> None:
    """Lines of text, made by all cores: digits take longer than anything else."""
    import pyarrow as pa
    from pyarrow import csv

    schema, tables = _tables(results, spreadsheet=True)

    def lines(table: Any, header: bool = False) -> Any:
        text = pa.BufferOutputStream()
        csv.write_csv(table, text, csv.WriteOptions(delimiter=separator, include_header=header))
        return text.getvalue()

    native = sink.open("wb") if isinstance(sink, Path) else nullcontext(sink)
    with native as stream, closing(threads.ordered(lines, tables, threads.pinned.budget())) as texts:
        first = next(texts, b"")  # whoever reads a pipe should not take a header for a table when there is an error
        for text in chain([lines(schema.empty_table(), header=True), first], texts):
            stream.write(text)


def _tables(results: Results, spreadsheet: bool = False) -> tuple[Any, Iterator[Any]]:
    """The schema, and all rows; for a `spreadsheet`, without formulas, and with nothing where nothing is."""
    import pyarrow as pa

    beside = [as_column(values) for values in results.beside.values()]
    beside = [escape_formulas(column) for column in beside] if spreadsheet else beside
    kinds = [*(column.type for column in beside), *[pa.from_numpy_dtype(results.dtype)] * len(results.names)]
    schema = pa.schema(list(zip(_names(results, spreadsheet), kinds, strict=True)))

    def tables() -> Iterator[Any]:
        at = 0
        for block in _gathered(results, TEXT_BYTES if spreadsheet else MOST_BYTES):
            numbers = [pa.array(column, from_pandas=spreadsheet) for column in np.ascontiguousarray(block.T)]
            columns = [*(column.slice(at, len(block)) for column in beside), *numbers]
            yield pa.table(columns, schema=schema)
            at += len(block)
        if at != results.n:
            raise DataError(f"{results.n} rows should have been written, there were {at}; did the data change?")

    return schema, tables()


def _names(results: Results, spreadsheet: bool = False) -> list[str]:
    """Names of all columns, told apart; those of the numbers stay, since someone may look for them."""
    import pyarrow as pa

    names = [*results.names, *map(str, results.beside)]
    told = unique_names(escape_formulas(pa.array(names, pa.string())).to_pylist() if spreadsheet else names)
    return [*told[len(results.names) :], *told[: len(results.names)]]


def _gathered(results: Results, most_bytes: int) -> Iterator[Block]:
    """Blocks put together to about so many bytes."""
    waiting: list[Block] = []
    rows = 0
    most = max(1, min(MOST_ROWS, most_bytes // (results.dtype.itemsize * max(1, len(results.names)))))
    for block in results.blocks:
        waiting.append(block.reshape(len(block), len(results.names)).astype(results.dtype, copy=False))
        rows += len(block)
        if rows >= most:
            yield np.concatenate(waiting)
            waiting, rows = [], 0
    if rows:
        yield np.concatenate(waiting)


_write_arrow = partial(_write_tables, writer="pyarrow.ipc:new_file")
_write_tsv = partial(_write_csv, separator="\t")
FORMATS: dict[str, Callable[[Results, Path], None]] = {
    ".npy": _write_npy,
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
    ".feather": _write_arrow,
    ".csv": _write_csv,
    ".tsv": _write_tsv,
}
STREAMS: dict[str, Callable[[Results, _Sink], None]] = {
    "arrow": partial(_write_tables, writer="pyarrow.ipc:new_stream"),
    "csv": _write_csv,
    "tsv": _write_tsv,
    "parquet": _write_parquet,
}

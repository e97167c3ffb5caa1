"""Blocks of numbers into a file, one after the other. A new format is a function and one line in the table below."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from ritz.errors import DataError
from ritz.rows.base import Block
from ritz.whole import replacing

Out = str | os.PathLike[str] | Callable[[Block], object]


@dataclass(frozen=True)
class Stream:
    """Blocks that are yet to be computed, and what they will stack to."""

    blocks: Iterator[Block]
    n: int
    names: tuple[str, ...]
    dtype: np.dtype[Any]


def deliver(stream: Stream, out: Out, source: object = None) -> None:
    """Every block to `out`: a file by the end of its name, or a function that is given one block after another."""
    if callable(out):
        for block in stream.blocks:
            out(block)
        return
    path = Path(out)
    write = FORMATS.get(path.suffix.lower())
    if write is None:
        raise DataError(f"cannot write {path.name!r} by the end of its name; known formats: {', '.join(FORMATS)}")
    if isinstance(source, str | os.PathLike) and path.exists() and os.path.samefile(source, path):
        raise DataError(f"{str(path)!r} is the file that is read; give the result another name")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path.parent)!r} to write into")
    with replacing(path) as new:
        write(stream, new)


def _write_npy(stream: Stream, path: Path) -> None:
    first = next(stream.blocks)
    with path.open("wb") as file:
        shape = (stream.n, *first.shape[1:])
        npy.write_array_header_1_0(
            file, {"descr": npy.dtype_to_descr(stream.dtype), "fortran_order": False, "shape": shape}
        )
        for block in chain([first], stream.blocks):
            file.write(np.ascontiguousarray(block, stream.dtype).data)


def _write_parquet(stream: Stream, path: Path) -> None:
    from pyarrow.parquet import ParquetWriter

    with ParquetWriter(path, _schema(stream)) as writer:
        for batch in _batches(stream):
            writer.write_batch(batch)


def _write_csv(stream: Stream, path: Path, separator: str = ",") -> None:
    from pyarrow import csv

    with csv.CSVWriter(path, _schema(stream), write_options=csv.WriteOptions(delimiter=separator)) as writer:
        for batch in _batches(stream):
            writer.write_batch(batch)


def _write_tsv(stream: Stream, path: Path) -> None:
    _write_csv(stream, path, "\t")


def _schema(stream: Stream) -> Any:
    import pyarrow as pa

    return pa.schema([(name, pa.from_numpy_dtype(stream.dtype)) for name in stream.names])


def _batches(stream: Stream) -> Iterator[Any]:
    import pyarrow as pa

    schema = _schema(stream)
    for block in stream.blocks:
        columns = block.reshape(len(block), -1).astype(stream.dtype, copy=False).T
        yield pa.record_batch([pa.array(np.ascontiguousarray(column)) for column in columns], schema=schema)


FORMATS: dict[str, Callable[[Stream, Path], None]] = {
    ".npy": _write_npy,
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".tsv": _write_tsv,
}

"""Blocks of numbers into a file, one after the other. A new format is a function and one line in the table below."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
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
class Results:
    """Blocks that are yet to be computed, and what they will stack to."""

    blocks: Generator[Block, None, None]
    n: int
    names: tuple[str, ...]
    dtype: np.dtype[Any]


def deliver(results: Results, out: Out, sources: Iterable[str] = ()) -> None:
    """Every block to `out`: a file by the end of its name, or a function that is given one block after another."""
    with closing(results.blocks):  # whatever goes wrong, the walk ends here
        if callable(out):
            for block in results.blocks:
                out(block)
            return
        path = Path(out)
        write = _writer(path, sources)
        with replacing(path) as new:
            write(results, new)


def _writer(path: Path, sources: Iterable[str]) -> Callable[[Results, Path], None]:
    """What writes a file of that name, if it may be written."""
    write = FORMATS.get(path.suffix.lower())
    if write is None:
        raise DataError(f"cannot write {path.name!r} by the end of its name; known formats: {', '.join(FORMATS)}")
    if os.path.realpath(path) in map(os.path.realpath, sources):
        raise DataError(f"{str(path)!r} is the file that is read; give the result another name")
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path.parent)!r} to write into")
    return write


def _write_npy(results: Results, path: Path) -> None:
    first = next(results.blocks)
    with path.open("wb") as file:
        shape = (results.n, *first.shape[1:])
        npy.write_array_header_1_0(
            file, {"descr": npy.dtype_to_descr(results.dtype), "fortran_order": False, "shape": shape}
        )
        for block in chain([first], results.blocks):
            file.write(np.ascontiguousarray(block, results.dtype).data)


def _write_parquet(results: Results, path: Path) -> None:
    from pyarrow.parquet import ParquetWriter

    with ParquetWriter(path, _schema(results)) as writer:
        for batch in _batches(results):
            writer.write_batch(batch)


def _write_csv(results: Results, path: Path, separator: str = ",") -> None:
    from pyarrow import csv

    with csv.CSVWriter(path, _schema(results), write_options=csv.WriteOptions(delimiter=separator)) as writer:
        for batch in _batches(results):
            writer.write_batch(batch)


def _write_tsv(results: Results, path: Path) -> None:
    _write_csv(results, path, "\t")


def _schema(results: Results) -> Any:
    import pyarrow as pa

    return pa.schema([(name, pa.from_numpy_dtype(results.dtype)) for name in results.names])


def _batches(results: Results) -> Iterator[Any]:
    import pyarrow as pa

    schema = _schema(results)
    for block in results.blocks:
        columns = block.reshape(len(block), -1).astype(results.dtype, copy=False).T
        yield pa.record_batch([pa.array(np.ascontiguousarray(column)) for column in columns], schema=schema)


FORMATS: dict[str, Callable[[Results, Path], None]] = {
    ".npy": _write_npy,
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".tsv": _write_tsv,
}

"""Fits that take long: progress while they run, and a checkpoint to resume from when they were interrupted."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from ritz import __version__
from ritz.fitting.request import Request
from ritz.linalg.arrays import on_host
from ritz.rows import Rows
from ritz.rows.base import Block
from ritz.runtime.checkpoint import Checkpoint
from ritz.runtime.threads import pinned
from ritz.runtime.watch import Progress, Watch


@contextmanager
def watching(
    rows: Rows, request: Request, shown: bool, checkpoint: str | os.PathLike[str] | None = None
) -> Iterator[Watch]:
    """An observer of every pass of a fit. The checkpoint is written when it is interrupted, gone when it is done."""
    with Progress() if shown else nullcontext() as progress:
        record = None if checkpoint is None else Checkpoint(_checked(checkpoint, rows), owner(rows, request))
        if progress is not None:
            progress.say(repr(rows))
            if record is not None and record.found:
                progress.say(f"resumed after {record.found}")
        try:
            yield Watch(progress or rows.watch.progress, record)
        except ValueError:  # whoever mends the data, or the request, begins anew
            if record is not None:
                record.remove()
            raise
        except BaseException:
            if record is not None:
                record.write_or_warn()
            raise
        if record is not None:
            record.remove()


def _checked(checkpoint: str | os.PathLike[str], rows: Rows) -> Path:
    path = Path(checkpoint)
    if rows.scattered:
        raise ValueError(
            f"the checkpoint {str(path)!r} is for rows that this process reads; leave it out for Dask, which repeats "
            "the tasks of workers that are lost"
        )
    if os.path.realpath(path) in map(os.path.realpath, rows.paths):
        raise ValueError(f"the checkpoint {str(path)!r} is the file that is read; give another name")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path.parent)!r} to keep the checkpoint {path.name!r} in")
    if path.is_dir():
        raise IsADirectoryError(f"the checkpoint {str(path)!r} is a folder; give the name of a file")
    return path


def owner(rows: Rows, request: Request) -> str:
    """What a fit depends on: the rows, the request, the versions and the threads.

    Files are known by their names, sizes and times of change; what is in memory, by a checksum of all of it.
    """
    parts = (__version__, rows, rows.names, request, pinned.budget(), np.__version__, rows.origin or _checksum(rows))
    return hashlib.sha256("\0".join(map(repr, parts)).encode()).hexdigest()


def _checksum(rows: Rows) -> Any:
    def checksum(block: Block) -> Block:
        block = on_host(block)
        parts = [block] if isinstance(block, np.ndarray) else [block.data, block.indices, block.indptr]
        value = 0
        for part in parts:
            value = zlib.crc32(np.ascontiguousarray(part).data, value)
        return np.array([value])

    return hashlib.sha256(b"".join(value.tobytes() for value in rows.each(checksum))).hexdigest()

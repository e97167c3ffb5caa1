"""Fits that take long: progress while they run, and a checkpoint to resume from when they were interrupted."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np

from ritz import __version__
from ritz.journal import Journal
from ritz.passes import UNWATCHED, Watch
from ritz.progress import Progress
from ritz.request import Request
from ritz.rows import Rows
from ritz.threads import pinned

SAMPLE = 256  # rows that tell one set of data from another


@contextmanager
def watching(
    rows: Rows, request: Request, shown: bool, checkpoint: str | os.PathLike[str] | None = None
) -> Iterator[Watch]:
    """Someone who sees every pass of a fit. The checkpoint is written when it is interrupted, gone when it is done."""
    with ExitStack() as stack:
        progress = stack.enter_context(Progress()) if shown else None
        journal = None if checkpoint is None else Journal(checkpoint, owner(rows, request))
        if progress is not None:
            progress.say(repr(rows))
            if journal is not None and journal.found:
                progress.say(f"resumed after {journal.found}")
        try:
            yield UNWATCHED if progress is None and journal is None else Watch(progress, journal)
        except BaseException:
            if journal is not None:
                journal.write()
            raise
        if journal is not None:
            journal.remove()


def owner(rows: Rows, request: Request) -> str:
    """What a fit depends on: the rows, as far as a sample tells, the request, the version and the threads."""
    found = hashlib.sha256()
    for part in (__version__, rows, rows.names, request, pinned.budget(), np.__version__):
        found.update(repr(part).encode() + b"\0")
    sample = rows.sample(min(SAMPLE, rows.shape[0]))
    for array in [sample] if isinstance(sample, np.ndarray) else [sample.data, sample.indices, sample.indptr]:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()

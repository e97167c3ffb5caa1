"""Results of all rows: in one array, or block by block to where they should go."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from ritz.linalg.arrays import Home, on_host
from ritz.linalg.dense import Array
from ritz.rows import Rows
from ritz.rows.base import stack
from ritz.rows.write.tables import Out, Results, deliver


def stacked_or_delivered(
    results: Results, out: Out | None, sources: Sequence[str] = (), home: Home | None = None
) -> Array | None:
    """Results stacked, or one after another to where they should go; none of the files they come from is replaced.

    They are arrays of NumPy, or of the library and on the device of their `home`; in files they are numbers.
    """
    if out is None:
        found = stack(results.blocks, results.n)
        return found if home is None else home(found)
    if home is not None:
        results = replace(results, blocks=_each_of(home if callable(out) else on_host, results.blocks))
    deliver(results, out, sources)
    return None


def _each_of(f: Callable[[Any], Any], blocks: Generator[Any, None, None]) -> Generator[Any, None, None]:
    with closing(blocks):
        yield from map(f, blocks)


def files_of(X: Any, rows: Rows) -> list[str]:
    """The files that rows are read from, which no result may replace."""
    mapped = getattr(X, "filename", None) if isinstance(X, np.memmap) else None
    return rows.paths or ([str(mapped)] if mapped else [])

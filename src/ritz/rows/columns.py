"""Which columns of a file are decomposed, and what the reader should know about the others."""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterable
from typing import Any

import numpy as np

from ritz.errors import ColumnWarning
from ritz.rows.base import Rows, dense
from ritz.rows.chosen import choose
from ritz.rows.streamed import Streamed

COUNTED = 1024  # rows of a part that are looked at for their numbers
FEWEST = 8  # rows below which a column may count upwards by chance


def select(rows: Rows, columns: Iterable[Any] | None, label: Any, missing: str) -> Rows:
    """The columns asked for, or all that hold numbers; the label kept aside, missing values dealt with."""
    if isinstance(label, list | tuple):
        raise TypeError(f"label={label!r} must name one column, which is kept aside; leave others out with columns=")
    label = None if label is None else rows.resolved(label)
    announce_names(rows)
    if columns is None:
        _announce(rows, label)
    without = [] if label is None or rows.is_aside(label) else [label]
    chosen = choose(rows, columns, without, missing)
    return chosen if label is None else chosen.labelled(rows, label)


def announce_names(rows: Rows, aside: Container[Any] = ()) -> None:
    """Warn of columns that are called otherwise than in the file, but for those that nobody decomposes."""
    renamed = [pair for pair in rows.renamed if pair[1] not in rows.left_out and pair[1] not in aside]
    told = [f"{found!r} is now {name!r}" for found, name in renamed]
    if told:
        warnings.warn(f"column names repeat or are empty: {', '.join(told[:5])}", ColumnWarning, stacklevel=5)


def _announce(rows: Rows, label: Any) -> None:
    """Warn of columns that are not decomposed, and of one that should perhaps not be."""
    left_out = {name: what for name, what in rows.left_out.items() if name != label}
    if left_out:
        shown = ", ".join(f"{name!r} ({what})" for name, what in list(left_out.items())[:5])
        more = ", …" if len(left_out) > 5 else ""
        warnings.warn(f"columns left out: {shown}{more}; only numbers are decomposed", ColumnWarning, stacklevel=5)
    for j in row_numbers(rows.with_gaps()):
        if label not in (j, None if rows.names is None else rows.names[j]):
            warnings.warn(
                f"column {rows.name(j)} looks like a row number; if it is one, pass columns= without it, or label=",
                ColumnWarning,
                stacklevel=5,
            )


def row_numbers(rows: Rows) -> list[int]:
    """Columns of a table that count its rows."""
    if not isinstance(rows, Streamed) or not rows.tabular or rows.shape[0] < FEWEST:
        return []
    blocks = [(dense(rows.head(part, COUNTED)), int(rows.edges[part])) for part in rows.some_parts]
    offsets = np.concatenate([block - np.arange(at, at + len(block))[:, None] for block, at in blocks])
    return [int(j) for j in np.flatnonzero((offsets == offsets[0]).all(axis=0))]

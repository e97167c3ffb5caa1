"""Points in columns: rows become columns and columns become rows, with their names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import ColumnWarning
from ritz.rows.base import Rows
from ritz.rows.memory.computed import choose
from ritz.rows.select import EMPTY, find_id_columns, name_by_position
from ritz.runtime.memory import check_fits

NAME = "name"  # what the names of rows are called that were columns of the source


def transposed(source: Rows) -> Rows:
    """Columns as rows, with their names. What can only be read by rows is read into memory, if it fits."""
    from ritz.rows import as_rows

    apart = {key: why for key, why in find_id_columns(source).out.items() if why != EMPTY}
    kept = choose(name_by_position(source), None, list(apart), "error") if apart else source
    made = as_rows(kept.T if hasattr(kept, "T") else whole(kept).T)
    made.names, made.about, made.aside = _names_of_rows(source, apart), source.about, apart
    left_out = (f"column {key!r} ({why}) is not a sample, and was left out" for key, why in apart.items())
    made.remarks = (*source.remarks, *map(ColumnWarning, left_out))
    made.renamed = tuple(pair for pair in source.renamed if pair[1] not in {*source.left_out, *apart})
    names = kept.names or ()
    if names and all(isinstance(name, str) for name in names):  # numbers are positions, which name nothing
        made.put_beside([], (NAME, partial(first, names)))
    return made


def whole(rows: Rows) -> NDArray[Any]:
    """All rows in memory, if they fit."""
    n, d = rows.shape
    check_fits(rows.dtype.itemsize * n * d, f"{n} rows of {d} numbers, to be transposed,")
    return rows.map(lambda block: block.copy(), exact=False)


def first(values: Iterable[Any], count: int | None) -> NDArray[Any]:
    """The first so many of some values, or all of them."""
    return np.array(tuple(values)[:count], object)


def _names_of_rows(rows: Rows, apart: Iterable[Any] = ()) -> tuple[str, ...] | None:
    """What the source calls its rows, its first column of text, or one `apart`, if that tells them apart: genes."""
    text = next((key for key in (*rows.text_columns, rows.named_by, *apart) if key is not None), None)
    if text is None:
        return None
    names = tuple(map(str, rows.raw_cells([text])[text]))
    return names if len(set(names)) == len(names) else None

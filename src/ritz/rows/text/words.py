"""Texts of which no column needs to hold numbers: labels, names, whatever stands beside data. Small, and read whole.

A blank is no separator here, as it is for numbers: words have blanks inside.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import FILE, DataError
from ritz.rows.columns import unique_names
from ritz.rows.text.cells import is_missing, is_number
from ritz.rows.text.lines import unpacked
from ritz.rows.text.style import decoded

FEW = 4  # times that words of labels repeat, on average
SEPARATORS = "\t;,|"
NONE = "\x1f"  # stands for no separator; no text has that character


def columns_of_words(path: Path, n: int | None = None, known: Any = None) -> dict[Any, NDArray[Any]]:
    """The cells of all columns by name, or by place where there is no header; None where there is none.

    Where nothing else tells whether the first line is a header, the number of rows does: `n` is how many there should
    be. A line that holds the name `known` is one.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "labels.txt")
    >>> _ = path.write_text("setosa\\nversicolor\\n")
    >>> columns_of_words(path, 2), columns_of_words(path, 1)
    ({0: array(['setosa', 'versicolor'], dtype=object)}, {'setosa': array(['versicolor'], dtype=object)})
    """
    _, _, text = decoded(unpacked(path), FILE)
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise DataError(f"{FILE} holds no rows", file=path)
    separator = _separator(lines)
    try:
        table = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator, strict=True)]
    except csv.Error as error:
        raise DataError(f"{FILE} cannot be read as a table: {error}", file=path) from error
    width = len(table[0])
    wrong = next((i for i, row in enumerate(table) if len(row) != width), None)
    if wrong is not None:
        raise DataError(f"row {wrong + 1} of {FILE} has {len(table[wrong])} cells, not {width}", file=path)
    names, rows = (table[0], table[1:]) if _has_header(table, n, known) else (None, table)
    keys: tuple[Any, ...] = tuple(range(width)) if names is None else unique_names(names)
    cells = ([None if is_missing(row[j]) else row[j] for row in rows] for j in range(width))
    return {key: np.array(column, object) for key, column in zip(keys, cells, strict=True)}


def _separator(lines: list[str]) -> str:
    """The one that stands in all lines equally often, if any does."""
    for separator in SEPARATORS:
        counts = {len(row) for row in csv.reader(lines[:200], delimiter=separator)}
        if len(counts) == 1 and counts != {1}:
            return separator
    return next((mark for mark in SEPARATORS if sum(mark in line for line in lines[:200]) > len(lines[:200]) / 2), NONE)


def _has_header(table: list[list[str]], n: int | None, known: Any) -> bool:
    """Whether the first line holds names: by what it says, by the number of rows, or by what stands below."""
    if len(table) == 1:
        return False
    if known is not None and str(known) in table[0]:
        return True
    columns = list(zip(*table[1:], strict=True))
    pairs = list(zip(table[0], columns, strict=True))
    if any(all(map(is_number, below)) and not is_number(cell) and not is_missing(cell) for cell, below in pairs):
        return True
    if any(cell not in below and len(set(below)) <= len(below) // FEW for cell, below in pairs):
        return True  # words that repeat, but for the first: a name is a safer guess than a label of one row alone
    if n is not None and len(table) in (n, n + 1):
        return len(table) == n + 1
    return len(table[0]) > 1 and not any(map(is_number, table[0]))

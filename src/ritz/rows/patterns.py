"""Columns as they are typed: by name, by pattern, several between commas, or a range of places."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from ritz.errors import DataError
from ritz.rows.base import Rows
from ritz.rows.columns import shown

RANGE = re.compile(r"(\d+)-(\d+)")
WILD = re.compile(r"[*?\[]")
SHOWN, NEAR = 8, 3  # names in a message


def matching(names: Sequence[Any], asked: Iterable[Any]) -> list[Any]:
    """The columns that are meant, in the order in which they are asked for, each once.

    What is the name of a column means that column, whatever it consists of. Else commas separate several (quotes keep
    those of a name), `*`, `?` and `[…]` stand for letters as in a shell, and 3-10 for the columns from the third place
    to the tenth, counted from 0.

    Examples
    --------
    >>> names = ["x1", "x2", "y,z", "a*"]
    >>> matching(names, ["x*"]), matching(names, ["x2,a*"]), matching(names, ["y,z", "0-1"])
    (['x1', 'x2'], ['x2', 'a*'], ['y,z', 'x1', 'x2'])
    >>> matching(["glucose", "bmi"], ["glucos"])
    Traceback (most recent call last):
    ...
    ritz.errors.DataError: there is no column 'glucos' (did you mean 'glucose'?); there are 2: 'glucose', 'bmi'
    """
    known = dict.fromkeys(names)
    return list(dict.fromkeys(name for item in asked for name in _meant(item, known)))


def found_by(rows: Rows, asked: Iterable[Any]) -> list[Any]:
    """The same among the columns of rows; a number that is no name is a place.

    Examples
    --------
    >>> import pandas as pd
    >>> from ritz.rows import as_rows
    >>> found_by(as_rows(pd.DataFrame({"a": [1.0], "b1": [2.0], "b2": [3.0]})), ["b*", 0])
    ['b1', 'b2', 'a']
    """
    names = list(rows.names or range(rows.shape[1]))
    known = set(names)
    return matching(
        names, [key if key in known or isinstance(key, str) else names[rows.position(key)] for key in asked]
    )


def _meant(item: Any, known: dict[Any, None]) -> list[Any]:
    if item in known:
        return [item]
    text = str(item)
    if text.isdecimal() and int(text) in known:
        return [int(text)]
    pieces = [piece.strip() for piece in next(csv.reader([text], skipinitialspace=True), [])]
    if len(pieces) > 1 or pieces != [text]:
        return [name for piece in pieces if piece for name in _meant(piece, known)]
    names = list(known)
    if (ends := RANGE.fullmatch(text)) and int(ends[1]) <= int(ends[2]) < len(names):
        return names[int(ends[1]) : int(ends[2]) + 1]
    if WILD.search(text) and (found := [name for name in names if fnmatchcase(str(name), text)]):
        return found
    raise DataError(f"{_no_such(text, names)}; there are {len(names)}: {shown(names, SHOWN)}")


def _no_such(text: str, names: list[Any]) -> str:
    """What to say of a name that no column has, or of a pattern that none fits."""
    if WILD.search(text):
        return f"no column fits {text!r}"
    folded = {str(name).casefold(): name for name in reversed(names)}
    near = [folded[name] for name in get_close_matches(text.casefold(), folded, NEAR)]
    return f"there is no column {text!r}" + (f" (did you mean {shown(near)}?)" if near else "")

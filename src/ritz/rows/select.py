"""Which columns of a file are decomposed, and what the reader should know about the others.

Columns that hold numbers but measure nothing are found here: row numbers, identifiers, and columns without a value.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from copy import copy
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ritz.errors import ColumnWarning, DataError, warn
from ritz.rows.base import Rows, dense
from ritz.rows.columns import check_once, order_of
from ritz.rows.formats.streamed import Streamed
from ritz.rows.large_integers import LIMIT
from ritz.rows.memory.computed import choose

COUNTED = 1024  # rows of a part that are looked at
BYTES = 1 << 24  # of numbers of a part that are looked at
PARTS = 8  # of a file that are looked at; what has no more is looked at whole, where a column needs it
FEWEST = 8  # rows below which a column without a name may count upwards by chance
ROW_NUMBERS, IDENTIFIER, INDEXED, EMPTY = "row numbers", "identifies rows", "index of the table", "no value at all"
# What programs call a column that nobody named: pandas, then its index in a file, and Ritz.
NAMELESS = re.compile(r"(unnamed[:_ ]*\d*|level_\d+|__index_level_\d+__|)", re.IGNORECASE)
INDEX = re.compile(r"__index_level_\d+__")  # an index that nobody named, which pandas writes behind all columns
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|#|[^\W\d_]+")
# Any of these words in a name, or one of these names, says that numbers which are all different identify the rows.
IDENTIFIERS = {"id", "ids", "idx", "uid", "uuid", "guid", "pid", "rowid", "recid", "seqn"}
WHOLE_NAMES = {"index", "serial", "serial number", "serial no", "key", "pk", "row", "rowname", "rownames", "row names"}
LETTERS = {"s", "n"}  # these say it only beside others, as in S.No.
# A name made of these alone says that a column which counts the rows numbers them.
NUMBERING = {
    *LETTERS, "row", "rows", "rownum", "rownumber", "rowno", "rownr", "index", "no", "nr", "num", "number", "nummer",
    "numero", "serial", "seq", "sequence", "sno", "sn", "sl", "sr", "lfd", "lfdnr", "#", "obs", "observation", "case",
    "record", "sample", "subject", "patient", "participant", "respondent", "line", "entry", "item",
}  # fmt: skip
SHOWN = 5  # columns in a message


def select(rows: Rows, columns: Iterable[Any] | None, label: Any, missing: str) -> Rows:
    """The columns asked for, or all that measure something; the label kept aside, missing values dealt with."""
    if isinstance(label, list | tuple):
        raise TypeError(f"label={label!r} must name one column, which is kept aside; leave others out with columns=")
    label = None if label is None else rows.resolved(label)
    found = IdColumns() if columns is not None else find_id_columns(rows, (label, *_alias(rows, label)))
    announce_names(rows, found.out)
    if columns is None:
        _announce(rows, label, found)
    without = [] if label is None or rows.is_aside(label) else [label]
    chosen = choose(name_by_position(rows) if found.out else rows, columns, [*without, *found.out], missing)
    if found.out:
        chosen.aside = found.out
    return chosen if label is None else chosen.labelled(rows, label)


def select_for_model(rows: Rows, names: Iterable[str] | None, d: int, where: str) -> Rows:
    """The columns of opened rows that a model knows: by name where both have names, else as many as it has."""
    if names is not None and rows.names is not None and any(isinstance(name, str) for name in rows.names):
        wanted = list(map(str, names))
        check_names_once(rows, wanted)
        order_of(list(dict.fromkeys((*(rows.keys or rows.names), *rows.left_out, *rows.others))), wanted, where)
        return choose(rows, wanted, [], "error")
    if rows.shape[1] == d:
        return rows
    for fewest in (FEWEST, 1):  # few rows may count by chance, unless a model expects that a column is left out
        out = find_id_columns(rows, fewest=fewest).out
        if rows.shape[1] - len(out) == d:
            return choose(name_by_position(rows), None, list(out), "error")
    raise DataError(f"{where} has {rows.shape[1]} columns of numbers, but the model was learned from {d}")


def check_names_once(rows: Rows, known: Iterable[str]) -> None:
    """Refuse rows in which a column that a model knows has a namesake, unless that is left out."""
    there = set(rows.names or ())
    check_once(rows.names or (), known, (pair for pair in rows.renamed if pair[1] in there))


def name_by_position(rows: Rows) -> Rows:
    """Rows whose columns, if they have no names, are known by places that stay what they are when others go."""
    if rows.names is not None:
        return rows
    rows = copy(rows)
    rows.names = tuple(range(rows.shape[1]))
    return rows


def announce_names(rows: Rows, apart: Iterable[Any]) -> None:
    """Warn of a first line that may be something else, and of decomposed columns whose names the file does not have."""
    for remark in rows.remarks:
        warn(remark)
    unused = {*rows.left_out, *apart}
    told = [f"{found!r} is now {name!r}" for found, name in rows.renamed if name not in unused]
    if told:
        warn(ColumnWarning(f"column names repeat or are empty: {', '.join(told[:SHOWN])}"))


def announce_doubts(found: IdColumns) -> None:
    """Warn of columns that are decomposed and should perhaps not be."""
    for key, why in list(found.doubtful.items())[:SHOWN]:
        advice = "if it is not a measurement, pass columns= without it"
        warn(ColumnWarning(f"column {key!r} {why}; it is decomposed", advice, "doubtful_column"))


def _alias(rows: Rows, label: Any) -> tuple[Any, ...]:
    """What else a column of numbers may be called: its place, or its name."""
    names = rows.names or ()
    return (names[label],) if isinstance(label, int) and -len(names) <= label < len(names) else ()


def _announce(rows: Rows, label: Any, found: IdColumns) -> None:
    """Warn of columns that are not decomposed, and of those that should perhaps not be."""
    left_out = {name: what for name, what in {**rows.left_out, **found.out}.items() if name != label}
    if left_out:
        shown = ", ".join(f"{name!r} ({what})" for name, what in list(left_out.items())[:SHOWN])
        more = ", …" if len(left_out) > SHOWN else ""
        advice = "; name them in columns= to include them" if found.out else ""
        warn(ColumnWarning(f"columns left out: {shown}{more}; only numbers are decomposed{advice}"))
    announce_doubts(found)


class Named(Enum):
    """What the name of a column says about it."""

    NO_HEADER = auto()
    NOTHING = auto()  # there is a header, but no name in it
    IDENTIFIER = auto()
    NUMBERING = auto()
    OTHERWISE = auto()


@dataclass(frozen=True)
class IdColumns:
    """Columns that are not decomposed unless they are asked for, and why; and those that perhaps should not be."""

    out: dict[Any, str] = field(default_factory=dict)
    doubtful: dict[Any, str] = field(default_factory=dict)


def find_id_columns(rows: Rows, spared: Container[Any] = (), fewest: int = FEWEST) -> IdColumns:
    """The one rule for all files, by name and contents. Nothing is left out if nothing else would be left.

    The index of a table that pandas wrote is left out. A column that numbers the rows is left out if it has no name, or
    one that says so, such as index, row or no.; so is one of whole numbers, all different, whose name says that it
    identifies them, such as id. A column with any other name that happens to count, such as the year or the time, is
    decomposed.
    """
    found = IdColumns()
    if not isinstance(rows, Streamed) or not rows.tabular or rows.vectors or rows.shape[0] < 2:
        return found  # a matrix is all of one kind
    keys = range(rows.shape[1]) if rows.names is None else rows.names
    looked = [j for j, key in enumerate(keys) if key not in spared]  # the others may hold anything
    if not looked:
        return found
    some = rows if len(looked) == len(keys) else cast(Streamed, rows.some(np.array(looked)))
    blocks = _looked_at(cast(Streamed, some.with_gaps()))
    indices = [i for i, j in enumerate(looked) if keys[j] in rows.index or INDEX.fullmatch(str(keys[j]))]
    for i in sorted({*_striking(blocks), *indices}):
        key = keys[looked[i]]
        columns = [(block[:, i], at) for block, at in blocks]
        if why := _why(rows, key, columns, fewest):
            found.out[key] = why
        elif doubt := _doubt(rows, key, columns):
            found.doubtful[key] = doubt
    for key, why in _numbered_in_each(rows, spared, fewest).items():
        found.out[key] = why
        found.doubtful.pop(key, None)
    return IdColumns() if len(found.out) == rows.shape[1] else found


def _numbered_in_each(rows: Streamed, spared: Container[Any], fewest: int) -> dict[Any, str]:
    """Columns of many files that number or identify the rows of each of them, from anew in every file."""
    first, *others = [find_id_columns(file, spared, fewest).out for file in rows.some_files] or [{}]
    return {key: why for key, why in first.items() if all(key in other for other in others)}


def _looked_at(rows: Streamed) -> list[tuple[NDArray[Any], int]]:
    """Some rows from all over a file, in blocks, and where they begin."""
    count = max(2, min(COUNTED, BYTES // (8 * rows.shape[1])))
    parts = np.unique(np.linspace(0, len(rows.edges) - 2, PARTS).astype(int))
    return [(dense(rows.head(int(part), count)), int(rows.edges[part])) for part in parts]


def _striking(blocks: list[tuple[NDArray[Any], int]]) -> list[int]:
    """Columns of nothing, or of whole numbers, that are worth a second look."""
    with np.errstate(invalid="ignore"):
        odd = [np.isnan(block) | (np.floor(block) == block) for block, _ in blocks]
    return [int(j) for j in np.flatnonzero(np.all([part.all(axis=0) for part in odd], axis=0))]


def _why(rows: Streamed, key: Any, columns: list[tuple[NDArray[Any], int]], fewest: int) -> str:
    """Why a column is left out, if it is: by what was looked at, and then by all of it."""
    why = _judged(rows, key, columns, fewest)
    seen = sum(len(values) for values, _ in columns)
    few = len(rows.edges) - 1 <= PARTS or why == EMPTY
    if not why or seen >= rows.shape[0] or not few:
        return why
    return _judged(rows, key, [(np.asarray(rows.with_gaps().column(key), float), 0)], fewest)


def _judged(rows: Streamed, key: Any, columns: list[tuple[NDArray[Any], int]], fewest: int) -> str:
    values = np.concatenate([values for values, _ in columns])
    there = values[~np.isnan(values)]
    if len(there) < 2:
        return "" if len(there) else EMPTY
    named, counts = _kind_of_name(rows, key), _counts(columns)
    enough, begins = rows.shape[0] >= fewest, values[0] in (0, 1)
    if named is Named.NO_HEADER:
        return ROW_NUMBERS if counts and begins and enough else ""
    if INDEX.fullmatch(str(key)):
        return ROW_NUMBERS
    if key in rows.index:
        return INDEXED
    if named is Named.NOTHING:
        leading = rows.keys is None or key == rows.keys[0]
        certain = enough or (leading and begins)
        return ROW_NUMBERS if certain and (counts or (leading and _all_different(there))) else ""
    if named is Named.NUMBERING:
        return ROW_NUMBERS if counts and (enough or begins) else ""
    if named is Named.OTHERWISE:
        return ""
    return ROW_NUMBERS if counts else IDENTIFIER if _all_different(there) else ""


def _doubt(rows: Streamed, key: Any, columns: list[tuple[NDArray[Any], int]]) -> str:
    """What the reader should know of a column that is decomposed."""
    values = np.concatenate([values for values, _ in columns])
    if _kind_of_name(rows, key) is Named.IDENTIFIER and _whole(values):
        return "has the name of an identifier, but its values repeat"
    return "counts the rows" if rows.shape[0] >= FEWEST and _counts(columns) else ""


def _kind_of_name(rows: Streamed, key: Any) -> Named:
    if not isinstance(key, str):
        return Named.NO_HEADER
    if NAMELESS.fullmatch(key) or ("", key) in rows.renamed:
        return Named.NOTHING
    words = [word.lower() for word in WORD.findall(key)]
    if any(word in IDENTIFIERS for word in words) or " ".join(words) in WHOLE_NAMES:
        return Named.IDENTIFIER
    return Named.NUMBERING if set(words) <= NUMBERING and set(words) - LETTERS else Named.OTHERWISE


def _counts(columns: list[tuple[NDArray[Any], int]]) -> bool:
    """Whether a column goes up by one from row to row."""
    offsets = np.concatenate([values - np.arange(at, at + len(values)) for values, at in columns])
    return bool((offsets == offsets[0]).all()) and float(offsets[0]).is_integer()


def _whole(values: NDArray[Any]) -> bool:
    there = values[~np.isnan(values)]
    return len(there) > 0 and bool((np.isfinite(there) & (np.floor(there) == there)).all())


def _all_different(there: NDArray[Any]) -> bool:
    """Whether whole numbers are all different, as far as they can be told apart."""
    return _whole(there) and (len(np.unique(there)) == len(there) or float(np.abs(there).max()) >= LIMIT)

"""Which columns of a file are decomposed, and what the reader should know about the others."""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterable
from copy import copy
from typing import Any

from ritz.errors import ColumnWarning, DataError
from ritz.rows.base import Rows
from ritz.rows.columns import check_once, order_of
from ritz.rows.id_columns import FEWEST, IdColumns, find_id_columns
from ritz.rows.memory.subset import choose

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


def announce_names(rows: Rows, apart: Container[Any] = ()) -> None:
    """Warn of a first line that may be something else, and of columns that are called otherwise than in the file.

    Those that nobody decomposes do not matter.
    """
    for remark in rows.remarks:
        warnings.warn(remark, stacklevel=5)
    renamed = [pair for pair in rows.renamed if pair[1] not in rows.left_out and pair[1] not in apart]
    told = [f"{found!r} is now {name!r}" for found, name in renamed]
    if told:
        warnings.warn(f"column names repeat or are empty: {', '.join(told[:SHOWN])}", ColumnWarning, stacklevel=5)


def announce_doubts(found: IdColumns) -> None:
    """Warn of columns that are decomposed and should perhaps not be."""
    for key, why in list(found.doubtful.items())[:SHOWN]:
        advice = "if it is not a measurement, pass columns= without it"
        warnings.warn(ColumnWarning(f"column {key!r} {why}; it is decomposed", advice, "doubtful column"), stacklevel=5)


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
        text = f"columns left out: {shown}{more}; only numbers are decomposed{advice}"
        warnings.warn(text, ColumnWarning, stacklevel=5)
    announce_doubts(found)

"""How a file should be read, and what its columns are for: numbers, names of the rows, labels, or nothing."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.errors import ColumnWarning, DataError
from ritz.rows import Rows
from ritz.rows.patterns import matching
from ritz.rows.select import EMPTY, IDENTIFIER, IdColumns, find_id_columns

PEEKED = 10_000  # cells of a column that tell what it is
CLASSES = 20  # kinds of labels that tell rows apart at a glance
NOT_ASKED = "not among --columns"
LONGEST = 80  # letters of an identifier or a label; longer ones are texts


@dataclass(frozen=True)
class Reading:
    """How the user wants a file to be read."""

    label: str | None = None
    identifier: str | None = None  # of the fit; it need not be there
    labels: str | None = None  # a file that holds them, and perhaps the column
    columns: tuple[str, ...] = ()  # the only ones that are decomposed, if any are named
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    transpose: bool = False
    na: tuple[tuple[float, tuple[str, ...] | None], ...] = ()  # values that say that there is none, and where
    missing: str = "error"
    diff: bool = False  # whether differences of consecutive rows are decomposed
    drop_constant: bool = False
    header: bool | None = None
    image: tuple[int, ...] | None = None  # whose pixels the columns are
    size: tuple[int, int] | None = None  # that pictures are resized to
    grey: bool | None = None  # whether they are read as grey ones
    known: bool = False  # by a model, which needs its columns


@dataclass(frozen=True)
class Asked:
    """How the user wants a file to be read that a model is used on; None is as the file of the fit was."""

    label: str | None = None
    labels: str | None = None
    missing: str | None = None
    header: bool | None = None
    transpose: bool | None = None
    size: tuple[int, int] | None = None
    grey: bool | None = None


class Roles(NamedTuple):
    """What columns are for, other than to be decomposed."""

    identifier: Any  # names the rows
    label: Any  # tells kinds of rows apart
    out: Mapping[Any, str]  # all that are not decomposed, and why
    apart: IdColumns  # of which some hold numbers that measure nothing


def roles_of(raw: Rows, reading: Reading) -> Roles:
    """As asked for, or else as names and cells tell."""
    dropped = dict.fromkeys(known_columns(raw, reading.drop), "asked for")
    label, keep = _asked_label(raw, reading, dropped), known_columns(raw, reading.keep)
    wanted = _wanted(raw, reading)
    keep += wanted or []
    raw.positions(keep)  # one that holds no numbers is an error, as it is for `columns` of `read`
    spared = {*keep, *dropped, label}
    peeked = raw.peek([key for key in raw.left_out if key not in dropped], PEEKED)
    peeked |= {} if label is not None else _annotations(raw, dropped)
    apart = find_id_columns(raw, spared)
    numbered = [key for key, why in apart.out.items() if why != EMPTY]
    identifier = _identifier(peeked, numbered, label) if raw.named_by in (None, *dropped) else raw.named_by
    if reading.identifier in {*(raw.keys or raw.names or ()), *raw.left_out, *raw.others} - spared:
        identifier = reading.identifier
    label = label if label is not None or reading.labels is not None else _label(peeked, identifier)
    why = {key: why + "; --keep includes it" * (why != EMPTY) for key, why in apart.out.items()}
    doubtful = _nearly_numbers(raw, reading, identifier, label)
    out = {identifier: IDENTIFIER, label: "label", **doubtful, **why, **dropped}
    out.pop(None, None)
    if wanted is not None:
        others = (key for key in raw.names or () if key not in {*wanted, *out})
        out |= dict.fromkeys(others, NOT_ASKED)
    return Roles(identifier, label, out, apart)


def _wanted(raw: Rows, reading: Reading) -> list[Any] | None:
    """The columns that the user names as the only ones; None for all. Patterns mean those that hold numbers."""
    if not reading.columns:
        return None
    literal = {*raw.left_out, *raw.others} & set(reading.columns)
    found = [key for key in known_columns(raw, reading.columns) if not raw.is_aside(key) or key in literal]
    if not found:
        raise DataError(f"no column that --columns {','.join(reading.columns)} names holds numbers")
    return found


def _asked_label(raw: Rows, reading: Reading, dropped: Mapping[Any, str]) -> Any:
    """The label that the user names, or else that of the file; None for none."""
    label = next(iter(known_columns(raw, [] if reading.label is None else [reading.label])), None)
    return raw.labelled_by if label is None and raw.labelled_by not in dropped else label


def known_columns(rows: Rows, asked: Iterable[str]) -> list[Any]:
    """Columns as the source calls them, by name or pattern; those without a name are known by their position."""
    return matching((*rows.others, *(rows.keys or rows.names or range(rows.shape[1])), *rows.left_out), asked)


def _nearly_numbers(raw: Rows, reading: Reading, identifier: Any, label: Any) -> dict[Any, str]:
    """Columns of text with a role that nobody asked for, which may be meant to hold numbers, and why they are text."""
    roles = {identifier: (IDENTIFIER, reading.identifier), label: ("label", reading.label)}
    unasked = {key: role for key, (role, asked) in roles.items() if asked is None}
    return {key: f"{role}; {raw.mixed[key]}" for key, role in unasked.items() if key in raw.mixed}


def _identifier(peeked: Mapping[Any, NDArray[Any]], numbered: list[Any], label: Any) -> Any:
    """The first column of short texts, no two the same; else one that numbers the rows."""
    for key, values in peeked.items():
        if key != label and _short(values) and len(set(values.tolist())) == len(values) > 1:
            return key
    return numbered[0] if numbered else None


def _annotations(raw: Rows, dropped: Iterable[Any]) -> dict[Any, NDArray[Any]]:
    """The beginnings of the columns of words beside a matrix: their numbers are measurements more often than kinds."""
    found: dict[Any, NDArray[Any]] = {}
    for key in raw.others:
        if key not in (*dropped, raw.named_by):
            try:
                values = raw.peek([key], PEEKED)[key]
            except DataError as error:  # nobody asked for it
                warnings.warn(f"column {key!r} cannot be a label: {error}", ColumnWarning, stacklevel=2)
                continue
            found |= {key: values} if all(isinstance(value, str | None) for value in values) else {}
    return found


def _label(peeked: Mapping[Any, NDArray[Any]], identifier: Any) -> Any:
    """The first column of few short texts, each of which stands in several rows."""
    for key, values in peeked.items():
        if key != identifier and _short(values) and 2 <= len(set(values.tolist())) <= min(CLASSES, len(values) // 2):
            return key
    return None


def _short(values: NDArray[Any]) -> bool:
    return all(not isinstance(value, list | dict | np.ndarray) and len(str(value)) <= LONGEST for value in values)

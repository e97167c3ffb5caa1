"""A file, or standard input, as rows to be decomposed, and as what stands beside them: identifiers and labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.cli.paths import bytes_of, title
from ritz.cli.screen import Screen
from ritz.errors import ColumnWarning, DataError
from ritz.linalg.dense import Array
from ritz.pca.from_rows import held
from ritz.rows import Rows
from ritz.rows.base import dense
from ritz.rows.columns import shown
from ritz.rows.formats.read import TEXTS, ending_of, suffix_of
from ritz.rows.memory.computed import choose
from ritz.rows.profile import Profile
from ritz.rows.select import EMPTY, IDENTIFIER, announce_doubts, announce_names, find_id_columns, name_by_position
from ritz.rows.write.columns import numbers_from_text
from ritz.runtime.memory import PHYSICAL, format_bytes
from ritz.runtime.wording import visible

HELD = 0.25  # of the memory, that numbers from a file may take to be parsed only once
PEEKED = 10_000  # cells of a column that tell what it is
CLASSES = 20  # kinds of labels that tell rows apart at a glance
LONGEST = 80  # letters of an identifier or a label; longer ones are texts
DEFAULT = 10  # components, unless there are fewer
APART = 10.0  # times that deviations of columns may differ before one dominates the first component
SHOWN = 10  # columns that are left out, on the screen
LEFT_OUT = "rows left out"  # of which a fact may tell


@dataclass(frozen=True)
class Reading:
    """How the user wants a file to be read."""

    label: str | None = None
    identifier: str | None = None  # of the fit; it need not be there
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    transpose: bool = False
    missing: str = "error"
    drop_constant: bool = False
    header: bool | None = None
    image: tuple[int, ...] | None = None  # whose pixels the columns are
    size: tuple[int, int] | None = None  # that pictures are resized to
    grey: bool | None = None  # whether they are read as grey ones
    known: bool = False  # by a model, which needs its columns


@dataclass(frozen=True)
class Input:
    """Rows, and what a command says and writes beside them.

    Attributes
    ----------
    name, size : of the file, for people
    rows : the numbers
    source : the file as it was opened, None for a bundled data set
    identifier : the column that names the rows
    carried : columns of the source that stand beside the scores
    given : the same, of a bundled data set
    label : which of them tells the rows apart in the report
    left_out : columns that are not decomposed, and why
    facts : what was found out about the file, a term and a description each
    text : whether it is text, so that scores should be too
    ending : of the name of another file like it
    demo : which bundled data set it is
    """

    name: str
    rows: Rows
    source: Rows | None = None
    identifier: Any = None
    carried: tuple[Any, ...] = ()
    given: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    label: str | None = None
    left_out: Mapping[Any, str] = field(default_factory=dict)
    facts: tuple[tuple[str, str], ...] = ()
    text: bool = False
    size: str = ""
    ending: str = ".parquet"
    demo: str | None = None

    def __str__(self) -> str:
        return f"{self.name} ({self.size})" if self.size else self.name

    def beside(self, every: bool = False) -> dict[str, NDArray[Any]]:
        """The columns that are carried along, of the rows that are kept, or of `every` one of the source.

        They are read when they are asked for, then whole.
        """
        found = dict(self.given)
        if self.source is not None and self.carried:
            cells = self.source.raw_cells(self.carried)
            found |= {str(key): numbers_from_text(values) for key, values in cells.items()}
        kept = None if every else self.rows.kept
        return found if kept is None else {key: values[kept] for key, values in found.items()}


def chosen(raw: Rows, path: Path, name: str, reading: Reading) -> Input:
    """The columns of a file that are decomposed, those that are carried along, and those that are left out."""
    raw = name_by_position(raw)
    label = next(iter(known_columns(raw, [] if reading.label is None else [reading.label])), None)
    dropped = dict.fromkeys(known_columns(raw, reading.drop), "asked for")
    label = raw.labelled_by if label is None and raw.labelled_by not in dropped else label
    keep = known_columns(raw, reading.keep)
    raw.positions(keep)  # one that holds no numbers is an error, as it is for `columns` of `read`
    spared = {*keep, *dropped, label}
    peeked = raw.peek([key for key in raw.left_out if key not in dropped], PEEKED)
    peeked |= {} if label is not None else _annotations(raw, dropped)
    apart = find_id_columns(raw, spared)
    numbered = [key for key, why in apart.out.items() if why != EMPTY]
    identifier = _identifier(peeked, numbered, label) if raw.named_by in (None, *dropped) else raw.named_by
    if reading.identifier in {*(raw.keys or raw.names or ()), *raw.left_out, *raw.others} - spared:
        identifier = reading.identifier
    label = label if label is not None else _label(peeked, identifier)
    why = {key: why + "; --keep includes it" * (why != EMPTY) for key, why in apart.out.items()}
    doubtful = _nearly_numbers(raw, reading, identifier, label)
    roles = {identifier: IDENTIFIER, label: "label", **doubtful, **why, **dropped}
    roles.pop(None, None)
    rows = choose(raw, None, [key for key in roles if not raw.is_aside(key)], "error")
    announce_names(raw, roles)
    if not reading.known:
        announce_doubts(apart)
    return Input(
        title(name, path),
        rows,
        raw,
        identifier,
        tuple(dict.fromkeys(key for key in (identifier, label) if key is not None)),
        label=None if label is None else str(label),
        left_out={**raw.left_out, **roles},
        facts=(("read as", raw.about),) if raw.about else (),
        text=suffix_of(path) in TEXTS,
        size=format_bytes(bytes_of(path)),
        ending=ending_of(path),
    )


def _nearly_numbers(raw: Rows, reading: Reading, identifier: Any, label: Any) -> dict[Any, str]:
    """Columns of text with a role that nobody asked for, which may be meant to hold numbers, and why they are text."""
    roles = {identifier: (IDENTIFIER, reading.identifier), label: ("label", reading.label)}
    unasked = {key: role for key, (role, asked) in roles.items() if asked is None}
    return {key: f"{role}; {raw.mixed[key]}" for key, role in unasked.items() if key in raw.mixed}


def completed(found: Input, reading: Reading, limit: int | None) -> Input:
    """The input with its numbers in memory where they fit, gaps dealt with, and constant columns left out if asked."""
    rows = found.rows if reading.missing == "error" else found.rows.with_gaps()
    rows = held(rows) if worth_holding(rows, limit) else rows
    if Profile.of(rows.with_gaps()).empty:
        low, high = extremes(rows.with_gaps())
        found, rows = _without(found, rows, low > high, EMPTY)
    complete = choose(rows, None, [], reading.missing)
    if reading.drop_constant:  # of the rows that are left
        low, high = extremes(complete.with_gaps())
        found, rows = _without(found, rows, low == high, "constant")
        complete = choose(rows, None, [], reading.missing)
    return without_gaps(found, complete)


def _without(found: Input, rows: Rows, which: NDArray[np.bool_], why: str) -> tuple[Input, Rows]:
    """The input and its rows without some columns."""
    names = [name_of(rows, int(j)) for j in np.flatnonzero(which)]
    found = replace(found, left_out={**found.left_out, **dict.fromkeys(names, why)})
    return found, choose(rows, None, names, "error")


def without_gaps(found: Input, rows: Rows) -> Input:
    """The input with the rows that are left, and a word about those that are not."""
    gone, facts = found.rows.shape[0] - rows.shape[0], found.facts
    if gone:
        facts = (*facts, (LEFT_OUT, f"{gone} of {found.rows.shape[0]}, because of missing values"))
    if rows.n_filled:
        facts = (*facts, ("cells filled", f"{rows.n_filled}, with the mean of their column"))
    return replace(found, rows=rows.watched(found.rows.watch), facts=facts)


def worth_holding(rows: Rows, limit: int | None = None) -> bool:
    """Whether rows should be read into memory: to parse them again costs more than all else."""
    most = HELD * PHYSICAL if limit is None else limit / 2
    return not rows.in_memory and rows.dtype.itemsize * rows.shape[0] * rows.shape[1] <= most


def extremes(rows: Rows) -> tuple[Array, Array]:
    """The least and the largest value of every column, gaps aside; of one without values, the least is above."""

    def ends(blocks: Iterable[Any]) -> Any:
        low, high = np.full(rows.shape[1], np.inf), np.full(rows.shape[1], -np.inf)
        for block in map(dense, blocks):
            low, high = np.fmin(low, np.fmin.reduce(block)), np.fmax(high, np.fmax.reduce(block))
        return low, high

    return rows.reduce(ends, lambda a, b: (np.fmin(a[0], b[0]), np.fmax(a[1], b[1])))


def known_columns(rows: Rows, asked: Iterable[str]) -> list[Any]:
    """Columns as the source calls them; those without a name are known by their position."""
    names = dict.fromkeys((*rows.others, *(rows.keys or rows.names or range(rows.shape[1])), *rows.left_out))
    found = [key if key in names else int(key) if key.isdecimal() else key for key in asked]
    for key, name in zip(asked, found, strict=True):
        if name not in names:
            raise DataError(f"there is no column {key!r}; there are {len(names)}: {shown(list(names), 8)}")
    return found


def name_of(rows: Rows, j: int) -> Any:
    """What a column is called, its position where it has no name."""
    return j if rows.names is None else rows.names[j]


def say_what_it_is(found: Input, screen: Screen) -> None:
    """How it was read, and which columns are not decomposed."""
    for term, text in found.facts:
        screen.say(f"  {term}: {visible(text)}")
    for key, why in list(found.left_out.items())[:SHOWN]:
        screen.say(f"  not decomposed: {visible(key)} ({visible(why)})")
    if len(found.left_out) > SHOWN:
        screen.say(f"  … and {len(found.left_out) - SHOWN} more columns")


def default_count(asked: int | float | str | None, rows: Rows) -> int | float | str:
    """How many components: as asked, or a number that a person can take in."""
    return max(1, min(DEFAULT, rows.shape[0] - 1, rows.shape[1])) if asked is None else asked


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

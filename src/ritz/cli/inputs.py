"""A file, or standard input, as rows to be decomposed, and as what stands beside them: identifiers and labels."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.memory import available, format_bytes
from ritz.rows import Rows
from ritz.rows.array import Array
from ritz.rows.chosen import choose
from ritz.rows.columns import row_numbers
from ritz.rows.files import TEXTS, suffix_of

PIPE = "-"
HELD = 0.3  # of the free memory, that numbers from a file may take to be parsed only once
PEEKED = 1000  # cells of a column that tell what it is
CLASSES = 20  # kinds of labels that tell rows apart at a glance
ROW_NUMBERS = "row numbers; --keep takes it in"
LONGEST = 80  # letters of an identifier or a label; longer ones are texts


@dataclass(frozen=True)
class Reading:
    """How the user wants a file to be read."""

    label: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    transpose: bool = False
    missing: str = "error"
    drop_constant: bool = False


@dataclass(frozen=True)
class Table:
    """Rows, and what a command says and writes beside them.

    Attributes
    ----------
    name : of the file, for people
    rows : the numbers
    beside : columns that are carried along, whole
    label : which of them tells the rows apart in the report
    left_out : columns that are not decomposed, and why
    facts : what was found out about the file, a term and a description each
    text : whether it is text, so that scores should be too
    size : of the file, in words
    """

    name: str
    rows: Rows
    beside: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    label: str | None = None
    left_out: Mapping[Any, str] = field(default_factory=dict)
    facts: tuple[tuple[str, str], ...] = ()
    text: bool = False
    size: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.size})" if self.size else self.name


@contextmanager
def located(name: str) -> Iterator[Path]:
    """The file of that name; for - whatever comes through the pipe, until it is no longer needed."""
    if name == PIPE and sys.stdin.isatty():
        raise FileNotFoundError("nothing is piped into standard input; give the name of a file")
    if name != PIPE:
        path = Path(name)
        if not path.exists():
            raise FileNotFoundError(f"there is no file {name!r}")
        yield path
        return
    from ritz.rows.piped import spooled

    with tempfile.TemporaryDirectory(prefix="ritz-") as folder:
        yield spooled(sys.stdin.buffer, Path(folder))


def title(name: str, path: Path) -> str:
    """How people call the input."""
    return "standard input" if name == PIPE else path.name


def size_of(path: Path) -> str:
    """Its size, in words."""
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    return format_bytes(sum(file.stat().st_size for file in files))


def is_text(path: Path) -> bool:
    """Whether scores should be text because the input is."""
    return suffix_of(path) in TEXTS


def chosen(raw: Rows, path: Path, name: str, reading: Reading) -> Table:
    """The columns of a file that are decomposed, those that are carried along, and those that are left out."""
    label = None if reading.label is None else known_column(raw, reading.label)
    dropped = {known_column(raw, key): "asked for" for key in reading.drop}
    kept = {known_column(raw, key) for key in reading.keep}
    texts = [key for key in raw.left_out if key not in dropped]
    peeked = {key: np.asarray(values) for key, values in raw.peek(texts, PEEKED).items()}
    numbered = [key for j in row_numbers(raw) if (key := name_of(raw, j)) not in kept | {label} | set(dropped)]
    identifier = _identifier(peeked, numbered, label)
    label = label if label is not None else _label(peeked, identifier)
    left_out = dict(raw.left_out) | dict.fromkeys(numbered, ROW_NUMBERS) | dropped
    rows = choose(raw, None, [key for key in (*numbered, *dropped, label) if _is_numeric(raw, key)], "error")
    beside = [key for key in dict.fromkeys((identifier, label)) if key is not None]
    roles = ((identifier, "identifies rows" if identifier not in numbered else ROW_NUMBERS), (label, "label"))
    left_out.update({key: role for key, role in roles if key is not None})
    facts = (("read as", raw.about),) if raw.about else ()
    table = Table(title(name, path), rows, size=size_of(path), left_out=left_out, text=is_text(path), facts=facts)
    cells = {str(key): tidy(values) for key, values in raw.cells(beside).items()}
    return replace(table, beside=cells, label=None if label is None else str(label))


def completed(table: Table, reading: Reading, limit: int | None = None) -> Table:
    """The table with its numbers in memory where they fit, gaps dealt with, and constant columns left out if asked."""
    watch, rows = table.rows.watch, held(table.rows, limit)
    if reading.drop_constant:
        constant = constant_columns(rows)
        names = {name_of(rows, j): "constant" for j in constant}
        rows = choose(rows, None, list(map(int, constant)), "error") if len(constant) else rows
        table = replace(table, left_out={**table.left_out, **names})
    rows = choose(rows, None, [], reading.missing)
    gone = table.rows.shape[0] - rows.shape[0]
    if gone:
        said = ("rows left out", f"{gone} of {table.rows.shape[0]}, for want of a value")
        beside = {key: values[rows.kept] for key, values in table.beside.items()}
        table = replace(table, beside=beside, facts=(*table.facts, said))
    return replace(table, rows=rows.watched(watch))


def held(rows: Rows, limit: int | None = None) -> Rows:
    """The same rows in memory, where they fit: to parse them again costs more than all else."""
    n, d = rows.shape
    most = HELD * available() if limit is None else limit / 2
    if rows.in_memory or rows.dtype.itemsize * n * d > most:
        return rows
    array = Array(rows.map(np.array), rows.names)
    array.origin = rows.origin
    return array


def constant_columns(rows: Rows) -> NDArray[np.intp]:
    """Columns whose values are all the same; gaps aside."""

    def ends(blocks: Iterable[Any]) -> Any:
        with np.errstate(invalid="ignore"):
            return np.array([(np.fmin.reduce(block), np.fmax.reduce(block)) for block in blocks])

    def both(a: Any, b: Any) -> Any:
        return np.concatenate([a, b])

    found = rows.reduce(ends, both)
    return np.flatnonzero(np.fmin.reduce(found[:, 0]) == np.fmax.reduce(found[:, 1]))


def known_column(rows: Rows, key: str) -> Any:
    """A column as the source calls it; one without a name is known by its position."""
    names = list(rows.keys or rows.names or ()) + list(rows.left_out)
    if key in names:
        return key
    if key.isdigit() and (int(key) in names or (not names and int(key) < rows.shape[1])):
        return int(key)
    shown = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
    raise DataError(f"there is no column {key!r}; there are {len(names) or rows.shape[1]}" + f": {shown}" * bool(names))


def name_of(rows: Rows, j: int) -> Any:
    """What a column is called, its position where it has no name."""
    return j if rows.names is None else rows.names[j]


def tidy(values: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers that were read as others, as what they are."""
    if values.dtype.kind == "f" and np.isfinite(values).all() and (np.abs(values) < 2**53).all():
        whole = values.astype(np.int64)
        return whole if (whole == values).all() else values
    return values


def _is_numeric(rows: Rows, key: Any) -> bool:
    return key is not None and key not in rows.left_out


def _identifier(peeked: Mapping[Any, NDArray[Any]], numbered: list[Any], label: Any) -> Any:
    """The first column of short texts, no two the same; else one that numbers the rows."""
    for key, values in peeked.items():
        if key != label and _short(values) and len(set(values.tolist())) == len(values) > 1:
            return key
    return numbered[0] if numbered else None


def _label(peeked: Mapping[Any, NDArray[Any]], identifier: Any) -> Any:
    """The first column of few short texts, each of which stands in several rows."""
    for key, values in peeked.items():
        kinds = len(set(values.tolist()))
        if key != identifier and _short(values) and 2 <= kinds <= min(CLASSES, len(values) // 2):
            return key
    return None


def _short(values: NDArray[Any]) -> bool:
    return all(np.ndim(value) == 0 and len(str(value)) <= LONGEST for value in values)

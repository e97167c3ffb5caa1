"""Cells of text as numbers, or as text: what pyarrow makes of a part of a table.

Columns are parsed where they are long, or few of them are wanted: every one has a price of its own. In a part of few
rows every cell is parsed as a line of its own: separators are turned into line ends, and one column of numbers comes
out, row after row.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from ritz.rows.base import Block
from ritz.rows.text.cells import FALSE, MISSING, TRUE, Kind, is_missing
from ritz.rows.text.dialect import Dialect
from ritz.rows.text.lines import QUOTE
from ritz.rows.text.style import LINES

ZERO, NEWLINE = b"0"[0], b"\n"[0]
BLANKS = re.compile(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)")
RUNS = re.compile(rb'("[^"]*")|[ \t]+')
ANY = re.compile(rb"[ \t]+")
UNUSED = "\x1f"  # a character that no cell holds, for columns of cells
WHOLE = 1 << 30  # bytes that pyarrow may take for one block: all of a part
FEW = 0.25  # share of the columns below which the others are better passed over than parsed
LONG = 1000  # rows from which columns are worth their price


class Ragged(Exception):
    """A row has more or fewer cells than the table."""


def squeezed(text: bytes, quotes: bool) -> bytes:
    """The text with one blank where there was a run of them, and none around lines; those in `quotes` stay."""
    once = RUNS.sub(lambda run: run.group(1) or b" ", text) if quotes else ANY.sub(b" ", text)
    return BLANKS.sub(b"", once)


def numbers(text: bytes, dialect: Dialect, columns: list[int]) -> Block:
    """Some columns of a text without blank lines, NaN where nothing is; raises Ragged, or what pyarrow raises."""
    truths = [j for j in columns if dialect.columns[j].kind is Kind.TRUTHS]
    if not truths:
        return _digits(text, dialect, columns)
    found = dict(zip(truths, _truths(text, dialect, truths), strict=True))
    digits = [j for j in columns if j not in found]
    found |= dict(zip(digits, _digits(text, dialect, digits).T, strict=True)) if digits else {}
    return np.stack([found[j] for j in columns], axis=1)


def _truths(text: bytes, dialect: Dialect, columns: list[int]) -> list[NDArray[np.float64]]:
    """Columns that say true or false, as 1 and 0."""
    import pyarrow.compute as pc

    known = dict.fromkeys(MISSING, np.nan) | dict.fromkeys(FALSE, 0.0) | dict.fromkeys(TRUE, 1.0)
    found = []
    for column in _table(text, dialect, columns, pa.binary()).columns:
        cells = pc.utf8_trim_whitespace(column.cast(pa.string()))
        places = pc.index_in(cells, pa.array(list(known)))
        if places.null_count:
            raise pa.ArrowInvalid("a cell is neither true nor false")
        found.append(np.array(list(known.values()))[places.to_numpy()])
    return found


def _digits(text: bytes, dialect: Dialect, columns: list[int]) -> Block:
    """Columns whose numbers are written as such."""
    few, m = len(columns) <= FEW * dialect.width, text.count(b"\n")
    if few or (m >= LONG and QUOTE not in text):
        with suppress(pa.ArrowInvalid):  # a gap may be made of blanks, or rows be ragged
            found = _by_columns(text, dialect, columns)
            if few or len(found) == m:  # pyarrow takes a carriage return inside a line for its end
                return found
    values = _by_cells(text, dialect, columns)
    return _by_columns(text, dialect, columns) if values is None else values


def words(text: bytes, dialect: Dialect, columns: list[int]) -> list[NDArray[Any]]:
    """Some columns as text, without blanks around it."""
    return [_trimmed(column) for column in _table(text, dialect, columns, pa.binary()).columns]


def present(text: bytes, dialect: Dialect, columns: list[int]) -> list[list[str]]:
    """The first cells of some columns that are not missing, as many as the kind of a column is told by."""

    def first(column: Any) -> list[str]:
        if column.null_count == len(column):
            return []
        return [cell for cell in _trimmed(column.drop_null()) if not is_missing(cell)][:LINES]

    return [first(column) for column in _table(text, dialect, columns, pa.binary(), gaps=True).columns]


def _trimmed(column: Any) -> NDArray[Any]:
    """Bytes as text, without blanks around it."""
    import pyarrow.compute as pc

    try:
        return pc.utf8_trim_whitespace(column.cast(pa.string())).to_numpy()
    except pa.ArrowInvalid:
        return np.array([_decoded(cell).strip() for cell in column.to_pylist()], object)


def _by_cells(text: bytes, dialect: Dialect, columns: list[int]) -> Block | None:
    """Every cell as a line of one column; None where quotes hold what separates cells elsewhere."""
    width, codes = dialect.width, np.frombuffer(text, np.uint8)
    ends = codes == NEWLINE
    stops = ends | (codes == ord(dialect.separator))
    places = np.flatnonzero(stops)
    quotes = np.flatnonzero(codes == QUOTE) if QUOTE in text and not dialect.vectors else places[:0]
    if _any_inside(places, quotes):
        return None
    if not np.array_equal(places[width - 1 :: width], np.flatnonzero(ends)) or len(places) % width:
        raise Ragged
    cells = codes.copy()
    cells[places], cells[quotes] = NEWLINE, ord(" ")
    _overwrite(cells, places, [j for j in range(width) if dialect.columns[j].kind in (Kind.TRUTHS, Kind.TEXT)], width)
    try:
        column = _column(cells, dialect)
    except pa.ArrowInvalid:  # a column that nobody asked for is broken, or a gap is made of blanks
        _overwrite(cells, places, sorted(set(range(width)) - set(columns)), width)
        column = _column(BLANKS.sub(b"", cells.tobytes()), dialect)
    if len(column) != len(places):  # pyarrow takes a carriage return inside a line for its end
        raise Ragged
    values = column.to_numpy().reshape(-1, width)
    if columns == list(range(columns[0], columns[0] + len(columns))):
        return values[:, columns[0] : columns[0] + len(columns)]
    return values[:, columns]


def _any_inside(places: NDArray[np.intp], quotes: NDArray[np.intp]) -> bool:
    """Whether any of the places stands between a quote that opens and the one that closes."""
    before = np.searchsorted(places, quotes[: len(quotes) // 2 * 2]).reshape(-1, 2)
    return bool(len(quotes) % 2 or (before[:, 0] != before[:, 1]).any())


def _column(cells: Any, dialect: Dialect) -> Any:
    """One number per line."""
    read = csv.ReadOptions(use_threads=False, block_size=WHOLE, column_names=["0"])
    parse = csv.ParseOptions(quote_char=False, delimiter=UNUSED, ignore_empty_lines=False)
    try:  # looking up every cell among all the words for gaps takes a fifth of the time
        return csv.read_csv(pa.BufferReader(cells), read, parse, _convert([0], pa.float64(), dialect, ("",))).column(0)
    except pa.ArrowInvalid:
        return csv.read_csv(pa.BufferReader(cells), read, parse, _convert([0], pa.float64(), dialect)).column(0)


def _by_columns(text: bytes, dialect: Dialect, columns: list[int]) -> Block:
    """The numbers column by column, as pyarrow finds cells."""
    try:
        found = _table(text, dialect, columns, pa.float64(), ("",))
    except pa.ArrowInvalid:
        found = _table(text, dialect, columns, pa.float64())
    return np.array([column.to_numpy() for column in found.columns]).T.copy()


def _table(
    text: bytes,
    dialect: Dialect,
    columns: list[int],
    kind: Any,
    missing: tuple[str, ...] = MISSING,
    gaps: bool = False,
) -> Any:
    """Columns of one kind; `gaps` makes nulls of words for what is missing in text too."""
    names = [str(j) for j in range(dialect.width)]
    read = csv.ReadOptions(use_threads=False, block_size=WHOLE, column_names=names)
    quoted = QUOTE in text and not dialect.vectors
    quote: Any = '"' if quoted else False
    parse = csv.ParseOptions(
        delimiter=dialect.separator, quote_char=quote, newlines_in_values=quoted, ignore_empty_lines=False
    )
    convert = _convert(columns, kind, dialect, missing)
    convert.strings_can_be_null = gaps
    return csv.read_csv(pa.BufferReader(text), read, parse, convert)


def _convert(columns: list[int], kind: Any, dialect: Dialect, missing: tuple[str, ...] = MISSING) -> Any:
    names = [str(j) for j in columns]
    return csv.ConvertOptions(
        column_types=dict.fromkeys(names, kind),
        include_columns=names,
        null_values=list(missing),
        decimal_point=dialect.decimal,
        check_utf8=False,
    )


def _overwrite(cells: NDArray[np.uint8], places: NDArray[np.intp], columns: list[int], width: int) -> None:
    """Zeros over the text of columns that are to be parsed but not used."""
    for j in columns:
        stops = places[j::width]
        starts = places[j - 1 :: width] + 1 if j else np.concatenate([[0], places[width - 1 : -1 : width] + 1])
        lengths = stops - starts
        offsets = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        cells[np.repeat(starts, lengths) + offsets] = ZERO


def _decoded(cell: bytes) -> str:
    """Text that was taken for UTF-8 by the beginning of the file."""
    try:
        return cell.decode("utf-8")
    except UnicodeDecodeError:
        return cell.decode("cp1252", "replace")

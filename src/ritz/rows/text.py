"""CSV and its relatives: parsed by pyarrow with all cores, part by part, types fixed beforehand.

Every cell is parsed as a line of its own: the separators of a part are turned into line ends, and one column of numbers
comes out, row after row. That is quicker than parsing columns, of which every one has a price of its own.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz import threads
from ritz.errors import ColumnWarning, DataError
from ritz.rows.base import Block
from ritz.rows.dialect import MISSING, Dialect, detect, fields, is_missing, is_number
from ritz.rows.lines import PART_BYTES, QUOTE, Lines, Piece, first_lines, quoted
from ritz.rows.streamed import Streamed

ZERO, NEWLINE = b"0"[0], b"\n"[0]
BLANKS = re.compile(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)")
RUNS = re.compile(rb'("[^"]*")|[ \t]+')
UNUSED = "\x1f"  # a character that no cell holds, for columns of cells
WHOLE = 1 << 30  # bytes that pyarrow may take for one block: all of a part
SOME = 1 << 18  # for cells: what is parsed stays in cache, and a cell is no longer than that


def open_text(path: Path) -> Text:
    """The rows of a table in text."""
    return Text(path)


class Text(Streamed):
    """Numbers between separators. A plain file is parsed in parts side by side, any other in order, some ahead."""

    tabular = True
    keys: tuple[Any, ...]

    def __init__(self, path: Path) -> None:
        self._path = path
        head, whole = first_lines(path)
        self.dialect: Dialect = detect(head, str(path), whole, tabs=".tsv" in path.suffixes[-2:])
        self.about = str(self.dialect)
        self._choose_columns()
        self._lines = Lines(path, self.dialect)
        counts = self._lines.rows if self._lines.plain else [sum(self._lines.rows)]
        self.edges = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        if not self.edges[-1]:
            raise DataError(f"{path} holds no rows")
        self.shape, self.dtype = (int(self.edges[-1]), len(self._picked)), np.dtype(np.float64)

    def _choose_columns(self) -> None:
        """Numbers are picked; text, and columns of nothing that nobody named, are left out."""
        dialect, width = self.dialect, len(self.dialect.numeric)
        keys: tuple[Any, ...] = dialect.names or tuple(range(width))
        nameless = {name for _, name in dialect.renamed} if dialect.names else set(keys)
        kinds = zip(keys, dialect.numeric, dialect.empty, strict=True)
        self.left_out = {
            key: "text" if not numeric else "empty"
            for key, numeric, empty in kinds
            if not numeric or (empty and key in nameless)
        }
        self.keys = keys
        self._picked = [j for j, key in enumerate(keys) if key not in self.left_out]
        if not self._picked:
            raise DataError(f"no column of {self._path} holds numbers; the text was read as {dialect}")
        told = [f"{cell!r} is now {name!r}" for cell, name in dialect.renamed if name not in self.left_out]
        if told:
            warnings.warn(f"column names repeat or are empty: {', '.join(told[:5])}", ColumnWarning, stacklevel=6)
        if dialect.names or self.left_out:
            self.names = tuple(keys[j] for j in self._picked)

    @classmethod
    def opens(cls, source: object) -> bool:
        return False  # opened by the name of the file

    @property
    def reading(self) -> int:
        """The text of a part, its cells and masks, and their numbers: "0," becomes 8 bytes."""
        return 16 * min(PART_BYTES, self._lines.longest) * (1 if self._lines.plain else 2)

    @property
    def threads(self) -> int:
        """Those that walk, or those that parse where one of them reads from the beginning."""
        return super().threads if self._lines.plain else min(threads.pinned.budget(), self.most_threads)

    def stream(self, part: int, step: int) -> Iterator[Block]:
        at, end = self.edges[part : part + 2]
        for values in [self._values(self._lines.part(part))] if self._lines.plain else self._ahead():
            at += len(values)
            if at > end or (self._lines.plain and at < end):  # before anyone works with rows that are not there
                raise DataError(
                    f"{self._path} was counted as {end} rows up to here, but parsed as {at}; did it change?"
                )
            yield from (values[i : i + step] for i in range(0, len(values), step))

    def head(self, part: int, count: int) -> Block:
        piece = self._lines.part(part) if self._lines.plain else next(self._lines.pieces())
        ends = self._lines.ends(piece.text)[: 2 * count]  # some lines may be blank
        return self._values(Piece(piece.text[: int(ends[-1]) + 1], piece.line))[:count]

    def some(self, columns: NDArray[np.intp]) -> Text:
        some = copy(self)
        some._picked = [self._picked[j] for j in columns]
        some.names = None if self.names is None else tuple(self.names[j] for j in columns)
        some.shape = (self.shape[0], len(columns))
        return some

    def column(self, key: Any) -> NDArray[Any]:
        import pyarrow as pa

        key = self.resolved(key)
        if key not in self.left_out:
            return self.some(np.array([self.position(key)])).map(lambda block: block[:, 0].copy())
        j = self.keys.index(key)

        def cells(piece: Piece) -> NDArray[Any]:
            try:
                column = self._table(self._tidy(piece.text), [j], pa.binary()).column(0)
            except pa.ArrowException as error:
                raise self._explained(piece, error, []) from error
            return np.array([_decoded(cell).strip() for cell in column.to_pylist()], object)

        return np.concatenate(list(threads.ordered(cells, self._lines.pieces(), self.threads)))

    def _ahead(self) -> Iterator[Block]:
        """All parts in order, while the next ones are being parsed."""
        return threads.ordered(self._values, self._lines.pieces(), self.threads)

    def _values(self, piece: Piece) -> Block:
        """The numbers in a text, NaN where they are missing."""
        from pyarrow import ArrowException

        text = self._tidy(piece.text)
        try:
            values = self._cells(text)
            return self._columns(text) if values is None else values
        except (ArrowException, _Ragged) as error:
            raise self._explained(piece, error, self._picked) from error

    def _tidy(self, text: bytes) -> bytes:
        """The text without blank lines, with one separator where there was a run of blanks, and usual line ends."""
        text = self._lines.without_blank(text)
        text = text.replace(b"\r", b"\n") if self.dialect.newline == "\r" else text
        if self.dialect.runs:
            text = BLANKS.sub(b"", RUNS.sub(lambda run: run.group(1) or b" ", text))
        return text

    def _cells(self, text: bytes) -> Block | None:
        """Every cell as a line of one column; None where quotes hold what separates cells elsewhere."""
        import pyarrow as pa
        from pyarrow import csv

        width, dialect = len(self.dialect.numeric), self.dialect
        codes = np.frombuffer(text, np.uint8)
        separators, ends = codes == ord(dialect.separator), codes == NEWLINE
        stops = separators | ends
        if QUOTE in text and (quoted(codes) & stops).any():
            return None
        places = np.flatnonzero(stops)
        if len(places) % width or not _rectangular(ends[places].reshape(-1, width)):
            raise _Ragged
        cells = codes - separators * np.uint8((ord(dialect.separator) - NEWLINE) % 256)
        if QUOTE in text:
            cells[codes == QUOTE] = ord(" ")
        _overwrite(cells, places, [j for j, numeric in enumerate(dialect.numeric) if not numeric], width)
        read = csv.ReadOptions(use_threads=False, block_size=SOME, column_names=["0"])
        parse = csv.ParseOptions(quote_char=False, delimiter=UNUSED, ignore_empty_lines=False)
        convert = self._convert([0], pa.float64())
        try:
            column = csv.read_csv(pa.BufferReader(cells), read, parse, convert).column(0)
        except pa.ArrowInvalid:  # a column that nobody asked for is broken, or a gap is made of blanks
            _overwrite(cells, places, sorted(set(range(width)) - set(self._picked)), width)
            trimmed = BLANKS.sub(b"", cells.tobytes())
            column = csv.read_csv(pa.BufferReader(trimmed), read, parse, convert).column(0)
        if len(column) != len(places):  # pyarrow takes a carriage return inside a line for its end
            raise _Ragged
        values = column.to_numpy(zero_copy_only=False).reshape(-1, width)
        return values if len(self._picked) == width else values[:, self._picked]

    def _columns(self, text: bytes) -> Block:
        """The numbers column by column, as pyarrow finds cells."""
        import pyarrow as pa

        table = self._table(text, self._picked, pa.float64())
        block = np.empty((table.num_rows, len(self._picked)))
        for j, column in enumerate(table.columns):
            block[:, j] = column.to_numpy()
        return block

    def _table(self, text: bytes, columns: list[int], kind: Any) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        names = [str(j) for j in range(len(self.dialect.numeric))]
        read = csv.ReadOptions(use_threads=False, block_size=WHOLE, column_names=names)
        parse = csv.ParseOptions(delimiter=self.dialect.separator, newlines_in_values=True)
        return csv.read_csv(pa.BufferReader(text), read, parse, self._convert(columns, kind))

    def _convert(self, columns: list[int], kind: Any) -> Any:
        from pyarrow import csv

        names = [str(j) for j in columns]
        return csv.ConvertOptions(
            column_types=dict.fromkeys(names, kind),
            include_columns=names,
            null_values=list(MISSING),
            decimal_point=self.dialect.decimal,
            check_utf8=False,
        )

    def _explained(self, piece: Piece, error: Exception, columns: list[int]) -> DataError:
        """Where the text first departs from the dialect."""
        dialect, width = self.dialect, len(self.dialect.numeric)
        line, start = piece.line, 0
        for end in self._lines.ends(piece.text):
            row = piece.text[start:end].decode("utf-8", "replace").removesuffix("\r")
            if "\r" in row and dialect.newline == "\n":
                return DataError(f"line {line} of {self._path} has a carriage return inside: {row[:60]!r}")
            cells = fields(row, dialect.separator, dialect.runs) if row.strip() else []
            if cells and len(cells) != width:
                return DataError(f"line {line} of {self._path} has {len(cells)} cells, not {width}: {row[:60]!r}")
            for j in columns if cells else []:
                if not is_number(cells[j], dialect.decimal) and not is_missing(cells[j]):
                    advice = "pass columns= without it, or mark missing values as NA"
                    place = f"line {line} of {self._path}, column {self._name(j)}"
                    return DataError(f"{place}: {cells[j][:60]!r} is no number, unlike others of that column; {advice}")
            line, start = line + 1 + row.count(dialect.newline), int(end) + 1
        return DataError(f"{self._path} cannot be parsed from line {piece.line} on: {error}")

    def _name(self, j: int) -> str:
        return repr(self.keys[j])


def _decoded(cell: bytes) -> str:
    """Text that was taken for UTF-8 by the beginning of the file."""
    try:
        return cell.decode("utf-8")
    except UnicodeDecodeError:
        return cell.decode("cp1252", "replace")


class _Ragged(Exception):
    """A row has more or fewer cells than the table."""


def _rectangular(ends: NDArray[np.bool_]) -> bool:
    """Whether the last cell of every row ends a line, and no other does."""
    return bool(ends[:, -1].all()) and int(np.count_nonzero(ends)) == len(ends)


def _overwrite(cells: NDArray[np.uint8], places: NDArray[np.intp], columns: list[int], width: int) -> None:
    """Zeros over the text of columns that are to be parsed but not used."""
    for j in columns:
        stops = places[j::width]
        starts = np.concatenate([[-1], places])[j::width][: len(stops)] + 1
        lengths = stops - starts
        offsets = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        cells[np.repeat(starts, lengths) + offsets] = ZERO

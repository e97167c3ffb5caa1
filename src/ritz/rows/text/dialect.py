"""How a text file lays out its table: encoding, separator, decimal sign, header, and which columns hold numbers."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from ritz.errors import FILE, DataError
from ritz.rows.columns import unique_names
from ritz.rows.text.cells import Column, Kind, is_number, is_truth
from ritz.rows.text.header import judge_header
from ritz.rows.text.style import SEPARATORS, WORD, Style, are_vectors, counts_of, decoded, find_style
from ritz.runtime.threads import cached_property

FEWEST, LETTERS = 6, 1 << 19  # lines that are looked at where they are long, and letters of all of them
COMMENTS = ("#", "%")


@dataclass(frozen=True, kw_only=True)
class Dialect(Style):
    """What the beginning of a file says about all of it.

    Attributes
    ----------
    encoding, mark : of the text, and whether a byte-order mark says so
    newline : one character
    skipped : lines before the first row, among them the header
    first_line : the cells of the header; nothing without one
    columns : what each of them holds
    ended : whether rows end with a separator, and nothing is behind it
    doubt : what the first line was taken for, where it may be names or a row
    counts : of words and of the numbers of each, where a line before the table says so, as in files of word2vec
    """

    encoding: str = "utf-8"
    mark: bool = False
    newline: str = "\n"
    skipped: int
    first_line: tuple[str, ...]
    columns: tuple[Column, ...]
    ended: bool = False
    doubt: str = ""
    counts: tuple[int, int] | None = None

    def __str__(self) -> str:
        header, taken = "no header", "the numbers of the first line were taken for a row"
        if self.first_line:
            header, taken = "names in the header", "its numbers were taken for names"
        parts = [
            f"separated by {'runs of blanks' if self.runs else SEPARATORS.get(self.separator, repr(self.separator))}",
            "decimal comma" if self.decimal == "," else "decimal point",
            f"{header} ({taken})" if self.doubt else header,
            self.encoding + (" with a byte-order mark" if self.mark else ""),
        ]
        if self.vectors:
            parts.append("a word and its vector in every row")
        if self.counts:
            parts.append(f"the first line ({self.counts[0]} {self.counts[1]}), which counts them, skipped")
        return ", ".join(parts)

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.columns)

    @cached_property
    def _header(self) -> tuple[str, ...]:
        """The cells of the header, one for every column."""
        if not self.first_line or len(self.first_line) == self.width:
            return self.first_line
        # R leaves the names of rows unnamed; others end every row with a separator. Behind such a separator is nothing
        # at all; NA is what R writes for a value that is missing.
        ended = self.ended and self.columns[-1].kind is Kind.NOTHING
        return (*self.first_line, "") if ended else ("", *self.first_line)

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        """Of all columns, no two the same; None without a header."""
        return unique_names([cell.strip() for cell in self._header]) if self.first_line else None

    @cached_property
    def keys(self) -> tuple[Any, ...]:
        """What all columns are called: their names or else their places; that of the words has a name anyway."""
        keys: tuple[Any, ...] = self.names or tuple(range(self.width))
        return (WORD, *keys[1:]) if self.vectors else keys

    @property
    def renamed(self) -> tuple[tuple[str, str], ...]:
        """Names that repeat or are empty, and what those columns are called instead."""
        pairs = zip(self._header, self.names or (), strict=True)
        return tuple((cell, name) for cell, name in pairs if cell.strip() != name)

    def with_values(self, cells: Mapping[int, list[str]]) -> Dialect:
        """The same, where columns that hold nothing in the first lines hold these cells further on."""
        columns = (Column.of(cells[j], self.decimal) if j in cells else column for j, column in enumerate(self.columns))
        return replace(self, columns=tuple(columns))

    def needing(self, needed: Collection[Any]) -> Dialect:
        """The same, with numbers in columns that are `needed`, whatever is found there.

        They are known by name, or else by their places, if these are all that there are.
        """
        names, needed = self.names or (), set(needed)
        places = sum(isinstance(key, int) for key in needed)
        named = not needed.isdisjoint(names)
        known = [name in needed for name in names] if named else [places == self.width] * self.width
        if self.vectors or not any(known):
            return self
        columns = (
            Column(Kind.NUMBERS) if must and column.kind is Kind.TEXT else column
            for must, column in zip(known, self.columns, strict=True)
        )
        return replace(self, columns=tuple(columns))


def detect(
    head: bytes, where: Path, whole: bool = True, header: bool | None = None, expected: Collection[str] | None = None
) -> Dialect:
    """The dialect of a file from its first lines; unless they are the whole of it, the last one may be cut off.

    `header` says whether the first line names the columns, None leaves that to be found out; `expected` are the names
    that a model knows, if any, where the file is read for one.

    Examples
    --------
    >>> dialect = detect("größe;gewicht\\n1,5;70\\n1,8;81\\n".encode("cp1252"), Path("x.csv"))
    >>> print(dialect)
    separated by semicolons, decimal comma, names in the header, cp1252
    >>> dialect.names, [column.kind.name for column in dialect.columns]
    (('größe', 'gewicht'), ['NUMBERS', 'NUMBERS'])
    """
    encoding, mark, text = decoded(head, FILE)
    newline = "\n" if "\n" in text or "\r" not in text else "\r"
    lines = text.replace("\r\n", "\n").replace(newline, "\n").split("\n")
    found = _of_lines(lines if whole and lines[-1] else lines[:-1], where, header, expected)
    return replace(found, encoding=encoding, mark=mark, newline=newline)


def _of_lines(lines: list[str], where: Path, header: bool | None, expected: Collection[str] | None) -> Dialect:
    """The dialect of lines of text, however they are encoded."""
    skipped, lines, announced = _preamble(lines, header is not False)
    if not any(lines):
        raise DataError(f"{FILE} holds no rows")
    endings = [ending.lower() for ending in where.suffixes[-2:]]
    counts = counts_of(lines, ".vec" in endings) if announced is None else None
    if counts:
        skipped, lines, header = skipped + 1, lines[1:], bool(header)
    vectors = announced is None and header is not True and are_vectors(lines, counts)
    try:
        style = find_style(lines, announced or ("\t" if ".tsv" in endings else None), vectors)
        table = style.table(lines)
    except csv.Error as error:
        raise DataError(f"{FILE} cannot be read as a table: {error}") from error
    doubt = ""
    if header is None:
        header, doubt = judge_header(table, style.decimal, _alone_in_quotes(lines, table[0]), expected)
    first_line, rows = (table[0], table[1:]) if header else ([], table)
    columns, ended = _columns(rows, len(first_line), style)
    return Dialect(
        **vars(style),
        skipped=skipped + _lines_of_header(first_line, lines),
        first_line=tuple(first_line),
        columns=columns,
        ended=ended,
        doubt=doubt,
        counts=counts,
    )


def _preamble(lines: list[str], names: bool) -> tuple[int, list[str], str | None]:
    """How many lines stand before the table, some of its own, and the separator as spreadsheets announce it.

    Before the table are comments and blank lines. Where there may be `names`, a comment may be the header.
    """
    skipped, announced = 0, None
    for line in lines:
        if match := re.fullmatch(r"sep=(.)", line.strip("\r")):
            announced = match.group(1)
        elif line.strip() and not _is_comment(line, lines[skipped + 1 :], names):
            break
        skipped += 1
    most = max(FEWEST, LETTERS // max([1, *map(len, lines)]))
    return skipped, lines[skipped : skipped + most], announced


def _is_comment(line: str, following: list[str], names: bool) -> bool:
    """Whether it begins like a comment and is not the header, which has as many cells as the next line."""
    if not line.startswith(COMMENTS):
        return False
    nexts = next((other for other in following if other.strip()), "")
    marks = [mark for mark in ",;\t|" if mark in line and line.count(mark) == nexts.count(mark)]
    numbers = any(is_number(cell) or is_truth(cell) for mark in marks for cell in nexts.split(mark))
    return not (names and numbers)


def _alone_in_quotes(lines: list[str], first: list[str]) -> bool:
    """Whether all cells of the first line are in quotes, and none below."""
    return lines[0].count('"') >= 2 * len(first) and not any('"' in line for line in lines[1:])


def _lines_of_header(first: list[str], lines: list[str]) -> int:
    """Lines of the header, whose cells may hold line ends, and the blank ones between it and the first row."""
    if not first:
        return 0
    blank = takewhile(lambda line: not line.strip("\r"), lines[1:])
    return 1 + len(list(blank)) + sum(cell.count("\n") for cell in first)


def _columns(rows: list[list[str]], named: int, style: Style) -> tuple[tuple[Column, ...], bool]:
    """`columns` and `ended` of a dialect: as many as the header has, or one more where R left that of the rows out."""
    if not rows:
        raise DataError(f"{FILE} holds a header and no rows")
    width = Counter(map(len, rows)).most_common(1)[0][0]
    if named and width not in (named, named + 1):
        raise DataError(f"{FILE} has {named} names in its header, but {width} cells in most rows")
    columns = [Column.of([row[j] for row in rows if len(row) > j], style.decimal) for j in range(width)]
    columns[0] = Column(Kind.TEXT) if style.vectors else columns[0]
    return tuple(columns), not any(cell.strip() for row in rows for cell in row[width - 1 :])

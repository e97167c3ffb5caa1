"""How a text file lays out its table: encoding, separator, decimal sign, header, and which columns hold numbers."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ritz.errors import DataError
from ritz.rows.text.cells import is_missing, is_number, is_truth
from ritz.rows.text.encodings import decoded
from ritz.rows.text.header import judge_header
from ritz.rows.text.vectors import are_vectors, counts_of, split

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas", " ": "blanks"}  # tried in this order
LINES, FEWEST, LETTERS = 200, 6, 1 << 19  # looked at: so many lines, fewer where they are long
QUOTED = re.compile(r'"[^"]*"')
MOSTLY = 0.8  # share of numbers that makes a column one of numbers
COMMENTS = ("#", "%")
NEARLY = "text beside numbers"  # what a column holds of which at least half are numbers


@dataclass(frozen=True)
class Dialect:
    """What the beginning of a file says about all of it.

    Attributes
    ----------
    encoding, mark : of the text, and whether a byte-order mark says so
    separator, decimal, newline : one character each
    runs : whether any run of blanks separates
    header : whether there is a line of names
    skipped : lines before the first row, among them the header
    names : of all columns; None without a header
    numeric, empty : of all columns, whether they hold numbers, and whether they hold nothing
    renamed : names that repeat or are empty, and what those columns are called instead
    doubt : what the first line was taken for, where it may be names or a row
    counts : of words and of the numbers of each, where a line before the table says so, as in files of word2vec
    vectors : whether every row is a word and its vector, so that quotes are words too
    boolean : of all columns, whether their numbers are written as true and false
    odd : of all columns, a cell that is no number, where at least half of the others are, but too few for `numeric`
    """

    encoding: str
    mark: bool
    separator: str
    decimal: str
    newline: str
    runs: bool
    header: bool
    skipped: int
    names: tuple[str, ...] | None
    numeric: tuple[bool, ...]
    empty: tuple[bool, ...]
    renamed: tuple[tuple[str, str], ...] = ()
    doubt: str = ""
    counts: tuple[int, int] | None = None
    vectors: bool = False
    boolean: tuple[bool, ...] = ()
    odd: tuple[str, ...] = ()

    def __str__(self) -> str:
        taken = "names" if self.header else "a row"
        parts = [
            f"separated by {'runs of blanks' if self.runs else SEPARATORS.get(self.separator, repr(self.separator))}",
            "decimal comma" if self.decimal == "," else "decimal point",
            ("names in the header" if self.header else "no header")
            + (f" (its numbers were taken for {taken})" if self.doubt and self.header else "")
            + (f" (the numbers of the first line were taken for {taken})" if self.doubt and not self.header else ""),
            self.encoding + (" with a byte-order mark" if self.mark else ""),
        ]
        if self.vectors:
            parts.append("a word and its vector in every row")
        if self.counts:
            parts.append(f"the first line ({self.counts[0]} {self.counts[1]}), which counts them, skipped")
        return ", ".join(parts)

    def holding(self, needed: Collection[Any]) -> Dialect:
        """The same, with numbers in columns that are `needed`, whatever is found there.

        They are known by name, or else by their places, if these are all that there are.
        """
        width, names, needed = len(self.numeric), self.names or (), set(needed)
        named = not needed.isdisjoint(names)
        places = sum(isinstance(key, int) for key in needed)
        there = [name in needed for name in names] if named else [places == width] * width
        if self.vectors or not any(there):
            return self
        numeric = tuple(map(any, zip(self.numeric, there, strict=True)))
        odd = tuple("" if known else cell for known, cell in zip(there, self.odd, strict=True))
        return replace(self, numeric=numeric, odd=odd)


def detect(
    head: bytes,
    where: Path,
    whole: bool = True,
    header: bool | None = None,
    expected: Collection[str] | None = None,
    later: Mapping[int, list[str]] | None = None,
) -> Dialect:
    """The dialect of a file from its first lines; unless they are the whole of it, the last one may be cut off.

    `header` says whether the first line names the columns, None leaves that to be found out; `expected` are the names
    that a model knows, if any, where the file is read for one. `later` are cells of columns that are empty in these
    lines, by position.

    Examples
    --------
    >>> dialect = detect("größe;gewicht\\n1,5;70\\n1,8;81\\n".encode("cp1252"), Path("x.csv"))
    >>> print(dialect)
    separated by semicolons, decimal comma, names in the header, cp1252
    >>> dialect.names, dialect.numeric
    (('größe', 'gewicht'), (True, True))
    """
    try:
        encoding, mark, text = decoded(head, str(where))
        return _detected(encoding, mark, text, where, whole, header, expected, later or {})
    except csv.Error as error:
        raise DataError(f"{where} cannot be read as a table: {error}") from error


def _detected(
    encoding: str,
    mark: bool,
    text: str,
    where: Path,
    whole: bool,
    header: bool | None,
    expected: Collection[str] | None,
    later: Mapping[int, list[str]],
) -> Dialect:
    endings = [ending.lower() for ending in where.suffixes[-2:]]
    newline = "\n" if "\n" in text or "\r" not in text else "\r"
    lines = text.replace("\r\n", "\n").replace(newline, "\n").split("\n")
    lines = lines if whole and lines[-1] else lines[:-1]
    skipped, separator = _preamble(lines, header is not False)
    lines = lines[skipped : skipped + max(FEWEST, LETTERS // max(1, *map(len, lines)))] if lines else []
    if not any(lines):
        raise DataError(f"{where} holds no rows")
    counts = counts_of(lines, ".vec" in endings) if separator is None else None
    lines, skipped = (lines[1:], skipped + 1) if counts else (lines, skipped)
    vectors = separator is None and header is not True and are_vectors(lines[:LINES], counts)
    tabs = "\t" if ".tsv" in endings else None
    separator, decimal = (" ", ".") if vectors else _separator(lines, separator or tabs)
    runs = separator == " " and any("  " in (plain := QUOTED.sub("x", line)) or plain[:1] == " " for line in lines)
    runs = runs or (vectors and any("\t" in line or "  " in line or line[-1:] == " " for line in lines))
    table = _cells(lines, separator, runs, not vectors)
    header, doubt = (
        (bool(header), "")
        if header is not None or counts
        else judge_header(table, decimal, _alone_in_quotes(lines, table[0]), expected)
    )
    first, rows = (table[0], table[1:]) if header else ([], table)
    if header and not rows:
        raise DataError(f"{where} holds a header and no rows")
    width = _width(rows, len(first), where)
    cells = ([row[j] for row in rows if len(row) > j] + later.get(j, []) for j in range(width))
    kinds = [_kind(column, decimal) for column in cells]
    kinds[0] = _Kind(False, False, False, "") if vectors else kinds[0]
    numeric, empty, boolean, odd = zip(*kinds, strict=True)
    if header and len(first) < width:  # R leaves the names of rows unnamed; others end every row with a separator
        # Behind such a separator is nothing at all; NA is what R writes for a value that is missing.
        ended = empty[-1] and not any(cell.strip() for row in rows for cell in row[width - 1 :])
        first = [*first, ""] if ended else ["", *first]
    names = unique_names([cell.strip() for cell in first]) if header else None
    renamed = tuple((cell, name) for cell, name in zip(first, names or (), strict=False) if cell.strip() != name)
    lines_of_header = 1 + sum(cell.count("\n") for cell in first) if header else 0
    skipped += lines_of_header + _blank_before(lines, header)
    found = (encoding, mark, separator, decimal, newline, runs, header, skipped, names, numeric, empty, renamed)
    return Dialect(*found, doubt, counts, vectors, boolean, odd)


def fields(line: str, dialect: Dialect) -> list[str]:
    """The cells of one line."""
    return next(_reader([line], dialect.separator, dialect.runs, not dialect.vectors), [])


def _reader(lines: Iterable[str], separator: str, runs: bool, quotes: bool = True) -> Any:
    if not quotes:
        return map(split, lines)
    some = (f"{line.strip()}\n" if runs else line for line in lines)
    return csv.reader(some, delimiter=separator, skipinitialspace=runs)


def _alone_in_quotes(lines: list[str], first: list[str]) -> bool:
    """Whether all cells of the first line are in quotes, and none below."""
    return lines[0].count('"') >= 2 * len(first) and not any('"' in line for line in lines[1:])


def _preamble(lines: list[str], names: bool = True) -> tuple[int, str | None]:
    """Lines before the table: comments, blank lines, and the separator as spreadsheets announce it.

    Where there may be `names`, a comment may be the header.
    """
    skipped, announced = 0, None
    for line in lines:
        if match := re.fullmatch(r"sep=(.)", line.strip("\r")):
            announced = match.group(1)
        elif line.strip() and not (
            line.startswith(COMMENTS) and not (names and _named_by_comment(line, lines[skipped + 1 :]))
        ):
            break
        skipped += 1
    return skipped, announced


def _named_by_comment(line: str, following: list[str]) -> bool:
    """Whether a line that begins like a comment is the header: it has as many cells as the next one."""
    nexts = next((other for other in following if other.strip()), "")
    marks = [mark for mark in ",;\t|" if mark in line and line.count(mark) == nexts.count(mark)]
    return any(is_number(cell) or is_truth(cell) for mark in marks for cell in nexts.split(mark))


def _separator(lines: list[str], given: str | None) -> tuple[str, str]:
    """The separator and the decimal sign under which most cells are numbers, in lines of equal length."""
    best: tuple[float, str, str] = (-1.0, given or ",", ".")
    for separator in [given] if given else SEPARATORS:
        try:
            table = _cells(lines, separator, runs=separator == " ")
        except csv.Error:  # one cell of more than 100,000 characters, or a line end inside a line
            continue
        rows = table[1:] or table
        width, count = Counter(map(len, rows)).most_common(1)[0]
        if width < 2 and not given:
            continue
        cells = [cell for row in rows for cell in row[:1000] if not is_missing(cell)]
        foreign = sum(any(mark in cell for mark in ";\t|") for cell in cells) / max(1, len(cells))
        fitting = count / len(rows) * (1.0 if len(table[0]) == width else 0.5) * (1 - foreign)
        for decimal in ".," if separator != "," else ".":
            numbers = sum(is_number(cell, decimal) for cell in cells) / max(1, len(cells))
            score = fitting * (0.1 + numbers)
            if score > best[0]:
                best = score, separator, decimal
    if best[1] == "," and not given and _one_column(lines):
        return ";", ","
    first = _cells(lines[:1], best[1], runs=best[1] == " ")[0]
    if best[1] != "," and all(is_number(cell, ",") for cell in first) and any("," in cell for cell in first):
        return best[1], ","  # the only commas may stand in the first line
    return best[1], best[2]


def _one_column(lines: list[str]) -> bool:
    """Whether commas are decimal signs of the only column: every line is such a number, and the header has none."""
    rows = lines[1:] or lines
    return "," not in lines[0] and all(is_number(line, ",") or is_missing(line) for line in rows)


def _cells(lines: list[str], separator: str, runs: bool, quotes: bool = True) -> list[list[str]]:
    """The cells of the first lines that are not blank."""
    some = (line for line in islice(lines, 4 * LINES) if line.strip("\r"))
    table = _reader((f"{line}\n" for line in some), separator, runs, quotes)
    return [row for row in islice(table, LINES) if row]


def _width(rows: list[list[str]], named: int, where: Path) -> int:
    """Columns of the table: those of the header, or one more where R left the names of the rows unnamed."""
    width = Counter(map(len, rows)).most_common(1)[0][0]
    if named and width not in (named, named + 1):
        raise DataError(f"{where} has {named} names in its header, but {width} cells in most rows")
    return width


def unique_names(cells: list[str]) -> tuple[str, ...]:
    """Names of all columns, with numbers behind those that repeat and in place of those that are empty."""
    names: dict[str, None] = {}
    for j, cell in enumerate(cells):
        name, again = cell or f"unnamed_{j}", 2
        while name in names:
            name, again = f"{cell or 'unnamed'}_{again}", again + 1
        names[name] = None
    return tuple(names)


class _Kind(NamedTuple):
    """What a column is, as far as it holds anything; see `Dialect`."""

    numeric: bool
    empty: bool
    boolean: bool
    odd: str


def _kind(cells: list[str], decimal: str) -> _Kind:
    """What a column holds, by its cells.

    One word among many numbers, however often it stands there, is a mistake to be reported with its line, and no reason
    to leave all of them out. Many different words are codes, some of which happen to be numbers: the column is left
    out, and one of them is named.
    """
    there = [cell for cell in cells if not is_missing(cell)]
    others = [cell for cell in there if not is_number(cell, decimal)]
    numbers, truths = len(there) - len(others), sum(map(is_truth, others))
    boolean = truths > 0 and truths >= MOSTLY * len(there)
    alike = len({cell.strip() for cell in others}) < 2 and numbers > len(others)
    numeric = boolean or not others or alike or numbers >= MOSTLY * len(there)
    odd = others[0] if others and not numeric and numbers >= len(others) else ""
    return _Kind(numeric, not there, boolean, odd)


def _blank_before(lines: list[str], header: bool) -> int:
    """Blank lines between the header and the first row."""
    count = 0
    while header and 1 + count < len(lines) and not lines[1 + count].strip("\r"):
        count += 1
    return count

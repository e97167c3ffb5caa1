"""How a text file lays out its table: encoding, separator, decimal sign, header, and which columns hold numbers."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice, pairwise

from ritz.errors import DataError

# Words for a value that is not there, in the languages that write tables.
MISSING = (
    "", "NA", "N/A", "n/a", "na", "<NA>", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-NaN", "-nan", "NAN", "null",
    "NULL", "Null", "None", "none", "NaT", "missing", "?", ".", "-", "--", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
    "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?",
)  # fmt: skip
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas", " ": "blanks"}  # tried in this order
NUMBER = re.compile(r"\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?)\s*", re.IGNORECASE | re.ASCII)
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
LINES, FEWEST, LETTERS = 200, 6, 1 << 19  # looked at: so many lines, fewer where they are long
FEWEST_COUNTED = 3  # columns that must be counted by a header of nothing but numbers
YEARS = (1800, 2100)
QUOTED = re.compile(r'"[^"]*"')
MOSTLY = 0.8  # share of numbers that makes a column one of numbers
COMMENTS = ("#", "%")


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

    def __str__(self) -> str:
        parts = [
            f"separated by {'runs of blanks' if self.runs else SEPARATORS.get(self.separator, repr(self.separator))}",
            "decimal comma" if self.decimal == "," else "decimal point",
            "names in the header" if self.header else "no header",
            self.encoding + (" with a byte-order mark" if self.mark else ""),
        ]
        return ", ".join(parts)


def detect(head: bytes, where: str, whole: bool = True, tabs: bool = False) -> Dialect:
    """The dialect of a file from its first lines; unless they are the whole of it, the last one may be cut off.

    Examples
    --------
    >>> dialect = detect("größe;gewicht\\n1,5;70\\n1,8;81\\n".encode("cp1252"), "example")
    >>> print(dialect)
    separated by semicolons, decimal comma, names in the header, cp1252
    >>> dialect.names, dialect.numeric
    (('größe', 'gewicht'), (True, True))
    """
    try:
        return _detected(*_decoded(head, where), where, whole, tabs)
    except csv.Error as error:
        raise DataError(f"{where} cannot be read as a table: {error}") from error


def _detected(encoding: str, mark: bool, text: str, where: str, whole: bool, tabs: bool) -> Dialect:
    newline = "\n" if "\n" in text or "\r" not in text else "\r"
    lines = text.replace("\r\n", "\n").replace(newline, "\n").split("\n")
    lines = lines if whole and lines[-1] else lines[:-1]
    skipped, separator = _preamble(lines)
    lines = lines[skipped : skipped + max(FEWEST, LETTERS // max(1, *map(len, lines)))] if lines else []
    if not any(lines):
        raise DataError(f"{where} holds no rows")
    separator, decimal = _separator(lines, separator or ("\t" if tabs else None))
    runs = separator == " " and any("  " in (plain := QUOTED.sub("x", line)) or plain[:1] == " " for line in lines)
    table = _cells(lines, separator, runs)
    header = _has_header(table, decimal, lines)
    first, rows = (table[0], table[1:]) if header else ([], table)
    if header and not rows:
        raise DataError(f"{where} holds a header and no rows")
    width = _width(rows, len(first), where)
    kinds = [_kind([row[j] for row in rows if len(row) > j], decimal) for j in range(width)]
    numeric, empty = zip(*kinds, strict=True)
    if header and len(first) < width:  # R leaves the names of rows unnamed; others end every row with a separator
        first = [*first, ""] if empty[-1] else ["", *first]
    names = told_apart([cell.strip() for cell in first]) if header else None
    renamed = tuple((cell, name) for cell, name in zip(first, names or (), strict=False) if cell.strip() != name)
    lines_of_header = 1 + sum(cell.count("\n") for cell in first) if header else 0
    skipped += lines_of_header + _blank_before(lines, header)
    return Dialect(encoding, mark, separator, decimal, newline, runs, header, skipped, names, numeric, empty, renamed)


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell holds a number."""
    if decimal == ",":
        cell = cell.replace(".", "x").replace(",", ".")
    return NUMBER.fullmatch(cell) is not None


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value."""
    return cell.strip() in MISSING


def fields(line: str, separator: str, runs: bool) -> list[str]:
    """The cells of one line."""
    return next(csv.reader([line.strip() if runs else line], delimiter=separator, skipinitialspace=runs), [])


def _decoded(head: bytes, where: str) -> tuple[str, bool, str]:
    """Encoding, whether a mark says so, and the text."""
    for mark, encoding in MARKS.items():
        if head.startswith(mark):
            return encoding, True, head[len(mark) :].decode(encoding, "ignore")
    if b"\x00" in head:
        raise DataError(f"{where} is no text: it holds zero bytes")
    try:
        # The head may end inside a character of several bytes.
        return "utf-8", False, codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1252", False, head.decode("cp1252", "replace")


def _preamble(lines: list[str]) -> tuple[int, str | None]:
    """Lines before the table: comments, blank lines, and the separator as spreadsheets announce it."""
    skipped, announced = 0, None
    for line in lines:
        if match := re.fullmatch(r"sep=(.)", line.strip("\r")):
            announced = match.group(1)
        elif line.strip() and not (line.startswith(COMMENTS) and not _named_by_comment(line, lines[skipped + 1 :])):
            break
        skipped += 1
    return skipped, announced


def _named_by_comment(line: str, following: list[str]) -> bool:
    """Whether a line that begins like a comment is the header: it has as many cells as the next one."""
    nexts = next((other for other in following if other.strip()), "")
    marks = [mark for mark in ",;\t|" if mark in line and line.count(mark) == nexts.count(mark)]
    return any(is_number(cell) for mark in marks for cell in nexts.split(mark))


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


def _cells(lines: list[str], separator: str, runs: bool) -> list[list[str]]:
    """The cells of the first lines that are not blank."""
    some = (line.strip() if runs else line for line in islice(lines, 4 * LINES) if line.strip("\r"))
    table = csv.reader((f"{line}\n" for line in some), delimiter=separator, skipinitialspace=runs)
    return [row for row in islice(table, LINES) if row]


def _has_header(table: list[list[str]], decimal: str, lines: list[str]) -> bool:
    """Whether the first line names columns: text over numbers, nothing but text, or numbers that count the columns."""
    first, rows = table[0], table[1:]
    text = [not (is_number(cell, decimal) or is_missing(cell)) for cell in first]
    below = [[row[j] for row in rows if len(row) > j and not is_missing(row[j])] for j in range(len(first))]
    over_numbers = [cells and sum(is_number(cell, decimal) for cell in cells) > len(cells) / 2 for cells in below]
    if any(t and over for t, over in zip(text, over_numbers, strict=True)):
        return True
    if any(over_numbers):
        quoted = lines[0].count('"') >= 2 * len(first) and not any('"' in line for line in lines[1:])
        return bool(rows) and (quoted or _counts(first, below))
    return all(text)


def _counts(first: list[str], below: list[list[str]]) -> bool:
    """Whether a line of numbers counts, as years do and as pandas numbers columns, while those below have fractions."""
    numbers = [int(cell) for cell in map(str.strip, first) if cell.isdigit()]
    rising = all(a < b for a, b in pairwise(numbers))
    consecutive = rising and len(numbers) >= 2 and numbers[-1] - numbers[0] == len(numbers) - 1
    years = rising and len(numbers) >= 2 and YEARS[0] <= numbers[0] and numbers[-1] <= YEARS[1]
    if not years and (not consecutive or (len(numbers) < FEWEST_COUNTED and len(numbers) == len(first))):
        return False
    return any(not cell.strip().lstrip("-").isdigit() and is_number(cell) for cells in below for cell in cells)


def _width(rows: list[list[str]], named: int, where: str) -> int:
    """Columns of the table: those of the header, or one more where R left the names of the rows unnamed."""
    width = Counter(map(len, rows)).most_common(1)[0][0]
    if named and width not in (named, named + 1):
        raise DataError(f"{where} has {named} names in its header, but {width} cells in most rows")
    return width


def told_apart(cells: list[str]) -> tuple[str, ...]:
    """Names of all columns, with numbers behind those that repeat and in place of those that are empty."""
    names: dict[str, None] = {}
    for j, cell in enumerate(cells):
        name, again = cell or f"unnamed_{j}", 2
        while name in names:
            name, again = f"{cell or 'unnamed'}_{again}", again + 1
        names[name] = None
    return tuple(names)


def _kind(cells: list[str], decimal: str) -> tuple[bool, bool]:
    """Whether a column holds numbers, as far as it holds anything; and whether it holds nothing.

    One word among many numbers is a mistake to be reported with its line, and no reason to leave all of them out.
    """
    there = [cell for cell in cells if not is_missing(cell)]
    numbers = sum(is_number(cell, decimal) for cell in there)
    return numbers == len(there) or (numbers >= MOSTLY * len(there) and len(there) >= FEWEST), not there


def _blank_before(lines: list[str], header: bool) -> int:
    """Blank lines between the header and the first row."""
    count = 0
    while header and 1 + count < len(lines) and not lines[1 + count].strip("\r"):
        count += 1
    return count

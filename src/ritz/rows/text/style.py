"""How a text is written: its encoding, and how its lines are cut into cells.

Vectors of words, a word and its numbers in every line, between blanks, are what GloVe and fastText write.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter

from ritz.errors import DataError
from ritz.rows.text.cells import is_missing, is_number
from ritz.rows.text.header import judge_header

# The mark of UTF-32-LE begins with that of UTF-16-LE, so it is tried first.
MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
ORDINARY = 0.5  # share of ASCII letters, digits and separators in the text of a table
LOOKED_AT = 1 << 12  # characters
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas", " ": "blanks"}  # tried in this order
LINES = 200  # that are looked at
CELLS = 1000  # of a line that are looked at
QUOTED = re.compile(r'"[^"]*"')
COUNTS = re.compile(r"\s*(\d+)[ \t]+(\d+)\s*", re.ASCII)
GAPS = re.compile(r"[ \t]+")
WORD = "word"  # what the column is called that nobody named
WORDY, LONG = 0.5, 4  # share of words in a first column, and numbers behind each, that make vectors


def decoded(head: bytes, where: str) -> tuple[str, bool, str]:
    """Encoding, whether a mark says so, and the text, whose last character may be cut off.

    Examples
    --------
    >>> decoded("a,b\\n1,2\\n".encode("utf-32"), "example")[:2]
    ('utf-32-le', True)
    >>> decoded("a,b\\n1,2\\n".encode("utf-16-be"), "example")[:2]
    ('utf-16-be', False)
    """
    for mark, encoding in MARKS.items():
        if head.startswith(mark):
            return encoding, True, head[len(mark) :].decode(encoding, "ignore")
    if b"\x00" in head:
        encoding = _without_mark(head, where)
        return encoding, False, head.decode(encoding, "ignore")
    try:
        # The head may end inside a character of several bytes.
        return "utf-8", False, codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1252", False, head.decode("cp1252", "replace")


def _without_mark(head: bytes, where: str) -> str:
    """The encoding with zero bytes in which a text without a mark reads like a table."""
    for encoding in WIDE:
        size = 4 if "32" in encoding else 2
        some = head[: min(size * LOOKED_AT, len(head) // size * size)]
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(some)
        except UnicodeDecodeError:
            continue
        readable = all(c.isprintable() or c in "\t\r\n" for c in text)
        if text and readable and sum(map(str.isascii, text)) >= ORDINARY * len(text):
            return encoding
    raise DataError(
        f"{where} is not readable text: it contains zero bytes, but is neither UTF-16 nor UTF-32; if it is a "
        "table, save it as UTF-8, as with: iconv -f ENCODING -t UTF-8 OLD > NEW.csv"
    )


@dataclass(frozen=True, kw_only=True)
class Style:
    """How lines are cut into cells.

    Attributes
    ----------
    separator, decimal : one character each
    runs : whether any run of blanks separates
    vectors : whether every row is a word and its vector, so that quotes are words too
    """

    separator: str
    decimal: str = "."
    runs: bool = False
    vectors: bool = False

    def cells(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """The cells of every row; one in quotes may go over several lines."""
        if self.vectors:
            return map(split, lines)
        some = (f"{line.strip()}\n" if self.runs else line for line in lines)
        return csv.reader(some, delimiter=self.separator, skipinitialspace=self.runs)

    def table(self, lines: list[str]) -> list[list[str]]:
        """The cells of the first lines that are not blank."""
        some = (f"{line}\n" for line in islice(lines, 4 * LINES) if line.strip("\r"))
        return [row for row in islice(self.cells(some), LINES) if row]


def find_style(lines: list[str], given: str | None, vectors: bool) -> Style:
    """The style of a table, whose separator may be `given`; words and their `vectors` have blanks between them."""
    if vectors:
        runs = any("\t" in line or "  " in line or line[-1:] == " " for line in lines)
        return Style(separator=" ", runs=runs, vectors=True)
    separator, decimal = _separator(lines, given)
    plain = (QUOTED.sub("x", line) for line in lines)
    runs = separator == " " and any("  " in line or line[:1] == " " for line in plain)
    return Style(separator=separator, decimal=decimal, runs=runs)


def _separator(lines: list[str], given: str | None) -> tuple[str, str]:
    """The separator and the decimal sign under which most cells are numbers, in lines of equal length."""
    scores = [score for separator in ([given] if given else SEPARATORS) for score in _scores(lines, separator, given)]
    _, separator, decimal = max(scores, key=itemgetter(0), default=(0.0, given or ",", "."))
    if separator == "," and not given and _one_column(lines):
        return ";", ","
    first = Style(separator=separator, runs=separator == " ").table(lines[:1])[0]
    if separator != "," and all(is_number(cell, ",") for cell in first) and any("," in cell for cell in first):
        return separator, ","  # the only commas may stand in the first line
    return separator, decimal


def _scores(lines: list[str], separator: str, given: str | None) -> Iterator[tuple[float, str, str]]:
    """How well a separator, with each decimal sign, fits: rows as long as most are, of numbers, without other marks."""
    try:
        table = Style(separator=separator, runs=separator == " ").table(lines)
    except csv.Error:  # one cell of more than 100,000 characters, or a line end inside a line
        return
    rows = table[1:] or table
    width, count = Counter(map(len, rows)).most_common(1)[0]
    if width < 2 and not given:
        return
    cells = [cell for row in rows for cell in row[:CELLS] if not is_missing(cell)]
    marked = sum(any(mark in cell for mark in ";\t|") for cell in cells) / max(1, len(cells))
    regular = count / len(rows) * (1.0 if len(table[0]) == width else 0.5) * (1 - marked)
    for decimal in ".," if separator != "," else ".":
        numbers = sum(is_number(cell, decimal) for cell in cells) / max(1, len(cells))
        yield regular * (0.1 + numbers), separator, decimal


def _one_column(lines: list[str]) -> bool:
    """Whether commas are decimal signs of the only column: every line is such a number, and the header has none."""
    rows = lines[1:] or lines
    return "," not in lines[0] and all(is_number(line, ",") or is_missing(line) for line in rows)


def split(line: str) -> list[str]:
    """The word and the numbers of a line; a quote is a word like any other."""
    return GAPS.split(line.strip(" \t\r\n"))


def counts_of(lines: list[str], certain: bool = False) -> tuple[int, int] | None:
    """Words and the numbers of each, where the first line says how many there are: as many as stand in the next.

    One number for each word is a table of two columns, unless it is `certain` that there are vectors.

    Examples
    --------
    >>> counts_of(["2 3", "king 0.1 0.2 0.3", "queen 0.3 0.1 0.5"])
    (2, 3)
    """
    match = COUNTS.fullmatch(lines[0])
    following = [split(line) for line in lines[1:3] if line.strip()]
    if not match or not following:
        return None
    words, size = map(int, match.groups())
    fits = all(len(cells) == size + 1 and all(map(is_number, cells[1:])) for cells in following)
    return (words, size) if fits and (size > 1 or certain) else None


def are_vectors(lines: list[str], counts: tuple[int, int] | None) -> bool:
    """Whether every line is a word and the numbers of its vector, so that quotes are words too."""
    lines = lines[:LINES]
    table = [split(line) for line in lines if line.strip()]
    if not table or any(len(cells) != len(table[0]) or not all(map(is_number, cells[1:])) for cells in table):
        return False
    if counts:
        return True
    words = [cells[0] for cells in table]
    wordy = sum(not (is_number(word) or is_missing(word)) for word in words) > WORDY * len(words)
    quoted = any(len(word) > 2 and word[0] == word[-1] == '"' for word in words)
    least = 2 if any(word.count('"') % 2 for word in words) else LONG
    if not wordy or quoted or len(table[0]) <= least or len(set(words)) < len(words) or any("\t" in x for x in lines):
        return False
    return not judge_header(table, ".", False)[0]

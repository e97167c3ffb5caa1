"""How a line of text is cut into cells: the separator, the decimal sign, and what quotes mean."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter

from ritz.rows.text.cells import is_missing, is_number
from ritz.rows.text.vectors import split

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas", " ": "blanks"}  # tried in this order
LINES = 200  # that are looked at
CELLS = 1000  # of a line that are looked at
QUOTED = re.compile(r'"[^"]*"')


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


def style_of_vectors(lines: list[str]) -> Style:
    """How words and their vectors are separated: by a blank, or by runs of blanks and tabs."""
    runs = any("\t" in line or "  " in line or line[-1:] == " " for line in lines)
    return Style(separator=" ", runs=runs, vectors=True)


def find_style(lines: list[str], given: str | None) -> Style:
    """The style of a table, whose separator may be `given`."""
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

"""Vectors of words in text: a word and its numbers in every line, between blanks, as GloVe and fastText write them."""

from __future__ import annotations

import re

from ritz.rows.text.cells import is_missing, is_number
from ritz.rows.text.header import judge_header

COUNTS = re.compile(r"\s*(\d+)[ \t]+(\d+)\s*", re.ASCII)
GAPS = re.compile(r"[ \t]+")
WORD = "word"  # what the column is called that nobody named
WORDY, LONG = 0.5, 4  # share of words in a first column, and numbers behind each, that make vectors


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

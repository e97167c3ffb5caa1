"""Cells of a text: which of them are numbers, which say that there is none, and what a column of them holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

# Words for a value that is not there, in the languages that write tables.
MISSING = (
    "", "NA", "N/A", "n/a", "na", "<NA>", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-NaN", "-nan", "NAN", "null",
    "NULL", "Null", "None", "none", "NaT", "missing", "?", ".", "-", "--", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
    "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?",
)  # fmt: skip
TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
NUMBER = re.compile(r"\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?)\s*", re.IGNORECASE | re.ASCII)
MOSTLY = 0.8  # share of numbers that makes a column one of numbers


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell holds a number."""
    if decimal == ",":
        cell = cell.replace(".", "x").replace(",", ".")
    return NUMBER.fullmatch(cell) is not None


def number(cell: str, decimal: str = ".") -> float:
    """The number in a cell that holds one."""
    return float(cell.replace(",", ".") if decimal == "," else cell)


def is_truth(cell: str) -> bool:
    """Whether a cell says true or false, which are the numbers 1 and 0."""
    return cell.strip() in (*TRUE, *FALSE)


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value."""
    return cell.strip() in MISSING


def is_count(cell: str) -> bool:
    """Whether a cell is written as 0, 1, 2, … are, so that it may be a name as well as a number."""
    return cell.strip().isascii() and cell.strip().isdigit()


class Kind(Enum):
    """What a column holds."""

    NUMBERS = auto()
    TRUTHS = auto()  # true and false, which are the numbers 1 and 0
    TEXT = auto()
    NOTHING = auto()  # every cell is missing


@dataclass(frozen=True)
class Column:
    """What a column holds; `odd` is a cell of text in a column of which at least half are numbers."""

    kind: Kind
    odd: str = ""

    @classmethod
    def of(cls, cells: list[str], decimal: str) -> Column:
        """What a column is, by its cells.

        One word among many numbers, however often it stands there, is a mistake to be reported with its line, and no
        reason to leave all of them out. Many different words are codes, some of which happen to be numbers: the column
        is left out, and one of them is named.
        """
        there = [cell for cell in cells if not is_missing(cell)]
        others = [cell for cell in there if not is_number(cell, decimal)]
        numbers, truths = len(there) - len(others), sum(map(is_truth, others))
        if not there:
            return cls(Kind.NOTHING)
        if truths and truths >= MOSTLY * len(there):
            return cls(Kind.TRUTHS)
        alike = len({cell.strip() for cell in others}) < 2 and numbers > len(others)
        if not others or alike or numbers >= MOSTLY * len(there):
            return cls(Kind.NUMBERS)
        return cls(Kind.TEXT, others[0] if numbers >= len(others) else "")

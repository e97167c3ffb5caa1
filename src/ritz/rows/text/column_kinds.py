"""What the columns of a table in text hold, by their cells."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from ritz.rows.text.cells import is_missing, is_number, is_truth

MOSTLY = 0.8  # share of numbers that makes a column one of numbers


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

"""Cells of a text: which of them are numbers, and which say that there is none."""

from __future__ import annotations

import re

# Words for a value that is not there, in the languages that write tables.
MISSING = (
    "", "NA", "N/A", "n/a", "na", "<NA>", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-NaN", "-nan", "NAN", "null",
    "NULL", "Null", "None", "none", "NaT", "missing", "?", ".", "-", "--", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
    "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?",
)  # fmt: skip
TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
NUMBER = re.compile(r"\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?)\s*", re.IGNORECASE | re.ASCII)


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

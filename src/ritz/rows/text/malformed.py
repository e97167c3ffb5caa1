"""Where a text departs from its dialect: the line, the column and the cell that are to blame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ritz.errors import DataError
from ritz.rows.text.cells import Kind, is_missing, is_number, is_truth
from ritz.rows.text.dialect import Dialect
from ritz.rows.text.lines import Lines, Piece

SHOWN = 60  # letters of a row or a cell in a message


class Malformed(NamedTuple):
    """A line that is not as the others are: the place and the text of a cell, or what is wrong with all of it."""

    line: int
    column: int | None
    what: str

    def error(self, path: Path, dialect: Dialect, needed: bool) -> DataError:
        """The place and the reason; a model may have `needed` the column."""
        place = f"line {self.line} of {path}"
        if self.column is None:
            return DataError(f"{place} {self.what}")
        kind = "neither true nor false" if dialect.columns[self.column].kind is Kind.TRUTHS else "not a number"
        found = f"{place}, column {dialect.keys[self.column]!r}: {self.what!r} is {kind}"
        if needed:
            return DataError(f"{found}, and the model needs that column", "correct the cell", "needed cell")
        advice = "pass columns= without it, or mark missing values as NA"
        return DataError(f"{found}, unlike others of that column", advice, "not a number")


def find_malformed(piece: Piece, lines: Lines, dialect: Dialect, columns: Iterable[int]) -> Iterator[Malformed]:
    """What is not as the dialect says, in rows and in the cells of some columns."""
    columns, width = list(columns), dialect.width
    line, start = piece.line, 0
    for end in lines.ends(piece.text):
        row = piece.text[start:end].decode("utf-8", "replace").removesuffix("\r")
        inside = "\r" in row and dialect.newline == "\n"
        cells = next(dialect.cells([row]), []) if row.strip() and not inside else []
        if inside:
            yield Malformed(line, None, f"has a carriage return inside: {row[:SHOWN]!r}")
        elif cells and len(cells) != width:
            yield Malformed(line, None, f"has {len(cells)} cells, not {width}: {row[:SHOWN]!r}")
        else:
            odd = (j for j in columns if cells and not _fits(cells[j], dialect, j))
            yield from (Malformed(line, j, cells[j][:SHOWN]) for j in odd)
        line, start = line + 1 + row.count(dialect.newline), int(end) + 1


def _fits(cell: str, dialect: Dialect, j: int) -> bool:
    number = is_truth(cell) if dialect.columns[j].kind is Kind.TRUTHS else is_number(cell, dialect.decimal)
    return number or is_missing(cell)

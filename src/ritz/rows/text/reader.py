"""What a piece of text holds: numbers, or cells as they are written, or an error that names the line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyarrow import ArrowException

from ritz.errors import FILE, DataError
from ritz.rows.base import Block
from ritz.rows.large_integers import all_small, check_numbers, exact_number, is_large, is_rounded
from ritz.rows.text.cells import Kind, is_missing, is_number, is_truth
from ritz.rows.text.dialect import Dialect
from ritz.rows.text.lines import Lines, Piece
from ritz.rows.text.parsing import Ragged, numbers, present, squeezed, words
from ritz.rows.text.style import LINES
from ritz.runtime import threads

SHOWN = 60  # letters of a row or a cell in a message


class Malformed(NamedTuple):
    """A line that is not as the others are: the place and the text of a cell, or what is wrong with all of it."""

    line: int
    column: int | None
    what: str


@dataclass(frozen=True)
class Reader:
    """Columns are known by their places in the file. A model may have `needed` them."""

    path: Path
    dialect: Dialect
    lines: Lines
    needed: bool

    def values(self, piece: Piece, columns: list[int]) -> Block:
        """The numbers of some columns, NaN where they are missing."""
        return self._parsed(numbers, piece, columns)

    def exact_values(self, piece: Piece, columns: list[int]) -> Block:
        """The same, unless float64 cannot hold one of the numbers as it is written."""
        values = self.values(piece, columns)
        if all_small(values):
            return values
        for k in np.flatnonzero(is_large(values).any(axis=0)):
            j = columns[k]
            check_numbers(values[:, k], self._exact_number(piece, j), f"column {self.dialect.keys[j]!r}")
        return values

    def words(self, piece: Piece, columns: list[int]) -> dict[int, NDArray[Any]]:
        """The cells of some columns as text."""
        return dict(zip(columns, self._parsed(words, piece, columns), strict=True)) if columns else {}

    def first_values(self, columns: list[int]) -> dict[int, list[str]]:
        """The first cells of some columns that are not missing; read until all have enough to tell what they hold."""
        found: dict[int, list[str]] = {j: [] for j in columns}

        def look(piece: Piece) -> dict[int, list[str]]:
            wanted = [j for j, cells in found.items() if len(cells) < LINES]
            return dict(zip(wanted, self._parsed(present, piece, wanted), strict=True)) if wanted else {}

        with closing(threads.ordered(look, self.lines.pieces(), threads.pinned.budget())) as parts:
            for part in parts:
                for j, cells in part.items():
                    found[j] += cells[: LINES - len(found[j])]
                if min(map(len, found.values())) == LINES:
                    break
        return found

    def as_written(self, piece: Piece, columns: list[int]) -> dict[int, NDArray[Any]]:
        """Columns that are not computed with: true and false, and Python's integers where float64 cannot hold them."""
        values = self.values(piece, columns).T if columns else ()
        return {j: self._as_written(piece, j, column) for j, column in zip(columns, values, strict=True)}

    def _as_written(self, piece: Piece, j: int, values: NDArray[Any]) -> NDArray[Any]:
        if self._holds_truths(j):
            truths = np.asarray(values == 1, object if np.isnan(values).any() else bool)
            truths[np.isnan(values)] = None
            return truths
        large = np.flatnonzero(is_large(values))
        given = list(map(self._exact_number(piece, j), large.tolist())) if len(large) else []
        if not any(map(is_rounded, given)):
            return values
        exact = values.astype(object)
        for i, value in zip(large, given, strict=True):
            exact[i] = int(value) if isinstance(value, Decimal) and value == int(value) else float(value)
        return exact

    def _exact_number(self, piece: Piece, j: int) -> Callable[[int], Any]:
        """The i-th number of a column, with all the digits that are written."""
        cells = self.words(piece, [j])[j]
        return lambda i: exact_number(cells[i], self.dialect.decimal)

    def _parsed(self, parse: Any, piece: Piece, columns: list[int]) -> Any:
        """What `parse` makes of a text without blank lines or runs of blanks, with usual line ends."""
        text = self.lines.without_blank(piece.text)
        text = text.replace(b"\r", b"\n") if self.dialect.newline == "\r" else text
        text = squeezed(text, not self.dialect.vectors) if self.dialect.runs else text
        try:
            return parse(text, self.dialect, columns)
        except (ArrowException, Ragged) as error:
            raise self._explained(piece, error, columns if parse is numbers else []) from error

    def _explained(self, piece: Piece, error: Exception, columns: list[int]) -> DataError:
        """Where the text first departs from the dialect, in its rows or in columns of numbers."""
        found = next(self.malformed(piece, columns), None)
        if found is None:
            return DataError(f"{FILE} cannot be parsed from line {piece.line} on: {error}", file=self.path)
        place = f"line {found.line} of {FILE}"
        if found.column is None:
            return DataError(f"{place} {found.what}", file=self.path)
        kind = "neither true nor false" if self._holds_truths(found.column) else "not a number"
        cell = f"{place}, column {self.dialect.keys[found.column]!r}: {found.what!r} is {kind}"
        if self.needed:
            problem = f"{cell}, and the model needs that column"
            return DataError(problem, "correct the cell", "needed_cell", file=self.path)
        advice = "pass columns= without it, or mark missing values as NA"
        return DataError(f"{cell}, unlike the other cells of that column", advice, "not_a_number", file=self.path)

    def malformed(self, piece: Piece, columns: Collection[int]) -> Iterator[Malformed]:
        """What is not as the dialect says, in rows and in the cells of some columns."""
        dialect, line, start = self.dialect, piece.line, 0
        for end in self.lines.ends(piece.text):
            row = piece.text[start:end].decode("utf-8", "replace").removesuffix("\r")
            inside = "\r" in row and dialect.newline == "\n"
            cells = next(dialect.cells([row]), []) if row.strip() and not inside else []
            if inside:
                yield Malformed(line, None, f"has a carriage return inside: {row[:SHOWN]!r}")
            elif cells and len(cells) != dialect.width:
                yield Malformed(line, None, f"has {len(cells)} cells, not {dialect.width}: {row[:SHOWN]!r}")
            elif cells:
                yield from (Malformed(line, j, cells[j][:SHOWN]) for j in columns if not self._fits(cells[j], j))
            line, start = line + 1 + row.count(dialect.newline), int(end) + 1

    def _fits(self, cell: str, j: int) -> bool:
        number = is_truth(cell) if self._holds_truths(j) else is_number(cell, self.dialect.decimal)
        return number or is_missing(cell)

    def _holds_truths(self, j: int) -> bool:
        return self.dialect.columns[j].kind is Kind.TRUTHS

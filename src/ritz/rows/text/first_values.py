"""Columns that hold nothing in the first lines of a text: their first values, further on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing

from ritz.rows.text.lines import Piece
from ritz.rows.text.separators import LINES
from ritz.runtime import threads


def first_values(
    pieces: Iterable[Piece], columns: list[int], parse: Callable[[Piece, list[int]], list[list[str]]]
) -> dict[int, list[str]]:
    """The first cells of some columns that are not missing, as `parse` finds them; read until all have enough."""
    found: dict[int, list[str]] = {j: [] for j in columns}

    def lacking() -> list[int]:
        return [j for j, cells in found.items() if len(cells) < LINES]

    def look(piece: Piece) -> dict[int, list[str]]:
        wanted = lacking()
        return dict(zip(wanted, parse(piece, wanted), strict=True)) if wanted else {}

    with closing(threads.ordered(look, pieces, threads.pinned.budget())) as parts:
        for part in parts:
            for j, cells in part.items():
                found[j] += cells[: LINES - len(found[j])]
            if not lacking():
                break
    return found

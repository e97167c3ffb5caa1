"""CSV and its relatives: parsed by pyarrow with all cores, part by part, types fixed beforehand."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import FILE, ColumnWarning, DataError
from ritz.rows.base import Block
from ritz.rows.formats.signatures import check_is_text
from ritz.rows.formats.streamed import PARTS, Streamed, runs_of
from ritz.rows.text.cells import Kind
from ritz.rows.text.dialect import Dialect, detect
from ritz.rows.text.lines import PART_BYTES, Lines, Piece, first_lines
from ritz.rows.text.reader import SHOWN, Reader
from ritz.rows.text.style import LINES, WORD
from ritz.runtime import threads
from ritz.runtime.threads import cached_property


class Text(Streamed):
    """Numbers between separators. A plain file is parsed in parts side by side, any other in order, some ahead.

    Parameters
    ----------
    header : whether the first line names the columns; None finds out
    expected : names that a model knows: a first line that holds them is a header
    needed : columns that a model needs, by name or place, which therefore hold numbers
    """

    tabular = True
    keys: tuple[Any, ...]

    def __init__(
        self,
        path: Path,
        header: bool | None = None,
        expected: Collection[str] | None = None,
        needed: Collection[Any] | None = None,
    ) -> None:
        self._path = path
        head, whole = first_lines(path)
        check_is_text(head, path)
        self.dialect: Dialect = detect(head, path, whole, header, expected)
        if empty := [j for j, column in enumerate(self.dialect.columns) if column.kind is Kind.NOTHING]:
            # In the lines looked at: what they hold stands further on.
            reader = Reader(path, self.dialect, self._lines, needed is not None)
            self.dialect = self.dialect.with_values(reader.first_values(empty))
        self.dialect = self.dialect.needing(needed or ())
        self._choose_columns()
        self._reader = Reader(path, self.dialect, self._lines, needed is not None)
        self.about = str(self.dialect)
        self._explain_mixed()
        counts = self._lines.rows if self._lines.plain else [sum(self._lines.rows)]
        self.edges = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        if not self.edges[-1]:
            raise DataError(f"{FILE} holds no rows")
        self.shape, self.dtype = (int(self.edges[-1]), len(self._picked)), np.dtype(np.float64)
        self.remarks = tuple(self._remarks())

    @cached_property
    def _lines(self) -> Lines:
        """Counting them takes a pass, so it is done only once it is known that there are numbers."""
        return Lines(self._path, self.dialect)

    def _remarks(self) -> Iterator[ColumnWarning]:
        """What was done that the reader may have to undo."""
        dialect = self.dialect
        if dialect.doubt:
            right = "pass header=True if it names the columns, header=False if it is a row"
            yield ColumnWarning(f"{self._path.name}: {dialect.doubt}", right, "header")
        if dialect.counts:
            words, size = dialect.counts
            more = "" if words == self.shape[0] else f"; it says {words} words, but there are {self.shape[0]}"
            skipped = f"the first line ({words} {size}), which counts words and numbers, was skipped{more}"
            yield ColumnWarning(f"{self._path.name}: {skipped}")

    def _choose_columns(self) -> None:
        """Numbers are picked; text, and columns of nothing that nobody named, are left out."""
        dialect = self.dialect
        self.keys = keys = dialect.keys
        if dialect.vectors:
            self.vectors = True
            self.others, self.named_by = {WORD: lambda count: self.column(WORD)[:count]}, WORD
        nameless = {name for _, name in dialect.renamed} if dialect.names else set(keys)
        kinds = {key: column.kind for key, column in zip(keys, dialect.columns, strict=True) if key not in self.others}
        self.text_columns = tuple(key for key, kind in kinds.items() if kind is Kind.TEXT)
        empty = (key for key, kind in kinds.items() if kind is Kind.NOTHING and key in nameless)
        out = dict.fromkeys(self.text_columns, "text") | dict.fromkeys(empty, "empty")
        self.left_out = {key: out[key] for key in keys if key in out}
        self._picked = [j for j, key in enumerate(keys) if not self.is_aside(key)]
        if not self._picked:
            raise self._no_numbers()
        self.renamed = dialect.renamed
        if dialect.names or len(self._picked) < dialect.width:
            self.names = tuple(keys[j] for j in self._picked)

    def _no_numbers(self) -> DataError:
        odd = ((key, column.odd) for key, column in zip(self.keys, self.dialect.columns, strict=True) if column.odd)
        key, cell = next(odd, (None, None))
        what = "numbers" if cell is None else f"only numbers; column {key!r} also holds {cell!r}"
        return DataError(f"no column of {FILE} holds {what}; the text was read as {self.dialect}")

    def _explain_mixed(self) -> None:
        """Say of columns that are left out as text, although at least half of their cells are numbers, why they are."""
        odd = {j: column.odd for j, column in enumerate(self.dialect.columns) if column.odd}
        if not odd:
            return
        first: dict[int, str] = {}
        for place in self._reader.malformed(self._beginning(0, LINES), odd):
            if place.column is not None:
                first.setdefault(place.column, f"{place.what!r} in line {place.line}")
        cells = {j: repr(cell.strip()[:SHOWN]) for j, cell in odd.items()} | first
        advice = "codes are not decomposed; if it should hold numbers, correct such cells or mark them as NA"
        self.mixed = {self.keys[j]: f"text and numbers, such as {cell}; {advice}" for j, cell in cells.items()}
        self.left_out = {**self.left_out, **self.mixed}

    @property
    def reading(self) -> int:
        """The text of a part, its cells and masks, and their numbers: "0," becomes 8 bytes."""
        return 16 * min(PART_BYTES, self._lines.longest) * (1 if self._lines.plain else 2)

    @property
    def threads(self) -> int:
        """Threads that read, or those that parse where one of them reads from the beginning."""
        return super().threads if self._lines.plain else min(threads.pinned.budget(), self.most_threads)

    def stream(self, part: int, step: int) -> Iterator[Block]:
        at, end = self.edges[part : part + 2]
        lines, exact = self._lines, partial(self._reader.exact_values, columns=self._picked)
        # All parts in order, while the next ones are being parsed, where only the beginning can be reached.
        ahead = [exact(lines.part(part))] if lines.plain else threads.ordered(exact, lines.pieces(), self.threads)
        for values in ahead:
            at += len(values)
            self._check_count(at, end, lines.plain)
            yield from (values[i : i + step] for i in range(0, len(values), step))

    def spread(self, size: int) -> Block:
        """Rows from all over; where only the beginning can be reached, all is unpacked, but not parsed."""
        if self._lines.plain:
            return super().spread(size)
        wanted = set(np.linspace(0, len(self._lines.rows) - 1, PARTS).astype(int).tolist())
        every = max(1, -(-sum(self._lines.rows[part] for part in wanted) // size))
        pieces = (piece for i, piece in enumerate(self._lines.pieces()) if i in wanted)
        return np.concatenate([self._reader.values(piece, self._picked)[::every] for piece in pieces])

    def glimpse(self, size: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], Block]:
        """The same: all is unpacked where only the beginning can be reached, but not parsed."""
        if self._lines.plain or size >= self.shape[0]:
            return super().glimpse(size, rng)
        starts = np.concatenate([[0], np.cumsum(self._lines.rows)])
        wanted = np.unique(np.linspace(0, len(self._lines.rows) - 1, PARTS).astype(int))
        blocks = (
            (int(starts[i]), self._reader.values(piece, self._picked))
            for i, piece in enumerate(self._lines.pieces())
            if i in wanted
        )
        return runs_of(blocks, size, int(np.diff(starts)[wanted].sum()), rng)

    def head(self, part: int, count: int) -> Block:
        return self._reader.values(self._beginning(part, count), self._picked)[:count]

    def _beginning(self, part: int, count: int) -> Piece:
        """At least so many rows from the beginning of a part, if it has them."""
        piece = self._lines.part(part) if self._lines.plain else next(self._lines.pieces())
        ends = self._lines.ends(piece.text)[: 2 * count]  # some lines may be blank
        return Piece(piece.text[: int(ends[-1]) + 1], piece.line)

    def some(self, columns: NDArray[np.intp]) -> Text:
        some = copy(self)
        some._picked = [self._picked[j] for j in columns]
        some.names = None if self.names is None else tuple(self.names[j] for j in columns)
        some.shape = (self.shape[0], len(columns))
        return some

    def column(self, key: Any) -> NDArray[Any]:
        return self.cells([key])[key]

    def cells(self, keys: Iterable[Any]) -> dict[Any, NDArray[Any]]:
        return self._columns(keys, self._lines.pieces(), complete=True)

    def as_labels(self, key: Any) -> NDArray[Any]:
        try:
            return self.column(key)
        except DataError:  # a word among numbers is a label like any other
            return self.raw_cells([key])[key]

    def raw_cells(self, keys: Iterable[Any]) -> dict[Any, NDArray[Any]]:
        return self._columns(keys, self._lines.pieces(), complete=True, as_text=True)

    def peek(self, keys: Iterable[Any], count: int) -> dict[Any, NDArray[Any]]:
        parts = self.some_parts if self._lines.plain else [0]  # tables are often sorted by what tells their rows apart
        return self._columns(keys, (self._beginning(part, count) for part in parts))

    def _columns(
        self, keys: Iterable[Any], pieces: Iterator[Piece], complete: bool = False, as_text: bool = False
    ) -> dict[Any, NDArray[Any]]:
        """Columns, numbers or text, out of some pieces, which may be all there are."""
        places = {key: self._place(key) for key in keys}
        texts = sorted({j for j in places.values() if as_text or self.is_aside(self.keys[j])})
        rest = sorted(set(places.values()) - set(texts))

        def columns(piece: Piece) -> dict[int, NDArray[Any]]:
            return self._reader.words(piece, texts) | self._reader.as_written(piece, rest)

        parts = list(threads.ordered(columns, pieces, self.threads)) if places else []
        found = {key: np.concatenate([part[j] for part in parts]) for key, j in places.items()}
        for values in found.values() if complete else ():
            self._check_count(len(values), self.shape[0], True)
        return found

    def _check_count(self, at: int, end: int, complete: bool) -> None:
        """Rows that were parsed are those that were counted, before anyone works with rows that are not there."""
        if at > end or (complete and at < end):
            problem = f"{FILE} was counted as {end} rows up to here, but parsed as {at}; did it change?"
            raise DataError(problem, file=self._path)

    def _place(self, key: Any) -> int:
        """Where a column stands in the file, whether it holds numbers or not and whether it was chosen or not."""
        key = self.resolved(key)
        return self.keys.index(key) if key in self.keys else self._picked[self.position(key)]

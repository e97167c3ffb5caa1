"""The lines of a text file, plain or compressed, in pieces that hold whole rows.

A row begins at the beginning of the table and after every line end, but not after one that ends the file. A piece
begins where a row begins and ends with a line end, which is added where the file ends without one.
"""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ritz.errors import FILE, DataError
from ritz.rows.text.dialect import Dialect
from ritz.runtime import threads

PART_BYTES = 1 << 22  # of text, parsed at a time
HEAD_BYTES, HEAD_LINES = 1 << 20, 8  # looked at first
LONGEST = 1 << 28  # bytes of a row
COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
QUOTE, RETURN = b'"'[0], b"\r"[0]


class Piece(NamedTuple):
    """Whole rows, the last of them with its line end, and the number of their first line in the file."""

    text: bytes
    line: int


class _Part(NamedTuple):
    """Bytes of the file from where a row begins to where the next part does, and the rows and lines in them."""

    start: int
    stop: int
    rows: int
    lines: int


class Lines:
    """The rows of a table in text. A plain file in UTF-8 is cut into parts, any other is read from its beginning."""

    def __init__(self, path: Path, dialect: Dialect) -> None:
        self._path, self._dialect = path, dialect
        self._newline = dialect.newline.encode()
        self._quotes = not dialect.vectors  # whether they may hold line ends
        self.plain = path.suffix.lower() not in COMPRESSED and dialect.encoding == "utf-8"
        found = self._side_by_side() if self.plain and not dialect.runs else None
        self._full = found is not None  # whether no line is blank
        self._parts = found or self._one_by_one()
        self.rows = tuple(part.rows for part in self._parts)
        self.longest = max(part.stop - part.start for part in self._parts)  # bytes of a part
        self._first_lines = list(accumulate((part.lines for part in self._parts), initial=dialect.skipped + 1))

    def part(self, i: int) -> Piece:
        """One part of a plain file."""
        part = self._parts[i]
        return Piece(self._ended(self._bytes(part.start, part.stop)), self._first_lines[i])

    def pieces(self) -> Iterator[Piece]:
        """All parts in order."""
        if self.plain:
            return map(self.part, range(len(self._parts)))
        texts = zip(self._texts(), self._first_lines, strict=False)
        return (Piece(self._ended(text), line) for (_, text), line in texts)

    def ends(self, text: bytes) -> NDArray[np.intp]:
        """Where rows end: line ends that are not inside quotes."""
        codes = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero(codes == self._newline[0])
        if self._quotes and QUOTE in text:
            # A place is inside where an odd number of quotes stands before it; a doubled one opens and closes at once.
            ends = ends[np.searchsorted(np.flatnonzero(codes == QUOTE), ends) % 2 == 0]
        return ends

    def without_blank(self, text: bytes) -> bytes:
        """The same rows without the blank lines between them."""
        if self._full:
            return text
        ends = self.ends(text)
        blank = self._blank(text, ends)
        if not blank.any():
            return text
        starts = np.concatenate([[0], ends[:-1] + 1])
        kept = zip(starts[~blank], ends[~blank] + 1, strict=True)
        return b"".join(text[start:stop] for start, stop in kept)

    def _side_by_side(self) -> list[_Part] | None:
        """The parts, counted by all cores; None where a line may not be a row.

        The file is looked at in windows of equal size, and a part has the rows that begin after a line end of its
        window; the first part also has the row at the beginning of the table.
        """
        size = self._path.stat().st_size
        with self._path.open("rb") as stream:
            begin = self._begin(stream)[1]
        windows = list(range(begin, size, PART_BYTES)) or [begin]
        firsts, counts = list[int](), list[int]()
        for found in threads.ordered(lambda at: self._rows_of(at, begin, size), windows, threads.pinned.budget()):
            if found is None:
                return None
            if found[1]:
                firsts.append(found[0])
                counts.append(found[1])
        return [_Part(*ends, count, count) for ends, count in zip(pairwise([*firsts, size]), counts, strict=True)]

    def _rows_of(self, window: int, begin: int, size: int) -> tuple[int, int] | None:
        """Where the first row of a window begins, and how many there are; None where lines may not be rows."""
        early = max(begin, window - 2)  # a blank line may lie across two windows
        text = self._bytes(early, min(window + PART_BYTES, size))
        ends = self.ends(text)
        blank = self._blank(text, ends)[0 if window == begin else 1 :]  # the first line may have begun before
        starts = ends[ends >= window - early] + early + 1
        if (self._quotes and QUOTE in text) or blank.any() or not len(starts):  # a row may be longer than a window
            return None
        first, count = int(starts[0]), len(starts) - int(starts[-1] == size)
        return (begin, count + 1) if window == begin else (first, count)

    def _one_by_one(self) -> list[_Part]:
        """The same where quotes may hold line ends, or lines are blank, or only the beginning can be reached."""
        found: list[_Part] = []
        for start, text in self._texts():
            whole = self._ended(text)
            if self._quotes:
                self._check_quotes(whole, self._dialect.skipped + 1 + sum(part.lines for part in found))
            rows = int(np.count_nonzero(~self._blank(whole, self.ends(whole))))
            found.append(_Part(start, start + len(text), rows, whole.count(self._newline)))
        if not found:
            raise DataError(f"{FILE} holds no rows")
        return found

    def _check_quotes(self, text: bytes, line: int) -> None:
        """Quotes open a cell at its beginning and close it at its end; another one could hide the ends of rows."""
        places = np.flatnonzero(np.frombuffer(text, np.uint8) == QUOTE)
        around = np.frombuffer(b"\n" + text + b"\n", np.uint8)
        allowed = np.frombuffer(b'\r\n" ' + self._dialect.separator.encode(), np.uint8)
        beside = np.where(np.arange(len(places)) % 2 == 0, around[places], around[places + 2])
        wrong = places[~np.isin(beside, allowed)]
        if len(wrong) or len(places) % 2:
            at = line + text.count(self._newline, 0, int((wrong if len(wrong) else places[-1:])[0]))
            raise DataError(
                f"line {at} of {FILE} has a quote that does not open a cell or is never closed; remove it, or "
                "double it and put the cell in quotes"
            )

    def _blank(self, text: bytes, ends: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Of lines that end there, which are blank."""
        codes = np.frombuffer(text, np.uint8)
        lengths = np.diff(ends, prepend=-1) - 1
        blank = (lengths == 0) | ((lengths == 1) & (codes[ends - 1] == RETURN))
        if self._dialect.separator != "\t" and len(ends):
            # Lines that begin with a blank may hold nothing else.
            for i in np.flatnonzero((lengths > 0) & np.isin(codes[ends - lengths], (ord(" "), ord("\t")))):
                blank[i] = not text[ends[i] - lengths[i] : ends[i]].strip()
        return blank

    def _texts(self) -> Iterator[tuple[int, bytes]]:
        """The rows in order, in texts that end with a line end unless the file does not, and where they begin."""
        with _opened(self._path, self._dialect.encoding) as stream:
            text, at = self._begin(stream)
            while more := stream.read(PART_BYTES):
                text += more
                ends = self.ends(text)
                if len(ends):
                    cut = int(ends[-1]) + 1
                    yield at, text[:cut]
                    text, at = text[cut:], at + cut
                elif len(text) > LONGEST:
                    problem = f"{FILE} has a row of over {LONGEST} bytes, or a quote is left open"
                    raise DataError(problem, file=self._path)
        if text.strip():
            yield at, text

    def _begin(self, stream: Any) -> tuple[bytes, int]:
        """What was read of a stream beyond the lines before the first row, and how many bytes those take."""
        text = stream.read(HEAD_BYTES)
        at = len(BOM_UTF8) if text.startswith(BOM_UTF8) else 0
        for _ in range(self._dialect.skipped):
            while (end := text.find(self._newline, at)) < 0 and (more := stream.read(HEAD_BYTES)):
                text += more
            at = end + 1 if end >= 0 else len(text)
        return text[at:], at

    def _ended(self, text: bytes) -> bytes:
        return text if text.endswith(self._newline) else text + self._newline

    def _bytes(self, start: int, stop: int) -> bytes:
        with self._path.open("rb", buffering=0) as file:
            return os.pread(file.fileno(), stop - start, start)


def first_lines(path: Path) -> tuple[bytes, bool]:
    """The beginning of a file: some lines, or all there are, and whether they are."""
    with _opened(path) as stream:
        size, head = HEAD_BYTES, stream.read(HEAD_BYTES)
        while len(head) == size and head.count(b"\n") + head.count(b"\r") <= HEAD_LINES:
            if size > LONGEST:
                few = f"fewer than {HEAD_LINES} lines in its first {size} bytes"
                raise DataError(f"{FILE} has {few}, so it is not a table")
            size *= 4
            head += stream.read(size - len(head))
    return head, len(head) < size


def unpacked(path: Path) -> bytes:
    """All bytes of a small file, unpacked."""
    with _opened(path) as stream:
        found: bytes = stream.read(LONGEST + 1)
    if len(found) > LONGEST:
        raise DataError(f"{FILE} has more than {LONGEST} bytes, too many for a file of labels", file=path)
    return found


def pyarrow_file(path: Path) -> Any:
    """A file as pyarrow opens it, by its true name: as text it would have to be UTF-8."""
    return pa.OSFile(os.fsencode(path))


@contextmanager
def _opened(path: Path, encoding: str = "utf-8") -> Iterator[Any]:
    """The text from its beginning, unpacked and in UTF-8; what goes wrong with it is an error that names the file."""
    try:
        stream = pa.input_stream(pyarrow_file(path), compression=COMPRESSED.get(path.suffix.lower()))
        with stream if encoding == "utf-8" else pa.transcoding_input_stream(stream, encoding, "utf-8") as text:
            yield text
    except UnicodeDecodeError as error:
        raise DataError(f"{FILE} is not text in a known encoding; save it as UTF-8", file=path) from error
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{FILE} cannot be read to its end: {error}", file=path) from error

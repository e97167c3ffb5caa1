"""Arrow IPC, files (Feather too) and streams: batches are found once and read by all cores."""

from __future__ import annotations

import mmap
import struct
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from ritz.errors import FILE, DataError
from ritz.rows.columns import shown
from ritz.rows.formats.flat import Handle
from ritz.rows.formats.flatbuffers import batches_of, body_length, claim_of, field, header_of, reference, root
from ritz.rows.formats.table import Table, arrow_damage
from ritz.rows.text.lines import pyarrow_file

MAGIC, STREAM = b"ARROW1", b"\xff\xff\xff\xff"  # how a file and a stream begin
END = STREAM + bytes(4)  # how a stream ends; a message has the bytes that describe it in place of the zeros
TAIL = 4 + len(MAGIC)  # bytes after the footer of a file: its length, and the magic again
SLICE_BYTES = 1 << 22  # of a batch that is not compressed, so that any core can read its share


class _Message(NamedTuple):
    """Where a message begins, and how many bytes describe it and how many it holds."""

    start: int
    described: int
    body: int

    @property
    def end(self) -> int:
        return sum(self)


class _Slice(NamedTuple):
    """Rows of a record batch."""

    batch: int
    first: int
    rows: int


class Arrow(Table):
    """An Arrow file, or a stream that was saved, told by how they begin.

    One part per record batch, or several where a large one can be cut without unpacking it. Of a batch that is not
    compressed only those bytes are read that hold the rows of a part: a map of it would end the process where the file
    becomes shorter.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, Handle(path)
        head = self._file.bytes(0, min(len(END), self._file.size))
        if head.startswith(b"FEA1"):
            raise DataError(f"{FILE} is a Feather file of version 1; write it again as version 2")
        if not head.startswith((MAGIC, STREAM)):
            raise DataError(f"{FILE} is neither an Arrow file nor a stream: it begins with {head!r}, not {MAGIC!r}")
        with arrow_damage(f"{FILE} is not a valid Arrow file (truncated or corrupt)", path):
            self._filed = head.startswith(MAGIC)
            self._schema, self._messages = self._in_file() if self._filed else self._in_stream()
            self._plain = _plain(self._schema)
            claims = [claim_of(self._read(message)[0]) for message in self._messages]
            self._packed = [packed for _, packed in claims]
            self._parts = [part for i, claim in enumerate(claims) for part in self._cut(i, *claim)]
            self._describe(part.rows for part in self._parts)

    @property
    def reading(self) -> int:
        """A batch as it is stored, unpacked, and its numbers."""
        most = max(part.rows for part in self._parts)
        return (3 if any(self._packed) else 2) * self.dtype.itemsize * self.shape[1] * most

    def _where(self, part: int) -> tuple[str, Path]:
        return f"record batch {self._parts[part].batch} of {FILE}", self._path

    def _batches(self, part: int, rows: int) -> Iterator[Any]:
        from pyarrow import ipc

        i, first, count = self._parts[part]
        with arrow_damage(f"record batch {i} of {FILE} is damaged", self._path):
            message, buffer = self._read(self._messages[i], whole=self._packed[i])
            batch = ipc.read_record_batch(message, self._plain).select(list(self._picked))
            batch.validate()  # lengths, before anything is read that they tell of
            if not self._packed[i]:
                for column in batch.columns:
                    self._fetch(column, first, count, self._messages[i].start, buffer)
            batch = batch.slice(first, count)
            batch.validate(full=True)  # offsets of lists may point anywhere
        yield from (batch.slice(start, rows) for start in range(0, batch.num_rows, rows))

    def _fetch(self, array: Any, first: int, count: int, start: int, buffer: Any) -> None:
        """Read some entries of a column from the file into the buffer of its message, which begins at `start` there."""
        import numpy as np
        import pyarrow.types as types

        kind, (valid, *buffers) = array.type, array.buffers()

        def fetch_bits(part: Any, low: int, high: int) -> None:
            low, high = low // 8, min(-(-high // 8), 0 if part is None else part.size)
            if low < high:
                at = part.address - buffer.address
                self._file.read(memoryview(buffer)[at + low : at + high], start + at + low)

        fetch_bits(valid, first, first + count)
        if types.is_nested(kind):
            if types.is_fixed_size_list(kind):
                first, last = first * kind.list_size, (first + count) * kind.list_size
            else:
                width = 8 if types.is_large_list(kind) else 4
                fetch_bits(buffers[0], 8 * width * first, 8 * width * (first + count + 1))
                ends = np.frombuffer(buffers[0], f"i{width}")[first : first + count + 1]
                first, last = (int(end) for end in (ends[0], ends[-1])) if len(ends) else (0, 0)
            values = array.values
            fetch_bits(values.buffers()[0], 0, len(values))  # gaps inside of vectors are counted in all of them
            first, last = max(0, first), min(last, len(values))
            self._fetch(values, first, max(0, last - first), start, buffer)
        else:
            fetch_bits(buffers[0], kind.bit_width * first, kind.bit_width * (first + count))

    def _whole(self, names: list[str]) -> Any:
        from pyarrow import ipc

        options = ipc.IpcReadOptions(included_fields=[self._schema.get_field_index(name) for name in names])
        with arrow_damage(f"columns {shown(names, 5)} of {FILE} cannot be read", self._path):
            reader = (ipc.open_file if self._filed else ipc.open_stream)(pyarrow_file(self._path), options=options)
            table = reader.read_all()
            table.validate(full=True)
            if table.num_rows != self.shape[0]:
                raise DataError(f"{FILE} has {table.num_rows} rows by its footer, {self.shape[0]} in its batches")
        return table

    def _in_file(self) -> tuple[Any, list[_Message]]:
        """The schema, and the record batches where the footer says they are."""
        from pyarrow import ipc

        schema = ipc.open_file(pyarrow_file(self._path)).schema  # raises what is wrong with the footer
        end = self._file.size - TAIL
        size = int.from_bytes(self._file.bytes(end, 4), "little")
        footer = self._file.bytes(end - size, size)
        self._check_order(footer, reference(footer, root(footer), 1))
        messages = [_Message(*place) for place in batches_of(footer)]
        for message in messages:
            kind = self._read(message)[0].type
            if kind != "record batch":
                raise DataError(f"{FILE} is damaged: it has a {kind} where a record batch should be")
        return schema, messages

    def _read(self, message: _Message, whole: bool = False) -> tuple[Any, Any]:
        """A message and its buffer, which takes no memory where nothing was read: the description, or the `whole`."""
        import pyarrow as pa
        from pyarrow import ipc

        start, described, size = message
        there = self._file.size
        if not (0 <= start <= message.end <= there and described > 0 and size >= 0):
            raise DataError(f"{FILE} is damaged: a message should end at byte {message.end}, there are {there}")
        buffer = pa.py_buffer(_memory(described + size))
        self._file.read(memoryview(buffer)[: described + size if whole else described], start)
        return ipc.read_message(buffer), buffer

    def _in_stream(self) -> tuple[Any, list[_Message]]:
        """The schema, and the messages that are record batches; numbers need no dictionaries."""
        from pyarrow import ipc

        found: list[tuple[_Message, Any]] = []
        at = 0
        while (described := self._described(at, len(found))) > len(END):
            body = body_length(self._file.bytes(at, described)[len(END) :])
            message = _Message(at, described, body)
            found.append((message, self._read(message)[0]))
            at = message.end
        rest = self._file.size - at - len(END)
        if rest:
            raise DataError(f"{FILE} goes on for {rest} bytes after the end of its stream; split it")
        if not found or found[0][1].type != "schema":
            raise DataError(f"{FILE} is not a valid Arrow stream: it does not begin with a schema")
        self._check_order(*header_of(found[0][1]))
        batches = [message for message, content in found if content.type == "record batch"]
        return ipc.read_schema(found[0][1]), batches

    def _described(self, at: int, found: int) -> int:
        """Bytes that describe the message that begins there; as many as its mark takes are the mark of the end."""
        # A stream that was cut off between two messages looks like a shorter one.
        if at + len(END) > self._file.size:
            raise DataError(f"{FILE} is not a valid Arrow stream: no end-of-stream marker after {found} messages")
        mark = self._file.bytes(at, len(END))
        length = struct.unpack_from("<i", mark, 4)[0]
        if not mark.startswith(STREAM) or length < 0:
            raise DataError(f"{FILE} is not a valid Arrow stream: message {found} begins with {mark!r}")
        return len(END) + length

    def _check_order(self, data: bytes, schema: int) -> None:
        """Only numbers in the order of bytes that this machine has are read where they stand."""
        place = field(data, schema, 0)
        if place is not None and struct.unpack_from("<h", data, place)[0] != (sys.byteorder == "big"):
            raise DataError(f"{FILE} was written by a machine with another byte order; write it again on this one")

    def _cut(self, i: int, rows: int, packed: bool) -> list[_Slice]:
        """The parts of a batch."""
        size = self._messages[i].body
        if rows < 0 or (rows > 8 * size and not packed):  # a number takes a bit at least
            raise DataError(f"record batch {i} of {FILE} is damaged: it claims {rows} rows in {size} bytes")
        cuts = 1 if packed else max(1, min(rows, size // SLICE_BYTES))
        ends = [rows * cut // cuts for cut in range(cuts + 1)]
        return [_Slice(i, a, b - a) for a, b in pairwise(ends) if b > a]


def _memory(size: int) -> mmap.mmap:
    """Memory that is taken page by page, when something is put into it."""
    if not hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size)
    return mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0))


def _plain(schema: Any) -> Any:
    """The schema with the numbers of words in place of words from a dictionary: so batches can be read without it."""
    import pyarrow as pa

    def plain(kind: Any) -> Any:
        if pa.types.is_dictionary(kind):
            return kind.index_type
        if pa.types.is_struct(kind):
            return pa.struct([field.with_type(plain(field.type)) for field in kind])
        for is_kind, of in ((pa.types.is_list, pa.list_), (pa.types.is_large_list, pa.large_list)):
            if is_kind(kind):
                return of(kind.value_field.with_type(plain(kind.value_type)))
        return kind

    return pa.schema([field.with_type(plain(field.type)) for field in schema])

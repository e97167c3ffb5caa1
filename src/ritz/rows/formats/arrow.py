"""Arrow IPC, files (Feather too) and streams: batches are found once and read by all cores."""

from __future__ import annotations

import mmap
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from ritz.errors import DataError
from ritz.rows.formats.flat import Handle
from ritz.rows.formats.table import Table
from ritz.rows.text.lines import native

MAGIC, STREAM = b"ARROW1", b"\xff\xff\xff\xff"  # how a file and a stream begin
END = STREAM + bytes(4)  # how a stream ends; a message has the bytes that describe it in place of the zeros
TAIL = 4 + len(MAGIC)  # bytes after the footer of a file: its length, and the magic again
SLICE_BYTES = 1 << 22  # of a batch that is not compressed, so that any core can read its share


class Arrow(Table):
    """An Arrow file, or a stream that was saved, told by how they begin.

    One part per record batch, or several where a large one can be cut without unpacking it. Of a batch that is not
    compressed only those bytes are read that hold the rows of a part: a map of it would end the process where the file
    becomes shorter.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, _begun(path)
        with self._damage(f"{path} is not a valid Arrow file (truncated or corrupt)"):
            self._filed = self._file.bytes(0, len(MAGIC)) == MAGIC
            # Where messages begin, and the bytes that describe them and that they hold.
            self._schema, self._messages = self._in_file() if self._filed else self._in_stream()
            self._plain = _plain(self._schema)
            claims = [_claim(self._message(*place)[0]) for place in self._messages]
            self._packed = [packed for _, packed in claims]
            # A batch, its first row in this part, and how many there are.
            self._parts = [part for i, claim in enumerate(claims) for part in self._cut(i, *claim)]
            self._describe(count for *_, count in self._parts)

    @property
    def reading(self) -> int:
        """A batch as it is stored, unpacked, and its numbers."""
        most = max(count for *_, count in self._parts)
        return (3 if any(self._packed) else 2) * self.dtype.itemsize * self._width * most

    def _where(self, part: int) -> str:
        return f"record batch {self._parts[part][0]} of {self._path}"

    def _batches(self, part: int, rows: int) -> Iterator[Any]:
        from pyarrow import ipc

        i, first, count = self._parts[part]
        with self._damage(f"{self._where(part)} is damaged"):
            message, room = self._message(*self._messages[i], whole=self._packed[i])
            batch = ipc.read_record_batch(message, self._plain).select(list(self._picked))
            batch.validate()  # lengths, before anything is read that they tell of
            if not self._packed[i]:
                for column in batch.columns:
                    self._fetch(column, first, count, self._messages[i][0], room)
            batch = batch.slice(first, count)
            batch.validate(full=True)  # offsets of lists may point anywhere
        yield from (batch.slice(start, rows) for start in range(0, batch.num_rows, rows))

    def _fetch(self, array: Any, first: int, count: int, start: int, room: Any) -> None:
        """Read some entries of a column into the room for its message, which begins there in the file."""
        import numpy as np
        import pyarrow.types as types

        kind, buffers = array.type, array.buffers()

        def bits(buffer: Any, low: int, high: int) -> None:
            low, high = low // 8, min(-(-high // 8), 0 if buffer is None else buffer.size)
            if low < high:
                at = buffer.address - room.address
                self._file.read(memoryview(room)[at + low : at + high], start + at + low)

        bits(buffers[0], first, first + count)
        if types.is_fixed_size_list(kind) or types.is_list(kind) or types.is_large_list(kind):
            if types.is_fixed_size_list(kind):
                first, last = first * kind.list_size, (first + count) * kind.list_size
            else:
                width = 8 if types.is_large_list(kind) else 4
                bits(buffers[1], 8 * width * first, 8 * width * (first + count + 1))
                ends = np.frombuffer(buffers[1], f"i{width}")[first : first + count + 1]
                first, last = (int(end) for end in (ends[0], ends[-1])) if len(ends) else (0, 0)
            values = array.values
            bits(values.buffers()[0], 0, len(values))  # gaps inside of vectors are counted in all of them
            first, last = max(0, first), min(last, len(values))
            self._fetch(values, first, max(0, last - first), start, room)
        else:
            bits(buffers[1], kind.bit_width * first, kind.bit_width * (first + count))

    def _whole(self, names: list[str]) -> Any:
        from pyarrow import ipc

        options = ipc.IpcReadOptions(included_fields=[self._schema.get_field_index(name) for name in names])
        with self._damage(f"columns {', '.join(map(repr, names[:5]))} of {self._path} cannot be read"):
            reader = (ipc.open_file if self._filed else ipc.open_stream)(native(self._path), options=options)
            table = reader.read_all()
            table.validate(full=True)
        if table.num_rows != self.shape[0]:
            raise DataError(f"{self._path} has {table.num_rows} rows by its footer, {self.shape[0]} in its batches")
        return table

    def _in_file(self) -> tuple[Any, list[tuple[int, int, int]]]:
        """The schema, and the record batches where the footer says they are."""
        from pyarrow import ipc

        schema = ipc.open_file(native(self._path)).schema  # raises what is wrong with the footer
        end = self._file.size - TAIL
        size = int.from_bytes(self._file.bytes(end, 4), "little")
        footer = bytes(self._file.bytes(end - size, size))
        root = _follow(footer, 0)
        self._check_order(footer, _reference(footer, root, 1))
        places = list(_blocks(footer, _reference(footer, root, 3)))
        for place in places:
            kind = self._message(*place)[0].type
            if kind != "record batch":
                raise DataError(f"{self._path} is damaged: it has a {kind} where a record batch should be")
        return schema, places

    def _message(self, start: int, described: int, size: int, whole: bool = False) -> tuple[Any, Any]:
        """A message, and the room it takes: what describes it is read, and the `whole` of what it holds if need be.

        Room that nothing was put into takes no memory.
        """
        import pyarrow as pa
        from pyarrow import ipc

        end, there = start + described + size, self._file.size
        if not (0 <= start <= end <= there and described > 0 and size >= 0):
            raise DataError(f"{self._path} is damaged: a message should end at byte {end}, there are {there}")
        room = pa.py_buffer(_room(described + size))
        self._file.read(memoryview(room)[: described + size if whole else described], start)
        return ipc.read_message(room), room

    def _in_stream(self) -> tuple[Any, list[tuple[int, int, int]]]:
        """The schema, and the messages that are record batches; numbers need no dictionaries."""
        from pyarrow import ipc

        places: list[tuple[int, int, int]] = []
        at = 0
        while (described := self._described(at, len(places))) > len(END):
            data = bytes(self._file.bytes(at, described))[len(END) :]
            body = _field(data, _follow(data, 0), 3)
            places.append((at, described, 0 if body is None else struct.unpack_from("<q", data, body)[0]))
            self._message(*places[-1])
            at = sum(places[-1])
        rest = self._file.size - at - len(END)
        if rest:
            raise DataError(f"{self._path} goes on for {rest} bytes after the end of its stream; split it")
        messages = [self._message(*place)[0] for place in places]
        if not messages or messages[0].type != "schema":
            raise DataError(f"{self._path} is not a valid Arrow stream: it does not begin with a schema")
        self._check_order(*_header(messages[0]))
        batches = [place for place, message in zip(places, messages, strict=True) if message.type == "record batch"]
        return ipc.read_schema(messages[0]), batches

    def _described(self, at: int, found: int) -> int:
        """Bytes that describe the message that begins there; as many as its mark takes are the mark of the end.

        A stream that was cut off between two messages looks like a shorter one.
        """
        if at + len(END) > self._file.size:
            raise DataError(f"{self._path} is not a valid Arrow stream: no end-of-stream marker after {found} messages")
        mark = bytes(self._file.bytes(at, len(END)))
        length = struct.unpack_from("<i", mark, 4)[0]
        if not mark.startswith(STREAM) or length < 0:
            raise DataError(f"{self._path} is not a valid Arrow stream: message {found} begins with {mark!r}")
        return len(END) + length

    def _check_order(self, data: bytes, schema: int) -> None:
        """Only numbers in the order of bytes that this machine has are read where they stand."""
        place = _field(data, schema, 0)
        if place is not None and struct.unpack_from("<h", data, place)[0] != (sys.byteorder == "big"):
            raise DataError(
                f"{self._path} was written by a machine with another byte order; write it again on this one"
            )

    def _cut(self, i: int, rows: int, packed: bool) -> list[tuple[int, int, int]]:
        """The parts of a batch."""
        size = self._messages[i][2]
        if rows < 0 or (rows > 8 * size and not packed):  # a number takes a bit at least
            raise DataError(f"record batch {i} of {self._path} is damaged: it claims {rows} rows in {size} bytes")
        cuts = 1 if packed else max(1, min(rows, size // SLICE_BYTES))
        ends = [rows * cut // cuts for cut in range(cuts + 1)]
        return [(i, a, b - a) for a, b in pairwise(ends) if b > a]

    @contextmanager
    def _damage(self, what: str) -> Iterator[None]:
        """What pyarrow says of bytes that make no sense, as an error in the data."""
        from pyarrow import ArrowException

        try:
            yield
        except (ArrowException, OSError, EOFError, struct.error, UnicodeDecodeError) as error:
            raise DataError(f"{what}: {error}") from error


def _begun(path: Path) -> Handle:
    """A file that begins as Arrow does."""
    file = Handle(path)
    head = bytes(file.bytes(0, min(8, file.size)))
    if head.startswith(b"FEA1"):
        raise DataError(f"{path} is Feather of version 1; write it again with version 2")
    if not head.startswith((MAGIC, STREAM)):
        raise DataError(f"{path} is neither an Arrow file nor a stream: it begins with {head!r}, not {MAGIC!r}")
    return file


def _room(size: int) -> mmap.mmap:
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


def _claim(message: Any) -> tuple[int, bool]:
    """The rows that a record batch says it has, and whether it is compressed; pyarrow would have to unpack it all."""
    data, header = _header(message)
    length, packed = _field(data, header, 0), _field(data, header, 3)
    return (0 if length is None else struct.unpack_from("<q", data, length)[0]), packed is not None


def _header(message: Any) -> tuple[bytes, int]:
    """The description of a message, and where in it the table stands that tells what the message holds."""
    data = message.metadata.to_pybytes()
    return data, _reference(data, _follow(data, 0), 2)


def _blocks(footer: bytes, vector: int) -> Iterator[tuple[int, int, int]]:
    """Where messages begin, and the bytes that describe them and that they hold."""
    count = struct.unpack_from("<I", footer, vector)[0]
    for i in range(count):
        yield struct.unpack_from("<qi4xq", footer, vector + 4 + 24 * i)


def _field(data: bytes, table: int, i: int) -> int | None:
    """Where the i-th field of a table in the FlatBuffers format stands, if it is there."""
    fields = table - struct.unpack_from("<i", data, table)[0]
    size = struct.unpack_from("<H", data, fields)[0]
    offset = struct.unpack_from("<H", data, fields + 4 + 2 * i)[0] if 4 + 2 * i < size else 0
    return table + offset if offset else None


def _reference(data: bytes, table: int, i: int) -> int:
    """Where the table or the list stands that the i-th field refers to."""
    place = _field(data, table, i)
    if place is None:
        raise struct.error(f"field {i} is missing")
    return _follow(data, place)


def _follow(data: bytes, place: int) -> int:
    return place + struct.unpack_from("<I", data, place)[0]

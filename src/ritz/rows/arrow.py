"""Arrow IPC, files (Feather too) and streams: batches are found once, mapped into memory and read by all cores."""

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
from ritz.rows.npy import KEPT_BYTES
from ritz.rows.table import Table

MAGIC, STREAM = b"ARROW1", b"\xff\xff\xff\xff"  # how a file and a stream begin
END = STREAM + bytes(4)  # how a stream ends
TAIL = 4 + len(MAGIC)  # bytes after the footer of a file: its length, and the magic again
SLICE_BYTES = 1 << 22  # of a batch that is not compressed, so that any core can read its share


def open_arrow(path: Path) -> Arrow:
    """The rows of an Arrow file or of a stream that was saved, told by how they begin."""
    return Arrow(path)


class Arrow(Table):
    """One part per record batch, or several where a large one can be cut without unpacking it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._map, self._bytes = _mapped(path)
        with self._damage(f"{path} is no whole Arrow file"):
            self._filed = self._bytes[: len(MAGIC)].to_pybytes() == MAGIC
            self._schema, self._messages = self._in_file() if self._filed else self._in_stream()
            self._plain = _plain(self._schema)
            # A batch, its first row in this part, and how many there are.
            self._parts = [part for i, message in enumerate(self._messages) for part in self._cut(i, *_claim(message))]
            self._describe(count for *_, count in self._parts)

    @property
    def reading(self) -> int:
        """A batch, unpacked, and its numbers."""
        most = max(count for *_, count in self._parts)
        return 2 * self.dtype.itemsize * self._width * most

    def _where(self, part: int) -> str:
        return f"record batch {self._parts[part][0]} of {self._path}"

    def _batches(self, part: int, rows: int) -> Iterator[Any]:
        from pyarrow import ipc

        i, first, count = self._parts[part]
        with self._damage(f"{self._where(part)} is damaged"):
            batch = ipc.read_record_batch(self._messages[i], self._plain).select(list(self._picked))
            batch = batch.slice(first, count)
            batch.validate(full=True)  # offsets of lists may point anywhere
        yield from (batch.slice(start, rows) for start in range(0, batch.num_rows, rows))
        self._give_back(i)

    def _whole(self, names: list[str]) -> Any:
        from pyarrow import ipc

        options = ipc.IpcReadOptions(included_fields=[self._schema.get_field_index(name) for name in names])
        with self._damage(f"columns {', '.join(map(repr, names[:5]))} of {self._path} cannot be read"):
            reader = (ipc.open_file if self._filed else ipc.open_stream)(self._bytes, options=options)
            table = reader.read_all()
            table.validate(full=True)
        if table.num_rows != self.shape[0]:
            raise DataError(f"{self._path} has {table.num_rows} rows by its footer, {self.shape[0]} in its batches")
        return table

    def _in_file(self) -> tuple[Any, list[Any]]:
        """The schema, and the record batches where the footer says they are."""
        from pyarrow import ipc

        schema = ipc.open_file(self._bytes).schema  # raises what is wrong with the footer
        end = len(self._bytes) - TAIL
        size = int.from_bytes(self._bytes[end : end + 4].to_pybytes(), "little")
        footer = self._bytes[end - size : end].to_pybytes()
        root = _follow(footer, 0)
        self._check_order(footer, _reference(footer, root, 1))
        return schema, [self._message(*block) for block in _blocks(footer, _reference(footer, root, 3))]

    def _message(self, start: int, described: int, size: int) -> Any:
        from pyarrow import ipc

        end = start + described + size
        if not (0 <= start <= end <= len(self._bytes) and described > 0 and size >= 0):
            raise DataError(
                f"{self._path} is damaged: a record batch should end at byte {end}, there are {len(self._bytes)}"
            )
        message = ipc.read_message(self._bytes[start:end])
        if message.type != "record batch":
            raise DataError(f"{self._path} is damaged: it has a {message.type} where a record batch should be")
        return message

    def _in_stream(self) -> tuple[Any, list[Any]]:
        """The schema, and the messages that are record batches; numbers need no dictionaries."""
        import pyarrow as pa
        from pyarrow import ipc

        source = pa.BufferReader(self._bytes)
        messages = list(ipc.MessageReader.open_stream(source))
        if not messages or messages[0].type != "schema":
            raise DataError(f"{self._path} is no whole Arrow stream: it does not begin with a schema")
        self._check_order(*_header(messages[0]))
        batches = [message for message in messages if message.type == "record batch"]
        self._check_end(source.tell(), len(batches))
        return ipc.read_schema(messages[0]), batches

    def _check_order(self, data: bytes, schema: int) -> None:
        """Only numbers in the order of bytes that this machine has are read where they stand."""
        place = _field(data, schema, 0)
        if place is not None and struct.unpack_from("<h", data, place)[0] != (sys.byteorder == "big"):
            raise DataError(
                f"{self._path} was written by a machine with another byte order; write it again on this one"
            )

    def _check_end(self, at: int, found: int) -> None:
        """A stream that was cut off between two batches looks like a shorter one."""
        if self._bytes[max(0, at - len(END)) : at].to_pybytes() != END:
            raise DataError(f"{self._path} is no whole Arrow stream: no mark of the end after {found} record batches")
        rest = len(self._bytes) - at
        if rest:
            raise DataError(f"{self._path} goes on for {rest} bytes after the end of its stream; split it")

    def _cut(self, i: int, rows: int, packed: bool) -> list[tuple[int, int, int]]:
        """The parts of a batch."""
        size = self._messages[i].body.size
        if rows < 0 or (rows > 8 * size and not packed):  # a number takes a bit at least
            raise DataError(f"record batch {i} of {self._path} is damaged: it claims {rows} rows in {size} bytes")
        cuts = 1 if packed else max(1, min(rows, size // SLICE_BYTES))
        ends = [rows * cut // cuts for cut in range(cuts + 1)]
        return [(i, a, b - a) for a, b in pairwise(ends) if b > a]

    def _give_back(self, i: int) -> None:
        """Pages that were read count as memory of this process until they are given back."""
        if len(self._bytes) <= KEPT_BYTES or not hasattr(mmap, "MADV_DONTNEED"):
            return
        body = self._messages[i].body
        start = (body.address - self._bytes.address) // mmap.PAGESIZE * mmap.PAGESIZE
        self._map.madvise(mmap.MADV_DONTNEED, start, body.address + body.size - self._bytes.address - start)

    @contextmanager
    def _damage(self, what: str) -> Iterator[None]:
        """What pyarrow says of bytes that make no sense, as an error in the data."""
        from pyarrow import ArrowException

        try:
            yield
        except (ArrowException, OSError, EOFError, struct.error, UnicodeDecodeError) as error:
            raise DataError(f"{what}: {error}") from error


def _mapped(path: Path) -> tuple[Any, Any]:
    """The bytes of a file that begins as Arrow does."""
    import pyarrow as pa

    with path.open("rb") as file:
        head = file.read(8)
        if head.startswith(b"FEA1"):
            raise DataError(f"{path} is Feather of version 1; write it again with version 2")
        if not head.startswith((MAGIC, STREAM)):
            raise DataError(f"{path} is neither an Arrow file nor a stream: it begins with {head!r}, not {MAGIC!r}")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return mapped, pa.py_buffer(mapped)


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

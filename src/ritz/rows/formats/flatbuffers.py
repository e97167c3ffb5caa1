"""What describes the messages of Arrow IPC: tables in the FlatBuffers format, read field by field.

pyarrow reads them too, but would unpack a whole record batch to tell how many rows it has.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any


def claim_of(message: Any) -> tuple[int, bool]:
    """The rows that a record batch says it has, and whether it is compressed."""
    data, header = header_of(message)
    length, packed = field(data, header, 0), field(data, header, 3)
    return (0 if length is None else struct.unpack_from("<q", data, length)[0]), packed is not None


def header_of(message: Any) -> tuple[bytes, int]:
    """The description of a message, and where in it the table stands that tells what the message holds."""
    data = message.metadata.to_pybytes()
    return data, reference(data, root(data), 2)


def body_length(description: bytes) -> int:
    """The bytes that a message holds, by what describes it."""
    place = field(description, root(description), 3)
    return 0 if place is None else struct.unpack_from("<q", description, place)[0]


def batches_of(footer: bytes) -> Iterator[tuple[int, int, int]]:
    """Where record batches begin, and the bytes that describe them and that they hold."""
    vector = reference(footer, root(footer), 3)
    for i in range(struct.unpack_from("<I", footer, vector)[0]):
        yield struct.unpack_from("<qi4xq", footer, vector + 4 + 24 * i)


def root(data: bytes) -> int:
    """Where the outermost table stands."""
    return struct.unpack_from("<I", data)[0]


def field(data: bytes, table: int, i: int) -> int | None:
    """Where the i-th field of a table stands, if it is there."""
    fields = table - struct.unpack_from("<i", data, table)[0]
    size = struct.unpack_from("<H", data, fields)[0]
    offset = struct.unpack_from("<H", data, fields + 4 + 2 * i)[0] if 4 + 2 * i < size else 0
    return table + offset if offset else None


def reference(data: bytes, table: int, i: int) -> int:
    """Where the table or the list stands that the i-th field refers to."""
    place = field(data, table, i)
    if place is None:
        raise struct.error(f"field {i} is missing")
    return place + struct.unpack_from("<I", data, place)[0]

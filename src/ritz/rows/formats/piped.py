"""What comes through a pipe, put into a file whose name says what it is: rows are read in several passes."""

from __future__ import annotations

import shutil
import zlib
from pathlib import Path
from typing import BinaryIO

from ritz.errors import DataError

HEAD = 1 << 10  # bytes that are looked at
CHUNK = 1 << 22
MARKET = b"%%MatrixMarket"
GZIP = b"\x1f\x8b"
# How the bytes of a format begin, and the end of the name of such a file. Whatever begins otherwise is text.
BEGINNINGS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",
    b"\x93NUMPY": ".npy",
    b"PK\x03\x04": ".npz",
    b"\x89HDF\r\n\x1a\n": ".h5",
    b"\x28\xb5\x2f\xfd": ".csv.zst",
    b"BZh": ".csv.bz2",
    MARKET: ".mtx",
}


def spooled(stream: BinaryIO, folder: Path) -> Path:
    """A file in `folder` with all bytes of a stream such as ``sys.stdin.buffer``, named after what they are.

    Examples
    --------
    >>> import io, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spooled(io.BytesIO(b"a;b\\n1,5;2\\n"), Path(folder)).name
    'standard_input.csv'
    """
    head = _head(stream)
    if not head:
        raise DataError("standard input is empty; pipe a table into it, or give the name of a file")
    path = Path(folder) / f"standard_input{_suffix(head)}"
    with path.open("wb") as file:
        file.write(head)
        shutil.copyfileobj(stream, file, CHUNK)
    return path


def _head(stream: BinaryIO) -> bytes:
    """The first bytes; a pipe may give fewer at a time than it is asked for."""
    head = b""
    while len(head) < HEAD and (more := stream.read(HEAD - len(head))):
        head += more
    return head


def _suffix(head: bytes) -> str:
    if head.startswith(GZIP):
        return ".mtx.gz" if _unpacked(head).startswith(MARKET) else ".csv.gz"
    return next((suffix for beginning, suffix in BEGINNINGS.items() if head.startswith(beginning)), ".csv")


def _unpacked(head: bytes) -> bytes:
    """The beginning of what was compressed with gzip, as far as it can be unpacked."""
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, HEAD)
    except zlib.error:
        return b""

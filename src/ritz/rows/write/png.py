"""PNG files (ISO/IEC 15948), from pixels alone: grey, colour, or indices into a palette."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, COLOUR, INDEXED = 0, 2, 3  # kinds of pixels
LEVEL = 6  # how hard zlib tries, from 1 to 9


def png(pixels: NDArray[Any], palette: NDArray[np.uint8] | None = None) -> bytes:  # (h, w), or (h, w, 3) in colour
    """A PNG file of bytes, or of numbers of 16 bits; bytes may be places in a palette of 256 colours.

    Examples
    --------
    >>> png(np.zeros((2, 3), np.uint8))[:8] == SIGNATURE
    True
    """
    height, width = pixels.shape[:2]
    kind = INDEXED if palette is not None else COLOUR if pixels.ndim == 3 else GREY
    header = struct.pack(">IIBBBBB", width, height, 8 * pixels.dtype.itemsize, kind, 0, 0, 0)
    stored = np.ascontiguousarray(pixels.astype(pixels.dtype.newbyteorder(">"))).view(np.uint8).reshape(height, -1)
    lines = np.column_stack([np.zeros(height, np.uint8), stored]).tobytes()  # filter 0 before every line
    colours = [] if palette is None else [(b"PLTE", palette.tobytes())]
    parts = [(b"IHDR", header), *colours, (b"IDAT", zlib.compress(lines, LEVEL)), (b"IEND", b"")]
    return SIGNATURE + b"".join(_chunk(name, data) for name, data in parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

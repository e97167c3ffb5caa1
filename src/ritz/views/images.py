"""Vectors of pixels as pictures: PNG data in the page itself."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.runtime.rules import integer

LARGEST = 256  # pixels along a side: a page needs no more
GREYS = np.repeat(np.arange(256, dtype=np.uint8), 3).reshape(256, 3)
# Blue below 0, light grey at 0, orange and brown above: told apart by every kind of colour vision.
ANCHORS = np.array([[5, 48, 97], [67, 147, 195], [238, 238, 238], [224, 130, 20], [127, 59, 8]])
PLACES = np.linspace(0, 1, 256), np.linspace(0, 1, len(ANCHORS))  # of all colours, and of the anchors among them
DIVERGING = np.rint(np.column_stack([np.interp(*PLACES, channel) for channel in ANCHORS.T])).astype(np.uint8)


@dataclass(frozen=True)
class Picture:
    """A picture and what it shows."""

    source: str  # a data URI
    width: int
    height: int
    caption: str


def checked(image: Any, d: int) -> tuple[int, int]:
    """(height, width) of pictures with d pixels."""
    sides = tuple(image) if isinstance(image, tuple | list) else ()
    if len(sides) != 2 or not all(map(integer(1).holds, sides)):
        raise ValueError(f"image={image!r} must be (height, width), two numbers of pixels")
    height, width = int(sides[0]), int(sides[1])
    if height * width != d:
        raise DataError(f"image={height}×{width} are {height * width} pixels, but there are {d} columns")
    return height, width


def grey(pixels: Array, shape: tuple[int, int], caption: str) -> Picture:
    """From black, the smallest value, to white, the largest."""
    field = _fitted(pixels.reshape(shape))
    low, high = float(field.min()), float(field.max())
    return _picture((field / 2 - low / 2) / max(high / 2 - low / 2, np.finfo(float).tiny), GREYS, caption)


def diverging(pixels: Array, shape: tuple[int, int], caption: str) -> Picture:
    """Blue below 0, brown above, the largest magnitude darkest."""
    field = _fitted(pixels.reshape(shape))
    most = max(float(np.abs(field).max()), np.finfo(float).tiny)
    return _picture(0.5 + 0.5 * (field / most), DIVERGING, caption)


def _picture(levels: Array, palette: NDArray[np.uint8], caption: str) -> Picture:
    indices = np.clip(np.rint(255 * levels), 0, 255).astype(np.uint8)
    source = "data:image/png;base64," + b64encode(png(indices, palette)).decode("ascii")
    return Picture(source, indices.shape[1], indices.shape[0], caption)


def _fitted(field: Array) -> Array:
    """Means of square patches where there are more pixels than a page needs."""
    step = -(-max(field.shape) // LARGEST)
    if step == 1:
        return field
    rows, columns = (np.arange(0, side, step) for side in field.shape)
    sums = np.add.reduceat(np.add.reduceat(field, rows, axis=0), columns, axis=1)
    heights, widths = np.diff(np.append(rows, field.shape[0])), np.diff(np.append(columns, field.shape[1]))
    return np.asarray(sums / np.outer(heights, widths))


def png(indices: NDArray[np.uint8], palette: NDArray[np.uint8]) -> bytes:
    """A PNG file (ISO/IEC 15948) of indices into a palette of 256 colours."""
    height, width = indices.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    lines = np.column_stack([np.zeros(height, np.uint8), indices]).tobytes()  # filter 0 before every line
    parts = [(b"IHDR", header), (b"PLTE", palette.tobytes()), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

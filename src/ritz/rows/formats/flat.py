"""Numbers at regular places of a file: .npy, and arrays that somebody has mapped into memory.

They are read, not mapped: where a file becomes shorter, touching its map ends the process without a word. A read costs
a copy, and no pages that would have to be given back.
"""

from __future__ import annotations

import math
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ritz.errors import FILE, DataError
from ritz.rows.base import Block, Rows
from ritz.rows.file_changes import Files
from ritz.rows.memory.array import ArrayRows, check_shape, is_mapped, real_numbers

LARGE = 1 << 27  # bytes of a file from which the next block is asked for while this one is worked on
NEAR = 1 << 16  # bytes that are read at once where some rows are taken of them
LOOSE = 2  # times the bytes of a line from which the next one is read on its own


class Handle:
    """An open file, read from anywhere by any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("rb", buffering=0)
        self._lock = threading.Lock()
        weakref.finalize(self, self._file.close)  # as soon as nobody reads from it any more

    def read(self, out: memoryview, at: int) -> None:
        """Fill `out` with the bytes from `at` on."""
        while len(out):
            count = self._some(out, at)
            if not count:
                problem = f"{FILE} is truncated: it ends at byte {at}, {len(out)} more are needed there"
                raise DataError(problem, file=self.path)
            out, at = out[count:], at + count

    def _some(self, out: memoryview, at: int) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self._file.fileno(), [out], at)
        with self._lock:
            self._file.seek(at)
            return self._file.readinto(out) or 0

    def bytes(self, at: int, size: int) -> bytes:
        """So many bytes from there on."""
        found = bytearray(size)
        self.read(memoryview(found), at)
        return bytes(found)

    def stream(self) -> BinaryIO:
        """The file from its beginning, for one reader."""
        return os.fdopen(os.dup(self._file.fileno()), "rb")

    def ahead(self, at: int, size: int) -> None:
        """Let the system read what will be asked for."""
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._file.fileno(), at, size, os.POSIX_FADV_WILLNEED)

    @property
    def inode(self) -> int:
        return os.fstat(self._file.fileno()).st_ino

    @property
    def size(self) -> int:
        return os.fstat(self._file.fileno()).st_size


class Flat(Rows):
    """A matrix whose entry (i, j) stands at byte at + i·strides[0] + j·strides[1] of a file."""

    def __init__(
        self, file: Handle, dtype: np.dtype[Any], shape: tuple[int, ...], at: int, strides: tuple[int, ...]
    ) -> None:
        check_shape(shape)
        self._file, self._stored, self._at, self._strides = file, dtype, at, strides
        self.shape = (int(shape[0]), int(shape[1]))
        self.copied = strides[0] >= abs(strides[1])
        if dtype.kind not in "biufc":
            ArrayRows(self._read(min(shape[0], 1000), at))  # raises what is wrong with it
        self.dtype = real_numbers(np.empty(0, dtype)).dtype

    @property
    def T(self) -> Flat:
        made = Flat(self._file, self._stored, self.shape[::-1], self._at, self._strides[::-1])
        made.files = self.files
        return made

    @property
    def reading(self) -> int:
        """A block as it is stored."""
        converted = 0 if self.dtype == self._stored else self.dtype.itemsize
        return (self._stored.itemsize + converted) * self.shape[1] * self.block_rows

    def read(self, start: int, stop: int) -> Block:
        return np.asarray(self._read(stop - start, self._at + start * self._strides[0]), self.dtype)

    def take(self, indices: NDArray[np.integer]) -> Block:
        out = np.empty((len(indices), self.shape[1]), self.dtype)
        order = np.argsort(indices, kind="stable")
        ordered = np.asarray(indices)[order].astype(np.int64)
        cuts = np.flatnonzero(np.diff(ordered * max(1, abs(self._strides[0])) // NEAR)) + 1
        for places, near in zip(np.split(order, cuts), np.split(ordered, cuts), strict=True):
            if len(near):
                first = int(near[0])
                out[places] = self._read(int(near[-1]) + 1 - first, self._at + first * self._strides[0])[near - first]
        return out

    def _blocks(self, start: int, stop: int, step: int) -> Iterator[Block]:
        at, pitch = start, self._strides[0]
        follows = self.shape[0] * self.shape[1] * self._stored.itemsize > LARGE and pitch >= abs(self._strides[1])
        for block in super()._blocks(start, stop, step):
            at += len(block)
            if follows and at < stop:
                self._file.ahead(self._at + at * pitch, min(step, stop - at) * pitch)
            yield block

    def _read(self, rows: int, at: int) -> NDArray[Any]:
        """So many rows, of which the first number stands there. Either the rows or the columns are lines of bytes."""
        shape, strides, size = (rows, self.shape[1]), list(self._strides), self._stored.itemsize
        if not min(shape):
            return np.empty(shape, self._stored)
        lines = 0 if abs(strides[0]) >= abs(strides[1]) else 1
        along = 1 - lines
        back, forth = (sorted((0, strides[axis] * (shape[axis] - 1))) for axis in (along, lines))
        line = back[1] - back[0] + size
        if abs(strides[lines]) <= LOOSE * line or shape[lines] == 1:
            first = at + back[0] + forth[0]
            raw = np.empty(forth[1] - forth[0] + line, np.uint8)
            self._file.read(raw.data, first)
            return np.ndarray(shape, self._stored, raw, at - first, strides)
        raw = np.empty(line * shape[lines], np.uint8)
        for i in range(shape[lines]):
            self._file.read(raw[i * line : (i + 1) * line].data, at + back[0] + i * strides[lines])
        strides[lines] = line
        return np.ndarray(shape, self._stored, raw, -back[0], strides)


def flat_stack(file: Handle, dtype: np.dtype[Any], shape: tuple[int, ...], at: int) -> Flat:
    """An array of any number of axes from there on, all but the first of which are flattened."""
    d = math.prod(shape[1:])
    rows = Flat(file, dtype, (shape[0], d), at, (d * dtype.itemsize, dtype.itemsize))
    rows.stack = shape
    return rows


class Mapped(Rows):
    """Arrays that are mapped into memory, read from their file; those without one are arrays."""

    def __new__(cls, X: NDArray[Any]) -> Any:
        return array_of(X)

    @classmethod
    def opens(cls, source: object) -> bool:
        return isinstance(source, np.ndarray) and is_mapped(source)


def array_of(X: NDArray[Any], names: tuple[Any, ...] | None = None) -> Rows:
    """An array as rows, read from its file where it is mapped into memory."""
    rows = mapped(X) if X.ndim == 2 else None
    if rows is None:
        return ArrayRows(X, names)
    rows.names = names
    return rows


def mapped(X: NDArray[Any]) -> Flat | None:
    """The file behind an array that is mapped into memory, where the system tells which one and it is still there.

    A map that keeps what is written to it for itself is no file's, and a file that was put in the place of the one that
    is mapped is another one.
    """
    if not is_mapped(X) or X.dtype.hasobject or isinstance(X, np.ma.MaskedArray) or not X.size:
        return None
    lowest = X.ctypes.data + sum(min(0, stride * (count - 1)) for stride, count in zip(X.strides, X.shape, strict=True))
    found = _mapping(lowest)
    if found is None:
        return None
    path, inode, start, offset = found
    try:
        files = Files.at(path)
        file = Handle(path)
    except OSError:
        return None
    if file.inode != inode:
        return None
    rows = Flat(file, X.dtype, X.shape, X.ctypes.data - start + offset, X.strides)
    rows.files = files
    return rows


def _mapping(address: int) -> tuple[Path, int, int, int] | None:
    """What Linux says is mapped there and shared with others: a file, its inode, where it begins, and at which byte."""
    with suppress(OSError), open("/proc/self/maps", "rb") as maps:
        for entry in maps:
            ends, rights, offset, _, inode, *name = entry.rstrip(b"\n").split(maxsplit=5)
            start, stop = (int(end, 16) for end in ends.split(b"-"))
            if start <= address < stop and rights.endswith(b"s") and name and int(inode):
                path = Path(os.fsdecode(name[0].replace(b"\\012", b"\n")))
                return path, int(inode), start, int(offset, 16)
    return None

"""IDX files, as MNIST and its relatives come: big-endian numbers in any number of axes, also compressed by gzip."""

from __future__ import annotations

import gzip
import math
import re
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ritz.errors import FILE, ColumnWarning, DataError
from ritz.rows.base import Rows
from ritz.rows.formats.damage import damage
from ritz.rows.formats.flat import Handle, array_of, flat_stack
from ritz.rows.memory.array import check_shape
from ritz.rows.pictures import pictured
from ritz.runtime.memory import check_fits

# The third byte of a file tells the type of its numbers; the fourth, how many axes there are.
DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
UNPACKED = 1 << 18  # bytes that are unpacked at a time
MOST_AXES = 32  # that every version of NumPy can hold
AXES = {"images": ("idx3", "idx4"), "labels": ("idx1",)}  # how names tell them
LABEL = "label"  # what the column with the labels of the images is called
Header = tuple[np.dtype[Any], tuple[int, ...], int]  # of an array: type, shape, and where it begins


def open_idx(path: Path) -> Rows:
    """The array in an IDX file, with the labels of the file beside it: that is called labels where this says images."""
    packed = _is_packed(path)
    dtype, shape, offset = _header(path, packed)
    if len(shape) == 1:
        raise DataError(*_labels_alone(path, shape[0]))
    check_shape((shape[0], math.prod(shape[1:])))
    rows: Rows
    if packed:
        rows = array_of(_unpacked(path, dtype, shape, offset).reshape(shape[0], -1))
    else:
        file, expected = Handle(path), offset + math.prod(shape) * dtype.itemsize
        _check_length(dtype, shape, expected, file.size)
        rows = flat_stack(file, dtype, shape, offset)
    rows = rows if len(shape) == 2 else rows.knowing(stack=shape)
    if len(shape) == 3 and min(shape[1:]) > 1:  # the first axis counts pictures, whatever the others are
        rows = pictured(rows, shape[1:])
    return _labelled(rows, path, shape[0])


def _labels_alone(path: Path, n: int) -> tuple[str, str]:
    """What to say of a file of labels that was given as data: the problem, and the next step."""
    images = _sibling(path, "labels", "images")
    found = "the file of images" if images is None else str(images)
    problem = f"{FILE} has one axis of {n} numbers, as IDX files of labels have, and no rows of numbers"
    return problem, f"pass {found}: the labels beside it are found by their name"


def is_idx(path: Path) -> bool:
    """Whether a file, whatever it is called, begins as IDX files do; one that is not packed must have their length."""
    with suppress(DataError, OSError):
        packed = _is_packed(path)
        dtype, shape, offset = _header(path, packed)
        return packed or path.stat().st_size == offset + math.prod(shape) * dtype.itemsize
    return False


def _is_packed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _opened(path: Path, packed: bool) -> BinaryIO:
    return gzip.open(path, "rb") if packed else path.open("rb")  # type: ignore[return-value]


def _header(path: Path, packed: bool) -> Header:
    with damage(f"{FILE} is not a valid IDX file (truncated or corrupt)"), _opened(path, packed) as file:
        magic = file.read(4)
        if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in DTYPES or not magic[3]:
            raise DataError(f"{FILE} is not an IDX file: it begins with the bytes {magic.hex(' ') or 'of nothing'}")
        if magic[3] > MOST_AXES:
            raise DataError(f"{FILE} says that it has {magic[3]} axes; at most {MOST_AXES} can be read")
        sides = file.read(4 * magic[3])
    if len(sides) < 4 * magic[3]:
        raise DataError(f"{FILE} is truncated: {magic[3]} axes take {4 * magic[3]} bytes, found {len(sides)}")
    shape = tuple(int(side) for side in np.frombuffer(sides, ">u4"))
    return np.dtype(DTYPES[magic[2]]), shape, 4 + len(sides)


def _check_length(dtype: np.dtype[Any], shape: tuple[int, ...], expected: int, found: int) -> None:
    if found != expected:
        what = "truncated" if found < expected else "damaged"
        raise DataError(
            f"{FILE} is {what}: a {dtype.name} array of shape {shape} takes {expected} bytes, found {found}"
        )


def _unpacked(path: Path, dtype: np.dtype[Any], shape: tuple[int, ...], offset: int) -> NDArray[Any]:
    """All of a packed file, which cannot be read from its middle; no more of it than it claims to hold."""
    size = math.prod(shape) * dtype.itemsize
    check_fits(size, f"the array of shape {shape} in {FILE}, unpacked,")
    with damage(f"{FILE} is not a valid IDX file (truncated or corrupt)"), _opened(path, packed=True) as file:
        file.seek(offset)
        data, found = np.empty(size, np.uint8), 0  # what was asked for, and no copy of it
        with suppress(EOFError):  # the archive ends too early: how much there was says more
            while part := file.read(min(UNPACKED, size + 1 - found)):
                data[found : found + len(part)] = np.frombuffer(part, np.uint8)[: size - found]
                found += len(part)
    _check_length(dtype, shape, offset + size, offset + found)
    return data.view(dtype).reshape(shape)


def _labelled(rows: Rows, path: Path, n: int) -> Rows:
    """The same with the labels beside them, where there is a file of so many."""
    labels = _sibling(path, "images", "labels")
    if labels is None:
        return rows
    found = _header(labels, _is_packed(labels))[1] if is_idx(labels) else None
    if found == (n,):
        others = {LABEL: partial(_read_labels, labels)}
        return rows.knowing(others=others, labelled_by=LABEL, elsewhere=(labels,))
    why = "it is not a valid IDX file" if found is None else f"it should hold {n} labels, and its shape is {found}"
    return rows.knowing(remarks=(*rows.remarks, ColumnWarning(f"{labels.name} was not used: {why}")))


def _sibling(path: Path, this: str, other: str) -> Path | None:
    """The file that belongs to this one by its name: t10k-labels-idx1-ubyte to t10k-images-idx3-ubyte."""
    stem = path.name.removesuffix(".gz")
    stems = {re.sub(r"idx\d", axes, stem.replace(this, other)) for axes in AXES[other]} if this in stem else set()
    found = (path.with_name(name + packed) for name in sorted(stems) for packed in ("", ".gz"))
    return next((file for file in found if file.is_file()), None)


def labels_in(path: Path) -> NDArray[Any] | None:
    """The numbers of a file with one axis; None of one with more."""
    return _read_labels(path, None) if len(_header(path, _is_packed(path))[1]) == 1 else None


def _read_labels(path: Path, count: int | None) -> NDArray[Any]:
    with damage(f"{FILE} is damaged", file=path):
        packed = _is_packed(path)
        dtype, shape, offset = _header(path, packed)
        if packed:
            values = _unpacked(path, dtype, shape, offset)
        else:
            _check_length(dtype, shape, offset + math.prod(shape) * dtype.itemsize, path.stat().st_size)
            values = np.fromfile(path, dtype, offset=offset)
    return values.astype(dtype.newbyteorder("="))[:count]

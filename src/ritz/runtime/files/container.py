"""The file itself: named tensors under a header, in the safetensors format, with a checksum over every byte.

    8 bytes    length of the header, little-endian
    header     JSON: "__metadata__", a table of strings, and dtype, shape and place of every tensor by its name
    the rest   the tensors, row by row, little-endian, one after another

The checksum is the SHA-256 of the file with zeros in the place of its 64 digits. Whoever changes a file can sign it
again: it tells damage, not intent, and what is read is checked as if it came from a stranger.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.runtime.atomic import writing
from ritz.runtime.memory import check_fits

FORMAT, VERSION = "ritz model", 4
UNSIGNED = "0" * 64
LARGEST_HEADER = 100_000_000  # bytes, as readers of safetensors have it
DEEPEST = 64  # levels of a JSON tree
FOREIGN = "it is not a safetensors file, or it was truncated"
# Names of the dtypes in the header, and the dtypes.
_NAMES = "F64 F32 F16 I64 I32 I16 I8 U64 U32 U16 U8 BOOL"
_KINDS = "<f8 <f4 <f2 <i8 <i4 <i2 i1 <u8 <u4 <u2 u1 ?"
DTYPES = dict(zip(_NAMES.split(), map(np.dtype, _KINDS.split()), strict=True))
Tensors = dict[str, NDArray[Any]]


class Stored(NamedTuple):
    """What a file holds: the kind of model, the tree that describes it, and the tensors that the tree names.

    `version` is that of its format.
    """

    kind: str
    tree: Any
    tensors: Tensors
    version: int = VERSION


def write(path: str | os.PathLike[str], stored: Stored, library: str) -> None:
    """A file with these tensors, whole or not at all; the same bytes for the same content."""
    # Those with the widest numbers first, so that all of them lie at multiples of their width.
    order = sorted(stored.tensors, key=lambda name: (-stored.tensors[name].dtype.itemsize, name))
    tensors = {name: _little_endian(stored.tensors[name]) for name in order}
    model = json.dumps(stored.tree, allow_nan=False)
    known = {"format": FORMAT, "format_version": str(VERSION), "ritz_version": library, "kind": stored.kind}
    head = _head({"sha256": UNSIGNED, **known, "model": model}, tensors)
    parts = [array.reshape(-1).view(np.uint8).data for array in tensors.values()]
    digest = hashlib.sha256(head)
    for part in parts:
        digest.update(part)
    head = head.replace(UNSIGNED.encode(), digest.hexdigest().encode(), 1)
    with writing(path) as new, new.open("wb") as file:
        file.write(head)
        for part in parts:
            file.write(part)


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    wanted = array.dtype.newbyteorder("<")
    if wanted not in DTYPES.values():
        raise DataError(f"numbers of type {array.dtype} cannot be kept in a model file; convert them to float64")
    return np.asarray(array, wanted, order="C")


def _head(metadata: Mapping[str, str], tensors: Tensors) -> bytes:
    """The length of the header and the header, filled up with spaces to a multiple of 8."""
    names = {dtype: name for name, dtype in DTYPES.items()}
    entries: dict[str, Any] = {"__metadata__": metadata}
    at = 0
    for name, array in tensors.items():
        end = at + array.nbytes
        entries[name] = {"dtype": names[array.dtype], "shape": list(array.shape), "data_offsets": [at, end]}
        at = end
    header = json.dumps(entries, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    if len(header) > LARGEST_HEADER:
        raise DataError(
            f"names, notes and parameters take {len(header)} bytes of the header, which may have {LARGEST_HEADER}; "
            "shorten the names of the columns or the notes"
        )
    return struct.pack("<Q", len(header)) + header


def read(path: str | os.PathLike[str]) -> Stored:
    """What is in a file, once its header, its checksum and its tensors agree."""
    if Path(path).is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; give the name of a model file")
    if not stat.S_ISREG(os.stat(path).st_mode):  # before it is opened: a pipe would keep us waiting
        raise DataError("expected a file, found a pipe or a device; write it to a file first")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        header = _header(file, size)
        metadata, start = _metadata(header), file.tell()
        _check_size(header, start, size)
        check_fits(2 * size, "the model")
        file.seek(0)
        data = file.read()
    if len(data) != size:
        raise DataError(f"expected {size} bytes, found {len(data)}: it was changed while it was read")
    _check_sum(data, start, metadata["sha256"])
    tree = parsed(metadata["model"], "the metadata model")
    return Stored(metadata["kind"], tree, _tensors(data), int(metadata["format_version"]))


def _header(file: BinaryIO, size: int) -> dict[str, Any]:
    """The header of a file that is as long as its first bytes say."""
    first = file.read(8)
    if len(first) < 8:
        raise DataError(f"expected a model file, found {size} bytes: {FOREIGN}")
    length = struct.unpack("<Q", first)[0]
    if length > min(size - 8, LARGEST_HEADER):
        raise DataError(f"expected a header of {length} bytes, as the first 8 bytes say, found {size - 8}: {FOREIGN}")
    header = parsed(file.read(length), "the header")
    if not isinstance(header, dict):
        raise DataError("expected a table as the header, found something else: it is not a safetensors file")
    return header


def parsed(text: str | bytes, what: str) -> Any:
    """JSON from a stranger: of bounded depth, and without the constants that are not JSON."""
    try:
        tree = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:  # whatever is wrong with the text, or its encoding
        raise DataError(f"expected JSON in {what}, found something else ({brief(error)})") from None
    level = [tree]
    for _ in range(DEEPEST):
        level = [part for node in level for part in _parts(node)]
    if level:
        raise DataError(f"expected at most {DEEPEST} levels in {what}, found more")
    return tree


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _parts(node: Any) -> list[Any]:
    return list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []


def brief(value: object, most: int = 80) -> str:
    """In a few words, on one line, and nothing that a terminal would obey."""
    words = "".join(letter if letter.isprintable() else "?" for letter in " ".join(str(value)[: 4 * most].split()))
    return words if len(words) <= most else words[: most - 1] + "…"


def _metadata(header: Mapping[str, Any]) -> dict[str, str]:
    """The table of strings of a Ritz model, of a version that can be read."""
    metadata = header.get("__metadata__")
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise DataError(f"expected a Ritz model, found a safetensors file without the metadata format={FORMAT!r}")
    needed = ("format_version", "kind", "model", "ritz_version", "sha256")
    if absent := [name for name in needed if not isinstance(metadata.get(name), str)]:
        raise DataError(f"expected the metadata {', '.join(needed)}, found no {absent[0]}")
    version, library = metadata["format_version"], brief(metadata["ritz_version"])
    if not (version.isascii() and version.isdigit() and len(version) < 10 and int(version) > 0):
        raise DataError(f"expected a number as format_version, found {brief(version)!r}")
    if int(version) > VERSION:
        raise DataError(
            f"expected format version {VERSION} at most, found {int(version)}, written by ritz {library}; upgrade ritz"
        )
    return metadata


def _check_size(header: Mapping[str, Any], start: int, size: int) -> None:
    """The tensors must end where the file does; a message of our own, because a truncated file is the usual case."""
    places = [entry.get("data_offsets") for entry in header.values() if isinstance(entry, dict)]
    ends = [place[1] for place in places if isinstance(place, list) and len(place) == 2]
    if ends and all(type(end) is int for end in ends) and start + max(ends) != size:
        raise DataError(f"expected {start + max(ends)} bytes, found {size}: it was truncated, or something was added")


def _check_sum(data: bytes, start: int, signed: str) -> None:
    """The SHA-256 of the file with zeros in the place of its digits."""
    digest = hashlib.sha256(data[:start].replace(signed.encode("utf-8", "replace"), UNSIGNED.encode(), 1))
    digest.update(memoryview(data)[start:])
    found = digest.hexdigest()
    if found != signed:
        raise DataError(f"expected the checksum {brief(signed[:12])}…, found {found[:12]}…: it was damaged or changed")


def _tensors(data: bytes) -> Tensors:
    """The tensors, by a reader that checks that their places neither overlap nor leave gaps."""
    from safetensors import SafetensorError, deserialize

    try:
        found = deserialize(data)
    except SafetensorError as error:
        raise DataError(f"expected a complete safetensors file, found {brief(error)}") from None
    tensors: Tensors = {}
    for name, part in found:
        if part["dtype"] not in DTYPES:
            raise DataError(f"expected numbers that NumPy has, found {part['dtype']} in tensor {brief(name)!r}")
        dtype, shape = DTYPES[part["dtype"]], tuple(part["shape"])
        try:
            array = np.frombuffer(part["data"], dtype).reshape(shape) if part["data"] else np.empty(shape, dtype)
        except ValueError as error:  # more dimensions, or longer ones, than NumPy has
            raise DataError(f"expected an array, found {brief(error)} in tensor {brief(name)!r}") from None
        if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:  # which is neither true nor false
            raise DataError(f"expected 0 or 1 for true or false, found another byte in tensor {brief(name)!r}")
        tensors[name] = array.astype(dtype.newbyteorder("="), copy=False)
    return tensors

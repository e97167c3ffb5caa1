"""NumPy's files: .npy, read where it stands, .npz with one array or with a sparse matrix. Never unpickled."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ritz.errors import FILE, DataError
from ritz.rows.columns import shown
from ritz.rows.formats.damage import damage
from ritz.rows.formats.flat import Flat, Handle, flat_stack
from ritz.rows.memory.array import check_shape
from ritz.rows.memory.sparse import stored_values
from ritz.runtime.memory import check_fits

SPARSE = {"format", "shape", "data"}  # what scipy.sparse.save_npz writes, whatever the format


def open_npy(path: Path) -> Any:
    """The array in a .npy file, read where it stands; of more than two axes, all but the first are flattened."""
    file = Handle(path)
    with file.stream() as stream:
        shape, fortran, dtype = _header(stream, FILE)
        offset = stream.tell()
    if len(shape) <= 2:
        check_shape(shape)
    expected, found = offset + _bytes(shape, dtype), file.size
    if found < expected:
        raise DataError(f"{FILE} is truncated: a {dtype} array of shape {shape} takes {expected} bytes, found {found}")
    if len(shape) > 2:
        return _stack(file, shape, fortran, dtype, offset)
    n, d = shape
    strides = (dtype.itemsize, n * dtype.itemsize) if fortran else (d * dtype.itemsize, dtype.itemsize)
    return Flat(file, dtype, shape, offset, strides)


def values_in(path: Path) -> NDArray[Any]:
    """All of a .npy file, of numbers or text, such as labels; never unpickled."""
    with damage(f"{FILE} is not a valid .npy file of numbers or text", file=path):
        values: NDArray[Any] = np.load(path, allow_pickle=False)
    if values.ndim not in (1, 2) or not values.size:
        raise DataError(f"{FILE} has the shape {values.shape}; labels are one column", file=path)
    return values


def _stack(file: Handle, shape: tuple[int, ...], fortran: bool, dtype: np.dtype[Any], offset: int) -> Any:
    """Rows of contiguous numbers; where the first axis is the fastest, a row has no regular places, and all is read."""
    if not fortran:
        return flat_stack(file, dtype, shape, offset)
    size = _bytes(shape, dtype)
    check_fits(size, f"the array of shape {shape} in {FILE}, to be put into the order of its rows,")
    return np.ndarray(shape, dtype, bytearray(file.bytes(offset, size)), order="F")


def open_npz(path: Path) -> Any:
    """The only array in a .npz file, or the sparse matrix that SciPy saved there."""
    # Damaged bytes break the archive, its compression or its headers in many ways.
    with damage(f"{FILE} is not a valid .npz archive (truncated or corrupt)"), zipfile.ZipFile(path) as archive:
        members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
        if len(members) != 1 and not members.keys() >= SPARSE:
            names = shown(list(members), 8) or "none"
            raise DataError(f"{FILE} holds {len(members)} arrays ({names}); save the one to be decomposed on its own")
        check_fits(sum(member.file_size for member in members.values()), f"the contents of {FILE}, unpacked,")
        parts = {name: _array(archive, member, f"{name!r} in {FILE}") for name, member in members.items()}
    return _sparse(parts) if parts.keys() >= SPARSE else next(iter(parts.values()))


def _header(file: Any, where: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    with damage(f"{where} is not a valid .npy file (truncated or corrupt)"):  # a header is parsed as Python
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(file)
    if min(shape, default=0) < 0:
        raise DataError(f"{where} is not a valid .npy file: it claims the shape {shape}")
    if dtype.hasobject:
        raise DataError(f"{where} holds Python objects; unpickling them could run any code, so save plain numbers")
    return shape, fortran, dtype


def _bytes(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Bytes of an array; NumPy gives text without characters one nevertheless."""
    return math.prod(shape) * max(1, dtype.itemsize)


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, where: str) -> NDArray[Any]:
    with archive.open(member) as file:
        shape, _, dtype = _header(file, where)
        if _bytes(shape, dtype) > member.file_size:
            raise DataError(f"{where} claims the shape {shape}, for which it is too short")
    with archive.open(member) as file:
        with damage(f"{where} is not an array of plain numbers", ValueError):
            array = npy.read_array(file, allow_pickle=False)
        while file.read(1 << 20):  # the checksum is compared where the member ends, not where the array does
            pass
    return array


def _sparse(parts: dict[str, NDArray[Any]]) -> Any:
    """The matrix as it was saved; places that are given twice are left to `Sparse`, which adds their values up."""
    import scipy.sparse

    kind = _word(parts["format"])
    names = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}.get(kind)
    if names is None or not set(names) <= parts.keys():
        raise DataError(f"{FILE} holds a sparse matrix of format {kind!r}; save it as csr, csc or coo")
    shape, first, second = (parts[name] for name in ("shape", *names))
    if any(part.dtype.kind not in "iu" or part.ndim != 1 for part in (shape, first, second)):
        raise DataError(f"the sparse matrix in {FILE} is damaged: its shape and indices must be lists of integers")
    places = (first, second) if kind != "coo" else ((first, second),)
    values = stored_values(parts["data"])
    with damage(f"the sparse matrix in {FILE} is damaged", ValueError):
        return getattr(scipy.sparse, f"{kind}_array")((values, *places), shape=tuple(map(int, shape)))


def _word(array: NDArray[Any]) -> str:
    """The one word in an array of text, or whatever the array holds instead."""
    word = array.item() if array.size == 1 else array.tolist()
    return word.decode("ascii", "replace") if isinstance(word, bytes) else str(word)

"""NumPy's files: .npy mapped into memory, .npz with one array or with a sparse matrix. Never unpickled."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ritz.errors import DataError

SPARSE = {"format", "shape", "data"}  # what scipy.sparse.save_npz writes, whatever the format
CAP = 1 << 36  # bytes that the members of an archive may unpack to


def open_npy(path: Path) -> NDArray[Any]:
    """The array in a .npy file, as a memory map."""
    with path.open("rb") as file:
        shape, fortran, dtype = _header(file, path)
        offset, found = file.tell(), path.stat().st_size
    expected = offset + int(np.prod(shape, dtype=object)) * dtype.itemsize
    if found < expected:
        raise DataError(f"{path} is cut short: a {dtype} array of shape {shape} takes {expected} bytes, found {found}")
    if not np.prod(shape):
        return np.empty(shape, dtype)
    return np.memmap(path, dtype, "r", offset, shape, "F" if fortran else "C")


def open_npz(path: Path) -> Any:
    """The only array in a .npz file, or the sparse matrix that SciPy saved there."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {member.filename.removesuffix(".npy"): member.file_size for member in archive.infolist()}
            if sum(sizes.values()) > CAP:
                raise DataError(f"{path} would unpack to {sum(sizes.values())} bytes, more than the {CAP} allowed")
            parts = {name: _member(archive, name, path) for name in sizes}
    except DataError:
        raise
    except Exception as error:  # damaged bytes break the archive, its compression or its headers in many ways
        raise DataError(f"{path} is no whole .npz archive: {error}") from error
    if parts.keys() >= SPARSE:
        return _sparse(parts, path)
    if len(parts) != 1:
        names = ", ".join(map(repr, parts)) or "none"
        raise DataError(f"{path} holds {len(parts)} arrays ({names}); save the one to be decomposed on its own")
    return next(iter(parts.values()))


def _header(file: Any, path: Path | str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(file)
    except Exception as error:  # a damaged header is parsed as Python, with errors of its own
        raise DataError(f"{path} is no whole .npy file: {error}") from error
    if min(shape, default=0) < 0:
        raise DataError(f"{path} is no whole .npy file: it claims the shape {shape}")
    if dtype.hasobject:
        raise DataError(f"{path} holds Python objects; unpickling them could run any code, so save plain numbers")
    return shape, fortran, dtype


def _member(archive: zipfile.ZipFile, name: str, path: Path) -> NDArray[Any]:
    known = {member.filename for member in archive.infolist()}
    member = f"{name}.npy" if f"{name}.npy" in known else name
    with archive.open(member) as file:
        shape, _, dtype = _header(file, f"{name!r} in {path}")
        if int(np.prod(shape, dtype=object)) * dtype.itemsize > archive.getinfo(member).file_size:
            raise DataError(f"{name!r} in {path} claims the shape {shape}, for which it is too short")
    with archive.open(member) as file:
        try:
            return npy.read_array(file, allow_pickle=False)
        except ValueError as error:
            raise DataError(f"{name!r} in {path} is no array of plain numbers: {error}") from error


def _sparse(parts: dict[str, NDArray[Any]], path: Path) -> Any:
    import scipy.sparse

    kind = parts["format"].item()
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    shape = tuple(int(length) for length in parts["shape"])
    names = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}.get(kind)
    if names is None or not set(names) <= parts.keys():
        raise DataError(f"{path} holds a sparse matrix of format {kind!r}; save it as csr, csc or coo")
    first, second = (parts[name] for name in names)
    places = (first, second) if kind != "coo" else ((first, second),)
    try:
        return getattr(scipy.sparse, f"{kind}_array")((parts["data"], *places), shape=shape)
    except ValueError as error:
        raise DataError(f"the sparse matrix in {path} is damaged: {error}") from error

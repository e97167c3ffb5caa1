"""What tests of files share: data, and files as other programs write them."""

import h5py
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from helpers.matrices import random_array

X = np.random.default_rng(0).standard_normal((300, 7)) * [7, 6, 5, 4, 3, 2, 1] + 3.0


class Trap:
    """What a pickle would do if it were opened."""

    def __reduce__(self):
        return (pytest.fail, ("the pickle was opened",))


NAMES = list("abcdefg")


def table(data=X, **more):
    return pa.table({name: data[:, j] for j, name in enumerate(NAMES)} | more)


def write_idx(path, array, opens=open):
    """An IDX file of bytes or of float64, as its description has it: zeros, type, axes, their lengths, big-endian."""
    code = {"uint8": 0x08, "int8": 0x09, "int16": 0x0B, "int32": 0x0C, "float32": 0x0D, "float64": 0x0E}
    head = bytes([0, 0, code[array.dtype.name], array.ndim]) + np.array(array.shape, ">u4").tobytes()
    with opens(path, "wb") as file:
        file.write(head + array.astype(array.dtype.newbyteorder(">")).tobytes())
    return path


def write_h5ad(path, matrix, index=None, **changes):
    """An h5ad file; parts of a sparse matrix are replaced by `changes`, or left out where those are None."""
    with h5py.File(path, "w") as file:
        if sp.issparse(matrix):
            group = file.create_group("X")
            group.attrs["encoding-type"] = changes.pop("format", f"{matrix.format}_matrix")
            group.attrs["shape"] = changes.pop("shape", matrix.shape)
            parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")} | changes
            for name, part in parts.items():
                if part is not None:
                    group[name] = part
        elif matrix is not None:
            file["X"] = matrix
        file.create_group("obs")
        var = file.create_group("var")
        var.attrs["_index"] = "gene"
        if isinstance(index, dict):
            for name, part in index.items():
                var[f"gene/{name}"] = part
        elif index is not None:
            var["gene"] = index
    return path


WORDS = [b"G0", b"G1", b"G2", b"G3", b"G4", b"G5", b"G6"]


SPARSE = random_array((30, 7), density=0.4, format="csr", rng=np.random.default_rng(0))


def put_pictures(folder, pictures, ending=".png", **how):
    """Pictures that Pillow writes, by the names 1, 2, …, 10, …"""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    for i, picture in enumerate(pictures):
        Image.fromarray(picture).save(folder / f"{i + 1}{ending}", **how)
    return folder

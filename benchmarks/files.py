"""Real data: a matrix from .npy, .npz, .csv, .mat or idx files, with a row for each sample."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

IDX_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def read(path: Path, dtype: str, transpose: bool = False) -> np.ndarray:
    """The matrix in a file; `transpose` where the file keeps samples in columns."""
    X = np.asarray(_reader(path)(path))
    X = X.T if transpose else X
    if X.ndim != 2:
        raise ValueError(f"{path.name} holds an array of shape {X.shape}; a benchmark needs rows and columns")
    X = np.ascontiguousarray(X, dtype=dtype)
    if not np.isfinite(X).all():
        raise ValueError(f"{path.name} has values that are not finite; peers reject them, so drop those rows first")
    return X


def _reader(path: Path):
    name = path.name.lower().removesuffix(".gz")
    if "-idx" in name or ".idx" in name:
        return _idx
    readers = {".npy": np.load, ".npz": _npz, ".csv": _csv, ".mat": _mat}
    if (suffix := Path(name).suffix) not in readers:
        raise ValueError(f"cannot read {path.name}; give {', '.join(readers)} or an idx file such as *-idx3-ubyte.gz")
    return readers[suffix]


def _idx(path: Path) -> np.ndarray:
    """The format of MNIST: two zero bytes, the type, the number of axes, their lengths, the values."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if raw[:2] != b"\0\0" or raw[2] not in IDX_TYPES:
        raise ValueError(f"{path.name} does not begin as an idx file does: {raw[:4].hex()}")
    lengths = np.frombuffer(raw, ">i4", count=raw[3], offset=4)
    values = np.frombuffer(raw, IDX_TYPES[raw[2]], offset=4 + 4 * raw[3])
    return values.reshape(lengths[0], -1)


def _npz(path: Path) -> np.ndarray:
    with np.load(path) as arrays:
        if {"indptr", "indices"} <= set(arrays):
            import scipy.sparse

            return scipy.sparse.load_npz(path).toarray()  # most peers want dense rows
        found = next((arrays[name] for name in arrays if arrays[name].ndim == 2), None)
    if found is None:
        raise ValueError(f"{path.name} holds no matrix")
    return found


def _csv(path: Path) -> np.ndarray:
    """Its numeric columns; rows with gaps are left out."""
    import pandas as pd

    return pd.read_csv(path, sep=None, engine="python").select_dtypes("number").dropna().to_numpy()


def _mat(path: Path) -> np.ndarray:
    """The largest matrix of a MATLAB file."""
    import scipy.io

    found = [v for name, v in scipy.io.loadmat(path).items() if not name.startswith("__") and np.ndim(v) == 2]
    if not found:
        raise ValueError(f"{path.name} holds no matrix")
    return max(found, key=np.size)

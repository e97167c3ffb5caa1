"""Matrix Market files, and the folders that sequencing pipelines write: genes by cells, turned to cells by genes."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any

from ritz.errors import DataError
from ritz.rows.sparse import Sparse

MATRIX = ("matrix.mtx", "matrix.mtx.gz")
GENES = ("features.tsv.gz", "features.tsv", "genes.tsv", "genes.tsv.gz")


def open_market(path: Path) -> Any:
    """The matrix in a Matrix Market file, sparse or dense."""
    import scipy.io

    try:
        return scipy.io.mmread(_terminated(path))
    except Exception as error:  # SciPy, and gzip under it, have many ways to say so
        raise DataError(f"{path} is no whole Matrix Market file: {error}") from error


def _terminated(path: Path) -> Any:
    """The file, or its text with a line end after it: SciPy's parser reads beyond a number that nothing follows."""
    if path.suffix.lower() == ".gz":
        with gzip.open(path) as file:
            return io.BytesIO(file.read() + b"\n")
    text = path.read_bytes() if not _ends_with_newline(path) else b""
    return io.BytesIO(text + b"\n") if text else path


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 1))
        return file.read(1) == b"\n"


def is_10x(folder: Path) -> bool:
    """Whether a folder holds a matrix as 10x pipelines write it."""
    return any((folder / name).exists() for name in MATRIX)


def open_10x(folder: Path) -> Sparse:
    """Cells by genes, named after the genes."""
    matrix = next(folder / name for name in MATRIX if (folder / name).exists())
    counts = open_market(matrix)
    genes = next((folder / name for name in GENES if (folder / name).exists()), None)
    names = None if genes is None else _names(genes)
    if names is not None and len(names) != counts.shape[0]:
        raise DataError(f"{genes} names {len(names)} genes, {matrix} has {counts.shape[0]} rows")
    return Sparse(counts.T, names)


def _names(path: Path) -> tuple[str, ...]:
    """The symbols of the genes, which stand in the second column where there is one; where they repeat, the first."""
    opened: Any = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row]
    symbols = tuple(row[min(1, len(row) - 1)] for row in rows)
    return symbols if len(set(symbols)) == len(symbols) else tuple(row[0] for row in rows)

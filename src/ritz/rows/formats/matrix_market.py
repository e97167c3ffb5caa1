"""Matrix Market files, and the folders that sequencing pipelines write: genes by cells, turned to cells by genes."""

from __future__ import annotations

import csv
import gzip
import inspect
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import FILE, DataError
from ritz.rows.base import Rows
from ritz.rows.formats.damage import damage
from ritz.rows.large_integers import all_small, exact_number, is_rounded, refusal
from ritz.rows.memory.array import ArrayRows
from ritz.rows.memory.sparse import Sparse
from ritz.runtime.memory import allowed, check_fits, format_bytes

MATRIX = ("matrix.mtx", "matrix.mtx.gz")
GENES = ("features.tsv.gz", "features.tsv", "genes.tsv", "genes.tsv.gz")
BARCODES = ("barcodes.tsv.gz", "barcodes.tsv")
SHORTEST = {"array": 2, "coordinate": 4}  # characters of an entry: "1\n", and "1 1\n" where only places are given
DEFLATE = 1032  # bytes that one compressed byte can stand for at most
LONG = re.compile(rb"[0-9]{16}")  # digits that an integer beyond 2⁵³ has at least
LINE = 1 << 20  # characters of a line; the parser holds a whole one, so an endless one would take all memory


def open_market(path: Path) -> Any:
    """The matrix in a Matrix Market file, sparse or dense."""
    import scipy.io

    with damage(f"{FILE} is not a valid Matrix Market file (truncated or corrupt)", file=path):
        with _text(path) as text:
            header = scipy.io.mminfo(text)
            _check_claims(header, path)
        # Sparse arrays are to become SciPy's default, and older versions have no choice to offer.
        choice = {"spmatrix": False} if "spmatrix" in inspect.signature(scipy.io.mmread).parameters else {}
        with _text(path) as text:
            matrix = scipy.io.mmread(text, **choice)
        values = matrix if isinstance(matrix, np.ndarray) else matrix.data
        if header[4] == "real" and not all_small(values):
            _check_written(path)
        return matrix


def _check_written(path: Path) -> None:
    """Refuse integers that float64 cannot hold in a file of real numbers."""
    with _text(path) as text:
        for line in io.BufferedReader(text):
            if LONG.search(line) and not line.startswith(b"%"):
                value = exact_number(line.split()[-1].decode("ascii"))
                if is_rounded(value):
                    raise refusal(value, FILE)


class LimitedText(io.RawIOBase):
    """A text of limited length and with limited lines, as unpacked from a file.

    A line end is put after it: SciPy's parser reads beyond a number that nothing follows.
    """

    def __init__(self, file: Any, most: int) -> None:
        self._file, self._most = file, most
        self._read = self._line = 0  # characters so far, in all and since the last line end
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._file.read(len(buffer))
        self._check(part)
        if not part and not self._ended:
            self._ended, part = True, b"\n"
        buffer[: len(part)] = part
        return len(part)

    def _check(self, part: bytes) -> None:
        self._read += len(part)
        if self._read > self._most:
            raise DataError(f"{FILE} unpacks to more than the {format_bytes(self._most)} allowed here")
        end = part.rfind(b"\n") + 1
        self._line = len(part) - end + (0 if end else self._line)
        if self._line > LINE:
            raise DataError(f"{FILE} has a line of more than {LINE} characters, so it is not a list of entries")
        if b"\0" in part:  # where SciPy's parser would look for the end of the line without an end
            raise DataError(f"{FILE} is not text: it contains a zero byte before position {self._read}")


@contextmanager
def _text(path: Path) -> Iterator[LimitedText]:
    packed = path.suffix.lower() == ".gz"
    opened: Any = gzip.open if packed else open
    with opened(path, "rb") as file:
        yield LimitedText(file, allowed() if packed else path.stat().st_size)


def _check_claims(header: tuple[Any, ...], path: Path) -> None:
    """Whether a file is as long as its header says: its entries are allocated before they are read."""
    rows, columns, entries, layout, field, symmetry = header
    mirrored = symmetry != "general"
    if mirrored and rows != columns:  # SciPy writes beyond the matrix
        raise DataError(f"{FILE} claims to be {symmetry}, but its shape is ({rows}, {columns})")
    if layout == "array":
        entries = rows * columns if not mirrored else rows * (rows - 1) // 2
    size = path.stat().st_size * (DEFLATE if path.suffix.lower() == ".gz" else 1)
    if entries * SHORTEST[layout] > size + 1:
        raise DataError(f"{FILE} claims {entries} entries, but it is too short for them; it may be truncated")
    number = 16 if field == "complex" else 8
    held = rows * columns * number if layout == "array" else entries * (8 + number) * (2 if mirrored else 1)
    check_fits(held, f"the {rows}×{columns} matrix in {FILE}")


def is_10x(folder: Path) -> bool:
    """Whether a folder holds a matrix as 10x pipelines write it."""
    return _there(folder, MATRIX) is not None


def listed(folder: Path) -> list[Path]:
    """The files of such a folder that are read."""
    found = (_there(folder, names) for names in (MATRIX, GENES, BARCODES))
    return [path for path in found if path is not None]


def open_10x(folder: Path) -> Rows:
    """Cells by genes, named after the genes, with the barcodes of the cells beside them."""
    matrix = next(folder / name for name in MATRIX if (folder / name).exists())
    counts = open_market(matrix)
    genes, barcodes = _there(folder, GENES), _there(folder, BARCODES)
    names = None if genes is None else _names(genes)
    if names is not None and len(names) != counts.shape[0]:
        raise DataError(f"{FILE} names {len(names)} genes, {matrix} has {counts.shape[0]} rows", file=genes)
    rows: Rows = Sparse(counts.T, names) if Sparse.opens(counts) else ArrayRows(counts.T, names)
    if barcodes is not None:
        rows.put_beside([], ("barcode", partial(_barcodes, barcodes, rows.shape[0])))
    return rows


def _barcodes(path: Path, n: int, count: int | None) -> NDArray[Any]:
    """The names of the first so many of n cells, one in every line of a file."""
    found = [row[0] for row in _table(path, "barcodes")]
    if len(found) != n:
        raise DataError(f"{FILE} names {len(found)} cells, but the matrix has {n}", file=path)
    return np.array(found[:count], object)


def _there(folder: Path, names: tuple[str, ...]) -> Path | None:
    """The first of several files that exists."""
    return next((folder / name for name in names if (folder / name).exists()), None)


def _names(path: Path) -> tuple[str, ...]:
    """The symbols of the genes, which stand in the second column where there is one; where they repeat, the first."""
    rows = _table(path, "genes")
    symbols = tuple(row[min(1, len(row) - 1)] for row in rows)
    return symbols if len(set(symbols)) == len(symbols) else tuple(row[0] for row in rows)


def _table(path: Path, what: str) -> list[list[str]]:
    """The cells of all lines."""
    with damage(f"{FILE} is not a valid list of {what} (truncated or corrupt)", file=path), _text(path) as text:
        file = io.TextIOWrapper(io.BufferedReader(text), "utf-8", newline="")
        return [row for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row]

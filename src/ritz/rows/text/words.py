"""Texts of which no column needs to hold numbers: labels, names, whatever stands beside data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ritz.rows.text.source import Text


class Words(Text):
    """A table in text, read for its cells as they are written."""

    numbers_needed = False


def columns_of_words(path: Path, n: int | None = None) -> dict[Any, NDArray[Any]]:
    """The cells of all columns by name, or by place where there is no header.

    Where nothing tells whether the first line is a header, the number of rows may: `n` is how many there should be.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "labels.txt")
    >>> _ = path.write_text("setosa\\nversicolor\\n")
    >>> columns_of_words(path, 2), columns_of_words(path, 1)
    ({0: array(['setosa', 'versicolor'], dtype=object)}, {'setosa': array(['versicolor'], dtype=object)})
    """
    found = Words(path)
    if n is not None and found.shape[0] != n:
        other = Words(path, header=not found.dialect.first_line)
        found = other if other.shape[0] == n else found
    return found.raw_cells(found.keys)

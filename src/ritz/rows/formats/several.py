"""Which files are meant by a list, a pattern such as data/*.csv, or a folder of tables, and in which order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from glob import glob, has_magic
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ritz.errors import DataError
from ritz.rows.formats.images import JUNK
from ritz.rows.formats.read import FORMATS, TABLES, opener_of, suffix_of

RESULTS = "-ritz"  # how the names of folders end that `ritz fit` has written


def several(source: Any) -> list[Path] | None:
    """The files of a list, as they are given, or of a pattern or a folder of tables, in natural order.

    None of what is opened as one: a file, or any other folder.

    Examples
    --------
    >>> several("one.csv") is None
    True
    >>> [path.name for path in several(["b.npy", "a.npy"])]
    ['b.npy', 'a.npy']
    """
    if is_list(source):
        return [path for item in source for path in (several(item) or [Path(item)])]
    path = Path(source)
    if path.is_dir() and opener_of(path) == TABLES:
        return listed(path)
    if path.exists() or not has_magic(fspath(source)):
        return None
    found = sorted((Path(name) for name in glob(fspath(source), recursive=True)), key=natural)
    if not found:
        raise FileNotFoundError(f"there is no file {str(source)!r}, and none that fits it as a pattern")
    return found


def is_list(source: Any) -> bool:
    """Whether it is a list of paths, and not of rows."""
    paths = isinstance(source, list | tuple) and len(source) > 0
    return paths and all(isinstance(item, str | PathLike) for item in source)


def natural(path: Path) -> tuple[Any, ...]:
    """What to sort by, so that part-10 comes after part-9.

    Examples
    --------
    >>> [path.name for path in sorted(map(Path, ("x10.npy", "x9.npy", "y.npy")), key=natural)]
    ['x9.npy', 'x10.npy', 'y.npy']
    """
    pieces = re.split(r"(\d+)", str(path))
    return tuple(int(piece) if i % 2 else piece for i, piece in enumerate(pieces)), str(path)


def tables_in(folder: Path) -> list[Path]:
    """The files of a folder, if all are tables of one format, in natural order; nothing else."""
    files = sorted(_shown(folder), key=natural)
    kinds = {suffix_of(file) for file in files}
    return files if len(kinds) == 1 and kinds <= FORMATS.keys() else []


def listed(path: Path) -> list[Path]:
    """The tables of a folder, of which there were some when it was opened."""
    found = tables_in(path)
    if not found:
        raise DataError(f"the folder {str(path)!r} holds files of several formats by now, or none")
    return found


def _shown(folder: Path) -> Iterator[Path]:
    """What a folder holds but for hidden files and results of `ritz fit`."""
    for entry in folder.iterdir():
        hidden = entry.name.startswith(("_", ".")) or entry.name.lower() in JUNK
        if not hidden and not (entry.is_dir() and entry.name.endswith(RESULTS)):
            yield entry

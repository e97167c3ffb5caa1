"""Where results go: folders and files that may be written, and scores with what stands beside them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ritz.cli.failures import FAILED, USAGE, Failure
from ritz.cli.inputs import PIPE
from ritz.cli.screen import in_terminal
from ritz.writing import FORMATS, Results, deliver, pour


def may_write(path: Path, sources: Iterable[Path], force: bool) -> None:
    """Refuse what would replace a file, or write elsewhere than it seems to, unless that is asked for."""
    if path.is_dir():
        raise Failure(f"{str(path)!r} is a folder; give the name of a file", USAGE)
    if not path.parent.is_dir():
        raise Failure(f"there is no folder {str(path.parent)!r} to write into", USAGE)
    if force:
        return
    _check_place(path)
    if any(_same(path, source) for source in sources):
        raise Failure(f"{str(path)!r} is the file that is read; --force replaces it")
    if path.exists():
        raise Failure(f"{str(path)!r} exists; --force replaces it")


def folder_for(asked: str | None, source: str, path: Path, names: Iterable[str], force: bool) -> Path:
    """The folder of a fit's files, next to the input unless another one is asked for; none of them may exist yet."""
    folder = Path(asked) if asked is not None else _beside(source, path)
    if folder.exists() and not folder.is_dir():
        raise Failure(f"{str(folder)!r} is a file; -o names the folder that results go into", USAGE)
    if not folder.parent.is_dir():
        raise Failure(f"there is no folder {str(folder.parent)!r} to make {folder.name!r} in", USAGE)
    if not os.access(folder if folder.exists() else folder.parent, os.W_OK):
        raise Failure(f"{str(folder.parent)!r} cannot be written to; give another folder with -o", FAILED)
    if not force:
        _check_place(folder, asked is not None)
        there = [name for name in names if os.path.lexists(folder / name)]
        if there:
            raise Failure(f"{str(folder / there[0])!r} exists; --force replaces it, -o names another folder")
    return folder


def _beside(source: str, path: Path) -> Path:
    name = "stdin" if source == PIPE else path.absolute().name
    while Path(name).suffix and len(Path(name).suffix) <= 8 and not path.is_dir():  # x.csv.gz
        name = Path(name).stem
    return (Path() if source == PIPE else path.parent) / f"{name}-ritz"


def _check_place(path: Path, given: bool = True) -> None:
    if given and ".." in path.parts:
        raise Failure(f"{str(path)!r} leads out of this folder; --force writes there")
    if path.is_symlink():
        raise Failure(f"{str(path)!r} is a link to {os.path.realpath(path)!r}; --force writes there")


def _same(a: Path, b: Path) -> bool:
    with suppress(OSError):
        return os.path.samefile(a, b) or Path(os.path.realpath(b)) in Path(os.path.realpath(a)).parents
    return False


def send(results: Results, out: str | None, to: str | None, sources: Iterable[Path], force: bool) -> str:
    """Results into a file by the end of its name, or to standard output; returns where they went, in words."""
    if out is None or out == PIPE:
        if to == "parquet" and in_terminal():
            raise Failure("a terminal cannot show Parquet; write it to a file with -o", USAGE)
        kind = to or ("csv" if in_terminal() else "arrow")
        sys.stdout.flush()
        pour(results, sys.stdout.buffer, kind)
        sys.stdout.buffer.flush()
        return f"standard output, as {kind}"
    path = Path(out)
    if path.suffix.lower() not in FORMATS:
        raise Failure(f"cannot write {path.name!r} by the end of its name; known: {', '.join(FORMATS)}", USAGE)
    may_write(path, sources, force)
    deliver(results, path)
    return str(path)


def scores(model: Any, rows: Any, beside: Mapping[str, NDArray[Any]]) -> Results:
    """Scores under the names PC1, PC2, …"""
    blocks = model.codes(rows)
    k = model._n_features_out
    return Results(blocks, rows.shape[0], tuple(f"PC{i + 1}" for i in range(k)), rows.result_dtype, beside)

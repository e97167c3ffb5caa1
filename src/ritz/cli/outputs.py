"""Where results go: folders and files that may be written, and scores with what stands beside them."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.cli.failures import FAILED, USAGE, Failure
from ritz.cli.inputs import PIPE
from ritz.cli.screen import in_terminal
from ritz.harmless import visible
from ritz.linalg import Array
from ritz.writing import FORMATS, Results, deliver, pour

MODEL, REPORT = "model.safetensors", "report.html"
SCORES = {True: "scores.csv", False: "scores.parquet"}  # by whether the input is text
FILES = (MODEL, *SCORES.values(), REPORT)  # whatever a fit may leave in a folder


def file_names(text: bool) -> tuple[str, str, str]:
    """Model, scores and report of a fit."""
    return MODEL, SCORES[text], REPORT


def may_write(path: Path, sources: Iterable[Path], force: bool) -> None:
    """Refuse what would replace a file, or write elsewhere than it seems to, unless that is asked for."""
    if str(path) == PIPE:
        raise Failure("a model does not go to standard output; give the name of a file", USAGE)
    if path.is_dir():
        raise Failure(f"{str(path)!r} is a folder; give the name of a file", USAGE)
    if not path.parent.is_dir():
        raise Failure(f"there is no folder {str(path.parent)!r} to write into", USAGE)
    if path.exists() and not path.is_file():
        raise Failure(f"{str(path)!r} is no file that could be replaced; give another name", USAGE)
    if not os.access(path.parent, os.W_OK):
        raise Failure(f"{str(path.parent)!r} cannot be written to; give another place with -o")
    if force:
        return
    _check_place(path)
    if any(same(path, source) for source in sources):
        raise Failure(f"{str(path)!r} is the file that is read; --force replaces it")
    if path.exists():
        raise Failure(f"{str(path)!r} exists; --force replaces it")


def folder_for(asked: str | None, source: str, names: Iterable[str], force: bool) -> Path:
    """The folder of a fit's files, next to the input unless another one is asked for; none of them may exist yet."""
    folder = Path(asked) if asked is not None else _beside(source)
    if folder.exists() and not folder.is_dir():
        raise Failure(f"{str(folder)!r} is a file; -o names the folder that results go into", USAGE)
    if not folder.parent.is_dir():
        raise Failure(f"there is no folder {str(folder.parent)!r} to make {folder.name!r} in", USAGE)
    place = folder if folder.exists() else folder.parent
    if not os.access(place, os.W_OK):
        raise Failure(f"{str(place)!r} cannot be written to; give another folder with -o", FAILED)
    if source != PIPE and Path(source).is_dir() and same(folder, Path(source)):
        raise Failure(f"{str(folder)!r} is the folder that is read, or lies in it; give another one with -o", USAGE)
    if not force:
        _check_place(folder, asked is not None)
        there = [name for name in names if os.path.lexists(folder / name)]
        if there:
            raise Failure(f"{str(folder / there[0])!r} exists; --force replaces it, -o names another folder")
    return folder


def _beside(source: str) -> Path:
    """NAME-ritz, where NAME is the input without what tells its format."""
    if source == PIPE:
        return Path("stdin-ritz")
    path = Path(source) if Path(source).name not in ("", "..") else Path(source).resolve()
    name = path.name
    while Path(name).suffix and len(Path(name).suffix) <= 8 and not path.is_dir():  # x.csv.gz
        name = Path(name).stem
    return path.parent / f"{name}-ritz"


def free_folder(source: str) -> Path | None:
    """A folder that a fit may write into, where the usual one holds results already; None where it does not."""
    usual = _beside(source)
    found, i = usual, 2
    while any(os.path.lexists(found / name) for name in FILES) or (found.exists() and not found.is_dir()):
        found, i = usual.with_name(f"{usual.name}-{i}"), i + 1
    return None if found == usual else found


def _check_place(path: Path, given: bool = True) -> None:
    if given and ".." in path.parts:
        raise Failure(f"{str(path)!r} leads out of this folder; --force writes there")
    if path.is_symlink():
        raise Failure(f"{str(path)!r} is a link to {os.path.realpath(path)!r}; --force writes there")


def same(a: Path, b: Path) -> bool:
    """Whether two paths lead to the same file, or the first into the second."""
    if Path(os.path.realpath(b)) in Path(os.path.realpath(a)).parents:
        return True
    with suppress(OSError):
        return os.path.samefile(a, b)
    return False


def check_destination(out: str | None, to: str | None, sources: Iterable[Path], force: bool) -> None:
    """Whether results may go there: asked before anything is read."""
    if out is None or out == PIPE:
        if (to == "parquet" or to == "arrow") and in_terminal():
            raise Failure(f"a terminal cannot show {to}; write it to a file with -o, or use --to csv", USAGE)
        return
    if to is not None:
        raise Failure("--to is the format of standard output; the end of the name given with -o tells its own", USAGE)
    if Path(out).suffix.lower() not in FORMATS:
        raise Failure(f"cannot write {Path(out).name!r} by the end of its name; known: {', '.join(FORMATS)}", USAGE)
    may_write(Path(out), sources, force)


def send(results: Results, out: str | None, to: str | None) -> str:
    """Results into a file by the end of its name, or to standard output; returns where they went, in words."""
    if out is not None and out != PIPE:
        deliver(results, out)
        return out
    kind = to or ("csv" if in_terminal() else "arrow")
    sys.stdout.flush()
    pour(_shown(results) if in_terminal() else results, sys.stdout.buffer, kind)
    return f"standard output, as {kind}"


def _shown(results: Results) -> Results:
    """The same with nothing in it that a terminal would obey."""
    beside = {visible(name): _harmless(values) for name, values in results.beside.items()}
    return replace(results, names=tuple(map(visible, results.names)), beside=beside)


def _harmless(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind != "O":
        return values
    return np.array([None if value is None else visible(value) for value in values], object)


def scores_of(model: Any, rows: Any, beside: Mapping[str, NDArray[Any]]) -> Results:
    """Scores under their names."""
    return Results(model.codes(rows), rows.shape[0], score_names(model), rows.result_dtype, beside)


def spread_out(results: Results, kept: NDArray[np.intp], n: int) -> Generator[Array, None, None]:
    """Blocks of n rows in all, where those at `kept` are the results, and nothing stands in the others."""
    at = done = 0
    with closing(results.blocks):
        for block in results.blocks:
            places = kept[done : done + len(block)]
            stop = int(places[-1]) + 1
            whole = np.full((stop - at, *block.shape[1:]), np.nan, results.dtype)
            whole[places - at] = block
            yield whole
            at, done = stop, done + len(block)
    if at < n:
        yield np.full((n - at, len(results.names)), np.nan, results.dtype)


def score_names(model: Any) -> tuple[str, ...]:
    """PC1, PC2, … of components; y1, y2, … of measurements, as y = Φx has them."""
    if measures(model):
        return tuple(f"y{i + 1}" for i in range(model.n_measurements_))
    return tuple(f"PC{i + 1}" for i in range(len(model.certificate_.values)))


def measures(model: Any) -> bool:
    """Whether it is a model of compressed sensing."""
    return hasattr(model, "n_measurements_")

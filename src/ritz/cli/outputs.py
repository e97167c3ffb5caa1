"""Where results go: folders and files that may be written, and scores with what stands beside them."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from errno import ENOENT
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.cli.errors import FAILED, USAGE, Failure
from ritz.cli.inputs import PIPE
from ritz.cli.screen import in_terminal
from ritz.linalg.dense import Array
from ritz.rows.scores import score_names
from ritz.rows.write.tables import FORMATS, Results, deliver, pour
from ritz.runtime.atomic import temporary
from ritz.runtime.escape import visible

MODEL, REPORT = "model.safetensors", "report.html"
SCORES = {True: "scores.csv", False: "scores.parquet"}  # by whether the input is text
FILES = (MODEL, *SCORES.values(), REPORT)  # whatever a fit may leave in a folder


def file_names(text: bool) -> tuple[str, str, str]:
    """Model, scores and report of a fit."""
    return MODEL, SCORES[text], REPORT


def scores_ending(ending: str, text: bool) -> str:
    """The end of the name of scores beside an input of that ending: the same format where it can be written."""
    return ending if ending in FORMATS else ".npy" if ending == ".npz" else ".csv" if text else ".parquet"


def may_write(path: Path, sources: Iterable[Path], force: bool) -> None:
    """Refuse what would replace a file, or write elsewhere than it seems to, unless that is asked for."""
    if str(path) == PIPE:
        raise Failure("a model does not go to standard output; give the name of a file", USAGE)
    there = _kind(path)
    if there == "a folder":
        raise Failure(f"{str(path)!r} is a folder; give the name of a file", USAGE)
    if there not in (None, "a file"):
        raise Failure(f"{str(path)!r} is {there}, no file that could be replaced; give another name", USAGE)
    _check_parent(_led_to(path), "to write into")
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
    there = _kind(folder)
    if there not in (None, "a folder"):
        raise Failure(f"{str(folder)!r} is {there}; -o names the folder that results go into", USAGE)
    real = _led_to(folder)
    if there is None:
        _check_parent(real, f"to make {real.name!r} in")
    else:
        _check_writable(real)
    if source != PIPE and Path(source).is_dir() and same(folder, Path(source)):
        raise Failure(f"{str(folder)!r} is the folder that is read, or lies in it; give another one with -o", USAGE)
    if not force:
        _check_place(folder, asked is not None)
        taken = [name for name in names if os.path.lexists(folder / name)]
        if taken:
            raise Failure(f"{str(folder / taken[0])!r} exists; --force replaces it, -o names another folder")
    return folder


def _kind(path: Path) -> str | None:
    """What is there, if anything."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:  # the name is too long, or links go round in circles
        raise Failure(f"{str(path)!r} cannot be used: {error.strerror}; give another name with -o", USAGE) from error
    kinds = {stat.S_IFREG: "a file", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def _led_to(path: Path) -> Path:
    """Where a link leads, which may be nowhere; any other path as it was given."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _check_parent(path: Path, purpose: str) -> None:
    """Whether the folder is there that something should be made in, and takes it."""
    parent = path.parent
    found = next((above for above in (parent, *parent.parents) if os.path.lexists(above)), parent)
    if not found.is_dir():
        raise Failure(f"{str(found)!r} is {_kind(found) or 'a link to nothing'}, no folder {purpose}; name one", USAGE)
    if not parent.is_dir():
        raise Failure(f"there is no folder {str(parent)!r} {purpose}; make it first, or name another one", USAGE)
    _check_writable(parent)


def _check_writable(folder: Path) -> None:
    """Whether something can be made there. Only trying tells: file systems may refuse what rights allow."""
    try:
        with temporary(folder):
            pass
    except OSError as error:
        words = "its file system takes no new files" if error.errno == ENOENT else error.strerror
        raise Failure(f"{str(folder)!r} cannot be written to: {words}; give another place with -o", FAILED) from error


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

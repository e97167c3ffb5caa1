"""Where data comes from and where results may go: what can be told of a path before anything heavy is imported."""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from errno import ENOENT
from glob import has_magic
from pathlib import Path

from ritz.cli.errors import FAILED, USAGE, Failure
from ritz.errors import DataError
from ritz.runtime.atomic import temporary

PIPE = "-"
RESULTS = "-ritz"  # how the name of a folder of results ends
MODEL, REPORT = "model.safetensors", "report.html"
SCORES = {True: "scores.csv", False: "scores.parquet"}  # by whether the input is text
FILES = (MODEL, *SCORES.values(), REPORT)  # whatever a fit may leave in a folder


@dataclass(frozen=True)
class Source:
    """What a command reads: one file or folder, or many files, as they were typed and where they are."""

    names: tuple[str, ...]
    paths: tuple[Path, ...]

    @property
    def title(self) -> str:
        """How people call it."""
        first, others = title(self.names[0], self.paths[0]), len(self.paths) - 1
        return f"{first} and {others} more file{'s' * (others > 1)}" if others else first

    @property
    def bytes(self) -> int:
        return sum(map(bytes_of, self.paths))

    @property
    def opened(self) -> Path | tuple[Path, ...]:
        """What `ritz.read` is given."""
        return self.paths if len(self.paths) > 1 else self.paths[0]


def title(name: str, path: Path) -> str:
    """How people call the input."""
    return "standard input" if name == PIPE else path.name or path.resolve().name


def bytes_of(path: Path) -> int:
    """The size of a file, or of all in a folder."""
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)


@contextmanager
def located(name: str) -> Iterator[Path]:
    """The file of that name; for - whatever comes through the pipe, until it is no longer needed."""
    if name == PIPE and sys.stdin.isatty():
        raise FileNotFoundError("nothing is piped into standard input; give the name of a file")
    if name != PIPE:
        if not Path(name).exists():
            raise FileNotFoundError(f"there is no file {name!r}")
        yield Path(name)
        return
    from ritz.rows.formats.signatures import spooled

    with temporary(Path(tempfile.gettempdir())) as folder:
        path = spooled(sys.stdin.buffer, folder)
        try:
            yield path
        except DataError as error:  # only this program knows that file
            if error.file != str(path):
                raise
            raise error.in_file("standard input") from error


@contextmanager
def all_located(names: tuple[str, ...]) -> Iterator[Source]:
    """All files of these names, as long as they are needed; a pattern in quotes stands for those that fit it."""
    if len(names) > 1 and PIPE in names:
        raise Failure("- is standard input, which is read alone; give the names of files only", USAGE)
    with ExitStack() as stack:
        paths: list[Path] = []
        for name in names:
            if has_magic(name) and not Path(name).exists():
                from ritz.rows.formats.several import several

                paths += several(name) or ()
            else:
                paths.append(stack.enter_context(located(name)))
        yield Source(names, tuple(paths))


def may_write(path: Path, sources: Iterable[str | None], force: bool) -> None:
    """Refuse what would replace a file, or write elsewhere than it seems to, unless that is asked for."""
    if str(path) == PIPE:
        raise Failure("a model does not go to standard output; give the name of a file", USAGE)
    there = _kind(path)
    if there == "a folder":
        raise Failure(f"{str(path)!r} is a folder; give the name of a file", USAGE)
    if there not in (None, "a file"):
        raise Failure(f"{str(path)!r} is {there}, not a file; give another name", USAGE)
    _check_parent(_led_to(path), "to write into")
    if force:
        return
    _check_place(path)
    if any(same(path, Path(source)) for source in sources if source not in (None, PIPE)):
        raise Failure(f"{str(path)!r} is the file that is read; --force replaces it")
    if path.exists():
        raise Failure(f"{str(path)!r} exists; --force replaces it")


def folder_for(asked: str | None, sources: tuple[str, ...], force: bool) -> Path:
    """The folder of a fit's files, next to the first input unless another is asked for; none of them may exist yet."""
    folder = Path(asked) if asked is not None else _beside(sources[0])
    for source in sources:
        _check_folder(folder, source, "; -o names the folder that results go into")
    if not force:
        _check_place(folder, asked is not None)
        taken = [name for name in FILES if os.path.lexists(folder / name)]
        if taken:
            raise Failure(f"{str(folder / taken[0])!r} exists; --force replaces it, -o names another folder")
    return folder


def folder_to_fill(folder: Path, source: str, force: bool) -> None:
    """Refuse a folder for new files that cannot be made, or is read, or, unless that is asked for, holds something."""
    _check_folder(folder, source, ", not a folder; give another name")
    if force:
        return
    _check_place(folder)
    if folder.exists() and any(folder.iterdir()):
        advice = "--force writes into it and replaces files of the same name, -o names another folder"
        raise Failure(f"{str(folder)!r} exists and is not empty; {advice}")


def _check_folder(folder: Path, source: str, advice: str) -> None:
    """Refuse a place where no folder can be made or written to, with this advice, and the folder that is read."""
    there, real = _kind(folder), _led_to(folder)
    if there not in (None, "a folder"):
        raise Failure(f"{str(folder)!r} is {there}{advice}", USAGE)
    if there is None:
        _check_parent(real, f"to make {real.name!r} in")
    else:
        _check_writable(real)
    if source != PIPE and Path(source).is_dir() and same(folder, Path(source)):
        raise Failure(f"{str(folder)!r} is the folder that is read, or lies in it; give another one with -o", USAGE)


def check_not_fitted(folder: Path, model: str) -> None:
    """Refuse the folder that a model was fitted to, as far as names tell: NAME, where the model is in NAME-ritz.

    Files of the same names would replace those that the model was learned from.
    """
    results = Path(model).absolute().parent
    name = results.name.removesuffix(RESULTS)
    if name not in ("", results.name) and same(folder, results.with_name(name)):
        raise Failure(
            f"{str(folder)!r} is the folder that the model was fitted to, or lies in it: its files could be replaced; "
            "give another one with -o",
            USAGE,
        )


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
        raise Failure(f"{str(found)!r} is {_kind(found) or 'a broken link'}, not a folder {purpose}; name one", USAGE)
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
    if has_magic(source) and not Path(source).exists():  # a pattern
        source = re.sub(r"[*?\[\]]+", "", source)
    path = Path(source) if Path(source).name not in ("", "..") else Path(source).resolve()
    name = path.name
    while Path(name).suffix and len(Path(name).suffix) <= 8 and not path.is_dir():  # x.csv.gz
        name = Path(name).stem
    return path.parent / f"{name}{RESULTS}"


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

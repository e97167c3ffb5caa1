"""Files that are written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from errno import ENOENT
from pathlib import Path
from stat import S_ISDIR, S_ISREG

try:
    import fcntl
except ImportError:  # Windows has no such locks: nothing is swept there
    fcntl = None  # type: ignore[assignment]

MARK = ".ritz-new-"  # how the names of files and folders begin that are not whole yet


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A new file next to `path`, which takes its place when all went well and is gone when it did not.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/x.txt") as new:
    ...         _ = new.write_text("whole")
    ...     Path(f"{folder}/x.txt").read_text()
    'whole'
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise FileExistsError(f"{str(path)!r} is not a regular file, so no file can replace it; give another path")
    # With the rights of any new file: those of `tempfile` are for their owner alone.
    with _unfinished(path.parent, lambda new: new.touch(exist_ok=False)) as new:
        yield new
        with new.open("rb") as file:
            os.fsync(file.fileno())
        if path.exists():
            new.chmod(path.stat().st_mode & 0o777)
        os.replace(new, path)
        _sync(path.parent)


def temporary(beside: Path) -> AbstractContextManager[Path]:
    """A new folder in another one, gone in the end; if the process is killed before, the next one there removes it."""
    return _unfinished(beside, lambda new: new.mkdir(0o700))


@contextmanager
def _unfinished(folder: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """A file or a folder that is gone in the end, unless it was moved; its lock says that somebody writes it."""
    sweep(folder)
    new, lock = _locked(folder, make)
    try:
        yield new
    finally:
        with suppress(OSError):
            _remove(new)
        if lock is not None:
            os.close(lock)


def _locked(folder: Path, make: Callable[[Path], None]) -> tuple[Path, int | None]:
    """Something new that is locked, where the system knows locks."""
    while True:
        new = folder / f"{MARK}{_host()}-{secrets.token_hex(8)}"
        make(new)
        try:
            return new, _lock(new, fcntl.LOCK_EX) if fcntl else None
        except FileNotFoundError:  # swept before it was locked
            continue
        except OSError:  # not every file system has locks; without one, nothing is taken for abandoned either
            return new, None


def _lock(path: Path, how: int) -> int:
    """A handle that holds the lock of a file or folder, which is still there."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, how)
        if not os.path.samestat(os.fstat(handle), os.stat(path)):
            raise FileNotFoundError(path)
    except OSError:
        os.close(handle)
        raise
    return handle


def sweep(folder: Path) -> None:
    """Remove what a process of this machine and this user has left here when it was killed; a lock tells who lives."""
    if fcntl is None:
        return
    ours = re.compile(rf"{re.escape(MARK + _host())}-[0-9a-f]{{16}}")
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if ours.fullmatch(entry.name):
                with suppress(OSError):
                    _sweep(Path(entry.path))


def _sweep(path: Path) -> None:
    at = os.lstat(path)
    if at.st_uid != os.geteuid() or not (S_ISREG(at.st_mode) or S_ISDIR(at.st_mode)):
        return
    lock = _lock(path, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises while its writer lives
    try:
        _remove(path)
    finally:
        os.close(lock)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _host() -> str:
    """This machine: a folder may be shared with others, whose locks are not seen everywhere."""
    return hashlib.sha256(platform.node().encode("utf-8", "surrogateescape")).hexdigest()[:8]


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """`replacing`, for a path that a user gave: errors name it, and not the temporary file."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; give the name of a file")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(target.parent)!r} to write into")
    with _naming(path), replacing(target) as new:
        yield new


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of the system with the path that the user gave; those of ours, which have no number, as they are."""
    try:
        yield
    except OSError as error:
        if error.errno is None or isinstance(error, FileExistsError):
            raise
        words, folder = error.strerror or str(error), Path(path).parent
        if error.errno == ENOENT and folder.is_dir():  # what is said not to be there is what could not be made
            told = f"{str(path)!r} cannot be made ({words}): {str(folder)!r} takes no new files"
            raise FileNotFoundError(told) from error
        raise OSError(error.errno, words, str(path)) from error


@contextmanager
def staged(folder: str | os.PathLike[str], force: bool = False, instead_of: Iterable[str] = ()) -> Iterator[Path]:
    """A folder for new files, which come into `folder` together when all went well; it is made if need be.

    A folder that is new appears whole or not at all. Into one that exists, files are moved one by one, each of them
    whole, after a look at all places: where a folder has the name of a file, or a file that of a folder, none is moved.
    A file there is replaced by `force` alone. What the new files are there `instead_of` is gone in the end. If the
    machine itself stops, a file that was to be replaced is the old one or the new one. One that is new may lack data
    then, unless whoever wrote it into the stage has synced it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with staged(f"{place}/result") as stage:
    ...         _ = (stage / "x.txt").write_text("whole")
    ...     Path(f"{place}/result/x.txt").read_text()
    'whole'
    """
    with _naming(folder):
        with _stage(Path(os.path.realpath(folder)), force) as stage:
            yield stage
            new = {file.name for file in stage.iterdir()}
            _check_places(Path(folder), [Path(folder) / name for name in instead_of])
        for name in set(instead_of) - new:
            (Path(folder) / name).unlink(missing_ok=True)


@contextmanager
def _stage(folder: Path, force: bool) -> Iterator[Path]:
    # Inside a folder that is there already: it may be on a disk of its own, which nothing can be moved to.
    beside = folder if folder.is_dir() else folder.parent
    if beside == folder:  # a fit that was killed may have begun when it was not there
        sweep(folder.parent)
    with temporary(beside) as place:
        stage = place / (folder.name or "stage")
        stage.mkdir()
        yield stage
        if folder.is_dir():
            _move_into(folder, stage, force)
        else:
            os.rename(stage, folder)
            _sync(folder.parent)


def _move_into(folder: Path, stage: Path, force: bool) -> None:
    """The files of a stage, one by one, after a look at all of their places."""
    files = {file: folder / file.relative_to(stage) for file in sorted(stage.rglob("*")) if file.is_file()}
    _check_places(folder, files.values())
    there = {target for target in files.values() if os.path.lexists(target)}
    if there and not force:
        raise FileExistsError(f"{str(min(there))!r} has appeared in the meantime; nothing was replaced")
    for file, target in files.items():
        if target in there:  # or else a crash could leave neither the old file nor the new one
            _sync(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(file, target)
    for parent in {parent for target in files.values() for parent in _between(folder, target)}:
        _sync(parent)


def _check_places(folder: Path, targets: Iterable[Path]) -> None:
    """Refuse files in place of folders, and folders in place of files."""
    for target in targets:
        if target.is_dir():
            told = f"{str(target)!r} is a folder, and a file should be there; nothing was replaced; rename the folder"
            raise IsADirectoryError(told)
        for parent in _between(folder, target):
            if os.path.lexists(parent) and not parent.is_dir():
                told = f"{str(parent)!r} is a file, and a folder should be there; nothing was replaced; rename the file"
                raise NotADirectoryError(told)


def _between(folder: Path, target: Path) -> list[Path]:
    """The folder, and those between it and a file."""
    return [parent for parent in target.parents if parent.is_relative_to(folder)]


def _sync(path: Path) -> None:
    """Let what is in a file, or the names in a folder, survive a crash of the machine too, where that can be done."""
    with suppress(OSError):  # not every system can, and the file is whole either way
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

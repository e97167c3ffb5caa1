"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A new file next to `path`, which takes its place when all went well and is gone when it did not.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/x.txt") as new:
    ...         _ = new.write_text("whole")
    ...     Path(f"{folder}/x.txt").read_text()
    'whole'
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise FileExistsError(f"{str(path)!r} is no file, so that none can take its place")
    new = path.parent / f".{path.name}.{secrets.token_hex(8)}"
    # With the rights of any new file: those of `tempfile` are for their owner alone.
    os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield new
        with new.open("rb") as file:
            os.fsync(file.fileno())
        if path.exists():
            new.chmod(path.stat().st_mode & 0o777)
        os.replace(new, path)
        _sync_folder(path.parent)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """`replacing`, for a path that a user gave: errors name it, and not the temporary file."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; give the name of a file")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(target.parent)!r} to write into")
    try:
        with replacing(target) as new:
            yield new
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


@contextmanager
def staged(folder: str | os.PathLike[str], force: bool = False, instead_of: Iterable[str] = ()) -> Iterator[Path]:
    """A folder for new files, which come into `folder` together when all went well; it is made if need be.

    A file that has come to be there meanwhile is replaced by `force` alone. What is replaced, is so file by file, and
    what the new files are there `instead_of` is gone then.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with staged(f"{place}/result") as stage:
    ...         _ = (stage / "x.txt").write_text("whole")
    ...     Path(f"{place}/result/x.txt").read_text()
    'whole'
    """
    try:
        with _stage(Path(os.path.realpath(folder)), force) as stage:
            yield stage
            new = {file.name for file in stage.iterdir()}
        for name in set(instead_of) - new:
            (Path(folder) / name).unlink(missing_ok=True)
    except OSError as error:
        if error.errno is None or isinstance(error, FileExistsError):
            raise
        raise OSError(error.errno, error.strerror, str(folder)) from error


@contextmanager
def _stage(folder: Path, force: bool) -> Iterator[Path]:
    # Inside a folder that is there already: it may be on a disk of its own, which nothing can be moved to.
    beside = folder if folder.is_dir() else folder.parent
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=beside) as place:
        stage = Path(place) / folder.name
        stage.mkdir()
        yield stage
        if folder.is_dir():
            files = sorted(stage.iterdir())
            there = [file.name for file in files if os.path.lexists(folder / file.name)]
            if there and not force:
                raise FileExistsError(
                    f"{str(folder / there[0])!r} has come to be there meanwhile; nothing was replaced"
                )
            for file in files:
                os.replace(file, folder / file.name)
            _sync_folder(folder)
        else:
            os.rename(stage, folder)
            _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    """Let the new name survive a crash of the machine too, where folders can be synced."""
    if os.name == "nt":
        return
    with suppress(OSError):  # not every file system can, and the file is whole either way
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

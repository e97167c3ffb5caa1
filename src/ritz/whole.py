"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
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
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    new = Path(name)
    try:
        yield new
        with new.open("rb") as file:
            os.fsync(file.fileno())
        _with_usual_rights(new, path)
        os.replace(new, path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


def _with_usual_rights(new: Path, old: Path) -> None:
    """The rights of the file that is replaced, or those of any new file: temporary ones are for their owner alone."""
    if old.exists():
        new.chmod(old.stat().st_mode & 0o777)
        return
    mask = os.umask(0)
    os.umask(mask)
    new.chmod(0o666 & ~mask)

"""Files that rows are read from must stay what they are: what changes between two reads would give a mixture."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import copy
from os import stat_result
from pathlib import Path
from typing import Any, NamedTuple

from ritz.errors import FILE, DataError

TICK = 12_000_000  # nanoseconds: two writes that are closer may have the same time, so coarse are the clocks of disks
SMALL = 1 << 20  # bytes that are compared rather than waited for
WRITTEN = "it was written to, or touched"
ADVICE = "fit or read again when nothing writes to it, or copy it first and use the copy"


class Origin(NamedTuple):
    """What tells rows that were read from files from all others: the files, and the parameters of `ritz.read`."""

    files: tuple[tuple[str, int, int], ...]  # names, sizes and times of change
    columns: list[Any] | None = None
    label: Any = None
    transpose: bool = False
    missing: str = "error"
    header: bool | None = None
    size: tuple[int, int] | None = None
    grey: bool | None = None
    view: str = ""  # what is computed of the rows: codes that are gaps, differences


class Files:
    """Files as they are now, to be compared with what they will be.

    A file is known by its size, its place on the disk and its times of change. One that was written just now could be
    written again at the same time by the clock of the disk: it is waited for, or known by a checksum where it is small.
    """

    needed = True  # whether rows are read from them still: what was read whole may outlive its file

    def __init__(self, listed: Callable[[], Iterable[Path]], others: Iterable[Path] = ()) -> None:
        self._listed, self._others = listed, tuple(others)
        self.found = self._now()
        newest = max((state.st_ctime_ns for state in self.found.values() if state), default=0)
        self._sum: int | None = None
        age = time.time_ns() - newest
        if 0 <= age < TICK:
            if sum(state.st_size for state in self.found.values() if state) <= SMALL:
                self._sum = self._checksum()
            else:
                time.sleep((TICK - age) / 1e9)
                self.found = self._now()

    @classmethod
    def at(cls, *paths: Path) -> Files:
        """These files."""
        return cls(tuple, (path.absolute() for path in paths))

    def joined(self, paths: Iterable[Path]) -> Files:
        """These files and others."""
        new = {path.absolute(): None for path in paths if path.absolute() not in self.found}
        return Files(self._listed, (*self._others, *new)) if new else self

    def read_whole(self) -> Files:
        """The same files, once all of their rows are in memory."""
        files = copy(self)
        files.needed = False
        return files

    @property
    def origin(self) -> tuple[tuple[str, int, int], ...]:
        """Names, sizes and times of change: what tells the data from others, also on another day."""
        return tuple((str(path.resolve()), at.st_size, at.st_mtime_ns) for path, at in self.found.items() if at)

    def check(self, cause: Exception | None = None) -> None:
        """Raise if anything has changed; `cause` is what went wrong while it did."""
        now = self._now()
        for path in {**self.found, **now}:
            before, after = self.found.get(path), now.get(path)
            if _known(before) != _known(after) and (self.needed or after is not None):
                raise DataError(_change(before, after), file=path) from cause
        there = now.keys() == self.found.keys() and all(now.values())
        if self._sum is not None and there and self._sum != self._checksum():
            path, state = next(iter(now.items()))
            raise DataError(_change(state, state), file=path) from cause

    def _now(self) -> dict[Path, stat_result | None]:
        return {path: _stat(path) for path in (*self._listed(), *self._others)}

    def _checksum(self) -> int:
        value = 0
        for path in self.found:
            with suppress(OSError):  # a folder in a folder, or a file that is gone: the listing tells
                value = zlib.crc32(path.read_bytes(), value)
        return value


def state_of(path: Path) -> tuple[int, int]:
    """Size and time of change of a file: what any machine that reads it can compare."""
    at = path.stat()
    return at.st_size, at.st_mtime_ns


def check_state(path: Path, before: tuple[int, int]) -> None:
    """Raise if a file is not what it was when someone, perhaps on another machine, opened it."""
    now = state_of(path)
    if now != before:
        sizes = f"it had {before[0]} bytes and has {now[0]}"
        raise DataError(_changed(sizes if now[0] != before[0] else WRITTEN), file=path)


def _stat(path: Path) -> stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _known(at: stat_result | None) -> tuple[int, ...] | None:
    return None if at is None else (at.st_dev, at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns)


def _change(before: stat_result | None, now: stat_result | None) -> str:
    """What happened to a file, in words."""
    if before is None or now is None:
        what = "it did not exist before" if before is None else "it is gone, or cannot be reached any more"
    elif (before.st_ino, before.st_dev) != (now.st_ino, now.st_dev):
        what = "another file has taken its place"
    elif before.st_size != now.st_size:
        what = f"it had {before.st_size} bytes and has {now.st_size}"
    else:
        what = WRITTEN
    return _changed(what)


def _changed(what: str) -> str:
    return f"{FILE} changed while it was in use: {what}. Its rows could be a mixture of old and new ones; {ADVICE}"

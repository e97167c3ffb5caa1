"""The results of passes, kept in a file: a fit that was interrupted reads what it had found and goes on from there.

Whatever happens between passes follows from their results, so these are all that has to be kept: the result of every
finished pass, and of the one under way what the runs of rows so far have been combined into.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.runtime.atomic import replacing

INTERVAL = 10.0  # seconds between two states that are kept, or longer
SHARE = 20.0  # times that keeping a state took, which must pass before the next
HELD = 1 << 26  # bytes of results that may wait in memory to be written
MAGIC = "ritz journal 1"


class Checkpoint:
    """The passes of one fit. `owner` tells it from others: the data, the request, the version."""

    def __init__(self, path: str | os.PathLike[str], owner: str) -> None:
        self._path, self._owner = Path(os.path.realpath(path)), owner
        self._replay: deque[Any] = deque()
        self._partial: tuple[int, int, Any] | None = None
        self._written = 0  # bytes of finished passes in the file
        self._waiting: list[Any] = []
        self._under_way: tuple[int, int, Any] | None = None
        self._next = time.monotonic() + INTERVAL
        self._given_up = False
        if self._path.exists():
            self._load()
        self._ours = self._state()

    @property
    def found(self) -> str:
        """What is known from before, in words."""
        known = len(self._replay)
        parts = [f"{known} pass{'es' * (known > 1)}"] if known else []
        parts += [f"{self._partial[0] / self._partial[1]:.0%} of a pass"] if self._partial else []
        return " and ".join(parts)

    def recall(self, compute: Callable[[], Any]) -> Any:
        """The result of the next pass: the one that was kept, or else a new one, which is kept."""
        if self._replay:
            return self._replay.popleft()
        result = compute()
        self.finish(result)
        return result

    def partial(self, runs: int) -> tuple[int, Any]:
        """How many runs of the next pass are done, and what they were combined into."""
        done, of, total = self._partial or (0, runs, None)
        self._partial = None
        if of != runs:
            raise DataError(f"{self._path} holds a pass in {of} parts, this fit takes {runs}; remove it to start again")
        return done, total

    def keep(self, done: int, runs: int, total: Any) -> None:
        """The state of the pass under way; it is written now and then."""
        self._under_way = done, runs, total
        if time.monotonic() >= self._next:
            self.write_or_warn()

    def busy(self) -> None:
        """The state is about to change: until it is kept again it must not be written."""
        self._under_way = None

    def finish(self, result: Any) -> None:
        """A pass is done. Its result belongs to the caller, who may change it: it is copied, or written at once."""
        self._under_way = None
        shape, arrays = _flat(result)
        if time.monotonic() >= self._next or sum(array.nbytes for array in arrays) > HELD:
            self._waiting.append(result)
            self.write_or_warn()
        else:
            self._waiting.append(_built(shape, (array.copy() for array in arrays)))

    def write_or_warn(self) -> None:
        """A full disk costs the checkpoint, not the fit. What the fit goes on with is not what was to be written."""
        if self._given_up or not (self._waiting or self._under_way or self._written):
            return
        try:
            self._write()
        except OSError as error:
            warnings.warn(f"no checkpoint was written: {error}", UserWarning, stacklevel=2)
            self._given_up, self._waiting, self._under_way = True, [], None

    def _write(self) -> None:
        """All that is known, into a new file that takes the place of the old one."""
        begun = time.monotonic()
        if self._state() != self._ours:
            raise FileExistsError(f"another fit has written or removed {self._path}; give every fit its own checkpoint")
        with replacing(self._path) as new, new.open("wb") as file:
            self._copy_finished(file)
            for result in self._waiting:
                _write(file, {"finished": True}, result)
            finished = file.tell()
            if self._under_way is not None:
                done, runs, total = self._under_way
                _write(file, {"finished": False, "done": done, "runs": runs}, total)
        self._written, self._waiting, self._ours = finished, [], self._state()
        now = time.monotonic()
        self._next = now + max(INTERVAL, SHARE * (now - begun))

    def remove(self) -> None:
        """The fit is done."""
        if self._state() == self._ours:
            self._path.unlink(missing_ok=True)

    def _state(self) -> tuple[int, int, int] | None:
        """What tells the file that was written here from one that another fit has put in its place."""
        if not self._path.exists():
            return None
        found = self._path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _copy_finished(self, file: BinaryIO) -> None:
        if not self._written:
            _write(file, {"magic": MAGIC, "owner": self._owner}, ())
            return
        with self._path.open("rb") as old:
            left = self._written
            while left:
                part = old.read(min(left, 1 << 22))
                if not part:
                    raise OSError(f"{self._path} has become shorter")
                left -= file.write(part)

    def _load(self) -> None:
        try:
            with self._path.open("rb") as file:
                head, _ = _read(file)
                if head.get("magic") != MAGIC:
                    raise ValueError("it does not begin like a checkpoint")
                owner, self._written, size = head["owner"], file.tell(), self._path.stat().st_size
                while file.tell() < size:
                    head, result = _read(file)
                    if head["finished"]:
                        self._replay.append(result)
                        self._written = file.tell()
                    else:
                        self._partial = head["done"], head["runs"], result
        except Exception as error:  # damaged bytes break the headers, which are parsed as Python, in many ways
            raise DataError(
                f"{self._path} is not a valid checkpoint (truncated or corrupt): {error}; remove it to start again"
            ) from error
        if owner != self._owner:
            raise DataError(
                f"the checkpoint {self._path} belongs to a fit of other data, or with other parameters, versions or "
                "threads; remove it or give another path"
            )


def _write(file: BinaryIO, head: dict[str, Any], value: Any) -> None:
    shape, arrays = _flat(value)
    text = json.dumps(head | {"shape": shape, "arrays": len(arrays)}).encode()
    npy.write_array(file, np.frombuffer(text, np.uint8), allow_pickle=False)
    for array in arrays:
        npy.write_array(file, array, allow_pickle=False)


def _read(file: BinaryIO) -> tuple[dict[str, Any], Any]:
    head = json.loads(npy.read_array(file, allow_pickle=False).tobytes())
    arrays = [npy.read_array(file, allow_pickle=False) for _ in range(head["arrays"])]
    return head, _built(head["shape"], iter(arrays))


def _flat(value: Any) -> tuple[Any, list[NDArray[Any]]]:
    """A tree of tuples, numbers and arrays as its shape and its leaves."""
    if isinstance(value, tuple):
        parts = [_flat(part) for part in value]
        return [shape for shape, _ in parts], [leaf for _, leaves in parts for leaf in leaves]
    return type(value).__name__ if isinstance(value, int | float) else "array", [np.asarray(value)]


def _built(shape: Any, leaves: Iterator[NDArray[Any]]) -> Any:
    if isinstance(shape, list):
        return tuple(_built(part, leaves) for part in shape)
    leaf = next(leaves)
    return {"int": int, "bool": bool, "float": float}.get(shape, lambda array: array)(leaf)

"""Passes over the rows, shown on stderr: in a terminal a bar that goes when the work is done, elsewhere a line now and
then about passes that take long, whose last line says that they are done."""

from __future__ import annotations

import os
import sys
import threading
import time
from types import TracebackType
from typing import Any, Self

FIRST, NEXT = 1.0, 5.0  # seconds of a pass before its first line, and between two lines, where there is no terminal


class Progress:
    """Counts passes and the rows of the current one; may be told of rows by many threads."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._lock = threading.Lock()
        self._passes = self._seen = self._total = 0
        self._what = "rows"
        self._begun = self._spoken = time.monotonic()
        self._told = False  # whether a line about this pass waits for one that ends it
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if not self._quiet and _erasable():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif kind is None:
            self._end()

    def begin(self, total: int, seen: int = 0, what: str = "rows") -> None:
        """A pass over so many rows, or whatever else it is, of which some were seen before an interruption."""
        self._end()
        self._begun = time.monotonic()
        if not self._passes:
            self._spoken = self._begun  # what went before is not of the work
        self._passes += 1
        self._seen, self._total, self._what = seen, total, what
        if self._bar is not None:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(f"pass {self._passes}, {what}", total=total, completed=seen)

    def advance(self, rows: int) -> None:
        """So many more rows have been seen."""
        if self._bar is not None:
            self._bar.advance(self._task, rows)
            return
        with self._lock:
            self._seen += rows
            if self._seen and (line := self._line(time.monotonic())):
                self.say(line)

    def _line(self, now: float) -> str:
        """What is to be said of a pass now: of one that takes long how far it is, and that it is done."""
        share, spent, quiet = self._seen / self._total, now - self._begun, now - self._spoken
        if share >= 1:
            due = self._told or quiet >= NEXT
        else:
            left = spent * (1 - share) / share
            due = min(spent, left) >= FIRST and (not self._told or quiet >= NEXT)
        if not due:
            return ""
        self._spoken, self._told = now, share < 1
        of_all = f"{min(share, 1.0):.0%} of {self._total} {self._what} in {spent:.0f} s"
        return f"pass {self._passes}: {of_all}" + (f", {left:.0f} s left" if share < 1 else "")

    def _end(self) -> None:
        """A pass that was spoken of has ended, though it did not take all that it might have."""
        if self._told:
            self._told = False
            seen, spent = f"{self._seen} of {self._total} {self._what}", time.monotonic() - self._begun
            self.say(f"pass {self._passes}: done with {seen} in {spent:.0f} s")

    def say(self, text: str) -> None:
        """A line of its own."""
        if self._quiet:
            return
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)


def _erasable() -> bool:
    """Whether stderr is a terminal where what is written can be taken back."""
    return sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")

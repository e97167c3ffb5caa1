"""Passes over the rows, shown on stderr: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Any, Self

FIRST, NEXT = 1.0, 5.0  # seconds before the first line, and between two, where there is no terminal


class Progress:
    """Counts passes and the rows of the current one; may be told of rows by many threads."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._lock = threading.Lock()
        self._passes = self._seen = self._total = 0
        self._what = "rows"
        self._begun = time.monotonic()
        self._next = self._begun + FIRST
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and not self._quiet:
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

    def begin(self, total: int, seen: int = 0, what: str = "rows") -> None:
        """A pass over so many rows, or whatever else it is, of which some were seen before an interruption."""
        self._passes += 1
        self._seen, self._total, self._what = seen, total, what
        self._begun = time.monotonic()
        if self._bar is not None:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(f"pass {self._passes}, {what}", total=total, completed=seen)

    def advance(self, rows: int) -> None:
        """So many more rows have been seen."""
        with self._lock:
            self._seen += rows
            now = time.monotonic()
            speaks = self._bar is None and now >= self._next
            if speaks:
                self._next = now + NEXT
        if self._bar is not None:
            self._bar.advance(self._task, rows)
        elif speaks:
            share, spent = self._seen / self._total, now - self._begun
            left = spent * (1 - share) / share
            self.say(
                f"pass {self._passes}: {share:.0%} of {self._total} {self._what} in {spent:.0f} s, {left:.0f} s left"
            )

    def say(self, text: str) -> None:
        """A line of its own."""
        if self._quiet:
            return
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)

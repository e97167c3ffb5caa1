"""Passes over the rows, shown on stderr: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Any, Self

QUIET = 5.0  # seconds between two lines where there is no terminal


class Progress:
    """Counts passes and the rows of the current one; may be told of rows by many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._passes = self._seen = self._total = 0
        self._what = "rows"
        self._begun = self._spoken = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
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
        self._begun = self._spoken = time.monotonic()
        if self._bar is not None:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(f"pass {self._passes}, {what}", total=total, completed=seen)

    def advance(self, rows: int) -> None:
        """So many more rows have been seen."""
        with self._lock:
            self._seen += rows
            now = time.monotonic()
            speaks = self._bar is None and now - self._spoken >= QUIET
            if speaks:
                self._spoken = now
        if self._bar is not None:
            self._bar.advance(self._task, rows)
        elif speaks:
            share = self._seen / self._total
            self.say(f"pass {self._passes}: {share:.0%} of {self._total} {self._what} in {now - self._begun:.0f} s")

    def say(self, text: str) -> None:
        """A line of its own."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)

"""What surrounds every pass over the rows: progress that is shown, and results that are kept to resume from."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from ritz.runtime import threads
from ritz.runtime.checkpoint import Checkpoint

Partial = TypeVar("Partial")
Run = tuple[int, int]
Over = Callable[[list[Run]], Generator[Partial, None, None]]
Combine = Callable[[Partial, Partial], Partial]
FIRST, NEXT = 1.0, 5.0  # seconds of a pass before its first line, and between two lines, where there is no terminal


class Progress:
    """Passes over the rows, shown on stderr; may be told of rows by many threads.

    In a terminal it is a bar that goes when the work is done, elsewhere a line now and then about passes that take
    long, whose last line says that they are done.
    """

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
        # In a terminal where what is written can be taken back.
        if not self._quiet and sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
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


@dataclass(frozen=True)
class Watch:
    """Most passes are not watched. A fit may be shown, and its results kept in a checkpoint."""

    progress: Progress | None = None
    checkpoint: Checkpoint | None = None

    def fold(self, runs: list[Run], over: Over[Partial], combine: Combine[Partial]) -> Partial:
        """combine over the partial results of runs of rows, in order, as `threads.combined` does."""
        checkpoint = self.checkpoint
        if checkpoint is not None:
            return checkpoint.recall(lambda: self._resumed(checkpoint, runs, over, combine))
        self.begin(runs)
        return threads.combined(over(runs), combine)

    def _resumed(
        self, checkpoint: Checkpoint, runs: list[Run], over: Over[Partial], combine: Combine[Partial]
    ) -> Partial:
        """The same from where the checkpoint ends, which is kept up."""
        done, total = checkpoint.partial(len(runs))
        self.begin(runs, done)
        with closing(over(runs[done:])) as partials:
            for part in partials:
                checkpoint.busy()
                total = combine(total, part) if done else part
                del part
                done += 1
                checkpoint.keep(done, len(runs), total)
        return total

    def whole(self, compute: Callable[[], Partial]) -> Partial:
        """A result that is found in one step, or known from the checkpoint."""
        return compute() if self.checkpoint is None else self.checkpoint.recall(compute)

    def begin(self, runs: list[Run], done: int = 0, what: str = "rows") -> None:
        """A pass along these runs, of which some are done already."""
        if self.progress is not None:
            self.progress.begin(runs[-1][1] - runs[0][0], sum(b - a for a, b in runs[:done]), what)

    def advance(self, count: int) -> None:
        """So many more have been seen."""
        if self.progress is not None:
            self.progress.advance(count)

    def seen(self, blocks: Iterable[Any]) -> Iterator[Any]:
        """The blocks of a run as they come; the pass may be given up between any two."""
        for block in blocks:
            threads.check()
            yield block
            self.advance(block.shape[0])


UNWATCHED = Watch()

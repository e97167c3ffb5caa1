"""What surrounds every pass over the rows: progress that is shown, and results that are kept to resume from."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

from ritz.runtime import threads
from ritz.runtime.checkpoint import Journal
from ritz.runtime.progress import Progress

Partial = TypeVar("Partial")
Run = tuple[int, int]


@dataclass(frozen=True)
class Watch:
    """Nobody watches most walks. A fit may be shown, and kept in a journal."""

    progress: Progress | None = None
    journal: Journal | None = None

    def fold(
        self,
        runs: list[Run],
        walk: Callable[[list[Run]], Generator[Partial, None, None]],
        combine: Callable[[Partial, Partial], Partial],
    ) -> Partial:
        """combine over what a walk along runs of rows gives, in order."""
        if self.journal is None:
            self.begin(runs)
            with closing(walk(runs)) as partials:
                return reduce(combine, partials)
        for known in self.journal.replay():
            return known
        return self._kept(self.journal, runs, walk, combine)

    def _kept(
        self,
        journal: Journal,
        runs: list[Run],
        walk: Callable[[list[Run]], Generator[Partial, None, None]],
        combine: Callable[[Partial, Partial], Partial],
    ) -> Partial:
        done, total = journal.partial(len(runs))
        self.begin(runs, done)
        with closing(walk(runs[done:])) as partials:
            for part in partials:
                journal.busy()
                total = combine(total, part) if done else part
                done += 1
                journal.keep(done, len(runs), total)
        journal.finish(total)
        return total

    def whole(self, compute: Callable[[], Partial]) -> Partial:
        """A result that is found in one step, or known from the journal."""
        if self.journal is None:
            return compute()
        for known in self.journal.replay():
            return known
        result = compute()
        self.journal.finish(result)
        return result

    def begin(self, runs: list[Run], done: int = 0, what: str = "rows") -> None:
        """A pass along these runs, of which some are done already."""
        if self.progress is not None:
            self.progress.begin(runs[-1][1] - runs[0][0], sum(b - a for a, b in runs[:done]), what)

    def advance(self, count: int) -> None:
        """So many more have been seen."""
        if self.progress is not None:
            self.progress.advance(count)

    def seen(self, blocks: Iterable[Any]) -> Iterator[Any]:
        """The blocks of a run as they come; the walk may be given up between any two."""
        for block in blocks:
            threads.check()
            yield block
            self.advance((block[0] if isinstance(block, tuple) else block).shape[0])


UNWATCHED = Watch()

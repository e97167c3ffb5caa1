"""What surrounds every pass over the rows: progress that is shown, and results that are kept to resume from."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

from ritz.runtime import threads
from ritz.runtime.checkpoint import Checkpoint
from ritz.runtime.progress import Progress

Partial = TypeVar("Partial")
Run = tuple[int, int]


@dataclass(frozen=True)
class Watch:
    """Most passes are not watched. A fit may be shown, and its results kept in a checkpoint."""

    progress: Progress | None = None
    checkpoint: Checkpoint | None = None

    def fold(
        self,
        runs: list[Run],
        over: Callable[[list[Run]], Generator[Partial, None, None]],
        combine: Callable[[Partial, Partial], Partial],
    ) -> Partial:
        """combine over the partial results of runs of rows, in order."""
        checkpoint = self.checkpoint
        if checkpoint is not None:
            return checkpoint.recall(lambda: self._resumed(checkpoint, runs, over, combine))
        self.begin(runs)
        with closing(over(runs)) as partials:
            return reduce(combine, partials)

    def _resumed(
        self,
        checkpoint: Checkpoint,
        runs: list[Run],
        over: Callable[[list[Run]], Generator[Partial, None, None]],
        combine: Callable[[Partial, Partial], Partial],
    ) -> Partial:
        """The same from where the checkpoint ends, which is kept up."""
        done, total = checkpoint.partial(len(runs))
        self.begin(runs, done)
        with closing(over(runs[done:])) as partials:
            for part in partials:
                checkpoint.busy()
                total = combine(total, part) if done else part
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
            self.advance((block[0] if isinstance(block, tuple) else block).shape[0])


UNWATCHED = Watch()

"""Memory of what a test does."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from ritz.runtime import threads
from ritz.runtime.threads import Team


@dataclass
class Traced:
    """What was allocated, known once it is over."""

    peak: int = 0


@contextmanager
def traced() -> Iterator[Traced]:
    """What is allocated meanwhile: `peak` bytes at most at once, beyond what was there before. Large arrays, which
    otherwise have pages of their own that tracemalloc does not see, are NumPy's meanwhile."""
    while Team.idle:  # whose threads keep memory of earlier fits
        Team.idle.pop().shutdown()
    found = Traced()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "_own_pages", lambda shape, dtype: None)
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            yield found
        finally:
            found.peak = tracemalloc.get_traced_memory()[1] - before
            tracemalloc.stop()

"""Threads over blocks, with BLAS pinned to one thread each so that one fit never oversubscribes the cores, and
properties that are computed once without a lock."""

from __future__ import annotations

import functools
import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from ritz.runtime.pinning import pinned

Item = TypeVar("Item")
Result = TypeVar("Result")
_local = threading.local()


def _forget() -> None:
    """A child has none of its parent's threads."""
    _local.__dict__.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def scratch(use: str, rows: int, columns: int, dtype: Any = float) -> Any:
    """An uninitialised array; in a thread of a team the same memory for the same use: fresh pages cost a copy."""
    import numpy

    cache = getattr(_local, "cache", None)
    if cache is None:
        return numpy.empty((rows, columns), dtype)
    key = (use, columns, numpy.dtype(dtype))
    if key not in cache or len(cache[key]) < rows:
        cache[key] = numpy.empty((rows, columns), dtype)
    return cache[key][:rows]


def _join(budget: int) -> None:
    _local.cache = {}
    pinned.own.budget, pinned.own.helps = budget, True


@contextmanager
def team() -> Iterator[ThreadPoolExecutor]:
    """Threads for all passes inside, as many as there are cores to use, with BLAS pinned to one thread each."""
    outer = getattr(_local, "team", None)
    if outer is not None:
        yield outer
        return
    budget = pinned.budget()
    with pinned(), ThreadPoolExecutor(budget, "ritz", initializer=_join, initargs=(budget,)) as pool:
        _local.team, pinned.own.budget = pool, budget
        try:
            yield pool
        finally:
            _local.team = pinned.own.budget = None


class GivenUp(Exception):
    """Nobody waits for this work any more."""


def check() -> None:
    """Give up, if whoever started this work is gone: an error, or Ctrl-C, need not wait for its end."""
    stop = getattr(_local, "stop", None)
    if stop is not None and stop.is_set():
        raise GivenUp


def ordered(f: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Generator[Result, None, None]:
    """f over items by `workers` threads, results in order, at most workers + 1 of them alive."""
    source, stop = iter(items), threading.Event()
    pending: deque[Future[Result]] = deque()

    def task(item: Item) -> Result:
        _local.stop = stop
        return f(item)

    with team() as pool:
        try:
            pending.extend(pool.submit(task, item) for item in islice(source, workers + 1))
            while pending:
                yield pending.popleft().result()
                pending.extend(pool.submit(task, item) for item in islice(source, 1))
        finally:
            stop.set()
            for future in pending:
                future.cancel()
            wait(pending)


if TYPE_CHECKING:
    cached_property = functools.cached_property
else:

    class cached_property(functools.cached_property):
        """As in functools, without a lock.

        Python 3.11 has one for all objects of a class: fits in two threads would take turns, and the child of a fork
        during a fit would wait for a thread that it does not have. Threads that ask at the same time may both compute;
        all are given the value that was there first.
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            known, name = instance.__dict__, self.attrname
            return known[name] if name in known else known.setdefault(name, self.func(instance))

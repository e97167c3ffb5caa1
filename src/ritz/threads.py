"""Threads over blocks, with BLAS pinned to one thread each so that one fit never oversubscribes the cores."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from threadpoolctl import OpenBLASController, ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


@cache
def _blas() -> ThreadpoolController:
    """The BLAS libraries of this process; NumPy and SciPy bring one each, so both are loaded first."""
    import numpy  # noqa: F401
    import scipy.linalg  # noqa: F401

    return ThreadpoolController().select(user_api="blas")


class _Pin:
    """BLAS at one thread while anyone needs it.

    The limit is a property of the process: two fits in two threads must not restore each other's limits, so the
    first to enter pins and the last to leave restores.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._limit: Any = None
        self._budget = 1

    def budget(self) -> int:
        """How many threads may run: what BLAS was allowed before it was pinned, and the cores of this process."""
        with self._lock:
            if not self._holders:
                self._budget = _allowed()
            return self._budget

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if not self._holders:
                self._budget = _allowed()
                self._pin()
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if not self._holders:
                    self._restore()

    @contextmanager
    def lifted(self, worthwhile: bool = True) -> Iterator[None]:
        """BLAS with its own threads for a while, for one large factorisation, unless someone else needs the pin."""
        with self._lock:
            lift = worthwhile and self._holders == 1 and getattr(_local, "team", None) is not None
            if lift:
                self._holders = 0
                self._restore()
        try:
            yield
        finally:
            if lift:
                with self._lock:
                    if not self._holders:
                        self._pin()
                    self._holders += 1

    def _pin(self) -> None:
        _release()
        self._limit = _blas().limit(limits=1)
        self._limit.__enter__()

    def _restore(self) -> None:
        _release()
        self._limit.__exit__(None, None, None)
        _release()

    def after_fork(self) -> None:
        """A child has none of its parent's threads: whoever held the pin or the lock is gone."""
        self._lock = threading.Lock()
        _local.team = None
        if self._holders:
            self._holders = 0
            self._restore()


def _release() -> None:
    """threadpoolctl lets only the thread that set a limit change it, but whoever pins or restores may be another."""
    release = getattr(OpenBLASController, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)


def _allowed() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = [library["num_threads"] for library in _blas().info()]
    return max(1, min([cores, *limits]))


pinned = _Pin()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pinned.after_fork)


_local = threading.local()


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


def _join() -> None:
    _local.cache = {}


@contextmanager
def team() -> Iterator[ThreadPoolExecutor]:
    """Threads for all walks inside, as many as there are cores to use, with BLAS pinned to one thread each."""
    outer = getattr(_local, "team", None)
    if outer is not None:
        yield outer
        return
    with pinned(), ThreadPoolExecutor(pinned.budget(), "ritz", initializer=_join) as pool:
        _local.team = pool
        try:
            yield pool
        finally:
            _local.team = None


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

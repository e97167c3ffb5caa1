"""Threads over blocks, with BLAS pinned to one thread each so that one fit never oversubscribes the cores; and the
memory that they work in."""

from __future__ import annotations

import atexit
import functools
import math
import mmap
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, wait
from contextlib import ContextDecorator, closing, contextmanager, suppress
from itertools import islice
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar
from weakref import ref

from ritz.runtime.pin import Pin as Pin
from ritz.runtime.pin import pinned as pinned

PAGES, HUGE = 1 << 18, 1 << 21  # bytes from which an array has pages of its own, and of a huge page
KEPT = 1 << 25  # bytes of working memory that a thread keeps from one task to the next
RESTING = HUGE, 1 << 24  # the same from one fit to the next, and of all threads together
Item = TypeVar("Item")
Result = TypeVar("Result")
_local = threading.local()


def _own_pages(shape: tuple[int, ...], dtype: Any) -> Any | None:
    """An array of zeros with pages of its own; None where it is too small for them."""
    import numpy

    size = math.prod(shape) * numpy.dtype(dtype).itemsize
    if size < PAGES or not hasattr(mmap, "MAP_ANONYMOUS"):
        return None
    # A huge page costs a fraction of the small ones in it, and is there for ranges of its own size.
    fresh = mmap.mmap(-1, max(size, HUGE) if 2 * size > HUGE else size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):  # as NumPy has it for its own
        with suppress(OSError):
            fresh.madvise(mmap.MADV_HUGEPAGE)
    return numpy.frombuffer(fresh, dtype, math.prod(shape)).reshape(shape)


def pages(*shape: int, dtype: Any = float) -> Any:
    """An array that nobody has written to. A large one has pages of its own, which go back to the system as soon as it
    is let go: what a thread frees otherwise stays with it, and is of no use to whoever asks for memory next.
    """
    import numpy

    found = _own_pages(shape, dtype)
    return numpy.empty(shape, dtype) if found is None else found


def zeros(*shape: int, dtype: Any = float) -> Any:
    """Zeros; large ones with pages of their own, in which the system leaves nothing behind."""
    import numpy

    found = _own_pages(shape, dtype)
    return numpy.zeros(shape, dtype) if found is None else found


def scratch(use: str, rows: int, columns: int, dtype: Any = float) -> Any:
    """An uninitialised array; in a thread of a team the same memory for the same use: fresh pages cost a copy."""
    import numpy

    cache = getattr(_local, "cache", None)
    if cache is None:
        return numpy.empty((rows, columns), dtype)
    key = (use, columns, numpy.dtype(dtype))
    if key not in cache or len(cache[key]) < rows:
        cache[key] = pages(rows, columns, dtype=dtype)
    return cache[key][:rows]


def _state() -> tuple[Any, ...]:
    """What this thread is to those who work in it: its team, working memory, whether to stop, and how it uses BLAS."""
    local, own = _local.__dict__, pinned.own.__dict__
    return local.get("team"), local.get("cache"), local.get("stop"), own.get("budget"), own.get("helps", False)


def _restore(state: tuple[Any, ...]) -> None:
    _local.team, _local.cache, _local.stop, pinned.own.budget, pinned.own.helps = state


@contextmanager
def lent(use: str, size: int) -> Iterator[Any]:
    """So many bytes, uninitialised, and nobody else's until they are given back; in a thread of a team they are those
    that it gave back last."""
    import numpy

    cache, memory = getattr(_local, "cache", None), None
    if cache is not None:
        memory = cache.pop(use, None)
    if memory is None or len(memory) < size:
        memory = numpy.empty(size, numpy.uint8)
    try:
        yield memory[:size]
    finally:
        if cache is not None:
            cache[use] = memory


class Team(Executor):
    """Threads that wait for the next team of as many, because to start them takes as long as many a transform.

    The executors of Python have locks and conditions for every task, which take as long as a small block.
    """

    idle: ClassVar[list[Team]] = []  # mostly one; appended to and taken from in one step each, so without a lock

    def __init__(self, budget: int) -> None:
        self.budget = self._max_workers = budget
        self.own: dict[Any, Any] = {}  # the working memory of the thread that the team works for
        self._caches = [self.own]
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self.passing = 0  # passes whose results are being handed out while the threads are at work on the next ones

    def __del__(self) -> None:
        """A team that Ctrl-C has made nobody's: its threads do not refer to it."""
        self.shutdown(wait=False)

    @staticmethod
    def _work(tasks: SimpleQueue[Callable[[], None] | None], caches: list[dict[Any, Any]], budget: int) -> None:
        """What one of the threads does: task after task, until there is none any more."""
        _local.cache = {}
        caches.append(_local.cache)
        pinned.own.budget, pinned.own.helps = budget, True
        while (task := tasks.get()) is not None:
            task()
            del task  # and all that it refers to, before the next one comes

    def _start(self, count: int) -> None:
        """Have so many threads, if the budget allows for them."""
        while len(self._threads) < min(count, self.budget):
            about = self._tasks, self._caches, self.budget
            thread = threading.Thread(target=self._work, args=about, name=f"ritz-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def do(self, task: Callable[[], None], times: int) -> None:
        """Have so many threads do this, which must not raise."""
        self._start(times)
        for _ in range(times):
            self._tasks.put(task)

    def submit(self, f: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """A task whose result is waited for."""
        future: Future[Result] = Future()

        def task() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = f(*args, **kwargs)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        self._start(len(self._threads) + 1)
        self._tasks.put(task)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the threads go, once they have done what was asked for."""
        for _ in self._threads:  # more than once, should Ctrl-C come here: nobody asks for more work
            self._tasks.put(None)
        threads, self._threads = self._threads, []
        for thread in threads if wait else ():
            with suppress(RuntimeError):  # one that the system, or Ctrl-C, kept from starting
                thread.join()

    @classmethod
    def of(cls, budget: int) -> Team:
        """One that is idle and of that size, or a new one."""
        while cls.idle:
            try:
                found = cls.idle.pop()
            except IndexError:  # another thread was first
                break
            if found.budget == budget:
                return found
            found.shutdown(wait=False)
        return cls(budget)

    def forget(self, most: int = 0) -> None:
        """Let go of the memory that the threads keep from one task to the next, where it is more than so many bytes in
        one of them; not while they are at work, as for a pass that this is done between the results of."""
        for cache in () if self.passing else self._caches:
            if cache and sum([part.nbytes for part in cache.values()]) > most:
                cache.clear()

    def rest(self) -> None:
        """Keep the threads, and as much of their memory as a small fit takes, for which asking for it would take as
        long as all the rest."""
        self.forget(min(RESTING[0], RESTING[1] // self.budget))
        if self.idle:
            self.shutdown(wait=False)
        else:
            self.idle.append(self)


class team(ContextDecorator):
    """Threads for all passes inside, as many as there are cores to use, with BLAS pinned to one thread each."""

    def _recreate_cm(self) -> Self:
        return type(self)()

    _own: Team | None = None

    def __enter__(self) -> Team:
        outer: Team | None = getattr(_local, "team", None)
        if outer is not None:
            if _local.entered() is not None:
                return outer
            _restore(_local.before)  # nobody is inside: Ctrl-C came when it was to be left
            outer.shutdown(wait=False)
        self._pin = pinned()
        self._pin.__enter__()
        try:
            budget = pinned.budget()
            found = Team.of(budget)
            _local.before = self._before = _state()
            _local.entered = ref(self)
            self._own = _local.team = found
            pinned.own.budget = budget
        except BaseException:
            self._pin.__exit__()
            raise
        return found

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        own = self._own
        if own is None:
            return
        current: object = getattr(_local, "team", None)
        if current is own:  # not where a generator is let go by a thread that did not begin it
            _restore(self._before)
        try:
            if kind is None:
                own.rest()
            else:  # such as Ctrl-C: nothing is left behind
                own.shutdown()
        finally:
            self._pin.__exit__()


@contextmanager
def alone() -> Iterator[None]:
    """This thread as a team of its own: it works for someone who has threads of their own, such as a Dask worker.

    Threads that such a task would start itself would be as many as there are cores, for every task that runs.
    """
    before = _, outer, *_ = _state()
    _local.cache = cache = getattr(_local, "kept", {}) if outer is None else outer
    try:
        with pinned():
            pinned.own.budget, pinned.own.helps = 1, True
            yield
    finally:
        if outer is None:  # the next task will find the memory that this one leaves, if it is not too much
            _local.kept = cache if sum(part.nbytes for part in cache.values()) <= KEPT else {}
        _restore(before)


class GivenUp(Exception):
    """Nobody waits for this work any more."""


def check() -> None:
    """Give up, if whoever started this work is gone: an error, or Ctrl-C, need not wait for its end."""
    stop = getattr(_local, "stop", None)
    if stop is not None and stop.is_set():
        raise GivenUp


def ordered(
    f: Callable[[Item], Result], items: Iterable[Item], workers: int, ahead: int = 1
) -> Generator[Result, None, None]:
    """f over items by `workers` threads, results in order, at most workers + `ahead` of them alive."""
    source, stop = iter(items), threading.Event()
    pending: deque[Future[Result]] = deque()

    def task(item: Item) -> Result:
        _local.stop = stop
        return f(item)

    with team() as pool:
        pool.passing += 1
        try:
            pending.extend(pool.submit(task, item) for item in islice(source, workers + ahead))
            while pending:
                yield pending.popleft().result()
                pending.extend(pool.submit(task, item) for item in islice(source, 1))
        finally:
            stop.set()
            for future in pending:
                future.cancel()
            wait(pending)
            pool.passing -= 1


class working:
    """This thread does what one of its team would do, with BLAS pinned and working memory that stays with the team.

    Where `others` work beside it, they all stop together, and LAPACK has one thread each.
    """

    _begun = False

    def __init__(self, others: threading.Event | None = None) -> None:
        self._others, self._pin = others, pinned()

    def __enter__(self) -> None:
        self._pin.__enter__()
        self._before = team, cache, *_ = _state()
        self._begun = True
        if cache is None and team is not None:
            _local.cache = team.own
        if self._others is not None:
            _local.stop, pinned.own.helps = self._others, True

    def __exit__(self, *_: object) -> None:
        if self._begun:
            _restore(self._before)
        self._pin.__exit__()


class Shares(Generic[Item, Result]):
    """A few items that a thread and its helpers take one after the other, and what they make of them."""

    def __init__(self, f: Callable[[Item], Result], items: list[Item]) -> None:
        self._f, self._items, self._left = f, items, deque(range(len(items)))
        self._lock, self._last = threading.Lock(), threading.Lock()
        self._last.acquire()  # until the last helper lets go of it
        self._helping, self._waits = 0, False  # items that helpers are at work on, and whether they are waited for
        self.stop = threading.Event()
        self.found: list[Result | None] = [None] * len(items)
        self.failed: dict[int, BaseException] = {}

    def work(self) -> None:
        """Do what is left, beside others who do the same."""
        with suppress(IndexError):
            while True:
                self._make(self._left.popleft())

    def help(self) -> None:
        """The same in another thread, which is waited for from its first item on."""
        _local.stop = self.stop
        while (at := self._next()) is not None:
            try:
                self._make(at)
            except BaseException as error:  # for the thread that waits
                self.failed[at] = error
                self._left.clear()
            with self._lock:
                self._helping -= 1
                if self._waits and not self._helping:
                    self._last.release()

    def _next(self) -> int | None:
        with self._lock:
            try:
                at = self._left.popleft()
            except IndexError:
                return None
            self._helping += 1
            return at

    def _make(self, at: int) -> None:
        try:
            self.found[at] = self._f(self._items[at])
        except Exception as error:
            self.failed[at] = error
            self._left.clear()  # what comes later is not asked for

    def wait(self) -> None:
        """Wait for the helpers; those who come now find nothing left."""
        self._left.clear()
        with self._lock:
            self._waits = self._helping > 0
        if self._waits:
            self._last.acquire()


def shared(f: Callable[[Item], Result], items: list[Item], workers: int) -> Generator[Result, None, None]:
    """f over a few items, results in order, all of which may be alive at once. The calling thread is one of the
    workers, so that short work need not wait until another one is awake."""
    shares = Shares(f, items)
    with team() as pool:
        mine = working(shares.stop)
        try:
            pool.do(shares.help, min(workers, len(items)) - 1)
            with mine:
                shares.work()
        except BaseException:  # such as Ctrl-C
            shares.stop.set()
            mine.__exit__()  # which it may have come before
            raise
        finally:
            shares.wait()
        if shares.failed:
            raise shares.failed[min(shares.failed)]
        found = shares.found
        while found:
            yield found.pop(0)  # type: ignore[misc]


def in_order(
    f: Callable[[Item], Result], items: list[Item], workers: int, ahead: int = 1
) -> Generator[Result, None, None]:
    """`shared` for few items, of whose results no more are alive than `ordered` keeps anyway; else `ordered`."""
    if len(items) <= (2 if ahead else 1) * workers:
        return shared(f, items, workers)
    return ordered(f, items, workers, ahead)


def combined(partials: Generator[Result, None, None], combine: Callable[[Result, Result], Result]) -> Result:
    """combine over results, in order.

    A `combine` may have a method `first`, of what the first of them becomes before another one is begun.
    """
    with closing(partials):
        first = getattr(combine, "first", None)
        total = next(partials) if first is None else first(next(partials))
        for part in partials:
            total = combine(total, part)
            del part  # it may be large, and the next one is still being computed
        return total


@atexit.register
def _dismiss() -> None:
    """Threads that wait for the next team end before the interpreter does."""
    while Team.idle:
        Team.idle.pop().shutdown()


def _forget() -> None:
    """The child of a fork has none of its parent's threads, and no team."""
    _local.__dict__.clear()
    Team.idle.clear()


pinned.forgetting.append(_forget)


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

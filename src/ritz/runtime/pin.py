"""The pin of BLAS: one thread for as long as anyone needs that, whatever limits others set meanwhile.

How many threads BLAS uses is a property of the process, not of a thread. Whatever one fit does to it must neither be
seen by another fit, whose last digits would depend on it, nor outlive the fit.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import ContextDecorator
from itertools import product
from pathlib import Path
from typing import Any, Self
from weakref import ref

from threadpoolctl import OpenBLASController, ThreadpoolController

PATIENCE = 5.0  # seconds that a fork waits for what takes microseconds: whoever stopped in the middle must not stop it
GET_SET = ("get", "set")

_release = getattr(OpenBLASController, "clear_controlling_thread", lambda force: None)


def _native(library: Any) -> tuple[Callable[[], Any], Callable[[int], Any]] | None:
    """What gets and sets the number of threads in OpenBLAS itself, None elsewhere: threadpoolctl takes several times
    as long on its way there, which small fits would notice."""
    if getattr(library, "threading_layer", None) != "pthreads" or not isinstance(library, OpenBLASController):
        return None
    for prefix, suffix in product(("", "scipy_"), ("", "64_", "_64")):
        get, put = (getattr(library.dynlib, f"{prefix}openblas_{verb}_num_threads{suffix}", None) for verb in GET_SET)
        if get is not None and put is not None:
            return get, put
    return None


class Hold(ref[Any]):
    """What the pin knows of one who needs it. The pin keeps it; it refers to its owner weakly.

    Ctrl-C may come between any two calls, so that what begins or ends a hold is one step, and to let go twice does no
    harm. What even then was not let go is let go of when nobody refers to its owner any more.
    """

    begun = False  # whether it calls SciPy's library
    generation = 0  # of the process it was made in


class Pinned(ContextDecorator):
    """One who needs the pin. A class, because a generator takes longer to enter than a small product."""

    _hold: Hold | None = None

    def __init__(self, pin: Pin) -> None:
        self._pin = pin

    def _recreate_cm(self) -> Self:  # for every call of a function that this decorates
        return type(self)(self._pin)

    def __enter__(self) -> None:
        if self._pin._holds_here():
            return
        try:
            self._pin._enter(self)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        if self._hold is None:
            return
        try:
            self._pin._leave(self._hold)
        except BaseException:
            self._pin._leave(self._hold)
            raise
        self._hold = None  # else the pin is told of it again when nobody refers to this


class Calling(Pinned):
    """One who calls SciPy's library, in turn; calls inside are part of it."""

    def __init__(self, pin: Pin, large: bool) -> None:
        self._pin, self._large = pin, large

    def __enter__(self) -> None:
        pin = self._pin
        try:
            hold = pin._enter(self, not pin._holds_here())
            if not getattr(pin.own, "calls", False):
                all_threads = self._large and pin._lapack and not getattr(pin.own, "helps", False)
                pin._begin(hold, pin.budget() if all_threads else 1)
        except BaseException:
            self.__exit__()
            raise


class Pin:
    """BLAS at one thread while anyone needs it: the first to enter pins, the last to leave gives back.

    Meanwhile threadpoolctl is answered, here and in other libraries, as if nothing were pinned: a limit that someone
    sets is kept for later, and one who asks what to restore is told what holds later. Else a limit that begins or ends
    during a fit would be lost, or one thread would be restored for good.
    """

    def __init__(self) -> None:
        self.forgetting: list[Callable[[], None]] = []  # what the child of a fork does about threads that it has not
        self._libraries: tuple[Any, ...] | None = None
        self._real: dict[type, tuple[Callable[..., Any], Callable[..., Any]]] = {}  # what gets and sets, by class
        self._native: dict[str, tuple[Callable[[], Any], Callable[[int], Any]]] = {}  # the same of a library itself
        self._lapack: tuple[Any, ...] = ()  # those that nothing but SciPy calls
        self._generation = 0  # forks between this process and the first
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.RLock()
        self._turn = threading.Condition(self._lock)
        self.own = threading.local()  # the budget of a thread's team, whether it is one of it, and calls LAPACK now
        self._held: dict[Hold, bool] = {}
        self._calls = 0
        self._later: dict[str, int] = {}  # by path, what each library is to have when nobody needs the pin
        self._number = 1  # threads of LAPACK in the calls that run
        self._waiting: deque[object] = deque()
        self._setting = False

    def budget(self) -> int:
        """How many threads may run: what BLAS is allowed when it is not pinned, and the cores of this process."""
        budget = getattr(self.own, "budget", None)  # the same for a whole fit
        return self._allowed() if budget is None else int(budget)

    def _allowed(self) -> int:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        with self._lock:
            allowed = [self._later.get(found.filepath) or self._get(found) for found in self._found()]
        return max(1, min([cores, *(number for number in allowed if number)]))

    def architectures(self) -> frozenset[str]:
        """The processors that the BLAS libraries of this process have chosen their kernels for, as they call them."""
        with self._lock:
            return frozenset(str(getattr(found, "architecture", "")) for found in self._found())

    def __call__(self) -> Pinned:
        return Pinned(self)

    def calling(self, large: bool = False) -> Calling:
        """Around a call of SciPy's BLAS or LAPACK; a large factorisation has all threads, unless others help with it.

        One that has all threads runs alone, those that have one run together, and each waits for its turn, so that
        what a call returns never depends on what other threads do. Where NumPy shares the library, all have one.
        """
        return Calling(self, large)

    def _holds_here(self) -> bool:
        """Whether this thread is one of a team, or has one: that holds the pin for all that they do."""
        return bool(self._held) and getattr(self.own, "budget", None) is not None

    def _enter(self, owner: Pinned, once_more: bool = True) -> Hold:
        owner._hold = hold = Hold(owner, self._leave)
        hold.generation = self._generation
        hash(hold)  # which it keeps: it has none once its owner is gone
        if once_more:
            with self._lock:
                self._held[hold] = True
                if not self._later:
                    self._later = {found.filepath: self._get(found) for found in self._found()}
                    self._set([(found, 1) for found in self._found()])
        return hold

    def _leave(self, hold: Hold) -> None:
        with self._lock:
            if hold.begun:
                self._end(hold)
            if hold in self._held:  # not the parent's, whose thread was forked inside
                if len(self._held) == 1:
                    self._restore()
                del self._held[hold]

    def _restore(self) -> None:
        later = self._later
        self._set([(found, number) for found in self._found() if (number := later.get(found.filepath)) is not None])
        self._later = {}

    def _begin(self, call: Hold, number: int, first: bool = False) -> None:
        generation = self._generation
        with self._lock:  # in C, as Ctrl-C may come while a condition enters
            if self._waiting or (self._calls and max(number, self._number) > 1):
                self._wait_for_turn(number, first)
            own = self.own
            own.calls = call.begun = True
            if generation != self._generation:  # the parent was in line, and in the child there is none
                return
            self._calls += 1  # no call since the two notes above
            self._let(number)

    def _wait_for_turn(self, number: int, first: bool) -> None:
        ticket, generation = object(), self._generation
        (self._waiting.appendleft if first else self._waiting.append)(ticket)
        try:
            while generation == self._generation and (
                self._waiting[0] is not ticket or (self._calls and max(number, self._number) > 1)
            ):
                self._turn.wait(PATIENCE)  # should nobody have been there to notify, after Ctrl-C
        finally:
            if generation == self._generation:
                self._waiting.remove(ticket)
                self._turn.notify_all()

    def _end(self, call: Hold) -> None:
        with self._lock:
            own, here = self.own, call.generation == self._generation
            own.calls = call.begun = False
            if here:
                self._calls -= 1  # no call since the two notes above
                if not self._calls:
                    self._let(1)
                    self._turn.notify_all()

    def _let(self, number: int) -> None:
        """SciPy's library gets so many threads."""
        if number != self._number:
            self._set([(found, number) for found in self._lapack])
            self._number = number

    def _found(self) -> tuple[Any, ...]:
        """The BLAS libraries of this process; NumPy and SciPy bring one each, so both are loaded first."""
        if self._libraries is None:
            import numpy  # noqa: F401
            import scipy.linalg

            found = ThreadpoolController().select(user_api="blas").lib_controllers
            home = Path(scipy.__file__).resolve().parent
            folders = (home.with_name("scipy.libs"), home / ".dylibs")  # where wheels have it
            for kind in {type(library) for library in found}:
                self._answer(kind)
            self._lapack = tuple(x for x in found if Path(x.filepath).resolve().parent in folders)
            self._native = {x.filepath: native for x in found if (native := _native(x)) is not None}
            self._libraries = tuple(found)
        return self._libraries

    def _answer(self, kind: Any) -> None:
        """Let threadpoolctl read and set what holds later, while BLAS is pinned."""
        get, put = self._real[kind] = kind.get_num_threads, kind.set_num_threads

        def get_num_threads(library: Any) -> Any:
            with self._lock:
                return self._later[library.filepath] if library.filepath in self._later else get(library)

        def set_num_threads(library: Any, num_threads: int) -> None:
            with self._lock:
                if self._setting or library.filepath not in self._later:
                    put(library, num_threads)
                else:
                    self._later[library.filepath] = num_threads

        kind.get_num_threads, kind.set_num_threads = get_num_threads, set_num_threads

    def _get(self, library: Any) -> Any:
        native = self._native.get(library.filepath)
        return self._real[type(library)][0](library) if native is None else native[0]()

    def _set(self, numbers: list[tuple[Any, int]]) -> None:
        """threadpoolctl lets one thread at a time change limits, but whoever pins or restores may be another."""
        through = []
        for library, number in numbers:
            native = self._native.get(library.filepath)
            if native is None:
                through.append((library, number))
            else:
                native[1](number)
        if through:
            self._set_through(through)

    def _set_through(self, numbers: list[tuple[Any, int]]) -> None:
        _release(force=True)
        self._setting = True
        try:
            for library, number in numbers:
                self._real[type(library)][1](library, number)
        finally:
            self._setting = False
        _release(force=True)

    def before_fork(self) -> None:
        """Nothing is half set, and no threads of LAPACK are at work, which the child would wait for."""
        self.own.locked, self.own.forks = self._lock.acquire(timeout=PATIENCE), False
        if self.own.locked and not getattr(self.own, "calls", False):  # as in a handler of signals
            self.own.call = call = Hold(self)  # of a call, and not of the pin
            call.generation = self._generation
            self._begin(call, 1, first=True)  # such a handler may have come while this thread waits for its turn
            self.own.forks = True
            if {"numpy", "scipy.linalg"} <= sys.modules.keys():
                self._found()  # now: in the child, the loader's lock may be held by a thread that is gone

    def after_fork_in_parent(self) -> None:
        if self.own.forks:
            self._end(self.own.call)
        if self.own.locked:
            self._lock.release()

    def after_fork_in_child(self) -> None:
        """A child has none of its parent's threads and no team: whoever held the pin or a lock is gone.

        But the thread that forked, in a handler of signals, may be in line for the lock or for its turn, and goes on.
        """
        locked, lock, turn = self.own.locked, self._lock, self._turn
        later, self._generation = self._later, self._generation + 1
        self._reset()
        if locked:
            turn.notify_all()
            lock.release()
        shared: Any = getattr(OpenBLASController, "_SHARED_STATE", None)
        if hasattr(shared, "lock"):
            shared.lock = threading.Lock()
        if later:
            self._later = later
            self._restore()
        for forget in self.forgetting:
            forget()


pinned = Pin()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=pinned.before_fork,
        after_in_parent=pinned.after_fork_in_parent,
        after_in_child=pinned.after_fork_in_child,
    )

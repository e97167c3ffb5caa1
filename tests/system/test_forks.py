"""A fork while another thread fits: the child has none of its parent's threads, and works all the same."""

import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from helpers.matrices import blas_limits
from ritz import PCA, CompressedSensing, KernelPCA, load
from ritz.runtime.threads import ordered, pinned, team

pytestmark = [
    pytest.mark.usefixtures("blas_as_it_is"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
    # The very thing that is tried.
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning"),
]
LONG = 60  # seconds after which a child is taken to hang
rng = np.random.default_rng(0)
WIDE, TALL = rng.standard_normal((60, 3000)), rng.standard_normal((3000, 20))
LARGE = rng.standard_normal((1010, 1001))
FITS = {
    "gram": lambda: PCA(3, svd_solver="gram").fit(WIDE),
    "covariance": lambda: PCA(3, svd_solver="covariance").fit(TALL),
    "krylov": lambda: PCA(3, svd_solver="krylov").fit(WIDE),
    "svd": lambda: PCA(3, svd_solver="svd").fit(TALL),
    "large": lambda: PCA(3, svd_solver="covariance").fit(LARGE),
    "kernel": lambda: KernelPCA(3, kernel="rbf", fit_inverse_transform=True).fit(WIDE),
    "sensing": lambda: CompressedSensing(10, random_state=0).fit(TALL).fit_transform(TALL[:50]),
}


def in_child(work):
    """work() in the child of a fork, which is ended where it hangs; what went wrong there, as text."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(reading)
            signal.alarm(LONG)
            work()
        except BaseException:
            os.write(writing, traceback.format_exc().encode()[-4000:])
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        said = file.read().decode()
    status = os.waitpid(pid, 0)[1]
    return "the child hung" if os.WIFSIGNALED(status) else said


def call_alone(begun, seconds):
    """As a call of LAPACK with all threads, which lets no other begin."""
    pinned.own.budget = 2
    with pinned.calling(large=True):
        begun.set()
        time.sleep(seconds)


class Busy:
    """Another thread that does something again and again until it is told to stop."""

    def __init__(self, work):
        self._work, self._stop, self.rounds = work, threading.Event(), 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while not self._stop.is_set():
            self._work()
            self.rounds += 1

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join(LONG)
        assert not self._thread.is_alive(), "the parent hung"


def use_everything(path):
    """Fit, transform, save and load."""
    FITS["gram"]()
    FITS["kernel"]()
    model = PCA(2).fit(TALL)
    scores = model.transform(TALL)
    model.inverse_transform(scores)
    model.save(path)
    np.testing.assert_array_equal(load(path).transform(TALL), scores)


@pytest.mark.parametrize("name", FITS)
def test_a_fork_during_a_fit(name, tmp_path):
    before = blas_limits()

    def work():
        assert blas_limits() == before
        FITS[name]()
        use_everything(tmp_path / "m")
        assert blas_limits() == before

    FITS[name]()  # whatever is imported only now
    with Busy(FITS[name]) as busy:
        for moment in range(2):
            rounds = busy.rounds
            while busy.rounds == rounds:
                time.sleep(0.001)
            time.sleep(0.003 * moment)
            assert in_child(work) == ""
    assert blas_limits() == before


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="the libraries of a process are not listed here")
def test_every_blas_of_the_process_is_known():
    """A library that the pin does not know keeps its threads, and they may be at work when the process forks."""
    paths = {line.split(maxsplit=5)[-1] for line in Path("/proc/self/maps").read_text().splitlines()}
    mapped = {path for path in paths if "openblas" in Path(path).name}
    assert mapped <= {library.filepath for library in pinned._found()}


def test_a_fork_while_locks_are_held():
    """The pin's lock, and that of threadpoolctl, which others may hold."""

    def limits():
        with threadpool_limits(1, user_api="blas"):
            pass

    def pins():
        with pinned(), pinned.calling(large=True):
            pass

    for work in (limits, pins):
        with Busy(work):
            for _ in range(20):
                assert in_child(pins) == ""


def test_a_fork_before_the_first_fit_while_another_thread_looks_for_libraries():
    """In the child the loader's lock is never released, so the child must not look for libraries itself."""
    program = """if True:
        import os, signal, threading
        import numpy, scipy.linalg
        from threadpoolctl import ThreadpoolController
        from ritz.runtime.threads import pinned

        def look():
            while True:
                ThreadpoolController()

        threading.Thread(target=look, daemon=True).start()
        for _ in range(5):
            if not (pid := os.fork()):
                signal.alarm(20)
                with pinned():
                    os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        os._exit(0)
    """
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=2 * LONG)


def test_a_fork_inside_a_fit():
    """The child goes on where its parent was, without the pin and the threads of the team."""
    before = blas_limits()

    def work():
        assert blas_limits() == before
        FITS["gram"]()
        assert list(ordered(lambda x: x + 1, range(5), 2)) == [1, 2, 3, 4, 5]

    entered = pinned()
    with team() as pool, entered:
        assert in_child(work) == ""
        assert pool.submit(in_child, work).result(timeout=2 * LONG) == ""
        if not (pid := os.fork()):
            code = 1
            try:
                signal.alarm(LONG)
                with pool:  # as on the way out of the parent's `with`
                    pass
                entered.__exit__()
                FITS["gram"]()
                code = 0 if blas_limits() == before else 2
            finally:
                os._exit(code)
        assert os.waitpid(pid, 0)[1] == 0
    assert blas_limits() == before


def test_two_fits_by_the_gram_route_are_under_way_at_the_same_time():
    """Neither waits for the other: each meets the other while its matrix is formed."""
    from ritz.operators.gram import Gram

    barrier, met = threading.Barrier(2, timeout=LONG), []
    real = Gram._dense.func

    def meets(operator):
        met.append(barrier.wait())
        return real(operator)

    Gram._dense.func = meets
    try:
        threads = [threading.Thread(target=FITS["gram"]) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONG)
    finally:
        Gram._dense.func = real
    assert sorted(met) == [0, 1]


def test_a_handler_of_signals_forks_while_its_thread_waits_for_its_turn():
    """The thread is in line for LAPACK, and what it does in the handler must not wait behind itself."""

    def work():
        begun, said = threading.Event(), []

        with pinned():
            other = threading.Thread(target=call_alone, args=(begun, 1))
            other.start()
            begun.wait()
            signal.signal(signal.SIGUSR1, lambda *_: said.append(in_child(FITS["covariance"])))
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR1)).start()
            with pinned.calling():
                pass
            other.join()
        assert said == [""]

    assert in_child(work) == ""


@pytest.mark.parametrize("in_line", ["turn", "lock"])
def test_a_child_goes_on_after_the_handler_of_signals_that_forked(in_line):
    """Its thread was in line for LAPACK, or for the lock of the line, which nobody in the child will leave."""
    before = blas_limits()

    def holds(begun):
        if in_line == "lock":
            with pinned._lock:
                begun.set()
                time.sleep(0.6)
            return
        call_alone(begun, 0.6)

    def work():
        begun, children = threading.Event(), []

        def fork(*_):
            children.append(os.fork())
            signal.alarm(LONG if children[-1] else 10)  # no child inherits one

        signal.signal(signal.SIGUSR1, fork)
        with pinned():
            other = threading.Thread(target=holds, args=(begun,))
            other.start()
            begun.wait()
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
            with pinned.calling():
                pass
        if children == [0]:
            assert blas_limits() == before
            FITS["gram"]()
            os._exit(7)
        other.join()
        assert [os.WEXITSTATUS(os.waitpid(child, 0)[1]) for child in children] == [7]

    assert in_child(work) == ""


@pytest.mark.parametrize("around", [pinned, pinned.calling], ids=["pin", "call"])
def test_what_was_entered_in_the_parent_is_not_left_in_the_child(around):
    """Neither pins nor calls are the child's own: else it would never pin again, or wait for a call to end."""
    with threadpool_limits(2, user_api="blas"):
        before = blas_limits()
        with around():
            pid = os.fork()
        if pid:
            assert os.waitpid(pid, 0)[1] == 0
            return
        code = 1
        try:
            signal.alarm(20)
            with pinned():
                assert blas_limits() == [1] * len(before)
            pinned.own.budget = 2
            with pinned.calling(large=True):
                pass
            code = 0 if blas_limits() == before else 2
        finally:
            os._exit(code)


def test_forks_during_a_fit_leave_it_pinned():
    """What a fork holds meanwhile is not counted, so that it must not be let go, not even by the next one."""
    before = blas_limits()
    with pinned():
        for _ in range(3):
            assert in_child(FITS["gram"]) == ""
            assert blas_limits() == [1] * len(before)
    assert blas_limits() == before

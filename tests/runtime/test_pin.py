"""The pin where a library cannot get and set its own threads (threadpoolctl does it), and where Ctrl-C comes."""

import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import ritz
from helpers.matrices import blas_limits
from ritz import PCA
from ritz.runtime import pin
from ritz.runtime.threads import Team, pinned, scratch, team

pytestmark = pytest.mark.usefixtures("blas_as_it_is")
ONE = [1] * len(blas_limits())
HOME = str(Path(ritz.__file__).parent)
X = np.random.default_rng(0).standard_normal((3000, 20))


@pytest.fixture
def through_threadpoolctl(monkeypatch):
    pinned.budget()  # the libraries are known
    monkeypatch.setattr(pinned, "_native", {})


def test_blas_is_pinned_and_given_back(through_threadpoolctl):
    before = blas_limits()
    with team():
        assert blas_limits() == ONE
        with pinned.calling(large=True):
            pass
        assert blas_limits() == ONE
    assert blas_limits() == before


def test_a_fit_is_the_same(through_threadpoolctl, monkeypatch):
    found = PCA(3).fit(X)
    monkeypatch.undo()
    np.testing.assert_array_equal(found.components_, PCA(3).fit(X).components_)


def test_a_library_of_another_kind_has_none():
    """As of Intel, of Apple, or an OpenBLAS that was built without threads of its own."""

    class Library:
        threading_layer = "openmp"
        dynlib = None

    assert pin._native(Library()) is None


def stopped(work, at):
    """Whether work() was stopped as Ctrl-C would: at the given one of the moments when Python looks for signals."""
    left = at

    def look(frame, event, _):
        nonlocal left
        left -= event != "c_call" and frame.f_code.co_filename.startswith(HOME)
        if not left:
            sys.setprofile(None)
            raise KeyboardInterrupt

    sys.setprofile(look)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    assert left > 0, "Ctrl-C was lost"
    return False


@pytest.mark.parametrize(("solver", "n"), [("covariance", 3000), ("svd", 200), ("krylov", 100)])
def test_wherever_ctrl_c_stops_a_fit_blas_has_its_threads_back(solver, n):
    before, at = blas_limits(), 1
    PCA(3, svd_solver=solver).fit(X[:n])
    while stopped(lambda: PCA(3, svd_solver=solver).fit(X[:n]), at):
        assert (blas_limits(), len(pinned._held), pinned._calls) == (before, 0, 0)
        assert not np.shares_memory(scratch("any", 2, 2), scratch("any", 2, 2))  # outside of a team they are new
        at += 3
    assert at > 900  # of the moments that a fit has
    waiting = {thread for kept in Team.idle for thread in kept._threads}
    for thread in set(threading.enumerate()) - waiting:
        if thread.name.startswith("ritz"):  # of a team that is nobody's
            thread.join(5)
            assert not thread.is_alive()

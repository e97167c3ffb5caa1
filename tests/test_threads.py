"""Threads and the pin of BLAS: what was set before is set again after, whoever leaves last and however."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from helpers import blas_limits, with_spectrum
from ritz import PCA
from ritz.threads import ordered, pinned, scratch, team

ONE = [1] * len(blas_limits())


@pytest.fixture(autouse=True)
def before():
    """The limits of BLAS; whatever happens in a test, they must hold at its end."""
    limits = blas_limits()
    if max(limits) < 2:
        pytest.skip("BLAS has one thread only, so that the pin makes no difference")
    yield limits
    assert blas_limits() == limits


def test_a_team_pins_blas_and_gives_it_back(before):
    for _ in range(3):
        with team() as pool:
            assert blas_limits() == ONE
            assert pool.submit(blas_limits).result() == ONE
        assert blas_limits() == before


@pytest.mark.parametrize("problem", [RuntimeError, KeyboardInterrupt, MemoryError])
def test_a_team_gives_blas_back_after_an_error(problem, before):
    with pytest.raises(problem), team():
        raise problem
    assert blas_limits() == before
    with pytest.raises(problem), team(), team():
        raise problem
    assert blas_limits() == before
    with team() as pool:  # and another team can be had
        assert pool.submit(sum, (1, 2)).result() == 3


def test_an_error_in_a_worker_gives_blas_back(before):
    def fail(item):
        raise RuntimeError(item)

    with pytest.raises(RuntimeError, match="0"):
        list(ordered(fail, range(10), 2))
    assert blas_limits() == before


def test_nested_teams_share_the_pool(before):
    with team() as outer:
        with team() as inner, team() as innermost:
            assert inner is innermost is outer
        assert blas_limits() == ONE  # the outer one still needs it
        assert outer.submit(sum, (1, 2)).result() == 3  # and has its threads
    with team() as another:
        assert another is not outer
    assert blas_limits() == before


def test_an_error_in_a_nested_team_leaves_the_outer_one_whole():
    with team() as outer:
        with pytest.raises(RuntimeError), team():
            raise RuntimeError
        assert blas_limits() == ONE
        assert list(ordered(lambda item: item**2, range(5), 2)) == [0, 1, 4, 9, 16]
        with team() as again:
            assert again is outer


def elsewhere(f):
    """f in a thread of its own: threadpoolctl remembers per thread who may set limits."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(f).result(timeout=60)


def limits_in_a_team():
    with team():
        return blas_limits()


class Other:
    """Another thread that pins BLAS until it is told to leave."""

    def __init__(self):
        self._entered, self._leave = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work)

    def _work(self):
        with team() as self.pool:
            self._entered.set()
            self._leave.wait(20)

    def enter(self):
        self._thread.start()
        assert self._entered.wait(20)

    def leave(self):
        self._leave.set()
        self._thread.join()


@pytest.fixture
def other():
    other = Other()
    yield other
    other._leave.set()


def test_teams_of_two_threads_are_two_and_the_last_to_leave_gives_blas_back(before, other):
    def first():
        with team() as pool:
            other.enter()
            assert other.pool is not pool
        assert blas_limits() == ONE  # the other one is still at work
        other.leave()
        assert blas_limits() == before

    elsewhere(first)


def test_after_teams_that_overlapped_every_thread_can_pin(before, other):
    """The first to come was not the last to leave, and pins again later: that must not keep others from it."""

    def first():
        with team():
            other.enter()
        other.leave()
        assert limits_in_a_team() == ONE
        assert blas_limits() == before
        assert elsewhere(limits_in_a_team) == ONE
        assert blas_limits() == before

    elsewhere(first)


def test_a_limit_held_elsewhere_does_not_keep_a_thread_from_pinning(before):
    """threadpoolctl lets only the thread that set a limit change it, but a fit in another thread needs the pin too."""

    def first():
        with threadpool_limits(2, user_api="blas"):
            held = elsewhere(limits_in_a_team)
            assert blas_limits() == [2] * len(before)
        assert blas_limits() == before
        assert elsewhere(limits_in_a_team) == ONE  # nor does one that was held once
        assert held == ONE

    elsewhere(first)


def test_the_pool_has_as_many_threads_as_blas_was_allowed(before):
    with team() as pool:
        assert pool._max_workers == pinned.budget() <= max(before)
    with threadpool_limits(1, user_api="blas"), team() as pool:
        assert pool._max_workers == 1
        assert pinned.budget() == 1


def test_lifting_the_pin(before):
    with pinned(), pinned.lifted():  # not the pin of this thread's team: it may be someone else's
        assert blas_limits() == ONE
    with team():
        assert blas_limits() == ONE
        with pinned.lifted():
            assert blas_limits() == before
        assert blas_limits() == ONE
        with pinned.lifted(False):
            assert blas_limits() == ONE
        assert blas_limits() == ONE
        budget = pinned.budget()
        with pinned.lifted():
            assert pinned.budget() == budget
    assert blas_limits() == before


@pytest.mark.parametrize("problem", [RuntimeError, KeyboardInterrupt])
def test_an_error_while_the_pin_is_lifted_pins_again(problem, before):
    with pinned():
        with pytest.raises(problem), pinned.lifted():
            raise problem
        assert blas_limits() == ONE
    assert blas_limits() == before


def test_where_nothing_is_pinned_there_is_nothing_to_lift(before):
    with pinned.lifted():
        assert blas_limits() == before
        with pinned():
            assert blas_limits() == ONE
        assert blas_limits() == before
    assert blas_limits() == before


def test_a_pin_that_others_need_is_not_lifted(before):
    with pinned(), pinned():
        with pinned.lifted():
            assert blas_limits() == ONE
        assert blas_limits() == ONE
    assert blas_limits() == before


@pytest.mark.parametrize("leaves_inside", [True, False])
def test_another_who_comes_while_the_pin_is_lifted(leaves_inside, before, other):
    def first():
        with team():
            with pinned.lifted():
                other.enter()
                assert blas_limits() == ONE
                if leaves_inside:
                    other.leave()
                    assert blas_limits() == before
            assert blas_limits() == ONE
            other.leave()
            assert blas_limits() == ONE
        assert blas_limits() == before

    elsewhere(first)


def test_scratch_is_fresh_outside_and_the_same_again_inside_a_team():
    assert not np.shares_memory(scratch("any", 5, 3), scratch("any", 5, 3))

    def inside():
        large, small, narrow = scratch("any", 9, 4), scratch("any", 2, 4), scratch("any", 9, 4, np.float32)
        assert (large.shape, small.shape, narrow.shape) == ((9, 4), (2, 4), (9, 4))
        assert (large.dtype, narrow.dtype) == (np.float64, np.float32)
        assert np.shares_memory(large, small)
        assert not np.shares_memory(large, narrow)
        assert not np.shares_memory(large, scratch("any", 9, 5))
        assert not np.shares_memory(large, scratch("other", 9, 4))
        assert scratch("any", 100, 4).shape == (100, 4)
        return large.__array_interface__["data"][0], threading.get_ident()

    with team() as pool:
        for future in [pool.submit(inside) for _ in range(20)]:
            future.result()


def test_scratch_of_two_threads_is_two():
    barrier = threading.Barrier(2, timeout=20)

    def fill(value):
        mine = scratch("any", 200, 7)
        mine[...] = value
        barrier.wait()
        return bool((mine == value).all())

    with team() as pool:
        if pool._max_workers < 2:
            pytest.skip("one core only")
        assert [future.result() for future in [pool.submit(fill, i) for i in range(2)]] == [True, True]


def test_results_come_in_order_and_few_are_alive_at_once():
    alive, most, lock = 0, 0, threading.Lock()

    def items():
        nonlocal alive, most
        for item in range(50):
            with lock:
                alive += 1
                most = max(most, alive)
            yield item

    found = []
    for result in ordered(lambda item: item * 2, items(), 2):
        found.append(result)
        with lock:
            alive -= 1
    assert found == [2 * item for item in range(50)]
    assert most <= 4  # workers + 1, and the one just handed out


def fits_at_the_same_time(shape, parameters):
    """One fit alone, and six by four threads."""
    X = with_spectrum(*shape, 0.9 ** np.arange(min(shape)), np.random.default_rng(0), offset=1.0)

    def fit(_):
        return PCA(4, random_state=2, **parameters).fit(X)

    alone = fit(None)
    with ThreadPoolExecutor(4) as pool:
        return alone, list(pool.map(fit, range(6)))


@pytest.mark.parametrize(
    ("shape", "parameters"),
    [
        ((20_000, 60), {}),
        ((3000, 600), {"svd_solver": "krylov", "memory_limit": "12MB"}),
        ((20_000, 100), {"svd_solver": "krylov"}),
        ((100, 5000), {"svd_solver": "gram"}),
        ((600, 400), {"svd_solver": "covariance"}),
        ((4000, 50), {"svd_solver": "svd"}),
    ],
)
def test_fits_at_the_same_time_are_identical_and_leave_blas_as_it_was(shape, parameters, before):
    alone, fits = fits_at_the_same_time(shape, parameters)
    assert blas_limits() == before
    for pca in fits:
        assert pca.plan_ == alone.plan_
        np.testing.assert_array_equal(pca.components_, alone.components_)
        np.testing.assert_array_equal(pca.explained_variance_, alone.explained_variance_)
        np.testing.assert_array_equal(pca.certificate_.value_bounds, alone.certificate_.value_bounds)


def test_fits_that_lift_the_pin_when_alone_agree_to_rounding(before):
    """LAPACK on a matrix this large has threads of its own, unless others are at work: the same but for rounding."""
    alone, fits = fits_at_the_same_time((1100, 1010), {"svd_solver": "covariance"})
    assert blas_limits() == before
    unit = 50 * 1100 * np.finfo(float).eps
    for pca in fits:
        assert np.abs(pca.explained_variance_ - alone.explained_variance_).max() <= unit * alone.total_variance_
        assert np.abs(pca.components_ - alone.components_).max() <= 10 * unit

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
def two_threads():
    """A limit that can be told from the pin on every machine; whatever happens in a test, it must hold at the end."""
    with threadpool_limits(2, user_api="blas"):
        if max(blas_limits()) < 2:
            pytest.skip("BLAS has one thread only")
        before = blas_limits()
        yield before
        assert blas_limits() == before


def test_a_team_pins_blas_and_gives_it_back(two_threads):
    for _ in range(3):
        with team() as pool:
            assert blas_limits() == ONE
            assert pool.submit(blas_limits).result() == ONE
        assert blas_limits() == two_threads


@pytest.mark.parametrize("problem", [RuntimeError, KeyboardInterrupt, MemoryError])
def test_a_team_gives_blas_back_after_an_error(problem, two_threads):
    with pytest.raises(problem), team():
        assert blas_limits() == ONE
        raise problem
    assert blas_limits() == two_threads
    with pytest.raises(problem), team(), team():
        raise problem
    assert blas_limits() == two_threads
    with team() as pool:  # and another team can be had
        assert pool.submit(sum, (1, 2)).result() == 3


def test_an_error_in_a_worker_gives_blas_back(two_threads):
    def fail(item):
        raise RuntimeError(item)

    with pytest.raises(RuntimeError, match="0"):
        list(ordered(fail, range(10), 2))
    assert blas_limits() == two_threads


def test_nested_teams_share_the_pool(two_threads):
    with team() as outer:
        with team() as inner, team() as innermost:
            assert inner is innermost is outer
        assert blas_limits() == ONE  # the outer one still needs it
        assert outer.submit(sum, (1, 2)).result() == 3  # and has its threads
    with team() as another:
        assert another is not outer
    assert blas_limits() == two_threads


def test_an_error_in_a_nested_team_leaves_the_outer_one_whole():
    with team() as outer:
        with pytest.raises(RuntimeError), team():
            raise RuntimeError
        assert blas_limits() == ONE
        assert list(ordered(lambda item: item**2, range(5), 2)) == [0, 1, 4, 9, 16]
        with team() as again:
            assert again is outer


def test_teams_of_two_threads_are_two_and_the_last_to_leave_gives_blas_back(two_threads):
    entered, leave = threading.Event(), threading.Event()
    pools = []

    def other():
        with team() as pool:
            pools.append(pool)
            entered.set()
            leave.wait(20)

    thread = threading.Thread(target=other)
    with team() as pool:
        thread.start()
        assert entered.wait(20)
        assert pools[0] is not pool
    assert blas_limits() == ONE  # the other one is still at work
    leave.set()
    thread.join()
    assert blas_limits() == two_threads


def test_the_pool_has_as_many_threads_as_blas_was_allowed():
    with team() as pool:
        assert pool._max_workers == pinned.budget() <= 2
    with threadpool_limits(1, user_api="blas"), team() as pool:
        assert pool._max_workers == 1
        assert pinned.budget() == 1


def test_lifting_the_pin(two_threads):
    with pinned():
        assert blas_limits() == ONE
        with pinned.lifted():
            assert blas_limits() == two_threads
        assert blas_limits() == ONE
        with pinned.lifted(False):
            assert blas_limits() == ONE
        assert blas_limits() == ONE
        budget = pinned.budget()
        with pinned.lifted():
            assert pinned.budget() == budget
    assert blas_limits() == two_threads


@pytest.mark.parametrize("problem", [RuntimeError, KeyboardInterrupt])
def test_an_error_while_the_pin_is_lifted_pins_again(problem, two_threads):
    with pinned():
        with pytest.raises(problem), pinned.lifted():
            raise problem
        assert blas_limits() == ONE
    assert blas_limits() == two_threads


def test_where_nothing_is_pinned_there_is_nothing_to_lift(two_threads):
    with pinned.lifted():
        assert blas_limits() == two_threads
        with pinned():
            assert blas_limits() == ONE
        assert blas_limits() == two_threads
    assert blas_limits() == two_threads


def test_a_pin_that_others_need_is_not_lifted(two_threads):
    with pinned(), pinned():
        with pinned.lifted():
            assert blas_limits() == ONE
        assert blas_limits() == ONE
    assert blas_limits() == two_threads


@pytest.mark.parametrize("leaves_inside", [True, False])
def test_another_who_comes_while_the_pin_is_lifted(leaves_inside, two_threads):
    entered, leave = threading.Event(), threading.Event()

    def other():
        with pinned():
            entered.set()
            leave.wait(20)

    thread = threading.Thread(target=other)
    with pinned():
        with pinned.lifted():
            thread.start()
            assert entered.wait(20)
            assert blas_limits() == ONE
            if leaves_inside:
                leave.set()
                thread.join()
                assert blas_limits() == two_threads
        assert blas_limits() == ONE
        leave.set()
        thread.join()
        assert blas_limits() == ONE
    assert blas_limits() == two_threads


def test_scratch_is_fresh_outside_and_the_same_again_inside_a_team():
    assert not np.shares_memory(scratch(5, 3), scratch(5, 3))

    def inside():
        large, small, narrow = scratch(9, 4), scratch(2, 4), scratch(9, 4, np.float32)
        assert (large.shape, small.shape, narrow.shape) == ((9, 4), (2, 4), (9, 4))
        assert (large.dtype, narrow.dtype) == (np.float64, np.float32)
        assert np.shares_memory(large, small)
        assert not np.shares_memory(large, narrow)
        assert not np.shares_memory(large, scratch(9, 5))
        assert scratch(100, 4).shape == (100, 4)
        return large.__array_interface__["data"][0], threading.get_ident()

    with team() as pool:
        for future in [pool.submit(inside) for _ in range(20)]:
            future.result()


def test_scratch_of_two_threads_is_two():
    barrier = threading.Barrier(2, timeout=20)

    def fill(value):
        mine = scratch(200, 7)
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


@pytest.mark.parametrize(
    ("shape", "parameters"),
    [
        ((20_000, 60), {}),
        ((3000, 600), {"svd_solver": "krylov", "memory_limit": "12MB"}),
        ((100, 5000), {"svd_solver": "gram"}),
        ((1500, 1200), {"svd_solver": "covariance"}),  # large enough to lift the pin
        ((4000, 50), {"svd_solver": "svd"}),
    ],
)
def test_fits_at_the_same_time_are_identical_and_leave_blas_as_it_was(shape, parameters, two_threads):
    X = with_spectrum(*shape, 0.9 ** np.arange(min(shape)), np.random.default_rng(0), offset=1.0)

    def fit(_):
        return PCA(4, random_state=2, **parameters).fit(X)

    expected = fit(None)
    with ThreadPoolExecutor(4) as pool:
        fits = list(pool.map(fit, range(8)))
    assert blas_limits() == two_threads
    for pca in fits:
        assert pca.plan_ == expected.plan_
        np.testing.assert_array_equal(pca.components_, expected.components_)
        np.testing.assert_array_equal(pca.explained_variance_, expected.explained_variance_)
        np.testing.assert_array_equal(pca.transform(X[:50]), expected.transform(X[:50]))

"""Threads and the pin of BLAS: what was set before is set again after, whoever leaves last and however."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from helpers.counts import usually
from helpers.matrices import blas_limits, blas_paths, with_spectrum
from ritz import PCA, KernelPCA, compare, eigen, merge
from ritz.linalg import dense
from ritz.runtime.threads import alone, check, lent, ordered, pinned, scratch, shared, team, working, zeros

pytestmark = pytest.mark.usefixtures("blas_as_it_is")
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
        assert another is outer  # whose threads have waited
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


LAPACK = ["scipy.libs" in path for path in blas_paths()]  # the library that only SciPy calls, if it has one
ALL = pytest.mark.skipif(not any(LAPACK), reason="NumPy and SciPy share a library")


def lifted(before):
    """The limits while SciPy's library has all its threads and NumPy's has one."""
    return [n if lapack else 1 for n, lapack in zip(before, LAPACK, strict=True)]


@ALL
def test_a_large_factorisation_has_all_threads_and_the_rest_one(before):
    for around in (nullcontext, pinned, team):
        with around():
            with pinned.calling():
                assert blas_limits() == ONE
            with pinned.calling(large=True):
                assert blas_limits() == lifted(before)
                with pinned.calling():  # inside another call
                    assert blas_limits() == lifted(before)
            if around is not nullcontext:
                assert blas_limits() == ONE
        assert blas_limits() == before


def test_threads_of_a_team_factorise_with_one_thread_each(before):
    def inside():
        with pinned.calling(large=True):
            return blas_limits()

    with team() as pool:
        assert pool.submit(inside).result(timeout=60) == ONE


@pytest.mark.parametrize("problem", [RuntimeError, KeyboardInterrupt])
def test_an_error_in_a_call_pins_again(problem, before):
    with pinned():
        with pytest.raises(problem), pinned.calling(large=True):
            raise problem
        assert blas_limits() == ONE
    with pytest.raises(problem), pinned.calling(large=True):
        raise problem
    assert blas_limits() == before


@ALL
def test_a_thread_that_works_for_others_stays_alone_after_a_team_of_its_own():
    with alone():
        for _ in range(2):
            with team() as pool:
                assert pool.budget == 1
    with team() as pool:
        assert pool.budget > 1


def test_memory_is_not_taken_from_threads_at_work():
    """As by a fit that is made of the results of a pass, while the next ones are computed."""
    with team() as pool:
        for _ in ordered(lambda _: scratch("any", 5, 3).fill(1.0), range(6), 2):
            pool.forget()
        assert any(pool._caches)
        pool.forget()
        assert not any(pool._caches)


def test_a_call_with_all_threads_runs_alone_and_others_together(before):
    seen, barrier, leave = [], threading.Barrier(2, timeout=20), threading.Event()

    def large():
        with pinned.calling(large=True):
            seen.append(blas_limits())
            assert leave.wait(20)
            seen.append(blas_limits())

    def small():
        with pinned.calling():
            barrier.wait()  # both are inside
            seen.append(blas_limits())

    with ThreadPoolExecutor(3) as pool:
        found = [pool.submit(large)]
        while not seen:
            time.sleep(0.001)
        found += [pool.submit(small), pool.submit(small)]
        while len(pinned._waiting) < 2:
            time.sleep(0.001)
        leave.set()
        for future in found:
            future.result(timeout=20)
    assert seen == [lifted(before)] * 2 + [ONE] * 2


ORDERS = ["limit fit /limit /fit", "fit limit /fit /limit", "fit limit /limit /fit", "limit fit /fit /limit"]


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("order", [*ORDERS, "fit limit limit /fit /limit /limit", "limit fit limit /limit /limit /fit"])
def test_limits_and_fits_that_overlap_in_any_order(order, number, before, other):
    """Whoever leaves last, all is as it was; while a fit runs BLAS has one thread, and afterwards what others set."""
    limits, now = [], []

    def user():
        for step in order.split():
            if step == "limit":
                limits.append(threadpool_limits(number, user_api="blas"))
                limits[-1].__enter__()
            elif step == "/limit":
                limits.pop().__exit__(None, None, None)
            else:
                other.enter() if step == "fit" else other.leave()
            now.append((blas_limits(), bool(limits)))

    elsewhere(user)
    running = [order.split()[: i + 1].count("fit") > order.split()[: i + 1].count("/fit") for i in range(len(now))]
    for fit, (seen, limited) in zip(running, now, strict=True):
        assert seen == (ONE if fit else [number] * len(before) if limited else before)


def test_whoever_asks_during_a_fit_is_told_what_holds_after_it(before):
    with team():
        assert [x["num_threads"] for x in threadpool_info() if x["user_api"] == "blas"] == before
        assert blas_limits() == ONE


def test_a_fit_keeps_the_budget_it_began_with(before):
    with team() as pool, threadpool_limits(1, user_api="blas"):
        assert pinned.budget() == pool._max_workers == pool.submit(pinned.budget).result(timeout=60)
        assert elsewhere(pinned.budget) == 1  # another fit begins under the limit
    assert blas_limits() == before


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


def test_memory_that_is_lent_is_nobody_elses():
    with lent("any", 8) as mine, lent("any", 8) as other:
        assert not np.shares_memory(mine, other)

    def work(_):
        with lent("any", 100) as mine, lent("any", 100) as other:
            assert not np.shares_memory(mine, other)
        with lent("any", 50) as again:
            assert len(again) == 50
            return np.shares_memory(mine, again)

    with team():
        assert list(ordered(work, range(4), 2)) == [True] * 4


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


def test_shared_results_come_in_order_from_helpers_and_the_thread_that_asks():
    seen = set()

    def square(item):
        seen.add(threading.get_ident())
        time.sleep(0.002)
        return item**2

    with team() as pool:
        if pool._max_workers < 2:
            pytest.skip("one core only")
        for _ in range(5):
            assert list(shared(square, list(range(12)), 2)) == [item**2 for item in range(12)]
    assert threading.get_ident() in seen
    assert len(seen) > 1


def test_of_shared_items_that_fail_the_first_one_is_told_and_the_rest_is_not_begun():
    begun = []

    def fail(item):
        begun.append(item)
        time.sleep(0.01 * (item == 3))
        if item in (3, 4):
            raise RuntimeError(item)

    with pytest.raises(RuntimeError, match="3"):
        list(shared(fail, list(range(100)), 2))
    assert len(begun) <= 7
    with team():  # whose threads are as they were
        assert list(shared(lambda item: -item, [1, 2, 3], 2)) == [-1, -2, -3]


@pytest.mark.parametrize("where", ["here", "there"])
def test_an_exit_among_shared_items_reaches_the_thread_that_asks_once_all_have_stopped(where, before):
    caller, running = threading.get_ident(), []

    def leave(item):
        running.append(item)
        time.sleep(0.01)
        try:
            if (threading.get_ident() == caller) == (where == "here"):
                raise KeyboardInterrupt if where == "here" else SystemExit
            check()
        finally:
            running.remove(item)

    with team() as pool:
        if pool._max_workers < 2:
            pytest.skip("one core only")
    with pytest.raises(KeyboardInterrupt if where == "here" else SystemExit):
        list(shared(leave, list(range(50)), 2))
    assert not running
    assert blas_limits() == before


def test_memory_of_a_pass_is_kept_for_the_next_fit_if_it_is_little():
    def address(rows):
        with team(), working():
            return scratch("any", rows, 100).__array_interface__["data"][0]

    assert address(1000) == address(1000) == address(900)
    kept = []
    with team() as pool:
        for rows in (1000, 10_000):
            with working():
                scratch("any", rows, 100)
            kept.append(pool)
    with team() as pool:
        assert pool is kept[0]
        assert not pool.own  # 8 MB have gone back


def check_alike(shape, parameters, before, at_once, count):
    """One fit alone, and so many by several threads."""
    X = with_spectrum(*shape, 0.9 ** np.arange(min(shape)), np.random.default_rng(0), offset=1.0)

    def fit(_):
        return PCA(4, random_state=2, **parameters).fit(X)

    only = fit(None)
    with ThreadPoolExecutor(at_once) as pool:
        fits = list(pool.map(fit, range(count)))
    assert blas_limits() == before
    for pca in fits:
        assert pca.plan_ == only.plan_
        np.testing.assert_array_equal(pca.components_, only.components_)
        np.testing.assert_array_equal(pca.explained_variance_, only.explained_variance_)
        np.testing.assert_array_equal(pca.certificate_.value_bounds, only.certificate_.value_bounds)


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
    check_alike(shape, parameters, before, at_once=4, count=6)


@pytest.mark.parametrize("solver", ["covariance", "gram"])
def test_so_are_fits_for_which_lapack_has_threads_of_its_own(solver, before, monkeypatch):
    order = usually(400, thorough=dense.THREADED)
    monkeypatch.setattr(dense, "THREADED", order)
    shape = (order + 100, order + 10) if solver == "covariance" else (order + 10, order + 100)
    check_alike(shape, {"svd_solver": solver}, before, at_once=2, count=2)


def results(X, model, kernel):
    """What many calls return, from matrices so large that BLAS would share the work out."""
    with pinned():  # the test's own product, not ours
        S = X.T @ X
    halves = [PCA(60).fit(half) for half in np.split(X, 2)]
    scores, codes = model.transform(X), kernel.transform(X)
    return {
        "transform": scores,
        "inverse_transform": model.inverse_transform(scores),
        "score_samples": model.score_samples(X),
        "get_covariance": model.get_covariance(),
        "reconstruction_error": model.reconstruction_error(X),
        "from_covariance": PCA.from_covariance(S, n_rows=300, n_components=20).components_,
        "partial_fit": PCA(60).partial_fit(X[:150]).partial_fit(X[150:]).components_,
        "merge": merge(halves).components_,
        "compare": compare(*halves),
        "eigen": eigen(S, 20).vectors,
        "auto": PCA("auto").fit(X).components_,
        "kernel": codes,
        "pre-images": kernel.inverse_transform(codes),
        "landmarks": KernelPCA(5, kernel="rbf", gamma=1e-3, n_landmarks=50).fit_transform(X),
    }


@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
def test_nothing_depends_on_what_other_threads_do(other):
    X = np.random.default_rng(0).standard_normal((300, 200)) * np.geomspace(5, 0.1, 200)
    kernel = KernelPCA(40, kernel="rbf", gamma=1e-3, fit_inverse_transform=True).fit(X)
    model = PCA(60).fit(X)
    only = results(X, model, kernel)
    other.enter()
    beside = results(X, model, kernel)
    other.leave()
    for name, found in only.items():
        np.testing.assert_array_equal(found, beside[name], err_msg=name)


def test_large_zeros_are_zeros_that_can_be_written_to():
    for dtype in (np.float64, np.float32):
        found = zeros(300, 600, dtype=dtype)
        assert (found.shape, found.dtype) == ((300, 600), dtype)
        assert not found.any()
        found += 1
        assert not zeros(300, 600, dtype=dtype).any()

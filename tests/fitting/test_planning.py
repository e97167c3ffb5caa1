"""The planner: what it chooses, within which memory, by which rates."""

import json
import sys
from dataclasses import asdict
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from threadpoolctl import threadpool_limits

import ritz
from helpers.matrices import with_spectrum
from helpers.memory import traced
from ritz import PCA
from ritz.fitting import calibration, costs, planning
from ritz.fitting.calibration import calibrate
from ritz.fitting.costs import Rates, cache_file, rates
from ritz.fitting.request import Request
from ritz.fitting.solve import Attempts
from ritz.rows import as_rows
from ritz.rows.passes import MOST_BYTES
from ritz.solvers.base import BLOCK

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the cache folder is set by XDG_CACHE_HOME")


def rows(n, d, dtype=np.float64):
    """n×d rows that take no memory: a plan looks at their shape and dtype alone."""
    return np.broadcast_to(np.zeros((), dtype), (n, d))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache folder, and a process that has read none."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setattr(costs, "known_rates", {})
    return tmp_path / "ritz" / "rates.json"


def forget(monkeypatch):
    """Like a new process."""
    monkeypatch.setattr(costs, "known_rates", {})


@pytest.mark.parametrize(
    ("shape", "k", "solver", "dense"),
    [
        ((1_000_000, 50), 10, "covariance", True),
        ((100_000, 200), 10, "covariance", True),
        ((3000, 20), 5, "covariance", True),
        ((20_000, 2000), 10, "krylov", False),
        ((100, 20_000), 10, "gram", True),
        ((300, 1_000_000), 5, "gram", True),
        ((5000, 5000), 10, "krylov", False),
        ((1000, 1000), 3, "krylov", False),
        ((400, 400), 3, "svd", False),
    ],
)
def test_what_is_chosen(shape, k, solver, dense):
    plan = ritz.plan(rows(*shape), k, memory_limit="64GB")
    assert (plan.solver, plan.dense) == (solver, dense)
    assert plan.side == ("gram" if solver == "gram" else "covariance")
    assert plan.columns == (BLOCK if solver == "krylov" else None)
    assert plan.memory > 0
    assert 0 < plan.seconds < np.inf


def test_more_components_make_a_decomposition_worth_its_while():
    few, all_of_them = (ritz.plan(rows(3000, 1000), k, memory_limit="64GB") for k in (5, 1000))
    assert few.solver == "krylov"
    assert all_of_them.solver in ("covariance", "svd")
    assert all_of_them.seconds > few.seconds
    assert all_of_them.operations > few.operations


def test_mle_and_shares_need_what_they_need():
    assert ritz.plan(rows(20_000, 2000), "mle", memory_limit="64GB").solver == "covariance"
    assert ritz.plan(rows(20_000, 2000), 0.9, memory_limit="64GB").solver in ("krylov", "covariance")


@pytest.mark.parametrize("shape", [(20_000, 2000), (1_000_000, 200), (2000, 20_000), (5000, 5000), (300, 9000)])
def test_a_plan_stays_within_the_limit(shape):
    roomy = ritz.plan(rows(*shape), 5, memory_limit="64GB")
    assert roomy.block_bytes == MOST_BYTES
    plans = []
    for limit in np.geomspace(64e9, 1e6, 80).astype(int):
        plan = ritz.plan(rows(*shape), 5, memory_limit=int(limit))
        if plan.memory > limit:
            with pytest.raises(ValueError, match="is too small"):
                PCA(5, memory_limit=int(limit)).fit(rows(*shape))
            break
        plans.append(plan)
    assert plans[0] == roomy
    assert plans[-1].memory < roomy.memory
    assert plans[-1].block_bytes < MOST_BYTES  # in smaller blocks, before it is given up
    for wider, tighter in pairwise(plans):
        assert tighter.memory <= wider.memory
        if (wider.solver, wider.dense) == (tighter.solver, tighter.dense):
            assert (tighter.threads, tighter.block_bytes) <= (wider.threads, wider.block_bytes)


@pytest.mark.parametrize(
    ("shape", "k", "parameters"),
    [
        ((4000, 800), 5, {}),
        ((4000, 800), 5, {"memory_limit": "15MB"}),
        ((4000, 800), 5, {"svd_solver": "covariance"}),
        ((4000, 800), 40, {"svd_solver": "krylov"}),
        ((60_000, 60), 5, {}),
        ((300, 9000), 5, {}),
        ((900, 900), 5, {}),
        ((2000, 300), 5, {"svd_solver": "svd"}),
        ((20_000, 300), 300, {"svd_solver": "svd"}),
        ((3000, 2500), 100, {"svd_solver": "krylov", "memory_limit": "46MB"}),
        ((500, 9000), 499, {"svd_solver": "gram"}),
        ((10_000, 784), 50, {}),
        ((10_000, 500), 300, {}),
    ],
)
def test_a_fit_takes_no_more_memory_than_planned(shape, k, parameters):
    X = np.random.default_rng(0).standard_normal(shape) / np.sqrt(np.arange(1, shape[1] + 1))
    PCA(k, **parameters).fit(X[:600])  # imports and caches
    with traced() as taken:
        pca = PCA(k, **parameters).fit(X)
    results = 8 * 3 * k * shape[1]  # what is returned, in two precisions, and read-only copies
    assert taken.peak <= pca.plan_.memory + results + 500_000
    assert pca.plan_.memory <= 20 * (taken.peak + 100_000)  # and the plan is no idle one


@pytest.mark.parametrize(
    ("shape", "k"), [((3000, 20), 5), ((20, 3000), 5), ((900, 700), 3), ((400, 30), 4), ((2000, 600), 0.5)]
)
def test_a_fit_follows_its_plan(shape, k):
    X = with_spectrum(*shape, 0.9 ** np.arange(min(shape)), np.random.default_rng(0)) + 1e-3
    assert PCA(k).fit(X).plan_ == ritz.plan(X, k)


def test_a_plan_is_the_same_again_without_measurements(cache, monkeypatch):
    plans = []
    for _ in range(3):
        forget(monkeypatch)
        plans.append([ritz.plan(rows(*shape), 10, "8GB") for shape in ((20_000, 2000), (500, 9000), (10**6, 50))])
    assert plans[0] == plans[1] == plans[2]
    assert rates() == Rates()
    assert not cache.exists()  # nobody asked for measurements


@pytest.mark.parametrize(
    ("shape", "k", "words"),
    [
        ((1_000_000, 50), 10, ("covariance: 1 pass, 2.5e+09 operations in float64", "the 50×50 covariance")),
        (
            (20_000, 2000),
            10,
            (
                "krylov on the covariance side: about 13 passes",
                "block Krylov, 8 vectors per pass, costs less than forming the covariance",
            ),
        ),
        ((100, 20_000), 10, ("gram: ", "the 100×100 Gram matrix")),
        ((600, 600), 300, ("covariance: 1 pass", "600 columns are as many as 600 rows, so the 600×600 covariance")),
        ((400, 30), 4, ("svd: 1 pass", "400×30 is small")),
        ((30, 400), 4, ("svd: 2 passes", "30×400 is small")),
    ],
)
def test_a_plan_reads_in_two_lines(shape, k, words):
    first, second = str(ritz.plan(rows(*shape), k, memory_limit="64GB")).split("\n")
    assert first.startswith(words[0])
    assert first.endswith("B of working memory")
    assert words[1] in second


def test_the_text_tells_why_the_rows_are_read_in_several_passes():
    first, second = str(ritz.plan(rows(20_000, 5000), 5, memory_limit="100MB")).split("\n")
    assert first.startswith("krylov on the covariance side: about ")
    assert "more than the 0.1 GB allowed, so the rows are read in several passes" in second


@LINUX
def test_measured_rates_are_kept_read_back_and_forgotten(cache, monkeypatch):
    found = calibrate()
    assert cache_file() == cache
    assert json.loads(cache.read_text()) == asdict(found)
    assert all(0 < rate < np.inf for rate in asdict(found).values())
    assert found != Rates()
    assert [path.name for path in cache.parent.iterdir()] == ["rates.json"]  # nothing half-written beside it
    assert rates() == found
    forget(monkeypatch)
    assert rates() == found  # from the file
    assert calibrate(reset=True) == rates() == Rates()
    assert not cache.exists()
    forget(monkeypatch)
    assert rates() == Rates()
    assert calibrate(reset=True) == Rates()  # where there is nothing to forget


@LINUX
def test_plans_rest_on_the_rates_of_the_file(cache, monkeypatch):
    assert ritz.plan(rows(20_000, 2000), 10, "64GB").solver == "krylov"
    cache.parent.mkdir()
    cache.write_text(
        json.dumps(asdict(Rates()) | {"thin": 1e8, "walk": 1e9})
    )  # narrow products a thousand times slower
    forget(monkeypatch)
    assert ritz.plan(rows(20_000, 2000), 10, "64GB").solver == "covariance"


TABLE = asdict(Rates())


@LINUX
@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "null",
        "[]",
        "3",
        '"fast"',
        "{}",
        '{"product": 1e11}',
        json.dumps(TABLE | {"thin": -1.0}),
        json.dumps(TABLE | {"thin": 0}),
        json.dumps(TABLE | {"walk": float("nan")}),
        json.dumps(TABLE | {"walk": float("inf")}),
        json.dumps(TABLE | {"walk": "many"}),
        json.dumps(TABLE | {"walk": None}),
        json.dumps(TABLE | {"walk": [1.0]}),
        json.dumps(TABLE | {"walk": 10**400}),
        json.dumps(TABLE)[:-20],
        "[" * 100_000,
        b"\xff\xfe\x00rates",
        bytes(1000),
    ],
)
def test_a_file_that_makes_no_sense_is_not_believed(content, cache):
    cache.parent.mkdir()
    cache.write_bytes(content.encode() if isinstance(content, str) else content)
    assert rates() == Rates()
    assert ritz.plan(rows(20_000, 2000), 10, "64GB").solver == "krylov"


@LINUX
def test_unknown_entries_of_a_later_version_are_ignored(cache):
    cache.parent.mkdir()
    cache.write_text(json.dumps(TABLE | {"thin": 5e10, "accelerator": 1e13}))
    assert rates() == Rates(thin=5e10)


@LINUX
def test_a_folder_in_the_place_of_the_file(cache, monkeypatch):
    monkeypatch.setattr(calibration, "_measured", lambda: Rates(thin=1e8))
    cache.mkdir(parents=True)
    assert rates() == Rates()
    found = calibrate()
    assert rates() == found
    assert [path.name for path in cache.parent.iterdir()] == ["rates.json"]
    assert calibrate(reset=True) == Rates()


@LINUX
def test_a_cache_that_cannot_be_written_holds_for_this_process(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("a regular file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "below"))
    assert rates() == Rates()
    monkeypatch.setattr(calibration, "_measured", lambda: Rates(thin=1e8))
    assert calibrate() == rates() == Rates(thin=1e8)
    assert calibrate(reset=True) == rates() == Rates()
    assert (tmp_path / "file").read_text() == "a regular file"


@LINUX
@pytest.mark.parametrize("home", ["", None])
def test_without_a_cache_folder_of_their_own_rates_live_in_the_home(home, tmp_path, monkeypatch):
    if home is None:
        monkeypatch.delenv("XDG_CACHE_HOME")
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", home)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_file() == tmp_path / ".cache" / "ritz" / "rates.json"


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_sparse_rows_are_not_multiplied_in_float32(threads):
    """Their products gather; a dense float32 covariance of 20,000 columns would take gigabytes and minutes."""
    X = scipy.sparse.random(3000, 2500, 0.01, random_state=0, format="csr")
    with threadpool_limits(threads):
        for k in (5, 50, 500):
            for limit in ("1GB", "64GB"):
                plan = ritz.plan(X, k, memory_limit=limit)
                assert not plan.refined
                assert plan.precision == "float64"
                assert plan.seconds > 0


@pytest.mark.parametrize("shape", [(150, 4), (400, 300), (3000, 20), (20_000, 2000), (100, 20_000)])
def test_a_plan_that_is_kept_for_a_shape_is_the_one_that_would_be_made(shape, monkeypatch):
    """Plans of a fit are kept by all that they depend on: shape, type, request, memory, threads and rates."""
    for asked in (1, 3, 0.9, None):
        for dtype in (np.float64, np.float32):
            X = rows(*shape, dtype=dtype)
            for limit in ("40MB", "4GB"):
                for _ in range(2):  # the second one is kept
                    request = Request(n_components=asked, limit=ritz.runtime.rules.parse_bytes(limit))
                    try:
                        first = Attempts.of(as_rows(X), request).first
                    except ValueError:  # too little memory, each time
                        continue
                    made = planning.choose(as_rows(X), asked, request.limit)
                    assert first == made
    before = Attempts.of(as_rows(X), Request(n_components=3)).first
    with threadpool_limits(1, user_api="blas"):
        assert Attempts.of(as_rows(X), Request(n_components=3)).first.threads == 1 != before.threads
    monkeypatch.setattr(costs, "known_rates", {costs.HERE: Rates(1e9, 1e9, 1e9, 1e9, 1e9, 1e-2)})
    assert Attempts.of(as_rows(X), Request(n_components=3)).first.seconds > before.seconds

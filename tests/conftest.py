"""What every test needs: BLAS threads that give up early, and numbers that are the same in every run."""

import ast
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from helpers.counts import SAID

# BLAS threads wait for work by spinning; several test processes share few cores. Read when NumPy is first imported.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

# The same code gives the same result; `pytest --hypothesis-profile=search` looks for new examples.
settings.register_profile("search", deadline=None, print_blob=True)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


# What must hold on every Python and with every version that is promised: models, command line, files, PCA, kernels.
CORE = {
    "contracts/test_agreement.py",
    "estimators/test_lazy.py",
    "rows/dask/test_source.py",
    "rows/dask/test_source_inputs.py",
    "estimators/test_partial_fit.py",
    "cli/test_commands.py",
    "rows/formats/test_read.py",
    "system/test_forks.py",
    "estimators/test_loading_hostile.py",
    "estimators/test_kernel_pca.py",
    "contracts/test_kernels.py",
    "estimators/test_saving.py",
    "estimators/test_pca.py",
    "contracts/test_published.py",
    "views/test_format.py",
    "sensing/test_state.py",
    "runtime/test_threads.py",
}


def pytest_addoption(parser):
    said = "leave out the files that import a package which is not installed"
    parser.addoption("--without-missing", action="store_true", help=said)
    parser.addoption("--thorough", action="store_true", help="more examples, repetitions and cases of the same tests")


def pytest_configure(config):
    """Before any test is imported, in this process and in the workers, which inherit it."""
    if config.getoption("--thorough"):
        os.environ[SAID] = "1"


def pytest_ignore_collect(collection_path, config):
    """With `-m core`, whatever else there is; a package that is missing is an error where the whole suite runs."""
    if not collection_path.name.startswith("test_"):
        return None
    other = config.getoption("-m") == "core" and within_tests(collection_path) not in CORE
    return True if other or (config.getoption("--without-missing") and missing(collection_path)) else None


def pytest_report_header(config):
    """What is left out."""
    if not config.getoption("--without-missing"):
        return []
    found = {within_tests(path): missing(path) for path in sorted(Path(__file__).parent.rglob("test_*.py"))}
    return [f"left out: {name}, for want of {', '.join(lacks)}" for name, lacks in found.items() if lacks]


def within_tests(path):
    """The path of a test file, as in CORE."""
    return Path(os.path.relpath(path, Path(__file__).parent)).as_posix()


def missing(path):
    """The packages that a file imports at its top and that are not installed."""
    tree = ast.parse(path.read_text("utf-8"))
    names = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.module}
    packages = {name.partition(".")[0] for name in names}
    return sorted(name for name in packages if find_spec(name) is None)


def pytest_collection_modifyitems(items):
    """Tests of the program as a whole come first: they are the long ones, and no worker should wait for another's."""
    items.sort(key=lambda item: item.path.parent.name != "system")
    core = {path for path in {item.path for item in items} if within_tests(path) in CORE}
    for item in items:
        if item.path in core:
            item.add_marker("core")


@pytest.fixture(autouse=True)
def own_numbers(request):
    """A test that draws from its module's RNG draws the same numbers, whatever ran before it in its process."""
    if hasattr(request.module, "RNG"):
        import numpy as np

        request.module.RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def one_thread():
    """One thread for a fit too, for many small problems: threads would cost more than they bring."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture(autouse=True)
def blas_that_waits_for_nobody(request):
    """BLAS in one thread for whatever a test computes itself; a fit has as many threads as ever, which pin it too.

    Where processes share few cores, threads of BLAS spin while they wait for each other: the same test then takes ten
    times as long, now and then.
    """
    if "blas_as_it_is" in request.fixturenames:
        yield
        return
    from ritz.runtime.threads import pinned

    with pinned():
        yield


@pytest.fixture
def blas_as_it_is():
    """For tests that are about threads: BLAS has those that it has outside of tests."""


@pytest.fixture(scope="session")
def dask_client():
    """A client of two Dask workers of one thread each, which are threads of this process: they start at once."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as workers,
        Client(workers, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def by_threads():
    """Dask without a cluster, whatever clients there are: workers in this process leave theirs behind."""
    import dask

    with dask.config.set(scheduler="threads"):
        yield


@pytest.fixture(autouse=True)
def _plans_anew():
    """A plan for the shape of an array is kept, but tests change what it depends on."""
    if (module := sys.modules.get("ritz.fitting.planning")) is not None:
        module.plan_of_array.cache_clear()

"""Awkward Dask inputs: a fit to them is the fit to the same rows in NumPy, by threads and on a cluster."""

import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from helpers.matrices import with_spectrum
from ritz import PCA, KernelPCA, merge
from ritz.errors import ChunkError
from ritz.fitting import signflip_plans
from ritz.fitting.solve import Scaled
from ritz.rows import as_rows
from ritz.rows.dask import groups
from ritz.rows.dask.source import DaskRows

RNG = np.random.default_rng(0)
TALL = with_spectrum(240, 6, [400.0, 90.0, 25.0, 9.0, 1.0, 0.3], RNG, offset=3.0)
WIDE = with_spectrum(30, 90, 500 * 0.7 ** np.arange(29), RNG, offset=2.0)
FEW = TALL * (RNG.random(TALL.shape) < 0.3)
COUNTS = RNG.integers(0, 9, (240, 5)) * [50, 20, 9, 3, 1]


@pytest.fixture(autouse=True)
def a_group_per_chunk(monkeypatch):
    """So that there is something to merge."""
    monkeypatch.setattr(groups, "GROUP_BYTES", 1)


@pytest.fixture
def on_cluster(dask_client):
    """A cluster of two workers in this process."""
    with dask_client.as_current(), dask.config.set(scheduler=None):
        yield


@pytest.fixture(params=["threads", "cluster"])
def engine(request):
    """Dask without a cluster, and with one."""
    request.getfixturevalue("on_cluster" if request.param == "cluster" else "by_threads")
    return request.param


def chunked(X, *sizes):
    sizes = sizes or (len(X) - 2 * (len(X) // 3), len(X) // 3, len(X) // 3)
    return da.from_array(X, chunks=(sizes, X.shape[1]), name=False)


def unknown(X):
    x = chunked(X)
    return x[da.from_array(np.ones(len(X), bool), chunks=x.chunks[0])]


def with_empty_chunks(X):
    parts = [X[:0], X[:100], X[100:100], X[100:]]
    return da.concatenate(
        [da.from_delayed(dask.delayed(part), (np.nan, X.shape[1]), X.dtype) for part in parts],
        allow_unknown_chunksizes=True,
    )


def sparse(X):
    return chunked(X).map_blocks(sp.csr_array)


def frame(X):
    return dd.from_pandas(pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]), npartitions=3)


# What is given, how, and the parameters of the fit.
INPUTS = {
    "uneven chunks": (TALL, lambda X: chunked(X, 1, 7, 200, 32), {}),
    "one chunk": (TALL, lambda X: chunked(X, 240), {}),
    "chunks of unknown sizes": (TALL, unknown, {}),
    "empty chunks": (TALL, with_empty_chunks, {}),
    "masked array without a mask": (TALL, lambda X: chunked(X).map_blocks(np.ma.masked_invalid), {}),
    "dataframe": (TALL, frame, {}),
    "sparse": (FEW, sparse, {}),
    "sparse, krylov": (FEW, sparse, {"svd_solver": "krylov", "tol": 1e-10}),
    "integers": (COUNTS, chunked, {}),
    "booleans": (TALL > 3, chunked, {}),
    "float16": (TALL.astype(np.float16), chunked, {}),
    "float32": (TALL.astype(np.float32), chunked, {}),
    "a constant column": (np.column_stack([TALL, np.full(240, 4.0)]), chunked, {}),
    "auto": (TALL, chunked, {"n_components": "auto"}),
    "a share": (TALL, chunked, {"n_components": 0.9}),
    "mle": (TALL, chunked, {"n_components": "mle"}),
    "scale": (TALL, chunked, {"scale": True}),
    "not centred": (TALL, chunked, {"center": False}),
    "whiten, ddof": (TALL, chunked, {"whiten": True, "ddof": 0}),
    "covariance": (TALL, chunked, {"svd_solver": "covariance"}),
    "gram": (TALL, chunked, {"svd_solver": "gram"}),
    "faint": (TALL * 1e-300, chunked, {}),
    "faint, krylov": (TALL * 1e-300, chunked, {"svd_solver": "krylov", "tol": 1e-10}),
    "faint, gram": (TALL * 1e-300, chunked, {"svd_solver": "gram"}),
    "huge": (TALL * 1e300, chunked, {}),
    "wide": (WIDE, chunked, {}),
    "wide, krylov": (WIDE, chunked, {"svd_solver": "krylov", "tol": 1e-10}),
}


# What a cluster treats in another way than threads: chunks of all kinds, passes that follow each other, n×n matrices.
ON_A_CLUSTER = (
    "uneven chunks", "chunks of unknown sizes", "empty chunks", "dataframe", "sparse, krylov", "float32", "auto",
    "scale", "gram", "faint, krylov", "faint, gram", "wide",
)  # fmt: skip


@pytest.mark.parametrize("which", INPUTS)
def test_a_fit_is_that_of_numpy(which, by_threads):
    check_fit(which)


@pytest.mark.parametrize("which", ON_A_CLUSTER)
def test_a_fit_on_a_cluster_is_that_of_numpy(which, on_cluster):
    check_fit(which)


def check_fit(which):
    X, given, parameters = INPUTS[which]
    parameters = {"n_components": 2} | parameters
    with warnings.catch_warnings(action="ignore"):  # of variances that are infinite
        found, truth = PCA(**parameters).fit(given(X)), PCA(**parameters).fit(X)
    narrow = X.dtype.kind == "f" and X.dtype.itemsize < 8
    rtol, atol = (1e-5, 1e-6) if narrow else (1e-12, 1e-10)
    assert found.components_.dtype == truth.components_.dtype
    assert found.certificate_.satisfied
    np.testing.assert_allclose(found.singular_values_, truth.singular_values_, rtol=rtol)
    np.testing.assert_allclose(found.components_, truth.components_, atol=atol)  # with the same signs


# What Dask makes of these expressions has other keys, or fewer partitions, than they have themselves.
TABLES = {
    "some rows": lambda table: table[table.c0 > 3],
    "some columns": lambda table: table[["c3", "c1"]],
    "both, and one more": lambda table: table[table.c1 > 3][["c2", "c0"]].assign(twice=lambda rows: 2 * rows.c0),
    "two, one below the other": lambda table: dd.concat([table, table + 1]),
    "repartitioned": lambda table: table.repartition(npartitions=2),
    "persisted": lambda table: table[table.c0 > 3].persist() + 1,
}


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parquet")
    with dask.config.set(scheduler="sync"):
        frame(TALL).to_parquet(folder)
    return folder


@pytest.mark.parametrize("expression", TABLES)
@pytest.mark.parametrize("stored", [False, True], ids=["in memory", "in files"])
def test_rows_of_a_table_are_those_that_dask_computes(expression, stored, by_threads, parquet):
    check_table(expression, stored, parquet)


@pytest.mark.parametrize(("expression", "stored"), [("some rows", True), ("persisted", False)])
def test_rows_of_a_table_on_a_cluster(expression, stored, on_cluster, parquet):
    check_table(expression, stored, parquet)


def check_table(expression, stored, parquet):
    table = TABLES[expression](dd.read_parquet(parquet) if stored else frame(TALL))
    truth = table.compute()
    assert as_rows(table).names == tuple(truth.columns)
    np.testing.assert_array_equal(as_rows(table).map(np.array), truth.to_numpy())
    model = PCA(2).fit(truth)
    np.testing.assert_allclose(model.transform(table).compute(), model.transform(truth), rtol=1e-10, atol=1e-10)
    named = model.set_output(transform="pandas").transform(table).compute()
    pd.testing.assert_index_equal(named.index, truth.index)


def no_reading(self, start, stop):
    raise AssertionError("rows must not come to whoever leads the fit")


@pytest.mark.parametrize("which", ["faint", "faint, krylov", "faint, gram"])
def test_rows_computed_from_scattered_ones_stay_where_they_are(which, engine, monkeypatch):
    monkeypatch.setattr(DaskRows, "read", no_reading)
    X, given, parameters = INPUTS[which]
    PCA(**{"n_components": 2} | parameters).fit(given(X))


@pytest.mark.parametrize("X", [TALL, WIDE[:6, :8]], ids=["tall", "wide"])
@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
def test_rows_with_flipped_signs_stay_where_they_are(X, on_cluster, monkeypatch):
    monkeypatch.setattr(DaskRows, "read", no_reading)
    assert PCA("auto").fit(chunked(X)).n_components_ == PCA("auto").fit(X).n_components_


def test_scaled_rows_pass_on_what_stands_beside_them(by_threads):
    rows = Scaled(as_rows(chunked(TALL)), None, 2.0)
    found = rows.reduce(lambda pairs: sum(block.T @ v for block, v in pairs), np.add, beside=TALL[:, :2])
    np.testing.assert_allclose(found, 2 * TALL.T @ TALL[:, :2])
    np.testing.assert_array_equal(rows.map(lambda block: block), 2 * TALL)
    np.testing.assert_allclose(rows.pairs(lambda A, B: A @ B.T), 4 * TALL @ TALL.T)


def test_flips_of_scattered_rows_go_by_no_matrix_of_all_rows(by_threads):
    assert signflip_plans.route(as_rows(chunked(WIDE)), 1 << 40).kind == "krylov"


def test_batches_and_models_of_parts_are_one_fit(engine):
    x, truth = chunked(TALL), PCA(2).fit(TALL)
    batches = PCA(2).partial_fit(x[:100]).partial_fit(x[100:101]).partial_fit(x[101:])
    merged = merge([PCA(2).fit(x[:120]), PCA(2).fit(TALL[120:])])
    for found in (batches, merged):
        np.testing.assert_allclose(found.explained_variance_, truth.explained_variance_, rtol=1e-12)
        np.testing.assert_allclose(found.components_, truth.components_, atol=1e-10)


def test_batches_may_be_tables_or_have_no_rows(by_threads):
    table = frame(TALL)
    none = table[table.c0 > np.inf]
    pca = PCA(2).partial_fit(none).partial_fit(table).partial_fit(none).partial_fit(chunked(TALL)[:0])
    assert list(pca.feature_names_in_) == [f"c{j}" for j in range(6)]
    assert pca.n_samples_seen_ == 240
    np.testing.assert_allclose(pca.components_, PCA(2).fit(TALL).components_, atol=1e-10)
    with pytest.raises(ValueError, match="feature names should match"):
        pca.partial_fit(none[["c1", "c0", "c2", "c3", "c4", "c5"]])


@pytest.mark.parametrize("center", [True, False])
def test_a_sketch_of_scattered_rows_keeps_its_bounds(engine, center):
    rng = np.random.default_rng(1)
    X = with_spectrum(150, 300, 400 * 0.8 ** np.arange(149), rng, offset=1.0)
    pca = PCA(2, center=center, memory_limit="500KB", tol=0.9)
    for part in (X[:40], X[40:140], X[140:]):
        pca.partial_fit(chunked(part))
    assert pca._moments.count == 150
    assert pca._moments.sketch is not None
    Z = X - X.mean(axis=0) if center else X
    truth, missing = np.linalg.svd(Z, compute_uv=False)[:2] ** 2 / 149, pca.certificate_.missing
    assert 0 < missing < 0.1 * truth[0]
    low, high = pca.certificate_.value_bounds.T
    assert (low <= truth).all()
    assert (truth <= high).all()
    np.testing.assert_allclose(pca.mean_, X.mean(axis=0) if center else 0.0, atol=1e-12)
    X[77, 5] = np.nan
    with pytest.raises(ValueError, match=r"1 NaN, first at row 37 \(row 3 of chunk 1\), column 5"):
        pca.partial_fit(chunked(X[40:140]))


@pytest.mark.parametrize("how", ["lazily", "persisted"])
def test_a_failing_chunk_of_a_cluster_is_named(how, on_cluster):
    def fails(chunk, block_id=None):
        return 1 / 0 if block_id[0] == 1 else chunk

    x = chunked(TALL).map_blocks(fails, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ChunkError, match="chunk 1 cannot be computed: ZeroDivisionError") as caught:
        PCA(1).fit(x.persist() if how == "persisted" else x)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_landmarks_on_a_cluster_are_those_of_threads(on_cluster):
    given = {"kernel": "rbf", "gamma": 0.001, "n_landmarks": 30, "tol": 0.1}
    here = KernelPCA(2, **given).fit(chunked(TALL))
    with dask.config.set(scheduler="threads"):
        there = KernelPCA(2, **given).fit(chunked(TALL))
    np.testing.assert_allclose(here.eigenvalues_, there.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(here.transform(chunked(TALL)).compute(), there.transform(TALL), atol=1e-8)

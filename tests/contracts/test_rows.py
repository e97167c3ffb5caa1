"""Every source: its blocks stack to the dense matrix, and the four verbs agree with NumPy."""

import warnings

import anndata as ad
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ritz import PCA, CompressedSensing, KernelPCA, read
from ritz.errors import ColumnWarning, DataError
from ritz.rows import as_rows, passes

RNG = np.random.default_rng(0)
X = RNG.standard_normal((5000, 6))
NAMES = ("height", "weight", "größe", "a b", "<i>x</i>", "6")


class Wrapped:
    def __array__(self, dtype=None, copy=None):
        return X


SOURCES = {
    "C order": X,
    "Fortran order": np.asfortranarray(X),
    "strided": np.repeat(X, 2, axis=1)[:, ::2],
    "reversed": X[::-1].copy()[::-1],
    "big-endian": X.astype(">f8"),
    "list": X.tolist(),
    "__array__": Wrapped(),
    "object": X.astype(object),
    "AnnData": ad.AnnData(X, var=pd.DataFrame(index=NAMES)),
    "pandas": pd.DataFrame(X, columns=NAMES),
    "pandas, mixed": pd.DataFrame(X, columns=NAMES).astype({"height": "float64", "weight": "Float64"}),
    "polars": pl.DataFrame(dict(zip(NAMES, X.T, strict=True))),
    "pyarrow": pa.table(dict(zip(NAMES, X.T, strict=True))),
    "stack": read(X.reshape(5000, 3, 2)),
    "points in columns": read(np.ascontiguousarray(X.T), transpose=True),
    "pyarrow, chunked": pa.concat_tables(
        [pa.table(dict(zip(NAMES, part.T, strict=True))) for part in (X[:99], X[99:])]
    ),
}


@pytest.fixture(params=SOURCES)
def rows(request, monkeypatch):
    monkeypatch.setattr(passes, "BLOCK_BYTES", 3 * 8 * 100)  # rows this short get twice as many
    monkeypatch.setattr(passes, "BLOCK_ROWS", 1)
    monkeypatch.setattr(passes, "RUN_ROWS", 700)
    monkeypatch.setattr(passes, "SERIAL", 0)
    return as_rows(SOURCES[request.param])


def test_blocks_stack_to_the_dense_matrix(rows):
    assert rows.shape == X.shape
    assert rows.block_rows == 100
    stacked = np.concatenate([rows.block(i, min(i + 777, 5000)) for i in range(0, 5000, 777)])
    np.testing.assert_array_equal(stacked, X)


def test_map_stacks_in_order(rows):
    np.testing.assert_array_equal(rows.map(lambda block: block[:, :2] * 2), X[:, :2] * 2)
    np.testing.assert_array_equal(rows.map(lambda block: block.sum(axis=1)), X.sum(axis=1))


def test_reduce_sees_every_row_once_in_a_fixed_order(rows):
    blocks = rows.reduce(lambda run: [block.copy() for block in run], lambda a, b: a + b)
    np.testing.assert_array_equal(np.concatenate(blocks), X)
    assert 80 <= min(map(len, blocks)) <= max(map(len, blocks)) <= 100  # about equal, and none too large
    total = rows.reduce(lambda run: sum(block.sum(axis=0) for block in run), np.add)
    np.testing.assert_allclose(total, X.sum(axis=0), rtol=1e-12)


def test_reduce_with_rows_beside(rows):
    V = RNG.standard_normal((5000, 2))
    product = rows.reduce(lambda run: sum(block.T @ part for block, part in run), np.add, beside=V)
    np.testing.assert_allclose(product, X.T @ V, atol=1e-10)


def test_pairs_make_the_symmetric_matrix(rows):
    few = as_rows(rows.block(0, 600))
    K = few.pairs(lambda a, b: a @ b.T)
    np.testing.assert_allclose(K, X[:600] @ X[:600].T, atol=1e-12)
    np.testing.assert_array_equal(K, K.T)


@pytest.mark.parametrize("n", [2, 3, 6, 7, 12, 13])
def test_rows_so_long_that_each_is_a_block(n):
    rows = as_rows(np.ones((n, 1_100_000), np.float32))
    for cut in passes.Cut:
        assert rows.reduce(lambda run: sum(map(len, run)), int.__add__, cut=cut) == n


def test_take(rows):
    np.testing.assert_array_equal(rows.take(np.array([4999, 0, 17])), X[[4999, 0, 17]])


def test_blocks_of_arrays_are_views():
    for name in ("C order", "Fortran order", "strided", "big-endian"):
        assert np.shares_memory(as_rows(SOURCES[name]).block(10, 20), SOURCES[name])


def test_a_memory_map_is_read_from_its_file(tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    block = as_rows(mapped).block(0, 10)
    np.testing.assert_array_equal(block, mapped[:10])
    assert not np.shares_memory(block, mapped)  # which would end the process if the file became shorter


def test_walking_in_a_fixed_order_gives_identical_bits_for_any_number_of_threads(monkeypatch, blas_as_it_is):
    data = RNG.standard_normal((30_000, 40))
    results = []
    for workers in (1, 2, 3, 7):
        monkeypatch.setattr("ritz.runtime.threads.Pin._allowed", lambda pin, workers=workers: workers)
        results.append(as_rows(data).reduce(lambda run: sum(b.sum(axis=0) for b in run), np.add))
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


@pytest.mark.parametrize("workers", [2, 8])
def test_an_error_in_a_worker_reaches_the_caller_and_stops_the_walk(workers, monkeypatch):
    monkeypatch.setattr("ritz.runtime.threads.Pin._allowed", lambda pin: workers)
    seen = []

    def fail(block):
        seen.append(len(block))
        raise RuntimeError("boom")

    data = as_rows(RNG.standard_normal((200_000, 50)))
    with pytest.raises(RuntimeError, match="boom"):
        data.map(fail)
    assert len(seen) <= 2 * workers + 1


def test_an_error_while_results_are_combined_releases_blas(blas_as_it_is):
    from threadpoolctl import threadpool_info

    before = [library["num_threads"] for library in threadpool_info()]

    def broken(a, b):
        raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom") as caught:
        as_rows(RNG.standard_normal((100_000, 20))).reduce(lambda run: sum(1 for _ in run), broken)
    assert caught.value is not None
    assert [library["num_threads"] for library in threadpool_info()] == before


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_tables_keep_their_names_and_scores_keep_the_table_type(kind):
    table = SOURCES[kind]
    pca = PCA(2).fit(table)
    assert list(pca.feature_names_in_) == list(NAMES)
    np.testing.assert_allclose(pca.components_, PCA(2).fit(X).components_, atol=1e-12)
    if kind != "pyarrow":
        assert type(PCA(2).set_output(transform=kind).fit_transform(table)) is type(table)


def test_columns_in_another_order_are_an_error():
    pca = PCA(2).fit(SOURCES["pandas"])
    with pytest.raises(ValueError, match="order"):
        pca.transform(SOURCES["pandas"][list(NAMES[::-1])])
    with pytest.raises(ValueError, match="features"):
        pca.transform(X[:, :3])


@pytest.mark.parametrize(
    ("table", "match"),
    [
        (pd.DataFrame({"a": [1.0, 2, 3], "name": ["x", "y", "z"]}), "column 'name' holds String"),
        (
            pd.DataFrame({"a": [1.0, 2, 3], "day": pd.to_datetime(["2020", "2021", "2022"])}),
            "column 'day' holds Datetime",
        ),
        (pl.DataFrame({"a": [1.0, 2, 3], "day": ["x", "y", "z"]}), "column 'day' holds String"),
        (pa.table({"a": [1.0, 2, 3], "day": ["x", "y", "z"]}), "column 'day' holds String"),
        (pd.DataFrame({"a": [1.0, 2, 3], "o": [1, "two", 3]}, dtype=object), "column 'o'"),
        (
            pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [1.0, 2, 3]}),
            "1 NaN, first at row 1, column 'a'",
        ),
        (pd.DataFrame({"a": pd.array([True, None, False]), "b": [1.0, 2, 3]}), "1 NaN, first at row 1, column 'a'"),
        (pl.DataFrame({"a": [1, None, 3], "b": [1.0, 2, 3]}), "1 NaN, first at row 1, column 'a'"),
        (pa.table({"a": [1, None, 3], "b": [1.0, 2, 3]}), "1 NaN, first at row 1, column 'a'"),
        (pl.LazyFrame({"a": [1.0, 2, 3]}), "collect"),
    ],
)
def test_tables_that_are_errors_name_the_column(table, match):
    with pytest.raises(DataError, match=match):
        PCA(1).fit(table)


def test_repeated_and_empty_names_are_told_apart_with_a_warning():
    table = pd.DataFrame(X, columns=["a", "a", "", "b", "c", "d"])
    with pytest.warns(ColumnWarning, match="'a'"):
        pca = PCA(2).fit(table)
    np.testing.assert_allclose(pca.components_, PCA(2).fit(X).components_, atol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        np.testing.assert_allclose(pca.transform(table), PCA(2).fit(X).transform(X), atol=1e-12)


@pytest.mark.parametrize("name", ["collect", "column_names", "columns", "shape", "iloc"])
def test_column_names_that_are_also_methods(name):
    table = pd.DataFrame(X, columns=[name, *"bcdef"])
    np.testing.assert_allclose(PCA(2).fit(table).components_, PCA(2).fit(X).components_, atol=1e-12)


def test_a_table_of_one_dtype_is_walked_in_place():
    table = pd.DataFrame(X)
    assert np.shares_memory(as_rows(table).block(0, 10), table.to_numpy())


@pytest.mark.parametrize(
    "bad",
    [
        np.array([["1", "2"], ["3", "5"], ["7", "1"]], dtype=object),
        np.array([[1, np.datetime64("2020")], [2, np.datetime64("2021")]], dtype=object),
        [[1.0, "a"], [2.0, "b"]],
        pd.DataFrame({"a": [1.0, 2, 3], "b": [1, "2", 3]}),
        pd.DataFrame({"a": [1.0, 2], "b": [1 + 2j, 3]}),
        np.array([[1, 10**400], [2, 3]], dtype=object),
    ],
)
def test_text_dates_and_the_like_are_never_read_as_numbers(bad):
    with pytest.raises(DataError, match=r"column (0|1|'b')"):
        PCA(1).fit(bad)


@pytest.mark.parametrize("source", [(i for i in range(3)), {"a": 1}, None, object()])
def test_objects_without_rows_are_type_errors(source):
    with pytest.raises(TypeError, match="cannot read rows"):
        PCA(1).fit(source)


@pytest.mark.parametrize("source", [b"data", 3])
def test_things_without_rows(source):
    with pytest.raises((TypeError, ValueError)):
        PCA().fit(source)


class Tensor:
    """What knows how to become an array, as tensors do."""

    def __init__(self, array):
        self.array, self.shape, self.ndim = array, array.shape, array.ndim

    def __array__(self, dtype=None, copy=None):
        return self.array


def test_pictures_are_told_how_to_become_rows():
    pictures = np.random.default_rng(0).standard_normal((6, 4, 4))
    advice = r"X\.reshape\(len\(X\), -1\)"
    given = [pictures, list(pictures), pictures.tolist(), Tensor(pictures), pictures[:, None]]
    models = [PCA(2), KernelPCA(2, fit_inverse_transform=True), CompressedSensing(4, sparsity=1)]
    for model in models:
        model.fit(pictures.reshape(len(pictures), -1))
        for X in given:
            for way in ("fit", "transform", "fit_transform", "partial_fit", "inverse_transform", "score_samples"):
                if hasattr(model, way):
                    with pytest.raises(DataError, match=advice) as caught:
                        getattr(model, way)(X)
                    assert "ritz.read(X)" in str(caught.value) or isinstance(model, CompressedSensing)
    loose = np.empty(2, object)
    loose[:] = [pictures[0], pictures[1]]
    with pytest.raises(DataError, match=r"X holds 2 arrays or lists; make one of them: np\.stack\(X\)\.reshape\(len"):
        PCA().fit(loose)
    with pytest.raises(DataError, match="rows must have equal lengths, and pictures equal sizes"):
        PCA().fit([pictures[0], pictures[1, :3]])
    with pytest.raises(DataError, match=r"1D array of shape \(4,\)\. .*X\.reshape\(-1, 1\) for one column"):
        PCA().fit(pictures[0, 0])
    for C in (pictures, pictures.tolist()):
        with pytest.raises(DataError, match=r"a covariance matrix is square.*\(6, 4, 4\)"):
            PCA.from_covariance(C)


def test_stored_pictures_are_rows(tmp_path):
    """A file is read as `ritz.read` reads it: a stack in it needs no reshape."""
    pictures = np.random.default_rng(0).standard_normal((6, 4, 4))
    np.save(tmp_path / "x.npy", pictures)
    found = PCA(2).fit(tmp_path / "x.npy")
    np.testing.assert_array_equal(found.components_, PCA(2).fit(pictures.reshape(6, 16)).components_)
    assert found.image_shape_ == (4, 4)

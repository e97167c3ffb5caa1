"""Results of Dask collections: lazy, chunk by chunk what NumPy gives, with the model in one place of the graph."""

import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from ritz import PCA, CompressedSensing, DataError, KernelPCA

pytestmark = pytest.mark.usefixtures("by_threads")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5)) * [5, 4, 3, 2, 1] + 7
NAMES = list("abcde")
CHUNKS = ((10, 30, 20), 5)


def refuse(*args, **kwargs):
    raise AssertionError("nothing may be computed yet")


@pytest.fixture
def lazily():
    """A scheduler for whoever must not compute anything."""
    return dask.config.set(scheduler=refuse)


def chunked(X=X):
    return da.from_array(X, chunks=(CHUNKS[0], X.shape[1]))


def unknown(X=X):
    x = chunked(X)
    return x[da.from_array(np.ones(len(X), bool), chunks=(CHUNKS[0],))]


def frame(X=X):
    return dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=3)


MODELS = {
    "PCA": PCA(2).fit(X),
    "whitened PCA": PCA(2, whiten=True, scale=True).fit(X),
    "batches": PCA(2).partial_fit(X[:20]).partial_fit(X[20:]),
    "KernelPCA": KernelPCA(2, kernel="rbf", gamma=0.01, fit_inverse_transform=True).fit(X),
    "CompressedSensing": CompressedSensing(5).fit(X),
}
VERBS = ("transform", "reconstruction_error", "inverse_transform", "score_samples", "feature_error")
CASES = [(name, verb) for name, model in MODELS.items() for verb in VERBS if hasattr(model, verb)]
CASES.remove(("CompressedSensing", "inverse_transform"))


@pytest.mark.parametrize(("name", "verb"), CASES)
def test_results_are_lazy_and_those_of_numpy(name, verb, lazily):
    model = MODELS[name]
    given = model.transform(X) if verb == "inverse_transform" else X
    with lazily:
        found = getattr(model, verb)(chunked(given))
    expected = [getattr(model, verb)(part) for part in np.split(given, [10, 40])]
    whole = np.concatenate(expected)
    assert found.chunks == (CHUNKS[0], *((size,) for size in whole.shape[1:]))
    assert found.dtype == found._meta.dtype == whole.dtype
    np.testing.assert_array_equal(found.compute(scheduler="sync"), whole)
    assert found.name.startswith(f"ritz-{verb.replace('_', '-')}-")


@pytest.mark.parametrize("given", [chunked, unknown, frame, lambda: chunked().map_blocks(sp.csr_array)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_any_collection(given, dtype, lazily):
    model, x = MODELS["PCA"], given().astype(dtype)
    with lazily, warnings.catch_warnings(action="ignore"):
        found = model.transform(x)
    assert (found.dtype, found.shape[1]) == (dtype, 2)
    np.testing.assert_allclose(found.compute(), model.transform(X.astype(dtype)), rtol=1e-4)


def test_chunks_without_rows_and_of_another_type():
    parts = [X[:0], X[:5], X[5:5], X[5:].astype(np.float32)]
    x = da.concatenate(
        [da.from_delayed(dask.delayed(part), (np.nan, 5), float) for part in parts], allow_unknown_chunksizes=True
    )
    found = MODELS["PCA"].transform(x)
    assert [block.dtype for block in dask.compute(*found.to_delayed().ravel())] == [np.float64] * 4
    np.testing.assert_allclose(found.compute(), MODELS["PCA"].transform(X), rtol=1e-4)
    assert MODELS["PCA"].score(x) == pytest.approx(MODELS["PCA"].score(X), rel=1e-5)


def test_the_model_is_one_key_of_the_graph_and_carries_no_moments():
    model = PCA(2, svd_solver="gram").fit(X)
    graph = dict(dask.optimize(model.transform(chunked()))[0].__dask_graph__())
    keys = [key for key in graph if str(key).startswith("ritz-model-")]
    assert len(keys) == 1
    lean = model._lean()
    assert lean._moments is None
    assert not hasattr(lean, "dual_components_")
    assert KernelPCA(2).fit(X)._lean()._state.rows.shape == (0, 5)


def test_score_is_one_number():
    assert isinstance(MODELS["PCA"].score(chunked()), float)
    assert MODELS["PCA"].score(unknown()) == pytest.approx(MODELS["PCA"].score(X), rel=1e-14)


def test_left_singular_vectors():
    found = MODELS["PCA"].left_singular_vectors(chunked())
    assert found.chunks == (CHUNKS[0], (2,))
    np.testing.assert_allclose(found.compute(), MODELS["PCA"].left_singular_vectors(X), rtol=1e-12)


def test_set_output_is_a_dask_dataframe(lazily):
    model = PCA(2).set_output(transform="pandas").fit(frame())
    table = dd.from_pandas(pd.DataFrame(X, columns=NAMES, index=range(100, 160)), npartitions=3)
    with lazily:
        found = model.transform(table), model.transform(frame()), PCA(2).fit(X).transform(frame())
    assert list(found[0].columns) == ["pca0", "pca1"]
    pd.testing.assert_index_equal(found[0].compute().index, table.compute().index)
    np.testing.assert_allclose(found[1].compute().to_numpy(), model.transform(frame().compute()))
    assert isinstance(model.fit_transform(frame()), dd.DataFrame)
    assert isinstance(PCA(2).fit_transform(chunked()), da.Array)
    with pytest.raises(ValueError, match="'pandas' gives a dask dataframe"):
        PCA(2).set_output(transform="polars").fit_transform(chunked())


def test_columns_are_known_and_compared_without_computing(lazily):
    model = PCA(2).fit(frame())
    assert list(model.feature_names_in_) == NAMES
    wrong = {
        "feature names should match": frame()[["b", "a", "c", "d", "e"]],
        "Feature names seen at fit time, yet now missing": frame()[["a", "b", "c", "d"]],
        "X has 4 features, but PCA is expecting 5": chunked(X[:, :4]),
        "number of columns of the dask array is not known": da.from_delayed(dask.delayed(X), (60, np.nan), float),
        "of dimension 1; reshape": da.from_array(X[0], chunks=5),
    }
    with lazily, warnings.catch_warnings(action="ignore"):
        for words, x in wrong.items():
            with pytest.raises(ValueError, match=f"(?s){words}"):
                model.transform(x)
        with pytest.raises(DataError, match="scores have 5 columns, the model has 2"):
            model.inverse_transform(chunked())
        with pytest.raises(NotFittedError):
            PCA(2).transform(chunked())
        with pytest.raises(NotFittedError, match="fit_inverse_transform=True"):
            KernelPCA(2).fit(X).reconstruction_error(chunked())
        with pytest.raises(DataError, match=r"does not recover signals lazily.*pass X\.compute"):
            MODELS["CompressedSensing"].inverse_transform(chunked())


def test_scores_in_any_order_of_named_columns():
    model = MODELS["PCA"]
    Y = pd.DataFrame(model.transform(X), columns=["pca0", "pca1"])
    found = model.inverse_transform(dd.from_pandas(Y[["pca1", "pca0"]], npartitions=2))
    np.testing.assert_allclose(found.compute(), model.inverse_transform(Y.to_numpy()))


@pytest.mark.parametrize(
    ("given", "place"),
    [(chunked, r"chunk 1, from row 10 on: .*first at row 3"), (unknown, "chunk 1: .*first at row 3")],
)
@pytest.mark.parametrize("name", ["PCA", "KernelPCA", "CompressedSensing"])
def test_errors_of_a_chunk_name_it(name, given, place):
    bad = X.copy()
    bad[13, 2] = np.nan
    with pytest.raises(DataError, match=f"{place}, column 2; drop or impute") as caught:
        MODELS[name].transform(given(bad)).compute()
    assert caught.value.code == "missing"


def test_out_streams_in_order(tmp_path):
    blocks = []
    assert MODELS["PCA"].transform(unknown(), out=blocks.append) is None
    np.testing.assert_array_equal(np.concatenate(blocks), MODELS["PCA"].transform(X))
    MODELS["PCA"].reconstruction_error(chunked(), out=tmp_path / "errors.npy")
    expected = MODELS["PCA"].reconstruction_error(X)
    np.testing.assert_array_equal(np.load(tmp_path / "errors.npy").ravel(), expected)


def test_sensing_needs_only_passes():
    assert CompressedSensing(3).fit(frame()).transform(frame()).compute().shape == (60, 3)

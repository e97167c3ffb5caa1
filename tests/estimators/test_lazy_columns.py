"""Results of dask arrays whose columns are cut: lazy, and those of NumPy."""

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

from ritz import PCA, DataError, KernelPCA, read

pytestmark = pytest.mark.usefixtures("by_threads")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3)) @ RNG.standard_normal((3, 60)) + 0.1 * RNG.standard_normal((40, 60)) + 7
VERBS = ("transform", "reconstruction_error", "score_samples")
MODELS = {
    "plain": PCA(2).fit(X),
    "whitened": PCA(2, whiten=True, scale=True).fit(X),
    "not centred": PCA(2, center=False).fit(X),
    "batches": PCA(2).partial_fit(X[:20]).partial_fit(X[20:]),
}


def refuse(*args, **kwargs):
    raise AssertionError("nothing may be computed yet")


def chunked(X=X, chunks=((15, 25), (1, 0, 20, 30, 9))):
    return da.from_array(X, chunks=chunks)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", MODELS)
def test_results_are_lazy_and_those_of_numpy(name, verb):
    model = MODELS[name]
    with dask.config.set(scheduler=refuse):
        found = getattr(model, verb)(chunked())
    expected = getattr(model, verb)(X)
    assert found.chunks == ((15, 25), *((size,) for size in expected.shape[1:]))
    assert found.dtype == found._meta.dtype == expected.dtype
    np.testing.assert_allclose(found.compute(scheduler="sync"), expected, rtol=1e-11, atol=1e-11)
    assert found.name.startswith(f"ritz-{verb.replace('_', '-')}-")


def test_many_chunks_are_added_up_by_a_tree():
    model = MODELS["plain"]
    found = model.transform(chunked(chunks=(40, 1)))
    np.testing.assert_allclose(found.compute(), model.transform(X), rtol=1e-12, atol=1e-12)
    widest = max(len(graph_inputs) for graph_inputs in dict(found.dask.get_all_dependencies()).values())
    assert widest <= 8


@pytest.mark.parametrize("size", [1e-320, 1e-310, 1e200])
def test_data_at_the_ends_of_the_range(size):
    """With all digits: sums in the unit of subnormal data would lose some."""
    model = PCA(2, whiten=True).fit(X * size)
    for verb in VERBS:
        found, expected = getattr(model, verb)(chunked(X * size)).compute(), getattr(model, verb)(X * size)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12 if verb == "transform" else 0)


def test_an_error_far_below_the_row_keeps_its_digits():
    flat = X - X.mean(axis=0)
    flat = flat @ np.linalg.svd(flat)[2][:2].T @ np.linalg.svd(flat)[2][:2]  # on a plane
    model = PCA(2).fit(flat)
    assert model.reconstruction_error(chunked(flat)).compute().max() < 1e-24 * np.square(flat).sum(axis=1).max()


def test_sparse_and_narrow_chunks():
    some = np.where(RNG.random(X.shape) < 0.2, X, 0.0)
    model = PCA(2).fit(some)
    for kind, dtype in ((sp.csr_array, "f8"), (sp.csc_array, "f4"), (np.asarray, "f4")):
        found = model.transform(chunked(some.astype(dtype)).map_blocks(kind))
        assert found.dtype == dtype
        np.testing.assert_allclose(found.compute(), model.transform(some), rtol=1e-4, atol=1e-4)


def test_unknown_rows_tables_and_the_way_back():
    model, x = PCA(2).set_output(transform="pandas").fit(X), chunked()
    unknown = x[da.from_array(np.ones(40, bool), chunks=((15, 25),))]
    np.testing.assert_allclose(model.reconstruction_error(unknown).compute(), model.reconstruction_error(X), rtol=1e-11)
    table = model.transform(x)
    assert list(table.columns) == ["pca0", "pca1"]
    back = model.inverse_transform(table.to_dask_array(lengths=True)).compute()
    np.testing.assert_allclose(back, model.inverse_transform(model.transform(X)), rtol=1e-12)
    assert np.isclose(model.score(x), model.score(X))


def test_a_model_of_a_fit_by_columns_transforms_its_rows():
    found = PCA(2).fit_transform(chunked())
    np.testing.assert_allclose(found.compute(), MODELS["plain"].transform(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: KernelPCA(1, kernel="rbf").fit(X).transform(chunked()), "transform needs chunks of whole rows"),
        (lambda: MODELS["plain"].left_singular_vectors(chunked()), "left_singular_vectors needs chunks of"),
        (lambda: MODELS["plain"].transform(chunked(), out="no.npy"), r"transform\(x, out=…\) needs chunks of"),
        (lambda: MODELS["plain"].score_samples(read(chunked())), "score_samples needs chunks of"),
        (lambda: MODELS["plain"].inverse_transform(chunked(X[:, :2], (40, 1))), "inverse_transform needs chunks of"),
        (lambda: MODELS["plain"].transform(chunked(X[:, 1:], (40, 20))), "X has 59 features, but PCA is expecting 60"),
        (
            lambda: MODELS["plain"].transform(chunked(np.where(X[20, 30] == X, np.nan, X))).compute(),
            r"chunk \[1, 3\]: Input X contains 1 NaN, first at row 5, column 9",
        ),
    ],
)
def test_errors_say_what_to_do(call, words):
    with pytest.raises((DataError, ValueError), match=words):
        call()

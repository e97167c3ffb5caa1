"""Models whose attributes are arrays of another library: kept, drawn, merged and put into pipelines like all others."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import ritz
from helpers.arrays import strict, torch
from helpers.models import differences
from ritz import PCA, KernelPCA, compare, load, merge, plan
from ritz.estimators.base import in_numpy
from ritz.linalg.arrays import is_device_array, on_host

X = np.random.default_rng(0).standard_normal((80, 5)) * np.arange(5, 0, -1) + 3
DEVICES = ("CPU_DEVICE", "device1")
everywhere = pytest.mark.parametrize("device", DEVICES)


@everywhere
def test_files_pickles_clones_and_copies(device, tmp_path):
    given = strict(X, device)
    pca = PCA(3).fit(given)
    pca.save(tmp_path / "pca.safetensors")
    loaded = load(tmp_path / "pca.safetensors")
    assert isinstance(loaded.components_, np.ndarray)
    assert np.allclose(loaded.transform(X), on_host(pca.transform(given)), atol=1e-13)
    again = pickle.loads(pickle.dumps(pca))
    assert again.components_.device == given.device
    assert not hasattr(clone(pca), "components_")
    assert isinstance(in_numpy(pca).components_, np.ndarray)
    assert is_device_array(pca.components_)
    pca.fit(X)  # nothing of the earlier fit is left
    assert differences(pca.components_, PCA(3).fit(X).components_) == []


@everywhere
def test_batches_merging_comparing_planning(device):
    given, whole = strict(X, device), PCA(3).fit(X)
    batches = PCA(3).partial_fit(given[:30, :]).partial_fit(X[30:])
    merged = merge([PCA(3).fit(given[:30, :]), PCA(3).fit(X[30:])])
    for model in (batches, merged, PCA.from_covariance(strict(np.cov(X.T), device), mean=given[0, :], n_rows=80)):
        assert model.components_.device == given.device
        assert np.allclose(on_host(model.explained_variance_)[:3], whole.explained_variance_)
        assert compare(model, whole).max() < 1e-7
    assert plan(given, 3).solver == plan(X, 3).solver
    assert np.allclose(compare(strict(np.eye(3)[:, :2], device), np.eye(3)[:, :2]), 0)


@everywhere
def test_tables_pipelines_and_dispatch(device):
    given = strict(X, device)
    table = PCA(2).set_output(transform="pandas").fit_transform(given)
    assert isinstance(table, pd.DataFrame)
    assert np.allclose(table, PCA(2).fit_transform(X))
    with sklearn.config_context(array_api_dispatch=False):
        scores = make_pipeline(PCA(3), PCA(2)).fit_transform(given)
    assert scores.device == given.device


@everywhere
def test_files_and_functions_that_are_given_scores(device, tmp_path):
    pca, given, blocks = PCA(2).fit(X), strict(X, device), []
    assert pca.transform(given, out=tmp_path / "scores.npy") is None
    assert np.allclose(np.load(tmp_path / "scores.npy"), pca.transform(X), atol=1e-13)
    pca.transform(given, out=blocks.append)
    assert all(block.device == given.device for block in blocks)


@everywhere
def test_reports_and_figures(device, tmp_path):
    given = strict(X, device)
    pca = PCA(3).fit(given)
    assert "80 rows of 5 columns" in ritz.report(pca, tmp_path / "page.html", given).read_text("utf-8")
    expected = np.sort(PCA(3).fit_transform(X)[:, :2], axis=0)  # figures draw points in an order of their own
    for figure in (ritz.plot.scores(pca, given), ritz.plot.scores(given)):
        assert np.allclose(np.sort(figure.collections[0].get_offsets(), axis=0), expected, atol=1e-12)
    assert ritz.plot.scree(pca).patches


def test_kernels_of_arrays_in_memory():
    given = strict(X)
    model, expected = (KernelPCA(2, kernel="rbf", gamma=0.01, fit_inverse_transform=True) for _ in range(2))
    scores = model.fit_transform(given)
    assert np.array_equal(on_host(scores), expected.fit_transform(X))
    for found in (model.transform(given), model.inverse_transform(scores), model.feature_error(given), model.X_fit_):
        assert found.device == given.device
    assert isinstance(expected.transform(X), np.ndarray)


def test_pictures_in_a_tensor():
    pictures = np.random.default_rng(1).integers(0, 255, (6, 4, 4), np.uint8)
    found = PCA(2).fit(ritz.read(torch().from_numpy(pictures)))
    assert found.image_shape_ == (4, 4)
    assert np.array_equal(found.components_, PCA(2).fit(ritz.read(pictures)).components_)
    assert isinstance(found.components_, torch().Tensor)

"""Arrays on two devices: a model on one and rows on the other, batches, starts and answers from both."""

import numpy as np
import pytest

from helpers.arrays import strict
from ritz import PCA, KernelPCA, check, merge
from ritz.linalg import arrays
from ritz.solvers import Krylov, Power

X = np.random.default_rng(0).standard_normal((60, 8)) * np.arange(8, 0, -1) + 3


def on_gpu(data=X):
    return strict(data, "device1")


def elsewhere(data):
    return strict(data, "device2")


def test_a_model_and_its_rows_may_be_on_two_devices():
    pca, expected = PCA(2).fit(on_gpu()), PCA(2).fit(X)
    for verb in ("transform", "score_samples", "reconstruction_error"):
        found = getattr(pca, verb)(elsewhere(X))
        assert str(found.device) == str(elsewhere(X).device)
        assert np.allclose(arrays.on_host(found), getattr(expected, verb)(X), atol=1e-10)
    back = pca.inverse_transform(elsewhere(expected.transform(X)))
    assert np.allclose(arrays.on_host(back), expected.inverse_transform(expected.transform(X)), atol=1e-12)


def test_batches_and_models_from_two_devices():
    expected = PCA(2).fit(X).explained_variance_
    batches = PCA(2).partial_fit(on_gpu(X[:30])).partial_fit(elsewhere(X[30:]))
    merged = merge([PCA(2).fit(on_gpu(X[:30])), PCA(2).fit(elsewhere(X[30:]))])
    for model in (batches, merged):
        assert str(model.components_.device) == str(on_gpu().device)
        assert np.allclose(arrays.on_host(model.explained_variance_), expected)


@pytest.mark.parametrize("solver", [Krylov(start=elsewhere(X[:3].T)), Power(start=elsewhere(X[0]), y=on_gpu(X[1]))])
def test_starts_on_another_device(solver):
    found = PCA(1, svd_solver=solver).fit(on_gpu())
    assert np.allclose(arrays.on_host(found.components_), PCA(1).fit(X).components_, atol=1e-5)


def test_answers_on_another_device():
    V = PCA(2).fit(X).components_.T
    for answer in (elsewhere(V), (elsewhere([1.0, 1.0]), elsewhere(V)), PCA(2).fit(elsewhere(X))):
        assert check(on_gpu(), answer).code == check(X, arrays.on_host(answer)).code


def test_the_diagonal_of_a_kernel_may_lie_elsewhere():
    K = X @ X.T
    model = KernelPCA(2, kernel="precomputed").fit(K)
    assert np.array_equal(
        model.feature_error(K, diagonal=on_gpu(np.diag(K))), model.feature_error(K, diagonal=np.diag(K))
    )

"""Errors in feature space, against the formula in extended precision, PCA, and the eigenvalues left out."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from ritz import PCA, DataError, KernelPCA, load

K = 3
KERNELS = {
    "linear": (lambda a, b: a @ b.T, {}),
    "poly": (lambda a, b: (0.2 * (a @ b.T) + 1) ** 3, {"gamma": 0.2}),
    "rbf": (lambda a, b: np.exp(-0.1 * ((a[:, None] - b) ** 2).sum(axis=-1)), {"gamma": 0.1}),
    "laplacian": (lambda a, b: np.exp(-0.1 * np.abs(a[:, None] - b).sum(axis=-1)), {"gamma": 0.1}),
    "cosine": (lambda a, b: a @ b.T / np.sqrt((a * a).sum(axis=1)[:, None] * (b * b).sum(axis=1)), {}),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal((50, 4)) + 1.0, rng.standard_normal((20, 4)) * 2.0 + 1.0


def formula(function, X, new):
    """k(x, x) − 2/n Σ k(x, x_i) + mean K − Σ y², in extended precision but for the eigenvectors."""
    X, new = X.astype(np.longdouble), new.astype(np.longdouble)
    kernel, across = function(X, X), function(new, X)
    centred = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
    values, vectors = np.linalg.eigh(centred.astype(np.float64))
    values, vectors = values[::-1][:K], vectors[:, ::-1][:, :K]
    scores = (across - across.mean(axis=1)[:, None] - kernel.mean(axis=0) + kernel.mean()) @ vectors / np.sqrt(values)
    own = np.array([function(x[None], x[None])[0, 0] for x in new])
    left = own - 2 * across.mean(axis=1) + kernel.mean() - (scores**2).sum(axis=1)
    return left.astype(np.float64), float(np.trace(centred)) - float(values.sum())


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("own", [False, True])
def test_it_is_the_formula_and_adds_up_to_what_is_left_out(data, name, own):
    X, new = data
    function, parameters = KERNELS[name]
    model = KernelPCA(K, kernel=function).fit(X) if own else KernelPCA(K, kernel=name, **parameters).fit(X)
    for rows in data:
        expected, rest = formula(function, X, rows)
        np.testing.assert_allclose(model.feature_error(rows), expected, rtol=1e-9, atol=1e-12)
    assert model.feature_error(X).sum() == pytest.approx(rest, rel=1e-10)
    assert (model.feature_error(new) >= 0).all()


def test_with_the_linear_kernel_it_is_that_of_pca(data):
    X, new = data
    expected = PCA(K).fit(X).reconstruction_error(new)
    np.testing.assert_allclose(KernelPCA(K).fit(X).feature_error(new), expected, rtol=1e-9)
    sparse = KernelPCA(K).fit(scipy.sparse.csr_array(X)).feature_error(scipy.sparse.coo_array(new))
    np.testing.assert_allclose(sparse, expected, rtol=1e-9)
    narrow = KernelPCA(K).fit(X.astype(np.float32)).feature_error(new.astype(np.float32))
    np.testing.assert_allclose(narrow, expected, rtol=1e-4)
    huge = KernelPCA(K).fit(X * 1e150).feature_error(new * 1e150)
    np.testing.assert_allclose(huge, expected * 1e300, rtol=1e-9)


def test_rows_at_the_components_have_an_error_of_zero_and_none_below(data):
    X, _ = data
    model = KernelPCA(kernel="rbf", gamma=0.1).fit(X)
    error = model.feature_error(X)
    assert (error >= 0).all()
    assert error.max() < 1e-13
    G = KERNELS["rbf"][0](X, X)
    given = KernelPCA(49, kernel="precomputed").fit(G).feature_error(G, diagonal=np.diag(G))
    assert (given >= 0).all()  # rounding that would lie below is told from what an indefinite kernel makes
    assert given.max() < 1e-11


def test_a_kernel_that_is_no_inner_product_may_leave_less_than_nothing():
    G = np.diag([3.0, 2.0, 1.0, -1.0])
    G = G - G.mean(axis=0) - G.mean(axis=1)[:, None] + G.mean() + np.diag([0, 0, 0, -0.1])
    values, vectors = np.linalg.eigh(G - G.mean(axis=0) - G.mean(axis=1)[:, None] + G.mean())
    left = ((vectors[:, :2] ** 2) * values[:2]).sum(axis=1)
    with pytest.warns(UserWarning, match="eigenvalues below 0"):
        model = KernelPCA(2, kernel="precomputed").fit(G)
    np.testing.assert_allclose(model.feature_error(G, diagonal=np.diag(G)), left, atol=1e-12)
    assert left.min() < -0.1


@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
@pytest.mark.parametrize("count", [50, 25, 12])
def test_landmarks_measure_the_distance_to_what_they_span(data, count):
    """By explicit features: those of the landmarks are coordinates, and the rest of a row is left out in any case."""
    X, new = data
    function, parameters = KERNELS["rbf"]
    model = KernelPCA(K, kernel="rbf", n_landmarks=count, **parameters).fit(X)
    points = model.embedding_.points.Z / model.embedding_.frame.weight + (
        0.0 if model.embedding_.frame.origin is None else model.embedding_.frame.origin
    )
    values, vectors = np.linalg.eigh(function(points, points))
    F = vectors * np.sqrt(values)
    coordinates = function(new, points) @ np.linalg.pinv(F).T
    axes, mean = F.T @ model.embedding_.coefficients, F.T @ model.embedding_.mean
    axes = np.linalg.qr(axes)[0]
    beside = coordinates - mean - (coordinates - mean) @ axes @ axes.T
    outside = 1.0 - (coordinates**2).sum(axis=1)
    expected = (beside**2).sum(axis=1) + outside
    np.testing.assert_allclose(model.feature_error(new), expected, rtol=1e-6, atol=1e-8)
    lacking = formula(function, X, X)[1]
    assert model.feature_error(X).sum() == pytest.approx(lacking, abs=2 * model.trace_error_ * len(X) + 1e-9)


def test_a_precomputed_kernel_is_told_the_diagonal(data):
    X, new = data
    function = KERNELS["rbf"][0]
    model = KernelPCA(K, kernel="precomputed").fit(function(X, X))
    expected, _ = formula(function, X, new)
    np.testing.assert_allclose(model.feature_error(function(new, X), diagonal=np.ones(20)), expected, rtol=1e-9)
    with pytest.raises(
        ValueError, match=r"kernel='precomputed': .* needs k\(x, x\) .* pass diagonal, such as np.diag\(K\)"
    ):
        model.feature_error(function(new, X))
    with pytest.raises(DataError, match=r"diagonal must hold 20 finite numbers, .* got shape \(3,\)"):
        model.feature_error(function(new, X), diagonal=[1, 1, 1])
    with pytest.raises(ValueError, match=r"k\(x, x\) follows from the rows of X, but diagonal was given; leave it out"):
        KernelPCA(K).fit(X).feature_error(new, diagonal=np.ones(20))
    with pytest.raises(DataError, match="NaN"):
        KernelPCA(K).fit(X).feature_error(np.full((2, 4), np.nan))


@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
@pytest.mark.parametrize("landmarks", [None, 20])
def test_models_from_files_and_rows_in_files(data, tmp_path, landmarks):
    X, new = data
    model = KernelPCA(K, kernel="rbf", gamma=0.1, n_landmarks=landmarks).fit(X)
    expected = model.feature_error(new)
    model.save(tmp_path / "model.safetensors")
    loaded = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.feature_error(new), expected)
    np.save(tmp_path / "new.npy", new)
    loaded.feature_error(tmp_path / "new.npy", out=tmp_path / "error.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "error.npy").ravel(), expected)
    before = replace(model._state.embedding, mean_square=None)  # as files were written that did not keep it
    model._state = replace(model._state, embedding=before)
    np.testing.assert_allclose(model.feature_error(new), expected, rtol=1e-12)

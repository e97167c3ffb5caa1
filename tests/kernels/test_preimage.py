"""Pre-images: rows from scores, against what is known about them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA as Peer

from helpers.matrices import random_array
from ritz import PCA, AccuracyWarning, DataError, KernelPCA, load
from ritz.kernels import preimage as module
from ritz.kernels.preimage import HOLDS, fixed_point

KERNELS = ["linear", "poly", "rbf", "laplacian", "cosine"]


def curve(n, seed=0):
    """Points of an arc in three dimensions, off the origin."""
    t = np.random.default_rng(seed).uniform(0, 4, n)
    return np.c_[np.cos(t), np.sin(t), 0.3 * t] + [5.0, -3.0, 2.0]


@pytest.fixture(scope="module")
def digits():
    X = load_digits().data / 16
    order = np.random.default_rng(0).permutation(len(X))
    train, clean = X[order[:800]], X[order[800:1100]]
    return train, clean, clean + 0.25 * np.random.default_rng(1).standard_normal(clean.shape)


@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_come_back(kernel):
    """With enough components, the pre-images of rows not seen before lie near them, mean and all."""
    X, new = curve(300), curve(50, seed=1)
    model = KernelPCA(6 if kernel != "linear" else 3, kernel=kernel, fit_inverse_transform=True, alpha=1e-3).fit(X)
    back = model.inverse_transform(model.transform(new))
    assert back.shape == new.shape
    spread = np.square(new - new.mean(axis=0)).sum(axis=1).mean()
    assert np.square(back - new).sum(axis=1).mean() < 2e-3 * spread
    np.testing.assert_allclose(model.reconstruction_error(new), np.square(back - new).sum(axis=1), atol=1e-12)


def test_the_linear_kernel_goes_back_as_pca_does():
    X = np.random.default_rng(0).standard_normal((80, 6)) + 100
    model, pca = KernelPCA(3, fit_inverse_transform=True).fit(X), PCA(3).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), pca.inverse_transform(pca.transform(X)))
    np.testing.assert_allclose(model.reconstruction_error(X), pca.reconstruction_error(X))


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear"])
def test_the_mean_is_restored(kernel):
    """Rows that are moved have pre-images that are moved with them."""
    X, far = curve(120), np.array([1e3, -2e3, 5e2])
    options = {"kernel": kernel, "gamma": 0.5, "fit_inverse_transform": True, "random_state": 0}
    here, there = KernelPCA(3, **options).fit(X), KernelPCA(3, **options).fit(X + far)
    back = here.inverse_transform(here.transform(X))
    np.testing.assert_allclose(there.inverse_transform(there.transform(X + far)), back + far, atol=1e-6)


def test_what_is_reported_is_the_error_of_rows_not_seen(digits):
    train, clean, _ = digits
    for k in (10, 60):
        model = KernelPCA(k, kernel="rbf", gamma="median", fit_inverse_transform=True).fit(train)
        assert model.preimage_error_ == pytest.approx(np.mean(model.reconstruction_error(clean)), rel=0.15)


def test_denoising_beats_pca_and_the_peer(digits):
    train, clean, noisy = digits

    def error(model):
        return float(np.mean(np.square(model.inverse_transform(model.transform(noisy)) - clean)))

    pca = min(error(PCA(k).fit(train)) for k in (4, 8, 16, 32))
    options = {"kernel": "rbf", "fit_inverse_transform": True}
    ours = error(KernelPCA(150, gamma="median", **options).fit(train))
    gamma = KernelPCA(2, kernel="rbf", gamma="median").fit(train).gamma_
    theirs = error(Peer(150, gamma=gamma, **options).fit(train))
    assert ours < 0.6 * pca
    assert ours < 0.75 * theirs


def climbed(embedding, Y, start, held):
    """The fixed point of rows as they are."""
    origin = embedding.frame.origin
    return fixed_point(embedding, Y, start - origin, held) + origin


def test_the_fixed_point_climbs_and_stays_near_when_held(digits):
    """‖φ(x) − P‖² = 1 − 2 Σ w k(x, x_i) + ‖P‖² never grows, and a strong hold leaves the start where it was."""
    train, _, noisy = digits
    embedding = KernelPCA(50, kernel="rbf", gamma="median").fit(train).embedding_
    gamma = embedding.kernel.gamma
    Y = np.concatenate(list(embedding.encode(module.as_rows(noisy))))
    start = np.tile(train.mean(axis=0), (len(noisy), 1))
    weights = Y @ embedding.coefficients.T + embedding.mean

    def height(X):
        distances = np.square(X[:, None] - train[None]).sum(axis=2)
        return np.sum(weights * np.exp(-gamma * distances), axis=1)

    before = height(start)
    for held in HOLDS[1:]:
        found = climbed(embedding, Y, start, held)
        kept = held * gamma * np.square(found - start).sum(axis=1)
        assert np.all(height(found) - kept >= before - 1e-12)
    assert np.abs(climbed(embedding, Y, start, 1e6) - start).max() < 1e-4


def test_features_of_a_row_have_that_row_as_pre_image():
    """With all components the scores of a row of the fit determine it, and a light hold finds it."""
    X = curve(60)
    model = KernelPCA(kernel="rbf", gamma=5.0).fit(X)
    start = X + 0.02 * np.random.default_rng(0).standard_normal(X.shape)
    found = climbed(model.embedding_, model.transform(X), start, 1e-6)
    assert np.abs(found - X).max() < 1e-3


def test_landmarks_stand_for_many_rows(monkeypatch):
    """The regression on landmarks is that on all rows, nearly, and needs fewer of them."""
    X, new = curve(1500), curve(100, seed=1)
    options = {"kernel": "rbf", "gamma": 0.5, "fit_inverse_transform": True, "alpha": 1e-2}
    whole = KernelPCA(4, **options).fit(X)
    monkeypatch.setattr(module, "WHOLE", 500)
    few = KernelPCA(4, **options).fit(X)
    assert len(whole.dual_coef_) == 1500
    assert len(few.dual_coef_) < 400
    scores = whole.transform(new)
    np.testing.assert_allclose(few.inverse_transform(scores), whole.inverse_transform(scores), atol=1e-3)


def test_landmarks_of_the_fit_have_pre_images_too(digits):
    train, clean, _ = digits
    options = {"kernel": "rbf", "gamma": "median", "fit_inverse_transform": True}
    exact = KernelPCA(30, **options).fit(train)
    few = KernelPCA(30, n_landmarks=400, tol=0.5, **options).fit(train)
    errors = [np.mean(model.reconstruction_error(clean)) for model in (exact, few)]
    assert errors[1] == pytest.approx(errors[0], rel=0.1)


def test_sparse_rows_and_narrow_ones():
    X = random_array((60, 30), density=0.3, rng=np.random.default_rng(0), format="csr")
    options = {"kernel": "rbf", "fit_inverse_transform": True}
    sparse, full = KernelPCA(4, **options).fit(X), KernelPCA(4, **options).fit(X.toarray())
    scores = full.transform(X.toarray())
    np.testing.assert_allclose(sparse.inverse_transform(scores), full.inverse_transform(scores), atol=1e-6)
    narrow = KernelPCA(4, **options).fit(X.toarray().astype(np.float32))
    assert narrow.inverse_transform(scores.astype(np.float32)).dtype == np.float32


def test_scores_that_no_row_has_are_answered():
    model = KernelPCA(3, kernel="rbf", gamma=1.0, fit_inverse_transform=True).fit(curve(100))
    back = model.inverse_transform(np.array([[1e6, -1e6, 0.0], [0.0, 0.0, 0.0]]))
    assert np.isfinite(back).all()


def test_few_rows_report_no_error_and_components_without_variance_do_no_harm():
    model = KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(curve(5))
    assert np.isnan(model.preimage_error_)
    with pytest.warns(AccuracyWarning, match="above rounding"):
        flat = KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(np.ones((30, 3)))
    np.testing.assert_allclose(flat.inverse_transform(np.zeros((1, 2))), np.ones((1, 3)))


@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
@pytest.mark.parametrize("kernel", [*KERNELS, "sigmoid"])
@pytest.mark.parametrize("n", [6, 30])  # from ten rows on, some are held out
@pytest.mark.parametrize(
    "options", [{}, {"n_components": 2}, {"n_components": 2, "eigen_solver": "krylov", "alpha": 0}]
)
def test_a_model_without_components_goes_back_to_the_mean(tmp_path, kernel, n, options):
    X = np.full((n, 3), 2.5, np.float32)
    model = KernelPCA(kernel=kernel, fit_inverse_transform=True, remove_zero_eig=True, **options).fit(X)
    assert list(model.get_feature_names_out()) == []
    assert model.dual_coef_.shape == (0, 3)
    np.testing.assert_equal(model.preimage_error_, np.nan if n < 10 else 0.0)
    model.save(tmp_path / "model")
    for each in (model, load(tmp_path / "model")):
        scores = each.transform(X[:4])
        assert (scores.shape, scores.dtype) == ((4, 0), np.float32)
        for given in (scores, pd.DataFrame(scores), scores.tolist()):
            np.testing.assert_array_equal(each.inverse_transform(given), X[:4])
        assert each.inverse_transform(scores).dtype == np.float32
        np.testing.assert_array_equal(each.reconstruction_error(X), np.zeros(n))
    with pytest.raises(DataError, match="2 columns, the model has 0 components"):
        model.inverse_transform(np.zeros((4, 2)))


def test_rows_that_differ_while_their_features_do_not():
    """The error is that of the mean of the others, which is all that is known of a row held out."""
    X = np.outer(np.arange(1.0, 41.0), [3.0, 4.0])
    model = KernelPCA(kernel="cosine", fit_inverse_transform=True).fit(X)
    order = np.random.default_rng(0).permutation(40)
    held_out, others = X[order[:4]], X[order[4:]]
    np.testing.assert_allclose(model.preimage_error_, np.square(held_out - others.mean(axis=0)).sum(axis=1).mean())
    np.testing.assert_allclose(model.reconstruction_error(X), np.square(X - X.mean(axis=0)).sum(axis=1))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("landmarks", [None, 3])
def test_what_sets_rows_apart_may_be_held_out(kernel, landmarks):
    X = np.ones((30, 3))
    X[np.random.default_rng(0).permutation(30)[0]] = 2.0
    model = KernelPCA(1, kernel=kernel, fit_inverse_transform=True, n_landmarks=landmarks).fit(X)
    np.testing.assert_allclose(model.preimage_error_, 1.0)  # 3 for one of three rows


def test_errors():
    X = curve(40)
    with pytest.raises(ValueError, match="alpha=-1"):
        KernelPCA(2, kernel="rbf", fit_inverse_transform=True, alpha=-1).fit(X)
    with pytest.raises(DataError, match="alpha=0 is too small"):
        KernelPCA(2, kernel="rbf", fit_inverse_transform=True, alpha=0).fit(np.repeat(X, 2, axis=0))
    model = KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(X)
    with pytest.raises(DataError, match="3 columns, the model has 2"):
        model.inverse_transform(X)
    with pytest.raises(DataError, match="NaN"):
        model.inverse_transform([[np.nan, 0.0]])

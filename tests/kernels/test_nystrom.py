"""Kernel PCA of rows that are scattered: landmarks stand for them, and claims hold for the whole kernel matrix."""

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

import ritz
from helpers.kernels import centred, kernel_value
from ritz import DataError, KernelPCA
from ritz.rows.dask import groups
from ritz.rows.dask.source import DaskRows

pytestmark = pytest.mark.usefixtures("by_threads")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((150, 3)) * [2, 1, 0.5] + 20
FEW = sp.random(120, 20, density=0.2, random_state=0).toarray()
SILENT = pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
# Data, the kernel, and how many landmarks.
KERNELS = {
    "rbf": (X, {"kernel": "rbf", "gamma": 0.02}, 40),
    "rbf by the median": (X, {"kernel": "rbf", "gamma": "median"}, 60),
    "rbf by the variance": (X, {"kernel": "rbf", "gamma": "scale"}, 60),
    "polynomial": (X, {"kernel": "poly", "degree": 2}, 20),
    "linear": (X, {"kernel": "linear"}, 5),
    "cosine": (X, {"kernel": "cosine"}, 5),
    "laplacian": (X, {"kernel": "laplacian", "gamma": 0.05}, 100),
    "sparse": (FEW, {"kernel": "rbf", "gamma": 0.1}, 100),
}


@pytest.fixture(autouse=True)
def a_group_per_chunk(monkeypatch):
    monkeypatch.setattr(groups, "GROUP_BYTES", 1)


def chunked(X):
    x = da.from_array(X, chunks=(50, X.shape[1]))
    return x.map_blocks(sp.csr_array) if X is FEW else x


def truth(X, model):
    """Eigenpairs of the centred kernel matrix, by scikit-learn's kernels and LAPACK."""
    kernel, parameters = model.kernel, {"gamma": model.gamma_, "degree": model.degree, "coef0": model.coef0}
    K = pairwise_kernels(X, metric=kernel, filter_params=True, **parameters)
    H = np.eye(len(X)) - 1 / len(X)
    values, vectors = np.linalg.eigh(H @ K @ H)
    return K, values[::-1], vectors[:, ::-1]


@SILENT
@pytest.mark.parametrize("which", KERNELS)
def test_claims_hold_for_the_whole_kernel_matrix(which, monkeypatch):
    monkeypatch.setattr(DaskRows, "read", lambda *_: pytest.fail("rows must stay where they are"))
    X, kernel, count = KERNELS[which]
    model = KernelPCA(2, **kernel, n_landmarks=count).fit(chunked(X))
    K, values, vectors = truth(X, model)
    assert model.gamma_ == pytest.approx(KernelPCA(2, **kernel).fit(X).gamma_)
    low, high = model.certificate_.value_bounds.T
    judge = 1e-13 * np.trace(K)
    assert (low <= values[:2] + judge).all()
    assert (values[:2] <= high + judge).all()
    assert (np.diff(model.explained_variance_ratio_bounds_) >= 0).all()
    scores = model.transform(chunked(X)).compute()
    beta = scores / np.sqrt(model.eigenvalues_)
    assert model.certificate_.missing / np.trace(K) == pytest.approx(model.trace_error_, rel=1e-6, abs=1e-13)
    np.testing.assert_allclose(beta.T @ beta, np.eye(2), atol=1e-8)
    for i, bound in enumerate(model.certificate_.angle_bounds):
        sine = np.linalg.norm(beta[:, i] - vectors[:, i] * (vectors[:, i] @ beta[:, i]))
        assert sine <= bound + 1e-9
    assert "randomly pivoted Cholesky" in model.plan_.why


@SILENT
def test_small_components_have_the_residuals_that_are_claimed():
    """Features that nearly depend on each other, so that scores of small components are made of large coefficients."""
    Z = np.random.default_rng(9).standard_normal((40, 2))
    model = KernelPCA(8, kernel="rbf", gamma=2e-3, n_landmarks=40).fit(chunked(Z))
    wide, claimed = centred(kernel_value("rbf", Z, Z, gamma=2e-3)), model.certificate_
    beta = model.transform(Z)
    U = beta / np.linalg.norm(beta, axis=0)
    residuals = np.linalg.norm((wide @ U - U * claimed.values).astype(np.float64), axis=0)
    assert claimed.values[5] < 1e-5 * claimed.values[0]
    assert (residuals <= claimed.residuals + claimed.rounding).all()
    assert claimed.angle_bounds[0] < 1e-8
    assert claimed.rounding - claimed.missing < 1e-10 * claimed.values[0]


@SILENT
@pytest.mark.parametrize("which", ["rbf", "linear"])
def test_as_many_components_as_landmarks_leave_room_for_what_these_lack(which):
    """All features of the landmarks are among the components, but others may follow, or be larger."""
    X, kernel, _ = KERNELS[which]
    model = KernelPCA(3, **kernel, n_landmarks=3).fit(chunked(X))
    K, values, vectors = truth(X, model)
    claimed, judge = model.certificate_, 1e-13 * np.trace(K)
    assert claimed.gap_bounds[0] <= values[2] - values[3] + judge
    assert values[2] - values[3] <= claimed.gap_bounds[1] + judge
    beta = model.transform(X) / np.sqrt(model.eigenvalues_)
    for first, last in claimed.groups:
        V, U = vectors[:, first:last], beta[:, first:last]
        assert np.linalg.norm(U - V @ (V.T @ U), 2) <= claimed.angle_bounds[first] + 1e-9
    assert claimed.complete_to == (3 if which == "linear" else 0)


@SILENT
def test_what_landmarks_lack_is_the_trace_of_the_rest():
    model = KernelPCA(2, kernel="rbf", gamma=0.02, n_landmarks=20).fit(chunked(X))
    points, origin = model.embedding_.points.Z / np.sqrt(0.02), model.embedding_.frame.origin
    landmarks = points + (0 if origin is None else origin)
    cross = pairwise_kernels(X, landmarks, metric="rbf", gamma=0.02)
    inner = pairwise_kernels(landmarks, metric="rbf", gamma=0.02)
    rest = len(X) - np.trace(cross @ np.linalg.solve(inner, cross.T))
    assert model.certificate_.missing == pytest.approx(rest, rel=1e-4)


@SILENT
def test_scattered_rows_give_the_same_anywhere_and_survive_a_file(tmp_path):
    models = [KernelPCA(2, kernel="rbf", n_landmarks=20).fit(given) for given in (chunked(X), chunked(X).persist())]
    assert np.array_equal(models[0].transform(X), models[1].transform(X))
    models[0].save(tmp_path / "m.safetensors")
    loaded = ritz.load(tmp_path / "m.safetensors")
    assert np.array_equal(loaded.transform(X), models[0].transform(X))
    for model in (models[0], loaded):
        with pytest.raises(AttributeError, match="rows of a dask collection stay where they are"):
            _ = model.X_fit_
        with pytest.raises(AttributeError, match=r"transform\(X\) divided"):
            _ = model.eigenvectors_
        with pytest.raises(AttributeError, match="no attribute 'anything'"):
            _ = model.anything
    scores = KernelPCA(2, kernel="rbf", n_landmarks=20).fit_transform(chunked(X))
    assert isinstance(scores, da.Array)
    np.testing.assert_array_equal(scores.compute(), models[0].transform(X))


WRONG = {
    "needs n_landmarks; or pass X.compute": {},
    "a number of them, and got 0.1": {"n_landmarks": 0.1},
    "fit_inverse_transform=True needs all rows": {"n_landmarks": 9, "fit_inverse_transform": True},
    "kernel that is always positive": {"n_landmarks": 9, "kernel": "sigmoid"},
    "needs the whole spectrum": {"n_landmarks": 9, "n_components": None},
    "span 3 dimensions; ask for 3 or fewer": {"n_landmarks": 9, "n_components": 5},
    "memory": {"n_landmarks": 90, "memory_limit": 1000},
}


@pytest.mark.parametrize("words", WRONG)
def test_what_scattered_rows_cannot_give_is_said(words):
    with pytest.raises((DataError, ValueError), match=words):
        KernelPCA(**{"n_components": 2} | WRONG[words]).fit(chunked(X))


def test_gaps_are_named_by_chunk():
    bad = X.copy()
    bad[77, 1] = np.nan
    with dask.config.set(scheduler="sync"), pytest.raises(DataError, match=r"row 77 \(row 27 of chunk 1\), column 1"):
        KernelPCA(2, n_landmarks=9).fit(chunked(bad))

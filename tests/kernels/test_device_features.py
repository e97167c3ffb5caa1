"""Kernel PCA of rows on a device: landmarks stand for them, and claims hold for the whole kernel matrix."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import pairwise_kernels

from helpers.arrays import on_device, strict, torch, traffic
from ritz import AccuracyWarning, DataError, KernelPCA, read
from ritz.kernels import device_features, kernel_named
from ritz.kernels.device_features import DeviceFeatures, refined_residual
from ritz.kernels.nystrom import Features, chosen
from ritz.linalg.arrays import on_host
from ritz.moments.preprocessing import SAMPLE
from ritz.rows.memory.device import DeviceRows

X = np.random.default_rng(0).standard_normal((150, 3)) * [2, 1, 0.5] + 20
SILENT = pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
# The kernel, and how many landmarks.
KERNELS = {
    "rbf": ({"kernel": "rbf", "gamma": 0.02}, 40),
    "rbf by the median": ({"kernel": "rbf", "gamma": "median"}, 60),
    "rbf by the variance": ({"kernel": "rbf", "gamma": "scale"}, 60),
    "rbf of rows far out": ({"kernel": "rbf", "gamma": 1e6}, 150),
    "polynomial": ({"kernel": "poly", "degree": 2}, 20),
    "linear": ({"kernel": "linear"}, 5),
    "cosine": ({"kernel": "cosine"}, 5),
    "laplacian": ({"kernel": "laplacian", "gamma": 0.05}, 100),
}


def on_gpu(data=X):
    return strict(data, "device1")


def truth(model):
    """Eigenpairs of the centred kernel matrix, by scikit-learn's kernels and LAPACK."""
    parameters = {"gamma": model.gamma_, "degree": model.degree, "coef0": model.coef0}
    K = pairwise_kernels(X, metric=model.kernel, filter_params=True, **parameters)
    H = np.eye(len(X)) - 1 / len(X)
    values, vectors = np.linalg.eigh(H @ K @ H)
    return K, values[::-1], vectors[:, ::-1]


@SILENT
@pytest.mark.parametrize("make", [on_gpu, on_device], ids=["array-api-strict", "torch"])
@pytest.mark.parametrize("which", KERNELS)
def test_claims_hold_for_the_whole_kernel_matrix(which, make, monkeypatch):
    monkeypatch.setattr(device_features, "BLOCK", 40)
    monkeypatch.setattr(DeviceRows, "on_cpu", lambda *_: pytest.fail("rows must stay where they are"))
    kernel, count = KERNELS[which]
    model, given = KernelPCA(2, **kernel, n_landmarks=count), make(X)
    scores = model.fit_transform(given)
    assert isinstance(scores, type(model.eigenvalues_))
    K, values, vectors = truth(model)
    low, high = model.certificate_.value_bounds.T
    judge = 1e-13 * np.trace(K)
    assert (low <= values[:2] + judge).all()
    assert (values[:2] <= high + judge).all()
    beta = on_host(scores) / np.sqrt(on_host(model.eigenvalues_))
    np.testing.assert_allclose(beta.T @ beta, np.eye(2), atol=1e-8)
    for i, bound in enumerate(model.certificate_.angle_bounds):
        sine = np.linalg.norm(beta[:, i] - vectors[:, i] * (vectors[:, i] @ beta[:, i]))
        assert sine <= bound + 1e-9
    np.testing.assert_allclose(on_host(scores), model.transform(X), atol=1e-12 * np.abs(on_host(scores)).max())
    assert "n_landmarks of rows on a device" in model.plan_.why


@pytest.mark.parametrize("gamma", [1e-4, 0.5])
def test_the_residual_of_the_features_is_as_small_as_it_is_said(gamma):
    """In extended precision; the features of rows in a wide kernel nearly depend on each other."""
    kernel, rng = kernel_named("rbf", gamma=gamma), np.random.default_rng(0)
    frame = kernel.frame_of_range(X.min(axis=0), X.max(axis=0), shifted=True)
    points, factor = chosen(kernel, frame, X, 60, rng)
    landmarks, L = points[factor.pivots], factor.triangle
    rows = on_device(X)
    features = DeviceFeatures(Features(rows, kernel, frame, landmarks, L), rows, kernel, frame, landmarks, L)
    F = on_host(features.read(0, len(X)))[:, :-1].astype(np.longdouble)
    K = kernel.tile(points, landmarks, frame).astype(np.longdouble)
    lengths = np.sqrt(np.sum(L.astype(np.longdouble) ** 2, axis=1))
    residual = np.abs(F @ L.T.astype(np.longdouble) - K) / lengths  # ‖φ(x)‖ = 1
    # The kernel values of the device may differ from those of the CPU by their own rounding.
    assert residual.max() <= features.solving + 2 * frame.rounding
    assert features.solving <= 1e-11
    assert refined_residual(np.eye(3), np.eye(3)) < 1e-13


@SILENT
def test_what_travels_does_not_grow_with_the_rows(monkeypatch):
    seen = []
    for rows in (1 << 14, 20):
        monkeypatch.setattr(device_features, "BLOCK", rows)
        given = on_gpu(np.tile(X, (8, 1)))
        with traffic() as counted:
            KernelPCA(2, kernel="rbf", gamma=0.02, n_landmarks=20).fit(given)
        seen.append(counted)
    whole, cut = seen
    assert cut.down == whole.down
    assert cut.up == whole.up
    assert not cut.looks
    # Rows to choose landmarks from and for the mean of their features, the range of the columns, sums, and the scatter.
    assert sum(whole.down) == (512 + SAMPLE) * 3 + 2 * 3 + 21 + 21 * 21


@SILENT
def test_scores_of_rows_on_a_device_by_a_model_of_the_cpu():
    sigmoid = {"kernel": "sigmoid", "gamma": 1e-9, "coef0": 0}
    for how in ({"kernel": "rbf"}, sigmoid, {"kernel": "poly"}, {"kernel": "laplacian"}):
        model = KernelPCA(2, **how).fit(X)
        expected = model.transform(X[:9])
        with traffic() as seen:
            found = model.transform(given := on_gpu(X[:9]))
        assert found.device == given.device
        assert not seen.down
        assert seen.looks == 1
        np.testing.assert_allclose(on_host(found), expected, atol=1e-13 * np.abs(expected).max())
    narrow = KernelPCA(2, kernel="rbf").fit(X).transform(on_gpu(X.astype(np.float32)))
    assert str(narrow.dtype).endswith("float32")


@SILENT
def test_a_file_is_streamed(tmp_path):
    torch()  # which blocks are copied by
    np.save(tmp_path / "x.npy", X)
    found, expected = (KernelPCA(2, kernel="rbf", gamma=0.02, n_landmarks=30) for _ in range(2))
    found.fit(read(tmp_path / "x.npy", device="cpu"))
    np.testing.assert_allclose(found.eigenvalues_, on_host(expected.fit(on_gpu()).eigenvalues_), rtol=1e-12)


@SILENT
def test_a_device_without_float64_has_its_blocks_computed_on_the_cpu():
    narrow = X.astype(np.float32)
    found = KernelPCA(2, kernel="rbf", gamma=0.02, n_landmarks=30).fit(given := strict(narrow, "no_float64"))
    expected = KernelPCA(2, kernel="rbf", gamma=0.02, n_landmarks=30).fit(on_gpu(narrow))
    np.testing.assert_allclose(on_host(found.eigenvalues_), on_host(expected.eigenvalues_), rtol=1e-6)
    assert found.transform(given).device == given.device


@SILENT
def test_scores_in_a_table():
    model = KernelPCA(2, kernel="rbf", gamma=0.02, n_landmarks=30).set_output(transform="pandas")
    table = model.fit_transform(on_gpu())
    assert list(table.columns) == ["kernelpca0", "kernelpca1"]
    np.testing.assert_allclose(table, model.transform(X), atol=1e-12)


def a_kernel(x, y):
    return float(x @ y)


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (lambda: KernelPCA(2).fit(on_gpu()), r"KernelPCA computes on the CPU; pass n_landmarks.*or a copy.*X\.cpu\(\)"),
        (
            lambda: KernelPCA(2, n_landmarks=0.1).fit(on_gpu()),
            r"with n_landmarks=0\.1 computes on the CPU; pass a whole number, such as n_landmarks=500, or a copy there",
        ),
        (lambda: KernelPCA(4, n_landmarks=40).fit(on_gpu()), "rows drawn span 3 dimensions; ask for 3 or fewer$"),
        (lambda: KernelPCA(2, n_landmarks=40).fit(on_gpu(X[:, :1])), "span 1 dimension; ask for 1 or fewer$"),
        (lambda: KernelPCA(3, n_landmarks=2).fit(on_gpu()), "n_landmarks=2 span 2 dim.*fewer, or for more n_landmarks"),
        (lambda: KernelPCA(2, n_landmarks=3, fit_inverse_transform=True).fit(on_gpu()), r"at hand; pass X\.cpu\(\)"),
        (lambda: KernelPCA(1, n_landmarks=3).fit(on_gpu(np.ones((9, 3)))), "all alike"),
        (lambda: KernelPCA(2, n_landmarks=3).fit(on_gpu(np.where(X[7, 1] == X, np.nan, X))), "1 NaN, first at row 7"),
        (lambda: KernelPCA(2).fit(X).transform(on_gpu(np.where(X[7, 1] == X, np.inf, X))), "infinity .*first at row 7"),
        (lambda: KernelPCA(2, kernel="poly").fit(X).transform(on_gpu(X * 1e200)), "no finite value for some"),
        (lambda: KernelPCA(2).fit(X).feature_error(on_gpu()), "feature_error computes on the CPU; pass a copy"),
        (lambda: KernelPCA(2, kernel=a_kernel).fit(X).transform(on_gpu()), "kernel=a_kernel computes on the CPU"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # array-api-strict computes by NumPy
def test_what_does_not_run_there_says_so(do, words):
    with pytest.raises(DataError, match=f"(?s){words}"):
        do()


@pytest.mark.parametrize("kernel", ["sigmoid", "precomputed", a_kernel])
def test_kernels_without_landmarks_are_sent_to_the_cpu(kernel):
    with pytest.raises(DataError, match=r"KernelPCA computes on the CPU; pass a copy there, such as X\.cpu"):
        KernelPCA(2, kernel=kernel).fit(on_gpu())
    with pytest.raises(ValueError, match=r"may not be; pass a copy on the CPU, such as X\.cpu\(\), and no n_landmarks"):
        KernelPCA(2, kernel=kernel, n_landmarks=9).fit(on_gpu())


def test_advice_for_rows_on_a_device_can_be_followed():
    with pytest.warns(AccuracyWarning, match="use more of them, a copy in the memory of the CPU with eigen_solver="):
        model = KernelPCA(2, kernel="rbf", n_landmarks=9).fit(on_gpu())
    with pytest.raises(NotFittedError, match=r"fit a copy on the CPU, such as X\.cpu\(\), with fit_inverse_transform"):
        model.inverse_transform(X[:, :2])


def test_pre_images_are_computed_on_the_cpu():
    model = KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(X)
    for do in (model.inverse_transform, model.reconstruction_error):
        with pytest.raises(DataError, match=f"{do.__name__} computes on the CPU"):
            do(on_gpu(X[:, :2] if do.__name__ == "inverse_transform" else X))


def test_rows_of_a_device_are_not_kept():
    model = KernelPCA(2, n_landmarks=3).fit(on_gpu())
    with pytest.raises(AttributeError, match="so do those on a device"):
        _ = model.X_fit_

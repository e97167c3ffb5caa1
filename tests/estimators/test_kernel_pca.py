"""KernelPCA: scikit-learn's contract, PCA's answers with the linear kernel, and the formula for new rows."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.decomposition import KernelPCA as Peer
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from helpers.kernels import centred, eigen_descending, kernel_value
from helpers.matrices import sine
from ritz import PCA, AccuracyWarning, KernelPCA

pytestmark = pytest.mark.filterwarnings("ignore::ritz.errors.AccuracyWarning")

KERNELS = {
    "linear": {},
    "cosine": {},
    "rbf": {"gamma": 0.3},
    "laplacian": {"gamma": 0.3},
    "poly": {"gamma": 0.3, "degree": 2, "coef0": 1.0},
}
SOLVERS = ["auto", "dense", "krylov", "power", "orthogonal", "lowrank"]


def rows(n=60, d=4, seed=0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)) * np.r_[3.0, 2.0, 1.0, np.ones(d - 3)]


def by_formula(name, X, Y, k, options):
    """Scores of Y, each step of the centring written out, in extended precision but for LAPACK."""
    K, new = kernel_value(name, X, X, **options), kernel_value(name, Y, X, **options)
    values, U = eigen_descending(centred(K))
    new = new - new.mean(axis=1)[:, None] - K.mean(axis=0) + K.mean()
    return (new @ U[:, :k] / np.sqrt(values[:k])).astype(np.float64)


def up_to_sign(ours, theirs, atol):
    signs = np.sign((ours * theirs).sum(axis=0))
    np.testing.assert_allclose(ours * signs, theirs, atol=atol)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", KERNELS)
def test_new_rows_by_the_formula(name, solver):
    X, Y = rows(), rows(13, seed=1)
    model = KernelPCA(3, kernel=name, eigen_solver=solver, tol=1e-10, **KERNELS[name])
    scores = model.fit_transform(X)
    up_to_sign(scores, by_formula(name, X, X, 3, KERNELS[name]), 1e-6)
    up_to_sign(model.transform(Y), by_formula(name, X, Y, 3, KERNELS[name]), 1e-6)
    np.testing.assert_allclose(model.transform(X), scores, atol=1e-7)


@pytest.mark.parametrize("name", ["linear", "cosine", "rbf", "poly"])
def test_scikit_learn_says_the_same(name):
    X, Y = rows(), rows(13, seed=1)
    ours, theirs = (kind(3, kernel=name, **KERNELS[name]).fit(X) for kind in (KernelPCA, Peer))
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    up_to_sign(ours.transform(Y), theirs.transform(Y), 1e-8)
    assert ours.gamma_ == theirs.gamma_


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("solver", ["auto", "krylov", "lowrank"])
@pytest.mark.parametrize("shape", [(60, 5), (12, 40)])
def test_the_linear_kernel_is_pca(offset, solver, shape):
    X = rows(*shape) + offset
    Y = rows(7, shape[1], seed=1) + offset
    linear, plain = KernelPCA(3, eigen_solver=solver, tol=1e-9).fit(X), PCA(3).fit(X)
    precise = max(1e-8, 1e-14 * offset)
    np.testing.assert_allclose(linear.eigenvalues_ / (len(X) - 1), plain.explained_variance_, rtol=precise)
    np.testing.assert_allclose(linear.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=precise)
    up_to_sign(linear.transform(X), plain.transform(X), 10 * precise)
    up_to_sign(linear.transform(Y), plain.transform(Y), 10 * precise)
    up_to_sign(linear.fit_transform(X), plain.transform(X), 10 * precise)


def test_the_linear_kernel_comes_back_as_pca_does():
    X = rows() + 100.0
    linear, plain = KernelPCA(2, fit_inverse_transform=True, alpha=0.0).fit(X), PCA(2).fit(X)
    Y = rows(7, seed=1) + 100.0
    back = plain.inverse_transform(plain.transform(Y))
    np.testing.assert_allclose(linear.inverse_transform(linear.transform(Y)), back, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e100, 1e150])
def test_rows_of_any_size(scale):
    X = rows()
    small, plain = KernelPCA(3).fit(X * scale), KernelPCA(3).fit(X)
    np.testing.assert_allclose(small.transform(X * scale) / scale, plain.transform(X), atol=1e-9)
    np.testing.assert_allclose(small.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-9)
    gamma = 0.3 / scale / scale
    curved = KernelPCA(3, kernel="rbf", gamma=gamma).fit_transform(X * scale)
    np.testing.assert_allclose(curved, KernelPCA(3, kernel="rbf", gamma=0.3).fit_transform(X), atol=1e-9)


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
@pytest.mark.parametrize("far", [1e5, 1e8, 1e200, 1e308])
@pytest.mark.parametrize("spread", [1.0, 100.0])
def test_rows_very_far_away_are_all_the_same(name, far, spread):
    """No feature of the fit is near them: their scores are those of the kernel's value 0."""
    X = rows() * spread
    options = {"gamma": 0.3 / spread}
    model = KernelPCA(3, kernel=name, **options).fit(X)
    K = kernel_value(name, X, X, **options)
    values, U = eigen_descending(centred(K))
    expected = ((K.mean() - K.mean(axis=0)) @ U[:, :3] / np.sqrt(values[:3])).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.transform(np.array([[far] * 4, [-far, far, 0.0, far]]))
    for row in found:
        up_to_sign(row[None], expected[None], 1e-9)


@pytest.mark.parametrize("far", [1e-200, 1e-100, 1e8, 1e100, 1e200, 1e300])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_a_cosine_does_not_depend_on_length(far, form):
    X, Y = rows(), rows(5, seed=1)
    model = KernelPCA(3, kernel="cosine").fit(X)
    np.testing.assert_allclose(model.transform(form(Y * far)), model.transform(Y), atol=1e-10)


def test_a_linear_score_grows_with_the_row():
    X = rows()
    model = KernelPCA(3).fit(X)
    np.testing.assert_allclose(model.transform(X * 1e200) / 1e200, model.transform(X * 1e20) / 1e20, atol=1e-9)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("form", ["sparse", "fortran", "strided", "readonly", "lists", "pandas", "polars"])
def test_the_same_rows_in_another_form(name, form):
    X = np.where(np.abs(rows()) > 1, rows(), 0.0)
    forms = {
        "sparse": scipy.sparse.csc_matrix,
        "fortran": np.asfortranarray,
        "strided": lambda A: np.repeat(A, 2, axis=0)[::2],
        "readonly": lambda A: np.frombuffer(A.tobytes()).reshape(A.shape),
        "lists": lambda A: A.tolist(),
        "pandas": lambda A: pd.DataFrame(A, columns=list("abcd")),
        "polars": lambda A: pl.DataFrame(A, schema=list("abcd")),
    }
    other = forms[form](X)
    plain, model = (KernelPCA(3, kernel=name, **KERNELS[name]).fit(data) for data in (X, other))
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(model.transform(other), plain.transform(X), atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8, np.int8, bool, np.float16])
@pytest.mark.parametrize("name", KERNELS)
def test_types(name, dtype):
    X = (np.abs(rows()) * 8).astype(dtype) if dtype is not bool else rows() > 0
    model = KernelPCA(2, kernel=name, **KERNELS[name])
    wide = KernelPCA(2, kernel=name, **KERNELS[name]).fit(X.astype(np.float64))
    scores = model.fit_transform(X)
    expected = np.float32 if dtype == np.float32 else (np.float64 if dtype != np.float16 else scores.dtype)
    assert scores.dtype == model.transform(X).dtype == model.eigenvalues_.dtype == model.eigenvectors_.dtype == expected
    np.testing.assert_allclose(model.eigenvalues_, wide.eigenvalues_, rtol=1e-5)
    np.testing.assert_allclose(scores, wide.transform(X.astype(np.float64)), atol=1e-3 * np.abs(scores).max())


def test_a_function_and_its_values_say_the_same():
    X, Y = rows(), rows(9, seed=1)

    def laplace(x, y, gamma=1.0):
        return np.exp(-gamma * np.abs(x - y).sum())

    def blocks(A, B, gamma=1.0):
        return np.exp(-gamma * np.abs(A[:, None] - B).sum(axis=2))

    named = KernelPCA(3, kernel="laplacian", gamma=0.3).fit(X)
    K = pairwise_kernels(X, metric="laplacian", gamma=0.3)
    given = KernelPCA(3, kernel="precomputed").fit(K)
    new = pairwise_kernels(Y, X, metric="laplacian", gamma=0.3)
    np.testing.assert_allclose(given.transform(new), named.transform(Y), atol=1e-9)
    for function in (laplace, blocks):
        model = KernelPCA(3, kernel=function, kernel_params={"gamma": 0.3}).fit(X)
        np.testing.assert_allclose(model.eigenvalues_, named.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(model.transform(Y), named.transform(Y), atol=1e-9)


def test_frames_pipelines_and_copies():
    X = pd.DataFrame(rows(), columns=["a", "b", "c", "d"])
    model = KernelPCA(2, kernel="rbf").set_output(transform="pandas")
    scores = model.fit_transform(X)
    assert list(scores.columns) == list(model.get_feature_names_out()) == ["kernelpca0", "kernelpca1"]
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]
    assert isinstance(KernelPCA(2).set_output(transform="polars").fit_transform(X), pl.DataFrame)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(X.rename(columns={"a": "z"}))
    back = pickle.loads(pickle.dumps(model))
    assert back.transform(X).equals(model.transform(X))
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "eigenvalues_")
    chained = make_pipeline(StandardScaler(), KernelPCA(2, kernel="rbf")).fit(X)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(
        chained.transform(X), KernelPCA(2, kernel="rbf").fit(scaled).transform(scaled), atol=1e-9
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_same_answer_every_time(solver):
    X = rows(150)
    one, two = (KernelPCA(3, kernel="rbf", gamma=0.1, eigen_solver=solver).fit(X) for _ in range(2))
    assert np.array_equal(one.eigenvectors_, two.eigenvectors_)
    assert np.array_equal(one.transform(X), two.transform(X))
    seeded = KernelPCA(3, kernel="rbf", gamma=0.1, eigen_solver=solver, random_state=5).fit(X)
    np.testing.assert_allclose(seeded.eigenvalues_, one.eigenvalues_, rtol=1e-5)
    assert sine(seeded.eigenvectors_, one.eigenvectors_) < 1e-3


def test_a_model_does_not_depend_on_rows_that_change_later():
    X = rows()
    model = KernelPCA(2, kernel="rbf").fit(X)
    before = model.transform(rows(seed=1))
    X[:] = 0.0
    assert np.array_equal(model.transform(rows(seed=1)), before)
    assert model.X_fit_.any()


def test_a_share_of_the_variance():
    X = rows()
    ratios = KernelPCA(kernel="rbf", gamma=0.05).fit(X).explained_variance_ratio_
    for solver in ("auto", "dense", "krylov"):
        for share in (0.3, 0.9, 0.99):
            model = KernelPCA(share, kernel="rbf", gamma=0.05, eigen_solver=solver).fit(X)
            assert len(model.eigenvalues_) == int(np.searchsorted(np.cumsum(ratios), share, side="right")) + 1


def test_memory_decides_what_is_kept_but_not_the_answer():
    X = rows(2000)
    free = KernelPCA(3, kernel="laplacian", gamma=0.1, eigen_solver="krylov").fit(X)
    tight = KernelPCA(3, kernel="laplacian", gamma=0.1, eigen_solver="krylov", memory_limit="12MB").fit(X)
    assert free.plan_.dense
    assert not tight.plan_.dense
    assert "recomputed" in tight.plan_.why
    np.testing.assert_allclose(tight.eigenvalues_, free.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(tight.eigenvectors_, free.eigenvectors_, atol=1e-6)
    for solver in ("auto", "dense", "krylov", "lowrank"):
        with pytest.raises(ValueError, match=r"memory_limit of .* is too small"):
            KernelPCA(3, kernel="laplacian", gamma=0.1, eigen_solver=solver, memory_limit=1000).fit(X)


@pytest.mark.parametrize(("dtype", "scale"), [(float, 1e200), (float, 1e-180), (np.float32, 1e25), (np.float32, 1e-25)])
def test_scores_of_the_fit_do_not_leave_the_range_with_the_eigenvalues(dtype, scale):
    X = (rows(30) * scale).astype(dtype)
    model = KernelPCA(2)
    scores = model.fit_transform(X)
    peer = np.abs(PCA(2).fit_transform(X))
    np.testing.assert_allclose(np.abs(scores), peer, rtol=1e-4, atol=1e-5 * np.abs(X).max())
    np.testing.assert_allclose(model.transform(X), scores, rtol=1e-4, atol=1e-5 * np.abs(X).max())


def test_a_share_of_the_variance_takes_as_many_as_it_takes():
    X = rows(1200)
    model = KernelPCA(0.9, kernel="rbf", gamma=0.3).fit(X)
    assert model.plan_.solver == "dense"
    whole = KernelPCA(kernel="rbf", gamma=0.3).fit(X).explained_variance_ratio_
    k = len(model.eigenvalues_)
    assert whole[:k].sum() > 0.9 >= whole[: k - 1].sum()


def test_a_flat_spectrum_is_said_plainly():
    with pytest.warns(AccuracyWarning, match="flat"):
        KernelPCA(2, kernel="rbf", gamma=1e4).fit(rows())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelPCA(2, kernel="rbf", gamma=0.05).fit(rows())


def test_results_go_to_a_file_even_where_there_is_no_component(tmp_path):
    X = np.full((12, 3), 2.0)
    model = KernelPCA(kernel="rbf", fit_inverse_transform=True).fit(X)
    assert model.transform(X).shape == (12, 0)
    assert model.inverse_transform(np.empty((12, 0)), out=tmp_path / "rows.npy") is None
    np.testing.assert_array_equal(np.load(tmp_path / "rows.npy"), X)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    model = KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(X)
    for call, given in (
        (model.transform, X),
        (model.inverse_transform, model.transform(X)),
        (model.reconstruction_error, X),
    ):
        blocks = []
        assert call(given, out=blocks.append) is None
        np.testing.assert_array_equal(np.concatenate(blocks), call(given))

"""Rows far from 0: scores, errors and likelihoods are those of exact arithmetic, whatever the offset and the route."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from ritz import PCA, DataError, KernelPCA, load, merge
from ritz.spectrum.subspace import Subspace

pytestmark = pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
SOLVERS = ["auto", "covariance", "gram", "svd", "krylov", "power", "orthogonal"]
ROWS = np.random.default_rng(0).integers(-60, 60, (13, 3)) * np.array([8, 4, 2])
EPS, EPS32 = np.finfo(np.float64).eps, np.finfo(np.float32).eps


def exact(X, model):
    """Z as fractions, but for a rounded scale, and the scores along the axes of the model."""
    rows = [[Fraction(int(x)) if X.dtype.kind in "iu" else Fraction(float(x)) for x in row] for row in X]
    n, columns = len(rows), list(zip(*rows, strict=True))
    if model.center:
        columns = [[x - sum(column) / n for x in column] for column in columns]
    if model.scale:
        spread = [float(sum(x * x for x in column) / (n - model.ddof)) ** 0.5 for column in columns]
        columns = [[x / Fraction(s) for x in column] for column, s in zip(columns, spread, strict=True)]
    axes = [[Fraction(float(u)) for u in axis] for axis in model.subspace_.axes.T]
    scores = [[sum(map(Fraction.__mul__, z, u)) for u in axes] for z in zip(*columns, strict=True)]
    return np.array(columns, dtype=float).T, np.array(scores, dtype=float)


def assert_exact(Y, X, model):
    """Right to the rounding of the result, and of sums of the size of the rows."""
    Z, T = exact(np.asarray(X), model)
    eps = EPS32 if Y.dtype == np.float32 else EPS
    deviations = np.sqrt(np.square(Z @ model.subspace_.axes).mean(axis=0))
    sums = 16 * EPS * np.abs(Z).max() + (1e-5 * deviations.min() if Y.dtype == np.float32 else 0.0)
    assert (np.abs(Y - T) <= eps * np.abs(T) + sums).all()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scale", [True, False])
def test_scores_are_those_of_exact_arithmetic(solver, center, scale):
    for dtype, offsets in ((np.float64, 2.0 ** np.array([20, 36, 50, 52])), (np.float32, [1e3, 1e5, 1e6])):
        for i, offset in enumerate(offsets):
            X = (ROWS / (1 if dtype is np.float64 else 16) + offset).astype(dtype)
            model = PCA(2, svd_solver=solver, center=center, scale=scale, ddof=i % 2)
            Y = model.fit_transform(X)
            assert Y.dtype == dtype
            assert_exact(Y, X, model)
            assert np.array_equal(model.transform(X), Y)


def test_halves_beside_the_largest_integers():
    X = 2.0**52 + np.array([[0.0], [1], [1], [1]])
    model = PCA(1)
    assert model.fit_transform(X).ravel().tolist() == [-0.75, 0.25, 0.25, 0.25]
    assert model.mean_.tolist() == [2.0**52 + 1]
    assert np.array_equal(model.inverse_transform(model.transform(X)), X)


def sources(X, folder):
    """The same rows, whichever way they come."""
    table = pd.DataFrame(X, columns=list("abc"))
    np.save(folder / "x.npy", X)
    table.to_parquet(folder / "x.parquet")
    return {
        "array": X,
        "by columns": np.asfortranarray(X),
        "pandas": table,
        "polars": pl.DataFrame(X, schema=list("abc")),
        "npy": folder / "x.npy",
        "parquet": folder / "x.parquet",
        "sparse": sp.csr_array(X),
    }


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.uint64, np.float32])
def test_every_source(tmp_path, dtype):
    offset = 2**20 if dtype is np.float32 else 2**51
    X = (ROWS + 480).astype(dtype) + dtype(offset)
    for source in sources(X, tmp_path).values():
        model = PCA(2)
        assert_exact(model.fit_transform(source), X, model)
        assert_exact(model.transform(source), X, model)
        model.transform(source, out=tmp_path / "scores.npy")
        assert_exact(np.load(tmp_path / "scores.npy"), X, model)


def models(X):
    """The same model, whichever way it is made."""
    return {
        "fit": PCA(2).fit(X),
        "partial_fit": PCA(2).partial_fit(X[:2]).partial_fit(X[2:9]).partial_fit(X[9:]),
        "triangles": PCA(2, svd_solver="svd").partial_fit(X[:6]).partial_fit(X[6:]),
        "merge": merge([PCA(2).fit(X[:3]), PCA(2).fit(X[3:8]), PCA(2).fit(X[8:])]),
        "scaled": PCA(2, scale=True).fit(X),
        "whitened": PCA(2, whiten=True).fit(X),
    }


@pytest.mark.parametrize("offset", [2.0**30, 2.0**52])
def test_all_that_a_model_says_moves_with_the_rows(tmp_path, offset):
    for (name, there), here in zip(models(ROWS + offset).items(), models(ROWS + 0.0).values(), strict=True):
        there.save(tmp_path / "model.safetensors")
        for model in (there, load(tmp_path / "model.safetensors")):
            X, Y = ROWS + offset, here.transform(ROWS)
            close = {"rtol": 1e-11, "atol": 1e-11 * np.abs(Y).max(), "err_msg": name}
            np.testing.assert_allclose(model.transform(X), Y, **close)
            np.testing.assert_allclose(model.reconstruction_error(X), here.reconstruction_error(ROWS), rtol=1e-9)
            np.testing.assert_allclose(model.score_samples(X), here.score_samples(ROWS), rtol=1e-9)
            np.testing.assert_allclose(model.get_covariance(), here.get_covariance(), rtol=1e-9, atol=1e-9)
            back = here.inverse_transform(Y)
            assert (np.abs(model.inverse_transform(Y) - offset - back) <= np.spacing(offset) / 2 + 1e-9).all()


def test_a_sketch_keeps_both_words_too(tmp_path):
    X = np.random.default_rng(0).integers(-9, 9, (30, 300)) + 2.0**50
    model = PCA(2, memory_limit="1.5MB", tol=0.5).partial_fit(X[:20]).partial_fit(X[20:])
    assert "a sketch of" in model.plan_.why
    model.save(tmp_path / "model.safetensors")
    near = X - 2.0**50
    truth = (near - near.mean(axis=0)) @ model.subspace_.axes
    for sketched in (model, load(tmp_path / "model.safetensors")):
        np.testing.assert_allclose(sketched.transform(X), truth, atol=1e-12 * np.abs(truth).max())


def test_float32_far_from_the_rows_of_the_fit():
    """Rows that lie elsewhere are as far from the mean as uncentred ones from 0."""
    X = np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32)
    model, far = PCA(3).fit(X), X + np.float32(2**20)
    truth = model.subspace_.encode(far.astype(np.float64))
    np.testing.assert_allclose(model.transform(far), truth, rtol=2 * EPS32)


def test_tiny_float32_scores_can_be_whitened():
    X = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    Y = PCA(2, whiten=True).fit_transform(X * np.float32(2.0**-133))
    np.testing.assert_allclose(np.std(Y, axis=0, ddof=1), 1.0, rtol=1e-3)


def test_sparse_rows_far_from_0():
    """Where centring by a difference would lose digits, blocks are centred as dense ones are."""
    X = ROWS + 2.0**40
    model = PCA(2).fit(X)
    np.testing.assert_allclose(model.transform(sp.csr_array(X)), model.transform(X), rtol=1e-13)
    np.testing.assert_allclose(model.reconstruction_error(sp.csr_array(X)), model.reconstruction_error(X), rtol=1e-11)
    near = PCA(2).fit(ROWS + 2.0**12)
    far = sp.csr_array(ROWS + 2.0**12)
    np.testing.assert_allclose(near.reconstruction_error(far), near.reconstruction_error(ROWS + 2.0**12), rtol=1e-11)


@pytest.mark.parametrize("solver", ["auto", "gram", "krylov"])
@pytest.mark.parametrize("batches", [False, True])
@pytest.mark.parametrize("scale", [False, True])
def test_shares_of_sparse_rows_far_from_0_add_up_to_1_at_most(solver, batches, scale):
    """The total is summed up otherwise than the variances; what both differ by is rounding."""
    rng = np.random.default_rng(0)
    for n, d, k in ((300, 3, 1), (300, 40, 2), (60, 90, 2)):
        X = 2.0**52 + np.round(np.outer(rng.standard_normal(n), rng.standard_normal(d)) * 2.0**40)
        model, rows = PCA(k, svd_solver=solver, scale=scale), sp.csr_array(X)
        if batches:
            for start in range(0, n, n // 3):
                model.partial_fit(rows[start : start + n // 3])
        else:
            model.fit(rows)
        assert model.explained_variance_ratio_.sum() <= 1 + 1e-12
        columns = [[int(x) for x in column] for column in X.T]
        squares = [sum(x * x for x in column) - Fraction(sum(column) ** 2, n) for column in columns]
        truth = d if scale else float(sum(squares) / (n - 1))
        assert abs(model.total_variance_ - truth) <= (k + 1) * model.certificate_.rounding


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_kernels_and_their_way_back(tmp_path, kernel):
    offset, options = 2.0**44, {"kernel": kernel, "gamma": 1e-5, "fit_inverse_transform": True}
    here, there = KernelPCA(2, **options).fit(ROWS + 0.0), KernelPCA(2, **options).fit(ROWS + offset)
    there.save(tmp_path / "model.safetensors")
    for model in (there, load(tmp_path / "model.safetensors")):
        Y = model.transform(ROWS + offset)
        np.testing.assert_allclose(Y, here.transform(ROWS), atol=1e-12 * np.abs(Y).max())
        back = here.inverse_transform(Y)
        assert (np.abs(model.inverse_transform(Y) - offset - back) <= np.spacing(offset) / 2 + 1e-9).all()
        found, expected = (model.reconstruction_error(ROWS + offset), here.reconstruction_error(ROWS))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_kernels_of_large_integers():
    here, there = KernelPCA(2).fit(ROWS), KernelPCA(2).fit(ROWS + 2**52)
    np.testing.assert_allclose(there.transform(ROWS + 2**52), here.transform(ROWS), rtol=1e-11)


def test_a_remainder_is_what_rounding_leaves():
    axes, variances, mean = np.eye(2)[:, :1], np.array([1.0]), np.array([1e6, 1.0])
    Subspace(axes, variances, mean, remainder=np.array([1e-11, 0.0]))
    for wrong in ({"mean": mean, "remainder": np.array([1e-9, 0.0])}, {"remainder": np.zeros(2)}):
        with pytest.raises(DataError, match="what the rounding of the mean left over"):
            Subspace(axes, variances, **wrong)
    with pytest.raises(DataError, match="remainder must hold 2 finite numbers"):
        Subspace(axes, variances, mean, remainder=np.zeros(3))

"""The variance left out: summed from values that are known, never from Ritz values that have not converged."""

import numpy as np
import pytest

from ritz import PCA, merge, solvers
from ritz.spectrum.subspace import NEAR


@pytest.mark.parametrize("solver", ["krylov", solvers.Krylov(max_iter=2)], ids=["loose", "capped"])
@pytest.mark.parametrize("route", ["fit", "stream", "merge"])
@pytest.mark.filterwarnings("ignore::ritz.errors.AccuracyWarning")
def test_unconverged_values_are_not_taken_for_what_was_left_out(solver, route):
    """Moments of few rows are of higher order than their rank: so many Ritz values are not yet all eigenvalues."""
    X = np.random.default_rng(0).standard_normal((12, 200))
    X[:, :3] *= 30
    model = PCA(2, svd_solver=solver, tol=1e-2, random_state=0)
    if route == "fit":
        model.fit(X)
    elif route == "stream":
        model.partial_fit(X)
    else:
        model = merge([PCA(2, svd_solver=solver, tol=1e-2, random_state=0).fit(part) for part in (X[:6], X[6:])])
    total = np.var(X, axis=0, ddof=1).sum()
    left_out = model.noise_variance_ * (12 - 2)
    assert left_out == pytest.approx(total - model.explained_variance_.sum(), rel=1e-10)


def test_small_variances_left_out_keep_their_digits():
    """Where all values are known, they are summed: the trace has lost what is 1e-18 of it."""
    U, V = (np.linalg.qr(np.random.default_rng(seed).standard_normal((n, 4)))[0] for seed, n in ((0, 30), (1, 6)))
    U = np.linalg.qr(U - U.mean(axis=0))[0]
    X = (U * np.array([1.0, 0.5, 1e-9, 1e-9])) @ V.T
    model = PCA(2, svd_solver="svd").fit(X)
    truth = np.linalg.svd(X - X.mean(axis=0))[1][2:] ** 2 / 29
    assert model.noise_variance_ == pytest.approx(truth.sum() / 4, rel=1e-5)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("share", [0.99, 1.01])
def test_scores_keep_their_digits_on_both_sides_of_what_is_near(share, scaled, whiten):
    """A mean that is near is taken off the product, one that is not off the rows: either way the weakest component has
    its digits, and rows come back."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6)) * [3.0, 2.5, 2.0, 1.0, 0.5, 0.1]
    X = np.linalg.qr(X - X.mean(axis=0))[0] * [3.0, 2.5, 2.0, 1.0, 0.5, 0.1]
    if scaled:
        X /= X.std(axis=0, ddof=1)
    weakest = PCA(4, scale=scaled).fit(X).subspace_.deviations[-1]
    X = X + share * NEAR * weakest * np.array([0.6, 0.8, 0, 0, 0, 0])
    model = PCA(4, scale=scaled, whiten=whiten).fit(X)
    assert model.subspace_._mean_is_small == (share < 1)
    exact = X.astype(np.longdouble) - model.mean_
    exact = exact / (model.scale_ if scaled else 1) @ model.components_.T.astype(np.longdouble)
    if whiten:
        exact = exact / np.sqrt(model.explained_variance_)
    unit = 1.0 if whiten else np.sqrt(model.explained_variance_[-1])
    Y = model.transform(X)
    assert np.abs(Y - exact).max() <= 8 * NEAR * np.finfo(float).eps * unit
    back = (exact * np.sqrt(model.explained_variance_) if whiten else exact) @ model.components_
    back = back * (model.scale_ if scaled else 1) + model.mean_
    np.testing.assert_allclose(
        model.inverse_transform(Y), back.astype(float), atol=16 * np.finfo(float).eps * np.abs(X).max()
    )

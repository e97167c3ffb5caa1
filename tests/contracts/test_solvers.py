"""Every solver, side, preprocessing, precision and spectrum, against LAPACK on data centred in extended precision."""

import re
import warnings
from functools import cache

import numpy as np
import pytest

from helpers.matrices import SHAPES, SPECTRA, preprocess, promised, sine, with_spectrum
from ritz import PCA, AccuracyWarning, KernelPCA, eigen, solvers
from ritz.spectrum.certify import signs

DIRECT = ["auto", "covariance", "gram", "svd"]
ITERATIVE = ["power", "orthogonal", "krylov"]
K = 4


@cache
def judged(prep, dtype, shape, spectrum):
    """Rows, and the singular values and axes of what is left of them after preprocessing in extended precision."""
    n, d = SHAPES[shape]
    rng = np.random.default_rng(len(spectrum) + n)
    X = with_spectrum(n, d, SPECTRA[spectrum](min(n, d)), rng, offset=3.0 if prep == "centre" else 0.0).astype(dtype)
    if prep == "scale":
        X = (X + 0.01 * rng.standard_normal(X.shape)).astype(dtype)  # no column may be constant
    Z = preprocess(X, prep != "none", prep == "scale").astype(np.float64)
    return X, Z, *np.linalg.svd(Z, full_matrices=False)[1:]


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("prep", ["none", "centre", "scale"])
@pytest.mark.parametrize("solver", DIRECT + ITERATIVE)
def test_every_solver_keeps_its_promises(solver, prep, dtype, shape, spectrum):
    (n, d), (X, Z, sigma, axes) = SHAPES[shape], judged(prep, dtype, shape, spectrum)
    center, scale = prep != "none", prep == "scale"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        pca = PCA(K, center=center, scale=scale, svd_solver=solver, random_state=1).fit(X)

    truth = sigma**2 / (n - 1)
    total, certificate = truth.sum(), pca.certificate_
    U = pca.components_.T.astype(np.float64)
    assert np.linalg.norm(U.T @ U - np.eye(K)) <= promised(X.shape, dtype)  # T1
    values = np.asarray(pca.subspace_.variances)
    if pca.plan_.solver == "svd":  # T2
        assert np.abs(np.sqrt(values * (n - 1)) - sigma[:K]).max() <= promised(X.shape) * sigma[0]
    elif solver in DIRECT:
        assert np.abs(values - truth[:K]).max() <= promised(X.shape) * total
    elif certificate.satisfied:
        C = Z.T @ Z / (n - 1)
        residual = np.linalg.norm(C @ pca.subspace_.axes - pca.subspace_.axes * values, axis=0)
        assert residual.max() <= 1e-6 * truth[0] + 1e-30
    slack = 0.4 * promised(X.shape) * total
    low, high = certificate.value_bounds.T
    assert (low - slack <= truth[:K]).all()
    assert (truth[:K] <= high + slack).all()
    for s, e in certificate.groups:  # T3, on whole groups
        if certificate.angle_bounds[s] < 1:
            measured = sine(pca.subspace_.axes[:, s:e], axes[s:e].T)
            below = truth[e] if e < len(truth) else (0.0 if d > len(truth) else -np.inf)
            gap = min(truth[s - 1] - truth[s] if s else np.inf, truth[e - 1] - below)
            assert measured <= certificate.angle_bounds[s] + slack / max(gap, 1e-300)


@pytest.mark.parametrize("solver", [*DIRECT, *ITERATIVE])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [False, True])
def test_a_certificate_of_an_easy_problem_is_sharp(solver, shape, scale):
    """Bounds that say nothing would never be violated: here they must say everything."""
    n, d = SHAPES[shape]
    rng = np.random.default_rng(9)
    X = with_spectrum(n, d, 2.0 ** -np.arange(min(n, d)), rng, offset=3.0) + 1e-3 * rng.standard_normal((n, d))
    certificate = PCA(2, svd_solver=solver, scale=scale).fit(X).certificate_
    assert certificate.satisfied
    assert certificate.completeness == "proved"
    assert certificate.complete_to == 2
    assert certificate.groups == ((0, 1), (1, 2))
    low, high = certificate.value_bounds.T
    assert (high - low <= 1e-6 * certificate.values).all()
    assert certificate.angle_bounds.max() < 1e-4


@pytest.mark.parametrize("solver", [*DIRECT, *ITERATIVE])
@pytest.mark.parametrize("shape", SHAPES)
def test_solvers_agree_and_choose_the_same_signs(solver, shape):
    n, d = SHAPES[shape]
    X = with_spectrum(n, d, SPECTRA["gapped"](min(n, d)), np.random.default_rng(3), offset=5.0)
    reference, other = PCA(3, svd_solver="svd").fit(X), PCA(3, svd_solver=solver, tol=1e-9).fit(X)
    np.testing.assert_allclose(other.components_, reference.components_, atol=1e-7)
    np.testing.assert_allclose(other.explained_variance_, reference.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(other.transform(X), reference.transform(X), atol=1e-6)


def test_signs_make_the_first_of_the_nearly_largest_entries_positive():
    rng = np.random.default_rng(4)
    U = rng.choice([-1.0, -0.9995, -0.5, 0.0, 0.5, 0.9995, 1.0], size=(6, 400))
    U[:, 0] = 0.0
    for column, sign in zip(U.T, signs(U), strict=True):
        large = [value for value in column if abs(value) >= 0.999 * np.abs(column).max()]
        assert sign == (-1.0 if large[0] < 0 else 1.0)


@pytest.mark.parametrize("ddof", [0, 1])
def test_dual_components_reproduce_the_axes(ddof):
    X = with_spectrum(12, 60, SPECTRA["gapped"](12), np.random.default_rng(0), offset=2.0)
    pca = PCA(5, svd_solver="gram", ddof=ddof).fit(X)
    Z = X - X.mean(axis=0)
    np.testing.assert_allclose(Z.T @ pca.dual_components_, pca.components_.T, atol=1e-10)
    K = Z @ Z.T  # α = β/√κ with K β = κ β, ‖β‖ = 1
    kappa = pca.explained_variance_ * (12 - ddof)
    beta = pca.dual_components_ * np.sqrt(kappa)
    np.testing.assert_allclose(np.linalg.norm(beta, axis=0), 1, atol=1e-10)
    np.testing.assert_allclose(K @ beta, beta * kappa, atol=1e-9 * kappa[0])


def test_other_routes_say_where_dual_components_come_from():
    with pytest.raises(AttributeError, match="svd_solver='gram'"):
        _ = PCA(1).fit(np.diag([1.0, 2.0, 3.0])).dual_components_


def test_power_obeys_its_limit_and_names_the_eigengap():
    X = with_spectrum(60, 8, [1.0, 0.999, *np.full(6, 0.1)], np.random.default_rng(2))
    with pytest.warns(AccuracyWarning, match=r"max_iter, after 20 .* eigengap"):
        pca = PCA(1, svd_solver=solvers.Power(max_iter=20)).fit(X)
    assert len(pca.history_) == 20
    assert not pca.certificate_.satisfied
    assert pca.history_[-1].residual > 1e-6


def test_power_history_converges_like_the_ratio_of_eigenvalues():
    A = np.diag([1.0, 0.5, 0.1])
    from ritz import eigen

    found = eigen(A, 1, solver="power", tol=1e-10)
    residuals = np.array([step.residual for step in found.history])
    decay = residuals[11:20] / residuals[10:19]
    np.testing.assert_allclose(decay, 0.5, rtol=1e-3)


def test_the_stopping_rule_belongs_to_the_solver_but_pca_goes_on_to_tol():
    X = with_spectrum(80, 6, [1.0, 0.9, 0.3, 0.2, 0.1, 0.05], np.random.default_rng(4))
    loose = solvers.Power(change=1e-2)
    from ritz.operators import Dense

    C = np.cov(X.T)
    alone = loose.basis(Dense(C), 1, tol=None, rng=np.random.default_rng(0))
    pca = PCA(1, svd_solver=loose, tol=1e-8).fit(X)
    assert len(pca.history_) > len(alone.history)
    assert pca.certificate_.satisfied


def test_orthogonal_respects_iterated_power_and_oversampling():
    X = with_spectrum(80, 30, 1 / np.arange(1, 31), np.random.default_rng(4))
    with pytest.warns(AccuracyWarning):
        short = PCA(3, svd_solver="orthogonal", iterated_power=4).fit(X)
    assert len(short.history_) == 4
    narrow = PCA(3, svd_solver="orthogonal", n_oversamples=1).fit(X)
    wide = PCA(3, svd_solver="orthogonal", n_oversamples=20).fit(X)
    assert len(wide.history_) < len(narrow.history_)


@pytest.mark.parametrize("tol", [0, 1e-12])
@pytest.mark.parametrize("solver", ["auto", "covariance", "svd", *ITERATIVE])
def test_tol_zero_and_tiny_are_reached(solver, tol):
    X = with_spectrum(50, 6, [10, 5, 2, 1, 0.5, 0.2], np.random.default_rng(6), offset=1.0)
    pca = PCA(2, svd_solver=solver, tol=tol).fit(X)
    assert pca.certificate_.satisfied


def test_only_auto_escalates():
    X = with_spectrum(2000, 8, 1e-9 ** (np.arange(8) / 7), np.random.default_rng(7))
    sigma = np.linalg.svd(X - X.mean(axis=0))[1]
    with pytest.warns(AccuracyWarning, match="rank"):
        covariance = PCA(8, svd_solver="covariance").fit(X)
    assert covariance.plan_.solver == "covariance"
    assert covariance.explained_variance_[-1] == 0
    auto = PCA(8).fit(X)
    assert auto.plan_.solver == "svd"
    np.testing.assert_allclose(auto.singular_values_, sigma, rtol=1e-5)


@pytest.mark.parametrize("share", [0.3, 0.8, 0.99])
@pytest.mark.parametrize("solver", [*DIRECT, *ITERATIVE])
def test_a_fraction_follows_the_same_rule_with_every_solver(solver, share):
    X = with_spectrum(100, 40, 1 / np.arange(1, 41) ** 0.8, np.random.default_rng(8))
    ratios = np.linalg.svd(X - X.mean(axis=0))[1] ** 2
    expected = int(np.searchsorted(np.cumsum(ratios / ratios.sum()), share, side="right") + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        assert PCA(share, svd_solver=solver).fit(X).n_components_ == expected


SHORT = {
    "power": solvers.Power(max_iter=8),
    "orthogonal": solvers.Orthogonal(max_iter=8, oversample=1),
    "krylov": solvers.Krylov(max_iter=3),
}
RELATIVE = (
    r"residual of every component at most (\S+) of the first (variance|eigenvalue); PC\d stopped at max_iter, after "
)


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("unit", [1.0, 2.0**20, 2.0**-400])
def test_residuals_that_fall_short_are_said_relative_to_the_first_value(name, unit):
    """Whatever the units of the rows are."""
    X = with_spectrum(300, 120, 0.97 ** np.arange(120), np.random.default_rng(4)) * unit
    models = [PCA(3, svd_solver=SHORT[name]), KernelPCA(3, eigen_solver=SHORT[name])]
    for model in models:
        with pytest.warns(AccuracyWarning, match="did not converge") as told:
            model.fit(X)
        [said, _] = re.search(RELATIVE, str(told[0].message)).groups()
        assert float(said) == pytest.approx(model.certificate_.reached, rel=0.1)
        assert len(re.findall(r"residual of|residual at", str(told[0].message))) == 1  # and no second size beside it
    with pytest.warns(AccuracyWarning, match=RELATIVE):
        eigen(np.cov(X.T / unit) * unit, 3, solver=SHORT[name])


@pytest.mark.parametrize("oversample", [0, 3, 10])
@pytest.mark.parametrize("max_iter", [1, 2, 3, 6, 12])
def test_an_early_stop_tells_a_rate_only_where_it_was_seen(oversample, max_iter):
    """Few iterations say nothing of how a residual falls, and no 1.0000 stands where the ratio is 0.07."""
    rng = np.random.default_rng(1)
    values = 0.8 ** np.arange(60)
    Q = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    solver = solvers.Orthogonal(oversample=oversample, max_iter=max_iter, change=0)
    with pytest.warns(AccuracyWarning, match="stopped at max_iter") as told:
        PCA.from_covariance((Q * values) @ Q.T, n_rows=1000, n_components=3, svd_solver=solver, tol=1e-14)
    text = str(told[0].message)
    if found := re.search(r"PC(\d) stopped .* about (\S+); in the long .* the ratio of eigenvalue (\d+)", text):
        component, seen, last = int(found[1]), float(found[2]), int(found[3])
        assert seen == pytest.approx(values[last - 1] / values[component - 1], rel=0.5)
    else:
        assert "too few to tell how fast it converges" in text
        assert max_iter < 12

"""What the certificate of a kernel fit claims, tried against LAPACK on random rows, kernels and solvers."""

import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh

from helpers.counts import usually
from helpers.kernels import centred, eigen_descending, kernel_value
from helpers.matrices import (
    broken_claims,
    sine,
)
from ritz import AccuracyWarning, KernelPCA, solvers

pytestmark = pytest.mark.usefixtures("one_thread")

KERNELS = {
    "linear": {},
    "cosine": {},
    "rbf": {"gamma": 0.3},
    "laplacian": {"gamma": 0.3},
    "poly": {"gamma": 0.3, "degree": 3, "coef0": 1.0},
    "poly even": {"gamma": 0.3, "degree": 2, "coef0": 0.0},
}
SOLVERS = ["auto", "dense", "arpack", "randomized", "krylov", "power", "orthogonal", "lowrank"]
OBJECTS = [solvers.Krylov(max_iter=3), solvers.Power(max_iter=4), solvers.Orthogonal(max_iter=2), solvers.Gram()]


def rows(kind, n, d, rng):
    X = rng.standard_normal((n, d))
    if kind == "duplicates":
        X[n // 2 :] = X[: n - n // 2]
    elif kind == "rank one":
        X = np.outer(X[:, 0], np.arange(1, d + 1))
    elif kind == "clusters":
        X = X * 1e-3 + 10 * rng.integers(0, 3, (n, 1))
    elif kind == "graded":
        X = X * 10.0 ** -np.arange(d)
    elif kind == "circle":
        angles = 2 * np.pi * np.arange(n) / n  # eigenvalues come in pairs
        X = np.column_stack([np.cos(angles), np.sin(angles), np.zeros((n, d))])
    return X


def truth_of(name, X, gamma_scale=1.0):
    """H K H, formed in extended precision and rounded once; and the error of LAPACK on it."""
    options = dict(KERNELS[name])
    if "gamma" in options:
        options["gamma"] *= gamma_scale
    K = kernel_value(name.split()[0], X, X, **options)
    A = centred(K).astype(np.float64)
    return options, A, len(A) * (1e-14 * float(np.linalg.norm(A)) + 1e-18 * float(np.abs(K).max()))


def check_fit(model, A, slack):
    """All claims at once; returns what is broken."""
    k, U = len(model.eigenvalues_), model.eigenvectors_
    certificate = model.certificate_
    broken = broken_claims(certificate, U, A, slack) if k else []
    truth, total = eigen_descending(A)[0], float(np.trace(A))
    if np.linalg.norm(U.T @ U - np.eye(k)) > 50 * len(A) * np.finfo(float).eps:
        broken.append("eigenvectors are not orthonormal")
    if total > slack:
        low, high = model.explained_variance_ratio_bounds_.T
        share, judge = truth[:k] / total, 2 * slack / total
        if (low > share + judge).any() or (high < share - judge).any():
            broken.append(f"ratios {share} outside {model.explained_variance_ratio_bounds_.tolist()}")
        given = model.explained_variance_ratio_
        if (given < low - judge).any() or (given > high + judge).any():
            broken.append("ratios outside their own bounds")
    if certificate.rank < len(certificate.values):
        limit = certificate.value_bounds[certificate.rank, 1]
        if truth[certificate.rank] > limit + slack:
            broken.append(f"rank {certificate.rank}, but {truth[certificate.rank]} is above {limit}")
    if (model.eigenvalues_[certificate.rank :] != 0).any():
        broken.append("values beyond the rank")
    return broken


def off_in_transform(model, X, scores) -> float:
    """How far transform is from the scores of the fit, in units of what the residuals allow: A u/√λ is not √λ u."""
    certificate, seen = model.certificate_, model.eigenvalues_ > 0
    allowed = 2 * (certificate.residuals + certificate.rounding)[seen] / np.sqrt(model.eigenvalues_[seen])
    apart = np.linalg.norm(model.transform(X) - scores, axis=0)
    assert (apart[~seen] == 0).all()
    return float((apart[seen] / allowed).max(initial=0.0))


@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["normal", "duplicates", "rank one", "clusters", "graded", "circle"]),
    name=st.sampled_from(sorted(KERNELS)),
    n=st.integers(3, 60),
    d=st.integers(1, 6),
    k=st.integers(1, 8) | st.none() | st.sampled_from([0.5, 0.95]),
    solver=st.sampled_from(SOLVERS) | st.sampled_from(OBJECTS),
    tol=st.sampled_from([0.0, 1e-10, 1e-6, 1e-2]),
    gamma_scale=st.sampled_from([1e-6, 1e-2, 1.0, 100.0]),
)
@example(seed=1, kind="normal", name="cosine", n=3, d=1, k=1, solver="lowrank", tol=0.0, gamma_scale=1.0)
@example(seed=1675, kind="clusters", name="poly even", n=4, d=1, k=3, solver="dense", tol=1e-10, gamma_scale=1e-2)
@settings(max_examples=usually(100, thorough=250), deadline=None)
def test_no_claim_is_broken(seed, kind, name, n, d, k, solver, tol, gamma_scale):
    X = rows(kind, n, d, np.random.default_rng(seed))
    options, A, slack = truth_of(name, X, gamma_scale)
    whole = solver == "lowrank" and not isinstance(k, int)  # landmarks need a number
    k = min(k, n) if isinstance(k, int) else 1 if whole else k
    model = KernelPCA(k, kernel=name.split()[0], eigen_solver=solver, tol=tol, random_state=seed, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", AccuracyWarning)
        scores = model.fit_transform(X)
    assert check_fit(model, A, slack) == []
    if solver != "lowrank":
        assert off_in_transform(model, X, scores) <= 1


@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["normal", "duplicates", "clusters", "graded", "circle"]),
    name=st.sampled_from(sorted(KERNELS)),
    n=st.integers(12, 60),
    k=st.integers(1, 5),
    landmarks=st.integers(6, 12) | st.sampled_from([0.5, 0.1, 1e-3]),
    gamma_scale=st.sampled_from([1e-2, 1.0, 100.0]),
)
@example(seed=0, kind="circle", name="rbf", n=40, k=4, landmarks=0.5, gamma_scale=1.0)
@settings(max_examples=usually(75, thorough=150), deadline=None)
def test_landmarks_claim_no_more_than_they_know(seed, kind, name, n, k, landmarks, gamma_scale):
    X = rows(kind, n, 3, np.random.default_rng(seed))
    options, A, slack = truth_of(name, X, gamma_scale)
    model = KernelPCA(k, kernel=name.split()[0], n_landmarks=landmarks, random_state=seed, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", AccuracyWarning)
        scores = model.fit_transform(X)
    assert check_fit(model, A, slack) == []
    assert 0 <= model.trace_error_ <= 1
    if isinstance(landmarks, float):
        assert model.trace_error_ <= landmarks
    np.testing.assert_allclose(model.transform(X), scores, atol=1e-6 * max(np.abs(scores).max(), 1e-300))


def test_a_group_that_is_cut_where_rounding_begins_claims_nothing():
    """27 small eigenvalues near the floor of rounding: some are dropped, and the rest is no group of its own."""
    rng = np.random.default_rng(0)
    for floor in np.geomspace(1e-8, 3e-6, 12):
        Q = np.linalg.qr(rng.standard_normal((100, 30)) - 0.0)[0]
        X = (Q - Q.mean(axis=0)) * np.r_[1, 0.5, 0.2, floor * (1 + 0.1 * rng.standard_normal(27))]
        _, A, slack = truth_of("linear", X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            models = [KernelPCA().fit(X), KernelPCA(30, remove_zero_eig=True).fit(X)]
        for model in models:
            assert len(model.certificate_.values) == len(model.eigenvalues_)
            assert check_fit(model, A, slack) == []


@cache
def many(name):
    """Rows enough for float32 tiles, strips and landmarks, with the leading eigenpairs and the trace of H K H."""
    X = np.random.default_rng(1).standard_normal((1550, 6)) * [4, 2, 2, 1, 1, 0.5]
    product = X @ X.T
    squares = np.diag(product)
    formulas = {
        "rbf": lambda: np.exp(-0.02 * np.maximum(squares[:, None] + squares - 2 * product, 0)),
        "linear": lambda: product,
        "cosine": lambda: product / np.sqrt(np.outer(squares, squares)),
    }
    A = centred(formulas[name]())
    values, vectors = eigh(A, subset_by_index=[len(A) - 7, len(A) - 1])
    return X, A, values[::-1], vectors[:, ::-1]


@pytest.mark.parametrize(
    ("name", "solver", "tol"),
    [
        ("rbf", "auto", 1e-6),
        ("rbf", "krylov", 1e-9),
        ("rbf", "orthogonal", 1e-6),
        ("rbf", "lowrank", 1e-6),
        ("linear", "auto", 1e-6),
        ("linear", "lowrank", 1e-6),
        ("cosine", "auto", 1e-6),
    ],
)
def test_many_rows(name, solver, tol):
    X, A, truth, vectors = many(name)
    gamma = 0.02 if name == "rbf" else None
    model = KernelPCA(5, kernel=name, eigen_solver=solver, tol=tol, gamma=gamma).fit(X)
    certificate, slack = model.certificate_, 1e-13 * np.trace(A)
    low, high = certificate.value_bounds.T
    assert certificate.satisfied
    assert (low <= truth[:5] + slack).all()
    assert (truth[:5] <= high + slack).all()
    residuals = np.linalg.norm(A @ model.eigenvectors_ - model.eigenvectors_ * model.eigenvalues_, axis=0)
    assert (residuals <= certificate.residuals + certificate.rounding + slack).all()
    for s, e in certificate.groups:
        gap = min(truth[s - 1] - truth[s] if s else np.inf, truth[e - 1] - truth[e])
        allowed = certificate.angle_bounds[s] + slack / gap + 1e-12
        assert sine(model.eigenvectors_[:, s:e], vectors[:, s:e]) <= allowed
    shares = model.explained_variance_ratio_bounds_
    assert (shares[:, 0] - 1e-13 <= truth[:5] / np.trace(A)).all()
    assert (truth[:5] / np.trace(A) <= shares[:, 1] + 1e-13).all()


@pytest.mark.parametrize("solver", ["auto", "dense", "krylov", "lowrank"])
@pytest.mark.parametrize("name", ["rbf", "poly", "cosine", "laplacian"])
def test_a_certificate_of_an_easy_problem_is_sharp(solver, name):
    """Bounds that say nothing would never be violated: here they must say everything."""
    X = np.random.default_rng(4).standard_normal((90, 3)) * [3, 1, 0.3]
    options = {"gamma": 0.02} if name != "cosine" else {}
    model = KernelPCA(2, kernel=name, eigen_solver=solver, **options).fit(X)
    certificate = model.certificate_
    assert certificate.satisfied
    assert certificate.completeness != "not excluded"
    assert certificate.complete_to == 2
    low, high = certificate.value_bounds.T
    assert (high - low <= 1e-6 * certificate.values).all()
    assert certificate.angle_bounds.max() < 1e-4
    assert np.ptp(model.explained_variance_ratio_bounds_, axis=1).max() < 1e-6
    assert "eigenvalue" in str(certificate)

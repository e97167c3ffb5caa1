"""What has not converged is never called rounding: no variance 0, no rank, no residual below the true one."""

import warnings

import numpy as np
import pytest

from helpers.matrices import random_orthonormal
from ritz import PCA, AccuracyWarning, eigen, solvers


def wide(n, d, sigma, seed=0):
    rng = np.random.default_rng(seed)
    U, V = random_orthonormal(n, len(sigma), rng), random_orthonormal(d, len(sigma), rng)
    return (U * sigma) @ V.T


def truth(X):
    return np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / (len(X) - 1)


def true_residuals(pca, X):
    """‖C u − λ u‖ of the axes and variances as they were delivered."""
    Z = (X - X.mean(axis=0)) / np.sqrt(len(X) - 1)
    U = pca.subspace_.axes
    return np.linalg.norm(Z.T @ (Z @ U) - U * pca.explained_variance_, axis=0)


def holds(pca, X):
    """The certificate's claims about values, residuals, zeros and what was reached."""
    certificate, k = pca.certificate_, pca.n_components_
    values, low, high = truth(X)[:k], *certificate.value_bounds.T
    judge = 1e-14 * values[0]  # of LAPACK
    assert (low <= values + judge).all()
    assert (high >= values - judge).all()
    zero = pca.explained_variance_ == 0
    assert (values[zero] <= 4 * certificate.rounding).all()
    assert certificate.rank == np.count_nonzero(~zero)
    true = true_residuals(pca, X)
    assert (true <= certificate.residuals * (1 + 1e-9) + certificate.rounding + judge).all()
    assert true.max() <= certificate.reached * values[0] * (1 + 1e-9) + judge
    if certificate.satisfied:
        assert true.max() <= certificate.tol * values[0] * (1 + 1e-9) + judge


@pytest.mark.parametrize("solver", ["auto", "krylov", "orthogonal"])
@pytest.mark.parametrize("tol", [1e-6, 1e-3, 1e-2])
@pytest.mark.parametrize(
    "sigma",
    [np.r_[1, 3e-3 / np.arange(1.0, 80)], np.arange(1.0, 81) ** -1.5, np.arange(1.0, 81) ** -0.6],
    ids=["one large", "fast", "slow"],
)
def test_variances_on_the_gram_side_are_not_set_to_zero(sigma, tol, solver):
    X = wide(200, 700, sigma)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # a tie at k
        pca = PCA(10, svd_solver=solver, tol=tol, random_state=0).fit(X)
    assert pca.certificate_.satisfied
    assert (pca.explained_variance_ > 0).all()
    holds(pca, X)


@pytest.mark.parametrize("seed", range(12))
def test_one_component_of_a_flat_spectrum_is_there(seed):
    X = np.random.default_rng(seed).standard_normal((60, 140)) / np.arange(1, 141) ** 0.6
    pca = PCA(1, svd_solver="krylov", tol=1e-2, random_state=seed).fit(X)
    np.testing.assert_allclose(pca.explained_variance_[0], truth(X)[0], rtol=1e-2)
    assert "rank" not in str(pca.certificate_)
    holds(pca, X)


@pytest.mark.parametrize("cap", [1, 2, 5, 20])
@pytest.mark.parametrize("solver", [solvers.Orthogonal, solvers.Krylov, solvers.Power])
@pytest.mark.parametrize("shape", [(40, 90), (90, 40)], ids=["gram", "covariance"])
@pytest.mark.parametrize("decay", [0.5, 2.0, 6.0])
def test_capped_iterations_state_their_true_residuals(shape, solver, cap, decay):
    X = wide(*shape, np.arange(1.0, 41) ** -decay, seed=cap)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        pca = PCA(8, svd_solver=solver(max_iter=cap), tol=1e-9, random_state=1).fit(X)
    holds(pca, X)


def test_a_start_that_misses_all_variance_makes_no_claim_about_the_rank():
    X = np.zeros((6, 4))
    X[:, 0], X[:, 1] = np.arange(6.0), [1, -1, 1, -1, 1, -1]
    with pytest.warns(AccuracyWarning) as caught:
        pca = PCA(1, svd_solver=solvers.Power(start=[0.0, 0, 0, 1])).fit(X)
    said = " ".join(str(warning.message) for warning in caught) + str(pca.certificate_)
    assert "may have been missed" in said
    assert "rank" not in said


@pytest.mark.parametrize("left", [1e-8, 1e-10, 1e-12])
def test_a_small_value_of_a_vector_that_has_not_converged_is_not_called_zero(left):
    """Its Ritz value is below rounding, but the trace says that variance is left."""
    start = np.zeros((3, 2))
    start[0, 0], start[1:, 1] = 1, [1e-4, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        found = eigen(np.diag([1.0, left, 0.0]), 2, solver=solvers.Power(max_iter=1, start=start), tol=1e-6)
    assert 0 < found.values[1] < 1e-15
    assert "rank" not in str(found)


def test_inner_products_that_magnify_rounding_do_not_loosen_the_bounds():
    X = wide(48, 54, np.r_[1, 6e-5 / np.arange(1.0, 40)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        pca = PCA(16, svd_solver=solvers.Orthogonal(max_iter=26, oversample=1), random_state=0).fit(X)
    holds(pca, X)
    low, high = pca.certificate_.value_bounds.T
    assert (high - low)[:4].max() < 1e-3 * pca.explained_variance_[3]


def test_exact_rank_deficiency_is_still_named():
    X = wide(30, 50, np.array([3.0, 2.0, 1.0]))
    for solver in ("auto", "krylov", "orthogonal", "gram", "svd", "covariance"):
        with pytest.warns(AccuracyWarning, match="rank 3"):
            pca = PCA(6, svd_solver=solver, random_state=0).fit(X)
        assert (pca.explained_variance_[3:] == 0).all(), solver
        holds(pca, X)


def test_an_early_stop_names_the_eigenvalue_that_decides():
    """With columns carried along, residuals fall by λ_{m+1}/λ_i: that says nothing about the next eigenvalue."""
    X = wide(60, 40, np.sqrt(0.75 ** np.arange(30.0)))
    said = (
        r"the ratio of eigenvalue 13 to eigenvalue 2, .* Ritz values 2 and 3 put the eigengap between them at about 0.2"
    )
    with pytest.warns(AccuracyWarning, match=said) as caught:
        PCA(2, svd_solver=solvers.Orthogonal(max_iter=6, oversample=10, change=0), tol=1e-12, random_state=0).fit(X)
    assert not any("next eigenvalue" in str(warning.message) for warning in caught)


@pytest.mark.parametrize("strength", [20.0, 30.0, 60.0])
def test_what_a_sketch_reached_is_relative_to_the_least_that_the_first_variance_can_be(strength):
    """A direction that comes last has lost nothing, so its variance is told half of what others lack too large."""
    rng = np.random.default_rng(0)
    noise, last = rng.standard_normal((400, 200)), np.zeros((2, 200))
    noise[:, 0], last[0, 0], last[1, 0] = 0, strength, -strength
    pca = PCA(1, memory_limit=8 * 200**2 * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        for part in (*np.array_split(noise, 4), last):
            pca.partial_fit(part)
        assert pca.certificate_.missing > 0
    X = np.vstack([noise, last])
    assert true_residuals(pca, X)[0] <= pca.certificate_.reached * truth(X)[0] * (1 + 1e-9)

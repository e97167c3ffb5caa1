"""Kernel PCA at the ends of what it is given: wide, far, narrow, alike, and little memory."""

import warnings

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from helpers.counts import usually
from helpers.kernels import centred, eigen_descending, kernel_value
from helpers.matrices import random_array
from helpers.memory import traced
from ritz import AccuracyWarning, KernelPCA
from ritz.kernels.plans import Task, plans_for
from ritz.operators.pivoted_cholesky import ROOM, randomly_pivoted


def rows(n, d=5, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.mark.parametrize("n_components", [None, 5])
def test_a_given_matrix_in_float32_is_positive_to_its_own_precision(n_components):
    K = rbf_kernel(rows(300).astype(np.float32), gamma=0.05)
    assert K.dtype == np.float32
    assert np.linalg.eigvalsh(centred(K.astype(float)))[0] < -1e-9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelPCA(n_components, kernel="precomputed").fit(K)
    truth = eigen_descending(centred(K.astype(float)))[0]
    low, high = model.certificate_.value_bounds.T
    k = len(model.eigenvalues_)
    assert k >= 5
    assert (low <= truth[:k] + 1e-12).all()
    assert (truth[:k] <= high + 1e-12).all()


def test_shares_of_an_indefinite_matrix_are_those_of_its_positive_part():
    values = np.r_[10.0, 8.0, np.ones(5), -np.ones(10)]
    Q = np.linalg.qr(np.column_stack([np.ones(18), rows(18, 17)]))[0][:, 1:]
    with pytest.warns(AccuracyWarning, match=r"below 0, the lowest 0\.1 times"):
        model = KernelPCA(5, kernel="precomputed").fit((Q * values) @ Q.T)
    np.testing.assert_allclose(model.explained_variance_ratio_, values[:5] / 23, rtol=1e-9)
    low, high = model.explained_variance_ratio_bounds_.T
    assert (low <= values[:5] / 23 + 1e-12).all()
    assert (values[:5] / 23 <= high + 1e-12).all()


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine"])
def test_wide_sparse_rows_stay_sparse(kernel):
    rng = np.random.default_rng(0)
    X = random_array((usually(350, thorough=700), 300_000), density=1e-4, rng=rng, format="csr")
    with traced() as taken:
        model = KernelPCA(3, kernel=kernel, gamma=0.1, memory_limit="200MB").fit(X)
    assert taken.peak < 100e6  # dense rows would take 0.8 or 1.7 GB
    used = np.unique(X.indices)
    full = KernelPCA(3, kernel=kernel, gamma=0.1).fit(X[:, used].toarray())
    np.testing.assert_allclose(model.eigenvalues_, full.eigenvalues_, rtol=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("far", [1e8, 1e15, 1e150, 1e300])
def test_rows_very_far_apart_are_alone(kernel, far):
    """K = I, so that H K H has the eigenvalue 1 and nothing else."""
    with pytest.warns(AccuracyWarning, match=r"flat|told apart"):
        model = KernelPCA(3, kernel=kernel, gamma=1.0).fit(rows(20) * far)
    np.testing.assert_allclose(model.eigenvalues_, 1.0, rtol=1e-12)


def test_neighbours_far_from_the_origin_are_seen_by_their_differences():
    """Rows that share an offset of 2**40 differ exactly, and so does their kernel from 1."""
    X = np.round(rows(40) * 1024) / 1024
    X[:20] += 2.0**40
    model = KernelPCA(4, kernel="rbf", gamma=0.2).fit(X)
    truth = eigen_descending(centred(kernel_value("rbf", X, X, gamma=0.2)).astype(float))[0]
    np.testing.assert_allclose(model.eigenvalues_, truth[:4], rtol=1e-12)


@pytest.mark.parametrize("options", [{"kernel": "rbf", "gamma": 0.0}, {"kernel": "poly"}, {"kernel": "linear"}])
def test_rows_that_are_alike_are_said_to_be_once(options):
    X = rows(30) if options.get("gamma") == 0.0 else np.ones((30, 3))
    with pytest.warns(AccuracyWarning) as said:
        model = KernelPCA(2, **options).fit(X)
    assert [("alike" in str(one.message)) for one in said] == [True]
    assert (model.eigenvalues_ == 0).all()
    assert (model.transform(X) == 0).all()


def test_landmarks_take_the_memory_of_what_they_are():
    X = rows(6000, 3)
    K = KernelPCA(2, kernel="rbf", gamma=0.05).fit(X).embedding_
    with traced() as taken:
        found = randomly_pivoted(
            np.ones(len(X)),
            lambda a, b: K.kernel.tile(K.points[a], K.points[b], K.frame),
            len(X),
            np.random.default_rng(0),
            enough=60.0,
        )
    assert found.error <= 60
    assert len(found.pivots) < 500
    assert taken.peak < 1.5 * 8 * len(X) * ROOM
    few = KernelPCA(2, kernel="rbf", gamma=0.05, n_landmarks=50, tol=0.5).fit(X).plan_
    many = KernelPCA(2, kernel="rbf", gamma=0.05, n_landmarks=800, tol=0.5).fit(X).plan_
    assert few.memory < many.memory / 2


def test_landmarks_find_more_than_they_began_with_room_for():
    X = rows(1500, 8)
    model = KernelPCA(2, kernel="rbf", gamma=0.3, n_landmarks=1e-4, tol=0.5).fit(X)
    assert model.trace_error_ <= 1e-4
    exact = KernelPCA(2, kernel="rbf", gamma=0.3).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-6)


def test_a_kernel_that_is_0_on_the_diagonal_is_as_good_as_any():
    """Minus the distance is an inner product once it is centred, though not before."""
    X = np.repeat([[0.0], [1.0]], 10, axis=0)

    def energy(X, Y):
        return -np.sqrt(((X[:, None] - Y) ** 2).sum(axis=2))

    truth = eigen_descending(centred(energy(X, X)))[0]
    for solver in ("dense", "krylov", "power", "orthogonal"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            model = KernelPCA(3, kernel=energy, eigen_solver=solver).fit(X)
        np.testing.assert_allclose(model.eigenvalues_, truth[:3], atol=1e-9)
        U = model.eigenvectors_
        np.testing.assert_allclose(U.T @ U, np.eye(3), atol=1e-10)


def test_a_share_of_the_trace_that_memory_does_not_allow_is_missed_aloud():
    X = rows(3000, 8)
    with pytest.warns(AccuracyWarning, match=r"n_landmarks=0\.001 allows landmarks to leave out"):
        model = KernelPCA(2, kernel="rbf", gamma=0.3, n_landmarks=1e-3, tol=0.5, memory_limit="12MB").fit(X)
    assert model.trace_error_ > 1e-3
    assert model.plan_.memory <= 12e6


def test_pre_images_stay_within_the_memory_allowed():
    X = rows(3000, 5)
    peaks = []
    for limit in ("60MB", "1GB"):
        with traced() as taken:
            model = KernelPCA(3, kernel="rbf", gamma=0.1, fit_inverse_transform=True, memory_limit=limit).fit(X)
        peaks.append(taken.peak)
        assert model.preimage_error_ < 0.9 * np.square(X).sum(axis=1).mean()
    assert peaks[0] < 70e6 < peaks[1]


def test_errors_that_name_the_way_out():
    X = rows(1400)
    with pytest.raises(ValueError, match=r"n_landmarks=10 does not go with eigen_solver='krylov'"):
        KernelPCA(2, kernel="rbf", n_landmarks=10, eigen_solver="krylov").fit(X)
    with pytest.raises(ValueError, match=r"n_landmarks=900, but memory_limit has room for \d+; ask for fewer"):
        KernelPCA(2, kernel="rbf", n_landmarks=900, memory_limit="12MB").fit(X)
    with pytest.raises(ValueError, match="kernel_params=3"):
        KernelPCA(2, kernel=lambda x, y: x @ y, kernel_params=3).fit(X)
    with pytest.raises(ValueError, match=r"eigen_solver=3 is not one of"):
        KernelPCA(2, eigen_solver=3).fit(X)
    with pytest.raises(ValueError, match=r"n_components=0\.99.*hold a share of 0\.\d+; ask for less"):
        KernelPCA(0.99, kernel="rbf", gamma=3.0, memory_limit="30MB").fit(X)
    with pytest.raises(ValueError, match="further apart than float64"):
        KernelPCA(1).fit(np.array([[1.79e308], [-1.79e308], [0.0]]))


@pytest.mark.parametrize("scale", [1e160, 1e-170])
def test_pre_images_of_the_linear_kernel_at_any_scale(scale):
    X = rows(50) * scale
    model = KernelPCA(5, fit_inverse_transform=True).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-9 * scale)


@pytest.mark.parametrize(
    ("n", "k", "solver"),
    [
        (400, 5, "dense"),
        (4000, 10, "krylov"),
        (7291, 2048, "dense"),
        (100_000, 20, "lowrank"),
        (1_000_000, 5, "lowrank"),
    ],
)
def test_the_plan_follows_from_the_size(n, k, solver):
    plan = plans_for(Task(n, 20, k, limit=12 << 30, narrow=True))[0]
    assert plan.solver == solver
    assert plan.memory <= 12 << 30
    assert str(plan).startswith(solver)

"""A row that is left out, against a fit without it."""

import numpy as np
import pytest

from ritz.monitoring.left_out_row import _secular, left_out
from ritz.monitoring.residual import Residual
from ritz.monitoring.textbook import Freedom, t2_of_new


def without(X, i, k):
    """T² and SPE of row i by all others, and the variance that these leave out."""
    others = np.delete(X, i, axis=0)
    mean = others.mean(axis=0)
    _, s, Vt = np.linalg.svd(others - mean, full_matrices=False)
    values = s**2 / (len(others) - 1)
    z = X[i] - mean
    t = Vt[:k] @ z
    return (t**2 / values[:k]).sum(), z @ z - t @ t, values[k:].sum()


@pytest.mark.parametrize(("n", "d", "k"), [(30, 8, 3), (12, 30, 4), (9, 4, 4), (200, 5, 1), (25, 6, 2)])
def test_what_a_row_would_be_follows_from_the_fit_with_it(n, d, k):
    """No simulation: the left singular vectors of the fit are the directions, one per row."""
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, d)) * np.geomspace(5, 0.5, d) + 3
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    rank, m = min(n - 1, d), n - 1
    kappa, G = s[:rank] ** 2, n / m * U[:, :rank] ** 2
    if rank < m:  # what lies in no axis
        kappa, G = np.append(kappa, 0.0), np.column_stack([G, 1 - G.sum(axis=1)])
    theta, along = _secular(kappa, G, k)
    factor = n / m
    for i in range(n):
        t2, spe, left = without(X, i, k)
        size = G[i] @ kappa
        assert factor * (m - 1) * (along[i] / theta[i]).sum() == pytest.approx(t2, rel=1e-7)
        assert factor * (size - along[i].sum()) == pytest.approx(spe, rel=1e-7, abs=1e-9 * size)
        assert (kappa.sum() - size - theta[i].sum()) / (m - 1) == pytest.approx(left, rel=1e-7, abs=1e-9 * size)


def test_ties_stay_ties():
    kappa, G = np.array([4.0, 4.0, 1.0, 0.0]), np.array([[0.1, 0.2, 0.3, 0.4]])
    theta, along = _secular(kappa, G, 2)
    g = np.sqrt(G[0])
    plane = np.linalg.svd(g[None])[2][1:]  # orthogonal to g
    values = np.linalg.eigvalsh(plane @ np.diag(kappa) @ plane.T)[::-1]
    assert np.allclose(theta[0], values[:2])
    assert along[0, 0] == 0.0


def test_many_rows_give_the_limits_of_known_axes():
    """Without sampling error T² is that of F, and SPE that of χ²."""
    draws = left_out(np.array([50.0, 20.0]), Residual(np.array([1.0]), np.array([10.0]), "known"), Freedom(10**6, 2))
    for alpha in (0.05, 0.01):
        assert draws.t2_limit(alpha) == pytest.approx(t2_of_new(alpha, Freedom(10**6, 2)), rel=2e-3)
    assert draws.spe_limit(0.05) == pytest.approx(18.307, rel=2e-3)
    assert draws.spe_limit(0.01) == pytest.approx(23.209, rel=2e-3)


def test_draws_are_the_same_every_time():
    of, residual = Freedom(50, 3), Residual(np.array([1.0, 0.5]), np.array([3.0, 4.0]), "known")
    a, b = (left_out(np.array([9.0, 5.0, 3.0]), residual, of) for _ in range(2))
    assert np.array_equal(a.t2, b.t2)
    assert a.spe_limit(0.01) == b.spe_limit(0.01)

"""The law of noise: against closed forms, numerical minimisation, and simulated noise of unequal columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from helpers.counts import usually
from ritz.fitting.rank import hard_threshold
from ritz.ranks.marchenko_pastur import Law, tracy_widom

TWO_POINTS = {"a tenth": (0.1, 9.0), "half": (0.5, 4.0), "one column": (0.01, 3.0)}


def columns(d, share, large):
    return np.where(np.arange(d) < share * d, large, 1.0)


@pytest.mark.parametrize("ratio", [0.01, 0.25, 1.0, 4.0, 50.0])
def test_equal_variances_have_the_classical_edge_and_threshold(ratio):
    d = 1000
    law = Law(np.full(d, 7.0), round(d / ratio))
    assert law.edge == pytest.approx(7 * (1 + np.sqrt(d / law.n)) ** 2, rel=1e-12)
    least, most = sorted((d, law.n))
    # Gavish and Donoho's threshold for singular values in units of the square root of the longer side.
    assert law.optimal == pytest.approx(7 * hard_threshold(least / most) ** 2 * most / law.n, rel=1e-9)


def test_johnstones_scale_of_the_fluctuations():
    n, d = 400, 100
    scale = (np.sqrt(n) + np.sqrt(d)) * (1 / np.sqrt(n) + 1 / np.sqrt(d)) ** (1 / 3) / n
    assert Law(np.ones(d), n).fluctuation == pytest.approx(scale, rel=1e-12)


def test_quantiles_of_tracy_and_widom():
    # Published percentage points of the law of order 1 (Johnstone, Ann. Statist. 29, 2001, table 1).
    for share, point in ((0.05, -3.18), (0.5, -1.27), (0.9, 0.45), (0.95, 0.98), (0.99, 2.02)):
        assert tracy_widom(share) == pytest.approx(point, abs=0.02)


@settings(deadline=None)
@given(
    st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20), st.integers(2, 200), st.sampled_from([1e-200, 1, 1e150])
)
def test_the_edge_is_the_minimum_of_the_map_in_any_unit(variances, n, unit):
    t = np.array(variances)
    top = t.max()

    def psi(log):
        x = top * (1 + np.exp(log))
        return x * (1 + np.sum(t / (x - t)) / n)

    least = minimize_scalar(psi, bounds=(-12, 8), method="bounded", options={"xatol": 1e-10}).fun
    assert Law(t * unit, n).edge / unit == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("case", TWO_POINTS)
@pytest.mark.parametrize(("n", "d"), [(2000, 200), (300, 600)])
def test_simulated_noise_of_two_variances_ends_at_the_edge(case, n, d):
    t = columns(d, *TWO_POINTS[case])
    law, largest = Law(t, n), []
    for seed in range(usually(20, thorough=200)):
        Z = np.random.default_rng(seed).standard_normal((n, d)) * np.sqrt(t)
        largest.append(np.linalg.norm(Z, 2) ** 2 / n)
    # The mean of the Tracy–Widom law is −1.21.
    error = 4 * 1.27 * law.fluctuation / np.sqrt(len(largest))
    assert np.mean(largest) == pytest.approx(law.edge - 1.21 * law.fluctuation, abs=error + 0.02 * law.edge)


@pytest.mark.parametrize(("n", "d"), [(200, 50), (50, 200)])
@pytest.mark.parametrize("spread", [1.0, 20.0])
def test_noise_exceeds_the_threshold_as_seldom_as_asked(n, d, spread):
    t, trials = np.geomspace(1, spread, d), usually(200, thorough=2000)
    bar, above = Law(t, n).threshold(0.05), 0
    for seed in range(trials):
        Z = np.random.default_rng(seed).standard_normal((n, d)) * np.sqrt(t)
        above += np.linalg.norm(Z, 2) ** 2 / n > bar
    # At 5 %, more than 21 of 200 happen less than once in a thousand times.
    assert above <= 0.05 * trials + 3.5 * np.sqrt(0.05 * 0.95 * trials)


def test_a_component_is_seen_where_the_map_says():
    n, d = 4000, 400
    t = columns(d, 0.3, 3.0)
    law, x = Law(t, n), 8.0
    rng = np.random.default_rng(0)
    # A population whose covariance has an eigenvalue x along a random direction beside those of the columns.
    Z = rng.standard_normal((n, d)) * np.sqrt(t)
    v = np.zeros(d)
    v[5] = 1.0
    Z[:, 5] *= np.sqrt(x / t[5])
    assert np.linalg.norm(Z, 2) ** 2 / n == pytest.approx(law.largest * law.seen_at(x / law.largest), rel=0.03)


def test_the_optimal_threshold_is_where_keeping_breaks_even():
    """A component at the threshold is estimated so well that to keep it costs as much as to leave it out."""
    n, d = 300, 150
    t = columns(d, 0.3, 4.0)
    law, gains = Law(t, n), []
    for factor in (0.85, 1.2):
        saved = []
        for seed in range(8):
            rng = np.random.default_rng(seed)
            E = rng.standard_normal((n, d)) * np.sqrt(t)
            u, v = (w / np.linalg.norm(w) for w in (rng.standard_normal(n), rng.standard_normal(d)))

            def top(size, E=E, u=u, v=v):
                return np.linalg.svd(E + size * np.outer(u, v), full_matrices=False)

            sizes = np.linspace(0.5, 2.5, 9) * np.sqrt(n * law.edge)
            tops = [np.linalg.norm(E + size * np.outer(u, v), 2) ** 2 / n for size in sizes]
            size = float(np.interp(factor * law.optimal, tops, sizes))
            U, s, Vt = top(size)
            kept = np.linalg.norm(size * np.outer(u, v) - s[0] * np.outer(U[:, 0], Vt[0])) ** 2
            saved.append(size**2 - kept)
        gains.append(np.mean(saved))
    assert gains[0] < 0 < gains[1]

"""SPE of rows of the fit: quadratic forms of a uniform direction, against closed forms and draws."""

import numpy as np
import pytest
from scipy import stats

from helpers.counts import usually
from ritz.monitoring.uniform import quantile, tail

DRAWS = usually(200_000, thorough=2_000_000)
SPECTRA = [
    ([3.0, 1.0], [1.0, 9.0], 39.0),
    ([1.0, 0.5, 0.1], [1.0, 1.0, 1.0], 30.0),
    ([2.0, 1.9, 0.2], [4.0, 7.5, 30.0], 99.0),
]


@pytest.mark.parametrize(("count", "m"), [(1.0, 20.0), (5.0, 31.0), (2.5, 8.0)])
def test_one_eigenvalue_is_a_beta_variable(count, m):
    found = quantile(0.01, np.array([3.0]), np.array([count]), m)
    assert found == pytest.approx(3 * stats.beta.isf(0.01, count / 2, (m - count) / 2), rel=1e-9)


def test_all_directions_alike_leave_no_choice():
    assert quantile(0.05, np.array([2.0]), np.array([6.0]), 6.0) == 2.0


@pytest.mark.parametrize(("values", "counts", "m"), SPECTRA)
@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.01])
def test_quantiles_are_exceeded_as_often_as_they_say(values, counts, m, alpha):
    limit = quantile(alpha, np.array(values), np.array(counts), m)
    squares = np.random.default_rng(1).chisquare([*counts, m - sum(counts)], (DRAWS, len(counts) + 1))
    share = np.mean(squares @ [*values, 0.0] / squares.sum(axis=1) > limit)
    noise = 4 * np.sqrt(alpha / DRAWS)
    assert abs(share - alpha) < 0.06 * alpha + noise


@pytest.mark.parametrize(("values", "counts", "m"), SPECTRA)
def test_tails_fall_from_one_to_zero(values, counts, m):
    grid = np.linspace(-0.1, values[0] * 1.1, 200)
    found = tail(grid, np.array(values), np.array(counts), m)
    assert found[0] == 1.0
    assert found[-1] == 0.0
    assert (np.diff(found) <= 1e-6).all()

"""What intervals of variances and bounds of angles cover, by simulation; benchmarks/coverage.py has the whole table."""

import numpy as np
import pytest

import ritz
from helpers.counts import usually
from ritz import PCA
from ritz.sampling.intervals import farther

VALUES = np.array([24.0, 8.0, *[1.0] * 18])
LAWS = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "t5": lambda rng, shape: rng.standard_t(5, shape) / np.sqrt(5 / 3),
    "skewed": lambda rng, shape: rng.exponential(size=shape) - 1,
}


@pytest.mark.parametrize("law", LAWS)
def test_intervals_and_bounds_cover_what_they_say(law):
    rng, covered = np.random.default_rng(7), []
    for i in range(usually(60, thorough=400)):
        X = LAWS[law](rng, (200, 20)) * np.sqrt(VALUES)
        pca = PCA(2).fit(X)
        found = ritz.bootstrap(pca, X, 200, random_state=i)
        low, high = found.variance_intervals.T
        angles = np.degrees(np.arccos(np.minimum(np.abs(np.diagonal(pca.components_[:, :2])), 1)))
        covered.append([(low <= VALUES[:2]) & (VALUES[:2] <= high), angles <= found.angle_bounds])
    share = np.mean(covered, axis=0)
    assert (share >= 0.80).all(), share  # 0.85, less two deviations of so few samples
    assert (share.mean(axis=1) <= 0.97).all(), share


def test_wider_levels_are_wider():
    X = np.random.default_rng(0).standard_normal((100, 3)) * [3, 2, 1]
    narrow, wide = (ritz.bootstrap(PCA(2).fit(X), X, 300, level=level) for level in (0.5, 0.95))
    assert (wide.variance_intervals[:, 0] < narrow.variance_intervals[:, 0]).all()
    assert (wide.variance_intervals[:, 1] > narrow.variance_intervals[:, 1]).all()
    assert (wide.angle_bounds > narrow.angle_bounds).all()


def test_the_farther_ends_are_taken():
    draws, t = np.linspace(1, 3, 101)[:, None], np.linspace(-1, 1, 101)[:, None]
    one = np.array([2.0])
    found = farther(draws, one, np.array([1.5]), np.array([0.5]), t, 0.9)
    assert found[0, 0] == pytest.approx(1.5 * np.exp(-0.45))
    assert found[0, 1] == pytest.approx(2.9)
    noise = farther(draws, one, np.array([np.nan]), np.array([2.0]), t, 0.9)
    assert noise[0] == pytest.approx([2 * np.exp(-1.8), 2 * np.exp(1.8)])

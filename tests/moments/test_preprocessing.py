"""The provisional mean of float32 products: near enough to the mean, and whole where the data is."""

import numpy as np
import pytest

from ritz.moments.preprocessing import coarse


def test_it_stays_within_half_a_deviation_of_the_mean():
    rng = np.random.default_rng(0)
    for offset, spread in [(0.0, 1.0), (1e6, 1e-3), (-3.7, 100.0), (1e-200, 1e-200), (1e200, 1e200)]:
        sample = offset + spread * rng.standard_normal((128, 5))
        mean = sample.mean(axis=0)
        found = coarse(mean, sample)
        assert (np.abs(found - mean) <= sample.std(axis=0) / 2).all()


@pytest.mark.parametrize("low", [0, -128, 1000])
def test_whole_numbers_that_vary_stay_whole(low):
    sample = np.random.default_rng(1).integers(low, low + 256, (128, 6)).astype(float)
    found = coarse(sample.mean(axis=0), sample)
    np.testing.assert_array_equal(found, np.rint(found))


@pytest.mark.parametrize("value", [0.1, 0.0, 1e300, -5e-324])
def test_a_constant_column_keeps_its_value(value):
    sample = np.full((128, 1), value)
    assert coarse(sample[0], sample).item() == value

"""Weights are what was asked for, and depend on the seed alone."""

import numpy as np
import pytest

from ritz.errors import DataError
from ritz.sampling.resamples import BLOCK, MULTINOMIAL, POISSON, by_indices, by_weights, drawn


def test_few_rows_are_drawn_with_replacement():
    found = drawn(50, 300, 0)
    W = found.block(0, 50)
    assert found.kind == MULTINOMIAL
    assert W.shape == (300, 50)
    assert (W.sum(axis=1) == 50).all()
    assert W.var() == pytest.approx(1 - 1 / 50, rel=0.05)  # of binomial counts


def test_many_rows_have_poisson_weights_block_by_block():
    n = 20 * BLOCK + 7
    found = drawn(n, 1000, 3)
    assert found.kind == POISSON
    first, last = found.block(0, BLOCK), found.block(20 * BLOCK, n)
    assert last.shape == (1000, 7)
    assert (first.mean(), first.var()) == pytest.approx((1, 1), rel=0.01)
    np.testing.assert_array_equal(drawn(n, 1000, 3).block(20 * BLOCK, n), last)  # whoever asks first
    assert not np.array_equal(first, found.block(BLOCK, 2 * BLOCK))


def test_seeds_decide():
    same = [drawn(30, 10, seed).block(0, 30) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(same[0], same[1])
    assert not np.array_equal(same[0], same[2])


def test_draws_of_a_single_row_are_drawn_again():
    found = drawn(2, 400, 0)
    assert (np.count_nonzero(found.block(0, 2), axis=1) == 2).all()
    assert found.redrawn == pytest.approx(400, rel=0.3)  # half of all draws of two rows take one twice


def test_indices_are_counted():
    found = by_indices([[0, 0, 3], [1, 2, 3]], 4)
    np.testing.assert_array_equal(found.block(0, 4), [[2, 0, 0, 1], [0, 1, 1, 1]])


@pytest.mark.parametrize(
    ("indices", "says"),
    [
        ([[0, 1], [2, 2]], "draw 1, counted from 0, leaves 1 row"),
        ([[0, 4]], "must be from 0 to 3"),
        ([[0, -1]], "must be from 0 to 3"),
        ([0, 1], "a matrix of integers"),
        ([[0.5, 1.0]], "a matrix of integers"),
        ([[0, 1], [1, 2, 3]], "lines of equal length"),
    ],
)
def test_wrong_indices_are_named(indices, says):
    with pytest.raises(ValueError, match=says):
        by_indices(indices, 4)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([[1.0, 1, 1], [0, 5, 0]], "draw 1, counted from 0, leaves 1 row"),
        ([[0.0, 0, 0]], "draw 0, counted from 0, leaves 0 rows"),
        ([[1.0, 1]], "with 3 columns"),
        ([[1.0, 1, -1]], "finite and not negative, but draw 0"),
        ([[1.0, 1, 1], [np.nan, 1, 1]], "finite and not negative, but draw 1"),
        ([["a", "b", "c"]], "a matrix of numbers"),
    ],
)
def test_wrong_weights_are_named(weights, says):
    with pytest.raises(ValueError, match=says):
        by_weights(weights, 3)


def test_rows_that_cannot_be_resampled():
    with pytest.raises(DataError, match="two different"):
        drawn(1, 3, 0)

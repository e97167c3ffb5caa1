"""Problems: their rows are prepared to the last digit, and each knows what it is called."""

import numpy as np
import pytest

from helpers.students import data
from ritz.exercises.functions import trials
from ritz.exercises.problem import RowsProblem

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("scale", [False, True])
def test_rows_far_from_the_origin_are_centred_to_the_last_digit(scale):
    """The mean of numbers near 3e7 has no digits below 4e-9, where these rows still vary."""
    X = 3e7 + 2e-6 * np.random.default_rng(0).standard_normal((50, 4))
    Z = X - 3e7  # exact, as these numbers are close to each other
    Z -= Z.mean(axis=0)
    if scale:
        Z /= np.sqrt((Z**2).sum(axis=0) / 49)
    np.testing.assert_allclose(RowsProblem(X, scale=scale).Z, Z, rtol=0, atol=1e-14 * Z.max())


def test_a_problem_of_ones_own_keeps_its_name():
    class Weighted(RowsProblem):
        pass

    assert next(iter(trials(Weighted(data("iris"))))).name == "the covariance of X"

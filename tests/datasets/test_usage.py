"""Two measurements of one hidden quantity: the covariance that is promised, and lines that differ."""

import numpy as np
import pytest

from ritz import DataError, datasets

COVARIANCE = np.array([[25 / 12 + 0.55**2, 40 / 12], [40 / 12, 64 / 12 + 0.95**2]])


def test_the_covariance_is_that_of_the_formula():
    n = 200_000
    X, intensity, _ = datasets.usage_intensity(n)
    found = np.cov(X.T)
    spread = np.sqrt((np.outer(*[COVARIANCE.diagonal()] * 2) + COVARIANCE**2) / n)  # of normal columns, which vary more
    assert (np.abs(found - COVARIANCE) < 5 * spread).all()
    noise = X - [2.0, 4.5] - np.outer(intensity, [5.0, 8.0])
    assert np.allclose(noise.std(axis=0), [0.55, 0.95], rtol=0.01)
    assert np.abs(np.corrcoef(np.column_stack([noise, intensity]).T) - np.eye(3)).max() < 5 / np.sqrt(n)
    assert 0 <= intensity.min() < 0.001
    assert 0.999 < intensity.max() < 1
    assert X.min() > 0


def test_the_lines_lie_at_the_angles_that_the_docstring_gives():
    axis, axis_of_equal_noise = (np.linalg.eigh(C)[1][:, 1] for C in (COVARIANCE, COVARIANCE - np.diag([0.0, 0.6])))
    lines = {"line": [5.0, 8.0], "axis": axis, "regression": COVARIANCE[0]}
    angles = {name: round(float(np.degrees(np.arctan(line[1] / line[0])))) for name, line in lines.items()}
    assert angles == {"line": 58, "axis": 60, "regression": 54}
    assert axis_of_equal_noise[1] / axis_of_equal_noise[0] == pytest.approx(8 / 5)  # 0.95² − 0.6 = 0.55²


@pytest.mark.parametrize("seed", range(5))
def test_the_principal_axis_is_steeper_than_the_regression_line(seed):
    X = datasets.usage_intensity(random_state=seed).X
    C = np.cov(X.T)
    values, vectors = np.linalg.eigh(C)
    axis = np.degrees(np.arctan2(*np.abs(vectors[::-1, 1])))
    regression = np.degrees(np.arctan2(C[0, 1], C[0, 0]))
    assert 0.8 < np.corrcoef(X.T)[0, 1] < 0.92
    assert axis - regression > 3
    assert abs(axis - 60) < 3
    assert values[1] > 0.9 * values.sum()  # one number stands for two


def test_the_first_phones_are_the_same_for_every_number_of_them():
    few, many = datasets.usage_intensity(7, random_state=3), datasets.usage_intensity(40, random_state=3)
    assert np.array_equal(few.X, many.X[:7])
    assert np.array_equal(few.intensity, many.intensity[:7])
    assert not np.array_equal(few.X, datasets.usage_intensity(7, random_state=4).X)
    assert few.X.dtype == np.float64


def test_numbers_are_those_of_every_platform():
    """NumPy keeps this generator as it is; a uniform number is 53 of its bits, and has no rounding."""
    X, intensity, _ = datasets.usage_intensity(2)
    assert intensity.tolist() == [0.1507172537105722, 0.19554272386502092]
    expected = [[2.643041149912322, 4.806450523261006], [2.99972608962064, 5.899854965852361]]
    assert np.allclose(X, expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("seed", [-1, 1.5, True, None, "0", 1 << 32])
def test_seeds_are_checked(seed):
    with pytest.raises(ValueError, match=r"random_state=.* must be an integer, 0 <= random_state < 2\*\*32"):
        datasets.usage_intensity(3, seed)
    with pytest.raises(ValueError, match="random_state"):
        datasets.parametric_faces(1, 1, 1, seed)


def test_counts_are_checked():
    with pytest.raises(ValueError, match="n=0 must be an integer >= 1"):
        datasets.usage_intensity(0)
    with pytest.raises(DataError, match="1000000000 phones take more than 2 GB"):
        datasets.usage_intensity(10**9)

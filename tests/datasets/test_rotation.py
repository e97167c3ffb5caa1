"""The turning duck: pictures, deterministic, on one closed curve."""

import numpy as np
import pytest

from ritz import DataError, datasets


@pytest.fixture(scope="module")
def views():
    return datasets.rotating_object(n_views=120, size=40)


def test_pictures_in_range_and_the_same_every_time(views):
    assert views.shape == (120, 1600)
    assert views.dtype == np.float64
    assert views.min() == 0
    assert 0.5 < views.max() <= 1
    assert np.array_equal(views, datasets.rotating_object(n_views=120, size=40))
    assert datasets.rotating_object.__defaults__ == (360, 64)


def test_an_angle_gives_its_picture_whatever_the_number_of_views(views):
    few = datasets.rotating_object(n_views=8, size=40)
    assert np.allclose(few, views[::15], atol=1e-9)


def test_nothing_is_cut_off_at_the_border(views):
    pictures = views.reshape(120, 40, 40)
    border = [pictures[:, 0], pictures[:, -1], pictures[:, :, 0], pictures[:, :, -1]]
    assert max(part.max() for part in border) == 0


def test_views_lie_on_a_curve_that_closes_after_a_full_turn(views):
    Z = views - views.mean(axis=0)
    U, sigma, _ = np.linalg.svd(Z, full_matrices=False)
    scores = (U * sigma)[:, :4]
    distance = np.linalg.norm(scores[:, None] - scores[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    order = np.argsort(distance, axis=1)
    step = (order[:, 0] - np.arange(120)) % 120
    assert set(step) <= {1, 119}  # the nearest view is the one before or after, the last one being before the first
    assert 119 in order[0, :2]
    assert 0 in order[119, :2]
    opposite = distance[np.arange(120), (np.arange(120) + 60) % 120]
    assert opposite.min() > 4 * distance.min(axis=1).max()  # half a turn is not a turn


def test_no_single_component_stands_for_the_turn(views):
    sigma = np.linalg.svd(views - views.mean(axis=0), compute_uv=False)
    share = np.cumsum(sigma**2) / np.sum(sigma**2)
    assert share[0] < 0.5
    assert share[1] < 0.9 < share[40]


@pytest.mark.parametrize("arguments", [(0, 8), (8, 0), (True, 8), (8, 2.5), (8, "8"), (-3, 8)])
def test_numbers_of_views_and_pixels_are_checked(arguments):
    with pytest.raises(ValueError, match="must be an integer >= 1"):
        datasets.rotating_object(*arguments)


def test_pictures_beyond_memory_are_refused():
    with pytest.raises(DataError, match="take more than 2 GB"):
        datasets.rotating_object(10_000, 1_000)

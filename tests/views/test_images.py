"""Pictures in the page: what Pillow reads in them is what the numbers say."""

import io
from base64 import b64decode

import numpy as np
import pytest

from ritz import PCA, read
from ritz.views.images import DIVERGING, LARGEST, diverging, grey
from ritz.views.report import render


def shown(picture):
    from PIL import Image

    assert picture.source.startswith("data:image/png;base64,")
    found = Image.open(io.BytesIO(b64decode(picture.source.partition(",")[2])))
    return np.asarray(found.convert("RGB")).astype(int)


def test_colour_is_shown_as_colour():
    field = np.random.default_rng(0).standard_normal((4, 5, 3))
    mean = shown(grey(field.ravel(), field.shape, "mean"))
    np.testing.assert_allclose(mean, 255 * (field - field.min()) / np.ptp(field), atol=0.51)
    axis = shown(diverging(field.ravel(), field.shape, "PC1"))
    np.testing.assert_allclose(axis, 127.5 + 127.5 * field / np.abs(field).max(), atol=0.51)


def test_grey_axes_have_their_palette():
    axis = shown(diverging(np.array([-1.0, 0.0, 1.0, 0.5]), (2, 2), "PC1")).reshape(4, 3)
    np.testing.assert_array_equal(axis, DIVERGING[[0, 128, 255, 191]])


@pytest.mark.parametrize("shape", [(600, 300), (600, 300, 3)], ids=str)
def test_large_pictures_are_averaged(shape):
    found = shown(grey(np.repeat([0.0, 1.0], np.prod(shape) // 2), shape, "x"))
    assert max(found.shape) <= LARGEST
    assert (found[: len(found) // 2].max(), found[len(found) // 2 :].min()) == (0, 255)


def test_the_page_needs_not_be_told_the_shape():
    pictures = np.random.default_rng(0).integers(0, 256, (9, 4, 5, 3)).astype(np.uint8)
    page = render(PCA(2).fit(read(pictures)), title="x")
    assert page.count("<img") == 3
    assert "three weights for each pixel" in page
    assert 'width="5" height="4"' in page
    again = render(PCA(2).fit(read(pictures)), title="x", image=(5, 4))
    assert 'width="4" height="5"' in again

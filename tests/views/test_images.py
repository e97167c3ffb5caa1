"""Pictures in the page: what Pillow reads in them is what the numbers say."""

import io
from base64 import b64decode

import numpy as np
import pytest

from ritz import PCA, KernelPCA, read
from ritz.views.images import DIVERGING, LARGEST, diverging, grey, shades
from ritz.views.report import render


def shown(picture):
    from PIL import Image

    assert picture.source.startswith("data:image/png;base64,")
    found = Image.open(io.BytesIO(b64decode(picture.source.partition(",")[2])))
    return np.asarray(found.convert("RGB")).astype(int)


def test_colour_is_shown_as_colour():
    field = np.random.default_rng(0).standard_normal((4, 5, 3))
    mean = shown(grey(field.ravel(), field.shape, "mean", (-1.0, 3.0)))
    np.testing.assert_allclose(mean, 255 * np.clip((field + 1) / 4, 0, 1), atol=0.51)
    axis = shown(diverging(field.ravel(), field.shape, "PC1"))
    np.testing.assert_allclose(axis, 127.5 + 127.5 * field / np.abs(field).max(), atol=0.51)


def test_grey_axes_have_their_palette():
    axis = shown(diverging(np.array([-1.0, 0.0, 1.0, 0.5]), (2, 2), "PC1")).reshape(4, 3)
    np.testing.assert_array_equal(axis, DIVERGING[[0, 128, 255, 191]])


@pytest.mark.parametrize("shape", [(600, 300), (600, 300, 3)], ids=str)
def test_large_pictures_are_averaged(shape):
    found = shown(grey(np.repeat([0.0, 1.0], np.prod(shape) // 2), shape, "x", (0.0, 1.0)))
    assert max(found.shape) <= LARGEST
    assert (found[: len(found) // 2].max(), found[len(found) // 2 :].min()) == (0, 255)


def test_all_pictures_of_a_model_have_one_scale():
    pictures = np.random.default_rng(0).normal(5, 2, (9, 4, 5))
    assert shades(PCA(2).fit(read(np.abs(pictures)))) == (0.0, np.abs(pictures).max())
    less = pictures - pictures.mean(axis=0) - 1
    for scale in (False, True):
        pca = PCA(8, scale=scale).fit(read(less))
        reach = 3 * less.std(axis=0, ddof=1)  # 8 components hold 9 rows
        np.testing.assert_allclose(shades(pca), (-1 - reach.max(), -1 + reach.max()))
    kernel = KernelPCA(2, kernel="rbf", gamma="scale").fit(read(less))
    assert shades(kernel) == (less.min(), less.max())


def test_the_page_needs_not_be_told_the_shape():
    pictures = np.random.default_rng(0).integers(0, 256, (9, 4, 5, 3)).astype(np.uint8)
    page = render(PCA(2).fit(read(pictures)), title="x")
    assert page.count("<img") == 3
    assert "three weights for each pixel" in page
    assert 'width="5" height="4"' in page
    again = render(PCA(2).fit(read(pictures)), title="x", image=(5, 4))
    assert 'width="4" height="5"' in again

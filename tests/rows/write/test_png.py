"""PNG files are what Pillow reads in them."""

import io

import numpy as np
import pytest

from ritz.rows.write.png import png

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(5, 4), (5, 4, 3), (1, 1), (3, 7, 3)], ids=str)
def test_pillow_reads_the_same_pixels(shape):
    from PIL import Image

    pixels = RNG.integers(0, 256, shape).astype(np.uint8)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(png(pixels)))), pixels)


def test_numbers_of_16_bits_and_palettes():
    from PIL import Image

    wide = RNG.integers(0, 1 << 16, (5, 4)).astype(np.uint16)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(png(wide)))), wide)
    palette, places = RNG.integers(0, 256, (256, 3)).astype(np.uint8), RNG.integers(0, 256, (5, 4)).astype(np.uint8)
    found = Image.open(io.BytesIO(png(places, palette))).convert("RGB")
    np.testing.assert_array_equal(np.asarray(found), palette[places])

"""Vectors of pixels as pictures: PNG data in the page itself."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.dense import Array
from ritz.rows.write.png import png

DEVIATIONS = 3.0  # from the mean to black and to white, where the data does not tell them
LARGEST = 256  # pixels along a side: a page needs no more
GREYS = np.repeat(np.arange(256, dtype=np.uint8), 3).reshape(256, 3)
# Blue below 0, light grey at 0, orange and brown above: told apart by every kind of colour vision.
ANCHORS = np.array([[5, 48, 97], [67, 147, 195], [238, 238, 238], [224, 130, 20], [127, 59, 8]])
PLACES = np.linspace(0, 1, 256), np.linspace(0, 1, len(ANCHORS))  # of all colours, and of the anchors among them
DIVERGING = np.rint(np.column_stack([np.interp(*PLACES, channel) for channel in ANCHORS.T])).astype(np.uint8)


@dataclass(frozen=True)
class Picture:
    """A picture and what it shows."""

    source: str  # a data URI
    width: int
    height: int
    caption: str


def shades(model: Any) -> tuple[float, float]:
    """The numbers for black and white, the same for all pictures of a model.

    They are 0 and `white_`. Where 0 is not black, as in pictures less their mean, they are the ends of what most
    pictures in the subspace have: the mean and a few standard deviations of every pixel; with a kernel, of the rows.
    """
    if getattr(model, "white_", None) is not None:
        return 0.0, float(model.white_)
    if not hasattr(model, "subspace_"):
        return float(model.X_fit_.min()), float(model.X_fit_.max())
    learned = model.subspace_
    mean = 0.0 if learned.mean is None else learned.mean
    spread = np.sqrt(learned.axes**2 @ learned.deviations**2) * (1.0 if learned.scale is None else learned.scale)
    reach = DEVIATIONS * learned.unit * spread
    return float(np.min(mean - reach)), float(np.max(mean + reach))


def grey(pixels: Array, shape: tuple[int, ...], caption: str, ends: tuple[float, float]) -> Picture:
    """From black to white, the numbers at both `ends`; in colour where the shape says so."""
    field, (low, high) = _fitted(pixels.reshape(shape)), ends
    return _picture((field / 2 - low / 2) / max(high / 2 - low / 2, np.finfo(float).tiny), GREYS, caption)


def diverging(pixels: Array, shape: tuple[int, ...], caption: str) -> Picture:
    """Blue below 0, brown above, the largest magnitude darkest; in colour, every channel from grey at 0 up or down."""
    field = _fitted(pixels.reshape(shape))
    most = max(float(np.abs(field).max()), np.finfo(float).tiny)
    return _picture(0.5 + 0.5 * (field / most), DIVERGING, caption)


def _picture(levels: Array, palette: NDArray[np.uint8], caption: str) -> Picture:
    pixels = np.clip(np.rint(255 * levels), 0, 255).astype(np.uint8)
    file = png(pixels, palette if pixels.ndim == 2 else None)
    source = "data:image/png;base64," + b64encode(file).decode("ascii")
    return Picture(source, pixels.shape[1], pixels.shape[0], caption)


def _fitted(field: Array) -> Array:
    """Means of square patches where there are more pixels than a page needs."""
    step = -(-max(field.shape) // LARGEST)
    if step == 1:
        return field
    rows, columns = (np.arange(0, side, step) for side in field.shape[:2])
    sums = np.add.reduceat(np.add.reduceat(field, rows, axis=0), columns, axis=1)
    heights, widths = np.diff(np.append(rows, field.shape[0])), np.diff(np.append(columns, field.shape[1]))
    sizes = np.outer(heights, widths)
    return np.asarray(sums / (sizes if field.ndim == 2 else sizes[..., None]))

"""Vectors of pixels as images on an Axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ritz.linalg.dense import Array
from ritz.plot.colours import diverging
from ritz.plot.subject import Subject
from ritz.rows import as_rows
from ritz.rows.pictures import Shape, checked, white_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEAN = "mean"


def shape_for(model: Any, shape: Any) -> Shape | None:
    """(height, width) or (height, width, 3): the one given, or the one that the model knows; None where neither is."""
    if shape is None:
        return getattr(model, "image_shape_", None)
    return checked(shape, int(model.n_features_in_), "shape")


def white_for(about: Subject, shape: Shape | None) -> float | None:
    """The number for white of images in colour: that of the model, or of the rows at hand, or else of their mean."""
    white = getattr(about.model, "white_", None)
    if white is not None or shape is None or len(shape) == 2:
        return white
    mean = about.found.mean
    rows = about.rows if about.rows is not None or mean is None else as_rows(mean[None])
    return None if rows is None else white_of(rows)


def data_image(values: Array, shape: Shape, beside: Array, white: float | None) -> tuple[Array, dict[str, Any]]:
    """An image in the units of the data.

    Grey reaches from black to white as another image does. Colours reach from 0 to `white`, or where that is not known
    as the other image does: each on its own scale would change them.
    """
    low, high = float(beside.min()), float(beside.max())
    low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
    if len(shape) == 2:
        return values.reshape(shape), {"cmap": "gray", "vmin": low, "vmax": high}
    levels = values / white if white else (values - low) / (high - low)
    return np.clip(levels, 0.0, 1.0).reshape(shape), {}


def axis_image(axis: Array, shape: Shape) -> tuple[Array, dict[str, Any]]:
    """An axis: 0 in the middle of a scale that reaches its largest magnitude on either side."""
    most = float(np.abs(axis).max()) or 1.0
    if len(shape) == 2:
        return axis.reshape(shape), {"cmap": diverging(), "vmin": -most, "vmax": most}
    return (0.5 + 0.5 * axis / most).reshape(shape), {}


def panel_size(shape: Shape, width: float, more: float) -> tuple[float, float]:
    """Width and height of a panel for an image of this shape, with so much more height for words."""
    return width, width * min(max(shape[0] / shape[1], 0.5), 1.6) + more


def show(ax: Axes, image: Array, how: dict[str, Any]) -> None:
    """An image without a frame, its pixels as they are."""
    ax.imshow(image, interpolation="nearest", **how)
    ax.grid(False)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)

"""Vectors of pixels as images on an Axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ritz.errors import DataError, ParameterError
from ritz.linalg.dense import Array
from ritz.plot.colours import diverging
from ritz.runtime.rules import integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEAN = "mean"


def checked_shape(shape: Any, model: Any) -> tuple[int, ...] | None:
    """(height, width) or (height, width, 3): the one given, or the one that the model knows; None where neither is."""
    shape = getattr(model, "image_shape_", None) if shape is None else shape
    if shape is None:
        return None
    sides = tuple(shape) if isinstance(shape, tuple | list) else ()
    if len(sides) not in (2, 3) or not all(map(integer(1).holds, sides)) or sides[2:] not in ((), (3,)):
        raise ParameterError("shape", shape, "must be (height, width), or (height, width, 3) of pictures in colour")
    d = int(model.n_features_in_)
    if int(np.prod(sides)) != d:
        raise DataError(
            f"shape={'×'.join(map(str, sides))} are {int(np.prod(sides))} pixels, but there are {d} columns"
        )
    return tuple(map(int, sides))


def data_image(values: Array, shape: tuple[int, ...], beside: Array) -> tuple[Array, dict[str, Any]]:
    """A picture in the units of the data, black to white as far as another one reaches."""
    low, high = float(beside.min()), float(beside.max())
    low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
    if len(shape) == 2:
        return values.reshape(shape), {"cmap": "gray", "vmin": low, "vmax": high}
    top = 1.0 if low >= 0 and high <= 1 else 255.0 if low >= 0 and high <= 255 else None
    levels = values / top if top else (values - low) / (high - low)
    return np.clip(levels, 0.0, 1.0).reshape(shape), {}


def axis_image(axis: Array, shape: tuple[int, ...]) -> tuple[Array, dict[str, Any]]:
    """An axis: 0 in the middle of a scale that reaches its largest magnitude on either side."""
    most = float(np.abs(axis).max()) or 1.0
    if len(shape) == 2:
        return axis.reshape(shape), {"cmap": diverging(), "vmin": -most, "vmax": most}
    return (0.5 + 0.5 * axis / most).reshape(shape), {}


def panel_size(shape: tuple[int, ...], width: float, more: float) -> tuple[float, float]:
    """Width and height of a panel for a picture of this shape, with so much more height for words."""
    return width, width * min(max(shape[0] / shape[1], 0.5), 1.6) + more


def pictured(ax: Axes, image: Array, how: dict[str, Any]) -> None:
    """A picture without a frame, its pixels as they are."""
    ax.imshow(image, interpolation="nearest", **how)
    ax.grid(False)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)

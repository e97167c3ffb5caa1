"""Pictures as rows: how a stack of them becomes a matrix, and which number stands for white."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.rows.base import Rows, dense
from ritz.rows.columns import WHITES
from ritz.rows.formats.flat import array_of
from ritz.rows.memory.array import ROW_OF_EACH, check_shape

COLOURS = 3  # red, green, blue: the last axis of a picture in colour
OF_TYPE = {np.dtype(np.bool_): 1.0, np.dtype(np.uint8): 255.0, np.dtype(np.uint16): 65535.0}
LOOKED_AT = 256  # pictures whose largest value tells what white is
Shape = tuple[int, ...]


def shape_of_each(shape: Shape) -> Shape | None:
    """(h, w) or (h, w, 3) of the pictures in a stack of this shape; None where its entries are no pictures.

    Examples
    --------
    >>> shape_of_each((400, 64, 64)), shape_of_each((400, 64, 64, 3)), shape_of_each((400, 64, 64, 1))
    ((64, 64), (64, 64, 3), (64, 64))
    >>> shape_of_each((480, 640, 3))
    Traceback (most recent call last):
    ritz.errors.DataError: an array of shape (480, 640, 3) may be one picture in colour or 480 of 640×3 pixels; ...
    """
    if len(shape) == 3:
        _, height, width = shape
        if width in (COLOURS, COLOURS + 1) and height != width:
            raise DataError(
                f"an array of shape {shape} may be one picture in colour or {shape[0]} of {height}×{width} pixels",
                "put pictures in colour into one array of shape (n, h, w, 3), or make rows yourself: "
                "X.reshape(len(X), -1)",
            )
        return (height, width) if min(height, width) > 1 else None
    if len(shape) == 4 and 1 in (shape[1], shape[3]):
        return shape[1:3] if shape[3] == 1 else shape[2:]
    if len(shape) == 4 and shape[3] == COLOURS:
        return shape[1:]
    raise DataError(f"an array of shape {shape} is no stack of pictures, (n, h, w) or (n, h, w, 3)", _advice(shape))


def _advice(shape: Shape) -> str:
    if len(shape) == 4 and shape[1] == COLOURS:
        return "colours come last: np.moveaxis(X, 1, -1)"
    if len(shape) == 4 and shape[3] == COLOURS + 1:
        return "leave out the fourth channel, which says how transparent a pixel is: X[..., :3]"
    return ROW_OF_EACH[0].lower() + ROW_OF_EACH[1:]


def checked(image: Any, d: int) -> Shape:
    """The shape of a picture with d numbers, from (h, w), also of one in colour, or (h, w, 3).

    Examples
    --------
    >>> checked((8, 8), 64), checked((8, 8), 192)
    ((8, 8), (8, 8, 3))
    """
    sides = tuple(image) if isinstance(image, tuple | list) else ()
    whole = all(isinstance(side, int | np.integer) and not isinstance(side, bool) and side >= 1 for side in sides)
    if len(sides) not in (2, 3) or not whole or sides[2:] not in ((), (COLOURS,)):
        raise ValueError(f"image={image!r} must be (height, width), two numbers of pixels, or (height, width, 3)")
    shape = tuple(map(int, sides))
    if len(shape) == 2 and COLOURS * math.prod(shape) == d:
        return (*shape, COLOURS)
    if math.prod(shape) != d:
        raise DataError(f"image={in_words(shape)} are {math.prod(shape)} pixels, but there are {d} columns")
    return shape


def in_words(shape: Shape) -> str:
    """Height × width, in pixels."""
    return "×".join(map(str, shape))


def about(n: int, shape: Shape) -> str:
    """What was found, and what became of it."""
    count = f"{n} picture{'s' * (n != 1)}{' in colour' * (len(shape) == 3)} of {in_words(shape[:2])} pixels"
    return f"{count} (height×width), each flattened into a row of {math.prod(shape)} numbers"


def stacked(X: NDArray[Any], transpose: bool = False) -> Rows:  # (n, …), or (…, n) if transposed
    """An array of more than two axes as rows, a view of it where its order in memory allows that.

    Examples
    --------
    >>> rows = stacked(np.zeros((5, 4, 2)))
    >>> rows.shape, rows.image_shape
    ((5, 8), (4, 2))
    """
    shape = (X.shape[-1], *X.shape[:-1]) if transpose else X.shape
    check_shape((shape[0], math.prod(shape[1:])))
    each = shape_of_each(shape)
    return pictured(array_of(X.reshape(-1, shape[0]).T if transpose else X.reshape(shape[0], -1)), each)


def pictured(rows: Rows, shape: Shape | None, white: float | None = None) -> Rows:
    """Rows that know that they are pictures of this shape; None leaves them as they are."""
    if shape is not None:
        rows.image_shape, rows.white = shape, white_of(rows) if white is None else white
        rows.about = rows.about or about(rows.shape[0], shape)
    return rows


def white_of(rows: Rows) -> float | None:
    """The number that stands for white where 0 is black; None where numbers below 0 say that 0 is not.

    Of bytes it is 255, of numbers of 16 bits 65535, of true and false 1. Of all other types the largest value among
    some pictures decides: one of these numbers, if it is at most that and more than half of it, or else itself.

    Examples
    --------
    >>> from ritz.rows import as_rows
    >>> [white_of(as_rows([[0.0, value]])) for value in (0.9, 200.0, 16.0)]
    [1.0, 255.0, 16.0]
    """
    if rows.dtype in OF_TYPE:
        return OF_TYPE[rows.dtype]
    some = dense(rows.sample(LOOKED_AT))
    low, high = float(np.fmin.reduce(some, axis=None)), float(np.fmax.reduce(some, axis=None))
    if not (low >= 0 and 0 < high < math.inf):
        return None
    return next((white for white in sorted(WHITES) if white / 2 < high <= white), high)

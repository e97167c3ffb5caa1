"""Pictures as rows: how a stack of them becomes a matrix, which shapes they have, and which number stands for white."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import ColumnWarning, DataError, ParameterError, warn
from ritz.rows.base import Rows, dense
from ritz.rows.formats.flat import array_of
from ritz.rows.memory.array import ROW_OF_EACH, check_shape
from ritz.runtime.rules import integer
from ritz.runtime.wording import plural

WHITES = {1.0, 255.0, 65535.0}  # what white usually is: of shares, and of numbers of 8 and of 16 bits
COLOURS = 3  # red, green, blue: the last axis of a picture in colour
OF_TYPE = {np.dtype(np.bool_): 1.0, np.dtype(np.uint8): 255.0, np.dtype(np.uint16): 65535.0}
LOOKED_AT = 256  # pictures whose largest value tells what white is
Shape = tuple[int, ...]


def shape_of_each(shape: Shape) -> Shape | None:
    """(h, w) or (h, w, 3) of the pictures in a stack of this shape; None where these are not pictures.

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
    problem = f"an array of shape {shape} is not a stack of pictures, which has the shape (n, h, w) or (n, h, w, 3)"
    raise DataError(problem, _advice(shape))


def _advice(shape: Shape) -> str:
    if len(shape) == 4 and shape[1] == COLOURS:
        return "colours come last: np.moveaxis(X, 1, -1)"
    if len(shape) == 4 and shape[3] == COLOURS + 1:
        return "leave out the fourth channel, which says how transparent a pixel is: X[..., :3]"
    return ROW_OF_EACH


def is_shape(image: Any) -> bool:
    """Whether it is (h, w) or (h, w, 3), of at least one pixel.

    Examples
    --------
    >>> is_shape((8, 6)), is_shape((8, 6, 3)), is_shape((8, 6, 4)), is_shape((0, 6))
    (True, True, False, False)
    """
    sides = tuple(image) if isinstance(image, tuple | list) else ()
    return len(sides) in (2, 3) and all(map(integer(1).holds, sides)) and sides[2:] in ((), (COLOURS,))


def checked(image: Any, d: int, name: str = "image") -> Shape:
    """The shape of a picture with d numbers, from (h, w), also of one in colour, or (h, w, 3), the parameter `name`.

    Examples
    --------
    >>> checked((8, 8), 64), checked((8, 8), 192)
    ((8, 8), (8, 8, 3))
    """
    if not is_shape(image):
        raise ParameterError(name, image, "must be (height, width), two numbers of pixels, or (height, width, 3)")
    shape = tuple(map(int, image))
    if len(shape) == 2 and COLOURS * math.prod(shape) == d:
        return (*shape, COLOURS)
    if math.prod(shape) != d:
        count = f"{math.prod(shape)} {'pixels' if len(shape) == 2 else 'numbers'}"
        raise DataError(f"{name}={in_words(shape)} has {count}, but there are {d} columns")
    return shape


def check_like(rows: Rows, expected: Shape | None) -> None:
    """Refuse pictures of another shape than those that a model was learned from, where both shapes are known."""
    found = rows.image_shape
    if found is None or expected is None or found == expected:
        return
    there, known, size = in_words(found), in_words(expected), expected[:2]
    problem = f"pictures of {there} numbers (height×width), but the model was learned from {known}"
    to_grey = len(expected) < len(found)
    if found[:2] != size:
        step = f"resize them to {in_words(size)}{' and convert them to grey' * to_grey} first"
        parameter, code = f"size={size}{', grey=True' * to_grey}", "model_size"
    elif to_grey:
        step, parameter, code = "convert them to grey first", "grey=True", "model_grey"
    else:
        step = "repeat each of their numbers three times first, as red, green and blue"
        parameter, code = "grey=False", "model_colour"
    if rows.resizable:
        raise DataError(
            problem, f"ritz.read(folder, {parameter}) reads them so", code, size=as_option(size) + " --grey" * to_grey
        )
    raise DataError(problem, step)


def compare_white(rows: Rows, expected: Shape | None, white: float | None) -> None:
    """Warn where white is another number than in the pictures that a model was learned from, if both are usual ones."""
    pictures = rows.image_shape is not None and expected is not None
    if pictures and {rows.white, white} <= WHITES and rows.white != white:
        warn(ColumnWarning(f"white is {rows.white:g} in these pictures, but {white:g} in those of the model"))


def in_words(shape: Shape) -> str:
    """Height × width, in pixels."""
    return "×".join(map(str, shape))


def as_option(size: Shape) -> str:
    """Height and width as they are typed."""
    return "x".join(map(str, size))


def about(n: int, shape: Shape) -> str:
    """What was found, and what became of it."""
    numbers = math.prod(shape)
    return f"{n} {of_size(shape, n)}, each flattened into a row of {numbers} {plural(numbers, 'number')}"


def of_size(shape: Shape, n: int = 2) -> str:
    """So many pictures of a shape, without their number.

    Examples
    --------
    >>> of_size((64, 48, 3))
    'pictures in colour of 64×48 pixels (height×width)'
    """
    return f"{plural(n, 'picture')}{' in colour' * (len(shape) == 3)} of {in_words(shape[:2])} pixels (height×width)"


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
    """The same rows, which know that they are pictures of this shape; for None, those that were given."""
    if shape is None:
        return rows
    white = white_of(rows) if white is None else white
    return rows.knowing(image_shape=shape, white=white, about=rows.about or about(rows.shape[0], shape))


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

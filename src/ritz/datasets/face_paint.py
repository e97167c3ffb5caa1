"""What is painted on a face: eyes, brows, nostrils, lips and a beard, as brightness of the skin."""

from __future__ import annotations

import numpy as np

from ritz.datasets.face_shape import Face
from ritz.datasets.solids import Array

EYES = 0.13  # their y
WHITE, IRIS, DARK, TEETH = 0.92, 0.14, 0.08, 0.80  # brightness
SOFT = 0.025  # width of the edges


def painted(face: Face, p: Array) -> Array:  # (3, rays) -> (rays,)
    """The brightness of the surface at these points."""
    x, y = np.abs(p[0]), p[1]
    colour = np.full(len(x), face.skin)
    colour = _beard(face, x, y, colour)
    colour = _eyes(face, x, y, colour)
    colour = _brows(face, x, y, colour)
    colour = _nose(face, x, y, colour)
    return np.where(p[2] > 0, _mouth(face, x, y, colour), face.skin)


def inside(distance: Array, soft: float = SOFT) -> Array:
    """1 inside of an edge, 0 outside, a ramp between, by the distance outwards."""
    return np.clip(0.5 - distance / soft, 0.0, 1.0)


def over(mask: Array, brightness: Array | float, below: Array) -> Array:
    """Paint over what is below."""
    return below + mask * (brightness - below)


def _beard(face: Face, x: Array, y: Array, colour: Array) -> Array:
    """Below a line from the ears to the upper lip, and thinner at the cheeks."""
    line = face.mouth + 0.15 * np.exp(-((x / 0.26) ** 4)) + 1.1 * np.maximum(x - 0.3, 0.0) ** 1.5
    return over(0.85 * face.beard * inside(y - line, 0.14), np.minimum(1.2 * face.hair, 0.9 * face.skin), colour)


def _eyes(face: Face, x: Array, y: Array, colour: Array) -> Array:
    away, size = x - face.eye_distance, face.eye_size
    u = away / size
    colour = colour * (1 - 0.16 * np.exp(-0.5 * ((away / 0.15) ** 2 + ((y - EYES) / 0.09) ** 2)))
    high = 0.52 * size * (1 - 0.35 * max(face.smile, 0.0) + 0.30 * face.brows_up)
    upper, lower = EYES + high * (1 - u**2), EYES - 0.65 * high * (1 - u**2)
    white = inside(np.maximum(y - upper, lower - y))
    colour = over(white, WHITE, colour)
    colour = over(white * inside(np.hypot(away, y - EYES - 0.005) - 0.43 * size), IRIS, colour)
    lid = inside(np.abs(y - upper) - 0.016) * inside(np.abs(u) - 1.05, 0.15)
    crease = inside(np.abs(y - upper - 0.05) - 0.008, 0.03) * inside(np.abs(u) - 0.95, 0.2)
    return colour * (1 - 0.75 * lid) * (1 - 0.30 * crease)


def _brows(face: Face, x: Array, y: Array, colour: Array) -> Array:
    u = (x - face.eye_distance - 0.01) / (1.45 * face.eye_size)
    middle = EYES + face.brow_height + 0.07 * face.brows_up + 0.03 * (1 - u**2) - 0.02 * u
    brow = inside(np.abs(y - middle) - face.brow_thickness * (1 - 0.35 * u), 0.03) * inside(np.abs(u) - 1, 0.2)
    return over(brow, np.minimum(0.8 * face.hair, 0.8 * colour), colour)


def _nose(face: Face, x: Array, y: Array, colour: Array) -> Array:
    u, v = (x - 0.62 * face.nose_width) / 0.035, (y - face.nose_tip + 0.085) / 0.022
    return colour * (1 - 0.7 * np.exp(-0.5 * (u**2 + v**2)))


def _mouth(face: Face, x: Array, y: Array, colour: Array) -> Array:
    wide = face.mouth_width * (1 + 0.18 * face.smile - 0.12 * face.mouth_open)
    u = x / wide
    arch = np.maximum(1 - u**2, 0.0)
    upper = face.mouth + 0.085 * face.smile * (u**2 - 0.3)  # the edges of the opening
    lower = upper - 0.20 * face.mouth_open * arch
    top = upper + 0.62 * face.lips * arch * (1 - 0.25 * np.exp(-((u / 0.15) ** 2)))
    corners = inside(np.abs(u) - 1, 0.08)
    lips = inside(np.maximum(y - top, lower - face.lips * arch - y)) * corners
    opening = inside(np.maximum(y - upper, lower - y) - 0.010) * corners
    teeth = inside(np.maximum(y - upper, upper - 0.09 * face.mouth_open * arch - y) + 0.006) * corners
    colour = over(lips, 0.62 * face.skin, colour)
    return over(teeth, TEETH, over(opening, DARK, colour))

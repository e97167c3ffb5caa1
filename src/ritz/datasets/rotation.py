"""A toy duck that turns: pictures on one closed curve."""

from __future__ import annotations

import numpy as np

from ritz.datasets.arguments import check_room, counts
from ritz.datasets.solids import Array, Camera, Ellipsoid, Finish, pixels, rays, seen, shaded

ELEVATION = np.radians(22.0)  # of the camera above the horizon
REACH = 1.62  # half of what the camera sees, in units of the duck's body
MIDDLE = 0.34  # height of what it looks at
LIGHT = np.array([0.45, 0.55, 0.70])  # towards it: to the right, to the camera and up
UP = np.array([0.0, 0.0, 1.0])
PLASTIC = Finish(ambient=0.22, diffuse=0.78, shine=0.35, gloss=24.0)

# x points where the duck looks, y to its left, z up.
DUCK = (
    Ellipsoid((0.00, 0.00, 0.00), (1.00, 0.68, 0.58), 0.80, 8.0),  # body
    Ellipsoid((0.48, 0.00, 0.12), (0.58, 0.58, 0.56), 0.80),  # breast
    Ellipsoid((0.58, 0.00, 0.55), (0.34, 0.34, 0.42), 0.80),  # neck
    Ellipsoid((0.64, 0.00, 0.96), (0.46, 0.42, 0.42), 0.84),  # head
    Ellipsoid((1.10, 0.00, 0.92), (0.30, 0.22, 0.07), 0.46, 10.0),  # beak above
    Ellipsoid((1.04, 0.00, 0.82), (0.24, 0.18, 0.06), 0.40, -6.0),  # beak below
    Ellipsoid((-0.98, 0.00, 0.30), (0.42, 0.30, 0.13), 0.76, -38.0),  # tail
    Ellipsoid((-0.18, 0.60, 0.10), (0.60, 0.17, 0.34), 0.62, -14.0),  # left wing
    Ellipsoid((-0.18, -0.60, 0.10), (0.60, 0.17, 0.34), 0.62, -14.0),  # right wing
    Ellipsoid((0.93, 0.25, 1.07), (0.09, 0.09, 0.10), 0.08),  # left eye
    Ellipsoid((0.93, -0.25, 1.07), (0.09, 0.09, 0.10), 0.08),  # right eye
)


def rotating_object(n_views: int = 360, size: int = 64) -> Array:  # (n_views, size²)
    """Pictures of a toy duck that turns once about its vertical axis, one a row, brightness from 0 to 1.

    View i is seen after a turn of 2πi/n_views, by a camera slightly above and under a light that stays where it is.
    A turn has one parameter, so the pictures lie on a closed curve, however many pixels they have: PCA shows it as a
    loop. Row i, as ``X[i].reshape(size, size)``, is a picture with its first line on top.

    Parameters
    ----------
    n_views : how many pictures the turn is divided into
    size : pixels along each side

    Examples
    --------
    >>> X = rotating_object(n_views=8, size=16)
    >>> X.shape
    (8, 256)
    >>> bool(X.min() >= 0 and X.max() <= 1)
    True
    """
    n_views, size = counts(n_views=n_views, size=size)
    check_room(f"{n_views} views of {size}×{size} pixels", n_views, size, size)
    pictures = [_picture(angle, size) for angle in 2 * np.pi * np.arange(n_views) / n_views]
    return np.stack(pictures).reshape(n_views, size * size)


def _picture(angle: float, size: int) -> Array:  # (size, size)
    """The duck after a turn by `angle`."""
    camera = _camera(angle)
    found = seen(DUCK, *rays(size, REACH), camera)
    shade, shine = shaded(found.normal, camera, PLASTIC)
    return pixels(found.brightness * (shade + shine), size)


def _camera(angle: float) -> Camera:
    """Of a duck that has turned so far; the light stands still beside the camera."""
    c, s = np.cos(angle), np.sin(angle)
    level, right = np.array([c, -s, 0.0]), np.array([s, c, 0.0])
    towards = np.cos(ELEVATION) * level + np.sin(ELEVATION) * UP
    light = LIGHT @ np.array([right, np.cross(right, UP), UP])
    return Camera(right, np.cross(towards, right), towards, light / np.linalg.norm(light), MIDDLE * UP)

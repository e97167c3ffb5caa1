"""Data to try things on, made by formulas: the same numbers everywhere, and nothing to fetch."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError

Array = NDArray[np.float64]

ELEVATION = np.radians(22.0)  # of the camera above the horizon
REACH = 1.62  # half of what the camera sees, in units of the duck's body
MIDDLE = 0.34  # height of what it looks at
LIGHT = np.array([0.45, 0.55, 0.70])  # towards it: to the right, to the camera and up
UP = np.array([0.0, 0.0, 1.0])
AMBIENT, DIFFUSE = 0.22, 0.78
SHINE, GLOSS = 0.35, 24.0  # strength and sharpness of the highlight
FINER = 2  # rays per pixel and direction: edges between pixels become grey
MOST = 1 << 31  # bytes of pictures


@dataclass(frozen=True)
class Ellipsoid:
    """A part of a solid: |M (p − centre)| ≤ 1 with M = diag(1/radii) Rᵀ, R the turn by `pitch` in the plane y = 0."""

    centre: tuple[float, float, float]
    radii: tuple[float, float, float]
    brightness: float
    pitch: float = 0.0  # degrees, nose up

    @property
    def whitening(self) -> Array:  # (3, 3)
        """M: it maps the ellipsoid to the unit ball."""
        c, s = np.cos(np.radians(self.pitch)), np.sin(np.radians(self.pitch))
        R = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
        return R.T / np.array(self.radii)[:, None]


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
    n_views, size = _counted("n_views", n_views), _counted("size", size)
    if n_views * size * size * 8 > MOST:
        raise DataError(f"{n_views} views of {size}×{size} pixels take more than 2 GB; ask for fewer or smaller ones")
    pictures = [_picture(angle, size) for angle in 2 * np.pi * np.arange(n_views) / n_views]
    return np.stack(pictures).reshape(n_views, size * size)


def _counted(name: str, value: object) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} must be an integer >= 1")
    return int(value)


class Camera(NamedTuple):
    """Where pictures are taken from, in the duck's own frame: turning the duck is turning all else the other way."""

    right: Array
    up: Array
    towards: Array  # from what is seen to the camera
    light: Array  # unit vector towards the light, which stands still beside the camera


def _camera(angle: float) -> Camera:
    """Of a duck that has turned so far."""
    c, s = np.cos(angle), np.sin(angle)
    level, right = np.array([c, -s, 0.0]), np.array([s, c, 0.0])
    towards = np.cos(ELEVATION) * level + np.sin(ELEVATION) * UP
    light = LIGHT @ np.array([right, np.cross(right, UP), UP])
    return Camera(right, np.cross(towards, right), towards, light / np.linalg.norm(light))


def _picture(angle: float, size: int) -> Array:  # (size, size)
    """The duck after a turn by `angle`, averaged over the rays of every pixel."""
    camera = _camera(angle)
    steps = REACH * ((2 * np.arange(size * FINER) + 1) / (size * FINER) - 1)
    x, y = (part.ravel() for part in np.meshgrid(steps, -steps))
    normal, brightness = _seen(x, y, camera)
    half = camera.light + camera.towards
    shade = AMBIENT + DIFFUSE * np.maximum(camera.light @ normal, 0.0)
    shine = SHINE * np.maximum(half / np.linalg.norm(half) @ normal, 0.0) ** GLOSS
    rays = (brightness * (shade + shine)).reshape(size, FINER, size, FINER)
    return np.clip(rays.mean(axis=(1, 3)), 0.0, 1.0)


def _seen(x: Array, y: Array, camera: Camera) -> tuple[Array, Array]:
    """Normals (3, rays) and brightness of what parallel rays through x·right + y·up meet first; 0 for nothing.

    On the ray p + t·towards an ellipsoid is |q + t w| = 1 with q = M(p − c) and w = M·towards. The larger root is
    nearer to the camera: t = (√D − w·q)/|w|², D = (w·q)² − |w|²(|q|² − 1). The gradient there is Mᵀ(q + t w).
    """
    nearest, brightness, normal = np.full(len(x), -np.inf), np.zeros(len(x)), np.zeros((3, len(x)))
    for part in DUCK:
        M, c = part.whitening, part.centre - MIDDLE * UP
        rays = np.flatnonzero(np.hypot(x - c @ camera.right, y - c @ camera.up) < max(part.radii))
        q = np.outer(M @ camera.right, x[rays]) + np.outer(M @ camera.up, y[rays]) - (M @ c)[:, None]
        w = M @ camera.towards
        b, a = w @ q, float(w @ w)
        D = b**2 - a * ((q**2).sum(axis=0) - 1)
        t = (np.sqrt(np.maximum(D, 0.0)) - b) / a
        nearer = (D > 0) & (t > nearest[rays])
        rays, gradient = rays[nearer], M.T @ (q[:, nearer] + np.outer(w, t[nearer]))
        nearest[rays], brightness[rays] = t[nearer], part.brightness
        normal[:, rays] = gradient / np.linalg.norm(gradient, axis=0)
    return normal, brightness

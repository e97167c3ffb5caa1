"""Solids made of ellipsoids, seen by a camera of parallel rays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Vector = tuple[float, float, float]

FINER = 2  # rays per pixel and direction: edges between pixels become grey


@dataclass(frozen=True)
class Ellipsoid:
    """A part of a solid: (p − centre)ᵀ Q (p − centre) ≤ 1 with Q = R diag(1/radii²) Rᵀ.

    R is the turn by `pitch` in the plane y = 0. Of the part, `above` = (normal, offset) keeps what has
    normal·p ≥ offset.
    """

    centre: Vector
    radii: Vector
    brightness: float
    pitch: float = 0.0  # degrees, from x to z
    above: tuple[Vector, float] | None = None

    @property
    def form(self) -> Array:  # (3, 3)
        """Q."""
        c, s = np.cos(np.radians(self.pitch)), np.sin(np.radians(self.pitch))
        R = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
        return R / np.square(self.radii) @ R.T


class Camera(NamedTuple):
    """Where pictures are taken from, in the solid's own frame: turning the solid is turning all else the other way."""

    right: Array
    up: Array
    towards: Array  # from what is seen to the camera
    light: Array  # unit vector towards the light
    centre: Array  # the point that is seen in the middle


class Seen(NamedTuple):
    """What every ray meets first."""

    nearest: Array  # how far towards the camera, −inf for nothing
    brightness: Array  # 0 for nothing
    normal: Array  # (3, rays), of length 1


class Finish(NamedTuple):
    """How a surface reflects light."""

    ambient: float
    diffuse: float
    shine: float  # strength of the highlight
    gloss: float  # its sharpness


def rays(size: int, reach: float) -> tuple[Array, Array]:
    """Where the rays of a picture pass, to the right and up, line by line; it shows −reach to reach both ways."""
    steps = reach * ((2 * np.arange(size * FINER) + 1) / (size * FINER) - 1)
    x, y = np.meshgrid(steps, -steps)
    return x.ravel(), y.ravel()


def pixels(values: Array, size: int) -> Array:  # (rays,) -> (size, size)
    """The mean over the rays of every pixel, from 0 to 1."""
    return np.clip(values.reshape(size, FINER, size, FINER).mean(axis=(1, 3)), 0.0, 1.0)


def shaded(normal: Array, camera: Camera, finish: Finish) -> tuple[Array, Array]:
    """Lambert's cosine law, and a highlight midway between light and camera (Blinn)."""
    half = camera.light + camera.towards
    shade = finish.ambient + finish.diffuse * np.maximum(camera.light @ normal, 0.0)
    return shade, finish.shine * np.maximum(half / np.linalg.norm(half) @ normal, 0.0) ** finish.gloss


def seen(parts: Sequence[Ellipsoid], x: Array, y: Array, camera: Camera) -> Seen:
    """What parallel rays through x·right + y·up meet first."""
    nearest, brightness, normal = np.full(len(x), -np.inf), np.zeros(len(x)), np.zeros((3, len(x)))
    met = [(part, *crossings(part, x, y, camera)) for part in parts]
    for _, some, t in met:
        nearest[some] = np.maximum(nearest[some], t)
    for part, some, t in met:
        first = some[t == nearest[some]]
        p = points(x[first], y[first], nearest[first], camera)
        gradient = part.form @ (p - np.array(part.centre)[:, None])
        brightness[first], normal[:, first] = part.brightness, gradient / np.linalg.norm(gradient, axis=0)
    return Seen(nearest, brightness, normal)


def points(x: Array, y: Array, t: Array, camera: Camera) -> Array:  # (3, rays)
    """Where rays are, so far towards the camera."""
    return np.stack([camera.right, camera.up, camera.towards], axis=1) @ np.stack([x, y, t]) + camera.centre[:, None]


def crossings(part: Ellipsoid, x: Array, y: Array, camera: Camera) -> tuple[NDArray[np.intp], Array]:
    """The rays that meet an ellipsoid, and where, in steps towards the camera.

    From the centre of the ellipsoid, the point x·right + y·up + t·towards is on it if (x y t) G (x y t)ᵀ = 1, where G
    is the ellipsoid's form Q in the frame of the camera. The larger root is nearer to the camera:
    t = (√D − b)/a with a = G₃₃, b = G₁₃x + G₂₃y and D = b² − a(G₁₁x² + 2G₁₂xy + G₂₂y² − 1).
    """
    frame = np.stack([camera.right, camera.up, camera.towards])
    cx, cy, ct = frame @ (part.centre - camera.centre)
    G = frame @ part.form @ frame.T
    near = np.flatnonzero((np.abs(x - cx) < max(part.radii)) & (np.abs(y - cy) < max(part.radii)))
    u, v, a = x[near] - cx, y[near] - cy, float(G[2, 2])
    b = G[0, 2] * u + G[1, 2] * v
    D = b * b - a * (G[0, 0] * u * u + 2 * G[0, 1] * u * v + G[1, 1] * v * v - 1)
    hit = D > 0
    some, t = near[hit], ct + (np.sqrt(D[hit]) - b[hit]) / a
    if part.above is None:
        return some, t
    normal, offset = part.above
    kept = normal @ points(x[some], y[some], t, camera) >= offset
    return some[kept], t[kept]

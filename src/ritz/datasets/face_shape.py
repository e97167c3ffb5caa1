"""The surface of a head: a tapered egg with a relief of Gaussian hills and hollows, and ellipsoids around it.

In the frame of a head x points to the right of a picture taken from the front, y up, z to the camera; half of its
height is 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.datasets.solids import Array, Camera, Ellipsoid, crossings, points

DEPTH = 0.86  # of a head, from its middle to its front
STEPS = 8  # of Newton's method at most
NEAR = 2e-3  # |F| from which one more step is enough
FORTH, BACK = 0.12, 0.40  # the longest steps towards the camera and away from it
STEEP = 0.1  # the least slope that a step is taken with
NARROWEST = 0.5  # of the taper, so that it stays positive far away
ON = 2e-3  # |F| up to which a ray has met the surface


class Face(NamedTuple):
    """One face in one picture: whose it is, and what it does. What the numbers mean is said in `faces`."""

    head_width: float
    taper: float
    jaw: float
    eye_distance: float
    eye_size: float
    nose_length: float
    nose_width: float
    mouth_width: float
    lips: float
    brow_thickness: float
    brow_height: float
    skin: float
    hair: float
    hairline: float
    hair_volume: float
    hair_length: float
    beard: float
    clothes: float
    yaw: float
    pitch: float
    light_azimuth: float
    light_elevation: float
    smile: float
    mouth_open: float
    brows_up: float

    @property
    def nose_tip(self) -> float:
        """Its y."""
        return -0.04 - self.nose_length

    @property
    def mouth(self) -> float:
        """The y of the line between the lips."""
        return self.nose_tip - 0.25 - 0.2 * self.nose_length


def relief(face: Face) -> Array:  # (hills, 5)
    """Height, place (|x|, y) and widths (x, y) of every hill; those off the middle come in pairs."""
    tip, mouth, wide, smile = face.nose_tip, face.mouth, face.nose_width, max(face.smile, 0.0)
    return np.array(
        [
            (0.30, 0.0, tip, 0.95 * wide, 0.085),  # tip of the nose
            (0.20, 0.0, tip / 2 + 0.13, 0.055, 0.20),  # its bridge
            (0.14, 1.05 * wide, tip - 0.02, 0.05, 0.05),  # its wings
            (-0.13, face.eye_distance, 0.16, 0.15, 0.085),  # sockets of the eyes
            (0.07, face.eye_distance, 0.36, 0.20, 0.06),  # ridges above them
            (0.07 + 0.10 * smile, 0.40, -0.16 + 0.04 * smile, 0.15, 0.13),  # cheeks
            (0.07, 0.0, mouth + 0.035, 0.6 * face.mouth_width, 0.045),  # upper lip
            (0.08, 0.0, mouth - 0.055 - 0.10 * face.mouth_open, 0.5 * face.mouth_width, 0.05),  # lower lip
            (0.10, 0.0, -0.78 - 0.05 * face.mouth_open, 0.17, 0.11),  # chin
        ]
    )


def surface(face: Face, hills: Array, p: Array) -> tuple[Array, Array]:  # (3, rays) -> (rays,), (3, rays)
    """F and its gradient, where F(x, y, z) = |x/(a s)|^jaw + y² + (z/c)² − 1 − Σ hills, s = 1 + taper·y.

    A hill is h·exp(−½((|x| − x₀)²/σ² + (y − y₀)²/τ²)). The surface is where F = 0.
    """
    x, y, z = np.abs(p[0]), p[1], p[2]
    width = face.head_width * np.maximum(1 + face.taper * y, NARROWEST)
    egg = face.jaw * (x / width) ** (face.jaw - 1) / width
    F = egg * x / face.jaw + y**2 + (z / DEPTH) ** 2 - 1
    across, along = egg, 2 * y - egg * x * face.head_width * face.taper / width
    for height, x0, y0, sigma, tau in hills:
        u, v = (x - x0) / sigma, (y - y0) / tau
        hill = height * np.exp(-0.5 * (u * u + v * v))
        F -= hill
        across += hill * u / sigma
        along += hill * v / tau
    return F, np.stack([np.sign(p[0]) * across, along, 2 * z / DEPTH**2])


def met(face: Face, x: Array, y: Array, camera: Camera) -> tuple[NDArray[np.intp], Array, Array, Array]:
    """The rays that meet the surface, how far towards the camera, where (3, rays), and the gradients there.

    Newton's method along each ray, from an ellipsoid around the head.
    """
    outside = Ellipsoid((0.0, 0.0, 0.0), (1.2 * face.head_width, 1.05, DEPTH + 0.02), 0.0)
    some, t = crossings(outside, x, y, camera)
    start = points(x[some], y[some], np.zeros(len(t)), camera)
    hills, towards = relief(face), camera.towards[:, None]
    going = np.arange(len(t))
    for _ in range(STEPS):
        F, gradient = surface(face, hills, start[:, going] + t[going] * towards)
        slope = camera.towards @ gradient
        t[going] -= np.clip(F / np.maximum(slope, STEEP), -FORTH, BACK)
        going = going[(np.abs(F) > NEAR) & (slope > 0)]  # where F grows away from the camera, the ray passes by
    p = start + t * towards
    F, gradient = surface(face, hills, p)
    on = np.abs(F) < ON
    return some[on], t[on], p[:, on], gradient[:, on]


def surroundings(face: Face) -> list[Ellipsoid]:
    """Neck, shoulders, ears, hair on the head and hair behind it."""
    wide, full, long = face.head_width, 1 + 0.10 * face.hair_volume, face.hair_length
    above = (0.0, 1.0, -1.5), face.hairline - 1.5 * 0.70  # a plane, from the forehead down to the neck
    on_head, behind = wide * full * (1.07 + face.taper / 3), wide * (1.05 + 0.15 * long)
    return [
        Ellipsoid((0.0, -1.30, -0.28), (0.46, 0.90, 0.44), 0.72 * face.skin),
        Ellipsoid((0.0, -1.80, -0.30), (1.45, 0.62, 0.50), face.clothes),
        Ellipsoid((-wide - 0.01, 0.02, -0.12), (0.09, 0.21, 0.13), 0.9 * face.skin),
        Ellipsoid((wide + 0.01, 0.02, -0.12), (0.09, 0.21, 0.13), 0.9 * face.skin),
        Ellipsoid((0.0, 0.06, -0.04), (on_head, 1.02 * full, 0.96), face.hair, above=above),
        Ellipsoid((0.0, -0.20 - 0.35 * long, -0.40), (behind, 0.60 + 0.45 * long, 0.50), face.hair),
    ]

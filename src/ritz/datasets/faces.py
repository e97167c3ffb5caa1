"""Drawn faces: the same people again and again, with other poses, lights and expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.datasets.arguments import check_room, counts, generator
from ritz.datasets.face_paint import painted
from ritz.datasets.face_shape import Face, met, surroundings
from ritz.datasets.solids import Array, Camera, Finish, pixels, rays, seen, shaded

REACH = 1.10  # half of what a picture shows; half of a head's height is 1
MIDDLE = np.array([0.0, -0.02, 0.0])  # what it shows in the middle
BACKGROUND = 0.22
SKIN = Finish(ambient=0.26, diffuse=0.76, shine=0.14, gloss=14.0)
DULL = 0.30  # brightness up to which nothing shines: hair and pupils

# Parameters are drawn uniformly from these ranges, lengths in halves of a head's height, angles in degrees.
PERSON = {
    "head_width": (0.66, 0.86),
    "taper": (0.04, 0.26),  # how much narrower the chin is than the forehead
    "jaw": (2.0, 2.8),  # exponent: 2 is round, more is square
    "eye_distance": (0.25, 0.36),  # of each from the middle
    "eye_size": (0.12, 0.16),
    "nose_length": (0.0, 0.18),  # beyond the shortest one
    "nose_width": (0.08, 0.14),
    "mouth_width": (0.20, 0.34),
    "lips": (0.05, 0.095),  # thickness
    "brow_thickness": (0.015, 0.055),
    "brow_height": (0.15, 0.24),  # above the eyes
    "skin": (0.55, 0.95),  # brightness, as hair and clothes
    "hair": (0.04, 0.60),
    "hairline": (0.50, 0.82),  # its height
    "hair_volume": (0.0, 1.0),
    "hair_length": (-1.0, 1.0),
    "beard": (-1.5, 1.0),
    "clothes": (0.10, 0.80),
}
VIEW = {
    "yaw": (-10.0, 10.0),
    "pitch": (-4.0, 4.0),
    "light_azimuth": (-25.0, 25.0),
    "light_elevation": (5.0, 30.0),
    "smile": (-0.3, 1.0),
    "mouth_open": (-1.0, 1.0),
    "brows_up": (-0.5, 1.0),
}
AT_LEAST_0 = {"hair_length", "beard", "mouth_open"}  # what many people have not, and many pictures do not show


class Faces(NamedTuple):
    """What `parametric_faces` returns.

    Attributes
    ----------
    X : (n, size²), pictures, one a row
    people : (n,), the number of the person that each of them shows
    parameters : a dictionary of (n,) arrays, what each picture was drawn from

    Examples
    --------
    >>> X, people, parameters = parametric_faces(n_people=2, n_views=2, size=16)
    >>> X.shape, people.tolist(), parameters["yaw"].shape
    ((4, 256), [0, 0, 1, 1], (4,))
    """

    X: Array
    people: NDArray[np.intp]
    parameters: dict[str, Array]


def parametric_faces(n_people: int = 20, n_views: int = 10, size: int = 64, random_state: int = 0) -> Faces:
    """Pictures of drawn people, n_views of each, one a row, brightness from 0 to 1.

    Every person has a face: shape of the head and jaw, distance and size of the eyes, nose, mouth, brows, skin, hair
    and beard. Every view has a pose, a light and an expression. A face is a surface F(x, y, z) = 0, lit by Lambert's
    law. So pictures of one person differ, and those of two people may be alike: of the default pictures, the nearest
    one among the first five of each person shows the right person for about five of six others.
    Row i, as ``X[i].reshape(size, size)``, is a picture with its first line on top.

    Parameters
    ----------
    n_people : how many people there are
    n_views : pictures of each of them
    size : pixels along each side
    random_state : seed; the first people of a seed, and the first views of each, are the same however many there are

    Returns
    -------
    Faces
        ``X`` (n_people·n_views, size²), person by person; ``people``, the number of the person in each row; and
        ``parameters``, a dictionary of arrays with a value for each row. Those of a person, lengths as shares of half
        a head: `head_width`, `taper`, `jaw`, `eye_distance`, `eye_size`, `nose_length`, `nose_width`, `mouth_width`,
        `lips`, `brow_thickness`, `brow_height`, `skin`, `hair`, `hairline`, `hair_volume`, `hair_length`, `beard`,
        `clothes`. Those of a view: `yaw`, `pitch`, `light_azimuth`, `light_elevation` in degrees, and `smile`,
        `mouth_open`, `brows_up`, which are 0 for a face at rest and 1 at most.

    Examples
    --------
    >>> faces = parametric_faces(n_people=3, n_views=2, size=16)
    >>> faces.X.shape, faces.people.tolist()
    ((6, 256), [0, 0, 1, 1, 2, 2])
    >>> bool(np.ptp(faces.parameters["nose_length"][:2]) == 0)      # two views of one nose
    True
    """
    n_people, n_views, size = counts(n_people=n_people, n_views=n_views, size=size)
    n = n_people * n_views
    check_room(f"{n} faces of {size}×{size} pixels", n, size, size)
    faces = [face for person in range(n_people) for face in _views(person, n_views, random_state)]
    X = np.stack([_picture(face, size) for face in faces]).reshape(n, size * size)
    parameters = dict(zip(Face._fields, np.array(faces).T.copy(), strict=True))
    return Faces(X, np.repeat(np.arange(n_people), n_views), parameters)


def _views(person: int, n_views: int, random_state: int) -> list[Face]:
    """One person in several views."""
    rng = generator(random_state, person)
    of_person = _drawn(PERSON, rng)
    return [Face(**of_person, **_drawn(VIEW, rng)) for _ in range(n_views)]


def _drawn(ranges: Mapping[str, tuple[float, float]], rng: np.random.RandomState) -> dict[str, float]:
    """A number from every range."""
    drawn = {name: float(rng.uniform(low, high)) for name, (low, high) in ranges.items()}
    return {name: max(value, 0.0) if name in AT_LEAST_0 else value for name, value in drawn.items()}


def _picture(face: Face, size: int) -> Array:  # (size, size)
    """The face, before a grey background, with what surrounds it."""
    camera = _camera(face)
    x, y = rays(size, REACH)
    nearest, colour, normal = seen(surroundings(face), x, y, camera)
    some, t, p, gradient = met(face, x, y, camera)
    front = t > nearest[some]
    some, gradient = some[front], gradient[:, front]
    nearest[some], colour[some] = t[front], painted(face, p[:, front])
    normal[:, some] = gradient / np.linalg.norm(gradient, axis=0)
    shade, shine = shaded(normal, camera, SKIN)
    return pixels(np.where(np.isfinite(nearest), colour * shade + shine * (colour > DULL), BACKGROUND), size)


def _camera(face: Face) -> Camera:
    """Of a head that turns by yaw and nods by pitch; angles of the light are measured from the camera."""
    yaw, pitch, azimuth, elevation = np.radians([face.yaw, face.pitch, face.light_azimuth, face.light_elevation])
    c, s = np.cos(yaw), np.sin(yaw)
    turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    c, s = np.cos(pitch), np.sin(pitch)
    nod = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    right, up, towards = frame = nod @ turn
    light = np.array([np.sin(azimuth) * np.cos(elevation), np.sin(elevation), np.cos(azimuth) * np.cos(elevation)])
    return Camera(right, up, towards, light @ frame, MIDDLE)

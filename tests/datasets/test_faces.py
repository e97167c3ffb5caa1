"""Drawn faces: pictures of people that can be recognised, by what they were drawn from."""

import numpy as np
import pytest

from ritz import DataError, datasets
from ritz.datasets.face_shape import STEPS, Face, met, relief, surface
from ritz.datasets.faces import PERSON, REACH, VIEW, _camera, _picture, _views
from ritz.datasets.solids import points, rays

AT_REST = dict.fromkeys(VIEW, 0.0)


@pytest.fixture(scope="module")
def faces():
    return datasets.parametric_faces(n_people=12, n_views=10, size=24)


def test_pictures_people_and_parameters(faces):
    X, people, parameters = faces
    assert X.shape == (120, 576)
    assert X.dtype == np.float64
    assert 0 <= X.min() < 0.05
    assert 0.9 < X.max() <= 1
    assert people.tolist() == [person for person in range(12) for _ in range(10)]
    assert set(parameters) == {*PERSON, *VIEW}
    for name, values in parameters.items():
        low, high = {**PERSON, **VIEW}[name]
        assert (low <= values).all()
        assert (values <= high).all()
        of_people = values.reshape(12, 10)
        assert len(np.unique(of_people[:, 0])) > 1
        assert (np.ptp(of_people, axis=1) == 0).all() == (name in PERSON)
    assert datasets.parametric_faces.__defaults__ == (20, 10, 64, 0)


def test_a_view_of_a_person_is_the_same_however_many_there_are(faces):
    few = datasets.parametric_faces(n_people=2, n_views=3, size=24)
    places = [0, 1, 2, 10, 11, 12]
    assert np.array_equal(few.X, faces.X[places])
    assert np.array_equal(few.parameters["yaw"], faces.parameters["yaw"][places])
    others = datasets.parametric_faces(n_people=1, n_views=1, size=24, random_state=1)
    assert np.abs(others.X - few.X[0]).max() > 0.1


def test_pictures_are_those_of_every_platform():
    found = datasets.parametric_faces(n_people=3, n_views=1, size=12).X
    assert np.allclose(
        found.mean(axis=1), [0.3321965207546615, 0.30271810544233, 0.2910954824126624], rtol=1e-9, atol=0
    )


def nearest(known, new):
    distance = (new**2).sum(axis=1)[:, None] + (known**2).sum(axis=1) - 2 * new @ known.T
    return distance.argmin(axis=1)


def test_people_are_recognised_but_not_always(faces):
    """By the nearest picture among five of each, and as well from 40 numbers as from all the pixels."""
    first = np.arange(120) % 10 < 5
    known, new, who, truth = faces.X[first], faces.X[~first], faces.people[first], faces.people[~first]
    mean = known.mean(axis=0)
    values, vectors = np.linalg.eigh((known - mean) @ (known - mean).T)
    axes = (known - mean).T @ (vectors[:, -40:] / np.sqrt(values[-40:]))
    pixels = np.mean(who[nearest(known, new)] == truth)
    eigenfaces = np.mean(who[nearest((known - mean) @ axes, (new - mean) @ axes)] == truth)
    assert 0.75 <= pixels <= 0.97
    assert eigenfaces >= pixels - 0.02


def face(**given):
    middle = {name: max(0.0, (low + high) / 2) for name, (low, high) in PERSON.items()}
    return Face(**{**middle, **AT_REST, **given})


def test_a_face_at_rest_lit_from_the_front_is_its_own_mirror_image():
    picture = _picture(face(), 33)
    assert np.allclose(picture, picture[:, ::-1], atol=1e-9)
    turned, back = _picture(face(yaw=8.0, light_azimuth=20.0), 33), _picture(face(yaw=-8.0, light_azimuth=-20.0), 33)
    assert np.allclose(turned, back[:, ::-1], atol=1e-9)
    assert np.abs(turned - picture).max() > 0.1


def test_light_comes_from_its_side():
    for degrees in (-25.0, 25.0):
        picture = _picture(face(light_azimuth=degrees), 32)
        assert (picture[:, 16:].mean() - picture[:, :16].mean()) * degrees > 0


def test_where_eyes_and_mouth_are_the_picture_is_dark():
    """A pupil is at (eye_distance, 0.13) in a view from the front, an open mouth below the line between the lips."""
    shown = face(mouth_open=1.0)
    picture = _picture(shown, 64)

    def at(x, y):
        return picture[int((1 - (y + 0.02) / REACH) * 32), int((1 + x / REACH) * 32)]

    cheek = at(0.4, -0.2)
    assert at(shown.eye_distance, 0.13) < 0.35 * cheek
    assert at(-shown.eye_distance, 0.13) < 0.35 * cheek
    assert at(0.0, shown.mouth - 0.14) < 0.35 * cheek
    assert at(0.0, 0.95) < 0.6 * cheek  # hair


def test_rays_end_on_the_surface_and_gradients_are_its_own():
    shown = _views(0, 1, 0)[0]
    camera, (x, y) = _camera(shown), rays(24, REACH)
    some, t, p, gradient = met(shown, x, y, camera)
    assert len(some) > 500
    assert STEPS <= 10
    assert np.allclose(points(x[some], y[some], t, camera), p, atol=1e-12)
    hills, step = relief(shown), 1e-6
    assert np.abs(surface(shown, hills, p)[0]).max() < 2e-3
    for axis in range(3):
        shift = step * np.eye(3)[:, [axis]]
        rise = surface(shown, hills, p + shift)[0] - surface(shown, hills, p - shift)[0]
        away = np.abs(p[0]) > 1e-3  # the middle plane is a fold of |x|
        assert np.allclose(rise[away] / (2 * step), gradient[axis, away], atol=1e-5)


@pytest.mark.parametrize("arguments", [(0, 1, 8), (1, 0, 8), (1, 1, 0), (1.5, 1, 8), (True, 1, 8)])
def test_counts_are_checked(arguments):
    with pytest.raises(ValueError, match="must be an integer >= 1"):
        datasets.parametric_faces(*arguments)


def test_pictures_beyond_memory_are_refused():
    with pytest.raises(DataError, match="20000 faces of 1000×1000 pixels take more than 2 GB"):
        datasets.parametric_faces(100, 200, 1000)

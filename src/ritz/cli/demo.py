"""`ritz demo`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ritz.cli.analysis import analyse
from ritz.cli.fit import show
from ritz.cli.inputs import Input, default_count
from ritz.cli.notes import notes_of
from ritz.cli.paths import MODEL, REPORT, folder_for
from ritz.cli.reading import Reading
from ritz.cli.screen import Screen
from ritz.estimators.loading import load
from ritz.estimators.pca import PCA
from ritz.rows.memory.array import ArrayRows


def demonstrate(
    screen: Screen, which: str, n_components: Any, ddof: int, out: str | None, opens: bool, force: bool
) -> int:
    """What `ritz fit` does, for a bundled data set; the exit code."""
    folder = Path(out or f"{which}-ritz")
    force = force or _is_demo(folder / MODEL)
    folder = folder_for(str(folder), (which,), force)
    found, image = DEMOS[which]()
    # Of pixels, which have the same unit, as many as of other pictures.
    asked = n_components if image is None else default_count(n_components, found.rows)
    pca = PCA(asked, scale=image is None, ddof=ddof)
    code = analyse(replace(found, demo=which), Reading(image=image), pca, folder, screen, force)
    if opens:
        show(folder / REPORT)
    return code


def _is_demo(model: Path) -> bool:
    """Whether an earlier demo wrote this, so that nothing of anybody's is lost."""
    try:
        return notes_of(load(model)).demo is not None
    except (OSError, ValueError, ImportError):  # a model of wavelets needs PyWavelets, and is none of a demo
        return False


def _digits() -> tuple[Input, tuple[int, int]]:
    from sklearn.datasets import load_digits

    digits = load_digits()
    return _input("handwritten digits", digits.data, _places(8), "digit", digits.target), (8, 8)


def _wine() -> tuple[Input, None]:
    from sklearn.datasets import load_wine

    wine = load_wine()
    kinds = np.array([f"cultivar {kind + 1}" for kind in wine.target], object)
    return _input("wines", wine.data, tuple(wine.feature_names), "cultivar", kinds), None


def _rotation() -> tuple[Input, tuple[int, int]]:
    from ritz.datasets import rotating_object

    views, size = 360, 64
    pictures = rotating_object(views, size)
    return _input("a turning toy", pictures, _places(size), "degrees", np.arange(views)), (size, size)


def _faces() -> tuple[Input, tuple[int, int]]:
    from ritz.datasets import parametric_faces

    people, size = 10, 64  # as many people as the page has colours
    faces = parametric_faces(people, 20, size)
    names = np.array([f"person {'ABCDEFGHIJ'[person]}" for person in faces.people], object)
    return _input("drawn faces", faces.X, _places(size), "person", names), (size, size)


def _usage() -> tuple[Input, None]:
    from ritz.datasets import usage_intensity

    usage = usage_intensity()
    return _input("phones in use", usage.X, usage.names, "intensity", usage.intensity), None


def _places(size: int) -> tuple[str, ...]:
    """Names of pixels."""
    return tuple(f"row {i} column {j}" for i in range(size) for j in range(size))


def _input(name: str, X: Any, names: tuple[str, ...], label: str, labels: Any) -> Input:
    return Input(name, ArrayRows(X, names), given={label: labels}, label=label, left_out={label: "label"})


DEMOS = {"digits": _digits, "wine": _wine, "usage": _usage, "faces": _faces, "rotation": _rotation}

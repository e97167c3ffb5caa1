"""`ritz fit` and `ritz demo`."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Any

import numpy as np

from ritz.cli.errors import USAGE, Failure
from ritz.cli.inputs import PIPE, Input, Reading, bytes_of, chosen, located, title
from ritz.cli.notes import Notes, notes_of
from ritz.cli.outputs import FILES, MODEL, REPORT, folder_for, same
from ritz.cli.screen import Screen
from ritz.rows.formats.read import opened
from ritz.runtime.escape import visible
from ritz.runtime.memory import format_bytes


def fit_file(screen: Screen, file: str, out: str | None, opens: bool, force: bool, **given: Any) -> int:
    """Read a file, fit it, write a folder; the exit code."""
    folder = folder_for(out, file, FILES, force)
    kept = given["checkpoint"]
    if kept is not None and file != PIPE and same(Path(kept), Path(file)):
        raise Failure(f"--checkpoint {kept!r} is the file that is read; name another one", USAGE)
    names = ("label", "drop", "keep", "transpose", "missing", "drop_constant", "header")
    reading = Reading(**{name: given.pop(name) for name in names})
    if file != PIPE and Path(file).exists():
        screen.tell(f"reading {visible(title(file, Path(file)))} ({format_bytes(bytes_of(Path(file)))}) …")
    from ritz.cli.analysis import Asked, analyse  # takes a second, in which the user should have been told something

    with located(file) as path:
        with screen.hearing():
            found = chosen(opened(path, reading.transpose, reading.header), path, file, reading)
        asked = Asked(**given)
        named = None if found.identifier is None else str(found.identifier)
        notes = Notes(
            found.label,
            named,
            transpose=reading.transpose,
            missing=reading.missing,
            header=reading.header,
            image=asked.image,
        )
        code = analyse(found, reading, asked, folder, screen, notes, force)
    if opens:
        show(folder / REPORT)
    return code


def show(page: Path) -> None:
    """The page in a browser."""
    webbrowser.open(page.resolve().as_uri())


def demonstrate(
    screen: Screen, which: str, components: int | float | str | None, out: str | None, opens: bool, force: bool
) -> int:
    """The same with data that comes along."""
    from ritz.cli.analysis import Asked, analyse

    folder = Path(out or f"{which}-ritz")
    force = force or _is_demo(folder / MODEL)
    folder = folder_for(str(folder), which, FILES, force)
    found, suited = DEMOS[which]()
    asked = Asked(**suited, components=components)
    notes = Notes(found.label, image=asked.image, demo=which)
    code = analyse(found, Reading(), asked, folder, screen, notes, force)
    if opens:
        show(folder / REPORT)
    return code


def _is_demo(model: Path) -> bool:
    """Whether an earlier demo wrote this, so that nothing of anybody's is lost."""
    from ritz.estimators.loading import load

    try:
        return notes_of(load(model)).demo is not None
    except (OSError, ValueError, ImportError):  # a model of wavelets needs PyWavelets, and is none of a demo
        return False


def _digits() -> tuple[Input, dict[str, Any]]:
    from sklearn.datasets import load_digits

    digits = load_digits()
    names = tuple(f"row {i} column {j}" for i in range(8) for j in range(8))
    return _input("handwritten digits", digits.data, names, "digit", digits.target), {"image": (8, 8)}


def _wine() -> tuple[Input, dict[str, Any]]:
    from sklearn.datasets import load_wine

    wine = load_wine()
    kinds = np.array([f"cultivar {kind + 1}" for kind in wine.target], object)
    return _input("wines", wine.data, tuple(wine.feature_names), "cultivar", kinds), {"scale": True}


def _rotation() -> tuple[Input, dict[str, Any]]:
    from ritz.datasets import rotating_object

    views, size = 360, 64
    pictures = rotating_object(views, size)
    names = tuple(f"row {i} column {j}" for i in range(size) for j in range(size))
    return _input("a toy that turns", pictures, names, "degrees", np.arange(views)), {"image": (size, size)}


def _input(name: str, X: Any, names: tuple[str, ...], label: str, labels: Any) -> Input:
    from ritz.rows.memory.array import ArrayRows

    return Input(name, ArrayRows(X, names), given={label: labels}, label=label, left_out={label: "label"})


DEMOS = {"digits": _digits, "wine": _wine, "rotation": _rotation}

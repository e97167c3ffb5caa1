"""`ritz fit` and `ritz demo`."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Any

import numpy as np

from ritz.cli.inputs import PIPE, Reading, Table, chosen, is_text, located, size_of, title
from ritz.cli.outputs import folder_for
from ritz.cli.screen import Screen
from ritz.harmless import visible
from ritz.rows.files import opened


def fit_file(screen: Screen, file: str, out: str | None, opens: bool, force: bool, **given: Any) -> int:
    """Read a file, fit it, write a folder; the exit code."""
    if file != PIPE and Path(file).exists():
        screen.tell(f"reading {visible(title(file, Path(file)))} ({size_of(Path(file))}) …")
    with located(file) as path:
        names = {name: given.pop(name) for name in ("label", "drop", "keep", "transpose", "missing", "drop_constant")}
        reading = Reading(**names)
        from ritz.cli.analysis import Asked, analyse, file_names

        folder = folder_for(out, file, path, file_names(is_text(path)), force)
        with screen.hearing():
            table = chosen(opened(path, reading.transpose), path, file, reading)
        code = analyse(table, reading, Asked(**given), folder, screen, {})
    if opens:
        show(folder / "report.html")
    return code


def show(page: Path) -> None:
    """The page in a browser."""
    webbrowser.open(page.resolve().as_uri())


def demonstrate(
    screen: Screen, which: str, components: int | float | str | None, out: str | None, opens: bool, force: bool
) -> int:
    """The same with data that comes along."""
    from ritz.cli.analysis import Asked, analyse, file_names

    table, suited = DEMOS[which]()
    asked = Asked(**suited, components=components)
    folder = Path(out or f"{which}-ritz")
    again = _is_demo(folder / "model.safetensors")
    folder = folder_for(str(folder), which, folder, file_names(text=False), force or again)
    code = analyse(table, Reading(), asked, folder, screen, {"demo": which})
    if opens:
        show(folder / "report.html")
    return code


def _is_demo(model: Path) -> bool:
    """Whether an earlier demo wrote this, so that nothing of anybody's is lost."""
    from ritz.estimators.loading import load

    try:
        return "demo" in load(model).notes_
    except (OSError, ValueError):
        return False


def _digits() -> tuple[Table, dict[str, Any]]:
    from sklearn.datasets import load_digits

    digits = load_digits()
    names = tuple(f"row {i} column {j}" for i in range(8) for j in range(8))
    return _table("handwritten digits", digits.data, names, "digit", digits.target), {"image": (8, 8)}


def _wine() -> tuple[Table, dict[str, Any]]:
    from sklearn.datasets import load_wine

    wine = load_wine()
    kinds = np.array([f"cultivar {kind + 1}" for kind in wine.target], object)
    return _table("wines", wine.data, tuple(wine.feature_names), "cultivar", kinds), {"scale": True}


def _rotation() -> tuple[Table, dict[str, Any]]:
    from ritz.datasets import rotating_object

    views, size = 360, 64
    pictures = rotating_object(views, size)
    names = tuple(f"row {i} column {j}" for i in range(size) for j in range(size))
    return _table("a toy that turns", pictures, names, "degrees", np.arange(views)), {"image": (size, size)}


def _table(name: str, X: Any, names: tuple[str, ...], label: str, labels: Any) -> Table:
    from ritz.rows.array import Array

    return Table(name, Array(X, names), {label: labels}, label, {label: "label"})


DEMOS = {"digits": _digits, "wine": _wine, "rotation": _rotation}

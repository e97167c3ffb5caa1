"""The house keeps its shape: tests mirror the source, few loose modules and layers, packages that say what they hold,
and a fit that a reader can follow."""

import ast
import re
import sys
import threading
import tomllib
from pathlib import Path

import numpy as np
import pytest

from ritz import PCA

ROOT = Path(__file__).parents[2]
SOURCE, TESTS = ROOT / "src" / "ritz", ROOT / "tests"
PACKAGES = [path.parent for path in sorted(SOURCE.rglob("__init__.py")) if path.parent != SOURCE]
ACROSS = ("contracts", "system")  # tests of what no module does alone
MIRRORS = [path for path in sorted(TESTS.rglob("test_*.py")) if path.relative_to(TESTS).parts[0] not in ACROSS]
VISITED = 28  # modules of ours that a dense fit may enter


def modules(folder: Path) -> set[str]:
    """The names of the modules directly in a folder."""
    return {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}


@pytest.mark.parametrize("path", MIRRORS, ids=lambda path: str(path.relative_to(TESTS)))
def test_tests_mirror_the_source(path):
    """tests/rows/text/test_source_aspect.py is about src/ritz/rows/text/source.py."""
    place = path.parent.relative_to(TESTS)
    names, about = modules(SOURCE / place), path.stem.removeprefix("test_")
    assert any(about == name or about.startswith(f"{name}_") for name in names), (
        f"{path.relative_to(ROOT)} is named after no module of src/ritz/{place}: {', '.join(sorted(names))}"
    )


def test_few_modules_are_loose():
    assert len(modules(SOURCE)) <= 6, sorted(modules(SOURCE))


def test_few_layers():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    assert len(layers) <= 16


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: str(package.relative_to(SOURCE)))
def test_every_package_says_where_a_new_thing_goes(package):
    said = ast.get_docstring(ast.parse((package / "__init__.py").read_text("utf-8"))) or ""
    assert len(said.splitlines()) >= 3, said
    assert re.search(r"\b[Aa] new\b|\bnot written here but in\b", said), f"where does a new thing go? {said}"


def modules_entered(call) -> set[str]:
    """The modules of ours in which a function is called during a call, in any thread of it."""
    entered: set[str] = set()

    def note(frame, event, argument):
        if event == "call":
            entered.add(frame.f_globals.get("__name__", ""))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {name for name in entered if name.partition(".")[0] == "ritz"}


@pytest.mark.parametrize("shape", [(150, 4), (500, 40), (20_000, 60)], ids=str)
def test_a_dense_fit_visits_few_modules(shape):
    X = np.random.default_rng(0).standard_normal(shape)
    PCA(4).fit(X)  # whatever is imported or measured only once
    entered = modules_entered(lambda: PCA(4).fit(X))
    assert len(entered) <= VISITED, "\n".join(sorted(entered))

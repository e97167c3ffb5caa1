"""The page about the architecture: its drawing is made of the real imports, and what it names is there."""

import importlib
import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_drawing_is_that_of_the_imports():
    made = runpy.run_path(str(ROOT / "docs" / "architecture.py"))["drawing"]()
    kept = (ROOT / "docs" / "architecture.svg").read_text("utf-8")
    assert made == kept, "run python docs/architecture.py"


def test_what_the_page_names_is_there():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    names = re.findall(r"`(ritz(?:\.\w+)+)`", text)
    assert len(names) > 30
    for name in names:
        resolved(name)


def resolved(name):
    """The module, class, function or method of this name."""
    parts = name.split(".")
    for k in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:k]))
        except ModuleNotFoundError:
            continue
        for part in parts[k:]:
            found = getattr(found, part)
        return found
    raise AssertionError(f"{name} is not there")

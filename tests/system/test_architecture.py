"""The pages about the code: the drawing is made of the real imports, what they name is there, codes are all listed."""

import importlib
import inspect
import re
import runpy
from pathlib import Path

import pytest

import ritz
from ritz.sensing.certificate import RecoveryCertificate

ROOT = Path(__file__).parents[2]


def test_the_drawing_is_that_of_the_imports():
    made = runpy.run_path(str(ROOT / "docs" / "architecture.py"))["drawing"]()
    kept = (ROOT / "docs" / "architecture.svg").read_text("utf-8")
    assert made == kept, "run python docs/architecture.py"


@pytest.mark.parametrize("page", ["architecture.md", "api.md"])
def test_what_a_page_names_is_there(page):
    text = (ROOT / "docs" / page).read_text("utf-8")
    names = re.findall(r"`(ritz(?:\.\w+)+)`", text)
    assert len(names) > 15
    for name in names:
        resolved(name)


def test_every_public_name_is_listed():
    text = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert [name for name in ritz.__all__ if name != "__version__" and f"`ritz.{name}`" not in text] == []


def test_every_code_of_a_diagnostic_is_listed():
    source = "".join(path.read_text("utf-8") for path in (ROOT / "src" / "ritz").rglob("*.py"))
    codes = set(re.findall(r'Diagnostic\("(\w+)"', source))
    certificate = inspect.getsource(RecoveryCertificate.diagnostics)
    codes |= set(re.findall(r'"(\w+)": (?:self|np)', certificate))
    text = (ROOT / "docs" / "api.md").read_text("utf-8")
    listed = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert codes == listed


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

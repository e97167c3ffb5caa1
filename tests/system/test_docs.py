"""The README and all docstrings are executed: what they show is what happens. The pages of docs: `pytest docs`."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import ritz
from helpers.documents import FLAGS, check_code, check_commands

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [path for path in sorted((ROOT / "docs").rglob("*.md")) if not path.is_relative_to(ROOT / "docs" / "_build")]
MODULES = [module.name for module in pkgutil.walk_packages(ritz.__path__, "ritz.")]


@pytest.mark.usefixtures("one_thread")
def test_readme():
    check_code(README)


def test_readme_commands(tmp_path):
    check_commands(README, tmp_path)


@pytest.mark.parametrize("module", MODULES)
def test_docstrings(module, monkeypatch, tmp_path):
    monkeypatch.setattr("ritz.fitting.calibration.cache_file", lambda: tmp_path / "rates.json")  # not the reader's own
    result = doctest.testmod(importlib.import_module(module), optionflags=FLAGS)
    assert result.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = sum(len(t.examples) for name in MODULES for t in finder.find(importlib.import_module(name)))
    assert examples > 30


def test_every_link_inside_the_repository_exists():
    for page in [README, *PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def public(module, name):
    """What a module offers: the functions and classes that it lists."""
    return [f"{name}.{member}" for member in getattr(module, "__all__", ()) if callable(getattr(module, member))]


def listed():
    """The names of the tables of docs/api.md, with what the modules among them offer."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`\w+\.[^|]+) \|", text, re.MULTILINE)
    names = [name for cell in cells for name in re.findall(r"`((?:\w+\.)+\w+)`", cell)]
    full = [name if name.startswith("ritz.") else f"ritz.{name}" for name in names]
    things = {name: pkgutil.resolve_name(name) for name in full}
    modules = {name: thing for name, thing in things.items() if inspect.ismodule(thing)}
    return sorted({*full, *(member for name, module in modules.items() for member in public(module, name))})


def described(name):
    """Whether a docstring has an example; of a module, that it lists what it offers; of a value, a comment above it."""
    thing = pkgutil.resolve_name(name)
    if inspect.ismodule(thing):
        return bool(public(thing, name))
    if callable(thing):
        return ">>> " in (thing.__doc__ or "")
    module, _, constant = name.rpartition(".")
    source = inspect.getsource(importlib.import_module(module))
    return re.search(rf"^# .+\n{constant}\b", source, re.MULTILINE) is not None


def test_every_public_name_has_an_example():
    names = listed()
    assert len(names) > 50
    assert [name for name in names if not described(name)] == []

"""The README and all docstrings are executed: what they show is what happens. The pages of docs: `pytest docs`."""

import doctest
import importlib
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
def test_docstrings(module):
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

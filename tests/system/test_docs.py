"""The pages and docstrings are executed: what they show is what happens."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

import ritz

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = [module.name for module in pkgutil.walk_packages(ritz.__path__, "ritz.")]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Checker(doctest.OutputChecker):
    """Times, and errors at the level of rounding such as 1.5e-13, differ by machine: only their form is compared."""

    def check_output(self, want, got, flags):
        blurred = [re.sub(r"\b\d(\.\d+)?e-(0[5-9]|[1-9]\d)|\b\d+\.\d\d s\b", "#", text) for text in (want, got)]
        blurred = [re.sub(r"(\.\d{11})\d+", r"\1", text) for text in blurred]  # the last digits are those of a BLAS
        return super().check_output(*blurred, flags)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page):
    from ritz.rows import SOURCES
    from ritz.solvers import SOLVERS

    sources, solvers = list(SOURCES), dict(SOLVERS)
    names: dict[str, object] = {}
    failures = []
    try:
        for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
            if ">>>" not in block:
                exec(compile(block, page.name, "exec"), names)
                continue
            test = doctest.DocTestParser().get_doctest(block, names, page.name, page.name, 0)
            runner = doctest.DocTestRunner(checker=Checker(), optionflags=FLAGS)
            runner.run(test, out=failures.append, clear_globs=False)
            names.update(test.globs)
    finally:
        SOURCES[:] = sources
        SOLVERS.clear()
        SOLVERS.update(solvers)
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_transcript(page, tmp_path):
    """What stands after a `$` in a console block is typed, in one folder per page, and what follows is what is seen."""
    environment = {**os.environ, "PATH": f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}", "COLUMNS": "120"}
    checker, failures = Checker(), []
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        for command, want in re.findall(r"^\$ (.*?)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            done = subprocess.run(
                ["bash", "-c", f"exec 2>&1; {command}"],
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
                check=False,
            )
            if not checker.check_output(want, done.stdout, FLAGS):
                failures.append(f"$ {command}\nexpected:\n{want}\ngot:\n{done.stdout}")
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("module", MODULES)
def test_docstrings(module):
    result = doctest.testmod(importlib.import_module(module), optionflags=FLAGS)
    assert result.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = sum(len(t.examples) for name in MODULES for t in finder.find(importlib.import_module(name)))
    assert examples > 30


def test_every_link_inside_the_repository_exists():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"

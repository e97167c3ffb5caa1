"""The checks of .ci/run, one by one, for people: `nox`, or `nox -s core-3.13`."""

import sys
from pathlib import Path

import nox

sys.path.insert(0, str(Path(__file__).parent / ".ci"))
from lowest import PROJECT, lowest

OLDEST, NEWER = "3.11", ["3.12", "3.13"]
nox.options.error_on_missing_interpreters = False
nox.options.sessions = ["tests", "lint", "docs", "core", "lowest"]


@nox.session(python=OLDEST)
def tests(session):
    """The whole suite; all that it can try with `nox -s tests -- --thorough`."""
    session.install(".[test]")
    session.run("python", "-m", "pytest", "-q", *session.posargs)


@nox.session(python=OLDEST)
def lint(session):
    """Style, types and layers."""
    session.install(".[test]")
    for command in (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"], ["lint-imports"]):
        session.run(*command)


@nox.session(python=OLDEST)
def docs(session):
    """The site, in docs/_build; its pages and examples run, and opened in chromium."""
    session.install(".[docs,test]")
    session.run("python", "-m", "sphinx", "-W", "-b", "html", "docs", "docs/_build")
    session.run("python", "-m", "pytest", "-q", "docs", *session.posargs, env={"RITZ_SITE": "docs/_build"})


@nox.session(python=NEWER)
def core(session):
    """The core of the suite on newer Pythons."""
    session.install("--prefer-binary", ".[test]")
    session.run("python", "-m", "pytest", "-q", "-m", "core", *session.posargs)


@nox.session(name="lowest", python=OLDEST)
def lowest_versions(session):
    """The same with the lowest versions that pyproject.toml promises."""
    session.install("--prefer-binary", *lowest(PROJECT.read_text("utf-8")), ".[test]")
    session.run("python", "-m", "pytest", "-q", "-m", "core", *session.posargs)

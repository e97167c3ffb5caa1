"""Pages of documentation as tests: code is executed, commands are typed, and what they show is what happens."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest
from click.testing import CliRunner

from helpers.counts import usually
from ritz.cli import main

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Checker(doctest.OutputChecker):
    """Times, and errors at the level of rounding such as 1.5e-13, differ by machine: only their form is compared."""

    def check_output(self, want, got, flags):
        blurred = [re.sub(r"\b\d(\.\d+)?e-(0[5-9]|[1-9]\d)|\b\d+\.\d\d s\b", "#", text) for text in (want, got)]
        blurred = [re.sub(r"(\.\d{11})\d+", r"\1", text) for text in blurred]  # the last digits are those of a BLAS
        return super().check_output(*blurred, flags)


def check_code(page: Path) -> None:
    """Every block of Python of a page runs and prints what stands below it; sources and solvers it adds are removed."""
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


def check_commands(page: Path, folder: Path) -> None:
    """What stands after a `$` in a console block is typed, in one folder per page, and what follows is what is seen."""
    checker, failures = Checker(), []
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        for command, want in re.findall(r"^\$ (.*?)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            got = typed(command, folder)
            if not checker.check_output(want, got, FLAGS):
                failures.append(f"$ {command}\nexpected:\n{want}\ngot:\n{got}")
    assert not failures, "\n".join(failures)


OURS = re.compile(r'ritz [\w./ -]*|echo "exit code \$\?"')


def typed(line, folder) -> str:
    """What is seen of a line: of our commands in this process, of pipes and other commands in a shell's.

    A thorough run gives ours processes of their own too.
    """
    commands = line.split("; ")
    if usually(all(OURS.fullmatch(command) for command in commands), thorough=False):
        return called(commands, folder)
    path = f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1; {line}"],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.stdout


def called(commands, folder) -> str:
    """What our commands say, and the exit code of the last one where it is asked for."""
    said, code = "", 0
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command in commands:
            if command.startswith("echo"):
                said += f"exit code {code}\n"
                continue
            done = CliRunner().invoke(main, command.split()[1:], env={"COLUMNS": "120"})
            assert done.exception is None or isinstance(done.exception, SystemExit), command
            said, code = said + done.output, done.exit_code
    return said

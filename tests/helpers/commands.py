"""Small files as people have them, and commands run on them."""

import csv
import inspect
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
from click.testing import CliRunner, Result
from sklearn.datasets import load_wine

from ritz.cli import main

# Older versions of click put what goes to stderr into stdout unless told otherwise; newer ones never do.
APART = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
PROGRAM = Path(sysconfig.get_path("scripts")) / "ritz"


def run(*arguments, code=0, **given) -> Result:
    """A command in this process, whose exit code is checked."""
    result = CliRunner(**APART).invoke(main, [str(part) for part in arguments], **given)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def all_said(*arguments, code=0) -> str:
    """What a command tells people, on stdout and stderr."""
    result = run(*arguments, code=code)
    return result.stdout + result.stderr


def answer(*arguments, code=0) -> dict:
    """What a command tells machines."""
    return json.loads(run(*arguments, "--json", code=code).stdout)


def program(*arguments, code=0, cwd=None, env=(), **given) -> subprocess.CompletedProcess:
    """The installed program in a process of its own."""
    command = [str(PROGRAM) if PROGRAM.exists() else sys.executable, *(() if PROGRAM.exists() else ("-m", "ritz"))]
    done = subprocess.run(
        [*command, *map(str, arguments)],
        capture_output=True,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "120", **dict(env)},
        timeout=120,
        check=False,
        **given,
    )
    assert done.returncode == code, done.stderr
    return done


def wine() -> tuple[np.ndarray, list[str], list[str]]:
    """178 wines: numbers, names of the columns, and kinds."""
    data = load_wine()
    return data.data, list(data.feature_names), [f"cultivar {kind + 1}" for kind in data.target]


def write_wine(path: Path, separator=",", decimal=".", order=None) -> Path:
    """As a spreadsheet writes it: an identifier, a label in the middle, numbers."""
    X, names, kinds = wine()
    order = range(len(names)) if order is None else order
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(["bottle", *(names[j] for j in order), "kind"])
        for i, row in enumerate(X):
            numbers = [repr(float(row[j])).replace(".", decimal) for j in order]
            writer.writerow([f"W-{i:03}", *numbers, kinds[i]])
    return path

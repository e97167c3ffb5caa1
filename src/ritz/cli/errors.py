"""Exit codes, and errors as one line in the words of the command line."""

from __future__ import annotations

import re
from typing import IO, Any

import click

from ritz.errors import DataError
from ritz.runtime.wording import visible

OK, FAILED, USAGE, BAD_DATA, INACCURATE, INTERRUPTED = 0, 1, 2, 3, 4, 130
# The first that fits; whatever else is raised is a mistake of ours and keeps its traceback.
CODES: list[tuple[type[Exception], int]] = [
    (FileNotFoundError, USAGE),
    (IsADirectoryError, USAGE),
    (OSError, FAILED),
    (ImportError, FAILED),
    (MemoryError, FAILED),
    (ValueError, BAD_DATA),
]
# The next step after an error in the data, by its code, as options of a command.
ADVICE = {
    "missing": "--missing drop leaves such rows out, --missing mean fills the gaps",
    "infinite": "replace or remove such cells",
    "beside the matrix": "--label keeps it beside the scores",
}
# The same where columns can be left out.
DROP_ADVICE = {
    "not a number": "leave it out with --drop, or mark missing values as NA",
    "large integer": "subtract an offset first, for instance the first value, take a coarser unit, or leave the column "
    "out with --drop",
}
# And where they cannot, because a model needs every one.
NA = "correct the cell, or mark it as NA, so that its row"
MODEL_ADVICE = {
    "transform": {"needed cell": f"{NA} has empty scores"},
    "report": {"needed cell": f"{NA} is left out"},
    "inverse": {"missing": "correct such rows, or leave all of their scores empty, and they have empty cells"},
}
# What the library says otherwise, as options of a command.
WORDING = [
    (r"pass columns= without it", "leave it out with --drop"),
    (r"pass header=True if", "give --header if"),
    (r"header=False if", "--no-header if"),
    (r"; drop them or use scale=False", "; leave them out with --drop-constant, or do without --scale"),
    (r"\bscale=True\b", "--scale"),
    (r"missing='(\w+)'", r"--missing \1"),
    (r"n_components='?(\w+|0\.\d+)'?", r"-k \1"),
    (r"svd_solver='(\w+)'", r"--solver \1"),
    (r"memory_limit=", "--memory "),
    (r"memory_limit", "--memory"),
    (r"\btol=(?=[\d.])", "--tol "),
    (r"; fit with fit_inverse_transform=True", ": its model was fitted without them"),
    (r" \(n_samples=\d+\)", ""),
    (r"min\(n_samples, n_features\)=", "the smaller of rows and columns, "),
    (r"^Input X contains", "the data contains"),
    (r"; see certificate_", ""),
    (r"; see rank_choice_", ""),
    (r", or pass pandas.read_excel\(path\)", ""),
]
DROP = re.compile(r"--drop\b(?!-)")


class Failure(click.ClickException):
    """An error that ends the command with a code of its own."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(in_one_line(message))
        self.exit_code = code  # type: ignore[misc]

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"ritz: {self.message}", file=file, err=file is None)


def failure(error: Exception) -> Failure | None:
    """An error as a failure with its code; None for one that nobody foresaw."""
    code = next((code for kind, code in CODES if isinstance(error, kind)), None)
    if code is None or (isinstance(error, ImportError) and "pip install" not in str(error)):
        return None
    text = str(error) or "there is not enough memory" * isinstance(error, MemoryError)
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        text = f"there is no file {str(error.filename)!r}"
    if isinstance(error, DataError):
        text = f"{error.problem}; {advice}" if (advice := _advice(error.code)) else text
    return Failure(in_options(text) if code == BAD_DATA else text, code)


def _advice(code: str) -> str:
    """The next step in the words of the command that runs; nothing where the library's own will do."""
    beside_model = MODEL_ADVICE.get(_command())
    return (ADVICE | (DROP_ADVICE if beside_model is None else beside_model)).get(code, "")


def in_options(text: str) -> str:
    """A message of the library in the words of the command line.

    Examples
    --------
    >>> in_options("n_components=9 must be between 1 and min(n_samples, n_features)=4")
    '-k 9 must be between 1 and the smaller of rows and columns, 4'
    """
    with_model = _command() in MODEL_ADVICE
    for pattern, words in WORDING:
        if not (with_model and DROP.search(words)):
            text = re.sub(pattern, words, text)
    return text


def _command() -> str:
    """The name of the command that runs, if any does."""
    context = click.get_current_context(silent=True)
    return "" if context is None else str(context.invoked_subcommand or context.info_name)


def in_one_line(text: str) -> str:
    """A message without line ends, and without anything that a terminal would obey."""
    return visible(" ".join(text.split()))

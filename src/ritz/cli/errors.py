"""Exit codes, and errors as one line in the words of the command line."""

from __future__ import annotations

from typing import IO, Any

import click

from ritz.errors import Advised, ClusterError, MissingPackageError, ParameterError
from ritz.runtime.wording import visible

OK, FAILED, USAGE, BAD_DATA, INACCURATE, INTERRUPTED = 0, 1, 2, 3, 4, 130
# The first that fits; whatever else is raised is a mistake of ours and keeps its traceback.
CODES = {
    (FileNotFoundError, IsADirectoryError): USAGE,
    (OSError, MissingPackageError, MemoryError, ClusterError): FAILED,
    (ValueError,): BAD_DATA,
}
# The option for a parameter of the library.
OPTIONS = {
    "n_components": "-k",
    "svd_solver": "--solver",
    "tol": "--tol",
    "memory_limit": "--memory",
    "random_state": "--seed",
    "missing": "--missing",
    "size": "--size",
    "grey": "--grey",
    "ddof": "--ddof",
    "device": "--device",
    "transpose": "--transpose",
    "dask": "--dask",
}
# The next step after an error or a warning, by its code, as options of a command, with facts of the error in
# braces; "" where there is none.
ADVICE = {
    "picture_size": "--size {size} resizes all of them",
    "model_size": "--size {size} resizes all of them to the size of the model",
    "model_grey": "--grey reads all of them as grey",
    "model_colour": "leave out --grey",
    "missing": "--missing drop leaves such rows out, --missing mean fills the gaps",
    "infinite": "replace or remove such cells",
    "nothing_left": "--missing mean fills the gaps",
    "beside_the_matrix": "--label copies it to the scores",
    "header": "give --header if it holds the names of the columns, --no-header if it is data",
    "memory": "raise --memory",
    "memory_of_flips": "raise --memory, or ask for a number of components with -k",
    "not_converged": "",
    "may_have_missed": "--solver covariance (or gram for few rows) lets the certificate exclude it",
    "nothing_above_noise": "ask for a number with -k to keep the largest variances all the same",
    "nothing_above_noise_unscaled": "ask for a number with -k to keep the largest variances all the same, or use "
    "--scale if large columns hide what others share",
}
# The same where columns can be left out.
DROP_ADVICE = {
    "not_a_number": "leave it out with --drop, or mark missing values as NA",
    "infinite": "--na inf --na -inf takes such cells for missing, and --missing mean fills the gaps; or correct them",
    "large_integer": "subtract an offset first, for instance the first value, take a coarser unit, or leave the column "
    "out with --drop",
    "no_value": "leave it out with --drop",
    "doubtful_column": "if it is not a measurement, leave it out with --drop",
    "constant_columns": "leave them out with --drop-constant, or do without --scale",
}
# And where they cannot, because a model needs every one.
NA = "correct the cell, or mark it as NA, so that its row"
CELLS = ("needed_cell", "not_a_number")
MODEL_ADVICE = {
    "transform": dict.fromkeys(CELLS, f"{NA} has empty scores"),
    "report": dict.fromkeys(CELLS, f"{NA} is left out"),
    "monitor": dict.fromkeys(CELLS, f"{NA} has no statistics"),
    "inverse": {"missing": "correct these rows, or leave all of their scores empty: their output rows are then empty"},
}


class Failure(click.ClickException):
    """An error that ends the command with a code of its own."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(in_one_line(message))
        self.exit_code = code  # type: ignore[misc]

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"ritz: {self.message}", file=file, err=file is None)


def failure(error: Exception, command: str) -> Failure | None:
    """An error as a failure of a command, with its code; None for one that nobody foresaw."""
    code = next((code for kinds, code in CODES.items() if isinstance(error, kinds)), None)
    if code is None:
        return None
    text = in_options(error, command) or "there is not enough memory"  # of which Python says nothing
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        text = f"there is no file {str(error.filename)!r}"
    return Failure(text, code)


def in_options(told: Exception | str, command: str = "") -> str:
    """An error or a warning of the library in the words of a command.

    Examples
    --------
    >>> in_options(ParameterError("n_components", 9, "must be at most 4"))
    '-k 9 must be at most 4'
    """
    if isinstance(told, ParameterError) and told.name in OPTIONS:
        value = "x".join(map(str, told.value)) if isinstance(told.value, tuple) else told.value
        flag = told.value is True  # which has no value
        return f"{OPTIONS[told.name]}{'' if flag else f' {value}'} {told.plain}"
    if isinstance(told, Advised):
        steps = ADVICE | MODEL_ADVICE.get(command, DROP_ADVICE)
        advice = steps[told.code].format(**told.facts) if told.code in steps else told.advice
        return f"{told.plain}; {advice}" if advice else told.plain
    return str(told)


def in_one_line(text: str) -> str:
    """A message without line ends, and without anything that a terminal would obey."""
    return visible(" ".join(text.split()))

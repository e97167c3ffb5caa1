"""Options that several commands share, and what may be given to them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from typing import Any

import click

SOLVERS = ("auto", "covariance", "gram", "svd", "krylov", "orthogonal", "power")


class Components(click.ParamType):
    """How many: a number, a share of the variance, or a rule."""

    name = "K|SHARE|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | float | str:
        if value in ("auto", "mle") or isinstance(value, int):
            return value
        try:
            number = float(value[:-1]) / 100 if value.endswith("%") else float(value) if "." in value else int(value)
        except ValueError:
            number = 0
        if not (number >= 1 if isinstance(number, int) else 0 < number < 1):
            self.fail(f"{value!r} is neither a number of components (1, 2, …), a share (0.95), nor auto", param, ctx)
        return number

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        return [click.shell_completion.CompletionItem(word) for word in ("auto", "0.95") if word.startswith(incomplete)]


class Picture(click.ParamType):
    """Height and width of pictures whose pixels are the columns."""

    name = "HxW"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(r"(\d{1,6})[x×](\d{1,6})", value)
        if not match or 0 in (size := tuple(map(int, match.groups()))):
            self.fail(f"{value!r} is no height and width of a picture, such as 28x28", param, ctx)
        return size[0], size[1]


class Size(click.ParamType):
    """Bytes, such as 2GB."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from ritz.runtime.memory import parse_bytes

        try:
            return parse_bytes(value)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no amount of memory, such as 512MB or 2GiB", param, ctx)


class Tolerance(click.ParamType):
    """A relative accuracy."""

    name = "TOL"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0 <= number < 1:
            self.fail(f"{value!r} is no relative accuracy: a number from 0 to below 1, such as 1e-6", param, ctx)
        return number


FILE = click.Path(allow_dash=True)
OUT = click.Path(allow_dash=True)
MODEL = click.Path()

components = click.option(
    "-k",
    "--components",
    type=Components(),
    default=None,
    help="How many components: a number, a share of the variance such as 0.95 or 95%, auto, which keeps those that "
    "stand above noise, or mle (Minka's choice).  [default: 10, or as many as there are]",
)
scale = click.option(
    "--scale", is_flag=True, help="Divide every column by its standard deviation, as columns in different units need."
)
label = click.option(
    "--label",
    metavar="COL",
    help="A column that is kept beside the scores; it is not decomposed, and colours a report.",
)
drop = click.option("--drop", multiple=True, metavar="COL", help="Leave this column out. May be given several times.")
keep = click.option(
    "--keep",
    multiple=True,
    metavar="COL",
    help="Take this column in although it looks like row numbers or identifiers. May be given several times.",
)
transpose = click.option("--transpose", is_flag=True, help="Samples are the columns of the file, as in gene tables.")
header = click.option(
    "--header/--no-header",
    default=None,
    help="Whether the first line of a text names the columns.  [default: found out, and said where it may be a row]",
)
missing = click.option(
    "--missing",
    type=click.Choice(["error", "drop", "mean"]),
    default="error",
    show_default=True,
    help="Cells without a value: refuse them, drop their rows, or put the mean of the column there.",
)
missing_as_fitted = click.option(
    "--missing",
    type=click.Choice(["error", "drop", "mean"]),
    help="Rows that lack a value: refuse them, drop them, or put means there, of the model where it has them, else of "
    "FILE.  [default: mean if the model was fitted so; else such rows have no scores, and how many do is said]",
)
transpose_as_fitted = click.option(
    "--transpose/--no-transpose",
    default=None,
    help="Whether samples are the columns of the file.  [default: as the model was fitted]",
)
memory = click.option("--memory", type=Size(), help="The most memory to use, such as 2GB.")
seed = click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    metavar="N",
    help="Of the random starts and sign flips.  [default: a fixed one]",
)
image = click.option("--image", type=Picture(), help="Columns are the pixels of pictures: show components as pictures.")
force = click.option("--force", is_flag=True, help="Replace files that exist.")
json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object for machines.")
quiet = click.option("-q", "--quiet", is_flag=True, help="Print warnings and errors alone.")
to = click.option(
    "--to",
    type=click.Choice(["csv", "tsv", "arrow", "parquet"]),
    help="Format of what goes to standard output.  [default: arrow into a pipe, csv on a terminal]",
)


def together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one decorator, in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


reading = together(label, drop, keep, header, transpose, missing)
speaking = together(json, quiet)

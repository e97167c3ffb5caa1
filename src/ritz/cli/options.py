"""Options that several commands share, and what may be given to them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from typing import Any

import click

SOLVERS = ("auto", "covariance", "gram", "svd", "krylov", "orthogonal", "power")


class Parsed(click.ParamType):
    """What a function makes of a text, and the words for a text of which it makes nothing."""

    def __init__(self, name: str, parse: Callable[[str], Any], rule: str, complete: tuple[str, ...] = ()) -> None:
        self.name, self.parse, self.rule, self.complete = name, parse, rule, complete

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is {self.rule}", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        return [click.shell_completion.CompletionItem(word) for word in self.complete if word.startswith(incomplete)]


def _components(text: str) -> int | float | str:
    if text in ("auto", "mle"):
        return text
    number = float(text[:-1]) / 100 if text.endswith("%") else float(text) if "." in text else int(text)
    return _valid(number, number >= 1 if isinstance(number, int) else 0 < number < 1)


def _pixels(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,6})[x×](\d{1,6})", text)
    height, width = map(int, match.groups()) if match else (0, 0)
    return _valid((height, width), height * width > 0)


def _bytes(text: str) -> int:
    from ritz.runtime.rules import parse_bytes

    return parse_bytes(text)


def _code(text: str) -> tuple[float, tuple[str, ...] | None]:
    """A value that says that there is none, and the columns that it is for, if not for all."""
    value, colon, columns = text.partition(":")
    number = float(value)
    return _valid((number, (columns,) if colon else None), number == number and (bool(columns) or not colon))


def _valid(value: Any, holds: bool) -> Any:
    if not holds:
        raise ValueError
    return value


COMPONENTS = Parsed(
    "K|SHARE|auto",
    _components,
    "neither a number of components (1, 2, …), a share (0.95), nor auto",
    complete=("auto", "0.95"),
)
PIXELS = Parsed("HxW", _pixels, "not a height and width in pixels, such as 28x28")
BYTES = Parsed("SIZE", _bytes, "not an amount of memory, such as 512MB or 2GiB")
DDOF = Parsed("0|1", lambda text: _valid(int(text), text in ("0", "1")), "neither 0 nor 1", complete=("0", "1"))
CODE = Parsed("VALUE[:COL,…]", _code, "not a number, or a number and columns, such as -999 or 0:glucose,bmi")
TOLERANCE = Parsed(
    "TOL",
    lambda text: _valid(float(text), 0 <= float(text) < 1),
    "not a relative accuracy: a number from 0 to below 1, such as 1e-6",
)


def _to_screen(*names: str, **about: Any) -> Callable[[Any], Any]:
    """An option that tells the screen how to speak."""

    def told(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        setattr(ctx.obj, str(param.name), value)

    return click.option(*names, expose_value=False, callback=told, **about)


SEED = click.IntRange(0, 2**63 - 1)
FILE = OUT = click.Path(allow_dash=True)
MODEL = click.Path()

files = click.argument("files", type=FILE, nargs=-1, required=True)
components = click.option(
    "-k",
    "--components",
    "n_components",
    type=COMPONENTS,
    help="How many components: a number, a share of the variance such as 0.95 or 95%, auto, which keeps those above "
    "noise, or mle (Minka's choice).  [default: as auto, but 2 at least, where that takes seconds; else 10; of "
    "pictures, 0.95 or 100]",
)
scale = click.option(
    "--scale", is_flag=True, help="Divide every column by its standard deviation; for columns in different units."
)
label = click.option(
    "--label", metavar="COL", help="A column that is copied to the scores and colours the report; it is not decomposed."
)
labels = click.option(
    "--labels",
    metavar="FILE[:COL]",
    help="Labels from another file: its only column, or the one named. They are matched by the names of the rows where "
    "both files have them, else by their order.",
)
columns = click.option(
    "--columns",
    multiple=True,
    metavar="COLS",
    help="Only these columns: names between commas, patterns such as 'x*', or places such as 3-10, counted from 0. May "
    "be repeated.",
)
drop = click.option(
    "--drop", multiple=True, metavar="COLS", help="Leave these columns out, named as for --columns. May be repeated."
)
keep = click.option(
    "--keep",
    multiple=True,
    metavar="COLS",
    help="Include these columns although they look like row numbers or identifiers. May be repeated.",
)
transpose = click.option(
    "--transpose", is_flag=True, help="Points are the columns of the file, as in gene tables; by default they are rows."
)
header = click.option(
    "--header/--no-header",
    default=None,
    help="Whether the first line of a text names the columns.  [default: detected, with a warning in case of doubt]",
)
missing = click.option(
    "--missing",
    type=click.Choice(["error", "drop", "mean"]),
    default="error",
    show_default=True,
    help="Missing values: refuse them, drop their rows, or fill in the mean of the column.",
)
na = click.option(
    "--na",
    type=CODE,
    multiple=True,
    help="This value is missing, in all columns or in some: -999, or 0:glucose,bmi; --missing says what happens then. "
    "May be repeated.",
)
diff = click.option(
    "--diff",
    is_flag=True,
    help="Decompose differences of consecutive rows, as of a series in time, instead of the rows.",
)
missing_as_fitted = click.option(
    "--missing",
    type=click.Choice(["error", "drop", "mean"]),
    help="Missing values: refuse them, drop their rows, or fill in the means of the model, or of FILE if it has none.  "
    "[default: mean if the model was fitted so; else such rows have no scores, and a warning counts them]",
)
transpose_as_fitted = click.option(
    "--transpose/--no-transpose",
    default=None,
    help="Whether points are the columns of the file.  [default: as the model was fitted]",
)
memory = click.option("--memory", "memory_limit", type=BYTES, help="Maximum memory, such as 2GB.")
image = click.option(
    "--image",
    type=PIXELS,
    help="Columns are pixels: show components as images.  [default: as a stack or a folder of pictures has them]",
)
size = click.option("--size", type=PIXELS, help="Resize the pictures of a folder to this height and width.")
grey = click.option(
    "--grey",
    is_flag=True,
    callback=lambda ctx, param, value: value or None,
    help="Read the pictures of a folder as grey ones.",
)
ddof = click.option(
    "--ddof",
    type=DDOF,
    default=1,
    show_default=True,
    help="Divide variances, and with --scale those of columns, by the rows less this: 1 is n - 1, 0 is n.",
)
dask = click.option(
    "--dask",
    metavar="ADDRESS|local",
    help="Fit on a Dask cluster: the address of its scheduler, or local for one worker per core of this machine.",
)
force = click.option("--force", is_flag=True, help="Replace existing files.")
json = _to_screen("--json", "as_json", is_flag=True, help="Print one JSON object for machines.")
quiet = _to_screen("-q", "--quiet", is_flag=True, help="Print only warnings and errors.")
to = click.option(
    "--to",
    type=click.Choice(["csv", "tsv", "arrow", "parquet"]),
    help="Format on standard output.  [default: arrow into a pipe, csv on a terminal]",
)


def together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one decorator, in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


pictures = together(size, grey)
reading = together(label, labels, columns, drop, keep, header, transpose, na, missing, diff, pictures)
speaking = together(json, quiet, click.pass_obj)

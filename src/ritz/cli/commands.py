"""The commands: their arguments and their help. What they do is imported when they run, to start quickly."""

from __future__ import annotations

from typing import Any

import click

from ritz.cli import options
from ritz.cli.screen import Screen


def speaking(screen: Screen, as_json: bool = False, quiet: bool = False) -> Screen:
    """The screen of the program, told how to speak."""
    screen.as_json, screen.quiet = as_json, quiet
    return screen


@click.command(short_help="A whole result folder from data that comes along.")
@click.argument("which", type=click.Choice(["digits", "wine", "rotation"]), default="digits")
@options.components
@click.option("-o", "--out", metavar="DIR", help="Folder for the results.  [default: WHICH-ritz]")
@click.option("--open", "opens", is_flag=True, help="Open the report in a browser.")
@options.force
@options.speaking
@click.pass_context
def demo(ctx: click.Context, as_json: bool, quiet: bool, **given: Any) -> int:
    """Show the whole on data that comes along: a result folder from nothing.

    \b
      digits     1,797 handwritten digits of 8×8 pixels (scikit-learn's)
      wine       178 wines, 13 chemical measurements in different units (scikit-learn's)
      rotation   a toy that turns once, seen from 360 sides: 4,096 pixels, one degree of freedom

    Nothing is downloaded. What an earlier demo wrote is replaced.

    \b
    Examples:
      ritz demo
      ritz demo rotation -k 5 --open
    """
    from ritz.cli.demo import demonstrate

    return demonstrate(speaking(ctx.obj, as_json, quiet), **given)


@click.command(short_help="What is in a file, and what a fit would take.")
@click.argument("file", type=options.FILE)
@options.components
@options.scale
@options.reading
@options.memory
@options.json
@click.pass_context
def info(ctx: click.Context, as_json: bool, **given: Any) -> int:
    """Say what is in FILE and what a fit of it would take, without fitting.

    Only as much is read as that needs: the layout of the file, and a few thousand rows for missing cells and
    the scales of columns. The plan says which solver `ritz fit` would use, how often it walks over the data,
    the memory it takes and the time to expect. FILE may also be a model that Ritz wrote.

    \b
    Examples:
      ritz info measurements.csv
      ritz info embeddings/ -k 50 --json
      ritz info measurements-ritz/model.safetensors
    """
    from ritz.cli.info import look

    return look(speaking(ctx.obj, as_json), **given)


@click.command(short_help="Components, scores, a report and a model of a file.")
@click.argument("file", type=options.FILE)
@options.components
@options.scale
@click.option("--no-center", "center", flag_value=False, default=True, help="Do not subtract the mean.")
@click.option(
    "--solver",
    type=click.Choice(options.SOLVERS),
    default="auto",
    show_default=True,
    help="How to compute; auto takes the quickest that is as accurate as asked.",
)
@click.option(
    "--tol",
    type=options.Tolerance(),
    default=1e-6,
    show_default=True,
    help="Relative accuracy of every component; 0 for the best the arithmetic allows.",
)
@options.reading
@click.option("--drop-constant", is_flag=True, help="Leave out columns whose values are all the same.")
@options.image
@click.option("-o", "--out", metavar="DIR", help="Folder for the results.  [default: NAME-ritz next to FILE]")
@click.option("--open", "opens", is_flag=True, help="Open the report in a browser.")
@options.memory
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), help="Of the random starts and sign flips.  [default: a fixed one]"
)
@click.option("--checkpoint", metavar="FILE", help="Keep progress there; the same command goes on after an interrupt.")
@options.force
@options.speaking
@click.pass_context
def fit(ctx: click.Context, as_json: bool, quiet: bool, **given: Any) -> int:
    """Find the principal components of FILE; write a model, scores and a report.

    Nothing has to be configured: separator, decimal sign and header of a text are found, columns of text
    are left out (one that identifies rows, and one that labels them, are carried along), and all of that is
    said. ritz --help lists the formats of FILE; HDF5 and h5ad need pip install "ritz[hdf5]", Zarr "ritz[zarr]".
    The folder NAME-ritz gets

    \b
      model.safetensors   the model, for ritz transform and for ritz.load in Python
      scores.csv          the rows in the new coordinates PC1, PC2, … (.parquet if FILE is no text)
      report.html         what was found, in words and pictures

    \b
    Examples:
      ritz fit wine.csv --scale
      ritz fit genes.tsv --transpose -k auto
      ritz fit faces.npy -k 0.95 --image 64x64 --open
      zcat big.csv.gz | ritz fit - -k 20 -o result
    """
    from ritz.cli.fit import fit_file

    return fit_file(speaking(ctx.obj, as_json, quiet), **given)


@click.command(short_help="Scores of new rows.")
@click.argument("model", type=options.MODEL)
@click.argument("file", type=options.FILE)
@click.option("-o", "--out", type=options.OUT, help="File for the scores: .csv, .tsv, .parquet, .arrow or .npy.")
@options.to
@options.label
@options.missing_as_fitted
@options.header
@options.transpose_as_fitted
@options.force
@options.speaking
@click.pass_context
def transform(ctx: click.Context, as_json: bool, quiet: bool, **given: Any) -> int:
    """Write the scores of the rows of FILE on the components of MODEL.

    Columns are found by the names that the model knows: their order does not matter, others are ignored, and
    missing ones are an error that lists them. Numbers are streamed, so FILE may be larger than memory;
    identifiers and labels are held there. Without -o the scores go to standard output: as Arrow into a pipe,
    as CSV on a terminal. A CompressedSensing model measures: y1, y2, … stand in the place of scores.
    Every row of FILE has its row of scores; one that lacks a value has empty ones, and how many do is said,
    unless --missing asks for something else, or the model was fitted with --missing mean.

    \b
    Examples:
      ritz transform wine-ritz/model.safetensors new.csv -o new-scores.csv
      cat new.csv | ritz transform wine-ritz/model.safetensors - --to csv | head
    """
    from ritz.cli.transform import encode

    return encode(speaking(ctx.obj, as_json, quiet), **given)


@click.command(short_help="From scores back to rows.")
@click.argument("model", type=options.MODEL)
@click.argument("scores", type=options.FILE)
@click.option("-o", "--out", type=options.OUT, help="File for the rows: .csv, .tsv, .parquet, .arrow or .npy.")
@options.to
@options.header
@options.force
@options.speaking
@click.pass_context
def inverse(ctx: click.Context, as_json: bool, quiet: bool, **given: Any) -> int:
    """Go back from SCORES to rows in the columns that MODEL was learned from.

    SCORES is what `ritz fit` or `ritz transform` wrote: the columns PC1, PC2, … are used, whatever stands
    beside them is carried along. The rows are the nearest ones in the subspace, in the units of the data.
    A CompressedSensing model recovers sparse signals from measurements y1, y2, …; exit code 4 says that some
    were not recovered as asked.

    \b
    Examples:
      ritz inverse wine-ritz/model.safetensors wine-ritz/scores.csv -o smooth.csv
      ritz transform M new.csv | ritz inverse M - --to csv
    """
    from ritz.cli.transform import decode

    return decode(speaking(ctx.obj, as_json, quiet), **given)


@click.command(short_help="A page about a model.")
@click.argument("model", type=options.MODEL)
@click.argument("file", type=options.FILE, required=False)
@click.option("-o", "--out", type=options.OUT, help="The page to write.  [default: report.html next to MODEL]")
@options.label
@options.missing_as_fitted
@options.header
@options.transpose_as_fitted
@options.image
@click.option("--open", "opens", is_flag=True, help="Open it in a browser.")
@options.force
@options.speaking
@click.pass_context
def report(ctx: click.Context, as_json: bool, quiet: bool, **given: Any) -> int:
    """Write a page about MODEL: components, certificate, and with FILE the scores of its rows.

    The page is one file without scripts and without anything from elsewhere.

    \b
    Examples:
      ritz report wine-ritz/model.safetensors wine.csv --label cultivar --force
      ritz report model.safetensors -o about.html
    """
    from ritz.cli.models import write_report

    return write_report(speaking(ctx.obj, as_json, quiet), **given)


@click.command(short_help="One model from models of parts.")
@click.argument("parts", type=options.MODEL, nargs=-1, required=True)
@click.option("-o", "--out", type=options.OUT, required=True, help="The model of all rows.")
@options.force
@options.speaking
@click.pass_context
def merge(ctx: click.Context, as_json: bool, quiet: bool, **given: Any) -> int:
    """Make one model of several that were fitted on parts of the rows: equal to one fit on all of them.

    The models must know the same columns, in any order, and have been fitted with the same options; they
    carry the moments of their rows, which is all that is needed.

    \b
    Example:
      ritz merge monday-ritz/model.safetensors tuesday-ritz/model.safetensors -o week.safetensors
    """
    from ritz.cli.models import merge_models

    return merge_models(speaking(ctx.obj, as_json, quiet), **given)


@click.command(short_help="Angles between two models.")
@click.argument("a", type=options.MODEL)
@click.argument("b", type=options.MODEL)
@options.json
@click.pass_context
def compare(ctx: click.Context, as_json: bool, **given: Any) -> int:
    """Print the principal angles between the subspaces of two models.

    0° everywhere: the same subspace. 90°: a direction of one that the other does not have at all. Columns are
    matched by name.

    \b
    Example:
      ritz compare monday-ritz/model.safetensors tuesday-ritz/model.safetensors
    """
    from ritz.cli.models import compare_models

    return compare_models(speaking(ctx.obj, as_json), **given)


@click.command(short_help="A model as ONNX.")
@click.argument("model", type=options.MODEL)
@click.argument("out", type=options.OUT, metavar="OUT.onnx")
@options.force
@options.speaking
@click.pass_context
def export(ctx: click.Context, as_json: bool, quiet: bool, **given: Any) -> int:
    """Write MODEL as ONNX, for programs that know nothing of Ritz; onnxruntime computes the same scores.

    Needs the extra: pip install 'ritz[onnx]'.

    \b
    Example:
      ritz export wine-ritz/model.safetensors wine.onnx
    """
    from ritz.cli.models import export_model

    return export_model(speaking(ctx.obj, as_json, quiet), **given)


@click.command(short_help="Completion for your shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what makes SHELL complete commands, options and file names.

    \b
    Examples:
      eval "$(ritz completion bash)"         in ~/.bashrc
      eval "$(ritz completion zsh)"          in ~/.zshrc
      ritz completion fish | source          in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    from ritz.cli import main

    kind = get_completion_class(shell)
    assert kind is not None  # click knows the three that the argument allows
    click.echo(kind(main, {}, "ritz", "_RITZ_COMPLETE").source())


ALL = (demo, info, fit, transform, inverse, report, merge, compare, export, completion)  # as people need them

"""The commands: their arguments and their help. What they do is imported when they run, to start quickly."""

from __future__ import annotations

from typing import Any

import click

from ritz.cli import options
from ritz.cli.screen import Screen


@click.command(short_help="Run the full analysis of a bundled data set.")
@click.argument("which", type=click.Choice(["digits", "wine", "usage", "faces", "rotation"]), default="digits")
@options.components
@options.ddof
@click.option("-o", "--out", metavar="DIR", help="Folder for the results.  [default: WHICH-ritz]")
@click.option("--open", "opens", is_flag=True, help="Open the report in a browser.")
@options.force
@options.speaking
def demo(screen: Screen, **given: Any) -> int:
    """Run the full analysis on a bundled data set.

    \b
      digits     1,797 handwritten digits of 8×8 pixels (scikit-learn's)
      wine       178 wines, 13 chemical measurements in different units (scikit-learn's)
      usage      200 phones, 2 measurements of one hidden quantity
      faces      200 pictures of 10 drawn people, 64×64 pixels, with other poses, lights and expressions
      rotation   360 pictures of a turning toy, 64×64 pixels: one degree of freedom

    Nothing is downloaded. The results of an earlier demo are replaced.

    \b
    Examples:
      ritz demo
      ritz demo faces --open
      ritz demo rotation -k 5 --open
    """
    from ritz.cli.demo import demonstrate

    return demonstrate(screen, **given)


@click.command(short_help="Describe a file, and plan a fit of it.")
@options.files
@options.components
@options.scale
@options.reading
@options.memory
@options.json
@click.pass_obj
def info(screen: Screen, **given: Any) -> int:
    """Describe FILES, one or many with the same columns, and plan a fit, without fitting.

    Only what this needs is read: the layout of the file, and a few thousand rows for missing cells and the
    scales of columns. The plan gives the solver that `ritz fit` would use, its passes over the data, its
    working memory and the expected time. FILES may also be a model that Ritz wrote.

    \b
    Examples:
      ritz info measurements.csv
      ritz info embeddings/ -k 50 --json
      ritz info measurements-ritz/model.safetensors
    """
    from ritz.cli.info import look

    return look(screen, **given)


@click.command(short_help="Fit a file: components, scores, a report and a model.")
@options.files
@options.components
@options.scale
@click.option("--no-center", "center", flag_value=False, default=True, help="Do not subtract the mean.")
@options.ddof
@click.option(
    "--solver",
    "svd_solver",
    type=click.Choice(options.SOLVERS),
    default="auto",
    show_default=True,
    help="Algorithm; auto takes the fastest one that reaches the tolerance.",
)
@click.option(
    "--tol",
    type=options.TOLERANCE,
    default=1e-6,
    show_default=True,
    help="Relative accuracy of every component; 0 for the best that the arithmetic allows.",
)
@options.reading
@click.option("--drop-constant", is_flag=True, help="Leave out constant columns.")
@options.image
@click.option("-o", "--out", metavar="DIR", help="Folder for the results.  [default: NAME-ritz next to the first file]")
@click.option("--open", "opens", is_flag=True, help="Open the report in a browser.")
@options.memory
@click.option(
    "--seed", "random_state", type=options.SEED, help="Seed of random starts and sign flips.  [default: a fixed one]"
)
@options.dask
@click.option("--checkpoint", metavar="FILE", help="Save progress there; the same command resumes after an interrupt.")
@click.option("--device", metavar="NAME", help="Compute there, by PyTorch, such as cuda; FILE may exceed its memory.")
@options.force
@options.speaking
def fit(screen: Screen, **given: Any) -> int:
    """Find the principal components of FILES; write a model, scores and a report.

    Nothing has to be configured: separator, decimal sign and header of a text file are detected, columns of
    text are left out (a column of identifiers and a column of labels are copied to the scores), and all of this
    is reported. Rows are points and columns are variables (--transpose if it is the other way round). FILES may
    be a folder of pictures of one size, one point each, whose subfolders are labels. Many files with the same
    columns, or a folder of tables of one format, are one table, one file below the other; with --dask they are
    read by the workers of a Dask cluster (pip install "ritz[dask]"), where each must find them under the same
    path. ritz --help lists the formats; HDF5 and h5ad need pip install "ritz[hdf5]", Zarr "ritz[zarr]", pictures
    "ritz[images]". The folder NAME-ritz gets

    \b
      model.safetensors   the model, for ritz transform and for ritz.load in Python
      scores.csv          the rows in the new coordinates PC1, PC2, … (.parquet if they are not text)
      report.html         the results, in words and figures

    \b
    Examples:
      ritz fit wine.csv --scale
      ritz fit genes.tsv --transpose -k auto
      ritz fit faces/ -k 0.95 --size 64x64 --open
      ritz fit train-images-idx3-ubyte.gz
      zcat big.csv.gz | ritz fit - -k 20 -o result
      ritz fit parts/*.parquet --dask tcp://scheduler:8786 -o result
    """
    from ritz.cli.fit import fit_files

    return fit_files(screen, **given)


@click.command(short_help="Compute the scores of new rows.")
@click.argument("model", type=options.MODEL)
@options.files
@click.option("-o", "--out", type=options.OUT, help="File for the scores: .csv, .tsv, .parquet, .arrow or .npy.")
@options.to
@options.label
@options.missing_as_fitted
@options.header
@options.transpose_as_fitted
@options.pictures
@options.force
@options.speaking
def transform(screen: Screen, **given: Any) -> int:
    """Write the scores of the rows of FILES on the components of MODEL.

    Columns are matched by name: their order does not matter, others are ignored, and missing ones are an
    error that lists them; pictures must have the size of those of the fit. Numbers are streamed, so FILES may be
    larger than memory; identifiers and labels are held in memory. Without -o the scores go to standard output:
    as Arrow into a pipe, as CSV on a terminal. A
    CompressedSensing model gives measurements y1, y2, … instead of scores. Every row of FILES has a row of
    scores; a row with a missing value has empty scores, and a warning says how many there are, unless --missing
    asks for something else, or the model was fitted with --missing mean.

    \b
    Examples:
      ritz transform wine-ritz/model.safetensors new.csv -o new-scores.csv
      cat new.csv | ritz transform wine-ritz/model.safetensors - --to csv | head
    """
    from ritz.cli.transform import encode

    return encode(screen, **given)


@click.command(short_help="Find odd rows, and the columns to blame.")
@click.argument("model", type=options.MODEL)
@options.files
@click.option("-k", "--components", "k", type=click.IntRange(1), help="The first components alone.  [default: all]")
@click.option(
    "--alpha",
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    multiple=True,
    help="Share of rows that exceed a limit by chance. May be repeated.  [default: 0.05 and 0.01]",
)
@click.option(
    "--rows",
    type=click.Choice(["auto", "fit", "new"]),
    default="auto",
    show_default=True,
    help="Whether these are the rows that MODEL was fitted to; auto recognises them.",
)
@click.option(
    "--limits",
    type=click.Choice(["auto", "jm", "box", "moments", "pls_toolbox", "empirical"]),
    default="auto",
    show_default=True,
    help="How limits are found; auto allows for what the components owe to the rows of the fit.",
)
@click.option("--reference", type=options.FILE, help="The rows of the fit, for limits that need them.")
@click.option("-o", "--out", type=options.OUT, help="File for a line per row: .csv, .tsv, .parquet, .arrow or .npy.")
@options.label
@options.missing_as_fitted
@options.header
@options.transpose_as_fitted
@options.pictures
@options.force
@options.speaking
def monitor(screen: Screen, **given: Any) -> int:
    """Say which rows of FILES are odd by MODEL.

    Two statistics tell: T², how far a row is from the mean within the components, and SPE, how far it is from the
    components. Each has limits that few normal rows exceed, other ones for the rows of the fit than for new rows.
    Odd rows are listed by name, the farthest first, with the columns that are to blame. Odd rows are a finding,
    not an error: the exit code is 0. Columns are matched by name, as by ritz transform. With -o every row gets a
    line with T2, SPE, leverage, T2_flag and SPE_flag; a flag counts the limits that are exceeded.

    \b
    Examples:
      ritz monitor wine-ritz/model.safetensors wine.csv
      ritz monitor wine-ritz/model.safetensors new.csv -o new-odd.csv --alpha 0.01
    """
    from ritz.cli.monitor import find_odd_rows

    return find_odd_rows(screen, **given)


@click.command(short_help="Reconstruct rows from scores.")
@click.argument("model", type=options.MODEL)
@click.argument("scores", type=options.FILE)
@click.option(
    "-o",
    "--out",
    type=options.OUT,
    help="File for the rows: .csv, .tsv, .parquet, .arrow or .npy; of a model of pictures also a folder, a name "
    "without an ending, for one PNG each, or a .png for a single one.",
)
@options.to
@options.header
@options.force
@options.speaking
def inverse(screen: Screen, **given: Any) -> int:
    """Reconstruct rows, in the columns that MODEL was fitted to, from SCORES.

    SCORES is a file that `ritz fit` or `ritz transform` wrote: the columns PC1, PC2, … are used, all others are
    copied to the output. The rows are the nearest ones in the subspace, in the units of the data. A
    model of pictures writes them into a folder, named after the rows; values below black or above white are
    clipped, and counted. A CompressedSensing model recovers sparse signals from measurements y1, y2, …; exit
    code 4 means that some were not recovered as accurately as asked.

    \b
    Examples:
      ritz inverse wine-ritz/model.safetensors wine-ritz/scores.csv -o smooth.csv
      ritz inverse faces-ritz/model.safetensors faces-ritz/scores.parquet -o smooth-faces/
      ritz transform M new.csv | ritz inverse M - --to csv
    """
    from ritz.cli.inverse import decode

    return decode(screen, **given)


@click.command(short_help="Write a report about a model.")
@click.argument("model", type=options.MODEL)
@click.argument("file", type=options.FILE, required=False)
@click.option("-o", "--out", type=options.OUT, help="The report to write.  [default: report.html next to MODEL]")
@options.label
@options.labels
@options.missing_as_fitted
@options.header
@options.transpose_as_fitted
@options.pictures
@options.image
@click.option("--open", "opens", is_flag=True, help="Open it in a browser.")
@options.force
@options.speaking
def report(screen: Screen, **given: Any) -> int:
    """Write a report about MODEL: components, certificate, and with FILE the scores of its rows.

    The report is one HTML file without scripts or external resources.

    \b
    Examples:
      ritz report wine-ritz/model.safetensors wine.csv --label cultivar --force
      ritz report model.safetensors -o about.html
    """
    from ritz.cli.models import write_report

    return write_report(screen, **given)


@click.command(short_help="Merge models fitted to parts of the data.")
@click.argument("parts", type=options.MODEL, nargs=-1, required=True)
@click.option("-o", "--out", type=options.OUT, required=True, help="The model of all rows.")
@options.force
@options.speaking
def merge(screen: Screen, **given: Any) -> int:
    """Combine models that were fitted to parts of the rows into one: equal to one fit to all rows.

    The models must have the same columns, in any order, and have been fitted with the same options. They
    contain the moments of their rows, which are all that is needed.

    \b
    Example:
      ritz merge monday-ritz/model.safetensors tuesday-ritz/model.safetensors -o week.safetensors
    """
    from ritz.cli.models import merge_models

    return merge_models(screen, **given)


@click.command(short_help="Compare two models: angles, components, variance explained.")
@click.argument("a", type=options.MODEL)
@click.argument("b", type=options.MODEL)
@options.json
@click.pass_obj
def compare(screen: Screen, **given: Any) -> int:
    """Print the principal angles between the subspaces of two models, which component of B is which of A, and how
    much of the variance of each model the components of the other explain.

    All 0°: the same subspace. 90°: a direction of one subspace that is orthogonal to the other. Columns are
    matched by name.

    \b
    Example:
      ritz compare monday-ritz/model.safetensors tuesday-ritz/model.safetensors
    """
    from ritz.cli.models import compare_models

    return compare_models(screen, **given)


@click.command(short_help="Export a model to ONNX.")
@click.argument("model", type=options.MODEL)
@click.argument("out", type=options.OUT, metavar="OUT.onnx")
@options.force
@options.speaking
def export(screen: Screen, **given: Any) -> int:
    """Write MODEL as ONNX, for programs without Ritz; onnxruntime computes the same scores.

    Needs the extra: pip install 'ritz[onnx]'.

    \b
    Example:
      ritz export wine-ritz/model.safetensors wine.onnx
    """
    from ritz.cli.models import export_model

    return export_model(screen, **given)


@click.command(short_help="Print the completion script for your shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script with which SHELL completes commands, options and file names.

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


# As people need them.
ALL = (demo, info, fit, transform, monitor, inverse, report, merge, compare, export, completion)

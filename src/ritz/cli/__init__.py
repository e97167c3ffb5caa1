"""The command line. Commands are declared with little imported; what they do is imported when they run."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

import click

from ritz import __version__
from ritz.cli import commands
from ritz.cli.failures import INTERRUPTED, OK, Failure, failure
from ritz.cli.screen import Screen


class Program(click.Group):
    """A group of commands whose failures are one line and an exit code, and to whom a closed pipe is none."""

    def invoke(self, ctx: click.Context) -> Any:
        screen = ctx.obj = Screen()
        _forgiving()
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
            ctx.exit(code or OK)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(OK)
        except KeyboardInterrupt:
            Failure("interrupted; no file was left half written", INTERRUPTED).show()
            ctx.exit(INTERRUPTED)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if (stopped := failure(error)) is None:
                raise
            screen.emit(error=stopped.message, exit_code=stopped.exit_code)
            raise stopped from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order in which people need them


def _forgiving() -> None:
    """Terminals that lack a letter show a question mark, and the command goes on."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="ritz")
def main() -> None:
    """Certified principal subspaces: PCA that says how accurate it is.

    \b
    Begin with a file:
      ritz info measurements.csv       what is in it, and what a fit would take
      ritz fit measurements.csv        components, scores, a report and a model
    or without one:
      ritz demo

    \b
    FILE may be text (CSV, TSV, semicolons, decimal commas; also .gz, .zst, .bz2), Parquet (a file or a
    folder), Arrow, NumPy (.npy, .npz), HDF5, h5ad, Zarr, MatrixMarket or a 10x folder; - is standard input.

    \b
    Exit codes: 0 done, 1 failed (as when a file exists and --force was not given), 2 wrong usage,
    3 bad data, 4 done but not as accurate as asked, 130 interrupted.
    """


for command in commands.ALL:
    main.add_command(command)

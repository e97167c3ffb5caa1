"""The command line. Commands are declared with little imported; what they do is imported when they run.

Comes in: arguments. Goes out: results on stdout, messages on stderr, an exit code.
A new option belongs into `options` if several commands share it, else into `commands`; a new command is one function
there and one module that does the work. `fit` checks where results go, `inputs` opens the file, `analysis` fits,
writes and tells what was found, for `demo` too; `pictures` writes rows as PNG files; `notes` keeps in the model how
its file was read; `models` reports, merges and compares models, `screen` prints, and `errors` has the exit codes and,
in tables, the advice by the code of an error.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import Any

import click

from ritz import __version__
from ritz.cli import commands
from ritz.cli.errors import INTERRUPTED, OK, Failure, failure
from ritz.cli.screen import Screen
from ritz.runtime.wording import visible


class Program(click.Group):
    """A group of commands whose failures are one line and an exit code, and to whom a closed pipe is none."""

    def main(self, args: Any = None, *others: Any, **extra: Any) -> Any:
        _forgiving()
        with suppress(ValueError):  # signals are for the first thread alone
            signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # what was begun is cleaned up
        words = list(sys.argv[1:] if args is None else args)
        extra.setdefault("obj", Screen(as_json="--json" in words))  # usage is wrong before any command is asked
        return super().main(words, *others, **extra)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            return super().make_context(*args, **extra)
        except BrokenPipeError:  # help, too, may be cut off
            _silenced()
            raise click.exceptions.Exit(OK) from None
        except OSError as error:
            raise Failure(str(error)) from error

    def invoke(self, ctx: click.Context) -> Any:
        screen: Screen = ctx.obj
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
            ctx.exit(code or OK)
        except BrokenPipeError:
            _silenced()
            ctx.exit(OK)
        except KeyboardInterrupt:
            stopped: click.ClickException = Failure("interrupted; no file was left half written", INTERRUPTED)
        except click.UsageError as error:  # may repeat what was typed
            stopped = click.UsageError("\n".join(map(visible, error.format_message().split("\n"))), error.ctx)
        except click.ClickException as error:
            stopped = error
        except Exception as error:
            found = failure(error, ctx.invoked_subcommand or "")
            if found is None:  # a mistake of ours, or click's Exit
                raise
            stopped = found
        screen.emit(error=stopped.format_message(), exit_code=stopped.exit_code, warnings=screen.warned)
        raise stopped

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order in which people need them


class _WithoutPandas:
    """pyarrow imports pandas wherever it finds it, which takes a third of a small fit; no command needs it.

    Once PyTorch is there, nothing is hidden: it looks for pandas too, and a fit on a GPU has the time.
    """

    def find_spec(self, name: str, *others: Any) -> None:
        if name == "pandas" and "torch" not in sys.modules:
            raise ModuleNotFoundError("the command line does not import pandas", name=name)


def program() -> None:
    """The command `ritz`, in a process of its own."""
    sys.meta_path.insert(0, _WithoutPandas())
    main(prog_name="ritz")


def _silenced() -> None:
    """Whatever is still to be said has no reader."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _forgiving() -> None:
    """Terminals that lack a letter show a question mark, streams that are closed swallow everything."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (for as long as the program runs)
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
    folder), Arrow, NumPy (.npy, .npz), MatrixMarket, a 10x folder or IDX (also .gz); with an extra HDF5 and h5ad
    (pip install 'ritz[hdf5]'), Zarr (pip install 'ritz[zarr]') or a folder of pictures (pip install
    'ritz[images]'); - is standard input. Rows are points, columns are variables: --transpose if yours are not.

    \b
    Exit codes: 0 done, 1 failed (as when a file exists and --force was not given), 2 wrong usage,
    3 bad data, 4 done but not as accurate as asked, 130 interrupted.
    """


for command in commands.ALL:
    main.add_command(command)

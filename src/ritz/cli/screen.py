"""What a command shows: results on stdout, for people or as JSON; what happens meanwhile on stderr."""

from __future__ import annotations

import json
import math
import os
import shlex
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import click

from ritz.cli.errors import in_one_line, in_options
from ritz.runtime.wording import visible

WIDE = 200  # letters of a line where nobody looks
FEWEST = 8  # letters that are worth a column
NARROWEST = 20  # letters of a line that is worth folding
wrapped = partial(textwrap.wrap, break_long_words=False, break_on_hyphens=False)  # words are copied as they are


@dataclass
class Screen:
    """Where a command speaks. `as_json`: stdout holds one JSON object and nothing else; `quiet`: nothing for people."""

    as_json: bool = False
    quiet: bool = False
    warned: list[str] = field(default_factory=list)

    def say(self, text: str, style: str = "", typed: bool = False) -> None:
        """A line of the result. Where a terminal is too narrow it is broken between words, unless it is to be typed."""
        if not (self.as_json or self.quiet):
            text = text if typed else folded(text, sys.stdout)
            click.echo(click.style(text, **STYLES[style]) if style else text, color=_colours())

    def tell(self, text: str) -> None:
        """A line about what is going on."""
        if not self.quiet:
            click.echo(click.style(text, **STYLES["dim"]), err=True, color=_colours())

    def warn(self, text: str) -> None:
        """What the user should know; kept for JSON."""
        text = in_one_line(text)
        if text not in self.warned:
            self.warned.append(text)
            lines = folded(f"warning: {text}", sys.stderr).removeprefix("warning:")
            click.echo(f"{click.style('warning:', **STYLES['warning'])}{lines}", err=True, color=_colours())

    def table(self, head: Sequence[str], rows: Sequence[Sequence[Any]], left: Sequence[int] = ()) -> None:
        """Columns under their names; those in `left` begin where the name does, the others end there."""
        if self.as_json or self.quiet:
            return
        from rich.cells import cell_len, set_cell_size

        # Numbers are never shortened: where there is no room, words at the end of a line are, or left out.
        cells = [list(head), *([visible(cell) for cell in row] for row in rows)]
        widths = [max(cell_len(row[j]) for row in cells) for j in range(len(head))]
        room = shutil.get_terminal_size().columns if in_terminal() else WIDE
        for i, row in enumerate(cells):
            numbers = [" " * (widths[j] - cell_len(cell)) + cell for j, cell in enumerate(row) if j not in left]
            line = "  ".join([*numbers, *(row[j] for j in left if j < len(row))]).rstrip()
            least = sum(map(len, numbers)) + 2 * len(numbers) - 2
            if cell_len(line) > room:
                line = set_cell_size(line, room - 1).rstrip() + "…" if room > least + FEWEST else "  ".join(numbers)
            self.say(line, "" if i else "bold", typed=True)

    def emit(self, **facts: Any) -> None:
        """The result for machines."""
        if self.as_json:
            click.echo(json.dumps(as_json(facts), ensure_ascii=True, allow_nan=False))

    @contextmanager
    def hearing(self) -> Iterator[None]:
        """Warnings of the library are the command's."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", category=DeprecationWarning)
            try:
                yield
            finally:
                for warning in heard:
                    self.warn(in_options(warning.message))


def as_json(value: Any) -> Any:
    """What JSON can hold: no infinities, no arrays."""
    if isinstance(value, dict):
        return {str(key): as_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(part) for part in value]
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return as_json(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool | None) else str(value)


def folded(text: str, stream: Any) -> str:
    """Text with lines broken between words where they are longer than the lines of a terminal."""
    if not stream.isatty():
        return text
    width, lines = shutil.get_terminal_size().columns, []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        fits = len(line) <= width or width < 2 * NARROWEST
        lines += [line] if fits else wrapped(line, width, subsequent_indent=indent)
    return "\n".join(lines)


def typed(path: Any) -> str:
    """A path as it is typed into a shell."""
    text = str(path)
    return visible(shlex.quote(f"./{text}" if text.startswith("-") else text))


STYLES: dict[str, dict[str, Any]] = {
    "bold": {"bold": True},
    "dim": {"dim": True},
    "good": {"fg": "green"},
    "bad": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow"},
}


def _colours() -> bool | None:
    """None leaves it to whether a terminal looks; NO_COLOR (no-color.org) has the last word."""
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None


def in_terminal() -> bool:
    """Whether a person looks at stdout."""
    return sys.stdout.isatty()

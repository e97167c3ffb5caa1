"""What a command shows: results on stdout, for people or as JSON; what happens meanwhile on stderr."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import click

from ritz.harmless import visible

WIDE = 200  # letters of a line where nobody looks


@dataclass
class Screen:
    """Where a command speaks. `as_json`: stdout holds one JSON object and nothing else; `quiet`: nothing for people."""

    as_json: bool = False
    quiet: bool = False
    warned: list[str] = field(default_factory=list)

    def say(self, text: str = "", style: str = "") -> None:
        """A line of the result."""
        if not (self.as_json or self.quiet):
            click.echo(click.style(text, **STYLES[style]) if style else text, color=_colours())

    def tell(self, text: str) -> None:
        """A line about what is going on."""
        if not self.quiet:
            click.echo(click.style(text, **STYLES["dim"]), err=True, color=_colours())

    def warn(self, text: str) -> None:
        """What the user should know; kept for JSON."""
        text = visible(" ".join(text.split()))
        if text not in self.warned:
            self.warned.append(text)
            click.echo(f"{click.style('warning:', **STYLES['warning'])} {text}", err=True, color=_colours())

    def table(self, head: Sequence[str], rows: Sequence[Sequence[Any]], left: Sequence[int] = ()) -> None:
        """Columns under their names; those in `left` begin where the name does, the others end there."""
        if self.as_json or self.quiet:
            return
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False)
        for j, name in enumerate(head):
            table.add_column(name, justify="left" if j in left else "right", no_wrap=True, overflow="ellipsis")
        for row in rows:
            table.add_row(*(Text(visible(cell)) for cell in row))
        console = Console(highlight=False, markup=False, emoji=False)
        if not console.is_terminal:
            console.width = WIDE
        with console.capture() as shown:
            console.print(table)
        for line in shown.get().rstrip("\n").split("\n"):
            self.say(line.rstrip())

    def emit(self, **facts: Any) -> None:
        """The result for machines."""
        if self.as_json:
            click.echo(json.dumps(as_json(facts), ensure_ascii=True, allow_nan=False))

    @contextmanager
    def hearing(self) -> Iterator[None]:
        """Warnings of the library are the command's."""
        from ritz.cli.failures import in_options

        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", category=DeprecationWarning)
            yield
        for warning in heard:
            self.warn(in_options(str(warning.message)))


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


STYLES: dict[str, dict[str, Any]] = {
    "bold": {"bold": True},
    "dim": {"dim": True},
    "good": {"fg": "green"},
    "bad": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow"},
}


def _colours() -> bool | None:
    """None leaves it to whether a terminal looks; NO_COLOR (no-color.org) has the last word."""
    import os

    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None


def in_terminal() -> bool:
    """Whether a person looks at stdout."""
    return sys.stdout.isatty()

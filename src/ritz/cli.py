"""The command line."""

from __future__ import annotations

import click

from ritz import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ritz")
def main() -> None:
    """Certified principal subspaces: PCA that says how accurate it is."""


@main.command()
@click.option("-k", "components", default=10, show_default=True, type=click.IntRange(1, 64), help="Components to keep.")
def demo(components: int) -> None:
    """Decompose 1,797 handwritten digits and show what was found.

    The data comes with scikit-learn; nothing is downloaded.

    \b
    Example:
      ritz demo -k 5
    """
    from ritz.views.demo import show

    show(components)

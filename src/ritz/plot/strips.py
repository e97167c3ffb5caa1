"""Several panels in one figure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ritz.errors import ParameterError
from ritz.plot.style import lettered, pyplot, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes


WORDS = (0.6, 0.85)  # inches beside and below a panel that its own and the next one's words take


class Strip(NamedTuple):
    """Panels, and how to say above all of them what is seen."""

    axes: list[Axes]
    headline: Callable[[str], None]

    @property
    def array(self) -> Any:
        """The panels, all drawn, as an array."""
        lettered(*self.axes)
        found = np.empty(len(self.axes), dtype=object)
        found[:] = self.axes
        return found


def strip(ax: Any, count: int, columns: int, size: tuple[float, float]) -> Strip:
    """`count` panels, so many beside each other: in a new figure, in the place of one Axes, or those given.

    Parameters
    ----------
    ax : None, an Axes, or a list or array of at least `count` of them
    size : width and height of a panel, in inches, of a new figure
    """
    plt = pyplot()
    columns = min(columns, count)
    rows = -(-count // columns)
    if ax is None:
        figure = plt.figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
        return Strip(_grid(figure, figure.add_gridspec(rows, columns), count), _above(figure))
    if hasattr(ax, "get_subplotspec"):
        return Strip(_inside(ax, rows, columns, count), ax.set_title)
    given = [one for one in np.asarray(ax, dtype=object).ravel() if hasattr(one, "get_subplotspec")]
    if len(given) < count:
        rule = f"must be one Axes, or at least {count} of them, one for every panel; got {len(given)}"
        raise ParameterError("ax", ax, rule)
    return Strip(given[:count], lambda text: None)


def _grid(figure: Any, grid: Any, count: int) -> list[Axes]:
    return [figure.add_subplot(grid[i // grid.ncols, i % grid.ncols]) for i in range(count)]


def _inside(ax: Axes, rows: int, columns: int, count: int) -> list[Axes]:
    """Panels in the place of an Axes, which is left with nothing but its title."""
    ax.set_axis_off()
    place = ax.get_subplotspec()
    if place is not None:
        return _grid(ax.figure, place.subgridspec(rows, columns, **_spaces(ax, rows, columns)), count)
    wide, tall = 0.9 / columns, 0.8 / rows  # axes that somebody put anywhere: what is left is for names and numbers
    corners = [((i % columns) / columns, 1 - (i // columns + 1) / rows) for i in range(count)]
    return [ax.inset_axes((x + 0.05 / columns, y + 0.1 / rows, wide, tall)) for x, y in corners]


def _spaces(ax: Axes, rows: int, columns: int) -> dict[str, float]:
    """Between panels, relative to their sizes: for titles, numbers and names, where the figure does not see to it."""
    if ax.figure.figure.get_layout_engine() is not None:
        return {}
    size, found = ax.get_window_extent().size / ax.figure.dpi, {}
    for name, length, count, words in zip(("wspace", "hspace"), size, (columns, rows), WORDS, strict=True):
        panel = (length - words * (count - 1)) / count
        found[name] = words / panel if panel > words else 1.0
    return found


def _above(figure: Any) -> Callable[[str], None]:
    def say(text: str) -> None:
        made = figure.suptitle(text)
        made.set_text(wrapped(text, 72 * figure.get_figwidth() / float(made.get_fontsize())))

    return say

"""Many points: what is known of them, what their colours mean, and cells that count them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.dense import Array
from ritz.plot.colours import Look
from ritz.plot.style import beside, harmless, harmless_names, legend
from ritz.views.classes import MISSING, TAILS, Classes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELLS = 90  # along the longer side
FAINTEST = 0.3  # colour of a cell with a single row, in the background


class Cloud(NamedTuple):
    """Points with what is known of them: classes, and numbers where labels are such; NaN for a missing one."""

    at: Array  # (m, 1 or 2)
    codes: NDArray[np.intp]
    classes: Classes
    numbers: Array | None
    named: str  # what the labels are called
    dates: bool = False  # whether the numbers are days since 1970


def shades_of(cloud: Cloud, colours: Look) -> list[str]:
    """Of every class; grey for what is left over or missing."""
    kinds = {"c": colours.classes, "q": colours.steps}
    found = [kinds[kind[0]][int(kind[1:])] if kind[1:].isdigit() else colours.faint for kind in cloud.classes.kinds]
    return found if cloud.classes.labelled else [colours.accent]


def named(ax: Axes, cloud: Cloud, colours: Look) -> None:
    """A legend of the classes, and how many rows each has."""
    from matplotlib.lines import Line2D

    if not cloud.classes.labelled:
        return
    marks = [Line2D([], [], ls="", marker="o", color=colour) for colour in shades_of(cloud, colours)]
    short = harmless_names(cloud.classes.names)
    names = [f"{name} ({count:,})" for name, count in zip(short, cloud.classes.counts, strict=True)]
    legend(ax, marks, names, harmless(cloud.named) if cloud.named else None, **beside(ax))


def legend_of_missing(ax: Axes, colours: Look, count: int) -> None:
    """What grey points are."""
    from matplotlib.lines import Line2D

    legend(ax, [Line2D([], [], ls="", marker="o", color=colours.faint)], [f"{MISSING} ({count:,})"], loc="best")


def ends(numbers: Array) -> dict[str, float]:
    """Where a scale of colours ends: a few far numbers do not take all of them."""
    low, high = np.percentile(numbers, TAILS)
    return {"vmin": float(low), "vmax": float(high)} if high > low else {}


def bar(ax: Axes, shown: Any, cloud: Cloud) -> None:
    """The scale of the numbers, with a tip where some lie beyond it."""
    numbers = np.asarray(cloud.numbers)
    low, high = np.nanmin(numbers) < shown.norm.vmin, np.nanmax(numbers) > shown.norm.vmax
    extend = "both" if low and high else "min" if low else "max" if high else "neither"
    made = ax.figure.colorbar(shown, ax=ax, extend=extend)
    made.solids.set_alpha(1)
    made.set_label(harmless(cloud.named) if cloud.named else "label")
    if cloud.dates:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        places = AutoDateLocator()
        made.ax.yaxis.set_major_locator(places)
        made.ax.yaxis.set_major_formatter(ConciseDateFormatter(places))


def mean_cells(ax: Axes, cloud: Cloud, colours: Look) -> None:
    """The mean of the numbers in every cell."""
    numbers = np.asarray(cloud.numbers)
    known = np.isfinite(numbers)
    shown = ax.hexbin(
        *cloud.at[known].T, C=numbers[known], gridsize=CELLS, cmap=colours.scale, linewidths=0.1, **ends(numbers[known])
    )
    bar(ax, shown, cloud)


def counted_cells(ax: Axes, cloud: Cloud, colours: Look, alike: bool) -> None:
    """How many rows, or for classes also which of them leads, in cells."""
    if not cloud.classes.labelled:
        shown = ax.hexbin(*cloud.at.T, gridsize=CELLS, bins="log", mincnt=1, cmap=colours.density, linewidths=0.1)
        ax.figure.colorbar(shown, ax=ax, label="rows in a cell")
        return
    shades = np.array([_rgb(colour) for colour in shades_of(cloud, colours)])
    image, extent = led_by(cloud, shades, colours.background, alike)
    ax.imshow(image, extent=extent, origin="lower", aspect="auto", interpolation="nearest", zorder=1)
    ax.autoscale_view()
    named(ax, cloud, colours)


def _rgb(colour: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)


def led_by(cloud: Cloud, shades: Array, background: Array, alike: bool = True) -> tuple[Array, tuple[float, ...]]:
    """Cells as an image: in the colour of their most frequent class, the stronger the more rows, by the logarithm."""
    low, reach = cloud.at.min(axis=0), np.ptp(cloud.at, axis=0)
    side = (np.full(2, reach.max()) if alike else reach) / CELLS
    side[side == 0] = 1.0
    cells = np.floor((cloud.at - low) / side).astype(int)
    (wide, tall), kinds = (cells.max(axis=0) + 1).tolist(), len(shades)
    places = (cells[:, 1] * wide + cells[:, 0]) * kinds + cloud.codes
    table = np.bincount(places, minlength=tall * wide * kinds).reshape(tall, wide, kinds)
    held = table.sum(axis=2)
    level = np.log(np.maximum(held, 1)) / max(float(np.log(held.max())), 1e-9)
    mix = (FAINTEST + (1 - FAINTEST) * level)[..., None]
    rgb = mix * shades[table.argmax(axis=2)] + (1 - mix) * background
    x, y = low + side * [wide, tall]
    return np.concatenate([rgb, (held > 0)[..., None]], axis=2), (low[0], x, low[1], y)

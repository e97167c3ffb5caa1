"""What all figures share: axes, titles and legends, with text from the data made harmless."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ritz.errors import MissingPackageError
from ritz.plot.colours import Look, look
from ritz.views.format import shown, told_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

AVERAGE = 0.55  # width of a letter, as a share of the size of its font
NARROW = 26.0  # times the size of the font that axes need for a legend of several columns
UNBROKEN = "\N{NO-BREAK SPACE}"  # for what belongs on one line
FEW_MARKS = 60  # up to which bars have space between them, and marks are large
LONGEST = 28  # characters of a name in a figure


def pyplot() -> Any:
    """matplotlib.pyplot, or how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingPackageError('ritz.plot needs matplotlib: pip install "ritz[plot]"') from error
    return plt


def harmless(value: object, most: int = LONGEST) -> str:
    """A name from the data as matplotlib draws it: no formula, no line of its own, not too long.

    Examples
    --------
    >>> harmless("$x$"), harmless("a\\nb")
    ('\\\\$x\\\\$', 'a⟨U+000A⟩b')
    """
    return shown(value, most).replace("$", r"\$")


def harmless_names(values: Sequence[object], most: int = LONGEST) -> list[str]:
    """Several names at once: long ones that begin alike are told apart by their ends."""
    return [name.replace("$", r"\$") for name in told_apart(values, most)]


def axes(ax: Axes | None) -> Axes:
    """The axes to draw on: those given, or those of a new figure."""
    plt = pyplot()
    if ax is None:
        return plt.figure(layout="constrained").subplots()
    if not hasattr(ax, "get_subplotspec"):
        raise TypeError(f"ax is a {type(ax).__name__!r}; one matplotlib Axes is needed, or None for a new figure")
    return ax


def framed(ax: Axes, grid: str = "") -> Look:
    """An empty frame: two sides, and lines across where the style has none of its own. Returns its colours."""
    from matplotlib import rcParams

    colours = look(ax)
    ax.spines[["top", "right"]].set_visible(False)
    if not rcParams["axes.grid"] and grid:
        ax.grid(axis=grid, color=colours.rule, linewidth=0.7)
    ax.set_axisbelow(True)
    return colours


def headline(ax: Axes, text: str, pad: float | None = None) -> None:
    """A title, on as many lines, of about the same length, as the width of the axes asks for: the last thing drawn."""
    ax.set_title(text, pad=pad)
    ax.title.set_text(wrapped(text, 1.15 * _width(ax) / float(ax.title.get_fontsize())))
    lettered(ax)


def captioned(ax: Axes, *lines: str) -> None:
    """A smaller title, for one of several panels; its lines are broken where the panel is narrow."""
    ax.set_title("", fontsize="medium")
    letters = max(4, int(1.3 * _width(ax) / (AVERAGE * float(ax.title.get_fontsize()))))
    ax.title.set_text("\n".join(textwrap.fill(line, letters, break_long_words=False) for line in lines))


def wrapped(text: str, width: float) -> str:
    """Lines of about the same length, none wider than so many times the size of the font.

    Examples
    --------
    >>> wrapped("PC1 holds 92.5% of the variance, and the rest is noise", 20)
    'PC1 holds 92.5% of the\\nvariance, and the rest is noise'
    """
    most = max(12, int(width / AVERAGE))
    lines = len(textwrap.wrap(text, most))
    even = next(letters for letters in range(1, most + 1) if len(textwrap.wrap(text, letters)) <= lines)
    return textwrap.fill(text, even).replace(UNBROKEN, " ")


def _width(ax: Axes) -> float:
    """Of the axes, in points."""
    return float(ax.get_window_extent().width) * 72 / float(ax.figure.dpi)


def lettered(*panels: Any) -> None:
    """Texts of axes with a font behind the style's own, which may lack subscripts or Greek letters."""
    from matplotlib import rcParams

    families = [*rcParams["font.family"], "DejaVu Sans"]  # which comes with matplotlib
    for ax in panels:
        made = ax.get_legend()
        inside = [*ax.texts, *([] if made is None else [*made.get_texts(), made.get_title()])]
        for text in (ax.title, ax.xaxis.label, ax.yaxis.label, *inside):
            text.set_fontfamily(families)
        ax.tick_params(labelfontfamily=families)  # asking for the labels of ticks would make them all, again and again
        lettered(*ax.child_axes)


def legend(ax: Axes, handles: Sequence[Any], names: Sequence[str], title: str | None = None, **places: Any) -> Legend:
    """Names beside their marks, also those that begin with an underscore, which matplotlib would leave out."""
    made = ax.legend(handles, [f"{i}" for i in range(len(names))], title=title, **{"frameon": False, **places})
    for text, name in zip(made.get_texts(), names, strict=True):
        text.set_text(name)
    return made


def beside(ax: Axes) -> dict[str, Any]:
    """Where a legend has space: right of the axes if the figure makes some for it, else inside."""
    if ax.figure.figure.get_layout_engine() is None:
        return {"loc": "best", "frameon": True}
    return {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}


def below(ax: Axes, columns: int) -> dict[str, Any]:
    """The same below the axes and their label, in so many columns where they are wide enough."""
    from matplotlib.transforms import ScaledTranslation

    size = float(ax.xaxis.label.get_fontsize())
    if ax.figure.figure.get_layout_engine() is None:
        return {"loc": "best", "frameon": True, "fontsize": "small"}
    under = ScaledTranslation(0, -(2.4 * size + 10) / 72, ax.figure.dpi_scale_trans)  # numbers and label
    place = {"bbox_to_anchor": (0.5, 0.0), "bbox_transform": ax.transAxes + under, "borderaxespad": 0.0}
    columns = columns if _width(ax) > NARROW * size else 1
    return {"loc": "upper center", "ncols": columns, "fontsize": "small", **place}


def whole_numbers(ax: Axes, most: int = 10) -> None:
    """Ticks at whole numbers alone."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(nbins=most, integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))


def outlined(colours: Look, wide: float = 3.0) -> list[Any]:
    """An edge in the colour of the background, for lines that cross what is as dark."""
    from matplotlib.patheffects import Normal, Stroke

    return [Stroke(linewidth=wide, foreground=colours.paper), Normal()]

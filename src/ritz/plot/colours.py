"""Colours that suit the background of the axes, light or dark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz.linalg.dense import Array
from ritz.views.images import DIVERGING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

READABLE = 4.5  # contrast that text needs (WCAG 2.1, level AA)
# Told apart by every kind of colour vision; the same as on the page of `ritz.report`.
LIGHT = {
    "accent": "#0b5fa5",
    "second": "#b35806",
    "good": "#1b6b3a",
    "bad": "#a3260f",
    "faint": "#a6adb4",
    "classes": "#0072b2 #d55e00 #009e73 #cc79a7 #b8860b #332288 #56b4e9 #882255 #6b8e23 #4d4d4d",
    "steps": "#440154 #472d7b #3b528b #2c728e #21918c #28ae80 #5ec962 #addc30 #e7d31c",
}
DARK = {
    "accent": "#62aee8",
    "second": "#f0a35e",
    "good": "#6fce93",
    "bad": "#ff8f78",
    "faint": "#6b747d",
    "classes": "#4ba3e3 #f28c45 #2fc795 #e39cc4 #e0b93a #9a8cf0 #8fd0f5 #d6618f #a9c95a #c4c4c4",
    "steps": "#7a4b9a #6f63b3 #5c7fc0 #459ac0 #34b3b0 #43c79a #74d97a #b9e54f #f3e64a",
}


@dataclass(frozen=True)
class Look:
    """Colours for one background.

    Attributes
    ----------
    background : as (3,) red, green and blue
    ink, soft : of text, and of text that matters less; both can be read on the background
    rule : of lines that only guide the eye
    accent, second : of what a figure is about, and of what it is compared with
    good, bad : of a verdict
    faint : of what is left out
    classes, steps : of classes, and along a scale of numbers
    """

    background: Array
    ink: str
    soft: str
    rule: str
    accent: str
    second: str
    good: str
    bad: str
    faint: str
    classes: tuple[str, ...]
    steps: tuple[str, ...]

    @property
    def paper(self) -> str:
        """The background as matplotlib writes colours."""
        return mixed(self.background, self.background, 1.0)

    @property
    def scale(self) -> Colormap:
        """Colours of numbers, none of which vanishes in the background."""
        return _colormap("steps", self.steps)

    @property
    def density(self) -> Colormap:
        """From little more than the background to the ink: how many."""
        return _colormap("density", [mixed(self.accent, self.background, 0.25), self.accent, self.ink])


def look(ax: Axes, outside: bool = False) -> Look:
    """Colours for what is drawn inside the axes, or beside them on the figure."""
    from matplotlib import rcParams

    background = _background(ax, outside)
    chosen = LIGHT if luminance(background) > 0.18 else DARK  # where black and white text contrast alike
    ink = rcParams["text.color"]
    if contrast(ink, background) < READABLE:
        ink = max(("black", "white"), key=lambda colour: contrast(colour, background))
    return Look(
        background=background,
        ink=mixed(ink, background, 1.0),
        soft=_readable(mixed(ink, background, 0.65), ink, background),
        rule=mixed(ink, background, 0.18),
        faint=chosen["faint"],
        **{name: _readable(chosen[name], ink, background) for name in ("accent", "second", "good", "bad")},
        classes=tuple(chosen["classes"].split()),
        steps=tuple(chosen["steps"].split()),
    )


def _readable(colour: str, ink: str, background: Array) -> str:
    """The colour, with as much ink in it as text needs to be read."""
    shades = (mixed(colour, ink, share) for share in np.linspace(1.0, 0.0, 21))
    return next((shade for shade in shades if contrast(shade, background) >= READABLE), mixed(ink, ink, 1.0))


def _background(ax: Axes, outside: bool) -> Array:
    """What is behind: the figure, a part of it, the axes; each may be transparent and show what is behind it."""
    from matplotlib.colors import to_rgba

    parts = [ax.figure.figure, ax.figure] + ([] if outside else [ax])
    colour = np.ones(3)
    for part in parts:
        *rgb, alpha = to_rgba(part.get_facecolor())
        colour = alpha * np.array(rgb) + (1 - alpha) * colour
    return colour


def luminance(colour: Any) -> float:
    """How light a colour is to the eye, from 0 to 1 (WCAG 2.1)."""
    from matplotlib.colors import to_rgb

    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: Any, other: Any) -> float:
    """Between two colours, from 1 to 21 (WCAG 2.1)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mixed(colour: Any, background: Any, share: float) -> str:
    """So much of a colour in another one."""
    from matplotlib.colors import to_hex, to_rgb

    return to_hex(share * np.array(to_rgb(colour)) + (1 - share) * np.array(to_rgb(background)))


def diverging() -> Colormap:
    """Blue below 0, light grey at 0, brown above."""
    return _colormap("diverging", DIVERGING / 255.0)


def _colormap(name: str, colours: Any) -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(f"ritz_{name}", list(colours))

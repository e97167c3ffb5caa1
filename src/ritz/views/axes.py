"""Axes of charts: round ticks, written briefly, and the room that texts take.

That is an upper estimate, because the reader's font is not known before the page is read.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from numpy.typing import ArrayLike

from ritz.linalg.dense import Array
from ritz.views.format import SUPERSCRIPTS

WIDTH = 480  # of every chart
LEFT, RIGHT = 62, 14  # margins; the left one is larger where texts are
TICKS = 6  # at most, or one more
BRIEF = 7  # characters of ticks that need no power of ten
GAP = 10  # pixels between the texts of ticks and what is beside them
TINY = 1e-290  # extents that are none, of anything
FINEST = 1e-12  # the same, beside the numbers themselves
LARGEST = 16.0  # pixels: the size of text in charts on narrow screens, where it is larger than elsewhere
NARROW, SMALL, USUAL, CAPITAL, WIDE = 0.43, 0.56, 0.66, 0.8, 1.1  # widths over size, in the widest of usual fonts
BOLD = 1.15  # times as wide
SLIM = frozenset(" .,:;|!'ijlItfr()[]⁰¹²³⁴⁵⁶⁷⁸⁹")
BROAD = frozenset("mwMW@%&+=<>~#^")


@dataclass(frozen=True)
class Axis:
    """Values from low to high, drawn from start to end; some are marked by a text."""

    low: float
    high: float
    start: float
    end: float
    marked: tuple[tuple[float, str], ...]
    label: str = ""

    def at(self, values: ArrayLike) -> Array:
        """Where values stand."""
        span = self.high / 2 - self.low / 2  # halves: the difference of large numbers may overflow
        return self.start + (np.asarray(values) / 2 - self.low / 2) / span * (self.end - self.start)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Places and texts."""
        return [(round(float(self.at(value)), 1), text) for value, text in self.marked]

    def only(self, wanted: Callable[[float, str], bool]) -> Axis:
        """The same axis with the ticks that are wanted, by value and text."""
        return replace(self, marked=tuple(tick for tick in self.marked if wanted(*tick)))


def upright(low: float, high: float, start: float, end: float, label: str = "", share: bool = False) -> Axis:
    """A vertical axis."""
    low, high = extended(low, high)
    return Axis(low, high, start, end, _marked(low, high, TICKS, share), label)


def level(low: float, high: float, start: float, label: str = "") -> Axis:
    """A horizontal axis, up to the right margin, with as many ticks as have room for their texts."""
    low, high = extended(low, high)
    for most in range(TICKS, 1, -1):
        axis = Axis(low, high, start, WIDTH - RIGHT, _marked(low, high, most), label)
        places, halves = [place for place, _ in axis.ticks], [length(text) / 2 for _, text in axis.ticks]
        if np.all(np.diff(places) >= np.array(halves[1:]) + halves[:-1] + GAP):  # no text comes near the next
            break
    return axis.only(lambda value, text: abs(2 * float(axis.at(value)) - WIDTH) + length(text) <= WIDTH)


def left_of(y: Axis) -> float:
    """The left margin that the texts of a vertical axis take."""
    return float(max([LEFT, *(math.ceil(length(text)) + GAP for _, text in y.marked)]))


def extended(low: float, high: float) -> tuple[float, float]:
    """A range that has an extent, whatever it was."""
    if high / 2 - low / 2 > max(TINY, FINEST * max(abs(low), abs(high))):
        return low, high
    reach = abs(low) / 2 if abs(low) > TINY else 1.0
    return low - reach, high + reach


def _marked(low: float, high: float, most: int, share: bool = False) -> tuple[tuple[float, str], ...]:
    """Multiples of a round step inside a range, and how they are written."""
    rough = high / most - low / most
    power = math.floor(math.log10(rough))
    factor = next(factor for factor in (1, 2, 5, 10) if factor * 10.0**power >= rough * (1 - 1e-9))
    step = factor * 10.0**power
    multiples = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    values = [float(Decimal(factor * i).scaleb(power)) for i in multiples]
    texts = _texts([factor * i for i in multiples], power + 2 * share)
    return tuple((value, text + "%" * share) for value, text in zip(values, texts, strict=True))


def _texts(multiples: list[int], power: int) -> list[str]:
    """Multiples of a power of ten: plain, or beside one power for all of them where that is shorter than long ones."""
    plain = [_decimal(i, power) for i in multiples]
    digits = len(str(max(map(abs, multiples), default=1))) - 1
    tens = f"×10{str(power + digits).translate(SUPERSCRIPTS)}"
    scaled = [_decimal(i, -digits) + tens if i else "0" for i in multiples]
    longest, shorter = max(map(len, plain), default=0), max(map(length, scaled), default=0)
    return scaled if longest > BRIEF and shorter < max(map(length, plain)) else plain


def _decimal(i: int, power: int) -> str:
    """i·10^power without rounding and without zeros that say nothing."""
    return f"{Decimal(i).scaleb(power).normalize():,f}".replace("-", "−")


def length(text: str, size: float = LARGEST, bold: bool = False) -> float:
    """Pixels that a line of text takes at most, in a usual font.

    Examples
    --------
    >>> round(length("8,000", 10.0), 1), round(length("8,000", 10.0, bold=True), 1)
    (30.7, 35.3)
    """
    return sum(map(_letter, text)) * size * (BOLD if bold else 1.0)


def _letter(character: str) -> float:
    """Letters of the Latin alphabet, with accents or without, are told apart; any other sign may be a wide one."""
    if character in SLIM:
        return NARROW
    base = unicodedata.normalize("NFD", character)[0]
    if base in BROAD or not base.isascii():
        return SMALL if character == "⁻" else WIDE
    return SMALL if base in "-_`" else CAPITAL if base.isupper() else USUAL


def fitted(text: str, room: float, size: float) -> str:
    """As much of a text as fits, the last character being … if any are missing."""
    if length(text, size) <= room:
        return text
    while text and length(text + "…", size) > room:
        text = text[:-1]
    return text + "…"

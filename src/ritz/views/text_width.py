"""How much room text takes: an upper estimate, because the reader's font is not known before the page is read."""

from __future__ import annotations

import unicodedata

LARGEST = 16.0  # pixels: the size of text in charts on narrow screens, where it is larger than elsewhere
NARROW, SMALL, USUAL, CAPITAL, WIDE = 0.43, 0.56, 0.66, 0.8, 1.1  # widths over size, in the widest of usual fonts
BOLD = 1.15  # times as wide
SLIM = frozenset(" .,:;|!'ijlItfr()[]⁰¹²³⁴⁵⁶⁷⁸⁹")
BROAD = frozenset("mwMW@%&+=<>~#^")


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
    kept = len(text)
    while kept and length(text[:kept] + "…", size) > room:
        kept -= 1
    return text[:kept] + "…"

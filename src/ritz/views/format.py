"""Text that people read: numbers with the digits they deserve, and names from the data made harmless."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from ritz.runtime.wording import at_least, at_most, degrees_above, plural, visible

LONGEST = 60  # characters of a name or a label
NOWHERE = 1e6  # share below 0 that a bound may be at and still say something
PLAIN = (1e-4, 1e7)  # sizes that are written without a power of ten
DIGITS = 6  # at most
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def shown(value: object, most: int = LONGEST) -> str:
    """Text from the data as one short line: what would be invisible, or turn the text around, is spelled out.

    Examples
    --------
    >>> shown("\\x1b[31mred\\n")
    '⟨U+001B⟩[31mred⟨U+000A⟩'
    >>> shown("a\\u202eb")
    'a⟨U+202E⟩b'
    """
    text = str(value)
    if not text.strip():
        return "(empty)"
    return shortened(visible(text[: most + 1]), most)


def told_apart(values: Sequence[object], most: int = LONGEST) -> list[str]:
    """Several texts, each as one short line: those that would look alike keep their ends, and lose their middle.

    Examples
    --------
    >>> told_apart(["temperature, morning", "temperature, evening", "wind"], 12)
    ['tempe…orning', 'tempe…vening', 'wind']
    """
    lines = [shown(value, most) for value in values]
    alike = Counter(lines)
    return [
        line if alike[line] == 1 or len(str(value)) <= most else _ends(str(value), most)
        for value, line in zip(values, lines, strict=True)
    ]


def _ends(text: str, most: int) -> str:
    """The first and the last characters of a long text."""
    half = most // 2
    return shown(text, half) + shortened(visible(text[half - most :])[::-1], most - half)[::-1]


def shortened(text: str, most: int) -> str:
    """At most so many characters, wide ones counting twice, the last being … if any are missing."""
    widths = [1 + (unicodedata.east_asian_width(character) in "WF") for character in text]
    if sum(widths) <= most:
        return text
    room = int(np.searchsorted(np.cumsum(widths), most - 1, side="right"))
    return text[:room] + "…"


def number(value: float, digits: int = DIGITS, full: bool = False) -> str:
    """So many significant digits; zeros at their end only if `full`.

    Examples
    --------
    >>> number(0.25), number(0.25, 4, full=True), number(-3e-13, 1), number(123456789.0, 3)
    ('0.25', '0.2500', '−3×10⁻¹³', '1.23×10⁸')
    """
    return spelled(f"{value:.{digits - 1}e}", full)


def spelled(text: str, full: bool = False) -> str:
    """A number in scientific notation as people write it, digit by digit.

    Examples
    --------
    >>> spelled("2.40e-14"), spelled("1e-06"), spelled("2.50e-01", full=True)
    ('2.4×10⁻¹⁴', '10⁻⁶', '0.250')
    """
    if not math.isfinite(rounded := float(text)) and "e" not in text:
        return "unknown" if math.isnan(rounded) else "∞" if rounded > 0 else "−∞"
    mantissa, _, power = text.partition("e")
    exponent, digits = int(power or 0), sum(map(str.isdigit, mantissa))
    if rounded == 0 or PLAIN[0] <= abs(rounded) < PLAIN[1]:
        text = "0" if rounded == 0 else f"{rounded:,.{max(0, digits - 1 - exponent)}f}"
        return _trimmed(text, full)
    times = {"1": "", "−1": "−"}.get(text := _trimmed(mantissa, full), f"{text}×")
    return f"{times}10{str(exponent).translate(SUPERSCRIPTS)}"


def _trimmed(text: str, full: bool) -> str:
    text = text.replace("-", "−")
    return text.rstrip("0").rstrip(".") if "." in text and not full else text


def figure(value: float, error: float) -> str:
    """A value with no digit beyond its error, and six at most.

    Examples
    --------
    >>> figure(179.006930, 2e-11), figure(179.006930, 0.03), figure(179.006930, 3.0)
    ('179.007', '179.01', '179')
    """
    if not (math.isfinite(value) and value and math.isfinite(error) and error > 0):
        return number(value)
    places = math.floor(math.log10(abs(value))) - math.floor(math.log10(error))
    return number(value, min(max(places + 1, 1), DIGITS), full=True)


def bound(value: float, digits: int = 2) -> str:
    """An upper bound, rounded upwards so that it stays one.

    Examples
    --------
    >>> bound(2.31e-13), bound(0.0), bound(float("inf"))
    ('2.4×10⁻¹³', '0', 'unknown')
    """
    if not math.isfinite(value):
        return "unknown"
    return spelled(at_most(value, digits), full=True)


def least(value: float, digits: int = DIGITS) -> str:
    """A lower bound, rounded downwards.

    Examples
    --------
    >>> least(2.39999999), least(2.39, 2), least(float("-inf"))
    ('2.39999', '2.3', '−∞')
    """
    return spelled(at_least(value, digits))


def percent(share: float, asked: float | None = None) -> str:
    """A share with one decimal, or as many as keep it from looking like nothing, like everything, or like a share
    that was asked for and is not reached.

    Examples
    --------
    >>> percent(0.1489), percent(0.99996), percent(0.00002), percent(4.4e-12), percent(1.0)
    ('14.9%', '99.996%', '0.002%', '4.4×10⁻¹⁰%', '100%')
    >>> percent(0.94996), percent(0.94996, asked=0.95)
    ('95.0%', '94.996%')
    """
    if not math.isfinite(share):
        return "unknown"
    if share <= 0 or share >= 1 - 1e-9:
        return "0%" if share <= 0 else "100%"
    if 100 * share < PLAIN[0]:
        return f"{number(100 * share, 2)}%"
    most = 100.0 if asked is None or share >= asked else 100 * asked
    digits = next((i for i in range(1, 9) if 0 < round(100 * share, i) < most), 9)
    return f"{100 * share:.{digits}f}%"


def asked_share(share: float) -> str:
    """A share that somebody typed.

    Examples
    --------
    >>> asked_share(0.95), asked_share(0.9999)
    ('95%', '99.99%')
    """
    return f"{100 * share:.10g}%"


def between(low: float, high: float) -> str:
    """Two shares that something lies between, rounded outwards, as finely as they are apart but four decimals at most.

    Examples
    --------
    >>> between(0.2181, 0.2539), between(0.2, 0.2)
    ('21.8% to 25.4%', '20.0000% to 20.0000%')
    >>> between(-1e300, 0.25)  # a bound that is none
    'at most 25.0%'
    """
    if low < -NOWHERE:
        return f"at most {math.ceil(round(1000 * high, 6)) / 10:.1f}%"
    apart = 100 * (high - low)
    digits = 4 if apart <= 0 else min(max(math.ceil(-math.log10(apart)), 1), 4)
    step = Decimal(1).scaleb(-digits)
    below, above = (Decimal(f"{100 * share:.{digits}f}") for share in (low, high))
    below, above = below - step * (float(below) / 100 > low), above + step * (float(above) / 100 < high)
    return f"{below:.{digits}f}% to {above:.{digits}f}%"


def angle(sine: float) -> str:
    """The angle of a sine, in degrees, as an upper bound. Their sign would look like one more digit of a power."""
    return "undetermined" if sine >= 1 else bound(degrees_above(sine))


def ordinal(n: int) -> str:
    """1st, 2nd, 3rd, 4th.

    Examples
    --------
    >>> ordinal(2), ordinal(4), ordinal(12), ordinal(8192)
    ('2nd', '4th', '12th', '8,192nd')
    """
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{ending}"


def counted(n: int, thing: str) -> str:
    """1 row, 2 rows."""
    return f"{n:,} {plural(n, thing)}"


def listed(parts: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)

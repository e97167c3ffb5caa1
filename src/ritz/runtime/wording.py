"""What all texts share: bounds that stay bounds when they are written, names of components, data made harmless."""

from __future__ import annotations

import math
import unicodedata
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

JOINERS = "\u200c\u200d"  # invisible, but letters of some scripts are wrong without them


def at_most(x: float, digits: int = 2) -> str:
    """An upper bound with so many significant digits, rounded upwards so that it stays one.

    Examples
    --------
    >>> at_most(2.31e-13), at_most(9.99e5), at_most(4.0, 1), at_most(float("inf"))
    ('2.4e-13', '1.0e+06', '4e+00', 'inf')
    """
    return _directed(x, digits, ROUND_CEILING)


def at_least(x: float, digits: int = 2) -> str:
    """A lower bound with so many significant digits, rounded downwards so that it stays one.

    Examples
    --------
    >>> at_least(2.39e-13), at_least(0.0), at_least(-1.01)
    ('2.3e-13', '0.0e+00', '-1.1e+00')
    """
    return _directed(x, digits, ROUND_FLOOR)


def plain(text: str) -> str:
    """The same number without a power of ten, where that is shorter.

    Examples
    --------
    >>> plain(at_most(0.1234)), plain(at_least(31.77, 3)), plain(at_most(2.31e-13)), plain(at_most(4.0))
    ('0.13', '31.7', '2.4e-13', '4')
    """
    return f"{float(text):.{sum(map(str.isdigit, text.partition('e')[0]))}g}"


def at_most_within(x: float, limit: float, digits: int = 2) -> str:
    """An upper bound of what is within a limit, with as many more digits as it takes to be within it when written.

    Examples
    --------
    >>> at_most_within(1.21e-6, 1.23e-6), at_most_within(1.21e-6, 1e-6), at_most_within(2.31e-13, 1e-6)
    ('1.21e-06', '1.3e-06', '2.4e-13')
    """
    texts = (at_most(x, more) for more in range(digits, 18)) if x <= limit else ()
    return next((text for text in texts if float(text) <= limit), at_most(x, digits))


def at_most_degrees(sine: float, digits: int = 2) -> str:
    """The angle of a sine, in degrees, as an upper bound; 1 says nothing.

    Examples
    --------
    >>> at_most_degrees(0.5), at_most_degrees(1e-14, 1), at_most_degrees(1.0)
    ('3.1e+01°', '6e-13°', 'undetermined')
    """
    return "undetermined" if not sine < 1 else f"{at_most(degrees_above(sine), digits)}°"


def sampled_degrees(sine: float) -> str:
    """The angle of a sine, in degrees, as an estimate; 1 is what the sample does not determine.

    Examples
    --------
    >>> sampled_degrees(0.5), sampled_degrees(0.00123), sampled_degrees(1.0)
    ('30°', '0.07°', 'not determined')
    """
    return "not determined" if not sine < 1 else f"{math.degrees(math.asin(sine)):.2g}°"


def degrees_above(sine: float) -> float:
    """The angle of a sine, in degrees, with what asin and a product may have been rounded down by."""
    angle = math.degrees(math.asin(sine))
    return math.nextafter(angle * (1 + 2**-50), math.inf) if angle else 0.0


def component(i: int) -> str:
    """A component, counted from 0, by its name: PC1 is the first.

    Examples
    --------
    >>> component(0)
    'PC1'
    """
    return f"PC{i + 1}"


def components(start: int, end: int) -> str:
    """Components of a half-open range, counted from 0.

    Examples
    --------
    >>> components(2, 5), components(2, 3)
    ('PC3–PC5', 'PC3')
    """
    return f"{component(start)}–{component(end - 1)}" if end - start > 1 else component(start)


def plural(n: int, thing: str) -> str:
    """What so many things are called.

    Examples
    --------
    >>> plural(1, "row"), plural(2, "row"), plural(0, "row")
    ('row', 'rows', 'rows')
    """
    return thing if n == 1 else f"{thing}s"


def _directed(x: float, digits: int, rounding: str) -> str:
    """The nearest text, if reading it gives a number on the right side of x; else the next one on that side."""
    x = float(x)
    nearest = f"{x + 0.0:.{digits - 1}e}"
    if not math.isfinite(x) or (float(nearest) >= x if rounding == ROUND_CEILING else float(nearest) <= x):
        return nearest
    exact = Context(prec=digits, rounding=rounding).create_decimal(Decimal(x))
    mantissa, power = f"{exact:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(power):+03d}"


def visible(text: object) -> str:
    """Text from the data with whatever would be invisible, or turn it around, or be obeyed, spelled out.

    Terminals obey control characters, and readers are deceived by invisible ones.

    Examples
    --------
    >>> visible("\\x1b[31mred\\n")
    '⟨U+001B⟩[31mred⟨U+000A⟩'
    >>> visible("a\\u202eb")
    'a⟨U+202E⟩b'
    """
    return "".join(map(_visible, str(text)))


def _visible(character: str) -> str:
    kind = unicodedata.category(character)
    if character in JOINERS or not (kind.startswith("C") or kind in ("Zl", "Zp")):
        return character
    return f"⟨U+{ord(character):04X}⟩"


def label_text(value: object) -> str:
    """A label as text: whole numbers look whole, also where something missing made floats of them.

    Examples
    --------
    >>> label_text(3.0), label_text(2.5), label_text("3.0")
    ('3', '2.5', '3.0')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def natural_order(text: str) -> tuple[bool, float, str]:
    """A key that sorts labels: numbers by size, before words.

    Examples
    --------
    >>> sorted(["b", "10", "9", "a"], key=natural_order)
    ['9', '10', 'a', 'b']
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    return math.isnan(number), 0.0 if math.isnan(number) else number, text

"""Text from the data made harmless: terminals obey control characters, and readers are deceived by invisible ones."""

from __future__ import annotations

import unicodedata

JOINERS = "\u200c\u200d"  # invisible, but letters of some scripts are wrong without them


def visible(text: object) -> str:
    """The text with whatever would be invisible, or turn it around, or be obeyed, spelled out.

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

"""The encoding of a text, from its first bytes: a byte-order mark, where zeros stand, or what can be decoded."""

from __future__ import annotations

import codecs

from ritz.errors import DataError

# The mark of UTF-32-LE begins with that of UTF-16-LE, so it is tried first.
MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
ORDINARY = 0.5  # share of ASCII letters, digits and separators in the text of a table
LOOKED_AT = 1 << 12  # characters


def decoded(head: bytes, where: str) -> tuple[str, bool, str]:
    """Encoding, whether a mark says so, and the text, whose last character may be cut off.

    Examples
    --------
    >>> decoded("a,b\\n1,2\\n".encode("utf-32"), "example")[:2]
    ('utf-32-le', True)
    >>> decoded("a,b\\n1,2\\n".encode("utf-16-be"), "example")[:2]
    ('utf-16-be', False)
    """
    for mark, encoding in MARKS.items():
        if head.startswith(mark):
            return encoding, True, head[len(mark) :].decode(encoding, "ignore")
    if b"\x00" in head:
        return _without_mark(head, where), False, head.decode(_without_mark(head, where), "ignore")
    try:
        # The head may end inside a character of several bytes.
        return "utf-8", False, codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1252", False, head.decode("cp1252", "replace")


def _without_mark(head: bytes, where: str) -> str:
    """The encoding with zero bytes in which a text without a mark reads like a table."""
    for encoding in WIDE:
        size = 4 if "32" in encoding else 2
        some = head[: min(size * LOOKED_AT, len(head) // size * size)]
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(some)
        except UnicodeDecodeError:
            continue
        if text and all(c.isprintable() or c in "\t\r\n" for c in text) and _ordinary(text) >= ORDINARY:
            return encoding
    raise DataError(
        f"{where} is not readable text: it contains zero bytes, but is neither UTF-16 nor UTF-32; if it is a "
        "table, save it as UTF-8, as with: iconv -f ENCODING -t UTF-8 OLD > NEW.csv"
    )


def _ordinary(text: str) -> float:
    return sum(c.isascii() for c in text) / len(text)

"""Docstrings as they are written here, for Sphinx: numpydoc's headings, with an entry often in one line,

    change : relative change of the eigenvalue that stops a component
    whiten : bool
        Divide scores by their standard deviation.

Both become a definition. Outside of examples a text is prose: `components_` and |p(x)| are no markup.
"""

from __future__ import annotations

import re
from textwrap import dedent, indent
from typing import Any

from sphinx.application import Sphinx

HEADING = re.compile(r"^-{3,}$")
ENTRY = re.compile(r"^(?P<names>\*{0,2}\w[\w, .*]*?) ?: (?P<text>.+)$", re.MULTILINE)
LISTS = {"Parameters", "Attributes", "Returns", "Yields", "Raises", "Methods"}
MARKUP = re.compile(r"(``.+?``|`[^`\n]+`)|\bdocs/(?P<page>\w+)\.md\b|(?<=[\w\]])_(?!\w)|[|*\\]", re.DOTALL)
SHORT = 90  # a longer first line of an entry was broken: it is no type, the text goes on


def prose(text: str) -> str:
    """A text in which only backticks are markup, and the name of a page is a link.

    >>> print(prose("|λ| of `a_b`, components_ and x*y"))
    \\|λ\\| of `a_b`, components\\_ and x\\*y
    >>> print(prose("docs/cli.md lists all"))
    :doc:`docs/cli.md </cli>` lists all
    """

    def marked(match: re.Match[str]) -> str:
        page = f":doc:`{match[0]} </{match['page']}>`" if match["page"] else ""
        return match[1] or page or "\\" + match[0]

    return MARKUP.sub(marked, text)


def body(text: str) -> str:
    """Paragraphs: examples and what is indented stay as they are.

    >>> print(body("so_\\n\\n    a = b\\n\\nhere"))
    so\\_
    <BLANKLINE>
    ::
    <BLANKLINE>
        a = b
    <BLANKLINE>
    here
    """
    made = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        if paragraph.lstrip().startswith(">>>"):
            made.append(dedent(paragraph))
        elif paragraph.startswith("  ") and not re.match(r"\s*([-*]|\d+\.) ", paragraph):
            made.append("::\n\n" + indent(dedent(paragraph), "    "))
        else:
            made.append(prose(paragraph))
    return "\n\n".join(made)


def entries(text: str) -> str:
    """The entries of a section as definitions.

    >>> print(entries("k : how many\\ntol : float\\n    The accuracy."))
    **k**
        how many
    <BLANKLINE>
    **tol** : float
        The accuracy.
    """
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.strip() and not line.startswith(" "):
            found.append((line, []))
        elif found:
            found[-1][1].append(line)
    return "\n\n".join(definition(first, dedent("\n".join(rest)).strip()) for first, rest in found)


def definition(first: str, rest: str) -> str:
    """One entry."""
    match = ENTRY.match(first)
    if match is None:
        return prose(f"{first}\n{rest}".strip()) if not rest else f"**{prose(first)}**\n" + indent(body(rest), "    ")
    names = ", ".join(f"**{prose(name.strip())}**" for name in match["names"].split(","))
    if rest and len(first) < SHORT and (rest[0].isupper() or not rest[0].isalpha()):
        return f"{names} : {prose(match['text'])}\n" + indent(body(rest), "    ")
    return f"{names}\n" + indent(body(f"{match['text']}\n{rest}"), "    ")


def converted(lines: list[str]) -> list[str]:
    """A docstring as reStructuredText."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        if HEADING.match(line) and sections[-1][1] and sections[-1][1][-1].strip():
            heading = sections[-1][1].pop().strip()
            sections.append((heading, []))
        else:
            sections[-1][1].append(line)
    made = []
    for heading, content in sections:
        text = "\n".join(content)
        if heading:
            made.append(f".. rubric:: {heading}")
        if text.strip():
            made.append(entries(text) if heading in LISTS and ENTRY.search(text) else body(text))
    return [*"\n\n".join(made).splitlines(), ""]


def process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = converted(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", process)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

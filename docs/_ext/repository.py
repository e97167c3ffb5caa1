"""Markdown as GitHub shows it, made right for the site.

Files beside docs/ have a page of their own here, a script of docs/examples is shown with its figure, and the empty line
that ends an example is not shown.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from sphinx.application import Sphinx

PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md"}
EXAMPLE = re.compile(r"(\]\((?:\.\./)*)examples/(?:(plot_\w+)\.py|GALLERY_HEADER\.rst)")
ENDING = re.compile(r"^(```python\n.*?\n)\n+```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(((?:\.\./)+)([\w.]+\.md)")


def here(docname: str, source: str) -> str:
    """A page with links to ../README.md and its like turned to their pages.

    >>> here("speed", "see [it](../README.md#more)")
    'see [it](index.md#more)'
    >>> here("guide/csv", "see [it](../../CHANGELOG.md), [that](../cli.md)")
    'see [it](../changes.md), [that](../cli.md)'
    >>> here("theory/kernel", "as [here](../examples/plot_rings.py)")
    'as [here](../gallery/plot_rings.rst)'
    """
    depth = docname.count("/")

    def turned(match: re.Match[str]) -> str:
        up, name = match[1].count(".."), match[2]
        known = up == depth + 1 and name in PAGES
        return "](" + posixpath.join(*[".."] * depth, PAGES[name]) if known else match[0]

    shown = EXAMPLE.sub(lambda match: f"{match[1]}gallery/{match[2] or 'index'}.rst", source)
    return LINK.sub(turned, shown)


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    source[0] = ENDING.sub(r"\1```", here(docname, source[0]))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", read)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

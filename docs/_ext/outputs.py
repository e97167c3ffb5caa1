"""What examples print: sentences wrap where a page is narrow, lines of tables keep their columns and scroll."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

COLUMNS = re.compile(r'<span class="go">(?=[^<\n]*\S {2,}\S)')  # words that are set apart, as columns are


def marked(html: str) -> str:
    """The same with the class "columns" at every line of output that has columns.

    >>> marked('<span class="go">PC1   4.22824</span>')
    '<span class="go columns">PC1   4.22824</span>'
    >>> marked('<span class="go">accurate as asked</span>')
    '<span class="go">accurate as asked</span>'
    """
    return COLUMNS.sub('<span class="go columns">', html)


def mark(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None) -> None:
    if "body" in context:
        context["body"] = marked(context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", mark)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""A public name in a text becomes a link to its page: `ritz.eigen`, `PCA.from_covariance`."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

import ritz

NAME = re.compile(r"(?:ritz\.)?([A-Za-z_]\w*)((?:\.\w+)*)(?:\(\))?")


def target(text: str) -> str:
    """The full name of what a text names, empty if that is not ours.

    >>> target("PCA.from_covariance"), target("ritz.read"), target("ritz.rows.Rows"), target("read"), target("x.y")
    ('ritz.PCA.from_covariance', 'ritz.read', 'ritz.rows.Rows', '', '')
    """
    match = NAME.fullmatch(text)
    if match is None:
        return ""
    full = text.removesuffix("()")
    if full.startswith("ritz."):
        return full
    public = match[1] in ritz.__all__ and match[1][0].isupper()
    return f"ritz.{full}" if public else ""


class Names(SphinxTransform):
    """Literals that name something public, outside of links and headings."""

    default_priority = 500

    def apply(self, **kwargs: Any) -> None:
        for node in list(self.document.findall(nodes.literal)):
            name = target(node.astext())
            inside = (nodes.reference, nodes.title, addnodes.pending_xref, nodes.rubric)
            parent = node.parent
            while parent is not None and not isinstance(parent, inside):
                parent = parent.parent
            if name and parent is None:
                link = addnodes.pending_xref(
                    "", refdomain="py", reftype="obj", reftarget=name, refdoc=self.env.docname, refwarn=False
                )
                node.replace_self(link)
                link += node


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(Names)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

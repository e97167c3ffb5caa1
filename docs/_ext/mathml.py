"""Formulas as MathML, made when the site is built: a reader's browser sets them without a script.

A formula that cannot be read, or a command that is not known, is an error of the build.
"""

from __future__ import annotations

import re
from html import escape
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

SPACE = "{http://www.w3.org/1998/Math/MathML}"
ElementTree.register_namespace("", SPACE.strip("{}"))
logger = logging.getLogger(__name__)
UNDER = {"min", "max", "lim", "sup", "inf", "argmin", "argmax", "arg min", "arg max"}  # what stands below, not beside
NAMED = re.compile(r"[a-z]{2,}")  # functions such as tan, whose argument stands apart from them
UNKNOWN = re.compile(r">\s*(\\[A-Za-z]+)\s*<")


def mathml(latex: str, display: str) -> str:
    """A formula as a <math> element. `display` is "inline" or "block".

    >>> mathml("x_i", "inline")[-7:]
    '</math>'
    """
    made = convert(latex.replace("{aligned}", "{align*}"), display=display)
    unknown = UNKNOWN.search(made)
    if unknown:
        raise ValueError(f"{unknown[1]} is not known")
    root = ElementTree.fromstring(made)
    root.set("alttext", latex)
    for element in root.iter(f"{SPACE}msub") if display == "block" else ():
        if "".join(element[0].itertext()).strip() in UNDER:
            element.tag = f"{SPACE}munder"
    _set_apart(root)
    for cell in root.iter(f"{SPACE}mtd"):  # what browsers know of the alignment in a column
        if side := cell.attrib.pop("columnalign", ""):
            cell.set("style", f"text-align: {side}")
    return ElementTree.tostring(root, encoding="unicode")


def _set_apart(root: ElementTree.Element) -> None:
    """A thin space between the name of a function and a letter or number that follows it."""
    for parent in root.iter():
        for i, (name, after) in reversed(list(enumerate(pairwise(parent)))):
            letters = name.tag == f"{SPACE}mi" and NAMED.fullmatch(name.text or "")
            if parent.tag == f"{SPACE}mrow" and letters and after.tag in (f"{SPACE}mi", f"{SPACE}mn"):
                parent.insert(i + 1, ElementTree.Element(f"{SPACE}mspace", width="0.167em"))


def written(node: nodes.math | nodes.math_block, display: str) -> str:
    """The formula of a node; a message with its place where it cannot be read."""
    latex = node.astext().strip()
    try:
        return mathml(latex, display)
    except Exception as error:  # latex2mathml has many of its own
        logger.error("formula %r: %s", latex, error or type(error).__name__, location=node)
        return f"<code>{escape(latex)}</code>"


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(self.starttag(node, "span", "", CLASS="math") + written(node, "inline") + "</span>")
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    if node.get("number"):
        self.body.append(f'<span class="eqno">({node["number"]})</span>')
    self.body.append(written(node, "block") + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

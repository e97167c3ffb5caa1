"""Formulas as MathML, made when the site is built: a reader's browser sets them without a script.

A formula that cannot be read, or a command that is not known, is an error of the build. The browser takes the size of a
sum and the height of an exponent from the tables of a mathematical font, which few readers have: the site brings one.
"""

from __future__ import annotations

import re
from base64 import b64encode
from html import escape
from itertools import pairwise
from pathlib import Path
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
UNKNOWN = re.compile(r">\s*(\\[A-Za-z]+)\s*<")
NAMED = re.compile(r"[A-Za-z ]{2,}")  # functions such as tan
ABOVE = {"∑", "∏", "min", "max", "lim", "sup", "inf", "argmin", "argmax", "arg min", "arg max"}  # with limits there
LIMITS = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
SCRIPTS = {f"{SPACE}{tag}" for pair in LIMITS.items() for tag in pair}
ROWS = {f"{SPACE}{tag}" for tag in ("math", "mrow", "mtd", "msqrt", "mstyle")}
MO, MI = f"{SPACE}mo", f"{SPACE}mi"
SPACED = {MO, f"{SPACE}mspace", f"{SPACE}mtext"}  # what brings its own space with it
FONT = Path(__file__).parents[1] / "formulas" / "stix-two-math.woff"  # made by docs/formula_font.py
ACCENTS = {"^": "ˆ", "~": "˜", "¯": "¯"}
BARS, CLOSING = "|‖", ")]}⟩"


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
    for operator in root.iter(MO):
        _mend(operator)
    for element in root.iter():
        _mend_accent(element)
        if element.tag == f"{SPACE}msqrt":  # as high as a letter at least: the sign hangs below the line otherwise
            element.append(ElementTree.Element(f"{SPACE}mspace", height="0.7em", depth="0.1em"))
    if display == "block":
        _put_above(root)
    for row in (element for element in root.iter() if element.tag in ROWS):
        _pair_bars(row)
        _mend_signs(row)
        _set_apart(row)
    for cell in root.iter(f"{SPACE}mtd"):  # what browsers know of the alignment in a column
        if side := cell.attrib.pop("columnalign", ""):
            cell.set("style", f"text-align: {side}")
    return ElementTree.tostring(root, encoding="unicode")


def _mend(operator: ElementTree.Element) -> None:
    """Names, the signs of a transpose and an angle, and three dots are no operators; a slash has no space around it."""
    text = operator.text or ""
    if NAMED.fullmatch(text) or text in tuple("⊤∠…⋯"):
        operator.tag = MI
    elif text == "/":
        operator.attrib.update(lspace="0", rspace="0")


def _mend_accent(element: ElementTree.Element) -> None:
    """A hat, a tilde or a bar stands near its letter, and has the signs that fonts have for that."""
    if element.tag == f"{SPACE}mover" and (element[1].text or "") in ACCENTS:
        element.set("accent", "true")
        element[1].text = ACCENTS[element[1].text or ""]


def _put_above(root: ElementTree.Element) -> None:
    """Limits of a sum above and below it; a browser puts them beside it in a fraction."""
    for element in root.iter():
        tag = element.tag.removeprefix(SPACE)
        if tag in LIMITS and "".join(element[0].itertext()).strip() in ABOVE:
            element.tag = SPACE + LIMITS[tag]


def _pair_bars(row: ElementTree.Element) -> None:
    """‖x‖²: both bars as high as a letter. Unmarked, the left one grows with the row, and the right one cannot."""
    bars = [_base(child) for child in row if _is_bar(_base(child))]
    unmarked = [bar for bar in bars if bar.get("fence") != "true"]  # those of \left and \right are marked
    for i, bar in enumerate(unmarked):
        form = "postfix" if i % 2 else "prefix"
        bar.attrib.update(form=form, fence="true", stretchy="false", lspace="0", rspace="0")


def _mend_signs(row: ElementTree.Element) -> None:
    """(−1): a sign after a bracket or another operator is the sign of a number, without spaces."""
    for before, sign in pairwise(row):
        if sign.tag == MO and sign.text in ("−", "+") and before.tag == MO and not _closes(before):
            sign.set("form", "prefix")


def _set_apart(row: ElementTree.Element) -> None:
    """A thin space on both sides of the name of a function, but none at brackets, operators and the ends."""
    for i, (left, right) in reversed(list(enumerate(pairwise(row)))):
        stands_before = _is_named(left) and (_is_bar(right) or _base(right).tag not in SPACED)
        stands_after = _is_named(right) and (_closes(left) or _base(left).tag not in SPACED)
        if stands_before or stands_after:
            row.insert(i + 1, ElementTree.Element(f"{SPACE}mspace", width="0.167em"))


def _is_named(element: ElementTree.Element) -> bool:
    base = _base(element)
    return base.tag == MI and bool(NAMED.fullmatch(base.text or ""))


def _is_bar(element: ElementTree.Element) -> bool:
    return element.tag == MO and element.text in tuple(BARS)


def _closes(element: ElementTree.Element) -> bool:
    base = _base(element)
    return base.tag == MO and (base.text in tuple(CLOSING) or base.get("form") == "postfix")


def _base(element: ElementTree.Element) -> ElementTree.Element:
    """What has indices, without them."""
    return element[0] if element.tag in SCRIPTS else element


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


def bring_font(app: Sphinx) -> None:
    """The font, inside a style sheet: not every browser loads one from a file for a page that is a file."""
    target = Path(app.outdir) / "_static" / "formulas.css"
    target.parent.mkdir(parents=True, exist_ok=True)
    url = f"data:font/woff;base64,{b64encode(FONT.read_bytes()).decode()}"
    target.write_text(f'@font-face {{ font-family: "Formulas"; src: url("{url}") format("woff"); }}\n', "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", bring_font)
    app.add_css_file("formulas.css")
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

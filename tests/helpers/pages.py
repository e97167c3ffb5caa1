"""Pages as a browser reads them: elements, attributes, text, tables and drawings."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

VOID = {"meta", "img", "br", "link", "path"}
FORBIDDEN = {"script", "iframe", "object", "embed", "link", "base", "form"}
POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


class Page(HTMLParser):
    """All elements of a page with their attributes, and the text that people see."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.cells: list[list[str]] = []
        self.inside: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag == "tr":
            self.cells.append([])
        if tag in ("td", "th"):
            self.cells[-1].append("")
        if tag not in VOID:
            self.inside.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" in self.inside:
            return
        self.texts.append(data)
        if "td" in self.inside or "th" in self.inside:
            self.cells[-1][-1] += data

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def attributes(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def table(self) -> dict[str, list[str]]:
        """The columns of the table of components, by their headings."""
        head, *rows = ([cell.strip() for cell in row] for row in self.cells)
        return {name: [row[i] for row in rows] for i, name in enumerate(head)}

    def drawings(self) -> list[ElementTree.Element]:
        """Every SVG, parsed as XML: an error there is an error of the page."""
        return [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", self.source, re.DOTALL)]

    def drawing(self, name: str) -> ElementTree.Element:
        return next(svg for svg in self.drawings() if name in svg.get("class", "").split())


def faults(page: Page) -> list[str]:
    """What a page that runs nothing, loads nothing and can be read aloud must not have."""
    found = [
        f"<{tag}>" for tag, _ in page.elements if tag in ("script", "iframe", "object", "embed", "link", "base", "form")
    ]
    for tag, attributes in page.elements:
        for name, value in attributes.items():
            if name.startswith("on") or name == "style":
                found.append(f"{tag} {name}={value!r}")
            if name in ("src", "href", "xlink:href", "action", "srcset", "data") and not (
                value.startswith("#") or (tag == "img" and value.startswith("data:image/png;base64,"))
            ):
                found.append(f"{tag} {name}={value!r}")
    found += [f"outside: {address}" for address in re.findall(r"https?:|url\(|@import|javascript:", page.source)]
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    if len(ids) != len(set(ids)):
        found.append("an id stands twice")
    for _, attributes in page.elements:
        named = [*attributes.get("aria-labelledby", "").split(), attributes.get("href", "#")[1:]]
        found += [f"no element {name!r}" for name in named if name and name not in ids]
    found += [f"th without scope: {attributes}" for attributes in page.attributes("th") if "scope" not in attributes]
    found += [f"img without alt: {attributes}" for attributes in page.attributes("img") if not attributes.get("alt")]
    for svg in page.drawings():
        if svg.get("aria-hidden") != "true" and (svg.get("role") != "img" or not svg[0].text or not svg[1].text):
            found.append("a drawing that nobody can hear")
    return found + policy_faults(page)


def policy_faults(page: Page) -> list[str]:
    """The content-security policy must allow our style, by its hash, pictures in the page, and nothing else."""
    policy = [a["content"] for a in page.attributes("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    styles = re.findall(r"<style>(.*?)</style>", page.source, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(styles[0].encode()).digest()).decode()
    allowed = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    before = page.source.index("Content-Security-Policy") < page.source.index("<style>")
    return [] if policy == [allowed] and len(styles) == 1 and before else [f"policy {policy}"]


def parsed(text: str) -> float:
    """A number as people write it."""
    match = re.fullmatch(r"(−?[\d.,]*)(×?)10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text)
    if match:
        mantissa = match[1].replace(",", "").replace("−", "-")
        return float(f"{mantissa if match[2] else mantissa + '1'}e{match[3].translate(POWERS)}")
    if text.endswith("%"):
        return parsed(text[:-1]) / 100
    return float(text.replace(",", "").replace("−", "-").replace("∞", "inf").replace("unknown", "inf"))


def points(path: str) -> list[tuple[float, float]]:
    """The places of a path of dots."""
    return [(float(x), float(y)) for x, y in re.findall(r"M([\d.-]+) ([\d.-]+)h0", path)]


def boxes(path: str) -> list[tuple[float, float, float, float]]:
    """x, y, width and height of a path of rectangles."""
    found = re.findall(r"M([\d.-]+) ([\d.-]+)h([\d.-]+)v([\d.-]+)h", path)
    return [tuple(map(float, box)) for box in found]  # type: ignore[misc]

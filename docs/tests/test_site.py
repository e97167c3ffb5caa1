"""The built site, opened from its files as a reader does."""

from __future__ import annotations

import re
import sys
from functools import cache
from html import unescape
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from fontTools.ttLib import TTFont

import ritz
from ritz.plot.colours import contrast

sys.path.insert(0, str(Path(__file__).parents[1] / "_ext"))
SECTIONS = {  # of the notes: the heading on the first page, and words that a page two clicks away must have
    "1 The problem": "reconstruction error",
    "2 Preprocessing": "standard deviation",
    "3 Solvers": "orthogonal iteration",
    "4 After learning": "inverse_transform",
    "5 Beyond linear": "feature space",
    "6 A prior of sparsity": "compressed sensing",
    "7 What it is for": "eigenfaces",
}
PHONE = 375


class Html(HTMLParser):
    """Identifiers, links, sources and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[tuple[str, str]] = []  # where to, and under which heading
        self.sources: list[str] = []
        self.text: list[str] = []
        self.main = False
        self.row = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids |= {value for key in ("id", "name") if (value := found.get(key))}
        self.main = self.main or (tag == "article")
        if tag == "tr":
            self.row = ""
        if tag == "a" and (to := found.get("href")):
            self.links.append((to, self.row if self.main else ""))
        self.sources += [value for key in ("src", "data-src") if (value := found.get(key))]
        self.sources += [value] if tag == "link" and (value := found.get("href")) else []

    def handle_endtag(self, tag: str) -> None:
        self.main = self.main and tag != "article"

    def handle_data(self, data: str) -> None:
        if self.main:
            self.text.append(data)
            self.row = self.row or data.strip()


@cache
def parsed(path: Path) -> Html:
    return Html(path.read_text("utf-8"))


@pytest.fixture(scope="session")
def pages(built: Path) -> list[Path]:
    found = sorted(path for path in built.rglob("*.html") if "_static" not in path.parts)
    assert len(found) > 40
    return found


def resolved(page: Path, link: str) -> tuple[Path, str] | None:
    """The file and the anchor that a link leads to; nothing if it leads out of the site."""
    if urlsplit(link).scheme:
        return None
    target, anchor = urldefrag(link)
    file = (page.parent / unquote(urlsplit(target).path)).resolve() if target else page
    return (file / "index.html" if file.is_dir() else file), unquote(anchor)


def test_every_link_and_anchor_is_there(pages: list[Path], built: Path) -> None:
    broken = set()
    for page in pages:
        links = [link for link, _ in parsed(page).links] + parsed(page).sources
        for link in links:
            found = resolved(page, link)
            if found is None:
                continue
            file, anchor = found
            there = file.exists() and (not anchor or file.suffix != ".html" or anchor in parsed(file).ids)
            if not there:
                broken.add(f"{page.relative_to(built)}: {link}")
    assert not broken, "\n".join(sorted(broken))


def test_every_page_can_be_reached(pages: list[Path], built: Path) -> None:
    seen, ahead = set(), [built / "index.html"]
    while ahead:
        page = ahead.pop()
        if page in seen or page.suffix != ".html" or not page.exists():
            continue
        seen.add(page)
        ahead += [found[0] for link, _ in parsed(page).links if (found := resolved(page, link))]
    lost = {path for path in pages if path not in seen and path.name != "search.html"}  # the box on top leads there
    assert not lost, sorted(str(path.relative_to(built)) for path in lost)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_of_the_notes_is_two_clicks_away(section: str, built: Path) -> None:
    """From its row of the first page: the pages linked there, or those that they link to in their text."""
    first = built / "index.html"
    near = [found[0] for link, row in parsed(first).links if row == section and (found := resolved(first, link))]
    assert near, f"no row {section!r} with a link on the first page"
    further = [
        found[0]
        for page in near
        for link, _ in parsed(page).links
        if (found := resolved(page, link)) and found[0].suffix == ".html"
    ]
    texts = {page: " ".join(" ".join(parsed(page).text).lower().split()) for page in {*near, *further}}
    assert any(SECTIONS[section].lower() in text for text in texts.values()), sorted(map(str, texts))


def test_every_public_name_has_a_page(built: Path) -> None:
    for name in set(ritz.__all__) - {"__version__"}:
        page = built / "reference" / f"ritz.{name}.html"
        assert page.exists(), name
        assert len(" ".join(parsed(page).text)) > 100, name
    assert "ritz.PCA.fit" in parsed(built / "reference" / "ritz.PCA.html").ids
    assert "ritz.PCA.set_output" not in parsed(built / "reference" / "ritz.PCA.html").ids


def test_the_gallery_has_groups(built: Path) -> None:
    groups = import_module("gallery").GROUPS
    _, *parts = (built / "gallery" / "index.html").read_text("utf-8").split("<h2>")
    assert [part.partition("<")[0] for part in parts] == [*groups]
    shown = [re.findall(r"_images/sphx_glr_plot_(\w+)_thumb", part) for part in parts]
    assert shown == [list(names) for names in groups.values()]


def test_formulas_need_no_script(pages: list[Path]) -> None:
    sources = [page.read_text("utf-8") for page in pages]
    assert any("<math " in source for source in sources)
    assert not [src for page in pages for src in parsed(page).sources if "mathjax" in src.lower()]


def test_the_font_of_formulas_is_there_and_has_every_sign(browser, pages: list[Path]) -> None:
    """A browser reads the size of sums and the place of exponents from it: readers need no mathematical font."""
    known = TTFont(FONT).getBestCmap()
    signs = {
        sign for page in pages for part in MATH.findall(page.read_text("utf-8")) for sign in unescape(TAG.sub("", part))
    }
    assert len(signs) > 80
    assert sorted(sign for sign in signs if sign.strip() and ord(sign) not in known) == []
    browser.show("theory/problem.html")
    loaded = browser.execute_async_script(LOADED)
    assert loaded == ["loaded", "Formulas"]


FONT = Path(__file__).parents[1] / "formulas" / "stix-two-math.woff"
MATH, TAG = re.compile(r"<math .*?</math>", re.DOTALL), re.compile("<[^>]*>")
LOADED = """
const done = arguments[0], family = getComputedStyle(document.querySelector('math')).fontFamily.split(',')[0];
document.fonts.ready.then(fonts => done([[...fonts].map(font => font.status).join(), family.replaceAll('"', '')]))"""


def test_pages_open_without_an_error_or_a_request(browser, pages: list[Path], built: Path) -> None:
    """And at the width of a phone nothing sticks out."""
    faults = []
    for page in pages:
        name = str(page.relative_to(built))
        browser.show(name)
        faults += [f"{name}: {said}" for said in browser.errors() + browser.requests()]
        browser.size(PHONE, 800)
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        if wide > PHONE:
            faults.append(f"{name}: {wide} pixels wide on a phone: {browser.execute_script(STICKING_OUT)}")
        browser.size(1280, 900)
    assert not faults, "\n".join(faults)


STICKING_OUT = """
return [...document.querySelectorAll('article *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
    .slice(0, 3).map(e => e.tagName + '.' + e.className).join(' ')"""


def test_dark_and_light(browser) -> None:
    """The system's choice holds until the reader presses the button."""
    brightness = {}
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        browser.show("index.html")
        brightness[scheme] = lightness(browser, "background-color"), lightness(browser, "color")
    assert brightness["light"][0] > 200 > 80 > brightness["light"][1]
    assert brightness["dark"][0] < 60 < 150 < brightness["dark"][1]
    button = browser.find_element("css selector", ".content-icon-container .theme-toggle")
    button.click()  # auto, then light
    assert lightness(browser, "background-color") > 200
    assert browser.errors() == []


def lightness(browser, of: str) -> float:
    """0 to 255, of the colour of the text or of what is behind it."""
    script = "return getComputedStyle(document.body).getPropertyValue(arguments[0]).match(/\\d+/g).slice(0, 3)"
    return sum(map(float, browser.execute_script(script, of))) / 3


def test_search_works_from_a_file(browser) -> None:
    browser.show("search.html")
    browser.get(browser.current_url + "?q=eigengap")
    browser.implicitly_wait(10)
    try:
        assert browser.find_elements("css selector", "ul.search li a")
    finally:
        browser.implicitly_wait(0)
    assert browser.errors() + browser.requests() == []


PRINTED = """
const box = e => e.getBoundingClientRect(), outputs = [...document.querySelectorAll('.go:not(.columns)')];
const rgb = (e, of) => getComputedStyle(e)[of].match(/[\\d.]+/g).slice(0, 3).map(Number);
return [outputs.filter(e => box(e).right > box(e.closest('pre')).right).map(e => e.textContent),
    rgb(outputs[0], 'color'), rgb(outputs[0].closest('.highlight'), 'backgroundColor')]"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_printed_can_be_read(browser, scheme: str) -> None:
    """Sentences are not cut at the edge, and their contrast is that of WCAG 2.1, level AA."""
    browser.scheme(scheme)
    for page in ("exercises.html", "solvers/gram.html"):
        for width in (1280, PHONE):
            browser.size(width, 900)
            browser.show(page)
            cut, text, behind = browser.execute_script(PRINTED)
            assert not cut
            assert contrast([one / 255 for one in text], [one / 255 for one in behind]) >= 4.5

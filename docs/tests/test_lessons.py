"""The lessons react, and the lines they draw are those of NumPy and of Ritz for the same points."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from docs.tests.controls import (
    DOCS,
    PAGES,
    deviation,
    direction,
    drawn,
    numbers,
    opened,
    pairs_of_page,
    press,
    said,
    slide,
    state,
)
from selenium.webdriver import ActionChains, Keys

import ritz


def test_they_are_small() -> None:
    scripts = sorted((DOCS / "_static" / "lessons").glob("*.js"))
    assert len(scripts) == 3 + len(PAGES)
    assert sum(path.stat().st_size for path in scripts) <= 60_000


@pytest.mark.parametrize("name", PAGES)
def test_a_lesson_reacts_to_the_keyboard(browser, name: str) -> None:
    """No error, nothing fetched; one key at the first slider changes picture and words; all controls have names."""
    opened(browser, name)
    before, words = drawn(browser), said(browser)
    browser.find_element("css selector", ".lesson input[type=range]").send_keys(
        Keys.ARROW_LEFT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT
    )
    state(browser, name)
    assert drawn(browser) != before
    assert said(browser) != words
    browser.execute_script("document.querySelectorAll('.lesson details').forEach(e => e.open = true)")
    controls = browser.find_elements("css selector", ".lesson input, .lesson button, .lesson svg, .lesson")
    assert all(control.accessible_name for control in controls)
    assert "NaN" not in drawn(browser)
    assert "need JavaScript" not in browser.find_element("css selector", ".lesson").text
    assert browser.errors() + browser.requests() == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_something_without_scripts(built: Path, name: str) -> None:
    text = (built / "lessons" / f"{PAGES[name]}.html").read_text("utf-8")
    assert "need JavaScript" in re.search(r'data-lesson="\w+">(.*?)</div>', text, re.DOTALL)[1]


def test_letters_stay_large_on_a_phone_and_colours_follow_the_theme(browser) -> None:
    opened(browser, "turn")
    look = """const style = s => getComputedStyle(document.querySelector(s));
        const size = parseFloat(style('.lesson svg .l-tick').fontSize);
        return [style('.lesson .l-a').stroke, style('.lesson').backgroundColor, size]"""
    light = browser.execute_script(look)
    browser.scheme("dark")
    browser.size(375, 800)
    dark = browser.execute_script(look)
    assert light[0] != dark[0]
    assert light[1] != dark[1]
    assert min(light[2], dark[2]) >= 14
    state(browser, "turn")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 375


def test_nothing_sticks_out_of_a_lesson_on_a_phone(browser) -> None:
    browser.size(375, 800)
    beyond = """const right = e => e.getBoundingClientRect().right, edge = right(document.querySelector('.lesson'));
        return [...document.querySelectorAll('.lesson table, .lesson button, .lesson input, .lesson svg')]
            .filter(e => right(e) > edge).map(e => e.tagName)"""
    for name in PAGES:
        opened(browser, name)
        assert browser.execute_script(beyond) == [], name


def test_turn_the_line(browser) -> None:
    opened(browser, "turn")
    shown = state(browser, "turn")
    X = np.array(shown["points"])
    np.testing.assert_allclose(X, pairs_of_page("turn"), atol=1e-12)
    pca = ritz.PCA(1, ddof=0).fit(X)
    assert deviation(shown["best"], direction(pca.components_[0])) < 1e-9
    np.testing.assert_allclose(shown["values"], [pca.explained_variance_[0], pca.noise_variance_], rtol=1e-12)
    for angle in (-90, -20.5, 0, 61):
        slide(browser, "turn-angle", angle)
        shown = state(browser, "turn")
        u = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
        captured, error = np.mean((X @ u) ** 2), np.mean(np.sum((X - np.outer(X @ u, u)) ** 2, axis=1))
        np.testing.assert_allclose([shown["captured"], shown["error"]], [captured, error], rtol=1e-12)
        assert shown["captured"] + shown["error"] == pytest.approx(pca.total_variance_, rel=1e-12)
        assert numbers(said(browser))[:3] == [round(captured, 2), round(error, 2), round(pca.total_variance_, 2)]
        assert not shown["found"]
    slide(browser, "turn-angle", 38.5)
    assert state(browser, "turn")["found"]
    assert "first principal axis" in said(browser)
    press(browser, "New points")
    shown = state(browser, "turn")
    assert not shown["found"]
    best = np.linalg.eigh(np.cov(np.array(shown["points"]).T))[1][:, -1]
    assert deviation(shown["best"], direction(best)) < 1e-9


def test_turn_the_line_by_dragging(browser) -> None:
    opened(browser, "turn")
    svg = browser.find_element("css selector", ".lesson svg")
    # The mean of the points is the mean of their projections, and the line turns about it.
    script = """const svg = arguments[0], box = svg.getBoundingClientRect();
        const feet = [...svg.querySelectorAll('circle.l-point-a')];
        const mean = name => feet.reduce((sum, foot) => sum + Number(foot.getAttribute(name)), 0) / feet.length;
        return [mean('cx') - box.width / 2, mean('cy') - box.height / 2]"""
    middle = browser.execute_script(script, svg)
    grip = ActionChains(browser).move_to_element_with_offset(svg, round(middle[0]) + 60, round(middle[1]))
    grip.click_and_hold().move_by_offset(0, -60).release().perform()
    assert state(browser, "turn")["angle"] == pytest.approx(45, abs=1.5)


def errors_of(X: np.ndarray, angle: float, column: int) -> tuple[float, float]:
    """The mean squared error in one coordinate and the perpendicular one of the line through the mean."""
    Z, u = X - X.mean(axis=0), np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    coordinate = Z[:, column] - Z[:, 1 - column] * u[column] / u[1 - column]
    return np.mean(coordinate**2), np.mean(np.sum((Z - np.outer(Z @ u, u)) ** 2, axis=1))


def check_lines(shown: dict) -> None:
    """Both lines and their errors against NumPy and Ritz."""
    X, column = np.array(shown["points"]), "xy".index(shown["predicted"])
    slope = np.polyfit(X[:, 1 - column], X[:, column], 1)[0]
    fit = direction((1, slope) if column else (slope, 1))
    axis = direction(ritz.PCA(1).fit(X).components_[0])
    for line, angle in ((shown["regression"], fit), (shown["axis"], axis)):
        assert deviation(line["angle"], angle) < 1e-8
        np.testing.assert_allclose((line["predicted"], line["perpendicular"]), errors_of(X, angle, column), rtol=1e-9)
    assert shown["regression"]["predicted"] <= shown["axis"]["predicted"]
    assert shown["axis"]["perpendicular"] <= shown["regression"]["perpendicular"]


def test_regression_is_not_pca(browser) -> None:
    opened(browser, "regression")
    first = state(browser, "regression")
    np.testing.assert_allclose(first["points"], pairs_of_page("regression"), atol=1e-12)
    check_lines(first)
    cells = [float(cell.text.split()[0]) for cell in browser.find_elements("css selector", ".lesson td")]
    lines = [first[line][error] for line in ("regression", "axis") for error in ("predicted", "perpendicular")]
    np.testing.assert_allclose(cells, lines, atol=0.0051)
    press(browser, "Swap the roles of x and y")
    swapped = state(browser, "regression")
    check_lines(swapped)
    assert swapped["axis"]["angle"] == first["axis"]["angle"]
    assert deviation(swapped["regression"]["angle"], first["regression"]["angle"]) > 5
    for x, y in ((2.5, 0), (0, 1.5), (2, 2)):
        slide(browser, "regression-noise-x", x)
        slide(browser, "regression-noise-y", y)
        check_lines(state(browser, "regression"))
    # Equal noise in both: the axis is the hidden line.
    assert np.tan(np.radians(state(browser, "regression")["axis"]["angle"])) == pytest.approx(0.8, abs=1e-12)
    press(browser, "New noise")
    check_lines(state(browser, "regression"))
    press(browser, "Reset")
    assert state(browser, "regression") == first


def test_points_are_moved_by_mouse_and_sliders(browser) -> None:
    opened(browser, "regression")
    first = state(browser, "regression")
    last = browser.find_elements("css selector", ".lesson circle.l-point")[-1]
    ActionChains(browser).move_to_element(last).click_and_hold().move_by_offset(20, 80).release().perform()
    moved = state(browser, "regression")
    change = np.array(moved["points"]) - first["points"]
    assert not change[:-1].any()
    assert change[-1, 0] > 0 > change[-1, 1]
    assert change[-1, 1] == pytest.approx(-4 * change[-1, 0], rel=0.05)
    check_lines(moved)
    browser.find_element("css selector", ".lesson summary").click()
    for slider, value in (("point", 3), ("point-x", 4.5), ("point-y", -2)):
        state(browser, "regression")
        slide(browser, f"regression-{slider}", value)
    moved = state(browser, "regression")
    assert moved["points"][2] == [4.5, -2]
    check_lines(moved)
    assert browser.errors() == []

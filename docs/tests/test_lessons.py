"""The lessons react, and the numbers they show are those of NumPy and of Ritz for the same points."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from selenium.webdriver import ActionChains, Keys

import ritz

DOCS = Path(__file__).parents[1]
PAGES = {
    "turn": "turn_the_line",
    "regression": "regression_is_not_pca",
    "power": "power_iteration",
    "ties": "ties",
    "scree": "noise_has_a_scree",
}


def opened(browser, name: str) -> None:
    browser.show(f"lessons/{PAGES[name]}.html")


def state(browser, name: str) -> dict:
    return browser.execute_script("return lessons[arguments[0]].state()", name)


def slide(browser, slider: str, value: float) -> None:
    script = (
        "const [id, v] = arguments, e = document.getElementById(id); e.value = v; e.dispatchEvent(new Event('input'))"
    )
    browser.execute_script(script, slider, value)


def press(browser, text: str, times: int = 1) -> None:
    script = """const [text, times] = arguments;
        const [button] = [...document.querySelectorAll('.lesson button')].filter(b => b.textContent === text);
        for (let i = 0; i < times; i++) button.click()"""
    browser.execute_script(script, text, times)


def said(browser) -> str:
    return browser.execute_script("return document.querySelector('.lesson-live').textContent")


def drawn(browser) -> str:
    return browser.execute_script("return [...document.querySelectorAll('.lesson svg')].map(e => e.innerHTML).join()")


def numbers(text: str) -> list[float]:
    """All numbers of a sentence, which has real minus signs."""
    return [float(found.replace("−", "-")) for found in re.findall(r"−?\d+(?:\.\d+)?", text)]


def pairs_of_page(name: str) -> np.ndarray:
    """The points that the page of a lesson gives to Ritz."""
    text = (DOCS / "lessons" / f"{PAGES[name]}.md").read_text("utf-8")
    return np.array([np.fromstring(re.search(rf">>> {axis} = \[(.*)\]", text)[1], sep=",") for axis in "xy"]).T


def deviation(angle: float, other: float) -> float:
    """Between lines, in degrees."""
    return abs((angle - other + 90) % 180 - 90)


def direction(u) -> float:
    return float(np.degrees(np.arctan2(u[1], u[0])))


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


def test_power_iteration(browser) -> None:
    """The tangent shrinks by |λ₂/λ₁| in each step; eigenvalues are those of the history of Ritz."""
    opened(browser, "power")
    for ratio in (0.8, -0.6):
        slide(browser, "power-ratio", ratio)
        press(browser, "Step", 30)
        shown = state(browser, "power")
        tangents = np.array([step["tangent"] for step in shown["history"]])
        np.testing.assert_allclose(tangents[1:] / tangents[:-1], abs(ratio), rtol=1e-6)
        A, v = np.array(shown["matrix"]), np.array(shown["start"])
        np.testing.assert_allclose(np.sort(np.linalg.eigvalsh(A)), sorted((1, ratio)), atol=1e-14)
        for step in shown["history"]:
            np.testing.assert_allclose(step["v"], v, atol=1e-13)
            assert step["value"] == pytest.approx(v @ A @ v, abs=1e-13)
            assert step["valueError"] == pytest.approx((1 - ratio) * step["vectorError"] ** 2, abs=1e-14)
            v = A @ v / np.linalg.norm(A @ v)
        if ratio > 0:
            values = [step.value for step in ritz.eigen(A, 1, "power", start=shown["start"]).history[:31]]
            np.testing.assert_allclose([step["value"] for step in shown["history"]], values, rtol=1e-12)


def test_power_iteration_fails_as_it_should(browser) -> None:
    opened(browser, "power")

    def angles(ratio: float, start: float, steps: int) -> np.ndarray:
        slide(browser, "power-ratio", ratio)
        slide(browser, "power-start", start)
        press(browser, "Step", steps)
        return np.array([step["vectorError"] for step in state(browser, "power")["history"]])

    np.testing.assert_allclose(angles(1, 60, 5), np.sin(np.radians(60)), rtol=1e-12)
    assert "every vector is an eigenvector" in said(browser)
    np.testing.assert_allclose(angles(-1, 60, 5), np.sin(np.radians(60)), rtol=1e-12)
    assert "nothing converges" in said(browser)
    orthogonal = angles(0.5, 90, 120)
    assert orthogonal[:40].min() > 0.999  # the second eigenvector, until rounding has grown
    assert orthogonal[-1] < 1e-12
    browser.find_element("id", "power-flipped").click()
    press(browser, "Step", 20)
    assert state(browser, "power")["history"][-1]["value"] == pytest.approx(
        -0.5, abs=1e-3
    )  # the orthogonal start again


def test_power_iteration_runs_or_jumps(browser) -> None:
    """Run is an animation, unless the reader asked for none."""
    opened(browser, "power")
    press(browser, "Run")
    assert state(browser, "power")["running"]
    press(browser, "Pause")
    assert not state(browser, "power")["running"]
    calm = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": calm})
    press(browser, "Run")
    shown = state(browser, "power")
    assert not shown["running"]
    assert 100 < shown["steps"] < 250
    assert shown["history"][-1]["vectorError"] < 1e-15


def symmetric(rng: np.random.Generator, values) -> np.ndarray:
    Q = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    A = Q * values @ Q.T
    return (A + A.T) / 2


def test_jacobi_is_lapack(browser) -> None:
    """Random, tied, graded, indefinite, diagonal, zero; eigenvalues to 1e-9 and far below, vectors too."""
    opened(browser, "turn")
    rng = np.random.default_rng(0)
    spectra = [
        [3.0],
        rng.standard_normal(50),
        [2, 2, 2, 1, 1],
        10.0 ** -np.arange(12),
        [1, -1, 0, 1e-30, 5],
        np.zeros(4),
    ]
    matrices = [*(symmetric(rng, np.array(values, float)) for values in spectra), np.diag([1.0, 3.0, 2.0])]
    found = browser.execute_script("return arguments[0].map(lessonTools.jacobi)", [A.tolist() for A in matrices])
    for A, pairs in zip(matrices, found, strict=True):
        values, V = np.array(pairs["values"]), np.array(pairs["vectors"]).T
        size = max(np.linalg.norm(A, 2), 1e-300)
        np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1], atol=1e-13 * size)
        np.testing.assert_allclose(V.T @ V, np.eye(len(A)), atol=1e-13)
        np.testing.assert_allclose(A @ V, V * values, atol=1e-13 * size)


def test_random_numbers_are_normal_and_repeat(browser) -> None:
    opened(browser, "turn")
    script = "return arguments[0].map(seed => Array.from({length: 10000}, lessonTools.normal(seed)))"
    z, again, other = np.array(browser.execute_script(script, [5, 5, 6]))
    assert (z == again).all()
    assert abs(np.corrcoef(z, other)[0, 1]) < 0.05
    assert abs(np.corrcoef(z[1:], z[:-1])[0, 1]) < 0.05
    # Five standard errors of each moment of 10,000 normal numbers.
    for power, moment, spread in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(np.mean(z**power) - moment) < 5 * np.sqrt(spread / len(z))


def test_ties(browser) -> None:
    """With a tie the axis is anywhere and the plane stays; a gap fixes the axis too. Angles are `ritz.compare`'s."""
    opened(browser, "ties")
    press(browser, "Draw 40 samples")
    tied = state(browser, "ties")
    axis, plane = (np.array([sample[which] for sample in tied["samples"]]) for which in ("axisAngle", "planeAngle"))
    assert len(axis) == 41
    assert np.median(axis) > 25
    assert axis.max() > 75
    assert plane.max() < 4
    slide(browser, "ties-gap", 0.7)
    open_ = state(browser, "ties")
    assert max(sample["axisAngle"] for sample in open_["samples"]) < 15
    for shown in (tied, open_):
        X = np.array(shown["points"])
        pca = ritz.PCA(2).fit(X)
        np.testing.assert_allclose(shown["values"][:2], pca.explained_variance_, rtol=1e-12)
        first = np.degrees(ritz.compare(pca.components_[:1].T, np.eye(3)[:, :1]))[-1]
        span = np.degrees(ritz.compare(pca, np.eye(3)[:, :2]))[-1]
        np.testing.assert_allclose((shown["axisAngle"], shown["planeAngle"]), (first, span), atol=1e-6)
        np.testing.assert_allclose(X.var(axis=0), shown["lambda"], rtol=0.5)
    assert numbers(said(browser))[:2] == [round(open_["axisAngle"], 1), round(open_["planeAngle"], 1)]
    before = state(browser, "ties")["samples"], drawn(browser)
    svg = browser.find_element("css selector", ".lesson svg")
    ActionChains(browser).drag_and_drop_by_offset(svg, 60, 30).perform()
    assert state(browser, "ties")["samples"] == before[0]  # only the view turns
    assert drawn(browser) != before[1]


def test_noise_has_a_scree(browser) -> None:
    opened(browser, "scree")
    shown = state(browser, "scree")
    X = np.array(shown["rows"])
    assert X.shape == (200, 40)
    np.testing.assert_allclose(shown["values"], np.linalg.eigvalsh(np.cov(X.T))[::-1], rtol=1e-9)
    assert shown["edge"] == pytest.approx((1 + np.sqrt(40 / 199)) ** 2)
    assert shown["standing"] == shown["planted"] == ritz.PCA("auto").fit(X).n_components_ == 3
    slide(browser, "scree-strength", 0.2)  # below the threshold √γ = 0.45: hidden
    assert state(browser, "scree")["standing"] == 0
    press(browser, "Pure noise")
    noise = state(browser, "scree")
    assert noise["standing"] == 0
    low, high, values = (np.array(part) for part in (noise["band"]["low"], noise["band"]["high"], noise["values"]))
    assert (low <= high).all()
    assert np.mean((low <= values) & (values <= high)) > 0.8
    assert high[0] == pytest.approx(noise["edge"], rel=0.1)
    assert low[-1] == pytest.approx((1 - np.sqrt(40 / 199)) ** 2, rel=0.2)
    slide(browser, "scree-n", 20)  # fewer points than columns: rank n − 1
    few = state(browser, "scree")["values"]
    assert len(few) == 40
    assert few[18] > 0.01
    assert max(map(abs, few[19:])) < 1e-12
    assert browser.errors() == []

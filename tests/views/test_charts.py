"""Text in charts: ticks say where they stand, and no text is cut off or lies on another, by a font and by a browser."""

import json
import re
import shutil
import subprocess
from html import unescape
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.pages import Page, parsed
from ritz import PCA
from ritz.views.axes import LARGEST, WIDTH, fitted, left_of, length, level, upright
from ritz.views.classes import classified
from ritz.views.label_layout import DOT, EDGE, NEAR, TALL, written
from ritz.views.report import render

# Advance widths of DejaVu Sans and DejaVu Sans Bold, in 2048ths of the size: one of the widest fonts for screens.
REGULAR = dict.fromkeys("0123456789", 1303) | dict.fromkeys("⁰¹²³⁴⁵⁶⁷⁸⁹", 821)
REGULAR |= {",": 651, ".": 651, "−": 1716, "×": 1716, "%": 1946, "⁻": 1081}
BOLD = {"a": 1382, "e": 1389, "m": 2134, "w": 1892, "l": 702, "i": 702, "M": 2038, "W": 2259, "K": 1587, "ü": 1458}
BOLD |= {" ": 713, "0": 1425}


def drawn(text, font=REGULAR, size=LARGEST) -> float:
    return sum(font[character] for character in text) / 2048 * size


sizes = st.builds(lambda mantissa, power: mantissa * 10.0**power, st.floats(1, 10), st.integers(-12, 12))
ranges = st.one_of(
    st.builds(lambda a: (0.0, a), sizes),
    st.builds(lambda a, b: (-a, b), sizes, sizes),
    st.builds(lambda a, part: (a, a * (1 + part)), sizes, st.floats(1e-9, 10)),
    st.builds(lambda a, part: (-a * (1 + part), -a), sizes, st.floats(1e-9, 10)),
)


@given(ranges, st.booleans())
def test_ticks_beside_a_chart_are_right_round_and_not_cut_off(ends, share):
    axis = upright(*ends, 256.0, 30.0, share=share)
    span = ends[1] - ends[0]
    values = [value for value, _ in axis.marked]
    assert 2 <= len(values) <= 8
    assert ends[0] - 1e-6 * span <= min(values) <= max(values) <= ends[1] + 1e-6 * span
    for (value, text), (place, _) in zip(axis.marked, axis.ticks, strict=True):
        assert parsed(text) == pytest.approx(value, rel=1e-12, abs=1e-9 * span)
        assert place == pytest.approx(256 - 226 * (value - ends[0]) / span, abs=0.06)
        assert drawn(text) <= left_of(axis) - 8
    assert np.allclose(np.diff(values), values[1] - values[0], rtol=1e-3)


@given(ranges, st.floats(62, 260))
def test_ticks_below_a_chart_are_right_and_apart(ends, start):
    axis = level(*ends, start)
    edges = [(place - drawn(text) / 2, place + drawn(text) / 2) for place, text in axis.ticks]
    assert all(left >= 0 and right <= WIDTH for left, right in edges)
    assert all(right + 5 <= left for (_, right), (left, _) in pairwise(edges))
    for value, text in axis.marked:
        assert parsed(text) == pytest.approx(value, rel=1e-12, abs=1e-9 * (ends[1] - ends[0]))


@pytest.mark.parametrize(
    ("ends", "texts"),
    [
        ((0, 8e6), ["0", "2×10⁶", "4×10⁶", "6×10⁶", "8×10⁶"]),
        ((0, 8e4), ["0", "20,000", "40,000", "60,000", "80,000"]),
        ((-0.3, 0.3), ["−0.3", "−0.2", "−0.1", "0", "0.1", "0.2", "0.3"]),
        ((0, 2.4e-12), ["0", "0.5×10⁻¹²", "1×10⁻¹²", "1.5×10⁻¹²", "2×10⁻¹²"]),
        ((1e7, 1e7 + 2), ["10,000,000", "10,000,000.5", "10,000,001", "10,000,001.5", "10,000,002"]),
    ],
)
def test_ticks_are_brief(ends, texts):
    assert [text for _, text in upright(*ends, 256.0, 30.0).marked] == texts


def test_ranges_without_extent_have_ticks():
    for value in (0.0, 7.0, -1e12, 1e-300, 1e300):
        assert len(upright(value, value, 256.0, 30.0).marked) >= 2
    assert len(upright(-1.7e308, 1.7e308, 256.0, 30.0).marked) >= 2


@given(st.text("".join(BOLD)), st.floats(20, 300))
def test_room_for_text_is_never_too_small(text, room):
    assert length(text, 13.0, bold=True) >= drawn(text, BOLD, 13.0)
    cut = fitted(text, room, 13.0)
    assert length(cut, 13.0) <= room
    assert cut == text or (cut.endswith("…") and text.startswith(cut[:-1]) and length(text, 13.0) > room)


AXES = level(-1.0, 1.0, 62.0), upright(-1.0, 1.0, 350.0, 30.0)


def names_at(groups, spread=15.0, n=40):
    """Names placed for clouds of points, and their corners as a bold font draws them."""
    rng = np.random.default_rng(0)
    at = np.concatenate([rng.normal((x, y), spread, (n + i, 2)) for i, (_, x, y) in enumerate(groups)])
    at = np.clip(at, (62, 30), (466, 350))
    labels = np.concatenate([[name] * (n + i) for i, (name, _, _) in enumerate(groups)])
    classes = classified(labels, len(labels))
    found = written(at, classes.codes, classes, *AXES)
    corners = []
    for label in found:
        half = drawn(label.text, BOLD) / 2
        corners.append((label.x - half, label.x + half, label.y - LARGEST / 2, label.y + LARGEST / 2))
    return found, corners, {name: at[labels == name] for name, _, _ in groups}


def within(points, corners, more=0.0) -> int:
    """How many points lie on a name, or so near to it."""
    left, right, top, bottom = corners
    low, high = np.array([left, top]) - more, np.array([right, bottom]) + more
    return int(((points >= low) & (points <= high)).all(axis=1).sum())


LETTERS = "".join(sorted(set(BOLD) - {" "}))
places = st.tuples(st.text(LETTERS, min_size=1, max_size=12), st.floats(62, 466), st.floats(30, 350))


@settings(max_examples=40)
@given(st.lists(places, min_size=2, max_size=9, unique_by=lambda place: place[0]), st.floats(0.1, 80))
def test_names_of_classes_lie_on_no_other_and_among_their_own_points(groups, spread):
    found, corners, points = names_at(groups, spread)
    for (a, b, c, d), (e, f, g, h) in combinations(corners, 2):
        assert b <= e or f <= a or d <= g or h <= c
    for label, box in zip(found, corners, strict=True):
        assert box[0] >= 62
        assert box[1] <= 466
        assert box[2] >= 30
        assert box[3] <= 350
        own, everyone = points[label.text], np.concatenate(list(points.values()))
        for more in (0.0, 3.0):  # points have an extent
            assert 2 * within(own, box, more) > within(everyone, box, more) or not within(everyone, box, more)
        near = np.array([length(label.text, bold=True) / 2 + EDGE, TALL / 2]) + DOT + NEAR  # as far as placing looks
        middle = np.array([label.x, label.y]) - (62, 30)
        low, high = np.floor(middle - near), np.ceil(middle + near) - 1  # in whole pixels
        pixels = [np.floor(points - (62, 30)) for points in (own, everyone)]
        assert 2 * within(pixels[0], (low[0], high[0], low[1], high[1])) > within(
            pixels[1], (low[0], high[0], low[1], high[1])
        )


def test_classes_that_are_apart_have_their_names_beside_them():
    groups = [("a", 120.0, 80.0), ("Kim", 260.0, 200.0), ("ü", 400.0, 300.0)]
    found, corners, points = names_at(groups)
    assert {label.text for label in found} == {"a", "Kim", "ü"}
    for label, box in zip(found, corners, strict=True):
        assert np.linalg.norm((label.x, label.y) - np.median(points[label.text], axis=0)) < 60
        assert not any(within(part, box, 3.0) for part in points.values())


def test_a_class_without_free_room_is_named_on_its_own_points():
    rng = np.random.default_rng(0)
    at = rng.uniform((62, 30), (466, 350), (9000, 2))
    labels = np.where(at[:, 0] < 264, "west", "east")
    classes = classified(labels, len(at))
    found = written(at, classes.codes, classes, *AXES)
    assert {label.text for label in found} == {"west", "east"}
    for label in found:
        half = drawn(label.text, BOLD) / 2 if set(label.text) <= set(BOLD) else 30
        assert (label.x + half < 264) if label.text == "west" else (label.x - half > 264)


@pytest.mark.parametrize("count", [2, 3, 6])
@pytest.mark.parametrize("n", [12, 90, 600, 5000])
def test_classes_that_overlap_are_told_by_the_legend_alone(count, n):
    for seed in range(4):
        rng = np.random.default_rng([seed, n, count])
        at = np.clip(rng.normal((264, 190), (80, 60), (n, 2)), (62, 30), (466, 350))
        classes = classified(rng.integers(0, count, n).astype(str), n)
        assert written(at, classes.codes, classes, *AXES) == ()


def test_one_point_far_away_does_not_name_a_class():
    rng = np.random.default_rng(0)
    at = np.vstack([rng.normal((200, 190), 30, (400, 2)), [[440.0, 60.0]]])
    classes = classified(np.append(rng.integers(0, 2, 400), 1).astype(str), 401)
    assert written(at, classes.codes, classes, *AXES) == ()


@pytest.mark.parametrize("labels", [["a"] * 50, ["a"] * 25 + ["b"] * 25, list(range(50)), [None] * 50, None])
def test_there_is_a_legend_wherever_there_are_labels(labels):
    rows = np.random.default_rng(0).standard_normal((50, 3))
    for k in (1, 2):
        model = PCA(k).fit(rows)
        page = render(model, title="", scores=model.transform(rows), labels=labels)
        assert ('<ul class="legend' in page) == (labels is not None)


def test_names_let_points_shine_through():
    style = re.search(r"\.chart \.class \{([^}]*)\}", render(PCA(1).fit(np.diag([3.0, 1.0])), title=""))[1]
    assert float(re.search(r"stroke-opacity: ([.\d]+)", style)[1]) < 0.8


MEASURE = """<script>
const found = [...document.querySelectorAll("svg.chart")].map(svg => [...svg.querySelectorAll("text")].map(text => {
  const box = text.getBBox(), [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  return [text.firstChild.textContent, box.x, box.y, box.x + box.width, box.y + box.height, width, height];
}));
document.body.textContent = "measured" + JSON.stringify(found);
</script>"""


def measured(charts, style, path, window):
    """For every chart its texts with their corners and the size of the chart, as a browser lays them out."""
    path.write_text(f"<!DOCTYPE html><meta charset='utf-8'><style>{style}</style>{charts}{MEASURE}", encoding="utf-8")
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={window},900"]
    command += [f"--user-data-dir={path.parent / 'profile'}", "--dump-dom", path.as_uri()]
    page = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    return json.loads(unescape(re.search(r"measured(\[.*\])", page)[1]))


def many_charts() -> tuple[str, str]:
    """All charts of models of small, large and shifted numbers, with long names and many classes; and their style."""
    rng = np.random.default_rng(0)
    names = ["nonflavanoid_phenols", "W" * 40, "x", "Жук" * 20, "a name that goes on and on"]
    normal = rng.standard_normal((300, 5)) * [5, 4, 3, 2, 1]
    which = np.floor(np.arctan2(normal[:, 1], normal[:, 0]) / np.pi * 4).astype(int)  # names have room
    labels = np.array(["Kaffee", "Müller", "E", "Noël", "llë", "versicolor", "K", "Kë"])[which]
    pages = []
    for size in (1e-12, 1e-3, 1.0, 3e3, 1e12):
        for shift in (0.0, 1e6):
            rows = pd.DataFrame((normal + shift) * size, columns=names)
            for k in (1, 3):
                model = PCA(k, center=shift == 0).fit(rows)
                pages.append(render(model, title="", scores=model.transform(rows), labels=labels))
    charts = re.findall(r'<svg role="img".*?</svg>', "".join(pages), re.DOTALL)
    return "".join(charts), re.search(r"<style>(.*?)</style>", pages[0], re.DOTALL)[1]


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
@pytest.mark.parametrize("window", [1000, 520])
def test_a_browser_cuts_no_text_off_and_draws_none_on_another(tmp_path, window):
    charts, style = many_charts()
    found = measured(charts, style, tmp_path / "charts.html", window)
    assert len(found) == charts.count("<svg role") >= 60
    for texts in found:
        for text, left, top, right, bottom, width, height in texts:
            assert left >= 0, text
            assert top >= 0, text
            assert right <= width, text
            assert bottom <= height, text
        for (text, a, b, c, d, *_), (other, e, f, g, h, *_) in combinations(texts, 2):
            assert c <= e or g <= a or d <= f or h <= b, (text, other)


def test_names_of_columns_have_the_room_that_they_need():
    rows = np.random.default_rng(0).standard_normal((50, 3))
    model = PCA(2).fit(pd.DataFrame(rows, columns=["nonflavanoid_phenols", "W" * 40, "x"]))
    texts = {text.text: float(text.get("x")) for text in Page(render(model, title="")).drawing("weights0").iter("text")}
    assert "nonflavanoid_phenols" in texts
    (cut,) = (text for text in texts if text.startswith("WW"))
    assert cut.endswith("…")
    assert 2025 / 2048 * 13 * len(cut) <= texts[cut]

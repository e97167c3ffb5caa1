"""What tests of the lessons do with a page: open it, move sliders, press buttons, read what is shown."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

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

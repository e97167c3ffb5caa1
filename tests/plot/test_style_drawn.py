"""Every picture, of data in light and of a model in dark: what is drawn can be read, and nothing else is changed."""

import warnings
from itertools import combinations

import numpy as np
import pyarrow
import pytest

from ritz import plot, solvers
from ritz.estimators.kernel_pca import KernelPCA
from ritz.estimators.pca import PCA
from ritz.plot.colours import contrast

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 4)) @ np.diag([4.0, 2.0, 1.0, 0.5]) + 5
HOSTILE = ["$\\frac", "_hidden", "a$b$c^{", "line\nbreak \x1b[31m"]
TABLE = pyarrow.table(dict(zip(HOSTILE, X.T, strict=True)))
PLANE = pyarrow.table(dict(zip(HOSTILE, X[:, :2].T, strict=False)))
LABELS = np.array([*HOSTILE, None], dtype=object)[np.arange(40) % 5]
PANELS = ("components", "reconstruction", "line")
OF_DATA = {"scores": {"labels": LABELS}, "convergence": {"n_components": 2}, "reconstruction": {"counts": [2]}}


def model(name):
    """A fitted model for each picture, and what it needs beside."""
    if name == "line":
        return PCA(1).fit(PLANE), {"X": PLANE}
    if name == "angle":
        return PCA(1, scale=True).fit(PLANE), {}
    if name == "convergence":
        return PCA(2, svd_solver=solvers.Power()).fit(TABLE), {"X": TABLE}
    if name in ("scree", "spectrum_gap", "certificate"):
        return KernelPCA(3, kernel="rbf", gamma=0.05).fit(X), {}
    more = {"scores": {"X": TABLE, "labels": X[:, 0]}, "components": {"shape": (2, 2)}, "errors": {"X": TABLE}}
    return PCA(2).fit(TABLE), more.get(name, {"X": TABLE, "row": 3, "counts": [1]})


@pytest.fixture
def drawn(monkeypatch):
    """The texts that are drawn, each once."""
    from matplotlib.text import Text

    found, draw = {}, Text.draw

    def noted(self, renderer):
        draw(self, renderer)
        if self.get_visible() and self.get_text().strip():
            found[id(self)] = (self, self.get_window_extent(renderer))

    monkeypatch.setattr(Text, "draw", noted)
    return found


def saved(name, style, given, more, layout=True):
    """The picture, drawn with this style, without a warning or another change."""
    import matplotlib.pyplot as plt

    with plt.style.context(style), warnings.catch_warnings():
        warnings.simplefilter("error")
        before = dict(plt.rcParams)
        made = getattr(plot, name)(given, **more)
        figure = (made[0] if name in PANELS else made).figure
        if not layout:  # which takes longer than the rest
            figure.set_layout_engine("none")
        figure.draw_without_rendering()  # pixels alone are left out
        assert dict(plt.rcParams) == before
        assert plt.get_fignums() == [figure.number]
    assert isinstance(made, np.ndarray) == (name in PANELS)
    return figure


def readable(drawn, figure):
    """Whether all texts stand out from the background."""
    background = figure.get_facecolor()[:3]
    low = {text.get_text(): contrast(text.get_color(), background) for text, _ in drawn.values()}
    assert min(low.values()) >= 4.5, low


def apart(drawn):
    """Whether no text covers another one."""
    for (one, here), (other, there) in combinations(drawn.values(), 2):
        wide = min(here.x1, there.x1) - max(here.x0, there.x0)
        tall = min(here.y1, there.y1) - max(here.y0, there.y0)
        assert wide < 1 or tall < 1, (one.get_text(), other.get_text())


@pytest.mark.parametrize("name", plot.__all__)
def test_data_in_light(name, drawn):
    figure = saved(name, "default", PLANE if name in ("line", "angle") else TABLE, OF_DATA.get(name, {}))
    readable(drawn, figure)
    apart(drawn)
    said = [text.get_text().replace("\\$", "$") for text, _ in drawn.values()]
    if name in ("scores", "components", "line"):  # where names of columns or labels are written
        assert all(any(label in text for text in said) for label in HOSTILE[:2])


@pytest.mark.parametrize("name", plot.__all__)
def test_a_model_in_dark(name, drawn):
    given, more = model(name)
    readable(drawn, saved(name, "dark_background", given, more, layout=False))

"""Eigenvalues of the lessons, and what they say of ties and noise, are those of NumPy and of Ritz."""

from __future__ import annotations

import numpy as np
import pytest
from docs.tests.controls import drawn, numbers, opened, press, said, slide, state
from selenium.webdriver import ActionChains

import ritz


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
    for ratio, steps in ((0.8, 350), (0.5, 120)):
        orthogonal = angles(ratio, 90, steps)
        assert orthogonal[: steps // 3].min() > 0.999  # the second eigenvector, until rounding has grown
        assert orthogonal[-1] < 1e-12
    assert angles(0.75, 90, 1)[-1] > 0.999
    assert "go on" in said(browser)
    assert angles(0.95, 90, 20)[-1] > 0.999
    assert "rounds to itself" in said(browser)
    angles(0.5, 90, 0)
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

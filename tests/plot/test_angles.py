"""Variance and error by angle."""

import numpy as np
import pytest

from ritz import PCA, plot

X = np.random.default_rng(0).standard_normal((50, 2)) @ np.array([[2.0, 1.5], [0.0, 0.5]]) + [3, -1]
C = np.cov(X.T)


@pytest.mark.parametrize("given", [X, PCA(1).fit(X)], ids=["data", "model"])
def test_variance_and_error_have_a_constant_sum(given):
    ax = plot.angle(given)
    _, total, variance, error, best = (line.get_ydata() for line in ax.lines)
    np.testing.assert_allclose(variance + error, total)
    np.testing.assert_allclose(total, np.trace(C))
    degrees = ax.lines[2].get_xdata()
    v = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    np.testing.assert_allclose(variance, np.var(v.T @ X.T, axis=1, ddof=1), rtol=1e-10)
    at = ax.lines[0].get_xdata()[0]
    assert abs(at - degrees[np.argmax(variance)]) <= 0.25
    np.testing.assert_allclose(best, np.linalg.eigvalsh(C)[::-1])
    assert ax.get_title().startswith(f"Along {at:.1f}°")


def test_points_that_do_not_vary():
    assert "no line has variance" in plot.angle(np.ones((5, 2))).get_title()


def test_of_a_tie_no_angle_is_named():
    square = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    for given in (square, PCA(2).fit(square)):
        ax = plot.angle(given)
        assert ax.get_title().replace("\n", " ") == "A tie: every line has half of the variance, and none is the best"
        assert len(ax.lines) == 3


@pytest.mark.parametrize("turn", [0.0, 8.0, 45.0, 83.0])
def test_no_curve_crosses_its_name(turn):
    """Neither above the whole width of a name nor below it, also where the best line is near 0° or 90°."""
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    ax = plot.angle(np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]]) @ [[c, s], [-s, c]])
    curves = dict(zip(("variance", "error"), ax.lines[2:4], strict=True))
    for text in ax.texts[1:]:
        values = curves[text.get_text()].get_ydata()[np.abs(curves["error"].get_xdata() - text.xy[0]) <= 12]
        assert text.xy[1] == (values.max() if text.get_va() == "bottom" else values.min())
        assert 24 <= text.xy[0] <= 156

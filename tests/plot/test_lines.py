"""Lines through points, and their errors."""

import re

import numpy as np
import pytest

from ritz import PCA, DataError, ParameterError, plot
from ritz.plot.lines import four_lines, tied
from ritz.plot.subject import subject
from ritz.views.format import number

RNG = np.random.default_rng(0)
X = RNG.standard_normal((50, 2)) @ np.array([[2.0, 1.5], [0.0, 0.5]]) + [3, -1]
C = np.cov(X.T)
t = np.radians(np.arange(0, 360, 30))
ROUND = np.column_stack([np.cos(t), np.sin(t)])


def test_errors_in_the_titles_are_the_true_ones():
    """λ₂, the residual sum of squares of lstsq, the variance across a turned line, and that of the second column."""
    titles = [panel.get_title() for panel in plot.line(X, worse=30)]
    values, vectors = np.linalg.eigh(C)
    Z = X - X.mean(axis=0)
    turn = np.array([[np.cos(np.pi / 6), -np.sin(np.pi / 6)], [np.sin(np.pi / 6), np.cos(np.pi / 6)]])
    across = turn @ vectors[:, 0]
    truth = [
        values[0] * 49 / 50,
        np.linalg.lstsq(np.column_stack([X[:, 0], np.ones(50)]), X[:, 1])[1][0] / 50,
        np.mean((Z @ across) ** 2),
        np.var(X[:, 1]),
    ]
    written = [float(re.search(r"(?:error|vertical) ([\d.]+)", title)[1]) for title in titles]
    np.testing.assert_allclose(written, truth, rtol=5e-3)
    assert truth[0] == min(truth)


def test_residuals_are_perpendicular_vertical_and_along_the_dropped_axis():
    Z = X - X.mean(axis=0)
    axis, regression, turned, dropped = four_lines(Z, PCA(1).fit(X).components_[0], 25.0, ("a", "b"))
    for one in (axis, turned, dropped):
        np.testing.assert_allclose((Z - one.feet) @ one.direction, 0, atol=1e-12)
    np.testing.assert_allclose((Z - regression.feet)[:, 0], 0, atol=1e-12)
    slope = np.polyfit(X[:, 0], X[:, 1], 1)[0]
    assert regression.direction[1] / regression.direction[0] == pytest.approx(slope)
    assert abs(axis.direction @ turned.direction) == pytest.approx(np.cos(np.radians(25)))


def test_of_other_rows_the_lines_are_still_what_they_are_called():
    """The model keeps its axis through its mean; the regression line is the least-squares line of the rows shown."""
    pca, other = PCA(1).fit(X), X[::2] * [1.0, -0.5] + [9, 4]
    panels = plot.line(pca, other)
    for panel in panels:
        ends = np.array(panel.collections[0].get_segments())
        np.testing.assert_allclose(ends[:, 0], other)
    axis = np.array(panels[0].collections[0].get_segments())[:, 1] - pca.mean_
    np.testing.assert_allclose(np.outer(axis @ pca.components_[0], pca.components_[0]), axis, atol=1e-12)
    feet = np.array(panels[1].collections[0].get_segments())[:, 1]
    np.testing.assert_allclose(np.polyval(np.polyfit(*other.T, 1), feet[:, 0]), feet[:, 1])
    direction = np.array([1.0, np.polyfit(*other.T, 1)[0]])
    across = (other - other.mean(axis=0)) @ [-direction[1], 1.0] / np.linalg.norm(direction)
    assert panels[0].get_title().startswith("Principal axis of the model\n")
    said = re.search(r"vertical ([\d.]+),\s+perpendicular ([\d.]+)", panels[1].get_title()).groups()
    truth = np.linalg.lstsq(np.column_stack([other[:, 0], np.ones(25)]), other[:, 1])[1][0] / 25, np.mean(across**2)
    np.testing.assert_allclose([float(text) for text in said], truth, rtol=5e-3)


def test_the_mean_is_subtracted_with_all_its_digits():
    """Far from 0 the rounding of the mean would be a third of the deviations: 0, 0 and 1 in the last digit."""
    last = np.spacing(3e7)
    panels = plot.line(3e7 + last * np.array([[0.0, 0.0], [400.0, 0.0], [900.0, 1.0]]))
    assert panels[3].get_title().endswith(f"vertical error {number(2 / 9 * last**2, 3)}")


def test_points_that_do_not_vary():
    assert plot.line(np.ones((5, 2)))[0].get_title().endswith("error 0")


@pytest.mark.parametrize("columns", [1, 3])
def test_other_than_two_columns(columns):
    for draw in (plot.line, plot.angle):
        with pytest.raises(DataError, match=f"the data has {columns} column.*pass two columns"):
            draw(RNG.standard_normal((9, columns)))


def test_what_is_missing_is_said():
    with pytest.raises(DataError, match="pass X as the second argument"):
        plot.line(PCA(1).fit(X))
    with pytest.raises(ParameterError, match="worse="):
        plot.line(X, worse="far")


def test_of_a_tie_no_axis_is_named():
    for given, rows in ((ROUND, None), (PCA(2).fit(ROUND), ROUND)):
        panels = plot.line(given, rows)
        assert panels[0].get_title().startswith("A tie: no axis is the first")
        assert [panel.get_title().endswith("error 0.5") for panel in panels] == [True, False, True, True]
    assert not tied(subject(X))
    assert not tied(subject(np.ones((5, 2))))


@pytest.mark.parametrize("away", [[0.0, 100.0], [1e8, 1e8]])
@pytest.mark.parametrize("center", [True, False])
def test_points_far_away_can_be_seen(away, center):
    """They fill at least a quarter of every panel, also where a line through 0 takes them far away."""
    far = X + away
    for panel in plot.line(PCA(1, center=center).fit(far), far):
        assert np.ptp(far, axis=0).max() > 0.22 * np.ptp(panel.get_xlim())
        for limits, values in zip((panel.get_xlim(), panel.get_ylim()), far.T, strict=True):
            assert limits[0] < values.min() <= values.max() < limits[1]


def test_over_a_constant_column_there_is_no_regression_line():
    upright = np.column_stack([np.full(9, 3.0), np.arange(9.0)])
    panels = plot.line(upright)
    assert panels[1].get_title() == "No regression line\nx0 does not vary"
    assert [len(panel.lines) for panel in panels] == [1, 0, 1, 1]
    assert panels[0].get_title() == "Principal axis\nperpendicular error 0"


def test_points_on_a_line_have_no_error():
    assert plot.line(X[:2])[0].get_title().endswith("perpendicular error 0")


def test_variances_beyond_float64():
    for draw in (plot.line, plot.angle):
        for unit in (1e200, 1e-200):
            with pytest.raises(DataError, match="multiply the data by a power of ten"):
                draw(unit * X)


def test_words_of_panels_in_a_given_axes_do_not_cover_each_other(plt):
    panels = plot.line(X, ax=plt.figure().add_subplot())
    panels[0].figure.draw_without_rendering()
    below = panels[0].xaxis.label.get_window_extent()
    assert panels[2].title.get_window_extent().y1 < below.y0
    assert panels[1].yaxis.label.get_window_extent().x0 > panels[0].get_window_extent().x1

"""Gaps between eigenvalues."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

import ritz
from ritz import PCA, ParameterError, plot
from ritz.plot.accuracy import Known
from ritz.plot.gaps import following

VALUES = np.array([9.0, 4.0, 4.0, 1.0, 0.5])
Q = np.linalg.qr(np.random.default_rng(0).standard_normal((30, 6)))[0]
Q = np.linalg.qr(Q - Q.mean(axis=0))[0][:, :5]
X = Q * np.sqrt(29 * VALUES)  # variances exactly these


def title(ax):
    return ax.get_title().replace("\n", " ")


def bars(ax):
    """What the bars behind the marks lie between."""
    return np.array([segment[:, 1] for segment in ax.collections[0].get_segments()])


def test_marks_are_the_values_and_texts_the_gaps():
    ax = plot.spectrum_gap(X)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), VALUES)
    gaps = [text.get_text() for text in ax.texts if "%" in text.get_text()]
    assert gaps in (["56%", "<1%", "75%", "50%"], ["56%", "75%", "50%"])  # rounding may make the tie exact
    assert title(ax) == "Gap after PC3: the variance of PC4 is 75.0% smaller"


def test_ties_are_told():
    ax = plot.spectrum_gap(X, k=2)
    assert title(ax) == "PC2 and PC3 cannot be told apart: no gap at k = 2"
    assert "PC2–PC3:\ntied" in [text.get_text() for text in ax.texts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tied = PCA(2).fit(X)
    assert title(plot.spectrum_gap(tied)) == "PC2 and the next cannot be told apart: no gap at k = 2"


def test_the_gap_at_the_last_component_is_what_is_proved():
    three = PCA(3).fit(X)
    assert title(plot.spectrum_gap(three)) == "Gap after PC3: the next variance is 75.0% smaller"
    assert title(plot.spectrum_gap(three, X)) == "Gap after PC3: the variance of PC4 is 75.0% smaller"
    assert title(plot.spectrum_gap(ritz.eigen(np.diag(VALUES), 3))).startswith(
        "Gap after PC3: the next eigenvalue is 75"
    )
    whole = plot.spectrum_gap(ritz.eigen(np.diag(VALUES), 5))
    assert title(whole) == "PC5 is the last component: none follows, and there is no gap"


def test_a_gap_that_is_proved_in_part_is_no_larger_than_the_true_one():
    found = ritz.eigen(np.diag(VALUES), 1, "power", tol=1e-2)
    ax = plot.spectrum_gap(found)
    np.testing.assert_allclose(bars(ax), found.certificate.value_bounds)
    share = float(re.search(r"the next eigenvalue is at least ([\d.]+)% smaller", title(ax))[1])
    assert 30 < share <= 100 * (1 - 4 / 9)
    [low] = [line.get_ydata()[0] for line in ax.lines if line.get_marker() == "v"]
    assert 4 <= low < 9


def test_without_a_gap_in_the_certificate_all_that_is_left_out_bounds_the_next():
    found = replace(PCA(3).fit(X).certificate_, gap_bounds=None)
    assert following(Known(found, 3, rest=1.5)) == (0.0, 1.5)  # of which the true one has 1.0
    assert following(Known(found, 3)) is None
    assert following(Known(found, 3, rest=1.5, whole=True)) is None
    assert title(plot.spectrum_gap(found)).startswith("The gap after PC3, the last, is not known; ask for one more")


def test_magnitudes_of_eigenvalues_below_0():
    """The certificate proves λ₂ − λ₃ ≥ 1 of −3, −2, −1, up to rounding; bounds around 0 have a magnitude from 0 on."""
    found = ritz.eigen(-np.diag([3.0, 2.0, 1.0]), 2, "power", tol=1e-8)
    ax = plot.spectrum_gap(found)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [3, 2])
    assert ax.get_ylabel() == "magnitude of the eigenvalue"
    low, high = map(float, re.search(r"magnitude 2 exceeds magnitude 3 by ([\d.]+) to ([\d.]+)", title(ax)).groups())
    assert 0.99 < low <= 1 <= high
    assert title(plot.spectrum_gap(found, k=1)) == "Gap after PC1: the magnitude of PC2 is 33.3% smaller"
    wide = replace(found.certificate, value_bounds=np.array([[-3.5, -2.5], [-2.0, 0.5]]))
    np.testing.assert_allclose(bars(plot.spectrum_gap(wide)), [[2.5, 3.5], [0.0, 2.0]])


def test_what_is_not_above_0_is_at_the_bottom():
    """On a linear scale at 0, on a logarithmic one a decade below the rest."""
    for values, floor in (([3.0, 2.0, 0.0], 0.0), ([300.0, 2.0, 0.0], 0.2)):
        ax = plot.spectrum_gap(ritz.eigen(np.diag(values), 3))
        assert ax.get_yscale() == ("log" if floor else "linear")
        np.testing.assert_allclose(ax.lines[1].get_ydata(), [floor])  # the empty mark
        np.testing.assert_allclose(bars(ax)[2, 0], floor)


def test_no_variance_and_no_such_component():
    assert title(plot.spectrum_gap(np.ones((5, 3)))) == "There is no variance, and so no gap"
    assert title(plot.spectrum_gap(ritz.eigen(np.zeros((3, 3)), 2))) == "All eigenvalues are 0, and so no gap"
    with pytest.raises(ParameterError, match="k=6 must be a component between 1 and 5"):
        plot.spectrum_gap(X, k=6)

"""Gaps between eigenvalues."""

import warnings

import numpy as np
import pytest

import ritz
from ritz import PCA, ParameterError, plot

VALUES = np.array([9.0, 4.0, 4.0, 1.0, 0.5])
Q = np.linalg.qr(np.random.default_rng(0).standard_normal((30, 6)))[0]
Q = np.linalg.qr(Q - Q.mean(axis=0))[0][:, :5]
X = Q * np.sqrt(29 * VALUES)  # variances exactly these


def test_marks_are_the_values_and_texts_the_gaps():
    ax = plot.spectrum_gap(X)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), VALUES)
    gaps = [text.get_text() for text in ax.texts if "%" in text.get_text()]
    assert gaps in (["56%", "<1%", "75%", "50%"], ["56%", "75%", "50%"])  # rounding may make the tie exact
    assert ax.get_title() == "Gap after PC3: PC4 has 75.0% less variance"


def test_ties_are_told():
    ax = plot.spectrum_gap(X, k=2)
    assert ax.get_title().replace("\n", " ") == "PC2 and PC3 cannot be told apart: no gap at k = 2"
    assert "PC2–PC3:\ntied" in [text.get_text() for text in ax.texts]


def test_the_gap_at_the_last_component_needs_rows_or_a_bound():
    three, four = PCA(3).fit(X), PCA(4).fit(X)
    assert plot.spectrum_gap(three, X).get_title() == "Gap after PC3: PC4 has 75.0% less variance"
    # All that is left out is 1.5 of 4: a gap of 62.5% is proved; the true one is 75%.
    assert "at least 62.5% less" in plot.spectrum_gap(three).get_title().replace("\n", " ")
    assert "at least 50.0% less" in plot.spectrum_gap(four).get_title().replace("\n", " ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tied = PCA(2).fit(X)
    assert "cannot be told apart" in plot.spectrum_gap(tied).get_title().replace("\n", " ")


def test_bounds_of_the_certificate_are_drawn():
    found = ritz.eigen(np.diag(VALUES), 1, "power", tol=1e-2)
    ax = plot.spectrum_gap(found)
    [(low, high)] = [segment[:, 1] for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose([low, high], found.certificate.value_bounds[0])
    assert "is not known" in ax.get_title()


def test_no_variance_and_no_such_component():
    assert plot.spectrum_gap(np.ones((5, 3))).get_title() == "There is no variance, and no gap"
    with pytest.raises(ParameterError, match="k=6 must be a component between 1 and 5"):
        plot.spectrum_gap(X, k=6)

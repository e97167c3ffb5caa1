"""The certificate as a figure."""

import warnings

import numpy as np
import pytest
import sklearn.decomposition

import ritz
from ritz import PCA, CompressedSensing, plot, solvers

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5)) @ np.diag([4.0, 3.0, 2.0, 1.0, 0.5])


def drawn(ax, name):
    """Heights of the marks of that name."""
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    colour = ax.get_legend().legend_handles[names.index(name)].get_color()
    marks = [line for line in ax.lines if line.get_color() == colour and line.get_marker() != "None"]
    return np.concatenate([line.get_ydata() for line in marks if line.get_markerfacecolor() != "none"])


def title(ax):
    return ax.get_title().replace("\n", " ")


def test_errors_and_angles_are_those_of_the_certificate():
    pca = PCA(3).fit(X)
    found, ax = pca.certificate_, plot.certificate(pca)
    np.testing.assert_allclose(drawn(ax, "variance: numerical error"), found.errors / found.values[0])
    np.testing.assert_allclose(drawn(ax, "variance: sampling error"), found.values * np.sqrt(2 / 60) / found.values[0])
    np.testing.assert_allclose(drawn(ax, "axis: angle"), found.angle_bounds)
    assert 1e-6 in [height for line in ax.lines for height in line.get_ydata()]
    assert title(ax).startswith("Accurate as asked: residual ")
    assert ax.get_ylabel() == "off by at most, relative to the first variance"


def test_what_is_not_as_accurate_as_asked_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pca = PCA(2, svd_solver=solvers.Power(max_iter=3)).fit(X)
    good, bad = plot.certificate(PCA(2).fit(X)), plot.certificate(pca)
    assert bad.get_title().startswith("NOT as accurate as asked")
    assert good.title.get_color() != bad.title.get_color()


def test_where_no_accuracy_was_asked_for_none_is_promised():
    ax = plot.certificate(ritz.eigen(np.cov(X.T), 1, "power", tol=None))
    assert title(ax).startswith("No accuracy was asked for: residual of every component at most ")
    assert "asked:" not in title(ax)
    assert title(ax).endswith("of the first eigenvalue")
    assert not {"tol"} & {text.get_text() for text in ax.get_legend().get_texts()}


def test_magnitudes_are_called_so():
    """A start without a part along −3 finds 2: what may have been missed is of larger magnitude, not larger."""
    found = ritz.eigen(np.diag([-3.0, 2.0, 1.0]), 1, solvers.Power(start=[0.0, 1.0, 1.0]))
    assert found.values == pytest.approx([2.0])
    ax = plot.certificate(found)
    assert title(ax).startswith("Accurate as asked, but a component of larger magnitude may have been missed: ")
    assert ax.get_ylabel() == "off by at most, relative to the largest magnitude"
    sure = plot.certificate(ritz.eigen(np.diag([-3.0, 2.0, 1.0]), 1, "power"))
    assert "missed" not in title(sure)
    assert ax.title.get_color() != sure.title.get_color()


def test_of_whatever_has_a_certificate():
    """Data, what `ritz.eigen` returned, and a certificate itself: as many marks as they have values."""
    C = np.cov(X.T)
    for given, count, what in (
        (X, 5, "variance: numerical error"),
        (ritz.eigen(C, 2), 2, "eigenvalue: numerical error"),
        (PCA(3).fit(X).certificate_, 3, "variance: numerical error"),
    ):
        heights = drawn(plot.certificate(given), what)
        assert len(heights) == count
        assert (heights < 1e-10).all()


def test_of_what_has_another_certificate():
    with pytest.raises(TypeError, match=r"figures are of data, .* not of a ritz.CompressedSensing"):
        plot.certificate(CompressedSensing(4).fit(X))
    with pytest.raises(TypeError, match=r"not of a sklearn.PCA; fit one of those"):
        ritz.plot.scree(sklearn.decomposition.PCA(1).fit(np.eye(3)))
    with pytest.raises(TypeError, match=r"not of what ritz.eigen returns; spectrum_gap, certificate and convergence"):
        plot.scree(ritz.eigen(np.eye(3), 1))

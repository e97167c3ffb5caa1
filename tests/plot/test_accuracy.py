"""The certificate as a picture."""

import warnings

import numpy as np
import pytest

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


def test_errors_and_angles_are_those_of_the_certificate():
    pca = PCA(3).fit(X)
    found, ax = pca.certificate_, plot.certificate(pca)
    np.testing.assert_allclose(drawn(ax, "variance: numerical error"), found.errors / found.values[0])
    np.testing.assert_allclose(drawn(ax, "variance: sampling error"), found.values * np.sqrt(2 / 60) / found.values[0])
    np.testing.assert_allclose(drawn(ax, "axis: angle"), found.angle_bounds)
    assert 1e-6 in [height for line in ax.lines for height in line.get_ydata()]
    assert ax.get_title().replace("\n", " ").startswith("Accurate as asked: residual ")


def test_what_is_not_as_accurate_as_asked_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pca = PCA(2, svd_solver=solvers.Power(max_iter=3)).fit(X)
    good, bad = plot.certificate(PCA(2).fit(X)), plot.certificate(pca)
    assert bad.get_title().startswith("NOT as accurate as asked")
    assert good.title.get_color() != bad.title.get_color()


@pytest.mark.parametrize("given", [X, ritz.eigen(np.cov(X.T), 2), PCA(2).fit(X).certificate_], ids=type)
def test_of_whatever_has_a_certificate(given):
    assert plot.certificate(given).get_title()


def test_of_what_has_another_certificate():
    with pytest.raises(TypeError, match=r"pictures are of data, .* not of a 'CompressedSensing'"):
        plot.certificate(CompressedSensing(4).fit(X))

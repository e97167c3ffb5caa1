"""Errors that are drawn are those of LAPACK, and of what is measured."""

import numpy as np
import pytest

from ritz import PCA, DataError, KernelPCA, plot

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 6)) @ RNG.standard_normal((6, 6)) + 3
VALUES = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / 59


def test_no_errors_of_what_has_none_or_leaves_float64():
    assert plot.errors(np.ones((5, 3))).get_title() == "All rows are alike: there is no error"
    with pytest.raises(DataError, match="leave the range of float64; multiply the data by a power of ten"):
        plot.errors(1e200 * X)


@pytest.mark.parametrize("parameters", [{"whiten": True}, {"scale": True, "ddof": 0}])
def test_errors_are_those_of_decoding(parameters):
    """The curve for the rows of the fit, by Σ of the variances left out, equals what is measured of the same rows."""
    pca = PCA(4, **parameters).fit(X)
    curve, measured = plot.errors(pca, X).lines
    np.testing.assert_allclose(curve.get_ydata(), measured.get_ydata(), rtol=1e-10)
    for k in (0, 2, 4):
        Y = pca.transform(X)
        Y[:, k:] = 0
        Z = (pca.inverse_transform(Y) - X) / (1 if pca.scale_ is None else pca.scale_)
        np.testing.assert_allclose(curve.get_ydata()[k], np.mean(np.sum(Z**2, axis=1)), rtol=1e-10)


def test_errors_have_shares_and_numbers_kept_beside_them():
    ax = plot.errors(PCA(3).fit(X))
    top, right = sorted(ax.child_axes, key=lambda axis: axis.get_ylabel())
    ax.figure.set_layout_engine("none")
    ax.figure.draw_without_rendering()
    total = VALUES.sum() * 59 / 60
    np.testing.assert_allclose(right.get_ylim(), np.array(ax.get_ylim()) / total)
    np.testing.assert_allclose(top.get_xlim(), 6 + np.array(ax.get_xlim()) * (60 + 6))
    assert top.get_xlabel() == "numbers kept, instead of 60 × 6 = 360"


def test_errors_in_feature_space():
    """With the linear kernel they are those of PCA."""
    kernel, pca = KernelPCA(3).fit(X), PCA(3).fit(X)
    left = plot.errors(kernel).lines[0].get_ydata()
    np.testing.assert_allclose(left, plot.errors(pca).lines[0].get_ydata(), rtol=1e-10)
    np.testing.assert_allclose(plot.errors(kernel, X).lines[1].get_ydata(), left, rtol=1e-8)

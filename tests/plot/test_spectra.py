"""Variances and errors that are drawn are those of LAPACK."""

import numpy as np
import pytest

from ritz import PCA, DataError, KernelPCA, plot

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 6)) @ RNG.standard_normal((6, 6)) + 3
VALUES = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / 59


def heights(ax):
    return np.array([bar.get_height() for bar in ax.patches])


def test_scree_shows_variances_and_their_sums():
    ax = plot.scree(X)
    np.testing.assert_allclose(heights(ax), VALUES)
    [line] = ax.figure.axes[1].lines
    np.testing.assert_allclose(line.get_ydata(), np.cumsum(VALUES) / VALUES.sum())
    shares = [label.get_text().split("\n")[1] for label in ax.get_xticklabels()]
    assert shares == [f"{100 * share:.1f}%" for share in VALUES / VALUES.sum()]


def test_scree_of_a_share_says_what_was_asked():
    ax = plot.scree(PCA(0.9).fit(X))
    twin = ax.figure.axes[1]
    assert twin.lines[1].get_ydata()[0] == 0.9
    assert "90% asked for" in [text.get_text() for text in twin.get_legend().get_texts()]


@pytest.mark.parametrize("layout", ["constrained", None])
def test_names_of_marks_cover_none_of_them(plt, layout):
    """Variances of noise fall slowly: bars and their sums together leave no space."""
    ax = plot.scree(PCA(0.9).fit(RNG.standard_normal((200, 30))), ax=plt.figure(layout=layout).subplots())
    twin = ax.figure.axes[1]
    ax.figure.draw_without_rendering()
    names = twin.get_legend().get_window_extent()
    assert not any(bar.get_window_extent().overlaps(names) for bar in ax.patches)
    for line in twin.lines:
        points = line.get_transform().transform_path(line.get_path()).interpolated(20).vertices
        assert not any(names.contains(*point) for point in points)


def test_scree_of_auto_shows_noise_and_what_is_left_out():
    pca = PCA("auto").fit(RNG.standard_normal((80, 5)) + 4 * RNG.standard_normal((80, 1)))
    ax = plot.scree(pca)
    np.testing.assert_allclose(heights(ax), pca.rank_choice_.values)
    np.testing.assert_allclose(ax.lines[0].get_ydata()[1:-1], pca.rank_choice_.null)
    assert ax.get_title() == f"PC1 keeps {100 * pca.explained_variance_ratio_[0]:.1f}% of the variance"


def test_scree_of_kernel_pca_and_of_data_beyond_float64():
    model = KernelPCA(3, kernel="rbf", gamma=0.1).fit(X)
    np.testing.assert_allclose(heights(plot.scree(model)), model.eigenvalues_)
    np.testing.assert_allclose(heights(plot.scree(1e200 * X)), VALUES / VALUES.sum())
    with pytest.raises(DataError, match="leave the range of float64; multiply the data by a power of ten"):
        plot.errors(1e200 * X)


def test_nothing_varies():
    assert plot.scree(np.ones((5, 3))).get_title() == "All rows are alike: there is no variance"
    assert plot.errors(np.ones((5, 3))).get_title() == "All rows are alike: there is no error"


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

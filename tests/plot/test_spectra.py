"""Variances that are drawn are those of LAPACK."""

import numpy as np
import pytest

from ritz import PCA, KernelPCA, plot

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


def test_nothing_varies():
    assert plot.scree(np.ones((5, 3))).get_title() == "All rows are alike: there is no variance"

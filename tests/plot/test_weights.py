"""Components as images, curves and bars."""

import numpy as np
import pyarrow
import pytest

from ritz import PCA, DataError, KernelPCA, ParameterError, plot, read
from ritz.plot.weights import scale_of

RNG = np.random.default_rng(0)
X = RNG.random((30, 12))


def test_images_are_the_mean_and_the_axes():
    pca = PCA(5).fit(X)
    mean, *axes = plot.components(pca, 3, shape=(3, 4))
    np.testing.assert_allclose(mean.images[0].get_array(), pca.mean_.reshape(3, 4))
    for i, ax in enumerate(axes):
        image = ax.images[0]
        np.testing.assert_allclose(image.get_array(), pca.components_[i].reshape(3, 4))
        assert image.norm.vmin == -image.norm.vmax == -np.abs(pca.components_[i]).max()
    assert len(axes) == 3


def test_images_in_colour_and_a_model_that_knows_its_shape_and_its_white():
    """Numbers of 16 bits that fill a tenth of their range stay as dark as they are."""
    pca = PCA(2).fit(read((6553 * X).astype(np.uint16).reshape(30, 2, 2, 3)))
    mean, first, _ = plot.components(pca)
    np.testing.assert_allclose(mean.images[0].get_array(), pca.mean_.reshape(2, 2, 3) / 65535)
    axis = pca.components_[0].reshape(2, 2, 3)
    np.testing.assert_allclose(first.images[0].get_array(), 0.5 + axis / (2 * np.abs(axis).max()))


def test_white_in_rows_that_do_not_tell_it():
    """That of the rows, or of their mean where there are no rows; two sides of three colours are enough."""
    bright = 255 * X + 30 * (X > 0.5)
    for given, shape, white in ((100 * X, (2, 2), (100 * X).max()), (PCA(2).fit(bright), (2, 2, 3), 255)):
        mean = plot.components(given, 1, shape=shape)[0].images[0].get_array()
        values = given.mean_ if isinstance(given, PCA) else given.mean(axis=0)
        np.testing.assert_allclose(mean, values.reshape(2, 2, 3) / white)


@pytest.mark.parametrize(
    ("names", "ordered", "places"),
    [
        ([f"{400 + 5 * j}" for j in range(12)], None, 400 + 5 * np.arange(12)),
        ([f"c{j}" for j in range(12)], True, np.arange(12)),
        ([f"{2.0**j}" for j in range(12)], None, None),
        ([f"{j}" for j in range(12)], None, None),
        ([f"{400 + 5 * j}" for j in range(12)], False, None),
    ],
)
def test_curves_where_columns_are_ordered(names, ordered, places):
    pca = PCA(2).fit(pyarrow.table(dict(zip(names, X.T, strict=True))))
    found = scale_of(pca, 12, ordered)
    assert (found is None) == (places is None)
    if places is not None:
        np.testing.assert_allclose(found, places)


def test_curves_are_the_axes():
    pca = PCA(2).fit(X)
    for i, ax in enumerate(plot.components(pca, ordered=True)):
        np.testing.assert_allclose(ax.lines[1].get_ydata(), pca.components_[i])


def test_bars_are_the_largest_weights():
    pca = PCA(1).fit(X)
    [ax] = plot.components(pca)
    order = np.argsort(-np.abs(pca.components_[0]))[:10]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches][::-1], pca.components_[0][order])
    assert [label.get_text() for label in ax.get_yticklabels()][::-1] == [f"x{j}" for j in order]


def test_given_axes_are_used_or_divided(plt):
    _, given = plt.subplots(1, 4)
    assert list(plot.components(X, 3, shape=(3, 4), ax=given)) == list(given)
    single = plt.figure().add_axes((0.1, 0.1, 0.8, 0.8))
    assert all(panel.figure is single.figure for panel in plot.components(X, 3, shape=(3, 4), ax=single))
    with pytest.raises(ParameterError, match="at least 4 of them"):
        plot.components(X, 3, shape=(3, 4), ax=given[:2])
    assert len(plt.get_fignums()) == 2


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(DataError, match="shape=3×3 has 9 pixels, but there are 12 columns"):
        plot.components(X, shape=(3, 3))
    with pytest.raises(ParameterError, match="shape="):
        plot.components(X, shape=(3, 2, 2))
    with pytest.raises(ParameterError, match="n=0"):
        plot.components(X, 0)
    with pytest.raises(TypeError, match=r"not for a 'KernelPCA', whose axes are in feature space; ritz.plot.scores"):
        plot.components(KernelPCA(2).fit(X))


def test_more_components_than_there_are_is_an_error():
    with pytest.raises(
        ParameterError, match="n=13 must be a number of components between 1 and 12, as many as 30 rows"
    ):
        plot.components(X, 13)
    with pytest.raises(
        ParameterError, match=r"n=3 must be .* between 1 and 2, as many as the model keeps; fit it with a"
    ):
        plot.components(PCA(2).fit(X), 3)


def test_many_components_are_a_grid(plt):
    places = [panel.get_subplotspec().get_gridspec().get_geometry() for panel in plot.components(X, 9)]
    assert set(places) == {(3, 4)}
    assert plot.components(X, 9, ordered=True)[8].get_subplotspec().get_gridspec().get_geometry() == (5, 2)
    assert max(plt.gcf().get_size_inches()) < 15


def test_long_names_of_columns_that_begin_alike_are_told_apart():
    names = [f"{'the same beginning of ' * 4}{j}" for j in range(12)]
    [ax] = plot.components(PCA(1).fit(pyarrow.table(dict(zip(names, X.T, strict=True)))))
    assert len({label.get_text() for label in ax.get_yticklabels()}) == 10


def test_an_axis_without_variance_is_told():
    titles = [
        panel.get_title().replace("\n", " ") for panel in plot.components(np.outer(np.arange(5.0), [1.0, 2.0, 3.0]), 2)
    ]
    assert titles == ["PC1 (100%)", "PC2 (0%) no variance, so any axis"]

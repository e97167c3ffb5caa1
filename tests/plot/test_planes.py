"""Scores as points: where they are, what their colours mean."""

import numpy as np
import pandas
import pytest
import scipy.sparse

from ritz import PCA, DataError, KernelPCA, ParameterError, plot, read
from ritz.plot import planes
from ritz.plot.clouds import FAINTEST, Cloud, led_by
from ritz.views.classes import classified

RNG = np.random.default_rng(0)
X = RNG.standard_normal((50, 4)) @ np.diag([4.0, 3.0, 1.0, 0.1]) + 2


def points(ax):
    """All points, in an order of their own."""
    return sorted(map(tuple, np.concatenate([part.get_offsets() for part in ax.collections])))


def same(ax, scores):
    np.testing.assert_allclose(points(ax), sorted(map(tuple, scores)), atol=1e-9)


def said(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_points_are_the_scores():
    pca = PCA(3).fit(X)
    Y = pca.transform(X)
    same(plot.scores(X), Y[:, :2])
    same(plot.scores(scipy.sparse.csr_array(X), components=(3, 1)), Y[:, [2, 0]])
    ax = plot.scores(pca, X[::5], components=(3, 1))
    same(ax, Y[::5, [2, 0]])
    assert ax.get_aspect() == 1
    assert (ax.get_xlabel()[:5], ax.get_ylabel()[:5]) == ("PC3 (", "PC1 (")


def test_a_file_brings_its_labels(tmp_path):
    rows = [f"{a},{b},{kind}" for (a, b), kind in zip(X[:, :2].tolist(), "xyz" * 20, strict=False)]
    (tmp_path / "x.csv").write_text("\n".join(["a,b,kind", *rows]))
    ax = plot.scores(read(tmp_path / "x.csv", label="kind"))
    assert said(ax) == ["x (17)", "y (17)", "z (16)"]


def test_kernel_pca_knows_the_rows_of_its_fit():
    model = KernelPCA(2, kernel="rbf").fit(X)
    same(plot.scores(model), model.transform(X))


def test_many_classes_and_missing_ones():
    labels = [*(f"_{i}" for i in range(30)), *["_0"] * 5, *[None] * 15]
    names = said(plot.scores(X, labels=labels))
    assert names[0] == "_0 (6)"
    assert names[-2:] == ["other, 21 labels (21)", "missing (15)"]
    assert len(names) == 11


def test_numbers_have_a_scale_and_missing_ones_are_grey():
    labels = np.where(np.arange(50) % 10 == 0, np.nan, np.arange(50.0))
    ax = plot.scores(X, labels=labels)
    grey, coloured = ax.collections
    assert (len(grey.get_offsets()), len(coloured.get_offsets())) == (5, 45)
    np.testing.assert_array_equal(coloured.get_array(), labels[~np.isnan(labels)])
    assert said(ax) == ["missing (5)"]


def test_many_rows_become_cells_that_count_them(monkeypatch):
    assert planes.MOST_POINTS == 20_000
    monkeypatch.setattr(planes, "MOST_POINTS", 2000)
    many = RNG.standard_normal((2050, 2)) * [3, 1]
    labels = np.where(many[:, 0] > 0, "right", "left")
    [cells] = plot.scores(many).collections
    assert cells.get_array().sum() == 2050
    ax = plot.scores(many, labels=labels)
    assert len(ax.images) == 1
    assert said(ax) == [f"left ({np.sum(labels == 'left'):,})", f"right ({np.sum(labels == 'right'):,})"]
    [means] = plot.scores(many, labels=many[:, 0]).collections
    middles = means.get_offsets()[:, 0]
    np.testing.assert_allclose(means.get_array(), middles, atol=np.diff(np.unique(middles)).max())


def test_cells_have_the_colour_of_their_most_frequent_class():
    """Four rows of two classes in one cell, a single row in another, nothing between."""
    at = np.array([[0.0, 0.0]] * 4 + [[9.0, 0.0]])
    codes = np.array([0, 1, 1, 1, 0])
    cloud = Cloud(at, codes, classified(codes, 5), None, "")
    image, extent = led_by(cloud, np.array([[1.0, 0, 0], [0, 0, 1.0]]), np.zeros(3))
    np.testing.assert_allclose(image[0, 0], [0, 0, 1, 1])
    np.testing.assert_allclose(image[0, -1], [FAINTEST, 0, 0, 1])
    assert not image[0, 1:-1, 3].any()
    assert extent[:2] == (0.0, pytest.approx(9.1))


def test_one_component_is_a_histogram():
    ax = plot.scores(PCA(1).fit(X), X, labels=["a", "b"] * 25)
    assert sum(bar.get_height() for bar in ax.patches) == 50
    assert ax.get_ylabel() == "rows"


def test_flat_clouds_have_a_unit_for_each_axis():
    ax = plot.scores(X[:, [0, 3]] * [10, 1])
    assert ax.get_aspect() == "auto"
    assert ax.get_title().replace("\n", " ").endswith("each axis has its own unit")


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ((PCA(2).fit(X),), DataError, "does not keep them; pass X as the second argument"),
        ((X, X), TypeError, "the first argument is data already"),
        ((X, None, ["a"]), DataError, r"labels have the shape \(1,\), but there are 50 rows"),
    ],
)
def test_what_is_missing_is_said(arguments, kind, words):
    with pytest.raises(kind, match=words):
        plot.scores(*arguments)


@pytest.mark.parametrize("components", [(0, 1), (1, 9), (1, 2, 3), "12", ()])
def test_components_that_do_not_exist(components):
    with pytest.raises(ParameterError, match="components="):
        plot.scores(X, components=components)


def test_text_is_a_name_also_where_it_consists_of_digits():
    digits = [f"{i % 12:02d}" for i in range(50)]
    assert said(plot.scores(X, labels=digits))[0] == "00 (5)"
    assert plot.scores(X, labels=[int(text) for text in digits]).get_legend() is None  # a scale


def test_long_labels_that_begin_alike_are_told_apart():
    names = said(plot.scores(X, labels=[f"{'the same beginning of ' * 4}{'ab'[i % 2]}" for i in range(50)]))
    assert len(set(names)) == 2
    assert max(map(len, names)) <= 28 + len(" (25)")


def test_a_column_of_the_data_colours_the_rows():
    """It is kept aside, unless the model was fitted to it."""
    plain = pandas.DataFrame(X, columns=list("abcd"))
    table = plain.assign(kind=["x", "y"] * 25)
    for given in ((table,), (PCA(2).fit(plain), table)):
        ax = plot.scores(*given, labels="kind")
        same(ax, PCA(2).fit_transform(X))
        assert (said(ax), ax.get_legend().get_title().get_text()) == (["x (25)", "y (25)"], "kind")
    ax = plot.scores(PCA(2).fit(plain), plain, labels="a")
    np.testing.assert_array_equal(ax.collections[0].get_array(), X[:, 0])
    with pytest.raises(DataError, match="there is no column 'kinds'"):
        plot.scores(plain, labels="kinds")
    with pytest.raises(DataError, match="labels='a' is a column of rows; pass X"):
        plot.scores(PCA(2).fit(X), labels="a")


def test_dates_have_a_scale_or_are_classes():
    days = np.datetime64("2020-01-01") + np.arange(50)
    days[7] = np.datetime64("NaT")
    ax = plot.scores(X, labels=days)
    np.testing.assert_array_equal(ax.collections[1].get_array(), 18262 + np.delete(np.arange(50), 7))
    assert said(ax) == ["missing (1)"]
    bars = said(plot.scores(PCA(1).fit(X), X, labels=days))
    assert (bars[0][:12], bars[-1]) == ("2020-01-01 t", "missing (1)")
    few = np.repeat(days[:2].astype("datetime64[ns]"), 25)
    assert said(plot.scores(X, labels=few)) == ["2020-01-01 (25)", "2020-01-02 (25)"]


def test_rounding_has_no_unit_of_its_own():
    ax = plot.scores(np.outer(np.arange(9.0), [1.0, 2.0, 3.0]))
    assert (ax.get_aspect(), ax.get_title()) == (1.0, "9 rows on PC1 and PC2: 100% of the variance")
    assert plot.scores(np.ones((5, 3))).get_title() == "All rows are alike: there is no variance"


def test_components_beyond_the_last_are_told_in_the_words_of_the_call():
    with pytest.raises(ParameterError, match=r"components=\(1, 1\) must be two different components"):
        plot.scores(X, components=(1, 1))
    with pytest.raises(
        ParameterError, match=r"components=\(1, 9\) must lie between 1 and 4, as many as 50 rows of 4 col"
    ):
        plot.scores(X, components=(1, 9))
    with pytest.raises(
        ParameterError, match="between 1 and 2, as many as the model keeps; fit it with a larger n_comp"
    ):
        plot.scores(PCA(2).fit(X), X, components=3)

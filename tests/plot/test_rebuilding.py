"""Rows rebuilt: what is drawn is what decoding gives, and the error under it is its error."""

import numpy as np
import pytest
import scipy.sparse

from ritz import PCA, KernelPCA, ParameterError, plot, read
from ritz.plot.rebuilding import round_numbers

RNG = np.random.default_rng(0)
X = RNG.random((30, 12)) * np.arange(1, 13)


def decoded(pca, x, k):
    """By the estimator, with all scores but k set to 0."""
    Y = pca.transform(x[None])
    Y[:, k:] = 0
    return pca.inverse_transform(Y)[0]


@pytest.mark.parametrize("parameters", [{"center": False}, {"scale": True, "whiten": True}])
def test_errors_in_the_captions_are_those_of_decoding(parameters):
    pca, x = PCA(7, **parameters).fit(X), X[4]
    panels = plot.reconstruction(pca, X, row=4, shape=(3, 4), counts=[5, 1])
    assert [panel.get_title().replace("\n", " ") for panel in panels[1:]] == [
        *("1 component", "5 components", "the row itself")
    ]
    size = np.linalg.norm((x - pca.mean_) / (1 if pca.scale_ is None else pca.scale_))
    for panel, k in zip(panels[:-1], (0, 1, 5), strict=True):
        back = decoded(pca, x, k)
        np.testing.assert_allclose(panel.images[0].get_array(), back.reshape(3, 4), atol=1e-12)
        error = np.linalg.norm((x - back) / (1 if pca.scale_ is None else pca.scale_)) / size
        assert panel.get_xlabel() in (f"error {100 * error:.1f}%", "error 100%")
    np.testing.assert_array_equal(panels[-1].images[0].get_array(), x.reshape(3, 4))


def test_rows_that_are_no_pictures_are_curves_over_the_row_itself():
    pca = PCA(3).fit(X)
    for given, row in ((X[2], 0), (scipy.sparse.csr_array(X), 2)):
        panels = plot.reconstruction(pca, given, row, counts=[1])
        truth, back = panels[1].lines
        np.testing.assert_allclose(truth.get_ydata(), X[2])
        np.testing.assert_allclose(back.get_ydata(), decoded(pca, X[2], 1))


@pytest.mark.parametrize("unit", [2.0**-990, 2.0**990])
def test_errors_do_not_depend_on_the_unit(unit):
    captions = [[panel.get_xlabel() for panel in plot.reconstruction(X * by, counts=[1, 5])] for by in (1.0, unit)]
    assert captions[0] == captions[1]
    assert "error 0%" not in captions[1]


def test_all_components_of_data_leave_nothing():
    *_, last, _ = plot.reconstruction(X, row=-1, counts=[12])
    assert last.get_title() == "12 components"
    assert last.get_xlabel() == "error below 0.001%"


def test_the_mean_has_no_error():
    pca = PCA(1).fit(X)
    assert plot.reconstruction(pca, pca.mean_, counts=[1])[1].get_xlabel() == "error 0%"


def test_numbers_of_components_are_round_ones():
    assert round_numbers(7) == [0, 1, 2, 5, 7]
    assert round_numbers(50) == [0, 1, 2, 5, 10, 20, 50]


@pytest.mark.parametrize("wrong", [{"row": 30}, {"row": 1.5}, {"counts": [1, 9]}, {"counts": []}])
def test_what_does_not_exist_is_said(wrong):
    [name] = wrong
    with pytest.raises(ParameterError, match=f"{name}="):
        plot.reconstruction(PCA(3).fit(X), X, **wrong)


def test_more_components_than_the_model_keeps():
    with pytest.raises(
        ParameterError, match=r"counts=9 must be numbers .* between 0 and 3, as many as the model keeps"
    ):
        plot.reconstruction(PCA(3).fit(X), X, counts=9)
    assert [panel.get_title() for panel in plot.reconstruction(X, counts=2)][1] == "2 components"


def test_all_images_of_a_strip_have_one_grey_scale():
    stack = X.reshape(30, 2, 6) - 4.5
    panels = plot.reconstruction(read(stack), row=1)
    limits = {(panel.images[0].norm.vmin, panel.images[0].norm.vmax) for panel in panels}
    assert limits == {(stack[1].min(), stack[1].max())}


def test_kernel_pca_has_another_way_back():
    model = KernelPCA(2, kernel="rbf", gamma=1e-3, fit_inverse_transform=True).fit(X)
    with pytest.raises(TypeError, match=r"not for a 'KernelPCA', .* model.inverse_transform"):
        plot.reconstruction(model, X)

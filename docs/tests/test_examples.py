"""The examples: each is run once, and its numbers are held against formulas, LAPACK, PyWavelets or scikit-learn."""

import re
import sys
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from docs.tests.running import EXAMPLES, run

import ritz

LINES = 115
PATHS = sorted(EXAMPLES.glob("plot_*.py"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_every_example_is_short_and_ends_in_a_figure(path):
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= LINES
    assert text.rstrip().endswith("plt.show()")


def test_every_example_is_run():
    tests = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_examples*.py"))
    assert {path.stem.removeprefix("plot_") for path in PATHS} == set(re.findall(r'run\("(\w+)"\)', tests))


def test_every_example_has_its_place():
    """And every function that draws is shown by an example that calls it, in the figure that its page shows."""
    sys.path.insert(0, str(EXAMPLES.parent / "_ext"))
    places, drawn = import_module("gallery").ORDER, import_module("reference").DRAWN
    assert sorted(places) == [path.stem.removeprefix("plot_") for path in PATHS]
    assert set(drawn) == {f"ritz.plot.{name}" for name in ritz.plot.__all__}
    for name, (example, figure) in drawn.items():
        figures = (EXAMPLES / f"plot_{example}.py").read_text("utf-8").split("plt.show()")
        assert f"{name}(" in figures[figure - 1], name


def variances(X, ddof=1):
    """All eigenvalues of the covariance, in descending order, by the smaller of the two matrices."""
    Z = (X - X.mean(axis=0)) / np.sqrt(len(X) - ddof)
    values = np.linalg.eigvalsh(Z @ Z.T if Z.shape[0] < Z.shape[1] else Z.T @ Z)
    return np.maximum(values[::-1], 0)


def test_rotating_object():
    example = run("rotating_object")
    values = variances(example.X)
    shares = np.cumsum(values) / values.sum()
    assert example.share_of_one == pytest.approx(shares[0], rel=1e-9)
    assert example.share_of_two == pytest.approx(shares[1], rel=1e-9)
    assert example.share_of_one < 0.5  # one degree of freedom is not one component
    for share, needed in ((0.90, example.needed_for_90), (0.99, example.needed_for_99)):
        assert shares[needed - 2] < share <= shares[needed - 1]
    assert example.neighbours_are_adjacent
    assert example.gap_at_the_end < 1.5
    for k, error in zip(example.counts, example.errors, strict=True):
        assert error == pytest.approx(np.sqrt(1 - shares[k - 1]), rel=1e-6)


def test_usage_intensity():
    """Eigenvalues, angle and slope of a 2×2 covariance by their closed formulas."""
    example = run("usage_intensity")
    (a, c), (_, b) = np.cov(example.X.T, ddof=0)
    first, second = (a + b) / 2 + np.array([1, -1]) * np.hypot((a - b) / 2, c)
    assert example.angle_of_axis == pytest.approx(np.degrees(np.arctan2(2 * c, a - b) / 2), abs=1e-6)
    assert example.angle_of_regression == pytest.approx(np.degrees(np.arctan(np.polyfit(*example.X.T, 1)[0])), abs=1e-6)
    assert example.angle_of_axis - example.angle_of_regression > 3
    assert example.error_axis == pytest.approx(second, rel=1e-9)
    assert example.error_worse == pytest.approx(second + (first - second) * np.sin(np.radians(25)) ** 2, rel=1e-9)
    assert example.error_dropped == pytest.approx(a, rel=1e-9)
    assert example.error_axis < example.error_regression < example.error_worse < example.error_dropped
    assert np.allclose(example.sums, a + b, rtol=1e-12)
    assert abs(example.best_degree - example.angle_of_axis) <= 0.5
    correlations = list(example.correlations.values())
    assert correlations[3] > correlations[2] > max(correlations[:2]) > 0.9


def test_a_tour_of_plots():
    """By LAPACK, and in the titles of the figures."""
    example = run("a_tour_of_plots")
    X, new = (images.reshape(-1, 64) for images in np.split(example.digits.images, [1200]))
    values = variances(X)
    shares = np.cumsum(values) / values.sum()
    assert np.allclose(example.shares, shares[:20], rtol=1e-9)
    assert shares[example.needed_for_half - 2] < 0.5 <= shares[example.needed_for_half - 1]
    assert example.left_out == pytest.approx(1 - shares[19], rel=1e-9)
    axes = np.linalg.eigh(np.cov(X.T))[1][:, ::-1]
    off = (new - X.mean(axis=0)) @ axes[:, 20:]
    expected = np.mean(np.sum(off**2, axis=1)) / np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1))
    assert example.left_out_of_new == pytest.approx(expected, rel=1e-9)
    assert example.gap_after_20 == pytest.approx(1 - values[20] / values[19], rel=1e-6)
    assert np.abs(example.pca.explained_variance_ - values[:20]).max() <= example.numerical + 1e-10
    assert example.sampling == pytest.approx(values[0] * np.sqrt(2 / 1200), rel=0.01)
    assert example.largest_angle < 1e-3
    titles = [" ".join(figure.axes[0].get_title().split()) for figure in example.figures]
    for title, number in zip(
        titles[:3], (example.shares[-1], example.left_out_of_new, example.gap_after_20), strict=True
    ):
        assert f"{number:.1%}" in title


def test_curved_data():
    from sklearn.decomposition import KernelPCA

    example = run("curved_data")
    radius = np.linalg.norm(example.new, axis=1)
    possible = np.mean((radius > 0.65) == example.ring_of_new)  # a circle halfway between them
    assert example.right_by_kernel_pca >= possible - 0.005
    assert example.right_by_pca < 0.8
    assert example.right_by_narrow_kernel < 0.8
    assert example.spread_of_inner > 20 * example.spread_of_outer
    assert 0.8 < example.ratio_of_variances <= 1
    assert example.largest_difference < 1e-10
    peer = KernelPCA(2, kernel="rbf", gamma=3.0).fit(example.X).transform(example.new)
    found = example.kernel_pca.transform(example.new)
    assert np.allclose(np.abs(peer), np.abs(found), atol=1e-8)


def test_dual_components():
    example = run("dual_components")
    Z, alpha = example.X - example.X.mean(axis=0), example.alpha
    kappa, beta = np.linalg.eigh(Z @ Z.T)
    kappa, beta = kappa[::-1][:6], beta[:, ::-1][:, :6]
    assert np.allclose(example.kappa, kappa, rtol=1e-10)
    assert np.allclose(np.abs(np.einsum("ij,ij->j", beta, alpha)), kappa**-0.5, rtol=1e-9)
    assert max(example.error_of_axes, example.error_of_scores, example.error_of_lengths) < 1e-11
    assert example.sum_of_weights < 1e-10
    assert example.cosines[0] > 0.5
    assert example.cosines[-1] == pytest.approx(1, abs=1e-12)
    assert (np.diff(example.cosines) > -1e-12).all()
    assert max(example.angles) < 1e-9
    drawn = ritz.datasets.parametric_faces(n_people=20, n_views=3, size=4).parameters  # of the same people
    bright, dark = example.order[::-1][:5], example.order[:5]
    for name in ("skin", "head_width"):
        assert drawn[name][bright].mean() > drawn[name][dark].mean()


def test_decorrelation():
    example = run("decorrelation")
    R = np.corrcoef(example.X.T)
    values = np.linalg.eigvalsh(R)[::-1]
    assert example.largest_before == pytest.approx(np.abs(R - np.eye(13)).max(), rel=1e-12)
    assert example.largest_after < 1e-12
    assert example.total_variance == pytest.approx(13, rel=1e-12)
    assert example.largest_error < 1e-12
    assert 0.5 < example.typical_new * np.sqrt(len(example.new)) < 2
    assert example.captured == pytest.approx(values[0] + values[1], rel=1e-9)
    assert example.captured_by_rotated == pytest.approx(example.captured, rel=1e-12)
    c2, s2 = 0.75, 0.25  # squares of the cosine and sine of 30°
    both = (c2 * values[0] + s2 * values[1]) * (s2 * values[0] + c2 * values[1])
    expected = np.sqrt(c2 * s2) * (values[0] - values[1]) / np.sqrt(both)
    assert example.correlation_of_rotated == pytest.approx(expected, rel=1e-9)
    assert example.distance_to_identity < 1e-12


def test_image_compression():
    example = run("image_compression")
    left = variances(example.patches, ddof=0)
    for k, numbers, error in zip(example.ks, example.numbers_pca, example.error_pca, strict=True):
        assert error == pytest.approx(255 * np.sqrt(left[k:].sum() / 64), rel=1e-6)
        assert numbers == 1600 * k + 64 * k + 64
    for name, errors in example.error_wavelets.items():
        assert np.allclose(errors, [thresholded(example.image, name, s) for s in example.counts], rtol=1e-6)
    assert (np.array(example.error_wrong) > 1.4 * np.array(example.error_wavelets["bior4.4"])).all()
    for line in example.sizes.values():
        counts, errors = np.array(line).T
        assert (np.diff(counts) > 0).all()
        assert (np.diff(errors) < 0).all()
        assert counts.max() < example.bytes_of_pixels
    steps = np.array(example.steps)
    assert (
        np.array(example.sizes["sym4"])[:, 1] < 255 * steps / 2
    ).all()  # rounding to multiples of an orthonormal basis
    assert (np.array(example.sizes["PCA of patches"])[:, 1] < 255 * steps / 2).all()


def thresholded(image, name, count):
    """The same by PyWavelets itself: six levels, until the filter no longer fits."""
    import pywt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # so many levels reach around the border
        codes, places = pywt.coeffs_to_array(pywt.wavedec2(image, name, "periodization", level=6))
        codes[np.abs(codes) < np.sort(np.abs(codes), axis=None)[-count]] = 0
        back = pywt.waverec2(pywt.array_to_coeffs(codes, places, "wavedec2"), name, "periodization")
    return 255 * np.sqrt(np.mean((back - image) ** 2))

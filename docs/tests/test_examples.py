"""The examples: each is run once, and its numbers are held against formulas, LAPACK, PyWavelets or scikit-learn."""

import functools
import runpy
import warnings
from pathlib import Path
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
LINES = 100


@functools.cache
def run(name):
    """What a script leaves behind, and how many figures it drew."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
        names = runpy.run_path(str(EXAMPLES / f"plot_{name}.py"))
    found = SimpleNamespace(**names, figures=[plt.figure(number) for number in plt.get_fignums()])
    for figure in found.figures:
        figure.canvas.draw()
    return found


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("plot_*.py")), ids=lambda path: path.stem)
def test_every_example_is_short_and_ends_in_a_figure(path):
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= LINES
    assert text.rstrip().endswith("plt.show()")
    assert run(path.stem.removeprefix("plot_")).figures


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


def test_curved_data():
    from sklearn.decomposition import KernelPCA

    example = run("curved_data")
    radius = np.linalg.norm(example.new, axis=1)
    possible = np.mean((radius > 0.65) == example.ring_of_new)  # a circle halfway between them
    assert example.right_by_kernel_pca >= possible - 0.005
    assert example.right_by_pca < 0.8
    assert example.right_by_narrow_kernel < 0.8
    assert 0.8 < example.ratio_of_variances <= 1
    assert example.largest_difference < 1e-10
    peer = KernelPCA(2, kernel="rbf", gamma=3.0).fit(example.X).transform(example.new)
    found = example.kernel_pca.transform(example.new)
    assert np.allclose(np.abs(peer), np.abs(found), atol=1e-8)


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

"""Standard errors by formulas against closed forms and simulated samples."""

import numpy as np
import pytest

from helpers.counts import usually
from ritz import PCA
from ritz.errors import DataError

ROOTS = np.sqrt([8.0, 3.0, 1.0, 0.5])
TURN = np.linalg.qr(np.random.default_rng(5).standard_normal((4, 4)))[0]


def rows(law, n, rng):
    shape = (n, 4)
    Z = {
        "normal": lambda: rng.standard_normal(shape),
        "uniform": lambda: rng.uniform(-np.sqrt(3), np.sqrt(3), shape),
        "skewed": lambda: rng.exponential(size=shape) - 1,
    }[law]()
    return Z * ROOTS @ TURN


def simulated(law, n, scale):
    """Standard deviations of variances, shares and cumulated shares, and mean squares of sines, over samples."""
    rng, big = np.random.default_rng(0), rows(law, 200_000, np.random.default_rng(1))
    truth = PCA(4, scale=scale).fit(big).components_
    found = []
    for _ in range(usually(400, thorough=4000)):
        pca = PCA(4, scale=scale, svd_solver="covariance").fit(rows(law, n, rng))
        shares = pca.explained_variance_ratio_
        sines = 1 - np.einsum("ij,ij->i", pca.components_, truth) ** 2
        found.append([pca.explained_variance_[:2], shares[:2], np.cumsum(shares)[:2], sines[:2]])
    found = np.array(found)
    return [*found[:, :3].std(axis=0), np.sqrt(found[:, 3].mean(axis=0))]


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("law", ["normal", "uniform", "skewed"])
def test_errors_are_those_of_simulated_samples(law, scale):
    n = 1500
    expected = simulated(law, n, scale)
    X = rows(law, 60_000, np.random.default_rng(2))  # moments that are known well, brought to n rows
    found = PCA(2, scale=scale).fit(X).sampling(X if law != "normal" else None)
    shrink = np.sqrt(len(X) / n)
    told = (found.variance_errors, found.share_errors, found.together_errors, np.radians(found.angles))
    for name, values, truth in zip(("variances", "shares", "together", "angles"), told, expected, strict=True):
        if not (scale and name == "angles"):  # where the scales of directions left out are taken as known
            np.testing.assert_allclose(values * shrink, truth, rtol=0.15, err_msg=name)
    if scale:
        whole = PCA(4, scale=True).fit(X).sampling(X if law != "normal" else None)
        np.testing.assert_allclose(np.radians(whole.angles[:2]) * shrink, expected[3], rtol=0.2)


def test_normal_rows_have_the_closed_form():
    pca = PCA.from_covariance(np.diag([4.0, 1.0, 0.5]), n_components=3, n_rows=2000)
    found = pca.sampling()
    np.testing.assert_allclose(found.variance_errors, np.array([4.0, 1, 0.5]) * np.sqrt(2 / 2000))
    sine = np.sqrt((4 * 1 / 9 + 4 * 0.5 / 3.5**2) / 2000)
    assert np.sin(np.radians(found.angles[0])) == pytest.approx(sine, rel=0.01)
    assert found.law == "normal"
    assert found.notes == ()


def test_the_whole_spectrum_is_used_where_moments_know_it():
    """Variances left out that are far from equal count one by one."""
    values = np.array([5.0, 4.0, *[0.01] * 8])
    X = np.random.default_rng(0).standard_normal((2000, 10)) * np.sqrt(values)
    found = PCA(1, svd_solver="covariance").fit(X).sampling()
    assert np.sin(np.radians(found.angles[0])) == pytest.approx(np.sqrt(20 / 2000), rel=0.25)
    assert not any("taken as equal" in note for note in found.notes)


def test_what_is_not_known_is_said():
    X = np.random.default_rng(0).standard_normal((60, 200)) * [8, 5, *[1] * 198]
    found = PCA(2).fit(X).sampling()
    said = str(found)
    assert "are taken as equal" in said
    assert "60 rows are few for 200 columns" in said
    assert (found.corrected < found.variances).all()
    assert (found.bias > 0).all()
    noise = PCA(1).fit(np.random.default_rng(0).standard_normal((60, 200))).sampling()
    assert np.isnan(noise.shrinkage).all()
    assert "not determined" in str(noise)


@pytest.mark.parametrize("size", [1e-200, 1e8, 1e200])
def test_relative_errors_do_not_depend_on_the_unit(size):
    X = rows("skewed", 200, np.random.default_rng(0))
    here, there = (PCA(2).fit(Y).sampling(Y) for Y in (X, X * size))
    np.testing.assert_allclose(there.share_errors, here.share_errors, rtol=1e-6)
    np.testing.assert_allclose(there.angles, here.angles, rtol=1e-5)
    if size == 1e8:
        np.testing.assert_allclose(there.variance_errors, here.variance_errors * size**2, rtol=1e-6)


def test_results_become_frames():
    X = rows("normal", 100, np.random.default_rng(0))
    frame = PCA(2).fit(X).sampling(X).to_frame()
    assert list(frame.index) == ["PC1", "PC2"]
    assert "axis ±" in frame


def test_models_that_cannot_tell():
    with pytest.raises(DataError, match="number of rows"):
        PCA.from_covariance(np.eye(2) + 1, n_components=1).sampling()
    X = rows("normal", 100, np.random.default_rng(0))
    pca = PCA(2).fit(X)
    with pytest.raises(DataError, match="not those of the fit"):
        pca.sampling(X + 1)


@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
def test_the_smallest_data_has_an_answer():
    for X in ([[1.0], [2.0]], [[1.0, 2.0], [3.0, 5.0]], np.ones((4, 2))):
        found = PCA(1).fit(X).sampling(X)
        assert np.isfinite(found.variance_errors).all()
        assert np.isfinite(found.angles).all()
        assert str(found)


def test_where_nothing_is_too_large_nothing_is_said_of_it():
    X = np.random.default_rng(0).standard_normal((50, 10)) * np.geomspace(9, 1, 10)
    assert "are few for" not in str(PCA(10).fit(X).sampling())
    assert "50 rows are few for 10 columns: variances are too large" in str(PCA(2).fit(X).sampling())

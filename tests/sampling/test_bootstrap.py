"""Resamples against LAPACK on each of them, however the rows are stored, cut, scaled and sized."""

import numpy as np
import pytest
import scipy.sparse

import ritz
from helpers.counts import usually
from ritz import PCA
from ritz.errors import DataError, ParameterError
from ritz.sampling import followed as module

RNG = np.random.default_rng(0)
TALL = RNG.standard_normal((300, 6)) * [6, 4, 2.5, 1.5, 1, 0.5] @ np.linalg.qr(RNG.standard_normal((6, 6)))[0] + 3
WIDE = RNG.standard_normal((25, 400)) + RNG.standard_normal((25, 2)) @ RNG.standard_normal((2, 400)) * [[1.0]]
INDICES = RNG.integers(0, 25, (12, 25))


def by_lapack(X, weights, k, center=True, scale=False, ddof=1):
    """Variances, axes and totals of weighted rows."""
    n, share = len(X), weights / weights.sum()
    Z = X - (share @ X if center else 0)
    if scale:
        Z = Z / np.sqrt(share @ Z**2 * n / (n - ddof))
    _, s, axes = np.linalg.svd(Z * np.sqrt(share * n / (n - ddof))[:, None], full_matrices=False)
    return s[:k] ** 2, axes[:k].T, float(np.sum(s**2))


def counts(indices, n):
    return np.stack([np.bincount(line, minlength=n) for line in indices])


@pytest.mark.parametrize("parameters", [{}, {"scale": True}, {"center": False}, {"ddof": 0}, {"whiten": True}])
@pytest.mark.parametrize("name", ["tall", "wide"])
def test_every_draw_is_that_of_lapack(name, parameters):
    X, k = (TALL, 3) if name == "tall" else (WIDE, 2)
    pca = PCA(k, **parameters).fit(X)
    indices = RNG.integers(0, len(X), (12, len(X)))
    found = ritz.bootstrap(pca, X, indices=indices)
    told = {key: value for key, value in parameters.items() if key != "whiten"}
    truth = [by_lapack(X, w, k, **told) for w in counts(indices, len(X))]
    np.testing.assert_allclose(found.draws, [values for values, *_ in truth], rtol=1e-9)
    shares = np.stack([values / total for values, _, total in truth])
    np.testing.assert_allclose(found.share_errors, shares.std(axis=0, ddof=1), rtol=1e-8)
    cosines = np.abs([np.einsum("ij,ij->j", axes, pca.components_.T) for _, axes, _ in truth])
    alone = [s for s, e in found.groups if e - s == 1]
    expected = np.degrees(np.arccos(np.minimum(cosines, 1)))
    np.testing.assert_allclose(found.angles[alone], np.median(expected, axis=0)[alone], rtol=1e-6)
    assert found.n_resamples == 12


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("name", ["tall", "wide"])
def test_standard_errors_of_loadings_are_those_of_aligned_draws(name, scale):
    X, k = (TALL, 2) if name == "tall" else (WIDE, 1)
    pca, indices = PCA(k, scale=scale).fit(X), RNG.integers(0, len(X), (20, len(X)))
    found, axes, loadings = ritz.bootstrap(pca, X, indices=indices), [], []
    assert all(e - s == 1 for s, e in found.groups)
    for w in counts(indices, len(X)):
        values, U, _ = by_lapack(X, w, k, scale=scale)
        U = U * np.where(np.einsum("ij,ij->j", U, pca.components_.T) < 0, -1, 1)
        axes.append(U)
        loadings.append(U * np.sqrt(values))
    np.testing.assert_allclose(found.axis_errors, np.std(axes, axis=0, ddof=1), rtol=1e-6)
    np.testing.assert_allclose(found.loading_errors, np.std(loadings, axis=0, ddof=1), rtol=1e-6)


def test_picked_inner_products_are_those_of_coordinates(monkeypatch):
    for center in (True, False):
        pca = PCA(2, center=center).fit(WIDE)
        one = ritz.bootstrap(pca, WIDE, indices=INDICES)
        monkeypatch.setattr("ritz.sampling.gram_side.MANY", 0)
        other = ritz.bootstrap(pca, WIDE, indices=INDICES)
        monkeypatch.undo()
        np.testing.assert_allclose(other.draws, one.draws, rtol=1e-10)
        np.testing.assert_allclose(other.loading_errors, one.loading_errors, rtol=1e-7)


def test_both_methods_say_the_same(monkeypatch):
    pca, indices = PCA(3).fit(TALL), RNG.integers(0, 300, (15, 300))
    one = ritz.bootstrap(pca, TALL, indices=indices)
    monkeypatch.setattr(module, "EXACT", 0)
    other = ritz.bootstrap(pca, TALL, indices=indices)
    assert (one.method, other.method) == ("moments", "scores")
    for name in ("draws", "angles", "variance_intervals", "share_errors", "axis_errors", "loading_errors"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-7, err_msg=name)


def test_many_columns_of_many_rows_are_replaced_by_mixtures(monkeypatch):
    """Beyond the leading directions nothing but norms counts, to first order."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((600, 120)) * np.sqrt([40, 20, *[1.0] * 118])
    pca, indices = PCA(2).fit(X), rng.integers(0, 600, (usually(60, thorough=300), 600))
    exact = ritz.bootstrap(pca, X, indices=indices)
    for name, value in (("EXACT", 0), ("FEW", 0), ("LEADING", 20), ("OTHERS", 60)):
        monkeypatch.setattr(module, name, value)
    about = ritz.bootstrap(pca, X, indices=indices)
    assert "random mixtures" in str(about)
    assert about.loading_errors.shape == (120, 2)
    np.testing.assert_allclose(about.draws, exact.draws, rtol=0.02)
    np.testing.assert_allclose(about.angles, exact.angles, rtol=0.1)
    np.testing.assert_allclose(np.linalg.norm(about.axis_errors), np.linalg.norm(exact.axis_errors), rtol=0.15)


def test_weights_that_are_all_equal_change_nothing():
    pca = PCA(2).fit(TALL)
    found = ritz.bootstrap(pca, TALL, weights=np.ones((3, 300)) * [[1.0], [2.0], [0.5]])
    np.testing.assert_allclose(found.draws, np.tile(pca.explained_variance_, (3, 1)), rtol=1e-12)
    assert found.angle_bounds.max() < 1e-5
    assert np.abs(found.bias).max() < 1e-10
    assert found.kind == "the weights given"


def test_indices_and_weights_say_the_same():
    pca = PCA(2).fit(WIDE)
    one = ritz.bootstrap(pca, WIDE, indices=INDICES)
    other = ritz.bootstrap(pca, WIDE, weights=counts(INDICES, 25))
    np.testing.assert_array_equal(one.draws, other.draws)


@pytest.mark.parametrize("size", [1e-200, 1e8, 1e200])
def test_results_do_not_depend_on_the_unit(size):
    here = ritz.bootstrap(PCA(2).fit(TALL), TALL, 40)
    there = ritz.bootstrap(PCA(2).fit(TALL * size), TALL * size, 40)
    np.testing.assert_allclose(there.angles, here.angles, rtol=1e-5)
    np.testing.assert_allclose(there.share_intervals, here.share_intervals, rtol=1e-7)
    if size == 1e8:
        np.testing.assert_allclose(there.variance_intervals, here.variance_intervals * size**2, rtol=1e-7)


def test_a_far_offset_costs_no_digits_that_matter():
    X = np.round(TALL * 1024) / 1024
    here, there = (ritz.bootstrap(PCA(3).fit(Y), Y, 30) for Y in (X, X + 2.0**27))
    np.testing.assert_allclose(there.draws, here.draws, rtol=1e-6)


def test_rows_in_files_sparse_and_narrow_ones_say_the_same(tmp_path):
    X = np.where(RNG.random((200, 8)) < 0.5, 0.0, np.round(RNG.standard_normal((200, 8)) * np.arange(9, 1, -1), 2))
    np.save(tmp_path / "x.npy", X)
    expected = ritz.bootstrap(PCA(2).fit(X), X, 50)
    for given in (str(tmp_path / "x.npy"), scipy.sparse.csr_array(X), np.asfortranarray(X)):
        found = ritz.bootstrap(PCA(2).fit(given), given, 50)
        np.testing.assert_allclose(found.draws, expected.draws, rtol=1e-10)
        np.testing.assert_allclose(found.loading_errors, expected.loading_errors, rtol=1e-7)
    narrow = X.astype(np.float32)
    np.testing.assert_allclose(ritz.bootstrap(PCA(2).fit(narrow), narrow, 50).draws, expected.draws, rtol=1e-4)


def test_results_depend_neither_on_blocks_nor_on_threads():
    X = RNG.standard_normal((5000, 5)) * [5, 4, 3, 2, 1]
    pca = PCA(2).fit(X)
    small = ritz.read(X).limited(8 * 5 * 700, 1)
    one, other = (ritz.bootstrap(pca.subspace_, rows, 4000, random_state=1) for rows in (X, small))
    assert one.kind == "Poisson weights"
    np.testing.assert_allclose(one.draws, other.draws, rtol=1e-12)
    np.testing.assert_allclose(one.angle_bounds, other.angle_bounds, rtol=1e-9)


def test_components_that_rows_do_not_tell_apart_have_the_angle_of_their_span():
    X = np.random.default_rng(3).standard_normal((400, 5)) * np.sqrt([9, 3, 3, 0.2, 0.1])
    found = ritz.bootstrap(PCA(3).fit(X), X, 200)
    assert found.groups == ((0, 1), (1, 3))
    assert found.angles[1] == found.angles[2] < 5  # each axis alone turns by tens of degrees
    assert "not told apart: PC2–PC3" in str(found)
    assert "group" in found.to_frame()


@pytest.mark.parametrize("d", [1, 2])
def test_the_smallest_data_has_an_answer(d):
    X = np.array([[1.0, 2.0], [2.0, 5.0], [4.0, 3.0]])[:, :d]
    found = ritz.bootstrap(PCA(1).fit(X), X, 30)
    assert np.isfinite(found.variance_intervals).all()
    assert np.isfinite(found.loading_errors).all()
    assert found.variance_intervals[0, 0] <= found.variances[0] <= found.variance_intervals[0, 1]


def test_two_rows_give_one_resample_again_and_again():
    with pytest.raises(DataError, match="2 rows give one resample again and again"):
        ritz.bootstrap(PCA(1).fit([[0.0, 0.0], [2.0, 2.0]]), [[0.0, 0.0], [2.0, 2.0]], 20)


def test_few_rows_leave_resamples_that_must_be_drawn_again():
    X = [[0.0, 0.0], [2.0, 2.0], [1.0, 0.0]]
    assert "drawn again" in str(ritz.bootstrap(PCA(1).fit(X), X, 100))


def test_one_resample_is_refused():
    for given in ({"weights": np.ones((1, 300))}, {"indices": [np.arange(300)]}):
        with pytest.raises(DataError, match="one resample has no spread"):
            ritz.bootstrap(PCA(2).fit(TALL), TALL, **given)


def test_an_axis_that_a_resample_lacks_is_at_a_right_angle():
    """Three different rows span two dimensions, whatever the fourth row had."""
    X = np.random.default_rng(0).standard_normal((4, 30)) * [9, 5, 3, *[1] * 27]
    found = ritz.bootstrap(PCA(3).fit(X), X, indices=[[0, 1, 2, 2], [0, 1, 1, 3]])
    assert found.method == "scores"
    assert found.angles[2] == 90
    assert found.subspace_angles == (90, 90)


def test_constant_columns_duplicates_and_zero_variances():
    X = np.column_stack([TALL[:40, :2], np.full(40, 7.0), TALL[:40, 0]])
    with pytest.warns(ritz.AccuracyWarning):
        pca = PCA(3).fit(X)
    found = ritz.bootstrap(pca, X, 50)
    assert found.draws[:, 2].max() < 1e-9
    assert np.isfinite(found.draws).all()
    assert np.isfinite(found.variance_intervals).all()
    assert np.isfinite(found.angles).all()


def test_a_column_that_is_constant_in_a_resample_has_no_variance_there():
    X = np.column_stack([TALL[:20, 0], np.eye(20)[:, 0]])
    pca = PCA(2, scale=True).fit(X)
    found = ritz.bootstrap(pca, X, indices=[[1, *range(1, 20)], np.arange(20)])
    np.testing.assert_allclose(found.draws[0], [1, 0], atol=1e-9)
    np.testing.assert_allclose(found.draws[1], pca.explained_variance_, rtol=1e-9)


@pytest.mark.parametrize(
    ("X", "says"),
    [
        (TALL[:200], "X has 200 rows of 6 columns, but the model was fitted to 300"),
        (TALL + 1, "not those of the fit"),
        (TALL * 1.1, "not those of the fit"),
    ],
)
def test_other_rows_are_refused(X, says):
    with pytest.raises(DataError, match=says):
        ritz.bootstrap(PCA(2).fit(TALL), X)


def test_wrong_parameters_are_named():
    pca = PCA(2).fit(TALL)
    for wrong in ({"n_resamples": 1}, {"n_resamples": 2.5}, {"level": 1.0}, {"level": 0}, {"random_state": "x"}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            ritz.bootstrap(pca, TALL, **wrong)
    with pytest.raises(ParameterError, match="indices"):
        ritz.bootstrap(pca, TALL, indices=[[0, 1]], weights=np.ones((1, 300)))
    with pytest.raises(DataError, match=r"fitted ritz\.PCA"):
        ritz.bootstrap("model", TALL)
    with pytest.raises(DataError, match="number of rows"):
        ritz.bootstrap(PCA.from_covariance(np.diag([3.0, 2.0]), n_components=1), TALL[:, :2])
    with pytest.raises(DataError, match="draw 0, counted from 0, leaves 1 row"):
        ritz.bootstrap(pca, TALL, indices=[[5] * 300])


def test_the_table_says_where_noise_begins():
    X = np.random.default_rng(0).standard_normal((40, 200))
    found = ritz.bootstrap(PCA(1).fit(X), X, 50)
    assert "not above noise: PC1" in str(found)
    assert "40 rows are few for 200 columns" in str(found)


def test_more_than_memory_holds_is_refused(monkeypatch):
    X = np.random.default_rng(0).standard_normal((20, 60))
    monkeypatch.setattr(module, "ROOM", 16 * 19**2 * 5)
    assert ritz.bootstrap(PCA(5).fit(X), X, 10).method == "scores"
    with pytest.raises(DataError, match="fit 5 components or fewer"):
        ritz.bootstrap(PCA(6).fit(X), X, 10)

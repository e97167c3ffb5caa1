"""Moments against extended precision, and their merging."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.counts import usually
from helpers.matrices import preprocess
from ritz.errors import DataError
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import moments
from ritz.rows import as_rows
from ritz.rows.passes import Cut


def exact(X, center=True):
    Z = preprocess(X, center)
    return (Z.T @ Z).astype(np.float64)


def test_rounding_counts_every_addition_of_a_panel_to_the_total():
    """BLAS adds to the scatter panel by panel, however many rows a block has."""
    rows = as_rows(np.ones((64_000, 2))).limited(16 * 1000)
    (step, runs), u = rows.cut(Cut.SQUARE, 1), np.finfo(float).eps / 2
    longest = max(stop - start for start, stop in runs)
    assert longest > 4 * step
    assert moments(rows, scatter=Scatter.FLOAT64).rounding >= 4 * u * (step + (longest - step) // 256)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.uint8, np.int8, np.int64])
@pytest.mark.parametrize("offset", [0, 100])
@pytest.mark.parametrize("center", [True, False])
def test_scatter_against_extended_precision(dtype, offset, center):
    X = (np.random.default_rng(0).integers(-20, 20, (3000, 5)) + offset * (dtype != np.int8)).astype(dtype)
    found = moments(as_rows(X), center=center)
    truth = exact(X, center)
    assert found.count == 3000
    assert np.linalg.norm(found.scatter - truth, 2) <= found.rounding * found.sizes.sum() + found.audit
    np.testing.assert_allclose(found.scatter, truth, atol=1e-10 * np.trace(truth))
    if center:
        np.testing.assert_allclose(found.mean, X.astype(np.longdouble).mean(axis=0).astype(float), rtol=1e-14)
    diagonal = moments(as_rows(X), center=center, scatter=Scatter.DIAGONAL)
    np.testing.assert_allclose(diagonal.scatter, np.diagonal(truth), rtol=1e-12)


def test_a_drifting_mean_does_no_harm():
    n = 50_000
    X = np.random.default_rng(1).standard_normal((n, 3)) + np.linspace(0, 1e6, n)[:, None]
    truth = exact(X)
    np.testing.assert_allclose(moments(as_rows(X)).scatter, truth, rtol=1e-12)


def test_a_constant_column_has_exactly_no_variance():
    X = np.random.default_rng(2).standard_normal((5000, 3))
    X[:, 1] = 0.1
    found = moments(as_rows(X))
    np.testing.assert_array_equal(found.scatter[1], 0)
    assert found.mean[1] == 0.1


@settings(max_examples=usually(100, thorough=200), deadline=None)
@given(
    seed=st.integers(0, 2**32),
    sizes=st.lists(st.integers(1, 30), min_size=2, max_size=6),
    offset=st.sampled_from([0.0, 1e3, 1e8]),
    scatter=st.sampled_from([Scatter.AUDITED, Scatter.DIAGONAL]),
)
def test_any_split_merges_to_the_moments_of_the_whole(seed, sizes, offset, scatter):
    rng = np.random.default_rng(seed)
    parts = [rng.standard_normal((size, 4)) + offset for size in sizes]
    merged = moments(as_rows(parts[0]), scatter=scatter)
    for part in parts[1:]:
        merged = merged.merge(moments(as_rows(part), scatter=scatter))
    whole = np.concatenate(parts)
    truth = exact(whole)
    assert merged.count == len(whole)
    scale = 1e-13 * np.trace(truth) * (1 + offset / 1e6)
    kept = np.diagonal(truth) if scatter is Scatter.DIAGONAL else truth
    np.testing.assert_allclose(merged.scatter, kept, atol=scale + 1e-12)
    np.testing.assert_allclose(merged.mean, whole.mean(axis=0), rtol=1e-12, atol=1e-12)


def test_merging_units_far_apart():
    rng = np.random.default_rng(3)
    huge, plain = rng.standard_normal((20, 2)) * 1e200, rng.standard_normal((20, 2))
    merged = moments(as_rows(huge)).merge(moments(as_rows(plain)))
    whole = moments(as_rows(np.r_[huge, plain]))
    np.testing.assert_allclose(merged.rescaled(whole.unit).scatter, whole.scatter, rtol=1e-10)


@pytest.mark.parametrize("offset", [2**60, 5 * 2**58])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_large_integers_that_float64_holds(offset, dtype):
    small = 256 * np.random.default_rng(2).integers(0, 10_000, (200, 3))
    found = moments(as_rows((small + offset).astype(dtype)))
    np.testing.assert_allclose(found.scatter, exact(small), rtol=1e-10)
    with pytest.raises(DataError, match="which float64 cannot hold"):
        moments(as_rows((small + offset + 1).astype(dtype)))

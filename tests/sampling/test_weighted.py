"""Covariances of weighted rows, and blocks that begin where weights do."""

import numpy as np
import pytest

from ritz import PCA
from ritz.runtime.threads import team
from ritz.sampling.resamples import BLOCK, by_weights
from ritz.sampling.rows_of_fit import rows_of_fit
from ritz.sampling.weighted import aligned, columns, covariances, scaled

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("center", [True, False])
def test_covariances_are_those_of_repeated_rows(center):
    X = RNG.standard_normal((2 * BLOCK + 100, 4)) + 5
    W = RNG.integers(0, 4, (3, len(X)))
    fit = rows_of_fit(PCA(2, center=center).fit(X), X, "this")
    with team():
        [found] = covariances(fit, columns(fit), by_weights(W, len(X)))
    for C, w in zip(found, W, strict=True):
        Y = np.repeat(X, w, axis=0)
        Y = Y - Y.mean(axis=0) if center else Y
        np.testing.assert_allclose(C, Y.T @ Y / len(Y) * len(X) / (len(X) - 1), rtol=1e-10, atol=1e-10)


def test_sums_that_do_not_fit_are_made_in_more_passes(monkeypatch):
    X = RNG.standard_normal((50, 6))
    draws, fit = by_weights(RNG.integers(0, 3, (7, 50)), 50), rows_of_fit(PCA(2).fit(X), X, "this")
    with team():
        [whole] = covariances(fit, columns(fit), draws)
        monkeypatch.setattr("ritz.sampling.weighted.HELD", 60)
        parts = list(covariances(fit, columns(fit), draws))
    assert [len(part) for part in parts] == [2, 2, 2, 1]
    np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-12)


def test_correlations_have_a_diagonal_of_ones():
    A = RNG.standard_normal((2, 5, 3))
    C = np.swapaxes(A, 1, 2) @ A
    C[1, 2, :] = C[1, :, 2] = 0.0  # a constant column
    expected = C[0] / np.sqrt(np.outer(np.diagonal(C[0]), np.diagonal(C[0])))
    found = scaled(C.copy())
    np.testing.assert_allclose(found[0], expected)
    np.testing.assert_allclose(np.diagonal(found[1]), [1, 1, 0])


@pytest.mark.parametrize("sizes", [[3000], [10, 1020, 994, 976], [1024, 1024, 952], [1] * 50 + [2950]])
def test_blocks_are_aligned(sizes):
    X = np.arange(3000.0)[:, None]
    found = list(aligned(iter(np.split(X, np.cumsum(sizes)[:-1]))))
    assert [start for start, _ in found] == [0, BLOCK, 2 * BLOCK]
    np.testing.assert_array_equal(np.concatenate([block for _, block in found]), X)

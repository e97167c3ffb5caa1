"""What a row does to variances and axes, against what happens when it is weighted a little more."""

import numpy as np
import pytest

from ritz import PCA
from ritz.sampling.influence import influence
from ritz.sampling.rows_of_fit import rows_of_fit

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 5)) @ RNG.standard_normal((5, 5)) + 2
STEP = 1e-5


def decomposed(weights, scale):
    """Variances, axes and shares of rows with weights that add up to one; ddof is 0."""
    Z = X - weights @ X
    Z = Z / np.sqrt(weights @ Z**2) if scale else Z
    values, axes = np.linalg.eigh((Z * weights[:, None]).T @ Z)
    return values[::-1], axes[:, ::-1]


def moved(scale, k):
    """Derivatives of variances, of axes towards each other, of shares and cumulated ones, by the weight of each row."""
    n = len(X)
    even = np.full(n, 1 / n)
    own, U = decomposed(even, scale)
    rows = []
    for row in range(n):
        ends = []
        for sign in (1, -1):
            values, axes = decomposed((1 - sign * STEP) * even + sign * STEP * np.eye(n)[row], scale)
            axes = axes * np.where(np.einsum("ij,ij->j", axes, U) < 0, -1, 1)
            towards = U.T @ axes  # (j, i): how far axis i has turned towards j
            shares = values / values.sum()
            ends.append(np.concatenate([values[:k], towards.ravel(), shares[:k], np.cumsum(shares)[:k]]))
        rows.append((ends[0] - ends[1]) / (2 * STEP))
    rows = np.array(rows)
    towards = rows[:, k : k + 25].reshape(n, 5, 5) * (own - own[:, None])  # g_ij of all pairs
    return own, rows[:, :k], towards, rows[:, k + 25 : k + 25 + k], rows[:, -k:]


@pytest.mark.parametrize("scale", [False, True])
def test_moments_are_those_of_the_derivatives(scale):
    k = 3
    found = influence(rows_of_fit(PCA(k, scale=scale, ddof=0).fit(X), X, "this"))
    _, values, pairs, shares, together = moved(scale, k)
    np.testing.assert_allclose(found.second, (values**2).mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(found.third, (values**3).mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(found.share, (shares**2).mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(found.together, (together**2).mean(axis=0), rtol=1e-4)
    expected = (pairs**2).mean(axis=0)
    off = ~np.eye(k, dtype=bool)
    np.testing.assert_allclose(found.pairs[off], expected[:k, :k][off], rtol=1e-4)
    if not scale:  # of directions left out, scales are taken as known
        np.testing.assert_allclose(found.rest, expected[k:, :k].sum(axis=0), rtol=1e-4)

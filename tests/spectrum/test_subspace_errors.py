"""Squared errors of dense rows, however they are computed, against arithmetic with more digits."""

import numpy as np
import pytest

from ritz import PCA

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("k", [3, 4])  # the mean is one more column of the product, or multiplied by itself
@pytest.mark.parametrize("mean", [0.0, 3.0, 300.0, 1e5])  # the last is subtracted from the rows first
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("noise", [1.0, 1e-5])
def test_errors_have_all_their_digits(k, mean, scale, noise):
    X = RNG.standard_normal((400, k)) @ RNG.standard_normal((k, 9)) * 3 + noise * RNG.standard_normal((400, 9)) + mean
    pca = PCA(k, scale=scale).fit(X)
    new = X[:50].copy()
    new[7] = pca.inverse_transform(pca.transform(new[7:8]))[0]  # nothing but rounding is left of it
    long = np.longdouble
    Z = (new.astype(long) - pca.mean_.astype(long)) / (pca.scale_.astype(long) if scale else long(1))
    U = pca.components_.T.astype(long)
    expected = ((Z - Z @ U @ U.T) ** 2).sum(axis=1).astype(float)
    found = pca.reconstruction_error(new)
    # The rounding of a row, and of the mean, is part of the row.
    grain = (1e-15 * (1 + mean)) ** 2 * 1e4
    assert np.allclose(found, expected, rtol=1e-9 * max(1.0, mean * 1e-3 / noise), atol=grain)
    assert found[7] < 1e-12 * (1 + mean)


def test_which_way_is_taken():
    X = RNG.standard_normal((200, 6)) * [9, 5, 1, 1, 1, 1]
    assert PCA(2).fit(X + 2).subspace_._mean_may_wait
    assert not PCA(2).fit(X + 1e5).subspace_._mean_may_wait
    assert PCA(2, scale=True).fit(X).subspace_._mean_may_wait
    assert not PCA(2, scale=True).fit(X * [1, 1, 1e-12, 1, 1, 1]).subspace_._mean_may_wait  # nor may squares underflow
    assert not PCA(2).fit(X * [1, 1, 1e-6, 1e-6, 1e-6, 1e-6]).subspace_._mean_may_wait  # differences would cancel

"""Published numbers, to their printed digits, with default settings."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ritz import PCA

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def arrests():
    return pd.read_csv(DATA / "usarrests.csv", index_col=0)


def test_usarrests_scaled(arrests):
    pca = PCA(scale=True).fit(arrests)
    deviations = np.sqrt(pca.explained_variance_)
    np.testing.assert_allclose(deviations, [1.5748783, 0.9948694, 0.5971291, 0.4164494], atol=5e-8)
    np.testing.assert_allclose(np.abs(pca.components_[0]), [0.5358995, 0.5831836, 0.2781909, 0.5434321], atol=5e-8)


def test_usarrests_unscaled(arrests):
    expected = [7011.114851, 201.992366, 42.112651, 6.164246]
    np.testing.assert_allclose(PCA().fit(arrests).explained_variance_, expected, atol=5e-7)


def test_decathlon_scaled_divided_by_n():
    table = pd.read_csv(DATA / "decathlon.csv", index_col=0)
    expected = [
        3.2719055, 1.7371310, 1.4049167, 1.0568504, 0.6847735,
        0.5992687, 0.4512353, 0.3968766, 0.2148149, 0.1822275,
    ]  # fmt: skip
    np.testing.assert_allclose(PCA(scale=True, ddof=0).fit(table).explained_variance_, expected, atol=5e-8)


@pytest.mark.parametrize("solver", ["auto", "covariance", "svd", "gram"])
@pytest.mark.parametrize(("base", "digits"), [(1_000_000, 9), (10_000_000, 8)], ids=["NumAcc3", "NumAcc4"])
def test_nist_numerical_accuracy(base, digits, solver):
    y = np.r_[base + 0.2, np.tile([base + 0.1, base + 0.3], 500)].reshape(-1, 1)
    pca = PCA(svd_solver=solver).fit(y)
    assert abs(np.sqrt(pca.explained_variance_[0]) - 0.1) < 0.5 * 10.0**-digits
    assert abs(pca.mean_[0] - (base + 0.2)) < 1e-8 * base * 1e-1


def test_nist_lew():
    y = np.loadtxt(DATA / "lew.txt").reshape(-1, 1)
    np.testing.assert_allclose(np.sqrt(PCA().fit(y).explained_variance_), [277.332168044316], rtol=1e-14)

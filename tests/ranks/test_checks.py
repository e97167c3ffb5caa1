"""What is measured in the noise of rows: planted differences of columns and rows, tails, and order."""

import numpy as np
import pytest
from scipy.signal import lfilter

from ritz.fitting.request import Request
from ritz.linalg.dense import svd
from ritz.pca import auto_rank
from ritz.ranks.checks import Facts, measured
from ritz.rows import as_rows


def facts(E, sizes=(), center=True):
    n, d = E.shape
    rng = np.random.default_rng(9)
    U, V = (np.linalg.qr(rng.standard_normal((m, len(sizes))))[0] for m in (n, d))
    X = E + (U * sizes) @ V.T + 100 * center
    flips, unit = auto_rank.prepared(as_rows(X), Request("auto", center))
    Z = (X - center * X.mean(axis=0)) / unit
    _, s, axes = svd(Z)
    return measured(flips, axes[:, : len(sizes)], s[: len(sizes)] ** 2, center)


def noise(seed, n, d):
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.mark.parametrize("sizes", [(), (3000.0, 300.0)])
@pytest.mark.parametrize("shape", [(500, 30), (30, 500), (100, 100)])
def test_white_noise_is_seen_to_be_white(shape, sizes):
    found = facts(noise(0, *shape), sizes)
    assert found.white
    assert not found.heavy
    assert not found.ordered
    assert abs(found.tails) < 0.3


@pytest.mark.parametrize("sizes", [(), (3000.0,)])
def test_columns_and_rows_that_differ(sizes):
    # From the 10 % to the 90 % quantile of 1 to 10 (deviations), on a logarithmic scale: 10^0.8 squared is 40.
    columns, rows = np.geomspace(1, 10, 40), np.geomspace(1, 10, 400)[:, None]
    found = facts(noise(0, 400, 40) * columns, sizes)
    assert 20 < found.columns < 60
    assert not found.rows > 1.5
    found = facts(noise(0, 400, 40) * rows, sizes)
    assert 15 < found.rows < 60
    assert found.alike
    assert not found.white


def test_heavy_tails():
    rng = np.random.default_rng(0)
    assert facts(rng.standard_t(2, (500, 50))).heavy
    assert not facts(rng.standard_t(9, (500, 50))).heavy
    # The kurtosis of a Laplace variable is 3; rows that are divided by their own size lose some of it.
    assert 2 < facts(rng.laplace(size=(900, 60))).tails < 3.2


def test_rows_of_a_time_series_follow_each_other():
    E = lfilter([1.0], [1.0, -0.7], noise(0, 600, 30), axis=0)
    assert facts(E).follows == pytest.approx(0.7, abs=0.05)
    assert facts(E).ordered
    assert not facts(np.random.default_rng(1).permutation(E)).ordered


@pytest.mark.parametrize("shape", [(3, 2), (20, 3), (5, 3)])
def test_too_little_to_tell(shape):
    found = facts(noise(0, *shape))
    assert np.isnan([found.columns, found.rows, found.tails]).all()
    assert found.white
    assert not found.heavy
    assert not found.ordered


def test_constant_columns_are_left_aside():
    E = noise(0, 300, 30)
    E[:, 4] = 0.0
    assert facts(E).alike


def test_what_is_unknown_is_not_held_against_rows():
    unknown = Facts(*[float("nan")] * 4)
    assert unknown.white
    assert not unknown.heavy
    assert not unknown.ordered

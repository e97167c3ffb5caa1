"""How often limits are exceeded by chance, in simulations with a fixed seed.

`python -m benchmarks monitoring` has more of them.
"""

import numpy as np
import pytest
from scipy import stats

from helpers.counts import usually
from ritz import PCA, AccuracyWarning

FITS = usually(30, thorough=400)
CASES = {
    "four rows per column": (40, 10, 2, np.r_[20.0, 8.0, np.ones(8)]),
    "two rows per column": (40, 20, 3, np.r_[30.0, 15.0, 8.0, np.ones(17)]),
    "a slow decay": (60, 30, 4, 1 / np.arange(1.0, 31)),
    "fewer rows than columns": (40, 80, 2, np.r_[60.0, 30.0, np.ones(78)]),
    "many rows": (2000, 10, 2, 0.6 ** np.arange(10)),
}


def beyond(found):
    """Shares of rows beyond limits, in units of their level: T² at 5 %, 1 %, SPE at 5 %, 1 %."""
    return [np.mean(flag > i) / a for flag in (found.t2_flags, found.spe_flags) for i, a in enumerate(found.alpha)]


@pytest.mark.parametrize("case", usually(["two rows per column", "many rows"], thorough=list(CASES)))
def test_new_rows_exceed_limits_as_often_as_they_promise(case):
    """Within 20 %, and what chance leaves open: each fit has its own rate, so rates of fits are what is averaged."""
    n, d, k, variances = CASES[case]
    rng, found = np.random.default_rng(5), []
    for _ in range(FITS):
        X, new = (rng.standard_normal((rows, d)) * np.sqrt(variances) for rows in (n, 1000))
        found.append(beyond(PCA(k).fit(X).monitor(new)))
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(FITS)
    assert (np.abs(mean - 1) < 0.2 + 2.5 * error).all(), (mean, error)
    assert (error < 0.3).all()


def test_near_ties_at_the_last_component_do_not_make_limits_of_new_rows_vanish():
    """Normal rows whose second and third variances are made nearly equal."""
    rng = np.random.default_rng(11)
    X = rng.standard_normal((400, 10))
    U = np.linalg.qr(X - X.mean(axis=0))[0]
    limits = []
    for gap in (1.0, 1e-3, 1e-5):
        X = np.sqrt(399.0) * U * np.sqrt(np.r_[5.0, 1.0 + gap, np.linspace(1.0, 0.5, 8)])
        limits.append(PCA(2).fit(X).monitor(X[:3], rows="new").limits["limit"][:2])
    assert (np.array(limits) > 0.8 * np.array(limits[0])).all(), limits


def test_ties_of_a_design_leave_the_textbook_limits():
    """Of several axes that are as good, a fit without a row takes those on which it has no score: limits would be 0."""
    design = np.vstack([np.eye(4), -np.eye(4)])
    with pytest.warns(AccuracyWarning, match="not unique"):
        pca = PCA(2).fit(design)
    found = pca.monitor(1.1 * design, rows="new")
    k, n = 2, 8
    expected = k * (n**2 - 1) / (n * (n - k)) * stats.f.isf([0.05, 0.01], k, n - k)
    assert np.allclose(found.limits["limit"][:2], expected)
    assert np.allclose(found.limits["limit"][2:], 2 / 7 * stats.chi2.isf([0.05, 0.01], 2))
    assert not found.flags.any()


@pytest.mark.parametrize("case", ["two rows per column", "fewer rows than columns"])
def test_rows_of_the_fit_exceed_theirs_as_often(case):
    n, d, k, variances = CASES[case]
    rng, counts = np.random.default_rng(6), np.zeros(4)
    for _ in range(FITS):
        X = rng.standard_normal((n, d)) * np.sqrt(variances)
        found = PCA(k).fit(X).monitor(X, rows="fit")
        counts += [np.sum(flag > i) for flag in (found.t2_flags, found.spe_flags) for i in range(2)]
    for count, alpha in zip(counts, [0.05, 0.01] * 2, strict=True):
        assert 1e-3 < stats.binom.cdf(count, n * FITS, alpha) < 1 - 1e-3


def test_textbook_limits_do_not_hold_where_rows_are_few():
    """Why they are not the default: SPE of new rows is beyond theirs twice as often as it should be, and T² seldom."""
    n, d, k, variances = CASES["two rows per column"]
    rng, found = np.random.default_rng(7), []
    for _ in range(10):
        X, new = (rng.standard_normal((rows, d)) * np.sqrt(variances) for rows in (n, 1000))
        found.append(beyond(PCA(k).fit(X).monitor(new, limits="jm")))
    assert np.mean(found, axis=0)[2] > 1.6


def test_quantiles_of_the_fit_hold_for_heavy_tails_and_normal_limits_do_not():
    rng = np.random.default_rng(8)
    X, new = (rng.standard_t(3, (rows, 8)) * [5, 4, 1, 1, 1, 1, 1, 1] for rows in (20_000, 20_000))
    pca = PCA(2).fit(X)
    empirical = beyond(pca.monitor(new, limits="empirical", reference=pca.monitor(X)))
    assert np.allclose(empirical, 1.0, atol=0.2)
    assert beyond(pca.monitor(new))[3] > 2

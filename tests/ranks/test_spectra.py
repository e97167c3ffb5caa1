"""Rules of a spectrum: against their definitions written out, published thresholds, and the errors they minimise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from ritz.fitting.rank import hard_threshold
from ritz.ranks import spectra

variances = st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=15).map(lambda some: np.array(sorted(some)[::-1]))


@pytest.mark.parametrize("count", [1, 2, 5, 30])
def test_pieces_of_a_broken_stick(count):
    pieces = spectra.broken_stick(np.ones(1), count)[1]
    assert np.allclose(pieces, [sum(1 / j for j in range(i, count + 1)) / count for i in range(1, count + 1)])
    assert pieces.sum() == pytest.approx(1)
    # By simulation: the mean of the sorted pieces of a stick that breaks at uniform places.
    places = np.sort(np.random.default_rng(0).random((20_000, count - 1)), axis=1)
    cut = np.diff(np.concatenate([np.zeros((20_000, 1)), places, np.ones((20_000, 1))], axis=1), axis=1)
    assert np.allclose(np.sort(cut, axis=1)[:, ::-1].mean(axis=0), pieces, atol=5e-3)


@settings(deadline=None)
@given(variances, st.sampled_from([1e-200, 1.0, 1e200]))
def test_the_profile_likelihood_by_its_definition(values, unit):
    p, best = len(values), []
    for q in range(1, p):
        first, second = values[:q], values[q:]
        squares = np.sum((first - first.mean()) ** 2) + np.sum((second - second.mean()) ** 2)
        deviation = np.sqrt(squares / (p - 2))
        if deviation < 1e-6 * values[0]:
            return  # two groups that fit exactly: all such are as likely
        likelihood = norm.logpdf(first, first.mean(), deviation).sum()
        best.append(likelihood + norm.logpdf(second, second.mean(), deviation).sum())
    found = spectra.profile_likelihood(values * unit)
    assert best[found - 1] == pytest.approx(max(best), rel=1e-6, abs=1e-6)


def test_two_groups_that_fit_exactly():
    assert spectra.profile_likelihood(np.array([4.0, 4.0, 4.0, 1.0, 1.0])) == 3
    assert spectra.profile_likelihood(np.array([4.0, 1.0, 0.0])) in (1, 2)


@pytest.mark.parametrize(("n", "d"), [(800, 800), (2000, 500), (500, 2000)])
def test_screenot_finds_the_threshold_of_white_noise(n, d):
    rng, least = np.random.default_rng(0), min(n, d)
    Y = rng.standard_normal((n, d)) / np.sqrt(max(n, d))
    Y += 5 * np.outer(*(w / np.linalg.norm(w) for w in (rng.standard_normal(n), rng.standard_normal(d))))
    singular = np.linalg.svd(Y, compute_uv=False)
    bar = spectra.screenot(singular, n, d, 20)
    assert bar == pytest.approx(hard_threshold(least / max(n, d)), rel=0.02)
    assert np.count_nonzero(singular > bar) == 1


@pytest.mark.parametrize("unit", [1e-150, 1e-9, 1e9, 1e150])
def test_screenot_is_relative(unit):
    singular = np.linalg.svd(np.random.default_rng(0).standard_normal((60, 90)), compute_uv=False)
    assert spectra.screenot(singular * unit, 60, 90, 9) / unit == pytest.approx(
        spectra.screenot(singular, 60, 90, 9), rel=1e-9
    )


def test_screenot_keeps_the_squared_error_least():
    """Against every threshold there is: the errors of keeping 0, 1, 2, … components, in correlated noise."""
    n, d, excess = 400, 300, []
    columns = np.where(np.arange(d) < d // 2, 1.0, 3.0)
    rows = np.geomspace(1, 3, n)[:, None]
    for seed in range(5):
        rng = np.random.default_rng(seed)
        E = rng.standard_normal((n, d)) * columns * rows
        U, V = (np.linalg.qr(rng.standard_normal((m, 5)))[0] for m in (n, d))
        S = np.linalg.norm(E, 2) * (U * [2.5, 1.8, 1.3, 0.9, 0.5]) @ V.T
        P, s, Qt = np.linalg.svd(S + E, full_matrices=False)
        errors = [np.linalg.norm(S - (P[:, :k] * s[:k]) @ Qt[:k]) ** 2 for k in range(12)]
        kept = int(np.count_nonzero(s > spectra.screenot(s, n, d, 20)))
        excess.append(errors[kept] / min(errors) - 1)
    assert np.mean(excess) < 0.06
    assert np.max(excess) < 0.15


@pytest.mark.parametrize("most", [0, 5, 50])
def test_screenot_needs_values_behind_those_that_may_be_components(most):
    with pytest.raises(ValueError, match=f"most={most} must be between 1 and 4"):
        spectra.screenot(np.arange(10, 0, -1.0), 10, 20, most)


@pytest.mark.parametrize(("n", "d"), [(60, 8), (8, 60), (5, 5), (40, 2)])
def test_random_tables_have_the_spectra_of_normal_ones(n, d):
    null = spectra.reference(n, d, 3, 0.5, 0)
    shares = []
    for seed in range(400):
        s = np.linalg.svd(np.random.default_rng(seed).standard_normal((n, d)), compute_uv=False) ** 2
        shares.append((s / s.sum())[:3])
    # Medians of 59 tables err by some percent.
    assert np.allclose(null, np.median(shares, axis=0), rtol=0.1)


def test_random_tables_of_one_column():
    assert spectra.reference(30, 1, 5, 0.95, 0) == pytest.approx([1.0])

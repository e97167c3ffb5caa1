"""Normal theory against simulations, and the spiked model against its own forward map."""

import numpy as np
import pytest

from helpers.counts import usually
from ritz import PCA, load
from ritz.spectrum.sample import Rest, axis_angles, population, separated, unbiased


def drawn(rng, n, values):
    X = rng.standard_normal((n, len(values))) * np.sqrt(values)
    _, s, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return s**2 / (n - 1), axes


@pytest.mark.parametrize(
    ("n", "values"),
    [
        (1000, [20.0, 10, 5, *[1.0] * 17]),
        (100, [20.0, 10, 5, *[1.0] * 17]),
        (400, 20 / np.arange(1.0, 41)),
        (50, [200.0, 100, *[1.0] * 298]),
    ],
)
def test_angles_are_those_of_simulated_samples(n, values):
    rng, values, k = np.random.default_rng(0), np.asarray(values), 2
    turned, told = [], []
    for _ in range(usually(60, thorough=400)):
        found, axes = drawn(rng, n, values)
        turned.append(1 - np.diagonal(axes[:k, :k]) ** 2)
        rest = Rest(float(found[k:].sum()), len(values) - k)
        told.append(axis_angles(found[:k], rest, n, ((0, 1), (1, 2)), float(found[k])))
    assert np.median(told, axis=0) == pytest.approx(np.sqrt(np.mean(turned, axis=0)), rel=0.2)


@pytest.mark.parametrize("gamma", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("noise", [1.0, 1e-9])
def test_population_undoes_the_bias_of_the_spiked_model(gamma, noise):
    n, spikes = 100_001, np.array([80.0, 30.0])
    directions = int(gamma * (n - 1))
    biased = spikes * (1 + gamma / (spikes - 1))
    rest = directions - float((biased - spikes).sum())  # what they have too much, the noise lacks
    found = population(biased * noise, Rest(rest * noise, directions), n)
    assert found == pytest.approx(spikes * noise, rel=1e-3)


def test_noise_is_called_noise_in_nineteen_samples_of_twenty():
    rng, called = np.random.default_rng(0), []
    for _ in range(usually(200, thorough=2000)):
        found, _ = drawn(rng, 60, np.ones(40))
        called.append(np.isnan(population(found[:1], Rest(float(found[1:].sum()), 39), 60)[0]))
    assert 0.88 <= np.mean(called) <= 0.99


def test_equal_variances_are_told_apart_once_in_twenty_times():
    rng = np.random.default_rng(0)
    apart = [len(separated(drawn(rng, 200, np.ones(2))[0], 200)) == 2 for _ in range(usually(600, thorough=4000))]
    assert 0.02 <= np.mean(apart) <= 0.08


def test_clearly_different_variances_are_told_apart():
    assert separated(np.array([9.0, 5.0, 2.0]), 500) == ((0, 1), (1, 2), (2, 3))
    assert separated(np.array([1.0, 0.0]), 10) == ((0, 1), (1, 2))
    assert separated(np.array([0.0, 0.0]), 10) == ((0, 2),)
    assert separated(np.zeros(0), 10) == ()


def test_bias_of_kept_values_is_taken_out():
    rng, n, values = np.random.default_rng(1), 60, np.array([4.0, 2.0, 1.0])
    groups, rest = tuple((i, i + 1) for i in range(3)), Rest(0.0, 0)
    found = [drawn(rng, n, values)[0] for _ in range(usually(6000, thorough=20000))]
    raw, better = np.mean(found, axis=0), np.mean([unbiased(f, rest, n, groups) for f in found], axis=0)
    assert (np.abs(better - values) < 0.6 * np.abs(raw - values)).all()


def test_a_certificate_names_what_rows_do_not_tell_apart():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6)) * np.sqrt([30.0, 5, 5, 1, 0.1, 0.1])
    certificate = PCA(4).fit(X).certificate_
    assert certificate.sampling_groups == ((0, 1), (1, 3), (3, 4))
    assert (certificate.sampling_angles < 0.2).all()  # out of the span of the group, not within it
    assert "they do not tell PC2–PC3 apart" in str(certificate)


def test_a_group_that_goes_on_beyond_the_components_is_not_determined():
    X = np.random.default_rng(0).standard_normal((80, 20))
    certificate = PCA(3).fit(X).certificate_
    assert (certificate.sampling_angles == 1).all()
    assert "not determined" in str(certificate)


@pytest.mark.parametrize("size", [1e200, 1e-200, 1e8])
def test_angles_do_not_depend_on_the_unit(size):
    X = np.random.default_rng(0).standard_normal((100, 4)) * [4, 3, 2, 1]
    here, there = PCA(3).fit(X).certificate_, PCA(3).fit(X * size).certificate_
    np.testing.assert_allclose(there.sampling_angles, here.sampling_angles, rtol=1e-6)
    assert there.sampling_groups == here.sampling_groups


def test_variances_that_are_too_large_are_told():
    """ℓ = 25 and γ = 3: λ is near 25(1 + 3/24), and 12.5 % too large."""
    X = np.random.default_rng(0).standard_normal((400, 1200)) * [5.0, *[1.0] * 1199]
    certificate = PCA(1).fit(X).certificate_
    assert certificate.sample.excess() == pytest.approx(3 / 24, rel=0.15)
    assert "few rows for so many columns: variances too large by up to 1" in str(certificate)
    assert "few rows" not in str(PCA(1).fit(X[:, :20]).certificate_)


def test_scales_are_said_to_be_taken_as_known():
    X = np.random.default_rng(0).standard_normal((80, 3)) * [3, 2, 1]
    assert "80 independent normal rows and known scales" in str(PCA(2, scale=True).fit(X).certificate_)
    assert "known scales" not in str(PCA(2).fit(X).certificate_)


def test_a_loaded_model_says_the_same(tmp_path):
    pca = PCA(2).fit(np.random.default_rng(0).standard_normal((50, 5)) * [5, 4, 3, 2, 1])
    pca.save(tmp_path / "model")
    assert str(load(tmp_path / "model").certificate_) == str(pca.certificate_)


def test_a_covariance_without_rows_has_no_sample():
    certificate = PCA.from_covariance(np.diag([3.0, 2.0, 1.0]), n_components=2).certificate_
    assert certificate.sampling_angles is None
    assert certificate.sampling_groups is None
    assert "sampling" not in str(certificate)
    known = PCA.from_covariance(np.diag([3.0, 2.0, 1.0]), n_components=3, n_rows=600).certificate_
    assert known.sampling_angles[2] == pytest.approx(np.sqrt((3 / 4 + 2) / 600), rel=0.02)


@pytest.mark.parametrize("shape", [(100, 300), (50, 60), (12, 9)])
def test_what_is_above_noise_does_not_depend_on_how_many_components_were_kept(shape):
    """As many as the rows have degrees of freedom leave nothing out, and yet tell nothing of noise."""
    n, d = shape
    X = np.random.default_rng(3).standard_normal(shape) * [12.0, 7.0, *[1.0] * (d - 2)]
    few = PCA(2).fit(X).sampling()
    for k in (3, d // 3, min(n - 1, d)):
        many = PCA(k).fit(X).sampling()
        np.testing.assert_allclose(many.shrinkage[:2], few.shrinkage, atol=0.02)
        np.testing.assert_allclose(many.angles[:2], few.angles, rtol=0.15)
        assert np.isnan(many.shrinkage[-1])
        assert many.angles[-1] == 90


@pytest.mark.parametrize("n", [2, 3, 4])
def test_axes_that_span_all_rows_are_not_determined(n):
    certificate = PCA(n - 1).fit(np.random.default_rng(0).standard_normal((n, 20))).certificate_
    assert (certificate.sampling_angles == 1).all()


def test_rows_of_exact_rank_have_no_noise():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3)) * [3, 2, 1] @ rng.standard_normal((3, 200))
    found = PCA(3).fit(X).sampling()
    np.testing.assert_allclose(found.shrinkage, 1.0, rtol=1e-9)


def test_few_rows_that_are_noise_have_none_above_it():
    rng, called = np.random.default_rng(0), []
    for _ in range(usually(100, thorough=1000)):
        values, _ = drawn(rng, 30, np.ones(60))
        called.append(np.isnan(population(values[:29], Rest(0.0, 31), 30)).all())
    assert np.mean(called) >= 0.88

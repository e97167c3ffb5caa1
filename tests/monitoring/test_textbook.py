"""Limits as they are printed: People, 32 × 12 autoscaled, by PLS_Toolbox and mdatools (test-ldecomplimits.R)."""

import numpy as np
import pytest
from scipy import stats

from helpers.monitoring import people
from ritz import PCA, DataError
from ritz.monitoring import textbook
from ritz.monitoring.textbook import Freedom, PowerSums

N, D = 32, 12
EIGENVALUES = [6.429692, 2.242551, 1.617699, 0.997988, 0.318660, 0.165229]
EIGENVALUES += [0.099393, 0.054994, 0.027449, 0.024139, 0.015199, 0.007007]
JM_5 = [13.98208375, 8.91523789, 4.86682122, 1.81125667, 0.98188720, 0.57560902]
JM_5 += [0.32312846, 0.18598893, 0.12950361, 0.06958773, 0.02625457]
JM_GAMMA = [37.92391547, 27.28432368, 18.46348557, 5.51382242]
BOX_5 = [9.912355, 7.559694, 3.839082, 1.873869]  # with real degrees of freedom
PRINTED_T2 = [4.15961510, 6.85271430, 9.40913034, 12.01947857, 14.76453307, 17.69939358]
NEW_T2 = [4.289603, 7.066862, 9.703166, 12.395087]
FIT_T2 = [3.665596, 5.605540, 7.206230, 8.643198]
GAMMA = 1 - 0.99 ** (1 / N)


def limits(k, alpha, method, rows="fit"):
    X, _ = people()
    pca = PCA(scale=True).fit(X)
    found = pca.monitor(X, k=k, alpha=alpha, limits=method, rows=rows)
    return found.limits["limit"]


def test_eigenvalues():
    assert np.allclose(PCA(scale=True).fit(people()[0]).explained_variance_, EIGENVALUES, atol=6e-7, rtol=0)


@pytest.mark.parametrize("k", range(1, D))
def test_jackson_and_mudholkar(k):
    assert limits(k, 0.05, "jm")[1] == pytest.approx(JM_5[k - 1], abs=6e-9)
    if k <= len(JM_GAMMA):
        assert limits(k, GAMMA, "jm")[1] == pytest.approx(JM_GAMMA[k - 1], abs=6e-9)


@pytest.mark.parametrize("k", range(1, 5))
def test_box_by_the_moments_of_spe_has_real_degrees_of_freedom(k):
    assert limits(k, 0.05, "moments")[1] == pytest.approx(BOX_5[k - 1], abs=6e-7)


@pytest.mark.parametrize(("k", "printed"), enumerate([9.25512512, 7.37431769, 3.64879767, 1.55968461], start=1))
def test_box_as_printed_has_floored_degrees_of_freedom(k, printed):
    """u/ν χ²(⌊ν⌋), which PLS_Toolbox and mdatools print, follows from the same mean u and the same ν."""
    X, _ = people()
    found = PCA(scale=True).fit(X).monitor(X, k=k, alpha=0.05, limits="moments")
    h = 2 * found.spe.mean() ** 2 / found.spe.var(ddof=1)
    floored = found.limits["limit"][1] * stats.chi2.isf(0.05, np.floor(h)) / stats.chi2.isf(0.05, h)
    assert floored == pytest.approx(printed, abs=6e-9)


def test_box_by_eigenvalues_is_that_of_scipy():
    values = np.array(EIGENVALUES)[2:]
    g, h = (values**2).sum() / values.sum(), values.sum() ** 2 / (values**2).sum()
    assert limits(2, 0.05, "box")[1] == pytest.approx(g * stats.chi2.isf(0.05, h), rel=1e-5)


@pytest.mark.parametrize("k", range(1, 7))
def test_t2_as_printed(k):
    assert limits(k, 0.05, "pls_toolbox")[0] == pytest.approx(PRINTED_T2[k - 1], abs=2e-8)


def test_t2_as_printed_with_all_components():
    assert limits(12, 0.05, "pls_toolbox")[0] == pytest.approx(42.36299868, abs=2e-8)


@pytest.mark.parametrize("k", range(1, 5))
def test_t2_of_new_rows_and_of_rows_of_the_fit(k):
    assert limits(k, 0.05, "jm", "new")[0] == pytest.approx(NEW_T2[k - 1], abs=6e-7)
    assert limits(k, 0.05, "jm", "fit")[0] == pytest.approx(FIT_T2[k - 1], abs=6e-7)


@pytest.mark.parametrize("method", ["jm", "box", "moments", "auto"])
def test_every_method_has_the_exact_limit_of_t2_for_rows_of_the_fit(method):
    """F for rows of the fit would be 39 to 43 % too wide with four components."""
    found = limits(4, 0.05, method, "fit")[0]
    assert found == pytest.approx(FIT_T2[3], abs=6e-7)
    assert 1.38 < PRINTED_T2[3] / found < 1.44
    assert 1.38 < NEW_T2[3] / found < 1.44


def test_limits_are_those_of_the_components_asked_for():
    """A known mistake is to compare T² of k components with the limit of all that the model has."""
    X, _ = people()
    few, many = PCA(2, scale=True).fit(X), PCA(9, scale=True).fit(X)
    for method in ("auto", "jm"):
        a, b = few.monitor(X, limits=method), many.monitor(X, k=2, limits=method)
        assert np.allclose(a.limits["limit"], b.limits["limit"], rtol=1e-9)
        assert np.allclose(a.t2, b.t2)
        assert np.allclose(a.spe, b.spe)


def test_jackson_and_mudholkar_say_when_they_do_not_hold():
    values, counts = np.array([10.0, 1.0]), np.array([1.0, 40.0])  # θ₁θ₃ far above θ₂²
    theta = PowerSums.of(values, counts)
    assert 1 - 2 * theta.first * theta.third / (3 * theta.second**2) < 0
    assert textbook.jackson_mudholkar(0.05, theta) is None
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 42)) * np.sqrt(np.r_[50.0, 10.0, np.ones(40)])
    found = PCA(1).fit(X).monitor(X[:3], limits="jm")
    assert found.limits["method"][2:] == ["Box g χ²(h)"] * 2
    assert any("h₀" in note for note in found.notes)


@pytest.mark.parametrize(("n", "k"), [(2, 1), (5, 4), (32, 3), (400, 20)])
def test_t2_limits_are_quantiles_of_scipy(n, k):
    of = Freedom(n, k)
    for alpha in (0.3, 0.05, 0.001):
        new = k * (n * n - 1) / (n * (n - k)) * stats.f.isf(alpha, k, n - k)
        assert textbook.t2_of_new(alpha, of) == pytest.approx(new, rel=1e-9)
        most = (n - 1) ** 2 / n
        fit = most * stats.beta.isf(alpha, k / 2, (n - k - 1) / 2) if n - k > 1 else most
        assert textbook.t2_of_fit(alpha, of) == pytest.approx(fit, rel=1e-9)


def test_the_ellipse_of_two_components_has_two_degrees_of_freedom():
    """With those of the model it would be about 42 % too wide at 5 components and 50 rows."""
    assert textbook.t2_as_printed(0.05, Freedom(50, 5)) / textbook.t2_as_printed(0.05, Freedom(50, 2)) > 1.9
    X = np.random.default_rng(0).standard_normal((50, 8))
    pca = PCA(5).fit(X)
    found = pca.monitor(X, k=2, limits="pls_toolbox", alpha=0.05).limits["limit"][0]
    assert found == pytest.approx(2 * 49 / 48 * stats.f.isf(0.05, 2, 48))
    for how, limit in (
        ("new", 2 * 2499 / (50 * 48) * stats.f.isf(0.05, 2, 48)),
        ("fit", 49**2 / 50 * stats.beta.isf(0.05, 1, 23.5)),
    ):
        half = pca.monitor(X, rows=how).ellipse(0, 3)
        assert list(half.columns) == ["PC1", "PC4"]
        for name, a in (("PC1", 0), ("PC4", 3)):
            assert half[name][0] == pytest.approx(np.sqrt(limit * pca.explained_variance_[a]))
    with pytest.raises(DataError, match="two of the 5 components"):
        pca.monitor(X).ellipse(0, 5)

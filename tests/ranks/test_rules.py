"""Rules with what is known of rows: against the same written out with dense matrices."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from ritz import choose_rank
from ritz.fitting.rank import gavish_donoho, minka
from ritz.fitting.request import Request
from ritz.ranks import rules
from ritz.ranks.known import Known, of_rows
from ritz.ranks.marchenko_pastur import Law
from ritz.rows import as_rows

ASKED = rules.Asked(0.05, 0)


def planted(n, d, sizes, columns=1.0):
    rng = np.random.default_rng(0)
    E = rng.standard_normal((n, d)) * columns
    U, V = (np.linalg.qr(rng.standard_normal((m, len(sizes))))[0] for m in (n, d))
    return 7 + E + np.linalg.norm(E, 2) * (U * np.sqrt(sizes)) @ V.T


def centred(X):
    return X - X.mean(axis=0)


@pytest.mark.parametrize("shape", [(200, 15), (15, 200)])
def test_thresholds_of_parallel_analysis(shape):
    X = planted(*shape, (9.0, 4.0), np.geomspace(1, 3, shape[1]))
    panel, Z, n = choose_rank(X), centred(X), shape[0] - 1
    law = Law(np.sum(Z**2, axis=0) / n, n)
    assert panel.rules["parallel analysis"].threshold == pytest.approx(law.threshold(0.05), rel=1e-9)
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    k, bars = 0, []
    while True:
        left = np.sum((Z - (U[:, :k] * s[:k]) @ Vt[:k]) ** 2, axis=0)
        noise = left / (1 - np.sum(Vt[:k] ** 2, axis=0)) / (n - k)
        bars.append(Law(noise, n).optimal)
        if s[k] ** 2 / n <= bars[-1]:
            break
        k += 1
    assert panel.rules["deflated parallel analysis"].k == k
    assert panel.rules["deflated parallel analysis"].threshold == pytest.approx(bars[-1], rel=1e-9)


def test_counts_of_the_spectrum_are_those_of_its_rules():
    X = planted(300, 20, (9.0, 4.0))
    panel, Z = choose_rank(X), centred(X)
    s = np.linalg.svd(Z, compute_uv=False)
    assert panel.rules["Gavish–Donoho"].k == gavish_donoho(s, 299, 20)
    assert panel.rules["Minka"].k == minka(s**2, 299)
    correlations = np.linalg.eigvalsh(np.corrcoef(X.T))
    assert panel.rules["Kaiser"].k == np.count_nonzero(correlations > 1)
    assert choose_rank(X, scale=True).rules["Kaiser"].k == np.count_nonzero(correlations > 1)
    assert panel.rules["Kaiser"].shown == "1 (correlation)"


def test_kaisers_rule_leaves_constant_columns_aside():
    X = planted(300, 20, (9.0,))
    X[:, 3] = 1.0
    with_it, without = choose_rank(X), choose_rank(np.delete(X, 3, axis=1))
    assert with_it.rules["Kaiser"].k == without.rules["Kaiser"].k


@pytest.mark.parametrize("shape", [(80, 12), (12, 80)])
def test_halves_are_those_of_the_rows_or_columns(shape):
    """Both add up to the whole; which half a line is in depends on its number alone."""
    X = planted(*shape, (4.0,))
    known, again = of_rows(as_rows(X), Request("auto")), of_rows(as_rows(X[:, ::-1].copy()), Request("auto"))
    Z = centred(X) / (known.size * np.sqrt(shape[0] - 1))
    whole = Z.T @ Z if shape[0] >= shape[1] else Z @ Z.T
    total = known.halves.sum(axis=0)
    if shape[0] < shape[1]:
        assert np.allclose(total, whole)
    else:  # each about its own mean: what lies between the means is missing
        assert np.linalg.matrix_rank(whole - total, tol=1e-9 * np.trace(whole)) <= 1
        assert np.allclose(known.halves, again.halves[:, ::-1, ::-1])
    assert (np.trace(known.halves, axis1=1, axis2=2) > 0.2 * np.trace(whole)).all()


def test_components_beyond_those_that_are_known():
    values = np.array([9.0, 8.0, 7.0])
    known = Known(99, 50, values, 40.0, 1.0, whole=False, columns=np.full(50, 0.8), parts=np.zeros((3, 50)))
    assert rules.share(0.8)(known, ASKED).why == "more than the 3 that are known"
    assert rules.deflated(known, ASKED).k is None
    assert rules.share(0.5)(known, ASKED).k == 3
    assert rules.evidence(known, ASKED).k is None


def test_thresholds_lie_between_the_last_component_and_the_next():
    X = planted(300, 30, (9.0, 4.0))
    panel = choose_rank(X)
    for name in ("Gavish–Donoho", "random tables", "parallel analysis", "sign flips", "ScreeNOT", "broken stick"):
        found = panel.rules[name]
        assert found.k == 2, name
        assert panel.values[2] <= found.threshold < panel.values[1], name


def test_wine():
    # Correlations of the wines: three eigenvalues above 1 (4.706, 2.497, 1.446, 0.919), as every textbook has them.
    panel = choose_rank(load_wine().data, scale=True)
    assert panel.rules["Kaiser"].k == 3
    assert np.allclose(panel.values[:4], [4.7059, 2.4970, 1.4461, 0.9190], atol=1e-4)

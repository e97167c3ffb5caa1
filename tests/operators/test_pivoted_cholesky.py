"""Randomly pivoted Cholesky: what few columns lack is known exactly, and the pivots have the law they should have."""

import numpy as np
import pytest
from scipy.stats import chisquare

from helpers.counts import usually
from helpers.matrices import with_eigenvalues
from ritz.operators.pivoted_cholesky import randomly_pivoted
from ritz.runtime.threads import team

N = 120


def power_law(rng):
    return with_eigenvalues(1.0 / np.arange(1, N + 1) ** 2, rng)[0]


def low_rank(rng):
    return with_eigenvalues(np.r_[5.0, 4.0, 3.0, 2.0, 1.0, np.zeros(N - 5)], rng)[0]


def duplicates(rng):
    X = np.repeat(rng.standard_normal((N // 4, 3)), 4, axis=0)
    return np.exp(-((X[:, None] - X) ** 2).sum(axis=2))


def zero_rows(rng):
    X = rng.standard_normal((N, 30))
    X[::3] = 0.0
    return X @ X.T


def flat(rng):
    return np.eye(N)


def uneven(rng):
    X = rng.standard_normal((N, 40)) * 10.0 ** rng.uniform(-6, 0, (N, 1))
    return X @ X.T


def one_large(rng):
    return np.diag(np.r_[1.0, np.full(N - 1, 5e-15)])


def ones(rng):
    return np.ones((N, N))


def zeros(rng):
    return np.zeros((N, N))


MATRICES = [power_law, low_rank, duplicates, zero_rows, flat, uneven, one_large, ones, zeros]


def factor(K, most, seed=0, enough=0.0):
    def entries(rows, columns):
        return K[rows][:, columns]

    return randomly_pivoted(np.diag(K).copy(), entries, most, np.random.default_rng(seed), enough)


@pytest.mark.parametrize("make", MATRICES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("most", [1, 7, 40, N, 2 * N])
@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_left_is_positive_and_its_trace_is_known(make, most, seed):
    K = make(np.random.default_rng(3))
    found = factor(K, most, seed)
    assert found.F.shape == (N, len(found.pivots))
    assert len(found.pivots) <= min(most, N)
    assert len(set(found.pivots.tolist())) == len(found.pivots)
    left = K - found.F @ found.F.T
    slack = found.rounding + 1e-15 * np.trace(K)
    assert np.linalg.eigvalsh(left)[0] >= -slack
    assert abs(found.error - np.trace(left)) <= slack
    assert found.trace == pytest.approx(np.trace(K), rel=1e-14)
    assert found.rounding <= 1e-11 * found.trace
    before, after = np.linalg.eigvalsh(K)[::-1], np.linalg.eigvalsh(found.F @ found.F.T)[::-1]
    assert (before - after >= -slack).all()
    assert (before - after <= found.error + slack).all()


@pytest.mark.parametrize("make", MATRICES, ids=lambda make: make.__name__)
def test_the_triangle_is_the_factor_of_the_pivots(make):
    K = make(np.random.default_rng(3))
    found = factor(K, 30)
    at = K[np.ix_(found.pivots, found.pivots)]
    np.testing.assert_allclose(found.triangle @ found.triangle.T, at, atol=found.rounding)
    np.testing.assert_allclose(found.F[found.pivots], found.triangle, atol=np.sqrt(found.rounding))
    np.testing.assert_allclose(found.F @ found.triangle.T, K[:, found.pivots], atol=found.rounding)


def test_a_matrix_of_low_rank_is_found_whole():
    found = factor(low_rank(np.random.default_rng(3)), N)
    assert len(found.pivots) == 5
    assert found.error <= found.rounding


def test_duplicates_are_chosen_once():
    found = factor(duplicates(np.random.default_rng(3)), N)
    groups = found.pivots // 4
    assert len(set(groups.tolist())) == len(groups)
    assert found.error <= found.rounding


def test_rows_of_zeros_are_never_chosen():
    found = factor(zero_rows(np.random.default_rng(3)), N)
    assert len(found.pivots) == 30
    assert (found.pivots % 3 != 0).all()


@pytest.mark.parametrize("enough", [0.5, 0.1, 1e-2])
def test_it_stops_where_enough_is_known(enough):
    K = power_law(np.random.default_rng(3))
    target = enough * np.trace(K)
    found = factor(K, N, enough=target)
    assert found.error <= target
    assert len(found.pivots) < N
    assert len(factor(K, N, enough=2 * np.trace(K)).pivots) == 0


def test_a_seed_decides_everything():
    K = power_law(np.random.default_rng(3))
    one, same, other = factor(K, 30, 5), factor(K, 30, 5), factor(K, 30, 6)
    assert np.array_equal(one.pivots, same.pivots)
    assert np.array_equal(one.F, same.F)
    assert not np.array_equal(one.pivots, other.pivots)


def one_by_one(K) -> dict[tuple[int, ...], float]:
    """The law of the first three pivots drawn one at a time, in proportion to the diagonal that is left."""
    law: dict[tuple[int, ...], float] = {}

    def extend(left, chosen, chance):
        if len(chosen) == 3:
            law[chosen] = law.get(chosen, 0.0) + chance
            return
        weights = np.maximum(np.diag(left), 0.0)
        for i in np.flatnonzero(weights > 1e-12):
            column = left[:, i] / np.sqrt(left[i, i])
            extend(left - np.outer(column, column), (*chosen, int(i)), chance * weights[i] / weights.sum())

    extend(K, (), 1.0)
    return law


def test_the_pivots_of_a_round_have_the_law_of_pivots_drawn_one_by_one():
    """Many are proposed at once and some rejected: what is accepted has the law of the plain algorithm, in order."""
    X = np.array([[0.0], [0.3], [0.5], [2.0], [2.1]])
    scale = np.array([1.0, 1.5, 0.7, 1.2, 0.4])
    K = np.exp(-((X - X.T) ** 2)) * np.outer(scale, scale)
    law, draws = one_by_one(K), usually(1500, thorough=4000)
    counts = dict.fromkeys(law, 0)
    with team():
        for seed in range(draws):
            counts[tuple(factor(K, 5, seed).pivots[:3].tolist())] += 1
    frequent = [triple for triple in law if law[triple] * draws >= 5]
    rare = sum(law[triple] for triple in law if triple not in frequent)
    observed = [counts[triple] for triple in frequent] + [draws - sum(counts[triple] for triple in frequent)]
    expected = [law[triple] * draws for triple in frequent] + [rare * draws]
    assert chisquare(observed, np.array(expected) * draws / np.sum(expected)).pvalue > 1e-4

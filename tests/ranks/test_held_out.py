"""Held-out cells: against blocks that are predicted one by one from the rows."""

import numpy as np
import pytest

from ritz.ranks import held_out


def rows(seed=0, n=80, d=14, r=2):
    rng = np.random.default_rng(seed)
    return 3 * rng.standard_normal((n, r)) @ rng.standard_normal((r, d)) + rng.standard_normal((n, d))


def halves(X):
    half = len(X) // 2
    return np.stack([X[:half].T @ X[:half], X[half:].T @ X[half:]])


def brute(X, seed):
    """The definition: A is predicted by B Dₖ⁺ C, for the same halvings of the columns."""
    n, d = X.shape
    rng, total = np.random.default_rng([seed, d]), np.zeros(d // 2 + 1)
    for _ in range(held_out.SPLITS):
        order = rng.permutation(d)
        left, right = order[: d // 2], order[d // 2 :]
        for out, others in ((X[: n // 2], X[n // 2 :]), (X[n // 2 :], X[: n // 2])):
            for held, kept in ((left, right), (right, left)):
                U, s, Vt = np.linalg.svd(others[:, kept], full_matrices=False)
                for k in range(d // 2 + 1):
                    inverse = (Vt[:k].T / s[:k]) @ U[:, :k].T
                    total[k] += np.linalg.norm(out[:, held] - out[:, kept] @ inverse @ others[:, held]) ** 2
    return total


@pytest.mark.parametrize("d", [2, 3, 14])
def test_errors_are_those_of_the_definition(d):
    X = rows(d=d, r=1)
    assert np.allclose(held_out.errors(halves(X), 5), brute(X, 5), rtol=1e-8)


def test_planted_components_predict_best():
    found = [int(np.argmin(held_out.errors(halves(rows(seed, 200, 30, 3)), seed))) for seed in range(20)]
    assert found.count(3) >= 19


def test_nothing_predicts_noise():
    noise = [np.random.default_rng(seed).standard_normal((200, 30)) for seed in range(20)]
    found = [int(np.argmin(held_out.errors(halves(X), 0))) for X in noise]
    assert found.count(0) >= 19


def test_columns_of_the_data_may_be_the_lines():
    X = rows(0, 30, 400, 2)
    assert int(np.argmin(held_out.errors(halves(X.T), 0))) == 2


def test_components_without_variance_predict_nothing():
    X = np.outer(np.random.default_rng(0).standard_normal(40), np.arange(1.0, 9.0))
    found = held_out.errors(halves(X), 0)
    assert np.allclose(found[1:], 0, atol=1e-9 * found[0])

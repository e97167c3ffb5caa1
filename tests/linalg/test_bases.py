"""Orthonormal bases of blocks, on the inputs that break them."""

import numpy as np
import pytest

from ritz.linalg.bases import orthonormalise, outside
from ritz.linalg.dense import orthogonality_defect


def hard_blocks():
    rng = np.random.default_rng(0)
    e = np.eye(100)
    s = 1e-3 ** (1 / 9)
    kahan = np.diag(s ** np.arange(10)) @ (np.eye(10) - np.sqrt(1 - s * s) * np.triu(np.ones((10, 10)), 1))
    yield "zero column", np.column_stack([e[:, 0], np.zeros(100)])
    yield "all zero", np.zeros((100, 3))
    yield "small and dependent", np.column_stack([e[:, 0], e[:, 1], 1e-9 * (e[:, 0] + e[:, 1])])
    yield "duplicates", np.repeat(rng.standard_normal((100, 2)), 3, axis=1)
    yield "graded", rng.standard_normal((200, 12)) * 10.0 ** -np.arange(0, 36, 3)
    yield "graded and turned", np.linalg.qr(rng.standard_normal((200, 12)))[0] * 10.0 ** -np.arange(0, 24, 2)
    yield "kahan", np.linalg.qr(rng.standard_normal((400, 10)))[0] @ kahan
    yield "square", rng.standard_normal((5, 5))


@pytest.mark.parametrize(("name", "V"), list(hard_blocks()), ids=[name for name, _ in hard_blocks()])
def test_orthonormalise(name, V):
    Q = orthonormalise(V)
    assert Q.shape == V.shape
    assert orthogonality_defect(Q) < 1e-13 * len(Q.T)
    scale = np.maximum(np.linalg.norm(V, axis=0), 1e-300)
    assert np.abs((V - Q @ (Q.T @ V)) / scale).max() < 1e-8  # span(V) is inside span(Q), small columns included


def test_one_round_is_enough_for_columns_that_are_nearly_orthonormal():
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((300, 12)))[0]
    for size in (1e-15, 1e-8, 1e-3, 0.02):
        Q = orthonormalise(V + size * rng.standard_normal(V.shape))
        assert orthogonality_defect(Q) <= 1e-14


def test_columns_outside_are_orthonormal_and_hold_what_is_new():
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((50, 4)))[0]
    new = rng.standard_normal(50)
    W = outside(Q, np.column_stack([new, Q[:, 0], np.zeros(50)]))  # the last two have nothing outside
    assert orthogonality_defect(np.column_stack([Q, W])) <= 1e-13
    rest = new - Q @ (Q.T @ new)
    np.testing.assert_allclose(np.abs(rest @ W[:, 0]), np.linalg.norm(rest), rtol=1e-12)

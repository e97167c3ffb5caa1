"""Lanczos from one vector: Ritz values and residuals are those of the space, however the memory looks before."""

import numpy as np
import pytest

from helpers.matrices import random_orthonormal
from ritz.linalg import lanczos
from ritz.linalg.dense import orthogonality_defect
from ritz.linalg.lanczos import Lanczos

ORDER = 60


def matrix(spectrum):
    Q = random_orthonormal(len(spectrum), len(spectrum), np.random.default_rng(1))
    return (Q * spectrum) @ Q.T


def space_of(A, steps):
    space = Lanczos(A.__matmul__, np.random.default_rng(0).standard_normal(len(A)), steps)
    while space.size < steps and not space.spent:
        space.extend()
    return space


@pytest.mark.parametrize("spectrum", [0.8 ** np.arange(ORDER), np.linspace(-1, 1, ORDER), np.arange(ORDER, 0.0, -1)])
def test_ritz_pairs_are_those_of_the_space(spectrum):
    A = matrix(spectrum)
    space = space_of(A, 20)
    values, S, residuals = space.largest(4)
    Q = space.vectors(np.eye(20))
    assert orthogonality_defect(Q) <= 1e-12
    np.testing.assert_allclose(values, np.linalg.eigvalsh(Q.T @ A @ Q)[::-1][:4], rtol=1e-12)
    U = space.vectors(S)
    np.testing.assert_allclose(residuals, np.linalg.norm(A @ U - U * values, axis=0), atol=1e-13 * spectrum.max())


def test_nothing_is_read_that_was_not_written(monkeypatch):
    """Fresh memory may hold anything, such as NaN."""
    expected = space_of(matrix(0.8 ** np.arange(ORDER)), 12).largest(2)[0]
    monkeypatch.setattr(lanczos.np, "empty", lambda shape, *_: np.full(shape, np.nan))
    found = space_of(matrix(0.8 ** np.arange(ORDER)), 12).largest(2)[0]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("distinct", [1, 2, 5])
def test_a_space_is_spent_when_it_has_every_eigenvalue_once(distinct):
    spectrum = np.repeat(np.arange(distinct, 0.0, -1), ORDER // distinct)
    space = space_of(matrix(spectrum), ORDER)
    assert space.spent
    assert space.size == distinct
    values, _, residuals = space.largest(distinct + 3)
    np.testing.assert_allclose(values, np.arange(distinct, 0.0, -1), rtol=1e-12)
    assert residuals.max() <= 1e-11


def test_the_zero_matrix_is_spent_at_once():
    space = space_of(np.zeros((ORDER, ORDER)), 5)
    assert (space.size, space.spent) == (1, True)
    assert space.largest(1)[0] == [0.0]


def test_a_tight_cluster_is_found_by_all_of_the_tridiagonal_matrix(monkeypatch):
    """Where some eigenvectors alone would not be orthonormal, all are computed."""
    space = space_of(matrix(0.8 ** np.arange(ORDER)), 20)
    expected = space.largest(4)
    monkeypatch.setattr(lanczos, "few_of_tridiagonal", lambda *_: None)
    found = space.largest(4)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
    np.testing.assert_allclose(np.abs(found[1]), np.abs(expected[1]), atol=1e-10)


def test_a_space_that_is_spent_is_recognised_below_zero():
    start = np.random.default_rng(0).standard_normal(30)
    found = Lanczos(lambda q: -q, start, 5)
    found.extend()
    assert found.spent
    np.testing.assert_allclose(found.largest(1)[0], [-1.0])

"""Eigenvalues of kernel matrices below 0: what is found of them, and who is told."""

import numpy as np
import pytest

from helpers.kernels import centred
from helpers.matrices import random_orthonormal
from ritz.errors import DataError
from ritz.kernels import Precomputed, kernel_named
from ritz.kernels.matrix import KernelMatrix
from ritz.kernels.psd import symmetric_values, with_definiteness


def precomputed(values) -> KernelMatrix:
    """A matrix with these eigenvalues, about, and its centred form at hand."""
    Q = random_orthonormal(len(values), len(values), np.random.default_rng(0))
    K = (Q * values) @ Q.T
    kernel = Precomputed()
    frame = kernel.frame(K)
    A = KernelMatrix(kernel, frame, symmetric_values(kernel.points((K + K.T) / 2, frame), frame))
    A.dense()
    return A


def test_what_is_found_makes_another_operator_of_the_same_matrix():
    A = precomputed(np.r_[10.0, 8.0, np.ones(5), -np.ones(10)])
    B, truth = with_definiteness(A, 2), np.linalg.eigvalsh(centred(A.points.Z))
    assert (A.negativity, A.tolerance, A.indefinite, A.rank_bound) == (np.inf, 1e-8, 0.0, 16)
    assert B.dense() is A.dense()
    assert B.negativity == pytest.approx(-truth[0])
    assert B.indefinite == pytest.approx(-truth[0] / truth[-1])
    assert B.rank_bound == np.count_nonzero(truth > 1e-9) < A.rank_bound


def test_kernels_that_are_positive_by_formula_are_not_looked_at():
    X, kernel = np.random.default_rng(1).standard_normal((30, 3)), kernel_named("rbf", gamma=0.5)
    frame = kernel.frame(X)
    A = KernelMatrix(kernel, frame, kernel.points(X, frame))
    assert with_definiteness(A, 2) is A
    assert (A.negativity, A.tolerance, A.indefinite, A.rank_bound) == (0.0, 1e-8, 0.0, 29)
    assert A.passes == 0


def test_components_below_0_are_refused():
    A = precomputed(np.r_[10.0, 8.0, np.ones(5), -np.ones(10)])
    for asked in (8, None, 0.9):
        with pytest.raises(DataError, match="significant negative eigenvalues"):
            with_definiteness(A, asked)
    with pytest.raises(DataError, match="pass a positive semidefinite matrix"):
        with_definiteness(precomputed(np.r_[10.0, 8.0, -6.0 * np.ones(10)]), 1)
    with pytest.raises(DataError, match="the lowest is -1, and none is above 0"):
        with_definiteness(precomputed(-np.ones(10)), 1)

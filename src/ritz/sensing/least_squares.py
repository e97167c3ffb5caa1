"""Least squares on the supports of many signals at once, by products with A and Aᵀ alone."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from ritz.linalg.dense import Array
from ritz.runtime.pinning import pinned
from ritz.sensing.base import Flags
from ritz.sensing.dictionary import Dictionary

ENOUGH = 1e-14  # relative squared residual at which the iteration stops
FLAT = 1e-20  # curvature, for columns of length 1, that is rounding: the columns are dependent
MOST = 300  # iterations; well-conditioned supports take a tenth
ROUNDS = 2  # the second one removes what rounding has left


def least_squares(A: Dictionary, Y: Array, start: Array, support: Flags) -> Array:
    """min ‖y − Ac‖ over c that is 0 outside the support."""
    codes = np.where(support, start, 0.0)
    for _ in range(ROUNDS):
        codes = codes + conjugate_gradients(A, np.where(support, A.adjoint(Y - A.apply(codes)), 0.0), support)
    return codes


def signed_dual(A: Dictionary, codes: Array) -> Array:  # (b, p) -> (b, m)
    """ν of least length with ⟨a_j, ν⟩ = sign(c_j) on the support of c."""
    support = codes != 0
    weights = np.zeros_like(codes)
    for _ in range(ROUNDS):
        lacking = np.where(support, np.sign(codes) - A.adjoint(A.apply(weights)), 0.0)
        weights += conjugate_gradients(A, lacking, support)
    return A.apply(weights)


def unique(A: Dictionary, Y: Array) -> tuple[Array, Array]:  # (b, m) -> (b, p), (b, m)
    """Least squares by all columns, which are independent, and ν of least length with Aᵀν = sign(c)."""
    if A.held is None:
        every = np.ones((len(Y), A.shape[1]), bool)
        codes = least_squares(A, Y, np.zeros(every.shape), every)
        return codes, signed_dual(A, codes)
    Q, R = A.held.factors
    with pinned.calling():
        codes = solve_triangular(R, Q.T @ Y.T).T
        return codes, (Q @ solve_triangular(R, np.sign(codes).T, trans="T")).T


def conjugate_gradients(A: Dictionary, rhs: Array, support: Flags) -> Array:
    """w with A_SᵀA_S w = rhs for every row."""
    found, residual, direction = np.zeros_like(rhs), rhs.copy(), rhs.copy()
    size = np.square(residual).sum(axis=1)
    enough, flat = ENOUGH * size, FLAT * A.typical_length**2
    for _ in range(MOST):
        seen = A.apply(direction)
        curvature = np.square(seen).sum(axis=1)
        going = (size > enough) & (curvature > flat * np.square(direction).sum(axis=1))
        if not going.any():
            break
        step = np.where(going, size / np.where(going, curvature, 1.0), 0.0)[:, None]
        found += step * direction
        residual -= step * np.where(support, A.adjoint(seen), 0.0)
        last, size = size, np.square(residual).sum(axis=1)
        direction *= np.where(going, size / np.where(last > 0, last, 1.0), 0.0)[:, None]
        direction += residual
    return found

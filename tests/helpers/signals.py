"""Sparse signals, their measurements, and the least l1 norm by a way of its own."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from ritz.sensing.base import Goal
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.maps import Matrix
from ritz.sensing.recovery import recovered


def gaussian(m: int, p: int, rng) -> np.ndarray:
    return rng.standard_normal((m, p)) / np.sqrt(m)


def sparse_codes(b: int, p: int, s: int, rng, spread: float = 0.0) -> np.ndarray:
    """b rows of s coefficients, at random places, of random sign, at least 1 + spread·|g| large."""
    codes = np.zeros((b, p))
    for row in codes:
        row[rng.choice(p, s, replace=False)] = rng.choice([-1.0, 1.0], s) * (
            1 + spread * np.abs(rng.standard_normal(s))
        )
    return codes


def seen_by(A: np.ndarray) -> Dictionary:
    """A as the product of measurements and the identity."""
    return Dictionary(Matrix(np.asarray(A, dtype=float)), Matrix(np.eye(A.shape[1])))


def goal(b: int, **asked) -> Goal:
    noise = np.broadcast_to(np.asarray(asked.pop("noise", 0.0), dtype=float), b).copy()
    return Goal(noise, **asked)


def least_l1(A: np.ndarray, y: np.ndarray) -> float:
    """min ‖c‖₁ over Ac = y, from the dual programme: max ⟨ν, y⟩ over ‖Aᵀν‖∞ ≤ 1."""
    most = linprog(-y, A_ub=np.vstack([A.T, -A.T]), b_ub=np.ones(2 * A.shape[1]), bounds=(None, None), method="highs")
    assert most.status == 0, most.message
    return -most.fun


def lasso_objective(A: np.ndarray, y: np.ndarray, c: np.ndarray, penalty: float) -> float:
    return float(0.5 * np.sum((A @ c - y) ** 2) + penalty * np.abs(c).sum())


def recovered_by(A: Dictionary, Y, solver, asked):
    """Coefficients and what is known of them, and the relative residuals."""
    found = recovered(A, Y, solver, asked)
    return found, found.residuals

"""Basis pursuit as a linear programme: the reference that faster ways are compared with."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from ritz.linalg.dense import Array
from ritz.runtime import threads
from ritz.sensing.base import Found, Goal, Solver, pursuit_gap
from ritz.sensing.dictionary import Dictionary

KEPT = 1e-9  # coefficients so much smaller than the largest are within the tolerance of HiGHS, and dropped


class BasisPursuit(Solver):
    """min ‖c‖₁ over Ac = y: min Σ(u + v) over A(u − v) = y with u, v ≥ 0, one signal after another, by HiGHS."""

    uses = ("lengths",)
    longest = 2048
    noisy = False

    def recover(self, A: Dictionary, Y: Array, goal: Goal) -> Found:
        p = A.shape[1]
        entries = A.some_columns(np.arange(p)).T / A.lengths  # of length 1: the tolerances of HiGHS are absolute
        found, dual = Found.nothing(len(Y), p), np.zeros_like(Y)
        for i, y in enumerate(Y):
            threads.check()
            found.codes[i], dual[i], found.iterations[i] = _programme(entries, 1 / A.lengths, y, goal)
        residuals = np.linalg.norm(Y - A.apply(found.codes), axis=1)
        found.gaps[:] = pursuit_gap(A, found.codes, dual)
        found.converged[:] = (found.gaps <= goal.gap) & (residuals <= goal.tol)
        return found


def _programme(entries: Array, weights: Array, y: Array, goal: Goal) -> tuple[Array, Array, int]:
    """Coefficients, refined by least squares on their support, dual vector and iterations; zeros if HiGHS fails."""
    p = entries.shape[1]
    options = {} if goal.max_iter is None else {"maxiter": goal.max_iter}
    costs, both = np.concatenate([weights, weights]), np.hstack([entries, -entries])
    result = linprog(costs, A_eq=both, b_eq=y, method="highs", options=options)
    if result.x is None:
        return np.zeros(p), np.zeros(len(y)), int(result.nit or 0)
    codes = result.x[:p] - result.x[p:]
    return _fitted(entries, y, codes, goal.tol) * weights, result.eqlin.marginals, int(result.nit)


def _fitted(entries: Array, y: Array, codes: Array, tol: float) -> Array:
    """Least squares on the coefficients above tol if these explain y, or else on all that are not rounding."""
    for share in (tol, KEPT):
        support = np.flatnonzero(np.abs(codes) > share * np.abs(codes).max())
        if 0 < len(support) <= len(y):
            fitted = np.zeros_like(codes)
            fitted[support] = np.linalg.lstsq(entries[:, support], y)[0]
            if share == KEPT or np.linalg.norm(y - entries @ fitted) <= tol:
                return fitted
    return codes

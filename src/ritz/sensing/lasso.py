"""The lasso at one penalty per signal, and least squares on the supports it finds: many signals at once.

Accelerated proximal gradients, stopped by the duality gap, and conjugate gradients: by products with A and Aᵀ alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from ritz.linalg.dense import Array
from ritz.runtime import threads
from ritz.sensing.base import Flags, PerSignal, lasso_gap
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.maps import Places

EVERY = 10  # iterations between two looks at the gap, which cost half an iteration
ENOUGH = 1e-14  # relative squared residual at which the iteration stops
FLAT = 1e-20  # curvature, for columns of length 1, that is rounding: the columns are dependent
MOST = 300  # iterations; well-conditioned supports take a tenth
ROUNDS = 2  # the second one removes what rounding has left


def lasso(
    A: Dictionary, Y: Array, penalties: Array, start: Array, tol: float, most: Places
) -> tuple[Array, Array, Places]:
    """Codes (b, p) of min ½‖Ac − y‖² + λ‖c‖₁, their relative duality gaps and the iterations, from a start."""
    codes, gaps, spent = start.copy(), np.empty(len(Y)), np.zeros(len(Y), np.intp)
    length = 1 / (A.norm**2 or 1.0)  # nothing is seen through a matrix of zeros
    seen = A.apply(start)
    now = _Iterates(np.arange(len(Y)), Y, penalties[:, None], most, start, seen, start, seen, np.ones((len(Y), 1)))
    for count in range(int(most.max()) + 1):
        last = count >= now.most
        if count % EVERY == 0 or last.any():
            gaps[now.places] = lasso_gap(A, now.C, now.Y - now.AC, now.penalties[:, 0])
            done = last | (gaps[now.places] <= tol)
            codes[now.places[done]], spent[now.places[done]] = now.C[done], count
            now = now.of(~done)
            if not len(now.places):
                break
        threads.check()
        now.step(A, length)
    return codes, gaps, spent


@dataclass(eq=False)
class _Iterates(PerSignal):
    """FISTA's iterates of signals whose gap is not yet small."""

    places: Places  # (a,)
    Y: Array  # (a, m)
    penalties: Array  # (a, 1) λ
    most: Places  # (a,) iterations
    C: Array  # (a, p) the codes
    AC: Array  # (a, m)
    Z: Array  # (a, p) the codes with momentum, from which the next step is made
    AZ: Array  # (a, m)
    t: Array  # (a, 1) Nesterov's sequence

    def step(self, A: Dictionary, length: float) -> None:
        """c ← shrink(z + Aᵀ(y − Az)/L, λ/L), and z ← c with momentum; shrink(c, λ) = max(|c| − λ, 0)·sign(c)."""
        new = A.adjoint(self.Y - self.AZ)
        new *= length
        new += self.Z
        by = length * self.penalties
        new -= np.clip(new, -by, by)
        seen, change = A.apply(new), new - self.C
        self.t[np.einsum("bp,bp->b", self.Z - new, change) > 0] = 1.0  # momentum points uphill: begin anew
        longer = (1 + np.sqrt(1 + 4 * self.t * self.t)) / 2
        momentum = (self.t - 1) / longer
        change *= momentum
        change += new
        self.Z, self.AZ = change, seen + momentum * (seen - self.AC)
        self.C, self.AC, self.t = new, seen, longer


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
    with threads.pinned.calling():
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

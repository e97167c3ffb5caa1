"""Orthogonal iteration: power iteration on all vectors at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.linalg.bases import orthonormalise
from ritz.linalg.dense import Array, column_norms, eigh_descending
from ritz.operators import Operator
from ritz.solvers.base import Basis, Iterative, Step, measured_gap, slow, starting_block, target


@dataclass(frozen=True, eq=False)
class Orthogonal(Iterative):
    """Power iteration on k vectors at once: U ← orthonormal basis of A U.

    Converges like (λ_{m+1}/λ_k)^iterations with m = k + oversample columns.

    Parameters
    ----------
    max_iter : iterations, each one product with A
    change : change of the eigenvalues, relative to the largest, that stops it; with a `tol` the residuals must hold too
    oversample : columns carried along beyond k; 0 iterates exactly k, as textbooks have it
    start : (dim,) or (dim, b) array, where to begin; random otherwise

    Examples
    --------
    >>> import numpy as np
    >>> import ritz
    >>> A = np.diag([4.0, 2.0, 1.0, 0.5])
    >>> found = ritz.eigen(A, 2, ritz.solvers.Orthogonal(oversample=0), tol=1e-9)
    >>> residuals = [step.residual for step in found.history]
    >>> round(residuals[20] / residuals[19], 4)  # λ₃/λ₂
    0.5
    """

    max_iter: int = 1000
    change: float = 1e-9
    oversample: int = 10
    start: Array | None = None

    def basis(self, A: Operator, k: int, *, tol: float | None, rng: np.random.Generator) -> Basis:
        U = starting_block(self.start, A.dim, min(k + self.oversample, A.dim), rng)
        previous, history = np.full(k, np.inf), []
        for iteration in range(1, self.max_iter + 1):
            AU = A.apply(U)
            every, turn = eigh_descending(U.T @ AU)
            values, turn = every[:k], turn[:, :k]
            residuals = column_norms(AU @ turn - (U @ turn) * values)
            worst = int(np.argmax(residuals))
            largest = max(float(values[0]), np.finfo(float).tiny)
            change = float(np.max(np.abs(values - previous))) / largest
            history.append(Step(iteration, worst, float(values[worst]), change, float(residuals[worst])))
            quiet = change <= self.change or residuals[worst] <= A.rounding
            if quiet and residuals[worst] <= target(A, tol, largest):
                return Basis(U, AU, history=tuple(history))
            if iteration < self.max_iter:
                previous, U = values, orthonormalise(AU)
        # The columns carried along hide the eigengap: what decides the rate is the first eigenvalue beyond all of them.
        m = U.shape[1]
        deciding = f"the ratio of eigenvalue {m + 1} to eigenvalue {worst + 1}, as {m} columns are iterated"
        note = slow(history, f"in the long run that factor is {deciding}; {measured_gap(every, k)}")
        return Basis(U, AU, history=tuple(history), note=note)

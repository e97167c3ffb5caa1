"""Power iteration on one vector at a time, with deflation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.linalg.dense import Array
from ritz.operators import Operator
from ritz.solvers.base import Basis, Iterative, Step, slow, starting_block, target


@dataclass(frozen=True, eq=False)
class Power(Iterative):
    """v ← A v/‖A v‖, λ = vᵀA v; stop when λ's relative change is small; deflate A ← A − λ v vᵀ; go on.

    Parameters
    ----------
    max_iter : iterations per component
    change : relative change of the eigenvalue that stops a component. It leaves the vector's residual near
        λ√change, so with a `tol` the iteration goes on until the residual holds too
    start : (dim,) or (dim, k) array, where to begin; random otherwise. A start orthogonal to the first
        eigenvector finds the next one
    """

    max_iter: int = 1000
    change: float = 1e-9
    start: Array | None = None

    def basis(self, A: Operator, k: int, *, tol: float | None, rng: np.random.Generator) -> Basis:
        starts = starting_block(self.start, A.dim, k, rng)
        V, AV = np.empty((A.dim, 0)), np.empty((A.dim, 0))
        history: list[Step] = []
        notes: list[str] = []
        for i in range(k):
            v, Av, steps, done = self._component(A, V, AV, starts[:, i], tol)
            V, AV = np.column_stack([V, v]), np.column_stack([AV, Av])
            history += steps
            if not done:
                deciding = "the ratio of the next eigenvalue to this one, 1 minus the relative eigengap"
                notes.append(slow(steps, f"in the long run that factor is {deciding}"))
        return Basis(V, AV, history=tuple(history), note="; ".join(notes[:3]))

    def _component(
        self, A: Operator, V: Array, AV: Array, start: Array, tol: float | None
    ) -> tuple[Array, Array, list[Step], bool]:
        """One eigenvector of A deflated by those found, V, with its history and whether it converged."""
        values = np.einsum("ij,ij->j", V, AV)
        v = _unit_outside(V, start)
        previous, steps = np.inf, []
        for iteration in range(1, self.max_iter + 1):
            Av = A.apply(v[:, None])[:, 0]
            w = Av - V @ (values * (V.T @ v))
            value = float(v @ w)
            residual = float(np.linalg.norm(w - value * v - V @ (V.T @ w)))
            change = abs(value - previous) / abs(value) if value else 0.0
            steps.append(Step(iteration, V.shape[1], value, change, residual))
            largest = max(value, *values) if len(values) else value
            quiet = change <= self.change or residual <= A.rounding
            if quiet and residual <= target(A, tol, largest):
                return v, Av, steps, True
            if iteration < self.max_iter:
                previous, v = value, _unit_outside(V, w)
        return v, Av, steps, False


def _unit_outside(V: Array, w: Array) -> Array:
    """w without its part in span(V), of norm one: rounding would bring the found vectors back in."""
    for _ in range(2):
        w = w - V @ (V.T @ w)
        norm = float(np.linalg.norm(w))
        if not norm:  # w lies in span(V) to the last bit: any direction outside serves
            w = np.zeros_like(w)
            w[int(np.argmin(np.einsum("ij,ij->i", V, V)))] = 1.0
            w = w - V @ (V.T @ w)
            norm = float(np.linalg.norm(w))
        w = w / norm
    return w

"""Power iteration on one vector at a time, with deflation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import UNIT, Array
from ritz.operators import Operator
from ritz.runtime.wording import at_most, component
from ritz.solvers.base import Basis, Iterative, Step, checked_start, real_numbers, slow, starting_block, target

BACK = 1e-12  # distance at which an iterate is the one of two steps ago
APART = 1e-6  # and at which it surely is not the one of one step ago
EQUAL = 1e-9  # relative difference of magnitudes that are called the same
UNEXPECTED = 100.0  # times λ√change, near which a residual is where the eigenvalue stands still
OTHER = 1e-3  # relative difference of two estimates that are no longer of one eigenvalue


class Found(NamedTuple):
    """One component: its vector, the product with it, the way there, and why that is not its end, if so."""

    v: Array
    Av: Array
    steps: list[Step]
    note: str = ""


@dataclass(frozen=True, eq=False)
class Power(Iterative):
    """v ← A v/‖A v‖, λ = yᵀA v/yᵀv; stop when λ's relative change is small; deflate A ← A − λ v vᵀ; go on.

    The error of v falls by |λ₂/λ₁| in every step; that of λ by its square with y = v, which makes λ the Rayleigh
    quotient, and by |λ₂/λ₁| itself with any other y. A matrix may have negative eigenvalues: the largest magnitudes are
    found, one after another.

    Parameters
    ----------
    max_iter : iterations per component
    change : relative change of the eigenvalue that stops a component. It leaves the vector's residual near
        λ√change, so with a `tol` the iteration goes on until the residual holds too
    start : (dim,) or (dim, k) array, where to begin; random otherwise. A start orthogonal to the first
        eigenvector finds the next one
    y : (dim,) array of the ratio yᵀA^{m+1}v/yᵀA^m v, which estimates λ in `history`; None is the iterate itself.
        What is returned is the Rayleigh quotient in any case

    Examples
    --------
    >>> import numpy as np
    >>> import ritz
    >>> found = ritz.eigen(np.diag([4.0, -2.0, 1.0]), 1, ritz.solvers.Power(y=[1.0, 1.0, 1.0], start=[1.0, 1.0, 1.0]))
    >>> [round(step.value, 4) for step in found.history[:4]]
    [1.0, 7.0, 2.7143, 4.7895]
    >>> found.values
    array([4.])
    """

    max_iter: int = 1000
    change: float = 1e-9
    start: Array | None = None
    y: Array | None = None

    signed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.y is not None:
            given = real_numbers(self.y, "y")
            if given.ndim != 1 or not np.isfinite(given).all() or not given.any():
                what = f"has shape {given.shape}" if given.ndim != 1 else "holds NaN or infinity, or is 0 everywhere"
                raise DataError(f"y {what}; give a vector of finite numbers that are not all 0, or None for y = v")
            object.__setattr__(self, "y", given)

    def basis(self, A: Operator, k: int, *, tol: float | None, rng: np.random.Generator) -> Basis:
        starts = starting_block(self.start, A.dim, k, rng)
        y = None if self.y is None else checked_start(self.y, A.dim, "y")[:, 0]
        y = None if y is None else y / np.abs(y).max()
        V, AV = np.empty((A.dim, 0)), np.empty((A.dim, 0))
        history: list[Step] = []
        notes: list[str] = []
        for i in range(k):
            found = self._component(A, V, AV, starts[:, i], tol, y)
            V, AV = np.column_stack([V, found.v]), np.column_stack([AV, found.Av])
            history += found.steps
            notes += [found.note] if found.note else []
        return Basis(V, AV, history=tuple(history), note="; ".join(notes[:3]))

    def _component(self, A: Operator, V: Array, AV: Array, start: Array, tol: float | None, y: Array | None) -> Found:
        """One eigenvector of A deflated by those found, V."""
        values, i = np.einsum("ij,ij->j", V, AV), V.shape[1]
        v, before, previous = _unit_outside(V, start), None, np.inf
        steps: list[Step] = []
        for iteration in range(1, self.max_iter + 1):
            Av = A.apply(v[:, None])[:, 0]
            w = Av - V @ (values * (V.T @ v))
            rayleigh = float(v @ w)
            residual = float(np.linalg.norm(w - rayleigh * v - V @ (V.T @ w)))
            value = rayleigh if y is None else _ratio(y, w, v, i, iteration)
            change = _change(value, previous, residual, A.rounding)
            steps.append(Step(iteration, i, value, change, residual))
            ahead = _unit_outside(V, w)
            quiet = change <= self.change or residual <= A.rounding
            if quiet and residual <= target(A, tol, float(np.abs([rayleigh, *values]).max())):
                still = residual > UNEXPECTED * max(np.sqrt(self.change), np.sqrt(UNIT)) * abs(rayleigh)
                if still and _alternates(ahead, v, before):
                    return Found(v, Av, steps, _alternating(A, v, ahead, i))
                blind = still and y is not None
                return Found(v, Av, steps, _blind(steps[-1], rayleigh) if blind else _other(steps[-1], rayleigh))
            if _repeats(ahead, v, before):
                return Found(v, Av, steps, _alternating(A, v, ahead, i))
            if iteration < self.max_iter:
                before, previous, v = v, value, ahead
        return Found(v, Av, steps, _alternating(A, v, ahead, i) if _alternates(ahead, v, before) else _slow(steps))


def _slow(steps: list[Step]) -> str:
    i = steps[-1].component
    deciding = f"the ratio of eigenvalue {i + 2} to eigenvalue {i + 1}, 1 minus the relative eigengap between them"
    return slow(steps, f"in the long run that factor is {deciding}")


def _change(value: float, previous: float, residual: float, rounding: float) -> float:
    """|λ − λ before|/|λ|, infinite where λ cannot be told from 0 but the residual can.

    Such a value says nothing about the vector: vᵀA v is 0 in every step for the edges of a path, from one of its ends.
    """
    if abs(value) <= rounding < residual:
        return np.inf
    return abs(value - previous) / abs(value) if value else 0.0


def _ratio(y: Array, w: Array, v: Array, i: int, iteration: int) -> float:
    """yᵀw/yᵀv of a unit vector v, an error where y is orthogonal to it."""
    below = float(y @ v)
    if abs(below) <= 4 * len(v) * UNIT * float(np.linalg.norm(y)):
        raise DataError(
            f"y is orthogonal to iterate {iteration} of {component(i)}, so that the ratio of y·Av to y·v is 0/0",
            "choose a y with a part along every component asked for, or None for the Rayleigh quotient",
        )
    return float(y @ w) / below


def _other(last: Step, rayleigh: float) -> str:
    """What to say where the ratio has settled on another eigenvalue than the vector has."""
    if abs(last.value - rayleigh) <= max(UNEXPECTED * last.residual, OTHER * abs(rayleigh)):
        return ""
    name, share = component(last.component), last.value / rayleigh if rayleigh else np.inf
    return (
        f"the ratio with y settled at {share:.4g} times the Rayleigh quotient of {name}: y is nearly orthogonal to "
        f"{name}, and the history tells of another eigenvalue"
    )


def _blind(last: Step, rayleigh: float) -> str:
    """What to say where the ratio stands still, and the vector does not: y is orthogonal to what still changes."""
    residual = at_most(last.residual / abs(rayleigh), 2) if rayleigh else "inf"
    return (
        f"the ratio with y stands still, but {component(last.component)} does not: its residual is {residual} of its "
        "eigenvalue, in directions that y has no part along; choose another y, or None for the Rayleigh quotient"
    )


def _nearest(a: Array, b: Array) -> float:
    """The distance of two unit vectors, whatever their signs."""
    return float(min(np.linalg.norm(a - b), np.linalg.norm(a + b)))


def _alternates(ahead: Array, v: Array, before: Array | None) -> bool:
    """Whether every second iterate is nearly the same, while neighbours are not."""
    return before is not None and _nearest(ahead, before) < 0.1 * _nearest(ahead, v) and _nearest(ahead, v) > APART


def _repeats(ahead: Array, v: Array, before: Array | None) -> bool:
    """Whether that is so to the last digits, and will not change any more."""
    return _alternates(ahead, v, before) and before is not None and _nearest(ahead, before) <= BACK


def _alternating(A: Operator, v: Array, ahead: Array, i: int) -> str:
    """Two eigenvalues of opposite sign keep an iteration from its end: how near they are, by Rayleigh–Ritz of both."""
    w = ahead - v * float(v @ ahead)
    Q = np.column_stack([v, w / np.linalg.norm(w)])
    H = Q.T @ A.apply(Q)
    low, high = np.linalg.eigvalsh((H + H.T) / 2)
    apart = abs(low + high) / max(abs(low), abs(high))
    sizes = f"magnitudes that differ by about {at_most(apart, 1)} of the larger"
    return (
        f"{component(i)} alternates between two vectors: two eigenvalues have opposite signs and "
        f"{sizes if apart > EQUAL else 'the same magnitude'}; add a multiple of the identity to the matrix to separate "
        "them"
    )


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

"""What is known of an iterative fit, and what theory says about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.plot.subject import AFFORDABLE, is_model, subject
from ritz.solvers import Orthogonal, Step
from ritz.spectrum.certify import Spectrum

MORE = 50  # eigenvalues beyond those found, where all of them are too many
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
FLOOR = 1e-14  # residuals relative to λ₁, changes relative to λ itself: what is smaller is rounding, and tells no rate
# Relative to λ₁: eigenvalues closer than the first are one for any arithmetic; closer than the second, they are one for
# an iteration that stopped before its residual was as small as their difference.
EQUAL, CLOSE = 1e-12, 1e-6


class Stretch(NamedTuple):
    """Iterations on one component, or on all at once.

    Attributes
    ----------
    start : how many iterations came before
    steps : of the solver
    found : positions of the eigenvalues that were found, among those known
    following : position of the one that decides the rate; None where it is not known
    rate : factor by which theory has the residual fall in every iteration, NaN where it is not known
    ratio : that factor as a formula, with its absolute value where the eigenvalues have opposite signs
    """

    start: int
    steps: list[Step]
    found: tuple[int, ...]
    following: int | None
    rate: float
    ratio: str

    @property
    def falls(self) -> bool:
        """Whether theory has the residual fall, and not stay as it is for two eigenvalues of one magnitude."""
        return bool(FLOOR < self.rate < 1 - EQUAL)

    @property
    def opposite(self) -> bool:
        """Whether the two eigenvalues have opposite signs."""
        return self.ratio.startswith("|")

    @property
    def at(self) -> Array:
        """Numbers of the iterations."""
        return self.start + np.array([step.iteration for step in self.steps], dtype=float)


class Iteration(NamedTuple):
    """What is known of an iterative fit."""

    steps: tuple[Step, ...]
    found: Array  # eigenvalues, descending in magnitude: those found,
    values: Array  # and those that are known, which may be all of them
    tol: float | None
    converged: bool
    solver: str  # its name: "power", "orthogonal", or another without a law as simple
    columns: int | None  # that were iterated at once
    squared: bool  # whether the value is a Rayleigh quotient, whose error is that of the vector, squared

    @property
    def first(self) -> float:
        """|λ₁|, or 1 where it is 0."""
        return float(np.abs(self.values).max()) or 1.0


def of_model(fitted: Any, X: Any, k: int, solver: Any) -> Iteration:
    """Of a fitted model, or of data that is fitted here."""
    if is_model(fitted):
        about = subject(fitted, X)
    else:
        about = subject(fitted, X, at_most=k, svd_solver="power" if solver is None else solver)
        about.within("n_components", k)
    model, rows = about.model, about.rows
    used = getattr(model, "svd_solver", getattr(model, "eigen_solver", None))
    found = values = np.asarray(about.in_range.certificate.values)
    if rows is not None and not about.found.kernel:
        most = None if min(rows.shape) <= AFFORDABLE else MORE + len(values)
        values = about.refitted(most).found.values
    columns = about.found.k + getattr(used, "oversample", getattr(model, "n_oversamples", Orthogonal().oversample))
    squared = getattr(used, "y", None) is None
    certificate = model.certificate_
    return Iteration(
        model.history_, found, values, certificate.tol, certificate.satisfied, model.plan_.solver, columns, squared
    )


def of_spectrum(found: Spectrum, A: Any) -> Iteration:
    """Of what `ritz.eigen` returned."""
    columns = len(found.values) + (0 if found.spare is None else len(found.spare))
    values = found.values if A is None else _eigenvalues(A, len(found.vectors))
    squared, name = getattr(found.solver, "y", None) is None, type(found.solver).__name__.lower()
    tol, converged = found.certificate.tol, found.certificate.satisfied
    return Iteration(found.history, found.values, values, tol, converged, name, columns, squared)


def _eigenvalues(A: Any, dim: int) -> Array:
    """Of whatever `ritz.eigen` takes, the largest magnitude first."""
    shape = np.shape(A) if isinstance(A, list | tuple) else getattr(A, "shape", (dim, dim))
    if shape != (dim, dim):
        problem = f"X has the shape {shape}, but the eigenvectors have {dim} entries"
        raise DataError(problem, "pass the matrix that was given to ritz.eigen")
    product = getattr(A, "matmat", A if callable(A) else None)
    dense = A.toarray() if hasattr(A, "toarray") else A if product is None else product(np.eye(dim))
    values = np.linalg.eigvalsh(np.asarray(dense, dtype=np.float64))
    return values[np.argsort(-np.abs(values), kind="stable")]


def stretches_of(known: Iteration) -> list[Stretch]:
    """Iterations on one component after another, each with its rate; block solvers have one stretch."""
    if known.solver != "power":
        return [_block(known)]
    found: list[Stretch] = []
    left, taken, start = known.found.tolist(), list[int](), 0
    for i in sorted({step.component for step in known.steps}):
        steps = [step for step in known.steps if step.component == i]
        # The nearest of what was found: `y` may have the value of a step tell another eigenvalue.
        value = min(left, key=lambda one: abs(one - steps[-1].value), default=steps[-1].value)
        left, apart = [one for one in left if one is not value], _apart(known, steps[-1])
        at = _position(known, value, taken, max(apart, steps[-1].residual))
        taken.append(at)
        found.append(Stretch(start, steps, (at,), *_rate(known.values, at, taken, apart)))
        start += len(steps)
    return found


def _block(known: Iteration) -> Stretch:
    """All iterations at once: those of orthogonal iteration have a rate, that of the worst component."""
    last, at = known.steps[-1], list[int]()
    apart = _apart(known, last)
    for value in known.found:
        at.append(_position(known, value, at, max(apart, last.residual)))
    if known.solver != "orthogonal" or not known.columns:
        return Stretch(0, list(known.steps), tuple(at), None, np.nan, "")
    # Larger ones than were found are not in the block, and never come in: the start has no part along them.
    missed = set(range(max(at))) - set(at)
    inside = [j for j in range(len(known.values)) if j not in missed][: known.columns]
    worst = at[min(last.component, len(at) - 1)]
    return Stretch(0, list(known.steps), tuple(at), *_rate(known.values, worst, inside, apart))


def _apart(known: Iteration, last: Step) -> float:
    """How far apart two eigenvalues are that these iterations can tell apart."""
    return float(np.clip(last.residual, EQUAL * known.first, CLOSE * known.first))


def _position(known: Iteration, value: float, taken: Sequence[int], within: float) -> int:
    """Which of the eigenvalues known this one is: the first within its residual, and none of those taken.

    An iteration that has not converged is on its way to the first that is left, as from nearly all starts.
    """
    free = [j for j in range(len(known.values)) if j not in taken]
    if not free:
        return max([len(known.values) - 1, *taken]) + 1
    near = [j for j in free if abs(known.values[j] - value) <= within]
    nearest = min(free, key=lambda j: abs(known.values[j] - value))
    return (near or [nearest])[0] if known.converged else free[0]


def _rate(values: Array, at: int, inside: Sequence[int], apart: float) -> tuple[int | None, float, str]:
    """|λ_j/λ_i| with the next λ_j that is another eigenvalue and was not taken out, and as a formula counted from 1.

    Parts along eigenvectors of λ_i itself are no error.
    """
    for j in range(at + 1, len(values)):
        if j not in inside and abs(values[j] - values[at]) > apart:
            ratio, bars = float(values[j] / values[at]), "|" * bool(np.sign(values[j]) * np.sign(values[at]) < 0)
            return j, abs(ratio), f"{bars}{symbol(j)}/{symbol(at)}{bars}"
    return None, np.nan, ""


def symbol(i: int) -> str:
    """An eigenvalue, counted from 0, as it is written.

    Examples
    --------
    >>> symbol(0), symbol(9)
    ('λ₁', 'λ₁₀')
    """
    return f"λ{i + 1}".translate(SUBSCRIPTS)


def theory(at: Array, measured: Array, rate: float) -> Array:
    """c·rate^m with the median of measured/rate^m over the second half of what is above rounding; NaN without a rate.

    Examples
    --------
    >>> theory(np.arange(4.0), np.array([5.0, 2.0, 1.0, 0.5]), 0.5)
    array([4. , 2. , 1. , 0.5])
    """
    usable = np.flatnonzero(np.isfinite(measured) & (measured > FLOOR))
    if not FLOOR < rate < 1 - EQUAL or not len(usable):
        return np.full(len(at), np.nan)
    late = usable[len(usable) // 2 :]
    offset = float(np.median(np.log(measured[late]) - at[late] * np.log(rate)))
    return np.exp(offset + at * np.log(rate))

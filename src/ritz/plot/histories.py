"""What is known of an iterative fit, and what theory says about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ritz.linalg.dense import Array
from ritz.plot.subject import AFFORDABLE, is_model, subject
from ritz.solvers import Orthogonal, Step
from ritz.spectrum.certify import Spectrum

MORE = 50  # eigenvalues beyond those found, where all of them are too many
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
FLOOR = 1e-14  # relative to the first value: what is smaller is rounding, and tells no rate


class Stretch(NamedTuple):
    """Iterations on one component, or on all at once.

    Attributes
    ----------
    start : how many iterations came before
    steps : of the solver
    rate : factor by which theory has the residual fall in every iteration, NaN where it is not known
    ratio : that factor as a formula
    """

    start: int
    steps: list[Step]
    rate: float
    ratio: str

    @property
    def at(self) -> Array:
        """Numbers of the iterations."""
        return self.start + np.array([step.iteration for step in self.steps], dtype=float)


class Iteration(NamedTuple):
    """What is known of an iterative fit."""

    steps: tuple[Step, ...]
    values: Array  # eigenvalues, descending in magnitude: those found, or all of them
    tol: float | None
    solver: str  # "power", "orthogonal", or another without a law as simple
    columns: int | None  # that were iterated at once
    squared: bool  # whether the value is a Rayleigh quotient, whose error is that of the vector, squared


def of_model(fitted: Any, X: Any, k: int, solver: Any) -> Iteration:
    """Of a fitted model, or of data that is fitted here."""
    if is_model(fitted):
        about = subject(fitted, X)
    else:
        about = subject(fitted, X, at_most=k, svd_solver="power" if solver is None else solver)
    model, rows = about.model, about.rows
    used = getattr(model, "svd_solver", getattr(model, "eigen_solver", None))
    values = np.asarray(about.in_range.certificate.values)
    if rows is not None and not about.found.kernel:
        how = {name: getattr(model, name) for name in ("center", "scale", "ddof")}
        values = subject(
            rows, at_most=None if min(rows.shape) <= AFFORDABLE else MORE + len(values), **how
        ).found.values
    columns = about.found.k + getattr(used, "oversample", getattr(model, "n_oversamples", Orthogonal().oversample))
    squared = getattr(used, "y", None) is None
    return Iteration(model.history_, values, model.certificate_.tol, model.plan_.solver, columns, squared)


def of_spectrum(found: Spectrum, A: Any, solver: Any) -> Iteration:
    """Of what `ritz.eigen` returned."""
    k, spare = len(found.values), 0 if found.spare is None else len(found.spare)
    name = solver if isinstance(solver, str) else "" if solver is None else type(solver).__name__.lower()
    alone = not spare and all(step.iteration == 1 for step in _firsts(found.history))
    values = found.values
    if A is not None:
        values = _eigenvalues(A)
    squared = getattr(solver, "y", None) is None
    name = name or ("power" if alone else "iterative")
    return Iteration(found.history, values, found.certificate.tol, name, k + spare, squared)


def _eigenvalues(A: Any) -> Array:
    """Of a matrix, or of what can be multiplied or made dense, the largest magnitude first."""
    dense = A.toarray() if hasattr(A, "toarray") else A.matmat(np.eye(A.shape[1])) if hasattr(A, "matmat") else A
    values = np.linalg.eigvalsh(np.asarray(dense, dtype=np.float64))
    return values[np.argsort(-np.abs(values), kind="stable")]


def _firsts(steps: Sequence[Step]) -> list[Step]:
    """The first step on every component."""
    return [step for i, step in enumerate(steps) if i == 0 or step.component != steps[i - 1].component]


def stretches_of(known: Iteration) -> list[Stretch]:
    """Iterations on one component after another, each with its rate; block solvers have one stretch."""
    if known.solver != "power":
        last = known.steps[-1].component
        rate, ratio = (
            _rate(known, last, known.columns) if known.solver == "orthogonal" and known.columns else (np.nan, "")
        )
        return [Stretch(0, list(known.steps), rate, ratio)]
    found, start = [], 0
    for i in sorted({step.component for step in known.steps}):
        steps = [step for step in known.steps if step.component == i]
        found.append(Stretch(start, steps, *_rate(known, i, i + 1)))
        start += len(steps)
    return found


def _rate(known: Iteration, i: int, j: int) -> tuple[float, str]:
    """|λ_j/λ_i|, counted from 0, and as a formula counted from 1."""
    ratio = f"λ{j + 1}/λ{i + 1}".translate(SUBSCRIPTS)
    if j >= len(known.values) or not known.values[i]:
        return np.nan, ratio
    return float(abs(known.values[j] / known.values[i])), ratio


def theory(at: Array, measured: Array, rate: float) -> Array:
    """c·rate^m through the last of what was measured above rounding; NaN where the rate is not known.

    Examples
    --------
    >>> theory(np.arange(4.0), np.array([5.0, 2.0, 1.0, 0.5]), 0.5)
    array([4. , 2. , 1. , 0.5])
    """
    usable = np.flatnonzero(np.isfinite(measured) & (measured > FLOOR))
    if not 0 < rate <= 1 or not len(usable):
        return np.full(len(at), np.nan)
    late = usable[len(usable) // 2 :]
    offset = float(np.median(np.log(measured[late]) - at[late] * np.log(rate)))
    return np.exp(offset + at * np.log(rate))

"""A student's function A ↦ (values, vectors): called with copies of matrices whose eigenpairs are known.

It runs in this process and nothing stops it: a loop without an end does not return, and what it writes to files or to
global variables is written. Only the matrices of the exercise are safe from it.

A new test matrix is one line in `SPECTRA`, or one function and one line in `matrices`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ritz.exercises.answer import UnreadableError
from ritz.exercises.problem import MatrixProblem, Problem
from ritz.linalg.dense import Array
from ritz.runtime.wording import visible

DEFAULT = 3  # components that are asked of a function that has to be told how many
# Name, what it is, and its eigenvalues.
SPECTRA: tuple[tuple[str, str, tuple[float, ...]], ...] = (
    ("separated", "a matrix with well separated eigenvalues", (10.0, 5.0, 2.0, 1.0, 0.5)),
    ("tied", "a matrix with two equal eigenvalues", (4.0, 3.0, 3.0, 1.0, 0.5)),
    ("small_gap", "a matrix with a small gap, λ₂/λ₁ = 0.98", (1.0, 0.98, 0.5, 0.2, 0.1)),
    ("rank_deficient", "a matrix of rank 3", (3.0, 2.0, 1.0, 0.0, 0.0)),
    ("small_numbers", "a matrix of small numbers", (4e-9, 2e-9, 1e-9, 5e-10, 1e-10)),
)


class Trial(NamedTuple):
    """A matrix that a function is called with."""

    code: str
    name: str
    problem: Problem


class Outcome(NamedTuple):
    """What a function returned; or the code and the words for why it cannot be judged."""

    returned: Any = None
    code: str = ""
    text: str = ""
    changed: bool = False  # whether it wrote to its argument
    asked: int = 0  # eigenpairs that it was told to find, or that the exercise asks for


def trials(problem: Problem | None) -> Iterator[Trial]:
    """The matrix of the exercise first, then those of prescribed spectra, from easy to hard."""
    if problem is not None:
        yield Trial("given", problem.name, problem)
    for seed, (code, name, values) in enumerate(SPECTRA):
        yield Trial(code, name, MatrixProblem(with_spectrum(values, seed)))
    yield Trial(
        "orthogonal_start", "a matrix whose first eigenvector is orthogonal to (1, …, 1)", MatrixProblem(hidden())
    )


def with_spectrum(values: tuple[float, ...], seed: int) -> Array:
    """Q diag(λ) Qᵀ with a random orthogonal Q.

    Examples
    --------
    >>> import numpy as np
    >>> np.linalg.eigvalsh(with_spectrum((3.0, 2.0, 1.0), 0)).round(12)
    array([1., 2., 3.])
    """
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    A = (Q * np.asarray(values)) @ Q.T
    return (A + A.T) / 2


def hidden() -> Array:
    """Eigenvalues 6, 4, 3, 2, 1 with the first eigenvector (0, 0, 0, 1, −1)/√2; small integers, so that no rounding
    turns a start that is orthogonal to it."""
    A = np.diag([4.0, 3.0, 1.0, 4.0, 4.0])
    A[3, 4] = A[4, 3] = -2.0
    return A


def called(function: Callable[..., Any], A: Array, k: int | None) -> Outcome:
    """What the function makes of a copy of a matrix."""
    copy, asked = A.copy(), min(k or 0, len(A))
    arguments: tuple[Any, ...] = (copy,)
    if takes_count(function, k):
        asked = min(k or DEFAULT, len(A))
        arguments = (copy, asked)
    try:
        returned = function(*arguments)
    except (Exception, SystemExit) as error:  # whatever a student's code raises, or exit(), is part of the verdict
        said = visible(str(error).split("\n")[0])[:120]
        return Outcome(code="raised", text=f"the function raised {type(error).__name__}: {said}")
    if returned is None:
        return Outcome(code="returned", text="the function returned None; end it with: return values, vectors")
    return Outcome(returned, changed=not np.array_equal(copy, A), asked=asked)


def takes_count(function: Callable[..., Any], k: int | None) -> bool:
    """Whether the function has to be told how many eigenpairs are wanted, or may be and somebody said it."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in places if p.default is p.empty]
    return len(needed) >= 2 or (k is not None and len(places) >= 2)


def unreadable(error: UnreadableError) -> Outcome:
    """A result that is no pair of arrays."""
    return Outcome(code="returned", text=f"expected (values, vectors) from the function; {error.text}")

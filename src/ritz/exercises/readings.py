"""Readings: what an answer may mean, the most likely first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ritz.errors import ParameterError
from ritz.exercises.answer import Answer, UnreadableError, as_values
from ritz.exercises.problem import Problem, RowsProblem

UNIT = 0.1  # of the length of an axis, which may have been rounded


def readings(problem: Problem, answer: Answer, what: str | None) -> list[Answer]:
    """The ways to read what was handed in, where the caller says what it is or leaves it open."""
    if answer.singular:
        return [reading for part in _of_svd(problem, answer) for reading in readings(problem, part, what)]
    kinds = problem.columns if answer.values is None else problem.pairs
    if what == "pairs" and (answer.values is None or answer.array is None):
        raise UnreadableError("wrong_shape", "expected a pair (values, vectors), got one array")
    if what in ("axes", "alpha", "scores"):
        if what not in (*problem.columns, *problem.pairs):
            rule = f"does not go with this exercise; it takes {' or '.join(kinds)}, or pairs"
            raise ParameterError("what", what, rule)
        kinds = (what,)
    sizes = {kind: problem.entries(kind) for kind in kinds}
    p, q = (0, 1) if answer.array is None else answer.array.shape
    alone = answer.array is not None and answer.values is None and q == 1 and p not in sizes.values()
    if what == "values" or answer.array is None or (what is None and alone and p <= problem.dim):
        return [as_values(answer)]
    rank = {kind: (p != sizes[kind]) + (sizes[kind] not in (p, q)) for kind in kinds}
    found = [replace(answer, kind=kind) for kind in sorted(kinds, key=rank.__getitem__)]
    if what is not None or not _are_levels(problem, answer):
        return found
    unit = abs(float(np.linalg.norm(np.asarray(answer.array))) - 1) < UNIT
    return [*found, as_values(answer)] if unit else [as_values(answer), *found]


def _are_levels(problem: Problem, answer: Answer) -> bool:
    """Whether one column could be all eigenvalues: as many, none below 0, and sorted."""
    if answer.array is None or answer.values is not None or answer.array.shape != (problem.dim, 1):
        return False
    steps = np.diff(answer.array[:, 0])
    return bool((answer.array >= 0).all() and ((steps <= 0).all() or (steps >= 0).all()))


def _of_svd(problem: Problem, answer: Answer) -> Iterator[Answer]:
    """V and the eigenvalues of U, S, Vᵀ: S²/(n − ddof) for those of the rows, S for those of the matrix itself."""
    whole = replace(answer, singular=False)
    squared = whole.valued(lambda s: s**2 / problem.divisor)
    ways = [(squared, f"S²/{problem.divisor:.0f}")] if isinstance(problem, RowsProblem) else []
    for part, said in (*ways, (whole, "S")):
        V = np.asarray(part.array)
        for columns, name in ((V, "Vᵀ"), (V.T, "V")):
            source = f"U, S and {name} of a singular value decomposition; V and {said} are read as "
            yield replace(part, array=columns, source=source)

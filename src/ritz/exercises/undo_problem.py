"""Answers to another problem: what the data would have to be for the answer to be right."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ritz.exercises.judge import Case, Scale, solved
from ritz.exercises.problem import KernelProblem, RowsProblem
from ritz.linalg.dense import Array

Undo = Callable[[Case], Iterator[Case]]


def with_center(center: bool) -> Undo:
    """The rows were centred, or not."""

    def undo(case: Case) -> Iterator[Case]:
        if isinstance(case.problem, RowsProblem) and case.problem.center is not center:
            yield case._replace(problem=case.problem.other(center=center))

    return undo


def with_scale(scale: bool) -> Undo:
    """The columns were scaled, or not."""

    def undo(case: Case) -> Iterator[Case]:
        if isinstance(case.problem, RowsProblem) and case.problem.scale is not scale:
            yield case._replace(problem=case.problem.other(scale=scale))

    return undo


def with_rows(change: Callable[[Array], Array]) -> Undo:
    """Something else was subtracted in place of the mean of every column."""

    def undo(case: Case) -> Iterator[Case]:
        problem = case.problem
        if isinstance(problem, RowsProblem) and problem.center:
            yield case._replace(problem=problem.from_rows(change, center=False))

    return undo


def transposed_data(case: Case) -> Iterator[Case]:
    """Rows were taken for columns."""
    problem = case.problem
    if (
        isinstance(problem, RowsProblem)
        and min(problem.X.shape) > problem.ddof
        and case.answer.kind in ("axes", "values")
    ):
        yield case._replace(problem=problem.from_rows(np.transpose, problem.center))


def uncentred_kernel(case: Case) -> Iterator[Case]:
    """The kernel matrix itself was decomposed."""
    if isinstance(case.problem, KernelProblem) and case.problem.center:
        yield case._replace(problem=case.problem.other(center=False))


def regression(case: Case) -> Iterator[Case]:
    """The first axis is the least-squares line of one of two columns on the other."""
    problem, answer = case.problem, case.answer
    if (
        not isinstance(problem, RowsProblem)
        or answer.kind != "axes"
        or not problem.solution.dim == len(np.atleast_1d(answer.array)) == 2
    ):
        return
    C, u = problem.matrix, np.asarray(answer.array)[:, 0]
    allowed = case.tol + answer.coarse + Scale.of(case).own
    for line in (C[0], C[1]):  # (1, b) with b = Sxy/Sxx, and (b, 1) with b = Sxy/Syy
        sine = abs(u[0] * line[1] - u[1] * line[0]) / max(np.hypot(*u) * np.hypot(*line), 1e-300)
        if sine <= allowed and np.hypot(*line) > 0:
            yield case._replace(answer=solved(case))

"""Answers to another problem: what the data would have to be for the answer to be right."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ritz.exercises.case import Case
from ritz.exercises.judge import solved
from ritz.exercises.mistake import Mistake, Undo
from ritz.exercises.problem import KernelProblem, RowsProblem
from ritz.exercises.tolerance import Scale
from ritz.linalg.dense import Array


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
    if not isinstance(problem, RowsProblem) or answer.kind != "axes" or answer.array is None:
        return
    if not problem.solution.dim == len(answer.array) == 2:
        return
    C, u = problem.matrix, answer.array[:, 0]
    allowed = case.tol + answer.coarse + Scale.of(case).own
    for line in (C[0], C[1]):  # (1, b) with b = Sxy/Sxx, and (b, 1) with b = Sxy/Syy
        sine = abs(u[0] * line[1] - u[1] * line[0]) / max(np.hypot(*u) * np.hypot(*line), 1e-300)
        if sine <= allowed and np.hypot(*line) > 0:
            yield case._replace(answer=solved(case))


def less_grand_mean(X: Array) -> Array:
    """One number subtracted from all entries."""
    return X - X.mean()


def less_row_means(X: Array) -> Array:
    """The mean of every row subtracted."""
    return X - X.mean(axis=1, keepdims=True)


OF_PROBLEM: tuple[Mistake, ...] = (
    Mistake(
        "not_centred",
        "problem",
        with_center(False),
        "the data was not centred: the first axis then points to the mean.",
        "subtract the mean of every column first: Z = X - X.mean(axis=0).",
    ),
    Mistake(
        "centred",
        "problem",
        with_center(True),
        "the data was centred, but this exercise asks for the second moments XᵀX as they are.",
        "leave the mean in, or call check with center=True.",
    ),
    Mistake(
        "scaled",
        "problem",
        with_scale(True),
        "the columns were divided by their standard deviations, which this exercise does not ask for.",
        "leave the columns in their units, or call check with scale=True.",
    ),
    Mistake(
        "not_scaled",
        "problem",
        with_scale(False),
        "the columns were not divided by their standard deviations, so large units dominate.",
        "divide after centring: Z / Z.std(axis=0, ddof=1).",
    ),
    Mistake(
        "grand_mean",
        "problem",
        with_rows(less_grand_mean),
        "one mean of all entries was subtracted instead of the mean of every column.",
        "name the axis: X - X.mean(axis=0).",
    ),
    Mistake(
        "rows_centred",
        "problem",
        with_rows(less_row_means),
        "the mean of every row was subtracted instead of the mean of every column.",
        "points are rows here, so average over rows: X - X.mean(axis=0).",
    ),
    Mistake(
        "points_in_columns",
        "problem",
        transposed_data,
        "rows and columns of the data are mixed up: the points were taken from the columns.",
        "points are rows here: use X.T, or numpy.cov(X, rowvar=False).",
    ),
    Mistake(
        "kernel_not_centred",
        "problem",
        uncentred_kernel,
        "the kernel matrix was not centred in feature space.",
        "centre it on both sides: Kc = H @ K @ H with H = I - 1/n.",
    ),
    Mistake(
        "regression_line",
        "problem",
        regression,
        "this is the regression line, which minimises vertical distances (or horizontal ones), not perpendicular ones.",
        "take the eigenvector of the covariance with the largest eigenvalue.",
    ),
)

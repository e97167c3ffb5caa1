"""Answers to another problem: what the data would have to be for the answer to be right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ritz.exercises.case import Case
from ritz.exercises.mistake import Mistake, Undo
from ritz.exercises.mistakes_of_form import same, vectors_solved
from ritz.exercises.problem import KernelProblem, Problem, RowsProblem
from ritz.linalg.dense import Array

HUNDREDTH = 0.005  # what rounding to two decimals may change


def asked(of: type[Problem], **option: Any) -> Undo:
    """An option of the exercise was taken for this value."""
    [(name, value)] = option.items()

    def undo(case: Case) -> Iterator[Case]:
        if isinstance(case.problem, of) and getattr(case.problem, name) is not value:
            yield from posed(case, case.problem.other(**option))

    return undo


def posed(case: Case, problem: Problem) -> Iterator[Case]:
    """The answer to another problem; its values may be those, or the variances of the asked one along its columns."""
    yield replace(case, problem=problem)
    values = case.answer.values
    if case.answer.array is not None and values is not None and case.fits and same(values, case.captured, case):
        yield replace(case.with_answer(values=None, grain=0.0), problem=problem)


def with_rows(change: Callable[[Array], Array]) -> Undo:
    """Something else was subtracted in place of the mean of every column."""

    def undo(case: Case) -> Iterator[Case]:
        if isinstance(case.problem, RowsProblem) and case.problem.center:
            yield replace(case, problem=case.problem.other(change, center=False))

    return undo


def transposed_data(case: Case) -> Iterator[Case]:
    """Rows were taken for columns."""
    problem, answer = case.problem, case.answer
    if not isinstance(problem, RowsProblem) or min(problem.X.shape) <= problem.ddof:
        return
    if answer.kind == "values" or (answer.kind == "axes" and len(np.asarray(answer.array)) == problem.n_rows):
        yield replace(case, problem=problem.other(np.transpose))


def regression(case: Case) -> Iterator[Case]:
    """The first axis is the least-squares line of one of two columns on the other; a second one is that of the other,
    or perpendicular."""
    answer = case.answer
    if not isinstance(case.problem, RowsProblem) or answer.kind != "axes" or case.problem.dim != 2 or not case.fits:
        return
    U, lines = np.asarray(answer.array), case.problem.matrix  # (1, b) with b = Sxy/Sxx, and (b, 1) with b = Sxy/Syy
    for line, other in (lines, lines[::-1]):
        along = parallel(U[:, 0], line, case)
        if along and (answer.count == 1 or any(parallel(U[:, 1], u, case) for u in (other, [-U[1, 0], U[0, 0]]))):
            yield vectors_solved(case)


def kept(case: Case) -> Iterator[Case]:
    """Every axis has one entry, or every column of the scores is a column of the data."""
    if case.answer.array is None or not case.fits or case.problem.dim < 2:
        return
    axes = case.answer.kind == "axes" and (np.count_nonzero(case.answer.array, axis=0) == 1).all()
    rounded = HUNDREDTH * np.sqrt(case.problem.dim)  # nearer axes have no other entries to two decimals
    if (axes and case.axes.found.max() > rounded) or _are_columns(case):
        yield vectors_solved(case)


def _are_columns(case: Case) -> bool:
    """Whether scores are columns of the rows, as they are or prepared."""
    if not isinstance(case.problem, RowsProblem) or case.answer.kind != "scores":
        return False
    X, scores = case.problem.X, np.asarray(case.answer.array)[:, :, None]
    columns = np.hstack([X, X - X.mean(axis=0), case.problem.Z])[:, None, :]
    far = np.abs(scores - columns).max(axis=0) > case.tol * np.abs(columns).max(axis=0)  # (k, 3d)
    return not far.all(axis=1).any()


def parallel(u: Array, line: Array | list[float], case: Case) -> bool:
    """Whether two vectors of the plane have the same direction."""
    sizes = float(np.hypot(*u) * np.hypot(*line))
    return sizes > 0 and abs(u[0] * line[1] - u[1] * line[0]) <= (case.tol + case.scale.coarse + case.scale.own) * sizes


def less_grand_mean(X: Array) -> Array:
    """One number subtracted from all entries."""
    return X - X.mean()


def scaled_alone(case: Case) -> Iterator[Case]:
    """Columns were divided by their standard deviations, and their means left in."""
    problem = case.problem
    if isinstance(problem, RowsProblem) and problem.scale and problem.center:
        yield replace(case, problem=problem.other(partial(divided, ddof=problem.ddof), center=False, scale=False))


def divided(X: Array, ddof: int) -> Array:
    """By standard deviations."""
    deviations = X.std(axis=0, ddof=ddof)
    return X / np.where(deviations > 0, deviations, 1.0)


def the_matrix(case: Case) -> Iterator[Case]:
    """The matrix of the exercise, or that of correlations, in place of its eigenvectors."""
    array, problem, C = case.answer.array, case.problem, case.problem.matrix
    if array is None or array.shape != C.shape:
        return
    sizes = np.sqrt(np.diag(C))
    R = C / np.outer(sizes, sizes) if sizes.all() else C
    near = (case.tol + case.scale.coarse) * np.abs(array).max()
    if any(np.abs(array - M).max() <= near for M in (C, R)):
        yield case.with_answer(kind=problem.pairs[0], array=problem.solution.vectors)


def less_row_means(X: Array) -> Array:
    """The mean of every row subtracted."""
    return X - X.mean(axis=1, keepdims=True)


def less_both_means(X: Array) -> Array:
    """Those of rows and of columns subtracted."""
    return less_row_means(X - X.mean(axis=0))


OF_PROBLEM: tuple[Mistake, ...] = (
    Mistake(
        "not_centred",
        "problem",
        asked(RowsProblem, center=False),
        "the data was not centred: the first axis then points to the mean.",
        "subtract the mean of every column first: Z = {Z}.",
    ),
    Mistake(
        "not_centred",
        "problem",
        scaled_alone,
        "the columns were divided by their standard deviations, but their means were not subtracted.",
        "subtract the mean of every column first: Z = {Z}.",
    ),
    Mistake(
        "centred",
        "problem",
        asked(RowsProblem, center=True),
        "the data was centred, but this exercise asks for the second moments XᵀX as they are.",
        "leave the mean in, Z = {Z}, or call check with center=True.",
    ),
    Mistake(
        "scaled",
        "problem",
        asked(RowsProblem, scale=True),
        "the columns were divided by their standard deviations, which this exercise does not ask for.",
        "leave the columns in their units, Z = {Z}, or call check with scale=True.",
    ),
    Mistake(
        "not_scaled",
        "problem",
        asked(RowsProblem, scale=False),
        "the columns were not divided by their standard deviations, so large units dominate.",
        "divide every column: Z = {Z}.",
    ),
    Mistake(
        "grand_mean",
        "problem",
        with_rows(less_grand_mean),
        "one mean of all entries was subtracted instead of the mean of every column.",
        "name the axis: Z = {Z}.",
    ),
    Mistake(
        "rows_centred",
        "problem",
        with_rows(less_row_means),
        "the mean of every row was subtracted instead of the mean of every column.",
        "points are rows here, so average over rows: Z = {Z}.",
    ),
    Mistake(
        "rows_centred",
        "problem",
        with_rows(less_both_means),
        "the mean of every row was subtracted too, beside the mean of every column.",
        "points are rows here, so subtract the means of the columns alone: Z = {Z}.",
    ),
    Mistake(
        "points_in_columns",
        "problem",
        transposed_data,
        "rows and columns of the data are mixed up: the points were taken from the columns.",
        "points are rows here: C = Z.T @ Z / ({divisor}) with Z = {Z}.",
    ),
    Mistake(
        "kernel_not_centred",
        "problem",
        asked(KernelProblem, center=False),
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
    Mistake(
        "matrix_itself",
        "problem",
        the_matrix,
        "this is the matrix itself (or that of correlations), not its eigenvectors.",
        "decompose it: values, vectors = numpy.linalg.eigh({symbol}); U = vectors[:, ::-1].",
    ),
    Mistake(
        "columns_kept",
        "problem",
        kept,
        "columns of the data were kept as they are, and any others dropped; principal axes combine all columns.",
        "take the eigenvectors with the largest eigenvalues: numpy.linalg.eigh({symbol})[1][:, ::-1][:, :k].",
    ),
)

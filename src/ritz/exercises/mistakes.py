"""The table of mistakes. A new one is a line in `MISTAKES`, with a function that undoes it, and three tests.

A mistake is known by undoing it: if the answer becomes right when columns are read as rows, they stand in rows; if it
is right for the rows without centring, they were not centred. So a cause is named only where it explains every digit.
The general ones, at the end of the table, are tried where none of the others explains the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ritz.errors import DataError
from ritz.exercises import undo_form as form
from ritz.exercises import undo_problem as other
from ritz.exercises import undo_scaling as scaling
from ritz.exercises.judge import Case, judge
from ritz.exercises.undo_problem import Undo
from ritz.linalg.dense import Array


@dataclass(frozen=True)
class Mistake:
    """A typical mistake.

    Attributes
    ----------
    code : for programs
    family : "problem", "values", "form", "lengths"; two mistakes that are made together are of different families
    undo : the cases in which the answer would be right, had this mistake been made
    text, advice : what happened, and what to do next
    """

    code: str
    family: str
    undo: Undo
    text: str
    advice: str


def less_grand_mean(X: Array) -> Array:
    """One number subtracted from all entries."""
    return X - X.mean()


def less_row_means(X: Array) -> Array:
    """The mean of every row subtracted."""
    return X - X.mean(axis=1, keepdims=True)


def by_divisors(v: Array, problem: other.RowsProblem) -> Array:
    """From the divisor that was not asked for to the one that was."""
    n = len(problem.X)
    return v * n / (n - 1) if problem.ddof else v * (n - 1) / n


def by_other_divisors(v: Array, problem: other.RowsProblem) -> Array:
    """Where the deviation was taken with one divisor and the covariance with the other."""
    n = len(problem.X)
    return v * (n - 1) / n if problem.ddof else v * n / (n - 1)


MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "transposed",
        "form",
        form.rows_for_columns,
        "the vectors stand in rows; here every column is one vector.",
        "hand in the transpose: U.T (numpy's svd returns Vᵀ, scikit-learn's components_ are rows).",
    ),
    Mistake(
        "ascending_order",
        "form",
        form.reversed_order,
        "the right ones, but the smallest comes first; numpy.linalg.eigh sorts upwards.",
        "turn the order around: values[::-1], vectors[:, ::-1].",
    ),
    Mistake(
        "smallest_taken",
        "form",
        form.smallest,
        "these are the directions of least variance; numpy.linalg.eigh sorts upwards, and its first columns were taken.",
        "take the last columns, largest first: vectors[:, ::-1][:, :k].",
    ),
    Mistake(
        "not_centred",
        "problem",
        other.with_center(False),
        "the data was not centred: the first axis then points to the mean.",
        "subtract the mean of every column first: Z = X - X.mean(axis=0).",
    ),
    Mistake(
        "centred",
        "problem",
        other.with_center(True),
        "the data was centred, but this exercise asks for the second moments XᵀX as they are.",
        "leave the mean in, or call check with center=True.",
    ),
    Mistake(
        "scaled",
        "problem",
        other.with_scale(True),
        "the columns were divided by their standard deviations, which this exercise does not ask for.",
        "leave the columns in their units, or call check with scale=True.",
    ),
    Mistake(
        "not_scaled",
        "problem",
        other.with_scale(False),
        "the columns were not divided by their standard deviations, so large units dominate.",
        "divide after centring: Z / Z.std(axis=0, ddof=1).",
    ),
    Mistake(
        "grand_mean",
        "problem",
        other.with_rows(less_grand_mean),
        "one mean of all entries was subtracted instead of the mean of every column.",
        "name the axis: X - X.mean(axis=0).",
    ),
    Mistake(
        "rows_centred",
        "problem",
        other.with_rows(less_row_means),
        "the mean of every row was subtracted instead of the mean of every column.",
        "points are rows here, so average over rows: X - X.mean(axis=0).",
    ),
    Mistake(
        "points_in_columns",
        "problem",
        other.transposed_data,
        "rows and columns of the data are mixed up: the points were taken from the columns.",
        "points are rows here: use X.T, or numpy.cov(X, rowvar=False).",
    ),
    Mistake(
        "kernel_not_centred",
        "problem",
        other.uncentred_kernel,
        "the kernel matrix was not centred in feature space.",
        "centre it on both sides: Kc = H @ K @ H with H = I - 1/n.",
    ),
    Mistake(
        "regression_line",
        "problem",
        other.regression,
        "this is the regression line: it minimises vertical (or horizontal) distances, a principal axis perpendicular ones.",
        "take the eigenvector of the covariance with the largest eigenvalue.",
    ),
    Mistake(
        "divided_by_n",
        "values",
        scaling.values_by(by_divisors, ddof=1),
        "the covariance was divided by n; this exercise divides by n − 1.",
        "divide by n - 1, or call check with ddof=0.",
    ),
    Mistake(
        "divided_by_n_minus_1",
        "values",
        scaling.values_by(by_divisors, ddof=0),
        "the covariance was divided by n − 1; this exercise divides by n.",
        "divide by n (numpy.cov needs ddof=0), or call check with ddof=1.",
    ),
    Mistake(
        "mixed_divisors",
        "values",
        scaling.values_by(by_other_divisors, scale=True),
        "the standard deviations and the covariance were computed with different divisors, n and n − 1.",
        "use the same ddof for both (StandardScaler divides by n, numpy.cov by n - 1).",
    ),
    Mistake(
        "not_divided",
        "values",
        scaling.values_by(lambda v, problem: v / (problem.divisor or 1.0)),
        "these are the eigenvalues of XᵀX (or X Xᵀ), the squared singular values; they were not divided.",
        "divide them by n - ddof to get variances.",
    ),
    Mistake(
        "singular_values",
        "values",
        scaling.values_by(lambda v, problem: v**2 / (problem.divisor or 1.0)),
        "these are singular values, not variances.",
        "square them and divide by n - ddof: s**2 / (n - 1).",
    ),
    Mistake(
        "standard_deviations",
        "values",
        scaling.values_by(lambda v, problem: v**2),
        "these are standard deviations, the roots of the variances.",
        "square them.",
    ),
    Mistake(
        "variance_ratios",
        "values",
        scaling.values_by(lambda v, problem: v * problem.solution.total),
        "these are shares of the total variance, not the variances.",
        "hand in the eigenvalues before they are divided by their sum.",
    ),
    Mistake(
        "kernel_divided",
        "values",
        scaling.kernel_values,
        "these are the eigenvalues of K/n; this exercise asks for those of the centred kernel matrix K.",
        "multiply them by n.",
    ),
    Mistake(
        "alpha_not_normalised",
        "lengths",
        scaling.columns_by("alpha", scaling.one_over(scaling.root_kappa)),
        "these are the unit eigenvectors β of K (the left singular vectors), not α.",
        "divide by the roots of the eigenvalues of K: α = β/√κ. For axes, take w = Zᵀα, with an entry per column of X.",
    ),
    Mistake(
        "alpha_other_divisor",
        "lengths",
        scaling.columns_by("alpha", scaling.root_ratio(0, 1), scaling.root_ratio(1, 0)),
        "α was scaled with n where n − 1 belongs, or the other way round, so that w = Zᵀα is not of length 1.",
        "divide β by √κ, κ the eigenvalue of K: it is (n - 1)·λ for ddof=1 and n·λ for ddof=0.",
    ),
    Mistake(
        "alpha_by_lambda",
        "lengths",
        scaling.columns_by("alpha", scaling.root_count(1), scaling.root_count(0)),
        "β was divided by √λ, λ the eigenvalue of the covariance, instead of √κ, κ the eigenvalue of K.",
        "divide by √κ = √((n - ddof)·λ).",
    ),
    Mistake(
        "alpha_by_kappa",
        "lengths",
        scaling.columns_by("alpha", scaling.root_kappa),
        "β was divided by κ instead of its root.",
        "divide by √κ: then w = Zᵀα has length 1.",
    ),
    Mistake(
        "left_singular_vectors",
        "form",
        form.left_vectors,
        "these are left singular vectors, with an entry for every row of X; axes have one for every column.",
        "take V of X = U S Vᵀ: numpy's svd returns it transposed, so the axes are Vt[:k].T.",
    ),
    Mistake(
        "scores_not_centred",
        "lengths",
        scaling.without_mean,
        "the scores are those of X as it is; their means are not 0.",
        "centre first: (X - X.mean(axis=0)) @ U.",
    ),
    Mistake(
        "scores_whitened",
        "lengths",
        scaling.columns_by("scores", scaling.root_lambda, scaling.root_kappa),
        "every column of the scores was divided by its size; their variances should be the eigenvalues.",
        "hand in Y = Z U itself.",
    ),
    Mistake(
        "loadings",
        "lengths",
        scaling.columns_by("axes", scaling.one_over(scaling.root_lambda)),
        "these are loadings, axes multiplied by √λ.",
        "divide every column by its length.",
    ),
    Mistake(
        "sorted_alone",
        "form",
        form.sorted_alone,
        "the eigenvalues were sorted, and the eigenvectors not with them.",
        "sort both by the same order: i = numpy.argsort(values)[::-1]; values[i], vectors[:, i].",
    ),
    Mistake(
        "wrong_order",
        "form",
        form.any_order,
        "the right ones, but not in descending order.",
        "sort by eigenvalue, largest first: i = numpy.argsort(values)[::-1]; vectors[:, i].",
    ),
    Mistake(
        "first_axis_repeated",
        "form",
        form.repeated,
        "every column is the first axis: what was found was not taken out before looking for the next one.",
        "deflate, A = A - λ v vᵀ, or make every iterate orthogonal to the axes before it.",
    ),
    Mistake(
        "not_the_largest",
        "form",
        form.other_eigenvectors,
        "these are eigenvectors, but not those of the largest eigenvalues; a start orthogonal to the first finds the next.",
        "sort by eigenvalue, largest first; start an iteration from a random vector.",
    ),
    Mistake(
        "signs_lost",
        "form",
        form.signs,
        "the entries have the right sizes, but some have the wrong sign; only a whole column may change its sign.",
        "leave the signs as they come, without abs().",
    ),
)
GENERAL: tuple[Mistake, ...] = (
    Mistake(
        "wrong_length",
        "lengths",
        scaling.lengths,
        "the directions are right, the lengths are not.",
        "divide every axis by its length, U / numpy.linalg.norm(U, axis=0); α so that Zᵀα has length 1; leave scores alone.",
    ),
    Mistake(
        "rotated_basis",
        "general",
        form.rotated,
        "this is a rotated basis of the right subspace: same span and same error, but UᵀCU is not diagonal.",
        "rotate it: values, R = numpy.linalg.eigh(U.T @ C @ U); U = (U @ R)[:, ::-1].",
    ),
    Mistake(
        "not_orthogonal",
        "general",
        form.oblique,
        "the columns span the right subspace, but they are not orthonormal.",
        "orthonormalise them (numpy.linalg.qr), then take the eigenvectors inside: numpy.linalg.eigh(Q.T @ C @ Q).",
    ),
    Mistake(
        "not_converged",
        "general",
        form.nearly,
        "close, but not there: an iteration stopped too early, or digits were lost by rounding.",
        "iterate until the residual ‖Cu − λu‖ is small, not only the change of λ; or pass tol= if this is close enough.",
    ),
    Mistake(
        "first_axis_only",
        "general",
        form.first_only,
        "the first axis is right, a later one is not: look at the deflation, A = A - λ v vᵀ.",
        "check that later axes are orthogonal to the earlier ones and are eigenvectors: ‖Cu − λu‖ small.",
    ),
)


def explains(mistake: Mistake, case: Case) -> Iterator[Case]:
    """What is left when the mistake is undone; nothing where the data does not allow it."""
    try:
        yield from mistake.undo(case)
    except DataError:  # such as a column without variance that cannot be scaled
        return


def is_right(case: Case) -> bool:
    """Whether the answer of a case is right; one whose problem has no solution is not."""
    try:
        with np.errstate(all="ignore"):
            found = judge(case)
    except DataError:
        return False
    return found is not None and found.right


def single(case: Case) -> tuple[Mistake, ...]:
    """The mistake that explains every digit of an answer."""
    return next(((mistake,) for mistake in MISTAKES if any(map(is_right, explains(mistake, case)))), ())


def double(case: Case) -> tuple[Mistake, ...]:
    """Two mistakes that explain an answer together."""
    return next(_pairs(case), ())


def _pairs(case: Case) -> Iterator[tuple[Mistake, ...]]:
    for first in MISTAKES:
        for between in explains(first, case):
            for second in MISTAKES:
                if first.family != second.family and any(map(is_right, explains(second, between))):
                    yield first, second


def likely(case: Case) -> tuple[Mistake, ...]:
    """The general mistake that an answer looks like."""
    return next(((mistake,) for mistake in GENERAL if any(map(is_right, explains(mistake, case)))), ())


CODES = tuple(mistake.code for mistake in (*MISTAKES, *GENERAL))
DIAGNOSES = (single, double, likely)  # from the surest to the least sure

"""Right directions with other lengths, and right eigenvalues in other units."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ritz.exercises.case import Case, fits
from ritz.exercises.mistake import Mistake, Undo
from ritz.exercises.problem import KernelProblem, Problem, RowsProblem
from ritz.linalg.dense import Array

Factor = Callable[[Problem, int], float | Array]  # of a problem and the number of columns


def values_by(
    change: Callable[[Array, RowsProblem], Array], ddof: int | None = None, scale: bool | None = None
) -> Undo:
    """Eigenvalues of rows are what `change` makes of those handed in; with that ddof or scaling alone."""

    def undo(case: Case) -> Iterator[Case]:
        problem, values = case.problem, case.answer.values
        if values is None or not isinstance(problem, RowsProblem):
            return
        if ddof in (None, problem.ddof) and scale in (None, problem.scale):
            yield case.with_answer(values=change(values, problem))

    return undo


def kernel_values(case: Case) -> Iterator[Case]:
    """Eigenvalues of K/n, or of K/(n − 1)."""
    values, problem = case.answer.values, case.problem
    if values is not None and isinstance(problem, KernelProblem):
        for divisor in (len(problem.X), len(problem.X) - 1):
            yield case.with_answer(values=values * divisor)


def columns_by(kind: str, *factors: Factor) -> Undo:
    """Columns of that kind are right when they are multiplied by one of the factors."""

    def undo(case: Case) -> Iterator[Case]:
        array, problem = case.answer.array, case.problem
        if array is None or case.answer.kind != kind or not fits(case) or problem.divisor is None:
            return
        if case.answer.count <= problem.solution.rank:
            for factor in factors:
                yield case.with_answer(array=array * factor(problem, case.answer.count))

    return undo


def root_kappa(problem: Problem, k: int) -> Array:
    """√κ, κ eigenvalues of K."""
    return np.sqrt(problem.kappa[:k])


def root_lambda(problem: Problem, k: int) -> Array:
    """√λ, λ eigenvalues of the covariance."""
    return np.sqrt(problem.solution.values[:k])


def one_over(factor: Factor) -> Factor:
    """1/√κ, 1/√λ."""
    return lambda problem, k: 1.0 / factor(problem, k)


def root_ratio(more: int, less: int) -> Factor:
    """√((n − more)/(n − less)); 1 where there would be no rows left, or K has no divisor."""

    def factor(problem: Problem, k: int) -> float:
        n = problem.n_rows or 2
        return float(np.sqrt((n - more) / (n - less))) if n > 1 else 1.0

    return factor


def root_count(ddof: int) -> Factor:
    """1/√(n − ddof)."""
    return lambda problem, k: 1.0 / float(np.sqrt(max((problem.n_rows or 2) - ddof, 1)))


def without_mean(case: Case) -> Iterator[Case]:
    """Scores of rows that were not centred: off by the same row everywhere."""
    array = case.answer.array
    centred = isinstance(case.problem, RowsProblem) and case.problem.center
    if case.answer.kind == "scores" and array is not None and centred:
        yield case.with_answer(array=array - array.mean(axis=0))


def by_divisors(v: Array, problem: RowsProblem) -> Array:
    """From the divisor that was not asked for to the one that was."""
    n = len(problem.X)
    return v * n / (n - 1) if problem.ddof else v * (n - 1) / n


def by_other_divisors(v: Array, problem: RowsProblem) -> Array:
    """Where the deviation was taken with one divisor and the covariance with the other."""
    n = len(problem.X)
    return v * (n - 1) / n if problem.ddof else v * n / (n - 1)


OF_SCALING: tuple[Mistake, ...] = (
    Mistake(
        "divided_by_n",
        "values",
        values_by(by_divisors, ddof=1),
        "the covariance was divided by n; this exercise divides by n − 1.",
        "divide by n - 1, or call check with ddof=0.",
    ),
    Mistake(
        "divided_by_n_minus_1",
        "values",
        values_by(by_divisors, ddof=0),
        "the covariance was divided by n − 1; this exercise divides by n.",
        "divide by n (numpy.cov needs ddof=0), or call check with ddof=1.",
    ),
    Mistake(
        "mixed_divisors",
        "values",
        values_by(by_other_divisors, scale=True),
        "the standard deviations and the covariance were computed with different divisors, n and n − 1.",
        "use the same ddof for both (StandardScaler divides by n, numpy.cov by n - 1).",
    ),
    Mistake(
        "not_divided",
        "values",
        values_by(lambda v, problem: v / (problem.divisor or 1.0)),
        "these are the eigenvalues of XᵀX (or X Xᵀ), the squared singular values; they were not divided.",
        "divide them by n - ddof to get variances.",
    ),
    Mistake(
        "singular_values",
        "values",
        values_by(lambda v, problem: v**2 / (problem.divisor or 1.0)),
        "these are singular values, not variances.",
        "square them and divide by n - ddof: s**2 / (n - 1).",
    ),
    Mistake(
        "standard_deviations",
        "values",
        values_by(lambda v, problem: v**2),
        "these are standard deviations, the roots of the variances.",
        "square them.",
    ),
    Mistake(
        "variance_ratios",
        "values",
        values_by(lambda v, problem: v * problem.solution.total),
        "these are shares of the total variance, not the variances.",
        "hand in the eigenvalues before they are divided by their sum.",
    ),
    Mistake(
        "kernel_divided",
        "values",
        kernel_values,
        "these are the eigenvalues of K/n; this exercise asks for those of the centred kernel matrix K.",
        "multiply them by n.",
    ),
    Mistake(
        "alpha_not_normalised",
        "lengths",
        columns_by("alpha", one_over(root_kappa)),
        "these are the unit eigenvectors β of K (the left singular vectors), not α.",
        "divide by the roots of the eigenvalues of K: α = β/√κ. For axes, take w = Zᵀα, with an entry per column of X.",
    ),
    Mistake(
        "alpha_other_divisor",
        "lengths",
        columns_by("alpha", root_ratio(0, 1), root_ratio(1, 0)),
        "α was scaled with n where n − 1 belongs, or the other way round, so that w = Zᵀα is not of length 1.",
        "divide β by √κ, κ the eigenvalue of K: it is (n - 1)·λ for ddof=1 and n·λ for ddof=0.",
    ),
    Mistake(
        "alpha_by_lambda",
        "lengths",
        columns_by("alpha", root_count(1), root_count(0)),
        "β was divided by √λ, λ the eigenvalue of the covariance, instead of √κ, κ the eigenvalue of K.",
        "divide by √κ = √((n - ddof)·λ).",
    ),
    Mistake(
        "alpha_by_kappa",
        "lengths",
        columns_by("alpha", root_kappa),
        "β was divided by κ instead of its root.",
        "divide by √κ: then w = Zᵀα has length 1.",
    ),
    Mistake(
        "scores_not_centred",
        "lengths",
        without_mean,
        "the scores are those of X as it is; their means are not 0.",
        "centre first: (X - X.mean(axis=0)) @ U.",
    ),
    Mistake(
        "scores_whitened",
        "lengths",
        columns_by("scores", root_lambda, root_kappa),
        "every column of the scores was divided by its size; their variances should be the eigenvalues.",
        "hand in Y = Z U itself.",
    ),
    Mistake(
        "loadings",
        "lengths",
        columns_by("axes", one_over(root_lambda)),
        "these are loadings, axes multiplied by √λ.",
        "divide every column by its length.",
    ),
)

"""Right directions with other lengths, and right eigenvalues in other units."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ritz.exercises.case import Case
from ritz.exercises.mistake import Mistake, Undo
from ritz.exercises.problem import KernelProblem, Problem, RowsProblem
from ritz.linalg.dense import Array, column_norms

Factor = Callable[[Problem], float | Array]  # of a problem: one number, or one for every component


def values_by(change: Callable[[Array, Any], Array], of: type[Problem] = RowsProblem, **options: Any) -> Undo:
    """Eigenvalues are what `change` makes of those handed in; for exercises of that type with these options alone."""

    def undo(case: Case) -> Iterator[Case]:
        problem = case.problem
        if case.answer.values is None or not isinstance(problem, of):
            return
        if all(getattr(problem, name) == value for name, value in options.items()):
            yield replace(case, answer=case.answer.valued(lambda v: change(v, problem)))

    return undo


def columns_by(kind: str, *factors: Factor) -> Undo:
    """Columns of that kind are right when they are multiplied by one of the factors."""

    def undo(case: Case) -> Iterator[Case]:
        array, problem, k = case.answer.array, case.problem, case.answer.count
        if array is None or case.answer.kind != kind or problem.n_rows < 2 or not case.fits:
            return
        if k <= problem.solution.rank:
            for factor in factors:
                yield case.with_answer(array=array * np.broadcast_to(factor(problem), problem.kappa.shape)[:k])

    return undo


def root_kappa(problem: Problem) -> Array:
    """√κ, κ eigenvalues of K."""
    return np.sqrt(problem.kappa)


def root_lambda(problem: Problem) -> Array:
    """√λ, λ eigenvalues of the covariance."""
    return np.sqrt(problem.solution.values)


def more_than_one(problem: Problem) -> float:
    """√(n/(n − 1)): a root of an eigenvalue of the covariance with one divisor, over that with the other."""
    return float(np.sqrt(problem.n_rows / (problem.n_rows - 1)))


def by_other_divisor(v: Array, problem: Any) -> Array:
    """Where the deviations were taken with one divisor and the covariance with the other."""
    ratio = problem.n_rows / (problem.n_rows - 1)
    return v / ratio if problem.ddof else v * ratio


def increments(v: Array) -> Array:
    """What cumulative sums are sums of."""
    return np.diff(v, prepend=0.0)


def without_mean(case: Case) -> Iterator[Case]:
    """Scores that were not centred: off by the same row everywhere."""
    array = case.answer.array
    if case.answer.kind == "scores" and array is not None and getattr(case.problem, "center", False):
        centred = array - array.mean(axis=0)
        shorter = column_norms(array) / np.maximum(column_norms(centred), 1e-300)
        yield case.with_answer(array=centred, coarse=min(1.0, case.answer.coarse * float(shorter.max())))


def of_type(kind: type[Problem], undo: Undo) -> Undo:
    """For exercises of that type alone."""
    return lambda case: undo(case) if isinstance(case.problem, kind) else iter(())


OF_SCALING: tuple[Mistake, ...] = (
    Mistake(
        "divided_by_n",
        "values",
        values_by(lambda v, p: v * p.n_rows / (p.n_rows - 1), ddof=1),
        "the covariance was divided by n; this exercise divides by n − 1.",
        "divide by n - 1{or_ddof}.",
    ),
    Mistake(
        "divided_by_n_minus_1",
        "values",
        values_by(lambda v, p: v * (p.n_rows - 1) / p.n_rows, ddof=0),
        "the covariance was divided by n − 1; this exercise divides by n.",
        "divide by n (numpy.cov needs ddof=0){or_ddof}.",
    ),
    Mistake(
        "mixed_divisors",
        "values",
        values_by(by_other_divisor, scale=True),
        "the standard deviations and the covariance were computed with different divisors, n and n − 1.",
        "use the same ddof for both (StandardScaler divides by n, numpy.cov by n - 1).",
    ),
    Mistake(
        "not_divided",
        "values",
        values_by(lambda v, p: v / p.divisor),
        "these are the eigenvalues of XᵀX (or X Xᵀ), the squared singular values; they were not divided.",
        "divide them by {divisor} to get variances.",
    ),
    Mistake(
        "singular_values",
        "values",
        values_by(lambda v, p: v**2 / p.divisor),
        "these are singular values, not variances.",
        "square them and divide by {divisor}: s**2 / ({divisor}).",
    ),
    Mistake(
        "standard_deviations",
        "values",
        values_by(lambda v, p: v**2, Problem),
        "these are the roots of the eigenvalues, standard deviations, not the eigenvalues.",
        "square them.",
    ),
    Mistake(
        "variance_ratios",
        "values",
        values_by(lambda v, p: v * p.solution.total, Problem),
        "these are shares of the total variance, not the variances.",
        "hand in the eigenvalues before they are divided by their sum.",
    ),
    Mistake(
        "variance_ratios",
        "values",
        values_by(lambda v, p: v * p.solution.total / 100, Problem),
        "these are percentages of the total variance, not the variances.",
        "hand in the eigenvalues before they are divided by their sum.",
    ),
    Mistake(
        "cumulative",
        "values",
        values_by(lambda v, p: increments(v) * p.solution.total, Problem),
        "these are cumulative sums: every number has those before it in it.",
        "hand in the eigenvalues themselves, before they are divided and summed.",
    ),
    Mistake(
        "cumulative",
        "values",
        values_by(lambda v, p: increments(v) * p.solution.total / 100, Problem),
        "these are cumulative percentages: every number has those before it in it.",
        "hand in the eigenvalues themselves, before they are divided and summed.",
    ),
    Mistake(
        "cumulative",
        "values",
        values_by(lambda v, p: increments(v), Problem),
        "these are cumulative sums: every number has those before it in it.",
        "hand in the eigenvalues themselves, before they are summed.",
    ),
    Mistake(
        "kernel_divided",
        "values",
        values_by(lambda v, p: v * p.n_rows, KernelProblem),
        "these are the eigenvalues of K/n; this exercise asks for those of the centred kernel matrix K.",
        "multiply them by n.",
    ),
    Mistake(
        "kernel_divided",
        "values",
        values_by(lambda v, p: v * (p.n_rows - 1), KernelProblem),
        "these are the eigenvalues of K/(n − 1); this exercise asks for those of the centred kernel matrix K.",
        "multiply them by n - 1.",
    ),
    Mistake(
        "alpha_not_normalised",
        "lengths",
        columns_by("alpha", lambda p: 1 / root_kappa(p)),
        "these are the unit eigenvectors β of K (the left singular vectors), not α.",
        "divide by the roots of the eigenvalues of K: α = β/√κ. For axes, take w = Zᵀα, with an entry per column of X.",
    ),
    Mistake(
        "alpha_other_divisor",
        "lengths",
        columns_by("alpha", more_than_one, lambda p: 1 / more_than_one(p)),
        "α was scaled with n where n − 1 belongs, or the other way round, so that w = Zᵀα is not of length 1.",
        "divide β by √κ, κ the eigenvalue of K: it is (n - 1)·λ for ddof=1 and n·λ for ddof=0.",
    ),
    Mistake(
        "alpha_by_lambda",
        "lengths",
        columns_by("alpha", lambda p: 1 / np.sqrt(p.n_rows - 1), lambda p: 1 / np.sqrt(p.n_rows)),
        "β was divided by √λ, λ the eigenvalue of the covariance, instead of √κ, κ the eigenvalue of K.",
        "divide by √κ, the roots of the eigenvalues of K = Z @ Z.T.",
    ),
    Mistake(
        "alpha_by_n_kappa",
        "lengths",
        columns_by("alpha", lambda p: np.sqrt(p.n_rows), lambda p: np.sqrt(p.n_rows - 1)),
        "β was divided by √(nκ), κ the eigenvalue of K; in α = β/√(nλ), λ is that of K/n, so that nλ = κ.",
        "divide by √κ, the roots of the eigenvalues of K.",
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
        of_type(RowsProblem, without_mean),
        "the scores are those of X as it is; their means are not 0.",
        "centre first: Y = Z @ U with Z = {Z}.",
    ),
    Mistake(
        "scores_not_centred",
        "lengths",
        of_type(KernelProblem, without_mean),
        "the scores are those of a kernel matrix that was not centred; their means are not 0.",
        "centre it on both sides first, Kc = H @ K @ H with H = I - 1/n; then Y = Kc @ α.",
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
        columns_by("axes", lambda p: 1 / root_lambda(p)),
        "these are loadings, axes multiplied by √λ.",
        "divide every column by its length.",
    ),
)

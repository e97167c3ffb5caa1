"""Right directions with other lengths, and right eigenvalues in other units."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ritz.exercises.judge import Case, coordinates, fits
from ritz.exercises.problem import KernelProblem, Problem, RowsProblem
from ritz.exercises.undo_problem import Undo
from ritz.linalg.dense import Array, column_norms

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
    if case.answer.kind == "scores" and array is not None and isinstance(case.problem, RowsProblem):
        if case.problem.center:
            yield case.with_answer(array=array - array.mean(axis=0))


def lengths(case: Case) -> Iterator[Case]:
    """Right directions of any length."""
    array = case.answer.array
    if array is not None and fits(case):
        found = column_norms(coordinates(case))
        if (found > 0).all():
            yield case.with_answer(array=array / found)

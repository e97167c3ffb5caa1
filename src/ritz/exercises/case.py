"""Cases: an answer to a problem, and whether its shape is that of an answer."""

from __future__ import annotations

from typing import Any, NamedTuple

from ritz.exercises.answer import Answer
from ritz.exercises.problem import Problem, RowsProblem


class Case(NamedTuple):
    """An answer to a problem."""

    problem: Problem
    answer: Answer
    tol: float = 1e-6

    def with_answer(self, **changes: Any) -> Case:
        """The same problem, and the answer with something changed."""
        return self._replace(answer=self.answer.but(**changes))


def is_rows(problem: Problem) -> bool:
    """Whether the problem has rows that are preprocessed."""
    return isinstance(problem, RowsProblem)


def rows_of(kind: str, problem: Problem) -> int | None:
    """How many entries a column of that kind has; None where the problem has none of the kind."""
    if kind == "axes":
        return problem.solution.dim
    return None if problem.n_rows is None else problem.n_rows


def fits(case: Case) -> bool:
    """Whether the answer has the shape of its kind, and no more columns than there are directions."""
    problem, answer = case.problem, case.answer
    if answer.array is None:
        return 1 <= answer.count <= problem.solution.dim
    any_direction = answer.kind == "axes" or (answer.kind == "beta" and not is_rows(problem))
    most = problem.solution.dim if any_direction else problem.solution.rank
    return answer.array.shape[0] == rows_of(answer.kind, problem) and answer.count <= most

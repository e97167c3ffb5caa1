"""What a mistake is, and how it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ritz.exercises.case import Case
from ritz.exercises.problem import RowsProblem
from ritz.exercises.verdict import Finding

Undo = Callable[[Case], Iterator[Case]]
# What columns of a kind are called, and M of UᵀMU, which is diagonal for a right answer, and of UᵀMU = I.
KINDS = {"axes": ("U", " @ {C}", ""), "alpha": ("α", " @ K @ K", " @ K"), "beta": ("B", " @ K", "")}


@dataclass(frozen=True)
class Mistake:
    """A typical mistake, known by undoing it.

    Attributes
    ----------
    code : for programs
    family : "problem", "values", "layout", "form", "lengths" or "general"; two mistakes that are made together are of
        different families
    undo : the cases in which the answer would be right, had this mistake been made
    text, advice : what happened, and what to do next; with the names of `formulas` in braces
    """

    code: str
    family: str
    undo: Undo
    text: str
    advice: str

    def told(self, case: Case) -> Finding:
        """The mistake in a verdict, in the formulas of the exercise."""
        return Finding(self.code, self.text, "mistake", False, advice=self.advice.format(**formulas(case)))


def formulas(case: Case) -> dict[str, str]:
    """Of an exercise, so that who follows an advice does what is asked: Z, n − ddof, and UᵀCU of what was handed in."""
    problem = case.problem
    U, middle, between = KINDS.get(case.answer.kind, KINDS["axes"])
    UCU, UU = f"{U}.T{middle} @ {U}".format(C=problem.symbol), f"{U}.T{between} @ {U}"
    found = {"symbol": problem.symbol, "U": U, "UCU": UCU, "UU": UU}
    if not isinstance(problem, RowsProblem):
        return found
    divisor = f"n - {problem.ddof}" if problem.ddof else "n"
    Z = "X - X.mean(axis=0)" if problem.center else "X"
    if problem.scale and problem.center:
        Z = f"({Z}) / X.std(axis=0, ddof={problem.ddof})"
    elif problem.scale:
        Z = f"X / numpy.sqrt((X**2).sum(axis=0) / ({divisor}))"
    # With scaled columns another ddof changes nothing: their deviations are divided by the same number.
    instead = "" if problem.scale else f", or call check with ddof={1 - problem.ddof}"
    return found | {"Z": Z, "divisor": divisor, "or_ddof": instead}

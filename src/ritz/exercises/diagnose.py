"""Diagnosis: the mistake that explains an answer.

A mistake is known by undoing it: if the answer becomes right when columns are read as rows, they stand in rows; if it
is right for the rows without centring, they were not centred. So a cause is named only where it explains every column
and every value, to the tolerance of a right answer. Where columns are other vectors than those asked for (the smallest,
other eigenvectors, the first one again, a line of regression), their directions are compared, not their lengths. The
general ones go by what the answer looks like, and are tried where none of the others explains it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ritz.errors import DataError
from ritz.exercises.case import Case
from ritz.exercises.mistake import Mistake
from ritz.exercises.mistakes_general import GENERAL
from ritz.exercises.mistakes_of_form import OF_FORM
from ritz.exercises.mistakes_of_problem import OF_PROBLEM
from ritz.exercises.mistakes_of_scaling import OF_SCALING

MISTAKES = (*OF_FORM, *OF_PROBLEM, *OF_SCALING)


def explains(mistake: Mistake, case: Case) -> Iterator[Case]:
    """What is left when the mistake is undone; nothing where the data does not allow it."""
    try:
        yield from mistake.undo(case)
    except DataError:  # such as a column without variance that cannot be scaled
        return


def is_right(case: Case) -> bool:
    """Whether the answer of a case is right; one whose problem has no solution is not."""
    try:
        return case.right
    except DataError:
        return False


def single(case: Case) -> tuple[Mistake, ...]:
    """The mistake that explains an answer."""
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


CODES = tuple(dict.fromkeys(mistake.code for mistake in (*MISTAKES, *GENERAL)))
DIAGNOSES = (single, double, likely)  # from the surest to the least sure

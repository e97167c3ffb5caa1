"""Mistakes that are known by what they look like, tried where no other explains the answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ritz.exercises.case import Case
from ritz.exercises.mistake import Mistake
from ritz.exercises.mistakes_of_form import vectors_solved
from ritz.exercises.tolerance import CLOSE


def lengths(case: Case) -> Iterator[Case]:
    """Right directions of any length."""
    if case.answer.array is not None and case.fits and (case.lengths > 0).all():
        yield case.with_answer(array=case.answer.array / case.lengths)


def rotated(case: Case) -> Iterator[Case]:
    """An orthonormal basis of the right subspace, whose axes are not the eigenvectors."""
    if measurable(case) and case.products.holds and not case.axes.holds and case.span.holds:
        yield vectors_solved(case)


def oblique(case: Case) -> Iterator[Case]:
    """The right subspace, by columns that are not orthonormal; it says nothing where all of it is spanned."""
    part = case.answer.count < case.problem.solution.rank
    if part and measurable(case) and not case.products.holds and case.span.holds:
        yield vectors_solved(case)


def measurable(case: Case) -> bool:
    """Whether there are columns that would be orthonormal in a right answer; those of scores would not."""
    return case.answer.array is not None and case.answer.kind != "scores" and case.fits


def first_only(case: Case) -> Iterator[Case]:
    """The first axis is right, a later one is far off."""
    if case.answer.array is not None and case.answer.count > 1 and case.fits:
        right = case.axes.found[0] <= case.axes.allowed[0]
        if right and abs(case.lengths[0] ** 2 - 1) <= case.products.allowed:
            yield vectors_solved(case)


def nearly(case: Case) -> Iterator[Case]:
    """All axes are near the right ones."""
    if case.answer.array is None or not case.fits or case.axes.holds or case.products.found > CLOSE:
        return
    if case.axes.found.max() < CLOSE and (case.values.found <= CLOSE * case.levels[0]).all():
        yield replace(case, answer=case.solved)


GENERAL: tuple[Mistake, ...] = (
    Mistake(
        "wrong_length",
        "lengths",
        lengths,
        "the directions are right, the lengths are not.",
        "axes have length 1, U / numpy.linalg.norm(U, axis=0); α makes Zᵀα of length 1; scores are Z U as it is.",
    ),
    Mistake(
        "rotated_basis",
        "general",
        rotated,
        "this is a rotated basis of the right subspace: same span and same error, but UᵀCU is not diagonal.",
        "rotate it: values, R = numpy.linalg.eigh({UCU}); {U} = ({U} @ R)[:, ::-1].",
    ),
    Mistake(
        "not_converged",
        "general",
        nearly,
        "close, but not there: an iteration stopped too early, or digits were lost by rounding.",
        "iterate until the residual ‖Cu − λu‖ is small, not only the change of λ; or pass a larger tol.",
    ),
    Mistake(
        "not_orthogonal",
        "general",
        oblique,
        "the columns span the right subspace, but they are not orthonormal.",
        "take the eigenvectors inside: values, R = scipy.linalg.eigh({UCU}, {UU}); {U} = ({U} @ R)[:, ::-1].",
    ),
    Mistake(
        "first_axis_only",
        "general",
        first_only,
        "the first axis is right, a later one is not: look at the deflation, A = A - λ v vᵀ.",
        "check that later axes are orthogonal to the earlier ones and are eigenvectors: ‖Cu − λu‖ small.",
    ),
)

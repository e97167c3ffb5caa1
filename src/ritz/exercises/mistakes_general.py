"""Mistakes that are known by what they look like, tried where no other explains the answer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ritz.exercises.case import Case, fits
from ritz.exercises.judge import Judgement, coordinates, judge, solved
from ritz.exercises.mistake import Mistake
from ritz.exercises.mistakes_of_form import vectors_solved
from ritz.linalg.dense import column_norms

CLOSE = 0.25  # sine of the angle (14°) below which an axis counts as on its way


def lengths(case: Case) -> Iterator[Case]:
    """Right directions of any length."""
    array = case.answer.array
    if array is not None and fits(case):
        found = column_norms(coordinates(case))
        if (found > 0).all():
            yield case.with_answer(array=array / found)


def rotated(case: Case) -> Iterator[Case]:
    """An orthonormal basis of the right subspace, whose axes are not the eigenvectors."""
    found = judge(case) if case.answer.kind != "scores" else None
    if found is not None and case.answer.array is not None and found.orthonormal and found.spans and not found.aligned:
        yield vectors_solved(case)


def oblique(case: Case) -> Iterator[Case]:
    """The right subspace, by columns that are not orthonormal; it says nothing where all of it is spanned."""
    part = case.answer.kind != "scores" and case.answer.count < case.problem.solution.rank
    found = judge(case) if part else None
    if found is not None and case.answer.array is not None and found.spans and not found.orthonormal:
        yield vectors_solved(case)


def first_only(case: Case) -> Iterator[Case]:
    """The first axis is right, a later one is far off."""
    found = judge(case)
    if found is not None and case.answer.count > 1 and leading(found):
        yield vectors_solved(case)


def leading(found: Judgement) -> int:
    """How many of the first axes are right."""
    right = (found.axes <= found.allowed_axes) & (np.abs(found.lengths**2 - 1) <= found.allowed_defect)
    return int(np.argmin(right)) if not right.all() else len(right)


def nearly(case: Case) -> Iterator[Case]:
    """All axes are near the right ones."""
    found = judge(case)
    if found is None or case.answer.array is None or found.aligned or found.defect > CLOSE:
        return
    if found.axes.max() < CLOSE and (not len(found.off) or _values_near(case)):
        yield case._replace(answer=solved(case))


def _values_near(case: Case) -> bool:
    """Whether values err no more than those of axes that are only near."""
    values = np.asarray(case.answer.values)
    true = case.problem.solution.first(len(values))
    return bool((np.abs(values - true) <= CLOSE * true[0]).all())


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
        "rotate it: values, R = numpy.linalg.eigh(U.T @ C @ U); U = (U @ R)[:, ::-1].",
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
        "orthonormalise them (numpy.linalg.qr), then take the eigenvectors inside: numpy.linalg.eigh(Q.T @ C @ Q).",
    ),
    Mistake(
        "first_axis_only",
        "general",
        first_only,
        "the first axis is right, a later one is not: look at the deflation, A = A - λ v vᵀ.",
        "check that later axes are orthogonal to the earlier ones and are eigenvectors: ‖Cu − λu‖ small.",
    ),
)

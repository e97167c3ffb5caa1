"""Right things in another form: turned, sorted or signed differently, or other eigenvectors of the same problem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ritz.exercises.case import Case
from ritz.exercises.mistake import Mistake
from ritz.exercises.problem import RowsProblem
from ritz.exercises.tolerance import Group
from ritz.linalg.dense import Array


def rows_for_columns(case: Case) -> Iterator[Case]:
    """The vectors stand in rows."""
    if case.answer.array is not None:
        yield case.with_answer(array=case.answer.array.T)


def reversed_order(case: Case) -> Iterator[Case]:
    """The smallest comes first."""
    array, answer = case.answer.array, case.answer.valued(lambda v: v[::-1])
    yield replace(case, answer=replace(answer, array=None if array is None else array[:, ::-1]))


def smallest(case: Case) -> Iterator[Case]:
    """The first columns of numpy.linalg.eigh, which sorts upwards; or the last ones of a descending order."""
    answer, dim, m = case.answer, case.problem.dim, case.answer.count
    if m >= dim:
        return
    groups = case.actual
    upwards = range(dim - 1, dim - 1 - m, -1)
    for places in (upwards, upwards[::-1]):
        if answer.array is not None and (groups is None or not all(map(partial(_belongs, case), places, groups))):
            continue
        theirs = answer.values is None or same(answer.values, case.problem.solution.first(dim)[list(places)], case)
        if theirs or answer.array is not None:
            yield replace(case, answer=case.solved if theirs else replace(case.solved, values=answer.values))
            return


def sorted_alone(case: Case) -> Iterator[Case]:
    """The values were sorted, the vectors were not."""
    if case.answer.array is not None and case.answer.values is not None and case.fits:
        yield case.with_answer(array=case.answer.array[:, _by_variance(case)])


def any_order(case: Case) -> Iterator[Case]:
    """Right axes in some order, and their values in the same one; or values alone."""
    array, values = case.answer.array, case.answer.values
    if array is None:
        yield replace(case, answer=case.answer.valued(lambda v: np.sort(v)[::-1]))
    elif case.fits:
        order = _by_variance(case)
        same = values is not None and len(values) == len(order)
        answer = case.answer.valued(lambda v: v[order]) if same else case.answer
        yield replace(case, answer=replace(answer, array=array[:, order]))


def other_eigenvectors(case: Case) -> Iterator[Case]:
    """Every column is an eigenvector, but not one of the largest."""
    if case.actual is not None and case.products.holds and not case.axes.holds:
        yield vectors_solved(case)


def repeated(case: Case) -> Iterator[Case]:
    """Every column is the first axis."""
    groups = case.actual if case.answer.count > 1 else None
    if groups and all(start == 0 for start, _ in groups) and not case.products.holds:
        yield vectors_solved(case)


def oblique_ties(case: Case) -> Iterator[Case]:
    """All are eigenvectors, and the right ones, but those of equal eigenvalues are not orthogonal."""
    unit = case.fits and case.actual is not None and (np.abs(case.lengths - 1) <= case.products.allowed).all()
    if unit and sorted(case.actual or ()) == case.expected and not case.products.holds and case.span.holds:
        yield vectors_solved(case)


def signs(case: Case) -> Iterator[Case]:
    """Entries of the right size, some with the wrong sign."""
    if case.answer.array is not None and case.fits:
        right = case.solved.array
        if right is not None and right.shape == case.answer.array.shape:
            yield case.with_answer(array=np.copysign(case.answer.array, right))


def left_vectors(case: Case) -> Iterator[Case]:
    """Columns of U of the SVD Z = U S Vᵀ, with an entry for every row."""
    if isinstance(case.problem, RowsProblem) and case.answer.kind == "axes" and case.answer.array is not None:
        yield case.with_answer(kind="beta")


def _belongs(case: Case, place: int, group: Group) -> bool:
    """Whether the eigenvector of that place, counted over all directions, belongs to a group."""
    rank = case.problem.solution.rank
    return group[0] <= place < group[1] or (place >= rank and group[1] > rank)


def same(values: Array, levels: Array, case: Case) -> bool:
    """Whether values are those of other eigenvectors."""
    if len(values) != len(levels):
        return False
    return bool((np.abs(values - levels) <= case.tol * levels + case.scale.error + case.answer.grain).all())


def _by_variance(case: Case) -> NDArray[np.intp]:
    """The order in which columns have ever less variance."""
    return np.argsort(-case.captured, kind="stable")


def vectors_solved(case: Case) -> Case:
    """The right vectors; values that belong to the wrong ones are forgiven with them."""
    values, right = case.answer.values, case.solved
    theirs = values is not None and case.fits and same(values, case.captured, case)
    return replace(case, answer=right if theirs else replace(right, values=values))


OF_FORM: tuple[Mistake, ...] = (
    Mistake(
        "transposed",
        "layout",
        rows_for_columns,
        "the vectors stand in rows; here every column is one vector.",
        "hand in the transpose: U.T (numpy's svd returns Vᵀ, scikit-learn's components_ are rows); for a list of "
        "vectors, numpy.column_stack(U).",
    ),
    Mistake(
        "ascending_order",
        "form",
        reversed_order,
        "the right ones, but the smallest comes first; numpy.linalg.eigh sorts upwards.",
        "turn the order around: values[::-1], vectors[:, ::-1].",
    ),
    Mistake(
        "smallest_taken",
        "form",
        smallest,
        "these are the directions of least variance; numpy.linalg.eigh sorts upwards, so they come first there.",
        "take the directions of largest variance: of numpy.linalg.eigh, vectors[:, ::-1][:, :k].",
    ),
    Mistake(
        "left_singular_vectors",
        "form",
        left_vectors,
        "these are left singular vectors, with an entry for every row of X; axes have one for every column.",
        "take V of Z = U S Vᵀ: numpy's svd returns it transposed, so the axes are Vt[:k].T.",
    ),
    Mistake(
        "sorted_alone",
        "form",
        sorted_alone,
        "the eigenvalues were sorted, and the eigenvectors not with them.",
        "sort both by the same order: i = numpy.argsort(values)[::-1]; values[i], vectors[:, i].",
    ),
    Mistake(
        "wrong_order",
        "form",
        any_order,
        "the right ones, but not in descending order.",
        "sort by eigenvalue, largest first: i = numpy.argsort(values)[::-1]; vectors[:, i].",
    ),
    Mistake(
        "first_axis_repeated",
        "form",
        repeated,
        "every column is the first axis: what was found was not taken out before looking for the next one.",
        "deflate, A = A - λ v vᵀ, or make every iterate orthogonal to the axes before it.",
    ),
    Mistake(
        "ties_not_orthogonal",
        "form",
        oblique_ties,
        "these are eigenvectors, but those of equal eigenvalues are not orthogonal, as numpy.linalg.eig leaves them.",
        "call numpy.linalg.eigh, which is made for symmetric matrices.",
    ),
    Mistake(
        "not_the_largest",
        "form",
        other_eigenvectors,
        "these are eigenvectors, but not those of the largest eigenvalues.",
        "sort by eigenvalue, largest first; start iterations at random, as a start orthogonal to one misses it.",
    ),
    Mistake(
        "signs_lost",
        "form",
        signs,
        "the entries have the right sizes, but some have the wrong sign; only a whole column may change its sign.",
        "leave the signs as they come, without abs().",
    ),
)

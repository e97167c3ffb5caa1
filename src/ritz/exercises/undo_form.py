"""Right things in another form: turned, sorted or signed differently, or other eigenvectors of the same problem."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ritz.exercises.judge import Case, Judgement, Scale, coordinates, grouped, is_rows, judge, solved
from ritz.linalg.dense import Array

CLOSE = 0.25  # sine of the angle (14°) below which an axis counts as on its way


def rows_for_columns(case: Case) -> Iterator[Case]:
    """The vectors stand in rows."""
    if case.answer.array is not None:
        yield case.with_answer(array=case.answer.array.T)


def reversed_order(case: Case) -> Iterator[Case]:
    """The smallest comes first."""
    array, values = case.answer.array, case.answer.values
    yield case.with_answer(
        array=None if array is None else array[:, ::-1], values=None if values is None else values[::-1]
    )


def smallest(case: Case) -> Iterator[Case]:
    """The first columns of numpy.linalg.eigh, which sorts upwards; or the last ones of a descending order."""
    answer, solution, m = case.answer, case.problem.solution, case.answer.count
    if m >= solution.dim:
        return
    upwards = np.append(solution.values, np.zeros(solution.dim - solution.rank))[::-1]
    for order in (np.s_[:m], np.s_[m - 1 :: -1] if m else np.s_[:0]):
        levels = upwards[order]
        if answer.array is not None:
            homes = eigenvector_groups(case)
            if homes is None or not all(
                _within(solution.dim - 1 - i, home, case)
                for i, home in zip(range(solution.dim)[order], homes, strict=True)
            ):
                continue
        if answer.values is not None and (np.shape(answer.values) != (m,) or not _same(answer.values, levels, case)):
            if answer.array is None:
                continue
            yield case._replace(answer=solved(case).but(values=answer.values))
            return
        yield case._replace(answer=solved(case))
        return


def sorted_alone(case: Case) -> Iterator[Case]:
    """The values were sorted, the vectors were not."""
    if case.answer.array is not None and case.answer.values is not None and (order := _by_variance(case)) is not None:
        yield case.with_answer(array=case.answer.array[:, order])


def any_order(case: Case) -> Iterator[Case]:
    """Right axes in some order, and their values in the same one; or values alone."""
    array, values = case.answer.array, case.answer.values
    if array is None:
        yield case.with_answer(values=np.sort(np.asarray(values))[::-1])
    elif (order := _by_variance(case)) is not None:
        same = values is not None and len(values) == len(order)
        yield case.with_answer(array=array[:, order], values=np.asarray(values)[order] if same else values)


def other_eigenvectors(case: Case) -> Iterator[Case]:
    """Every column is an eigenvector, but not one of the largest."""
    found = judge(case)
    if found is not None and found.orthonormal and not found.aligned and eigenvector_groups(case) is not None:
        yield _vectors_solved(case)


def repeated(case: Case) -> Iterator[Case]:
    """Every column is the first axis."""
    homes = eigenvector_groups(case) if case.answer.count > 1 else None
    found = judge(case)
    if homes and found and all(start == 0 for start, _ in homes) and not found.orthonormal:
        yield _vectors_solved(case)


def signs(case: Case) -> Iterator[Case]:
    """Entries of the right size, some with the wrong sign."""
    if case.answer.array is not None and judge(case) is not None:
        right = solved(case).array
        if right is not None and right.shape == case.answer.array.shape:
            yield case.with_answer(array=np.copysign(case.answer.array, right))


def left_vectors(case: Case) -> Iterator[Case]:
    """Columns of U of the SVD X = U S Vᵀ, with an entry for every row."""
    if is_rows(case.problem) and case.answer.kind == "axes" and case.answer.array is not None:
        yield case.with_answer(kind="beta")


def rotated(case: Case) -> Iterator[Case]:
    """An orthonormal basis of the right subspace, whose axes are not the eigenvectors."""
    found = judge(case) if case.answer.kind != "scores" else None
    if found is not None and case.answer.array is not None and found.orthonormal and found.spans and not found.aligned:
        yield _vectors_solved(case)


def oblique(case: Case) -> Iterator[Case]:
    """The right subspace, by columns that are not orthonormal."""
    found = judge(case) if case.answer.kind != "scores" else None
    if found is not None and case.answer.array is not None and found.spans and not found.orthonormal:
        yield _vectors_solved(case)


def first_only(case: Case) -> Iterator[Case]:
    """The first axis is right, a later one is far off."""
    found = judge(case)
    if found is not None and case.answer.count > 1 and leading(found):
        yield _vectors_solved(case)


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


def eigenvector_groups(case: Case) -> list[tuple[int, int]] | None:
    """The group of equal eigenvalues that each column belongs to; None where one of them is no eigenvector."""
    if case.answer.array is None or judge(case) is None:
        return None
    scale = Scale.of(case)
    groups = grouped(case.problem.solution, case.answer.count, scale.error)
    squares = coordinates(case) ** 2
    squares /= np.maximum(squares.sum(axis=0), 1e-300)
    sines = np.sqrt([np.delete(squares, np.s_[s:e], axis=0).sum(axis=0) for s, e in groups])
    best = sines.argmin(axis=0)
    if any(sines[g, i] > scale.allowed(*groups[g]) for i, g in enumerate(best)):
        return None
    return [groups[g] for g in best]


def _within(index: int, home: tuple[int, int], case: Case) -> bool:
    """Whether the eigenvector of that place, counted over all directions, belongs to a group."""
    rank = case.problem.solution.rank
    return home[0] <= index < home[1] or (index >= rank and home[1] > rank)


def _same(values: Array, levels: Array, case: Case) -> bool:
    """Whether values are those of other eigenvectors."""
    allowed = case.tol * levels + Scale.of(case).error + case.answer.grain
    return bool((np.abs(values - levels) <= allowed).all())


def _by_variance(case: Case) -> Array | None:
    """The order in which columns have ever less variance; None where they cannot be measured."""
    found = judge(case)
    return None if found is None else np.argsort(-found.captured, kind="stable")


def _vectors_solved(case: Case) -> Case:
    """The right vectors; values that belong to the wrong ones are forgiven with them."""
    values, found = case.answer.values, judge(case)
    right = solved(case)
    if values is None or found is None or len(values) != len(found.captured):
        return case._replace(answer=right.but(values=values))
    theirs = _same(values, found.captured, case)
    return case._replace(answer=right if theirs else right.but(values=values))

"""What was measured, in words: one sentence for every check, and the first line of a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from math import asin, degrees

import numpy as np

from ritz.exercises.answer import Answer
from ritz.exercises.case import Case, is_rows, rows_of
from ritz.exercises.judge import Judgement
from ritz.exercises.tolerance import Scale, grouped
from ritz.exercises.verdict import Finding
from ritz.linalg.dense import Array
from ritz.runtime.wording import at_most_degrees, component, components

FEW = 6  # numbers that are listed
ROUNDING = 1e-11  # differences that are not worth a number
NEAR = 0.02  # sine of an angle (about 1°) that is called close
FORMS = 1e-3  # relative difference from which two forms of the error are said to differ
NAMES = {"axes": "U", "alpha": "W", "scores": "Y", "beta": "B"}
WHAT = {
    "axes": "the columns are orthonormal",
    "alpha": "the axes w = Zᵀα are orthonormal",
    "scores": "the columns are uncorrelated and have the right lengths",
    "beta": "the eigenvectors are orthonormal",
}


def angle(sine: float) -> str:
    """In degrees; nothing is said of rounding."""
    return f"{degrees(asin(min(sine, 1.0))):.2g}°" if sine > ROUNDING else "0°"


def size(number: float) -> str:
    """A number that should be 0."""
    return f"{number:.3g}" if number > ROUNDING else "0 to rounding"


def bound(sine: float) -> str:
    """What the certificate says about an angle."""
    return "the solution is not certified" if sine >= 1 else f"the solution is certified to {at_most_degrees(sine)}"


def listed(values: Array) -> str:
    """The first few numbers."""
    return ", ".join(f"{value:.4g}" for value in values[:FEW]) + (", …" if len(values) > FEW else "")


def sentence(said: str, holds: bool, number: str) -> str:
    """Yes or no, and the number behind it."""
    return f"{said[0].upper()}{said[1:]}: {'yes' if holds else 'no'}, {number}."


def measured(case: Case, found: Judgement) -> Iterator[Finding]:
    """Every check, with its number."""
    if case.answer.array is not None:
        yield _orthonormal(case, found)
        yield _span(case, found)
        yield _axes(found)
        yield _residual(found)
        if case.answer.count > 1:
            yield _order(found)
    if case.answer.values is not None:
        yield _values(case, found)
    if case.answer.array is not None:
        yield _error(case, found)
        yield from _ties(case)


def _orthonormal(case: Case, found: Judgement) -> Finding:
    kind = case.answer.kind
    said = WHAT[kind] if is_rows(case.problem) or kind != "alpha" else "the axes w = Σ αᵢφ(xᵢ) are orthonormal"
    text = sentence(
        said, found.orthonormal, f"the largest entry of |{NAMES[kind]}ᵀ{NAMES[kind]} − I| is {size(found.defect)}"
    )
    if kind == "scores":
        ratio = f"they are {listed(found.lengths)} times those of the right scores"
        text = sentence(said, found.orthonormal, ratio)
    elif found.lengths.size and np.abs(found.lengths - 1).max() > found.allowed_defect:
        text = text[:-1] + f", and the lengths are {listed(found.lengths)}."
    return Finding("orthonormal", text, right=found.orthonormal, numbers={"defect": found.defect})


def _span(case: Case, found: Judgement) -> Finding:
    k = case.answer.count
    best = "the best line" if k == 1 else "the best plane" if k == 2 else f"the best {k}-dimensional subspace"
    number = f"{angle(found.span)} from {best} (a right answer may be off by {angle(found.allowed_span)})"
    numbers = {"sine": found.span, "degrees": degrees(asin(min(found.span, 1.0))), "allowed": found.allowed_span}
    return Finding("span", sentence("right span", found.spans, number), right=found.spans, numbers=numbers)


def _axes(found: Judgement) -> Finding:
    worst = int(np.argmax(found.axes - found.allowed_axes))
    number = ", ".join(f"{component(i)} {angle(sine)}" for i, sine in enumerate(found.axes[:FEW]))
    more = ", …" if len(found.axes) > FEW else ""
    numbers = {f"sine_{i + 1}": float(sine) for i, sine in enumerate(found.axes)}
    numbers |= {"certified": found.certified, "worst": float(worst + 1)}
    text = sentence(
        "every column is its eigenvector",
        found.aligned,
        f"off by {number}{more} ({bound(found.certified)})",
    )
    return Finding("axes", text, right=found.aligned, numbers=numbers)


def _residual(found: Judgement) -> Finding:
    worst = float(found.residuals.max())
    text = f"Residual: ‖Cu − λu‖ is {size(worst)}{' times λ₁' if worst > ROUNDING else ''}, λ the variance along u."
    return Finding("residual", text, numbers={"residual": worst})


def _order(found: Judgement) -> Finding:
    slack = found.captured[:1] * max(found.allowed_defect, 1e-9)
    descends = bool((np.diff(found.captured) <= slack).all())
    text = sentence("descending order", descends, f"the variances along the columns are {listed(found.captured)}")
    return Finding("order", text, right=descends)


def _values(case: Case, found: Judgement) -> Finding:
    given, true = np.asarray(case.answer.values), case.problem.solution.first(len(found.off))
    said = f"{listed(given)}" if found.valued else f"{listed(given)} instead of {listed(true)}"
    worst = float(np.abs(found.off).max())
    name = "right eigenvalues" if not is_rows(case.problem) else "right variances"
    return Finding("values", sentence(name, found.valued, said), right=found.valued, numbers={"off": worst})


def _error(case: Case, found: Judgement) -> Finding:
    decoded, subtracted, best = found.errors
    apart = (
        ""
        if abs(decoded - subtracted) <= FORMS * (decoded + abs(subtracted))
        else " (they agree for orthonormal columns)"
    )
    where = {"KernelProblem": "‖φ", "MatrixProblem": ""}.get(type(case.problem).__name__, "‖x")
    numbers = {"decoded": decoded, "subtracted": subtracted, "best": best}
    if not where:
        text = f"Left out of the trace: {decoded:.4g}; the best {case.answer.count} leave {best:.4g}."
    else:
        x = where[1]
        both = f"{decoded:.4g} as mean ‖{x} − UUᵀ{x}‖², {subtracted:.4g} as mean ‖{x}‖² − ‖Uᵀ{x}‖²{apart}"
        text = f"Reconstruction error: {both}; the best possible is {best:.4g}."
    return Finding("error", text, numbers=numbers)


def _ties(case: Case) -> Iterator[Finding]:
    """Groups of equal eigenvalues among those handed in."""
    k, rank = case.answer.count, case.problem.solution.rank
    for start, end in grouped(case.problem.solution, k, Scale.of(case).error):
        if end - start > 1 and start < min(k, rank):
            tied = components(start, min(end, rank))
            text = f"{tied} have equal variances: any orthonormal basis of their span is right."
            yield Finding("tie", text, kind="note")


def headline(case: Case, found: Judgement) -> str:
    """The first line, without "Right" or "Not yet"."""
    answer, k = case.answer, case.answer.count
    if found.right:
        return f"{_right(answer)}."
    if answer.array is None:
        return "these are not the leading eigenvalues."
    if not found.spans and found.span < NEAR:
        return f"close, but still {angle(found.span)} from the best {'line' if k == 1 else 'subspace'}."
    if not found.spans:
        what = "the axis points elsewhere" if k == 1 else "the columns span another subspace"
        return f"{what}, {angle(found.span)} from the best one."
    if not found.aligned:
        return "the subspace is right, the axes in it are not."
    if (np.abs(found.lengths - 1) > found.allowed_defect).any():
        return "the directions are right, the lengths are not."
    if not found.orthonormal:
        return "the columns are not orthogonal to each other."
    return "the vectors are right, the eigenvalues are not."


def _right(answer: Answer) -> str:
    k = answer.count
    many = "" if k == 1 else f"{k} "
    s = "" if k == 1 else "s"
    names = {
        "axes": f"first {many}principal ax{'i' if k == 1 else 'e'}s",
        "alpha": f"dual coefficients of the first {many}component{s}",
        "scores": f"scores on the first {many}component{s}",
        "beta": f"first {many}eigenvector{s} of the centred kernel matrix",
        "values": f"first {many}eigenvalue{s}",
    }
    these = "this is the" if k == 1 and answer.kind != "scores" else "these are the"
    also = (
        ""
        if answer.values is None or answer.array is None
        else ", with their eigenvalues"
        if k > 1
        else ", with its eigenvalue"
    )
    return f"{these} {names[answer.kind]}{also}"


def misfit(case: Case) -> str:
    """Why an answer does not fit its problem."""
    problem, answer = case.problem, case.answer
    rank, rows = problem.solution.rank, rows_of(answer.kind, problem)
    if answer.array is None:
        return f"there are {problem.solution.dim} eigenvalues, you handed in {answer.count}."
    p, q = answer.array.shape
    if p == rows and answer.kind != "axes":
        return f"you handed in {q} columns, but only {rank} directions have a variance."
    expected = {"axes": "one entry for every column of X"}.get(answer.kind, "one entry for every row of X")
    if not is_rows(problem) and answer.kind == "axes":
        expected = "one entry for every row of the matrix"
    return f"expected columns of {rows} entries, {expected}, and at most {rows} of them; got an array of {p}×{q}."

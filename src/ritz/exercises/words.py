"""What was measured, in words: one sentence for every check, and the first line of a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from math import asin, degrees

import numpy as np

from ritz.exercises.answer import Answer
from ritz.exercises.case import Case
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


def measured_angle(sine: float) -> str:
    """In degrees; nothing is said of rounding."""
    return f"{degrees(asin(min(sine, 1.0))):.2g}°" if sine > ROUNDING else "0°"


def size(number: float) -> str:
    """A number that should be 0."""
    return f"{number:.3g}" if number > ROUNDING else "0 to rounding"


def certainty(sine: float) -> str:
    """What the certificate says about an angle."""
    return "the solution is not certified" if sine >= 1 else f"the solution is certified to {at_most_degrees(sine)}"


def first_few(values: Array) -> str:
    """The first few numbers."""
    return ", ".join(f"{value:.4g}" for value in values[:FEW]) + (", …" if len(values) > FEW else "")


def sentence(said: str, holds: bool, number: str) -> str:
    """Yes or no, and the number behind it."""
    return f"{said[0].upper()}{said[1:]}: {'yes' if holds else 'no'}, {number}."


def measured(case: Case) -> Iterator[Finding]:
    """Every check, with its number."""
    if case.answer.array is not None:
        yield _orthonormal(case)
        yield _span(case)
        yield _axes(case)
        yield _residual(case)
        if case.answer.count > 1:
            yield _order(case)
    if case.answer.values is not None:
        yield _values(case)
    if case.answer.array is not None:
        yield _error(case)
        yield from _ties(case)


def _orthonormal(case: Case) -> Finding:
    kind = case.answer.kind
    said = WHAT[kind] if case.problem.point != "φ" or kind != "alpha" else "the axes w = Σ αᵢφ(xᵢ) are orthonormal"
    text = sentence(
        said, case.orthonormal, f"the largest entry of |{NAMES[kind]}ᵀ{NAMES[kind]} − I| is {size(case.defect)}"
    )
    if kind == "scores":
        ratio = f"they are {first_few(case.lengths)} times those of the right scores"
        text = sentence(said, case.orthonormal, ratio)
    elif case.lengths.size and np.abs(case.lengths - 1).max() > case.allowed_defect:
        text = text[:-1] + f", and the lengths are {first_few(case.lengths)}."
    return Finding("orthonormal", text, right=case.orthonormal, numbers={"defect": case.defect})


def _span(case: Case) -> Finding:
    k = case.answer.count
    best = "the best line" if k == 1 else "the best plane" if k == 2 else f"the best {k}-dimensional subspace"
    number = (
        f"{measured_angle(case.span)} from {best} (a right answer may be off by {measured_angle(case.allowed_span)})"
    )
    numbers = {"sine": case.span, "degrees": degrees(asin(min(case.span, 1.0))), "allowed": case.allowed_span}
    return Finding("span", sentence("right span", case.spans, number), right=case.spans, numbers=numbers)


def _axes(case: Case) -> Finding:
    worst = int(np.argmax(case.axes - case.allowed_axes))
    number = ", ".join(f"{component(i)} {measured_angle(sine)}" for i, sine in enumerate(case.axes[:FEW]))
    more = ", …" if len(case.axes) > FEW else ""
    numbers = {f"sine_{i + 1}": float(sine) for i, sine in enumerate(case.axes)}
    numbers |= {"certified": case.certified, "worst": float(worst + 1)}
    text = sentence(
        "every column is its eigenvector",
        case.aligned,
        f"off by {number}{more} ({certainty(case.certified)})",
    )
    return Finding("axes", text, right=case.aligned, numbers=numbers)


def _residual(case: Case) -> Finding:
    worst = float(case.residuals.max())
    text = f"Residual: ‖Cu − λu‖ is {size(worst)}{' times λ₁' if worst > ROUNDING else ''}, λ the variance along u."
    return Finding("residual", text, numbers={"residual": worst})


def _order(case: Case) -> Finding:
    slack = case.captured[:1] * max(case.allowed_defect, 1e-9)
    descends = bool((np.diff(case.captured) <= slack).all())
    text = sentence("descending order", descends, f"the variances along the columns are {first_few(case.captured)}")
    return Finding("order", text, right=descends)


def _values(case: Case) -> Finding:
    given, true = np.asarray(case.answer.values), case.problem.solution.first(len(case.off))
    said = f"{first_few(given)}" if case.valued else f"{first_few(given)} instead of {first_few(true)}"
    worst = float(np.abs(case.off).max())
    name = "right variances" if case.problem.point == "x" else "right eigenvalues"
    return Finding("values", sentence(name, case.valued, said), right=case.valued, numbers={"off": worst})


def _error(case: Case) -> Finding:
    decoded, subtracted, best = case.errors
    numbers = {"decoded": decoded, "subtracted": subtracted, "best": best}
    if not (x := case.problem.point):
        text = f"Left out of the trace: {decoded:.4g}; the best {case.answer.count} leave {best:.4g}."
        return Finding("error", text, numbers=numbers)
    agree = abs(decoded - subtracted) <= FORMS * (decoded + abs(subtracted))
    both = f"{decoded:.4g} as mean ‖{x} − UUᵀ{x}‖², {subtracted:.4g} as mean ‖{x}‖² − ‖Uᵀ{x}‖²"
    both += "" if agree else " (they agree for orthonormal columns)"
    return Finding("error", f"Reconstruction error: {both}; the best possible is {best:.4g}.", numbers=numbers)


def _ties(case: Case) -> Iterator[Finding]:
    """Groups of equal eigenvalues among those handed in."""
    k, rank = case.answer.count, case.problem.solution.rank
    for start, end in case.groups:
        if end - start > 1 and start < min(k, rank):
            tied = components(start, min(end, rank))
            text = f"{tied} have equal variances: any orthonormal basis of their span is right."
            yield Finding("tie", text, kind="note")


def headline(case: Case) -> str:
    """The first line, without "Right" or "Not yet"."""
    answer, k = case.answer, case.answer.count
    if case.right:
        return f"{_right(answer)}."
    if answer.array is None:
        return "these are not the leading eigenvalues."
    if not case.spans and case.span < NEAR:
        return f"close, but still {measured_angle(case.span)} from the best {'line' if k == 1 else 'subspace'}."
    if not case.spans:
        what = "the axis points elsewhere" if k == 1 else "the columns span another subspace"
        return f"{what}, {measured_angle(case.span)} from the best one."
    if not case.aligned:
        return "the subspace is right, the axes in it are not."
    if (np.abs(case.lengths - 1) > case.allowed_defect).any():
        return "the directions are right, the lengths are not."
    if not case.orthonormal:
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
    if answer.array is None:
        return f"there are {problem.dim} eigenvalues, you handed in {answer.count}."
    (p, q), rows = answer.array.shape, problem.entries(answer.kind)
    if p == rows and answer.kind != "axes":
        return f"you handed in {q} columns, but only {problem.solution.rank} directions have a variance."
    every = "row of X" if answer.kind != "axes" else "column of X" if problem.point else "row of the matrix"
    wanted = f"expected columns of {rows} entries, one entry for every {every}, and at most {rows} of them"
    return f"{wanted}; got an array of {p}×{q}."

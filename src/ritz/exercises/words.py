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


def finding(code: str, said: str, holds: bool, number: str, **numbers: float) -> Finding:
    """Yes or no, and the number behind it."""
    text = f"{said[0].upper()}{said[1:]}: {'yes' if holds else 'no'}, {number}."
    return Finding(code, text, right=holds, numbers=numbers)


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
    kind, found = case.answer.kind, case.products
    said = "the axes w = Σ αᵢφ(xᵢ) are orthonormal" if case.problem.point == "φ" and kind == "alpha" else WHAT[kind]
    number = f"the largest entry of |{NAMES[kind]}ᵀ{NAMES[kind]} − I| is {size(found.found)}"
    if kind == "scores":
        number = f"they are {first_few(case.lengths)} times those of the right scores"
    elif np.abs(case.lengths - 1).max() > found.allowed:
        number += f", and the lengths are {first_few(case.lengths)}"
    return finding("orthonormal", said, found.holds, number, defect=found.found)


def _span(case: Case) -> Finding:
    k, (sine, allowed) = case.answer.count, case.span
    best = "the best line" if k == 1 else "the best plane" if k == 2 else f"the best {k}-dimensional subspace"
    number = f"{measured_angle(sine)} from {best} (a right answer may be off by {measured_angle(allowed)})"
    off = degrees(asin(min(sine, 1.0)))
    return finding("span", "right span", case.span.holds, number, sine=sine, degrees=off, allowed=allowed)


def _axes(case: Case) -> Finding:
    sines, allowed = case.axes
    said = ", ".join(f"{component(i)} {measured_angle(sine)}" for i, sine in enumerate(sines[:FEW]))
    more = ", …" if len(sines) > FEW else ""
    numbers = {f"sine_{i + 1}": float(sine) for i, sine in enumerate(sines)}
    numbers |= {"certified": case.certified, "worst": float(np.argmax(sines - allowed) + 1)}
    number = f"off by {said}{more} ({certainty(case.certified)})"
    return finding("axes", "every column is its eigenvector", case.axes.holds, number, **numbers)


def _residual(case: Case) -> Finding:
    worst = float(case.residuals.max())
    text = f"Residual: ‖Cu − λu‖ is {size(worst)}{' times λ₁' if worst > ROUNDING else ''}, λ the variance along u."
    return Finding("residual", text, numbers={"residual": worst})


def _order(case: Case) -> Finding:
    slack = case.captured[:1] * max(case.products.allowed, 1e-9)
    descends = bool((np.diff(case.captured) <= slack).all())
    return finding(
        "order", "descending order", descends, f"the variances along the columns are {first_few(case.captured)}"
    )


def _values(case: Case) -> Finding:
    given, off = np.asarray(case.answer.values), case.values
    number = first_few(given)
    if not off.holds:
        number += f" instead of {first_few(case.problem.solution.first(len(given)))}"
    name = "right variances" if case.problem.point == "x" else "right eigenvalues"
    return finding("values", name, off.holds, number, off=float(off.found.max()))


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
    if not case.span.holds and case.span.found < NEAR:
        return f"close, but still {measured_angle(case.span.found)} from the best {'line' if k == 1 else 'subspace'}."
    if not case.span.holds:
        what = "the axis points elsewhere" if k == 1 else "the columns span another subspace"
        return f"{what}, {measured_angle(case.span.found)} from the best one."
    if not case.axes.holds:
        return "the subspace is right, the axes in it are not."
    if (np.abs(case.lengths - 1) > case.products.allowed).any():
        return "the directions are right, the lengths are not."
    if not case.products.holds:
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
    also = f", with {'its eigenvalue' if k == 1 else 'their eigenvalues'}" if answer.values is not None else ""
    return f"{these} {names[answer.kind]}{also if answer.array is not None else ''}"


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

"""`ritz.check`: is this the right answer, and if not, what happened?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ritz.errors import DataError, ParameterError
from ritz.exercises import functions, words
from ritz.exercises.answer import KINDS, WORDS, Answer, UnreadableError, answer_of
from ritz.exercises.case import Case
from ritz.exercises.diagnose import DIAGNOSES
from ritz.exercises.mistake import Mistake
from ritz.exercises.problem import KernelProblem, MatrixProblem, Problem, RowsProblem
from ritz.exercises.readings import readings
from ritz.exercises.verdict import Finding, Verdict
from ritz.rows import as_rows, check_finite
from ritz.rows.base import dense
from ritz.runtime.rules import COUNT_OR_NONE, FLAG, TOL, Rule, integer
from ritz.runtime.threads import team

RULES = {
    "what": Rule(lambda value: value is None or value in KINDS, f"must be one of {', '.join(KINDS)}, or None"),
    "k": COUNT_OR_NONE,
    "center": FLAG,
    "scale": FLAG,
    "ddof": integer(0, "; 1 divides by n - 1, 0 by n"),
    "tol": TOL,
}
CALLS = "Call check(X, U) with rows X and an answer U, check(A=A, U=U) with a matrix, or check(U=function)"
HAND_IN = "hand in an array of numbers with one column per axis, or pairs (values, vectors)."
ADVICE = {
    "no_answer": f"call check(X, U), the data first and then the answer; {HAND_IN}",
    "not_finite": "look for a division by 0, or by an eigenvalue that is 0.",
    "not_fitted": "call its fit first, and hand in the PCA itself rather than a pipeline around it.",
    "raised": "run it on a small matrix first, such as numpy.diag([3.0, 2.0, 1.0]).",
    "returned": "return (values, vectors): k numbers, and k columns.",
    "not_a_function": "hand in the function itself, without calling it.",
}
UNEXPLAINED = "None of the known mistakes explains this answer; compare it with the numbers above."


def check(
    X: Any = None,
    U: Any = None,
    *,
    A: Any = None,
    what: str | None = None,
    k: int | None = None,
    center: bool = True,
    scale: bool = False,
    ddof: int = 1,
    kernel: Any = None,
    gamma: Any = None,
    degree: float = 3,
    coef0: float = 1,
    tol: float = 1e-6,
) -> Verdict:
    """Whether U solves the exercise: max trace(Uᵀ C U) with UᵀU = I, C = ZᵀZ/(n − ddof), z = (x − mean)/scale.

    Parameters
    ----------
    X : (n, d) rows are points; whatever `PCA.fit` takes. With kernel="precomputed", the kernel matrix
    U : what was handed in. Axes (d, k) as columns; dual coefficients α (n, k) with axes Zᵀα; scores (n, k); pairs
        (eigenvalues, eigenvectors); U, S, Vᵀ of a singular value decomposition; a fitted model, or what `ritz.eigen`
        returns; or a function A ↦ pairs, or (A, k) ↦ pairs, which is called with copies of the covariance and of
        matrices with known eigenpairs, some of them hard. It runs in this process without a limit of time: call
        strangers' code in a process of its own that you can end
    A : a symmetric positive semidefinite matrix, in place of X
    what : "axes", "alpha", "pairs", "scores", "values" or "function", where the shape does not tell
    k : how many components are asked for; None for as many as were handed in. A function may return more
    center, scale, ddof : how the exercise prepares the data, as in `PCA`
    kernel, gamma, degree, coef0 : for kernel PCA, as in `KernelPCA`
    tol : residual ‖Cu − λu‖ that an axis may have, relative to λ₁, as in `PCA`: it may be turned towards another
        eigenvector by the sine tol·λ₁/gap, and at most √tol, beside what rounding explains

    Returns
    -------
    Verdict
        `right`, `code`, `findings`; it prints in words.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import check
    >>> X = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, 6.0], [7.0, 3.0]])
    >>> values, vectors = np.linalg.eigh(np.cov(X, rowvar=False))
    >>> check(X, (values[::-1], vectors[:, ::-1])).right
    True
    >>> check(X, vectors[:, :1]).code
    'smallest_taken'
    """
    given = {"what": what, "k": k, "center": center, "scale": scale, "ddof": ddof, "tol": tol}
    for name, rule in RULES.items():
        rule.check(name, given[name])
    function = what == "function" or (callable(U) and not hasattr(U, "__array__") and not hasattr(U, "fit"))
    if function and X is None and A is None:
        return _of_function(None, U, k, tol)
    how = {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0}
    problem, narrow = _problem(X, A, (center, scale, ddof), how)
    if function:
        return _of_function(problem, U, k, tol)
    try:
        return _of_array(problem, answer_of(U, narrow), what, k, tol)
    except UnreadableError as error:
        return _refused(error.code, error.text)


def _problem(X: Any, A: Any, rows: tuple[bool, bool, int], kernel: dict[str, Any]) -> tuple[Problem, bool]:
    """What is asked for, and whether its data has the digits of float32 alone."""
    if (X is None) == (A is None):
        both = "both were given" if X is not None else f"neither was given. {CALLS}"
        raise ParameterError("X", X, f"or A must be given, and not both; {both}")
    source = as_rows(X if A is None else A).on_cpu()
    check_finite(source)
    data = np.array(source.map(lambda block: dense(block).astype(np.float64)))
    narrow = source.dtype.kind == "f" and source.dtype.itemsize < 8
    if A is not None:
        if kernel["kernel"] is not None:
            rule = "does not go with A; pass the rows, or a kernel matrix as X"
            raise ParameterError("kernel", kernel["kernel"], rule)
        return MatrixProblem(data), narrow
    if kernel["kernel"] is not None:
        return KernelProblem(data, **kernel), narrow
    if len(data) <= max(rows[2], 1):
        raise DataError(f"X has {len(data)} rows; a variance with ddof={rows[2]} needs more")
    return RowsProblem(data, *rows), narrow


def _of_array(problem: Problem, answer: Answer, what: str | None, k: int | None, tol: float) -> Verdict:
    """The verdict on what was handed in, in the reading that explains it best."""
    # Threads of BLAS would spin between many small products; numbers that were handed in may be of any size.
    with team(), np.errstate(all="ignore"):
        return _told([Case(problem, reading, tol) for reading in readings(problem, answer, what)], k)


def _told(cases: list[Case], k: int | None) -> Verdict:
    """The verdict on an answer that can be read in several ways, where k components are asked for."""
    case, mistakes = _best(cases)
    shown = list(_read_as(case, cases))
    shown += words.measured(case) if case.fits else ()
    right, line = case.right, words.headline(case) if case.fits else words.misfit(case)
    causes = [mistake.told(case) for mistake in mistakes]
    if right and k is not None and case.answer.count != k:
        causes = [_mistake("wrong_count", f"{k} components are asked for.", f"hand in the first {k}.")]
        right, line = False, f"the number of components handed in is {case.answer.count}, and {k} are asked for."
    elif not case.fits and not causes:
        causes = [_misfit(case)]
    elif not right and not causes:
        shown.append(Finding("unexplained", UNEXPLAINED, "note"))
    return Verdict(right, line, (*shown, *causes), case.problem.solution.certificate)


def _mistake(code: str, text: str, advice: str) -> Finding:
    return Finding(code, text, "mistake", False, advice=advice)


def _misfit(case: Case) -> Finding:
    """Why the shape does not fit, where no mistake explains it."""
    answer, rank = case.answer, case.problem.solution.rank
    if answer.array is not None and len(answer.array) != case.problem.entries(answer.kind):
        advice = "look at the shapes: print(X.shape, U.shape)."
        return _mistake("wrong_shape", "the shape is not that of an answer.", advice)
    text = "there are more columns than directions; centred rows have at most n − 1 of them."
    return _mistake("beyond_rank", text, f"hand in the first {rank} at most.")


def _best(cases: list[Case]) -> tuple[Case, tuple[Mistake, ...]]:
    """The reading that is right, or else the first that a mistake explains."""
    for case in cases:
        if case.right:
            return case, ()
    for diagnose in DIAGNOSES:
        for case in cases:
            if mistakes := diagnose(case):
                return case, mistakes
    return cases[0], ()


def _read_as(case: Case, cases: list[Case]) -> Iterator[Finding]:
    """What was handed in, and that it could have been something else."""
    text = f"Handed in: {case.answer}."
    if case.answer.array is not None and not case.fits:
        text = "Handed in: an array of {}×{}.".format(*case.answer.array.shape)
    known = (case.answer.kind, "values")
    others = [WORDS[one.answer.kind] for one in cases if one.answer.kind not in known and one.fits]
    if others and case.fits and case.answer.values is None:
        text = f"{text[:-1]}; by its shape it could be {' or '.join(others)} too, and what= says which."
    yield Finding("given", text, "note")
    if case.fits and case.scale.too_coarse:
        yield Finding("rounded", "The numbers have too few digits to be judged as rounded; hand in more.", "note")
    elif case.answer.coarse or np.any(case.answer.grain):
        yield Finding("rounded", "The numbers have few digits, so they are judged as rounded.", "note")


def _refused(code: str, text: str) -> Verdict:
    """What cannot be judged."""
    told = _mistake(code, f"{text}.", ADVICE.get(code, HAND_IN))
    return Verdict(False, "what was handed in cannot be judged.", (told,))


def _of_function(problem: Problem | None, function: Any, k: int | None, tol: float) -> Verdict:
    """The verdict on a function: what it made of every matrix."""
    if not callable(function):
        return _refused("not_a_function", f"what='function', but a {type(function).__name__} was handed in")
    shown, causes, changed, before = list[Finding](), list[Finding](), False, ""
    for trial in functions.trials(problem):
        outcome = functions.called(function, trial.problem.matrix, k)
        verdict = _of_outcome(trial.problem, outcome, tol)
        changed = changed or outcome.changed
        said = "right" if verdict.right else f"not yet, {verdict.headline.rstrip('.')} ({verdict.code})"
        before, said = said, "the same" if said == before and not verdict.right else said
        shown.append(Finding(trial.code, f"On {trial.name}: {said}.", right=verdict.right))
        causes += [one for one in verdict.mistakes if one.code not in {cause.code for cause in causes}]
    if changed:
        text = "The function writes to the matrix it is given (here a copy); start it with A = A.copy()."
        shown.append(Finding("changes_argument", text, "note"))
    passed = sum(bool(finding.right) for finding in shown)
    total = len(shown) - changed
    certificate = None if problem is None else problem.solution.certificate
    line = f"{passed} of {total} matrices were decomposed correctly."
    return Verdict(passed == total, line, (*shown, *causes), certificate)


def _of_outcome(problem: Problem, outcome: functions.Outcome, tol: float) -> Verdict:
    """The verdict on what a function returned for one matrix."""
    if not outcome.code:
        matrix = MatrixProblem(problem.matrix) if isinstance(problem, KernelProblem) else problem
        try:
            what, answer = None if isinstance(matrix, RowsProblem) else "axes", answer_of(outcome.returned)
            asked = min(outcome.asked, max(matrix.solution.rank, 1))  # all that have a variance will do, and more too
            return _of_array(matrix, answer, what, asked if answer.count < asked else None, tol)
        except UnreadableError as error:
            outcome = functions.unreadable(error)
    return Verdict(False, f"{outcome.text}.", (_mistake(outcome.code, f"{outcome.text}.", ADVICE[outcome.code]),))

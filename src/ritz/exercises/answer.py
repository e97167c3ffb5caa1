"""Answers: what was handed in, as numbers, with how many digits they have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ritz.exercises import digits
from ritz.linalg.arrays import on_host
from ritz.linalg.dense import Array, column_norms
from ritz.runtime.wording import visible
from ritz.spectrum.certificate import Certificate

WORDS = {
    "axes": "axes",
    "alpha": "dual coefficients α",
    "scores": "scores",
    "beta": "eigenvectors of the kernel matrix",
    "values": "eigenvalues",
}
# Attributes of fitted models and of `ritz.eigen`'s Spectrum; `components_` has its axes in rows.
MODELS = (("components_", "explained_variance_"), ("eigenvectors_", "eigenvalues_"), ("vectors", "values"))
FEWEST_OF_COLUMNS, FEWEST_OF_VALUES = 2, 3  # significant digits; with fewer, other divisors are not told apart
KINDS = ("axes", "alpha", "pairs", "scores", "values", "function")  # what a caller may say


class UnreadableError(Exception):
    """What was handed in cannot be judged; the code and the sentence of the verdict that says so."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


@dataclass(frozen=True, eq=False)
class Answer:
    """One reading of what was handed in.

    Attributes
    ----------
    kind : "axes" (d, k), "alpha", "scores" or "beta" (n, k), or "values" alone
    array : its columns; None for values alone
    values : eigenvalues, None where none were handed in
    unit : the rounding of the arithmetic that the numbers come from, as far as their type tells
    stated : residual, relative to λ₁, that the certificate of a fit states; 0 without one
    coarse : error of the columns, relative to their lengths, where they were rounded to a few digits
    grain : error of each value, likewise
    singular : whether values and columns are S and V of a singular value decomposition U S Vᵀ
    source : where columns and values were taken from, in words; "" where they are what was handed in
    """

    kind: str
    array: Array | None
    values: Array | None = None
    unit: float = float(np.finfo(np.float64).eps)
    stated: float = 0.0
    coarse: float = 0.0
    grain: Array | float = 0.0
    singular: bool = False
    source: str = ""

    @property
    def count(self) -> int:
        """How many components were handed in."""
        if self.array is not None:
            return int(self.array.shape[1])
        return 0 if self.values is None else len(self.values)

    def valued(self, change: Callable[[Array], Array]) -> Self:
        """With other values, made of these; their errors follow."""
        if self.values is None:
            return self
        high, low = (change(self.values + sign * self.grain) for sign in (1, -1))
        return replace(self, values=change(self.values), grain=np.abs(high - low) / 2)

    def __str__(self) -> str:
        if self.array is None:
            return f"{self.count} {WORDS[self.kind]}"
        p, q = self.array.shape
        also = "" if self.values is None else f" and {len(self.values)} eigenvalues"
        return f"{self.source}{WORDS[self.kind]}, {p}×{q} (as columns){also}"


def answer_of(given: Any, narrow: bool = False) -> Answer:
    """The numbers of an array, of pairs (values, vectors), of a singular value decomposition, or of a fitted model; its
    kind is not known yet.

    Examples
    --------
    >>> import numpy as np
    >>> answer = answer_of(np.linalg.eigh(np.diag([1.0, 2.0])))
    >>> answer.values, answer.array.shape
    (array([1., 2.]), (2, 2))
    """
    given = _without_diagonals([on_host(part) for part in given] if isinstance(given, list) else on_host(given))
    values, array = _parts(given)
    unit = float(np.finfo(np.float32 if narrow else np.float64).eps)
    answer = Answer("axes", None, unit=unit, stated=_stated(given), singular=_is_svd(given))
    if values is not None:
        raw = numbers(values, "the eigenvalues")
        if raw.ndim > 2 or (raw.ndim == 2 and 1 not in raw.shape):
            raise UnreadableError("wrong_shape", f"the eigenvalues are one row of numbers, not of shape {raw.shape}")
        unit, grain = max(unit, digits.unit(raw)), digits.grain(raw, FEWEST_OF_VALUES).ravel()
        answer = replace(answer, values=raw.ravel().astype(float), unit=unit, grain=grain)
    if array is not None:
        raw = numbers(array, "what was handed in")
        if not 1 <= raw.ndim <= 2:
            wanted = "expected a matrix with a column for every axis"
            raise UnreadableError("wrong_shape", f"{wanted}, got shape {raw.shape}")
        columns = raw.reshape(len(raw), -1)
        unit = max(answer.unit, digits.unit(raw))
        answer = replace(answer, array=columns.astype(float), unit=unit, coarse=_coarse(columns))
    return answer


def as_values(answer: Answer) -> Answer:
    """The same numbers, read as eigenvalues alone."""
    if answer.values is None:
        array = np.asarray(answer.array)
        narrow = array.astype(np.float32)  # which has fewer digits where it holds the same
        grain = digits.grain(narrow if np.array_equal(narrow, array) else array, FEWEST_OF_VALUES)
        answer = replace(answer, values=array.ravel(), grain=grain.ravel())
    return replace(answer, kind="values", array=None, coarse=0.0)


def _coarse(columns: Array) -> float:
    """How far rounding to a few digits can turn a column."""
    lengths = column_norms(columns.astype(float))
    if not lengths.any():
        return 0.0
    errors = column_norms(digits.grain(columns, FEWEST_OF_COLUMNS))
    return float(np.max(errors[lengths > 0] / lengths[lengths > 0]).clip(0.0, 1.0))


def _parts(given: Any) -> tuple[Any, Any]:
    """Values and vectors; None for what was not handed in."""
    if given is None:
        raise UnreadableError("no_answer", "nothing was handed in")
    for vectors, values in MODELS:
        if hasattr(given, vectors):
            found = np.asarray(on_host(getattr(given, vectors)))
            return on_host(getattr(given, values, None)), found.T if vectors == "components_" else found
    if hasattr(given, "fit"):
        name = getattr(given, "__name__", type(given).__name__)
        raise UnreadableError("not_fitted", f"a {name} that has no components was handed in")
    if _is_svd(given):
        return given[1], np.transpose(given[2])
    if isinstance(given, tuple | list) and given:
        shapes = [tuple(map(_dimensions, part)) if _is_pair(part) else () for part in given]
        if set(shapes) == {(0, 1)}:  # one (value, vector) after the other
            return [value for value, _ in given], numbers([vector for _, vector in given], "the vectors").T
    if _is_pair(given):
        first, second = map(_dimensions, given)
        if (first in (0, 1) and second == 2) or (first == 0 and second == 1):
            return given[0], given[1]
        if first == 2 and second in (0, 1):
            return given[1], given[0]
    return None, given


def _without_diagonals(given: Any) -> Any:
    """With eigenvalues or singular values in a row where they stand on the diagonal of a matrix, as in MATLAB."""
    dimensions = tuple(map(_dimensions, given)) if isinstance(given, tuple | list) else ()
    places = {(2, 2): (0, 1), (2, 2, 2): (1,)}.get(dimensions, ())
    for place in places:
        D = np.asarray(given[place])
        if D.shape[0] == D.shape[1] > 1 and np.array_equal(D, np.diag(np.diag(D))):
            return [*given[:place], np.diag(D), *given[place + 1 :]]
    return given


def _is_pair(given: Any) -> bool:
    return isinstance(given, tuple | list) and len(given) == 2


def _is_svd(given: Any) -> bool:
    """Whether it is U, S, Vᵀ, as numpy.linalg.svd returns them."""
    three = isinstance(given, tuple | list) and len(given) == 3
    return three and tuple(map(_dimensions, given)) == (2, 1, 2)


def _stated(given: Any) -> float:
    """The residual that the certificate of a fit of Ritz states, where it is what was asked of it."""
    certificate = getattr(given, "certificate_", getattr(given, "certificate", None))
    if not isinstance(certificate, Certificate) or not certificate.satisfied or certificate.by_singular_values:
        return 0.0
    return float(certificate.reached)


def _dimensions(part: Any) -> int:
    """Of an array; -1 for what is none."""
    try:
        return int(np.ndim(part))
    except ValueError:  # rows of unequal lengths
        return -1


def numbers(given: Any, what: str) -> Array:
    """Finite real numbers, of the type they were handed in with."""
    try:
        array = np.asarray(given)
        if array.dtype.kind == "O":
            array = array.astype(float)
    except (TypeError, ValueError):
        array = np.asarray("")
    if array.dtype.kind == "c" and not array.imag.any():
        array = array.real  # as numpy.linalg.eig has it
    if array.dtype.kind == "b":
        raise UnreadableError("not_numbers", f"{what} must be real numbers, got True and False")
    if array.dtype.kind not in "iuf":
        said = visible(repr(given))
        raise UnreadableError(
            "not_numbers",
            f"{what} must be real numbers in rows of equal length, got {type(given).__name__} {said[:60]}",
        )
    if np.ma.is_masked(given):
        raise UnreadableError("not_finite", f"{what} has {np.ma.count_masked(given)} masked entries")
    if not array.size:
        raise UnreadableError("empty", f"{what} is empty, of shape {array.shape}")
    if not np.isfinite(array).all():
        place = ", ".join(map(str, np.argwhere(~np.isfinite(array))[0]))
        bad = array[~np.isfinite(array)][0]
        raise UnreadableError("not_finite", f"{what} holds {bad}, first at position ({place})")
    return array

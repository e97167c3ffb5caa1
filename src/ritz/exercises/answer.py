"""Answers: what was handed in, as numbers, with how many digits they have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz.linalg.dense import Array, column_norms
from ritz.runtime.wording import visible

ROUNDED = range(3, 8)  # decimals that people round to; numbers with fewer may be exact, such as 0.6 and 0.8
WORDS = {
    "axes": "axes",
    "alpha": "dual coefficients α",
    "scores": "scores",
    "beta": "eigenvectors of the kernel matrix",
    "values": "eigenvalues",
}
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
    coarse : error of the columns, relative to their lengths, where they were rounded to a few decimals
    grain : error of the values, likewise
    """

    kind: str
    array: Array | None
    values: Array | None = None
    unit: float = float(np.finfo(np.float64).eps)
    coarse: float = 0.0
    grain: float = 0.0

    @property
    def count(self) -> int:
        """How many components were handed in."""
        if self.array is not None:
            return int(self.array.shape[1])
        return 0 if self.values is None else len(self.values)

    def __str__(self) -> str:
        if self.array is None:
            return f"{self.count} {WORDS[self.kind]}"
        p, q = self.array.shape
        also = "" if self.values is None else f" and {len(self.values)} eigenvalues"
        return f"{WORDS[self.kind]}, {p}×{q} (as columns){also}"


def answer_of(given: Any, narrow: bool = False) -> Answer:
    """The numbers of an array, of pairs (values, vectors), or of a fitted model; its kind is not known yet.

    Examples
    --------
    >>> import numpy as np
    >>> answer = answer_of(np.linalg.eigh(np.diag([1.0, 2.0])))
    >>> answer.values, answer.array.shape
    (array([1., 2.]), (2, 2))
    """
    if given is None:
        raise UnreadableError("no_answer", "nothing was handed in")
    values, array = _parts(given)
    unit = float(np.finfo(np.float32 if narrow else np.float64).eps)
    answer = Answer("axes", None, unit=unit)
    if values is not None:
        raw = numbers(values, "the eigenvalues")
        answer = replace(answer, values=raw.ravel().astype(float), unit=max(unit, _unit(raw)), grain=_grain(raw))
        if raw.ndim > 2 or (raw.ndim == 2 and 1 not in raw.shape):
            raise UnreadableError("wrong_shape", f"the eigenvalues are one row of numbers, not of shape {raw.shape}")
    if array is not None:
        raw = numbers(array, "what was handed in")
        if not 1 <= raw.ndim <= 2:
            raise UnreadableError(
                "wrong_shape", f"expected a matrix with a column for every axis, got shape {raw.shape}"
            )
        columns = raw.reshape(len(raw), -1).astype(float)
        lengths = column_norms(columns)
        coarse = _grain(raw) * np.sqrt(len(columns)) / max(float(lengths.min()), 1e-300)
        answer = replace(answer, array=columns, unit=max(answer.unit, _unit(raw)), coarse=min(float(coarse), 1.0))
    return answer


def _parts(given: Any) -> tuple[Any, Any]:
    """Values and vectors; None for what was not handed in."""
    for vectors, values in (("components_", "explained_variance_"), ("eigenvectors_", "eigenvalues_")):
        if hasattr(given, vectors) and hasattr(given, values):  # a fitted model has its axes in rows
            found = np.asarray(getattr(given, vectors))
            return getattr(given, values), found.T if vectors == "components_" else found
    if isinstance(given, tuple | list) and len(given) == 2:
        first, second = (_dimensions(part) for part in given)
        if (first in (0, 1) and second == 2) or (first == 0 and second == 1):
            return given[0], given[1]
        if first == 2 and second in (0, 1):
            return given[1], given[0]
    return None, given


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
    if array.dtype.kind not in "biuf":
        said = visible(repr(given))
        raise UnreadableError(
            "not_numbers",
            f"{what} must be real numbers in rows of equal length, got {type(given).__name__} {said[:60]}",
        )
    if not array.size:
        raise UnreadableError("empty", f"{what} is empty, of shape {array.shape}")
    if not np.isfinite(array).all():
        place = ", ".join(map(str, np.argwhere(~np.isfinite(array))[0]))
        bad = array[~np.isfinite(array)][0]
        raise UnreadableError("not_finite", f"{what} holds {bad}, first at position ({place})")
    return array


def _unit(array: Array) -> float:
    """The rounding of the type; that of float32 too where float64 holds nothing that float32 does not."""
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:
        return float(np.finfo(array.dtype).eps)
    with np.errstate(over="ignore"):
        narrow = np.array_equal(array, array.astype(np.float32)) and not np.array_equal(array, array.astype(np.float16))
    return float(np.finfo(np.float32 if narrow else np.float64).eps)


def _grain(array: Array) -> float:
    """Half of the last decimal, where numbers were rounded to a few of them; else 0."""
    if np.array_equal(np.round(array, ROUNDED[0] - 1), array):
        return 0.0
    decimals = next((p for p in ROUNDED if np.array_equal(np.round(array, p), array)), None)
    return 0.0 if decimals is None else 0.5 * 10.0**-decimals

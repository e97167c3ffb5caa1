"""Labels of rows: a few classes, or numbers along a scale."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.rows.columns import is_missing
from ritz.runtime.wording import label_text, natural_order
from ritz.views.format import number, told_apart

MOST_CLASSES = 10
STEPS = 9  # colours of a scale
TAILS = (2.0, 98.0)  # percentiles where a scale ends, so that few far values do not take all its colours
OTHER, MISSING = "other", "missing"


@dataclass(frozen=True, eq=False)
class Classes:
    """What every row is: `codes` number the names; the last ones may be all that is left over, and what is missing.

    Attributes
    ----------
    names : what the codes stand for, as text
    kinds : how they are drawn: c0, c1, …, or other, missing; q0, q1, … along a scale
    counts : rows of each
    scale : whether the classes are steps of a scale of numbers, from the first name to the last
    labelled : whether rows have labels at all
    """

    codes: NDArray[np.intp]
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    counts: tuple[int, ...]
    scale: bool = False
    labelled: bool = True


def classified(labels: Any, n: int) -> Classes:
    """The classes of n rows by their labels; None, NaN and empty text are missing.

    Text that can be read as numbers is numbers, as in a column of a text file.
    """
    if labels is None:
        return Classes(np.zeros(n, np.intp), ("rows",), ("c0",), (n,), labelled=False)
    values, gone = _present(labels, n)
    numbers = _numbers(values, gone)
    if numbers is not None and len(np.unique(numbers[~gone])) > MOST_CLASSES:
        return _steps(numbers, gone)
    return _named(values, gone)


def classified_by_type(labels: Any, n: int) -> Classes:
    """The same, where text is a name, also where it consists of digits."""
    if labels is not None:
        values, gone = _present(labels, n)
        if any(isinstance(value, str) for value in values.tolist()):
            return _named(values, gone)
    return classified(labels, n)


def kinds_of(labels: Any, n: int) -> NDArray[np.intp] | None:
    """The kinds of n rows by number, −1 where the label is missing; None where labels are numbers along a scale.

    Examples
    --------
    >>> kinds_of(["b", "a", None, "b"], 4), kinds_of([0.5, 1.5], 2)
    (array([ 1,  0, -1,  1]), None)
    """
    values, gone = _present(labels, n)
    if values.dtype.kind == "f":
        distinct = np.unique(values[~gone])
        if len(distinct) > MOST_CLASSES or not np.array_equal(distinct, np.rint(distinct)):
            return None
    codes = np.full(n, -1, np.intp)
    codes[~gone] = np.unique([label_text(value) for value in values[~gone].tolist()], return_inverse=True)[1]
    return codes


def _present(labels: Any, n: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The labels of n rows, and which of them are missing."""
    values = np.asarray(labels)
    if values.shape != (n,):
        raise DataError(f"labels have the shape {values.shape}, but there are {n} rows: one label for each is needed")
    if values.dtype.kind not in "biuf":
        values = np.array([None if is_missing(value) else value for value in values.tolist()], dtype=object)
    gone = np.isnan(values) if values.dtype.kind == "f" else np.array([value is None for value in values.tolist()])
    return values, gone


def _numbers(values: NDArray[Any], gone: NDArray[np.bool_]) -> Array | None:
    """The labels as finite numbers, where all of them are."""
    numbers = np.full(len(values), np.nan)
    try:
        numbers[~gone] = values[~gone].astype(np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if np.isfinite(numbers[~gone]).all() else None


def _named(values: NDArray[Any], gone: NDArray[np.bool_]) -> Classes:
    """The most frequent labels in their natural order, then the others, then what is missing."""
    texts = [
        None if absent else label_text(value) for value, absent in zip(values.tolist(), gone.tolist(), strict=True)
    ]
    counts = Counter(text for text in texts if text is not None)
    room = MOST_CLASSES if len(counts) <= MOST_CLASSES else MOST_CLASSES - 1
    kept = sorted((text for text, _ in counts.most_common(room)), key=natural_order)
    place: dict[str | None, int] = {text: i for i, text in enumerate(kept)}
    codes = np.array([place.get(text, len(kept)) for text in texts], dtype=np.intp)
    names, kinds = told_apart(kept), [f"c{i}" for i in range(len(kept))]
    if len(counts) > len(kept):
        names, kinds = [*names, f"{OTHER}, {len(counts) - len(kept)} labels"], [*kinds, OTHER]
    return _counted(codes, names, kinds, gone)


def _counted(
    codes: NDArray[np.intp], names: list[str], kinds: list[str], gone: NDArray[np.bool_], scale: bool = False
) -> Classes:
    """The classes, with one more for rows whose label is missing."""
    if gone.any():
        codes[gone] = len(names)
        names, kinds = [*names, MISSING], [*kinds, MISSING]
    return Classes(codes, tuple(names), tuple(kinds), tuple(np.bincount(codes, minlength=len(names)).tolist()), scale)


def _steps(numbers: Array, gone: NDArray[np.bool_]) -> Classes:
    """Equal steps from the lowest number to the highest, a few far ones at either end not counted."""
    low, high = np.percentile(numbers[~gone], TAILS)
    if not high / 2 - low / 2 > 0:
        low, high = numbers[~gone].min(), numbers[~gone].max()
    ends = np.linspace(low / 2, high / 2, STEPS + 1) * 2
    codes = np.searchsorted(ends[1:-1], numbers, side="right").astype(np.intp)
    names = [f"{number(a, 3)} to {number(b, 3)}" for a, b in pairwise(ends.tolist())]
    names[0], names[-1] = f"up to {number(float(ends[1]), 3)}", f"{number(float(ends[-2]), 3)} and more"
    return _counted(codes, names, [f"q{i}" for i in range(STEPS)], gone, scale=True)

"""Scores in a table: which column is which component, by name wherever names say it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.rows import Rows
from ritz.rows.columns import order_of, shown
from ritz.rows.memory.computed import Subset
from ritz.rows.select import check_names_once
from ritz.runtime.wording import component

NUMBERED = re.compile(r"(.*?)([0-9]+)", re.DOTALL)


def score_names(model: Any) -> tuple[str, ...]:
    """PC1, PC2, … of components; y1, y2, … of measurements, as y = Φx has them: what files of scores have."""
    if is_sensing(model):
        return tuple(f"y{i + 1}" for i in range(model.n_measurements_))
    return tuple(component(i) for i in range(len(model.certificate_.values)))


def is_sensing(model: Any) -> bool:
    """Whether it is a model of compressed sensing."""
    return hasattr(model, "n_measurements_")


def matching_score_names(model: Any, names: list[str]) -> list[str] | None:
    """The names of scores among which some of these are: of files, of tables, or numbers from 0; None for none."""
    k = len(score_names(model))
    numbers = list(map(str, range(k)))
    known = [list(score_names(model)), list(map(str, model.get_feature_names_out()))]
    known += [numbers] if set(names) == set(numbers) else []
    return next((expected for expected in known if not set(expected).isdisjoint(names)), None)


def in_order(rows: Rows, model: Any) -> Rows:
    """Scores with a column for every component, in the model's order.

    Columns whose names the model knows are put in its order; some that lack, or appear twice, or others beside them,
    are an error. Names that say nothing leave the columns where they are; but numbered ones that do not rise are out of
    order.
    """
    names = None if rows.names is None else list(map(str, rows.names))
    if names is None:
        return rows
    expected = matching_score_names(model, names)
    check_names_once(rows, expected or map(str, range(len(names))))
    if expected is None:
        _check_rising(names, model)
        return rows
    known, there = set(expected), set(names)
    lacking = [name for name in expected if name not in there]
    unknown = [name for name in names if name not in known]
    if lacking or unknown:
        what = [f"lack {shown(lacking)}"] if lacking else []
        what += [f"have {shown(unknown)}, which the model does not know"] if unknown else []
        raise DataError(f"scores {' and '.join(what)}; pass the columns {shown(expected, 4)}, in any order")
    order = order_of(names, expected, "the scores")
    return rows if order is None else rows.some(order) or Subset(rows, order)


def without_columns(X: Any) -> Array | None:  # (n, 0)
    """Scores on no component, such as a model of rows that are all alike gives; None for all that has columns.

    No other data may be without columns, so rows cannot be made of them.
    """
    shape = np.shape(X) if isinstance(X, list | tuple) else getattr(X, "shape", ())
    if not isinstance(shape, tuple) or len(shape) != 2 or shape[1] or not shape[0]:
        return None
    kind = getattr(X, "dtype", None)
    return np.empty((shape[0], 0), np.float32 if kind in (np.float16, np.float32) else np.float64)


def _check_rising(names: list[str], model: Any) -> None:
    """Columns that are numbered, under whatever name, stand in the order of their numbers."""
    parts = [NUMBERED.fullmatch(name) for name in names]
    if not all(parts) or len({part[1] for part in parts if part}) > 1:
        return
    numbers = [int(part[2]) for part in parts if part]
    if numbers != sorted(numbers):
        known = shown(list(map(str, model.get_feature_names_out())), 4)
        raise DataError(
            f"the columns {shown(names)} of the scores are out of order, and the model does not know these names; call "
            f"them {known}, or bring them into order"
        )

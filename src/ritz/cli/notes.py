"""What a fit writes into its model for later commands: how the file was read, and what its columns are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ritz.errors import DataError

WAYS = ("error", "drop", "mean")
# Notes that a model of several has where all of them say the same.
SHARED = ("label", "identifier", "columns", "transpose", "na", "missing", "diff", "header", "image", "size", "grey")
SIDES = ("image", "size")  # notes that are a height and a width


@dataclass(frozen=True)
class Notes:
    """How another file is read in the same way. A model made elsewhere has none, and these are the defaults."""

    label: str | None = None
    identifier: str | None = None
    columns: tuple[int, ...] | None = None  # that were decomposed, where they have no names and some were left out
    transpose: bool = False
    na: tuple[tuple[str, tuple[str, ...] | None], ...] = ()  # values that are missing, as text, and their columns
    missing: str = "error"
    diff: bool = False  # whether rows were differences of neighbours
    header: bool | None = None  # as it was told for the fit
    image: tuple[int, int] | None = None  # of older models: others know it themselves
    size: tuple[int, int] | None = None  # that pictures were resized to
    grey: bool | None = None  # as it was told for the fit
    fill: tuple[float, ...] | None = None  # what stands for missing values, where it is not the mean of the model
    demo: str | None = None

    def kept(self) -> dict[str, Any]:
        """For `save`."""
        return {name: value for name, value in asdict(self).items() if value is not None and value != ()}

    @property
    def codes(self) -> tuple[tuple[float, tuple[str, ...] | None], ...]:
        """The values that are missing, as numbers, and their columns."""
        return tuple((float(value), names if names is None else tuple(names)) for value, names in self.na)


def notes_of(model: Any) -> Notes:
    """The notes in a model; whoever wrote the file may have put anything there."""
    found = {name: model.notes_[name] for name in Notes.__dataclass_fields__ if name in model.notes_}
    fits = (
        all(isinstance(found.get(name, ""), str) for name in ("label", "identifier", "demo"))
        and _is_list(found.get("columns", []), int)
        and isinstance(found.get("transpose", False), bool)
        and isinstance(found.get("header", False), bool)
        and isinstance(found.get("diff", False), bool)
        and _are_codes(found.get("na", []))
        and found.get("missing", "error") in WAYS
        and isinstance(found.get("grey", False), bool)
        and all(_is_list(sides, int, 2) and 0 not in sides for sides in map(found.get, SIDES) if sides is not None)
        and _is_list(found.get("fill", [0.0] * model.n_features_in_), float, model.n_features_in_)
    )
    if not fits:
        raise DataError(f"the notes in the model are not those of a fit: {str(found)[:200]}")
    parts: dict[str, Any] = {name: tuple(part) if isinstance(part, list) else part for name, part in found.items()}
    return Notes(**parts)


def together(models: Sequence[Any]) -> Notes:
    """The notes of a model made of several: what all of them say, and gaps filled as in all of their rows."""
    all_notes = [notes_of(model) for model in models]
    first, counts = all_notes[0], np.array([float(model.n_samples_seen_) for model in models])
    same = {
        name: getattr(first, name)
        for name in SHARED
        if all(getattr(notes, name) == getattr(first, name) for notes in all_notes)
    }
    fills = [notes.fill for notes in all_notes]
    whole = None if None in fills else tuple((counts @ np.array(fills) / counts.sum()).tolist())
    return Notes(**same, fill=whole)


def _is_list(given: Any, kind: type, length: int | None = None) -> bool:
    """Whether it is a list of so many numbers of a kind, integers from 0 on."""
    fits = isinstance(given, list) and (length is None or len(given) == length)
    return fits and all(type(part) is kind for part in given) and (kind is float or min(given, default=0) >= 0)


def _are_codes(given: Any) -> bool:
    """Whether these are pairs of a number as text and the names of columns, or nothing for all."""
    if not isinstance(given, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in given):
        return False
    named = all(names is None or (isinstance(names, list) and _are_texts(names)) for _, names in given)
    return named and _are_texts([value for value, _ in given]) and all(_is_number(value) for value, _ in given)


def _are_texts(given: list[Any]) -> bool:
    return all(isinstance(text, str) for text in given)


def _is_number(text: str) -> bool:
    try:
        return not np.isnan(float(text))
    except ValueError:
        return False
